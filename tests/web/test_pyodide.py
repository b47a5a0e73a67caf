"""The wheel and the bridge of the built page, in Pyodide under node: the same bits as CPython."""

from __future__ import annotations

import json
import random
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from bridge import Bridge

from tests.vectors import cases, expand_text, expand_tokens

from .test_bridge import call, pack, random_request

HERE = Path(__file__).resolve().parent
Json = dict[str, Any]


def in_pyodide(
    dist: Path, scratch: Path, calls: list[tuple[str, Json, list[int] | None]]
) -> list[Json]:
    """The answers to calls of the bridge."""
    asked, answered = scratch / "calls.json", scratch / "answers.json"
    asked.write_text(json.dumps(calls), "utf-8")
    script = str(HERE / "pyodide_vectors.mjs")
    done = subprocess.run(
        ["node", "--no-warnings", script, str(dist), str(asked), str(answered)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(text) for text in json.loads(answered.read_text("utf-8"))]


def test_vectors_and_random_requests(dist: Path, tmp_path: Path) -> None:
    """The known answers are right, and random requests have CPython's answers, texts equal."""
    vectors = cases("known_answers.json")
    requests: list[Json] = []
    for case in vectors:
        requests.append(
            {
                **{key: case[key] for key in ("contract", "block_size", "mm_info")},
                "tokens": expand_tokens(case["tokens"]),
                "salt": expand_text(case["salt"]),
                "lora_name": expand_text(case["lora_name"]),
            }
        )
    rng = random.Random(314)
    requests += [random_request(rng, rng.choice(("documented", "dynamo-1.3"))) for _ in range(40)]
    calls: list[tuple[str, Json, list[int] | None]] = []
    bridge = Bridge()
    right: list[Json] = []
    for request in requests:
        params = {
            "id": "A",
            "lora_name": request["lora_name"],
            "salt": request["salt"],
            "mm_info": [{k: str(v) for k, v in run.items()} for run in request["mm_info"]],
            "contract": request["contract"],
            "block_size": request["block_size"],
            "window": [0, 1 << 20],
        }
        calls.append(("put", params, request["tokens"]))
        right.append(call(bridge, "put", pack(request["tokens"]), **params))
    calls.append(("selftest", {}, None))
    answers = in_pyodide(dist, tmp_path, calls)
    assert answers[:-1] == right
    assert answers[-1]["passed"] == answers[-1]["total"]
    for case, answer in zip(vectors, answers):
        rows = {row["position"]: list(row.values()) for row in answer.get("rows", ())}
        for row in case["blocks"]:
            assert rows.get(row[0], row) == row


def test_the_wheel_is_the_checkouts(dist: Path) -> None:
    """The page runs the package of this checkout, unchanged."""
    (wheel,) = (dist / "pyodide").glob("kvhash_pure-*.whl")
    checkout = HERE.parents[1]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("kvhash_pure/")]
        assert {Path(name).name for name in names} >= {"__init__.py", "compare.py", "xxh3.py"}
        for name in names:
            assert archive.read(name) == (checkout / name).read_bytes(), (
                f"{name} of web/dist is stale: npm --prefix web run build"
            )
