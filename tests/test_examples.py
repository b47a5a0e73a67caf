"""The examples are what they say: real requests, a trace of our own, a simulator that counts right.

Hashes are compared with `tests/reference.py`; hit rates with a cache that is written out below and
knows nothing of hashes, lineage or levels.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import types
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvhash_pure import CONTRACTS, DYNAMO_1_3, Contract, Request
from kvhash_pure.jsonform import hash_report, load_request
from tests import reference

EXAMPLES = Path(__file__).parent.parent / "examples"
REQUESTS = sorted(path.name for path in EXAMPLES.glob("*.json"))  # each of them is a request
IMAGE_PAD = 151655


def load(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return value


def script(name: str) -> Any:
    """A script of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


simulator = script("simulate_prefix_cache")
TRACE = EXAMPLES / "trace.jsonl"


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
@pytest.mark.parametrize("name", REQUESTS)
def test_examples_hash_as_the_reference_says(name: str, contract: Contract) -> None:
    """Every block of every example, under both contracts."""
    request, size = load_request((EXAMPLES / name).read_bytes())
    report = hash_report(request.under(contract), size)
    assert report == reference.hash_request({**load(name), "contract": contract.name})
    assert len(report["blocks"]) >= 6


def test_the_json_lines_hash_as_the_reference_says() -> None:
    """Every line of requests.jsonl is a request; each talk's turns begin with the turn before."""
    lines = (EXAMPLES / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 17
    for line in lines:
        request, size = load_request(line)
        assert hash_report(request, size) == reference.hash_request(json.loads(line))
    first, second = (json.loads(line)["tokens"] for line in lines[:2])
    assert second[: len(first)] == first


def test_there_are_the_examples_that_people_need() -> None:
    """A chat, a LoRA request, an image, one over 8 000 tokens of text that varies."""
    assert load("lora.json")["lora_name"]
    assert load("lora.json")["tokens"] == load("chat.json")["tokens"]
    assert load("chat_tenant.json")["salt"]
    long = load("long.json")["tokens"]
    assert len(long) > 8000
    assert len(set(long)) > 400
    stretches = [tuple(long[i : i + 20]) for i in range(len(long) - 20)]
    assert len(set(stretches)) > 0.95 * len(stretches)


@pytest.mark.parametrize(
    ("name", "picture"), [("image.json", "harbour_day"), ("image_other.json", "harbour_night")]
)
def test_image_runs_stand_for_a_real_file(name: str, picture: str) -> None:
    """`mm_hash`: first 8 bytes, big-endian, of the SHA-256; a slot for each 32 x 32 pixels."""
    data = (EXAMPLES / "images" / f"{picture}.png").read_bytes()
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    (run,) = load(name)["mm_info"]
    assert int(run["mm_hash"], 16) == int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
    assert run["length"] == (width // 32) * (height // 32)
    tokens = load(name)["tokens"]
    slots = [i for i, token in enumerate(tokens) if token == IMAGE_PAD]
    assert slots == list(range(run["offset"], run["offset"] + run["length"]))


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("chat.json", "chat_tenant.json", 0),
        ("chat.json", "lora.json", 0),
        ("chat_with_date.json", "chat_with_other_date.json", 1),
        ("date_last.json", "date_last_other.json", 18),
        ("image.json", "image_other.json", 1),
    ],
)
def test_pairs_part_where_the_text_says(one: str, other: str, shared: int) -> None:
    """Leading blocks in common, counted by the package and by the reference."""

    def common(a: Sequence[object], b: Sequence[object]) -> int:
        return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))

    plhs = [Request.from_dict(load(name)).positional_lineage_hashes(16) for name in (one, other)]
    assert common(*plhs) == shared
    wanted = [reference.hash_request(load(name))["blocks"] for name in (one, other)]
    assert common(*wanted) == shared


def test_the_table_of_examples_counts_right() -> None:
    """examples/README.md: tokens and block size of each file."""
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    told = set()
    for row in re.findall(r"^\| (`.*)$", text, re.MULTILINE):
        names, _, tokens, block_size, *_ = [cell.strip() for cell in row.split(" | ")]
        for name in re.findall(r"`([^`]+)`", names):
            told.add(name)
            if name.endswith(".json"):
                assert len(load(name)["tokens"]) == int(tokens.replace(" ", ""))
                assert load(name)["block_size"] == int(block_size)
    assert told == {*REQUESTS, "requests.jsonl"}


def test_the_script_makes_these_files_again() -> None:
    """`npm run check` tokenizes the prompts again with the two real tokenizers."""
    node = shutil.which("node")
    if sys.platform == "emscripten" or node is None:
        pytest.skip("no node here")
    maker = EXAMPLES / "tokenized"
    if not (maker / "node_modules" / "llama3-tokenizer-js").is_dir():
        pytest.skip("the tokenizers are not installed: npm --prefix examples/tokenized ci")
    run = subprocess.run(
        [node, "make_examples.mjs", "--check"], cwd=maker, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_pictures_are_what_their_script_draws() -> None:
    """Pixel for pixel; the packed bytes depend on zlib and may differ elsewhere."""
    images = script("make_images")
    rows = [bytes(images.pixel(x, y) for x in range(images.WIDTH)) for y in range(0, 384, 48)]
    for name, night in (("harbour_day", False), ("harbour_night", True)):
        data = (EXAMPLES / "images" / f"{name}.png").read_bytes()
        assert images.palette(night) in data
        start = data.index(b"IDAT") + 4
        size = int.from_bytes(data[start - 8 : start - 4], "big")
        raw = zlib.decompress(data[start : start + size])
        width = images.WIDTH + 1
        assert [raw[y * width + 1 : (y + 1) * width] for y in range(0, 384, 48)] == rows
        assert images.png(images.palette(night), rows).startswith(b"\x89PNG\r\n\x1a\n")


def test_the_trace_is_what_its_script_makes(capsys: pytest.CaptureFixture[str]) -> None:
    """trace.jsonl, byte for byte, on every interpreter."""
    assert script("make_trace").main() == 0
    assert capsys.readouterr().out == TRACE.read_text(encoding="utf-8")


def test_the_trace_tells_32_bit_readers_apart() -> None:
    """Ids of the second tenant are those of the first plus 2^32: cut, they would merge prompts."""
    rows = [json.loads(line) for line in TRACE.read_text(encoding="utf-8").splitlines()]
    ids = {hash_id for row in rows for hash_id in row["hash_ids"]}
    assert len({hash_id & 0xFFFFFFFF for hash_id in ids}) < len(ids)
    cut = [{**row, "hash_ids": [i & 0xFFFFFFFF for i in row["hash_ids"]]} for row in rows]
    whole, merged = (simulate([json.dumps(row) for row in some], [50]) for some in (rows, cut))
    assert merged.hits[-1] > whole.hits[-1]


Key = tuple[tuple[int, ...], int]


def brute_force(
    rows: Sequence[dict[str, Any]], capacity: int | None, block_size: int
) -> tuple[int, int]:
    """(hit blocks, blocks) of one cache, by the rule: while it is too full, the leaf goes that was
    used least recently. A block is known by the ids up to it and its index."""
    used: dict[Key, int] = {}
    parent: dict[Key, Key | None] = {}
    hits = blocks = 0
    for time, row in enumerate(rows):
        ids = row["hash_ids"]
        path: list[Key] = [
            (tuple(ids[: i * block_size // 512 + 1]), i)
            for i in range(row["input_length"] // block_size)
        ]
        blocks += len(path)
        for key in path:
            if key not in used:
                break
            hits += 1
        for i, key in enumerate(path):
            used[key] = time
            parent[key] = path[i - 1] if i else None
        while capacity is not None and len(used) > capacity:
            inner = {parent[key] for key in used}
            leaf = min((key for key in used if key not in inner), key=lambda key: used[key])
            del used[leaf]
    return hits, blocks


def simulate(lines: Sequence[str], capacities: Sequence[int], block_size: int = 512) -> Any:
    return simulator.simulate(simulator.read_trace(lines), capacities, block_size)


def trace_rows(count: int | None = None) -> list[str]:
    return TRACE.read_text(encoding="utf-8").splitlines()[:count]


def test_hit_rates_of_the_shipped_trace_equal_a_brute_force_count() -> None:
    """Several capacities at once against one plain cache each, at 512 tokens a block."""
    lines = trace_rows()
    rows = [json.loads(line) for line in lines]
    capacities = [1, 25, 100, 800]
    outcome = simulate(lines, capacities)
    wanted = [brute_force(rows, capacity, 512) for capacity in (*capacities, None)]
    assert list(zip(outcome.hits, [outcome.blocks] * 5)) == wanted
    assert [outcome.rate(i) for i in range(5)] == [hits / blocks for hits, blocks in wanted]


@pytest.mark.parametrize("block_size", [16, 64, 256])
def test_smaller_blocks_count_right_too(block_size: int) -> None:
    """The last id stands for fewer than 512 tokens; only its full blocks count."""
    lines = trace_rows(60 * block_size // 256 + 10)
    rows = [json.loads(line) for line in lines]
    capacities = [2000 // block_size, 20_000 // block_size]
    outcome = simulate(lines, capacities, block_size)
    wanted = [brute_force(rows, capacity, block_size) for capacity in (*capacities, None)]
    assert list(zip(outcome.hits, [outcome.blocks] * 3)) == wanted


def test_the_shipped_trace_gives_these_numbers_on_every_interpreter() -> None:
    """Absolute numbers, the same under both contracts: a contract changes keys, not sharing."""
    capacities = [25, 50, 100, 200, 400, 800]
    for contract in CONTRACTS:
        rows = simulator.read_trace(trace_rows())
        outcome = simulator.simulate(rows, capacities, contract=contract)
        assert outcome.hits == HITS
        assert outcome[:5] == (800, 5406730, 10180, 1887, 2599)


HITS = [3109, 5000, 6943, 8026, 8273, 8293, 8293]


@st.composite
def traces(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Short traces over few ids: prefixes, partly filled last blocks and evictions abound."""
    rows = []
    for time in range(draw(st.integers(1, 12))):
        ids = draw(st.lists(st.sampled_from([1, 2, 1 << 32 | 1]), min_size=0, max_size=5))
        length = max(0, 512 * len(ids) - draw(st.integers(0, 511))) if ids else 0
        row = {"timestamp": time, "input_length": length, "output_length": 1, "hash_ids": ids}
        rows.append(row)
    return rows


@given(traces(), st.sampled_from([128, 512]))
def test_any_trace_counts_as_by_brute_force(rows: list[dict[str, Any]], block_size: int) -> None:
    """All capacities from 1 to 8 in one pass, each equal to a cache of its own."""
    capacities = list(range(1, 9))
    outcome = simulate([json.dumps(row) for row in rows], capacities, block_size)
    assert outcome.hits == [
        brute_force(rows, capacity, block_size)[0] for capacity in (*capacities, None)
    ]


def test_all_64_bits_of_an_id_count() -> None:
    """Ids with equal low or equal high halves have different blocks at every place and size."""
    ids = [0, 1, 1 << 32, (1 << 32) + 1, (1 << 64) - 1, 0xFFFFFFFF]
    for block_size in (2, 16, 512):
        hashes = [Request(simulator.tokens_of(i)).block_hashes(block_size) for i in ids]
        assert all(len(set(column)) == len(ids) for column in zip(*hashes))
    assert all(0 <= token < 1 << 32 for i in ids for token in simulator.tokens_of(i))


def test_a_prefix_is_hashed_once() -> None:
    """The second time a list of ids comes, not one token is made or hashed."""
    calls: list[int] = []
    plain = simulator.tokens_of
    hasher = simulator.Hasher(512, DYNAMO_1_3)

    def noted(hash_id: int) -> object:
        calls.append(hash_id)
        return plain(hash_id)

    try:
        simulator.tokens_of = noted
        first = hasher.plhs([5, 6, 7], 3 * 512)
        assert calls == [5, 6, 7]
        assert hasher.plhs([5, 6, 7], 3 * 512) == first
        assert hasher.plhs([5, 6, 7], 3 * 512 - 1) == first[:2]
        assert hasher.plhs([7, 6], 1024)[0] != first[2]
        assert calls == [5, 6, 7]
    finally:
        simulator.tokens_of = plain
    whole = [token for hash_id in (5, 6, 7) for token in plain(hash_id)]
    assert first == Request(whole, contract=DYNAMO_1_3).positional_lineage_hashes(512)


GOOD = '{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "a JSON object expected, not list"),
        ('{"timestamp": 0, "input_length": 600, "output_length": 5}', "no 'hash_ids'"),
        (GOOD.replace("[1, 2]", "[1]"), "1 hash_ids for input_length 600; 2 expected"),
        (GOOD.replace("[1, 2]", "[1, 2, 3]"), "3 hash_ids for input_length 600; 2 expected"),
        (GOOD.replace("600", "1025"), "2 hash_ids for input_length 1025; 3 expected"),
        (GOOD.replace("[1, 2]", "12"), "hash_ids is int; a list expected"),
        (GOOD.replace("[1, 2]", "[1, -2]"), "hash_ids[1] is -2; an integer, 0 to 2^64 - 1"),
        (GOOD.replace("[1, 2]", f"[1, {1 << 64}]"), "hash_ids[1] is 18446744073709551616"),
        (GOOD.replace("[1, 2]", "[1, 2.0]"), "hash_ids[1] is 2.0"),
        (GOOD.replace("[1, 2]", "[true, 2]"), "hash_ids[0] is True"),
        (GOOD.replace("600", "-1"), "input_length is -1; an integer, 0 to 2^63 - 1"),
        (GOOD.replace("5,", '"5",'), "output_length is '5'"),
        (GOOD.replace('": 0', '": NaN'), "timestamp is nan; a number expected"),
        (GOOD.replace('": 0', '": "now"'), "timestamp is 'now'; a number expected"),
        (GOOD.replace("[1, 2]", f'["{"x" * 99}", 2]'), "hash_ids[0] is 'xxx"),
    ],
)
def test_a_bad_line_is_named(
    line: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, one line on stderr with the line's number and what would be right, no result."""
    path = tmp_path / "bad.jsonl"
    path.write_text(f"{GOOD}\n\n{line}\n{GOOD}\n", encoding="utf-8")
    assert simulator.main([str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {path}: line 3: ")
    assert what in printed.err
    assert printed.err.count("\n") == 1
    with pytest.raises(simulator.TraceError) as caught:
        list(simulator.read_trace([line]))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--block-size", "784"], "block size 784: 2 or more that divides 512 expected"),
        (["--block-size", "0"], "block size 0: 2 or more"),
        (["--block-size", "1"], "block size 1: 2 or more"),
        (["--contract", "dynamo"], "documented"),
    ],
)
def test_bad_options_are_one_line(
    arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 and what would be right."""
    assert simulator.main([str(TRACE), *arguments]) == 2
    assert what in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "5,-1", "many", ""])
def test_bad_capacities_are_usage_errors(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """argparse says which value is wrong; exit 2."""
    with pytest.raises(SystemExit) as caught:
        simulator.main([str(TRACE), f"--capacity={text}"])
    assert caught.value.code == 2
    assert f"value: {text!r}" in capsys.readouterr().err
    with pytest.raises(ValueError, match="at least 1 block"):
        simulate([GOOD], [4, 0])


def test_bytes_that_are_no_utf8_are_an_error_of_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is named, and what progress had written is wiped before; a BOM is fine."""
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\n\xff" + GOOD.encode() + b"\n")
    assert simulator.main([str(path), "--progress"]) == 2
    last = capsys.readouterr().err.rpartition("\r")[2]
    assert last == f"error: {path}: line 2: not JSON: not UTF-8\n"
    path.write_text("x\n", encoding="utf-8")  # the parser's own line and column are left out
    assert simulator.main([str(path)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {path}: line 1: not JSON: ")  # the rest is the parser's
    assert message.count("line") == 1


def test_a_missing_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, the file named."""
    assert simulator.main(["no-such-trace.jsonl"]) == 2
    assert "no-such-trace.jsonl" in capsys.readouterr().err


def test_the_table_and_the_json_say_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table for people, an object for machines; `-` reads standard input; progress on stderr."""
    text = "\n".join(trace_rows(40))
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert simulator.main(["-", "--capacity", "40,20,40", "--json", "--progress"]) == 0
    printed = capsys.readouterr()
    value = json.loads(printed.out)
    assert "1 requests" in printed.err
    assert [cache["capacity"] for cache in value["caches"]] == [20, 40, None]
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert simulator.main(["-", "--capacity", "20,40"]) == 0
    table = capsys.readouterr().out
    for cache in value["caches"]:
        assert f"{cache['hit_blocks']:>10}  {cache['hit_rate']:>8.4f}" in table
    assert "contract documented" in table


def test_an_empty_trace_has_no_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No division by zero; requests without tokens are requests all the same."""
    path = tmp_path / "empty.jsonl"
    path.write_text(GOOD.replace("600", "0").replace("1, 2", ""), encoding="utf-8")
    assert simulator.main([str(path), "--json", "--progress"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["requests"] == 1
    assert [cache["hit_rate"] for cache in value["caches"]] == [0.0] * 7


def test_no_matplotlib_is_said_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--plot` without matplotlib: exit 2 at once, no table after minutes."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert simulator.main([str(TRACE), "--plot", "rates.png"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "needs matplotlib" in printed.err


def test_the_plot_shows_all_capacities(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is handed to matplotlib: a point for each capacity, a line for the unlimited cache."""
    seen: dict[str, Any] = {}

    class Axes:
        def plot(self, x: list[int], y: list[float], **options: object) -> None:
            seen["points"] = list(zip(x, y))

        def axhline(self, y: float, **options: object) -> None:
            seen["unlimited"] = y

        def __getattr__(self, name: str) -> Any:
            return lambda *values, **options: None

    def subplots(**options: object) -> tuple[Any, Axes]:
        figure = types.SimpleNamespace(savefig=lambda path: seen.update(path=path))
        return figure, Axes()

    pyplot = types.SimpleNamespace(subplots=subplots, close=lambda figure: None)
    fake = types.SimpleNamespace(use=lambda backend: None, pyplot=pyplot)
    monkeypatch.setitem(sys.modules, "matplotlib", fake)
    path = str(tmp_path / "rates.png")
    assert simulator.main([str(TRACE), "--capacity", "50,100", "--plot", path, "--json"]) == 0
    rates = [hits / 10180 for hits in (5000, 6943, 8293)]
    assert seen == {
        "points": [(50, rates[0]), (100, rates[1])],
        "unlimited": rates[2],
        "path": path,
    }
