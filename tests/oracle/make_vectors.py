"""Writes the oracles' answers that the bare suite checks: `python3 -m tests.oracle.make_vectors`.

`dynamo_crates.json`: requests, streams and lineage hashes through the Rust crates.
`kv_router_tree.json`: histories of the router's tree through two versions of Dynamo's binding.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from tests.oracle import draw
from tests.oracle.tools import CRATES, PACKAGE, Binding, Crates
from tests.vectors import expand_tokens

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
COMMAND = "python3 -m tests.oracle.make_vectors"


def write(name: str, source: str, tables: dict[str, Iterable[Any]]) -> None:
    """A case a line, so that a difference can be read."""
    parts = [f'"source": {json.dumps(source)}, "command": {json.dumps(COMMAND)}']
    for table, rows in tables.items():
        lines = [json.dumps(row, separators=(",", ":")) for row in rows]
        parts.append(f'"{table}": [\n' + ",\n".join(lines) + "\n]")
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    (VECTORS / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(text)} bytes")


def small_requests(r: Random) -> Iterable[draw.Question]:
    """Some of each: without blocks, with some, with bad runs."""
    for blocks in [0] * 6 + [1] * 12 + [2, 3, 4, 5, 6] * 6:
        while True:
            question = draw.request(r)
            count, size = len(question["request"]["tokens"]), question["block_size"]
            if count <= 96 and count // size == blocks and len(str(question)) < 1500:
                yield question
                break


def crate_questions() -> tuple[list[draw.Question], list[draw.Question], list[draw.Question]]:
    r = Random("crates")
    requests = list(small_requests(r))
    for bad in ([1, 4, 0], [2, 2**64 - 2, 2], [3, 7, 4], [4, 2, 5]):
        fields = {"tokens": list(range(10)), "mm_info": [[5, 3, 2], bad]}
        requests.append({"request": {**fields, "lora_name": None, "salt": None}, "block_size": 4})
    runs = [[2**64 - 1, 1000, 29]]
    for spec, mm_info in (((1, 1, 260), []), ((7, 2654435761, 1037), []), ((5, 3, 1037), runs)):
        tokens = dict(zip(("first", "step", "count"), spec))
        fields = {"tokens": tokens, "mm_info": mm_info, "lora_name": "adapter-a", "salt": None}
        requests.append({"request": fields, "block_size": 1 if spec[2] < 1000 else 4})
    streams = [draw.stream(r) for _ in range(45)]
    lineages = [draw.lineage(r) for _ in range(30)]
    for position in draw.EDGES:
        question = draw.lineage(r)
        child = min(position + 1, 2**24 - 1)
        parent = draw.u64(r) if position else None
        question["lineage"].update(position=position, child_position=child, parent=parent)
        lineages.append(question)
    return requests, streams, lineages


def expanded(question: draw.Question) -> draw.Question:
    fields = question["request"]
    return {**question, "request": {**fields, "tokens": expand_tokens(fields["tokens"])}}


def write_crates() -> None:
    crates = Crates()
    requests, streams, lineages = crate_questions()
    answers = crates.ask(map(expanded, requests))
    for question, answer in zip(requests, answers):
        if isinstance(question["request"]["tokens"], dict):  # long: the PLH has all of it
            for key in ("block_hashes", "sequence_hashes", "text", "json", "msgpack"):
                del answer[key]
    tables = {
        "requests": zip(requests, answers),
        "streams": zip(streams, crates.ask(streams)),
        "lineages": zip(lineages, crates.ask(lineages)),
    }
    rows = {name: [{**q, "answer": a} for q, a in pairs] for name, pairs in tables.items()}
    write("dynamo_crates.json", f"{CRATES}, through tests/oracle/rust", dict(rows))


def write_trees(versions: tuple[str, ...] = ("1.4.0", "1.6.1")) -> None:
    """Half of the histories are such that the two versions find different blocks."""
    bindings = [Binding(version) for version in versions]
    r = Random("trees")
    rows: list[dict[str, Any]] = []
    wanted = {(False, False): 16, (True, False): 8, (False, True): 3, (True, True): 8}
    while any(wanted.values()):
        wild = r.random() < 0.3
        histories = [draw.history(r, wild) for _ in range(200)]
        both = [binding.ask([("tree", history) for history in histories]) for binding in bindings]
        for history, old, new in zip(histories, *both):
            kind = (wild, old != new)
            if wanted[kind] and 12 < len(history) < (60 if old != new else 36):
                wanted[kind] -= 1
                rows.append({"operations": history, "answers": dict(zip(versions, (old, new)))})
    write(
        "kv_router_tree.json",
        f"{PACKAGE} {' and '.join(versions)}: RadixTree, events applied one by one; an answer is "
        'the error, or "ok" and what find_matches gave as [worker, dp rank, leading blocks]',
        {"histories": rows},
    )
    for binding in bindings:
        binding.close()


if __name__ == "__main__":
    write_crates()
    write_trees()
