"""bridge.py on CPython: what the page is told is what the independent reference computes."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest
from bridge import MAX_TOKENS, Bridge

from tests import reference
from tests.vectors import cases, expand_text, expand_tokens

Json = dict[str, Any]


def pack(tokens: list[int]) -> bytes:
    return struct.pack(f"<{len(tokens)}I", *tokens)


def call(bridge: Bridge, method: str, blob: bytes | None = None, **params: Any) -> Json:
    text, _ = bridge.call(method, json.dumps(params), blob)
    answer: Json = json.loads(text)
    return answer


def put(bridge: Bridge, name: str, request: Json, **more: Any) -> Json:
    """Set a request as the page does: numbers of runs as the text that was typed."""
    runs = [{key: str(run[key]) for key in run} for run in request.get("mm_info") or ()]
    params = {
        "id": name,
        "lora_name": request.get("lora_name"),
        "salt": request.get("salt"),
        "mm_info": runs,
        "contract": request.get("contract", "documented"),
        "block_size": request.get("block_size", 16),
        "window": [0, 1 << 20],
        **more,
    }
    return call(bridge, "put", pack(request["tokens"]), **params)


def random_request(rng: random.Random, contract: str = "documented") -> Json:
    """Any request that is valid, runs and names included."""
    tokens = [rng.randrange(1 << rng.choice((8, 17, 32))) for _ in range(rng.randrange(1, 300))]
    runs, at = [], 0
    while rng.random() < 0.5 and at < len(tokens):
        offset = rng.randrange(at, len(tokens))
        length = rng.randrange(1, len(tokens) - offset + 1)
        runs.append(
            {"mm_hash": f"0x{rng.getrandbits(64):016x}", "offset": offset, "length": length}
        )
        at = offset + length
    return {
        "tokens": tokens,
        "lora_name": rng.choice((None, "", "adapter", "ü-中😀")),
        "salt": rng.choice((None, "tenant-a", 'a"b\\c')),
        "mm_info": runs,
        "contract": contract,
        "block_size": rng.choice((1, 2, 3, 4, 7, 16, 60, 61, 64)),
    }


def assert_same(answer: Json, request: Json) -> None:
    right = reference.hash_request(request)
    assert answer["salt_hash"] == right["salt_hash"]
    assert answer["rows"] == right["blocks"]
    assert answer["tail"] == right["tail"]


@pytest.mark.parametrize("contract", ["documented", "dynamo-1.3"])
def test_rows_are_the_references(contract: str) -> None:
    """Every block of a request as section "JSON" of FORMAT.md has it."""
    rng = random.Random(contract)
    for _ in range(60):
        request = random_request(rng, contract)
        assert_same(put(Bridge(), "A", request), request)


def test_known_answers() -> None:
    """The vectors through the bridge."""
    for case in cases("known_answers.json"):
        tokens = expand_tokens(case["tokens"])
        if len(tokens) > MAX_TOKENS:
            continue
        request = {
            **{key: case[key] for key in ("contract", "block_size", "mm_info")},
            "tokens": tokens,
            "salt": expand_text(case["salt"]),
            "lora_name": expand_text(case["lora_name"]),
        }
        answer = put(Bridge(), "A", request)
        assert answer["salt_hash"] == case["salt_hash"]
        assert answer["blocks"] == case["count"]
        rows = {row["position"]: list(row.values()) for row in answer["rows"]}
        for row in case["blocks"]:
            assert rows[row[0]] == row


def test_an_edit_gives_what_a_new_request_gives() -> None:
    """Only what changed is hashed again, and nothing that changed is kept."""
    rng = random.Random(3)
    for _ in range(40):
        bridge = Bridge()
        request = random_request(rng)
        put(bridge, "A", request)
        for _ in range(8):
            request = edited(rng, request)
            answer = put(bridge, "A", request)
            assert_same(answer, request)
            block = rng.randrange(max(1, answer["blocks"]))
            rows = call(bridge, "rows", id="A", start=block, stop=block + 3)["rows"]
            assert rows == answer["rows"][block : block + 3]


def edited(rng: random.Random, request: Json) -> Json:
    """One edit as a person makes it."""
    tokens, runs = list(request["tokens"]), [dict(run) for run in request["mm_info"]]
    end = max([run["offset"] + run["length"] for run in runs], default=0)
    kind = rng.choice(("token", "insert", "delete", "run", "move", "salt", "size", "contract"))
    if kind == "token":
        tokens[rng.randrange(len(tokens))] ^= 1
    elif kind == "insert":
        tokens.insert(rng.randrange(len(tokens)), 5)
    elif kind == "delete" and len(tokens) > end + 1:
        del tokens[rng.randrange(len(tokens))]
    elif kind == "run" and runs:
        runs[rng.randrange(len(runs))]["mm_hash"] = hex(rng.getrandbits(64))
    elif kind == "move" and runs:
        runs.pop(rng.randrange(len(runs)))
    more: Json = {}
    if kind == "salt":
        more = {"salt": rng.choice((None, "x"))}
    elif kind == "size":
        more = {"block_size": rng.choice((1, 4, 16))}
    elif kind == "contract":
        more = {"contract": rng.choice(("documented", "dynamo-1.3"))}
    return {**request, "tokens": tokens, "mm_info": runs, **more}


def test_the_frames_of_a_block_are_its_bytes() -> None:
    """The frames, end to end, are the bytes that are hashed; the fields are the key's 128 bits."""
    rng = random.Random(5)
    for _ in range(40):
        bridge, request = Bridge(), random_request(rng)
        blocks = put(bridge, "A", request)["blocks"]
        runs = [(int(r["mm_hash"], 16), r["offset"], r["length"]) for r in request["mm_info"]]
        for position in {0, blocks // 2, blocks - 1} if blocks else ():
            size = request["block_size"]
            answer = call(bridge, "block", id="A", position=position, first_slot=0, slots=size)
            right = reference.block_bytes(request["tokens"], size, runs, position)
            parts = [field["hex"] for frame in answer["frames"] for field in frame["fields"]]
            assert bytes.fromhex("".join(parts)) == right
            assert answer["byte_count"] == len(right)
            bits = "".join(field["bits"] for field in answer["fields"])
            assert int(bits, 2) == int(answer["plh"], 16)
            assert len(bits) == 128
            if position:
                joined = bytes.fromhex(answer["chain_bytes"])
                chained = reference.xxh3_64(joined, int(answer["chain_seed"], 16))
                assert chained == int(answer["sequence_hash"], 16)
            for row in answer["lineage"]:
                if row["position"] + 1 < blocks:
                    child = call(bridge, "block", id="A", position=row["position"] + 1)
                    fragment = next(f for f in child["fields"] if f["name"] == "parent_fragment")
                    assert int(row["fragment"], 16) == int(fragment["hex"], 16)
                    assert row["fragment_bits"] == fragment["width"]


@pytest.mark.parametrize("position", [255, 256, 65_535, 65_536])
def test_the_key_at_the_borders_of_its_modes(position: int) -> None:
    """Widths change at 256 and 65 536; the fields are read by the package's table."""
    bridge = Bridge()
    tokens = [i & 0xFFFF for i in range(position + 1)]
    put(bridge, "A", {"tokens": tokens, "block_size": 1}, window=[0, 0])
    answer = call(bridge, "block", id="A", position=position)
    widths = [field["width"] for field in answer["fields"]]
    bits = reference.fragment_bits(position)
    assert widths == [2, 62 - bits, 64, bits]
    assert int(answer["fields"][1]["value"]) == position


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("[1, 2, 3]", [1, 2, 3]),
        ("1, 2,3", [1, 2, 3]),
        (" 1 2\n3\t4 ", [1, 2, 3, 4]),
        ("(1; 2; 0x10)", [1, 2, 16]),
        ("", []),
        ("[]", []),
        ("4294967295", [4294967295]),
        ('{"tokens": [7, 8]}', [7, 8]),
        ("\ufeff[9]", [9]),
    ],
)
def test_ids_are_read_in_every_form(text: str, tokens: list[int]) -> None:
    """JSON, commas, spaces, or a whole request."""
    answer, blob = Bridge().call("parse", json.dumps({"text": text}))
    assert "error" not in answer[:9], answer
    assert blob == pack(tokens)


def test_several_requests_at_once() -> None:
    """JSON lines, or a list of requests, come as several, their tokens end to end."""
    lines = '{"tokens": [1, 2], "salt": "s"}\n{"tokens": [3], "block_size": 4}\n'
    for text in (lines, "[" + lines.strip().replace("\n", ",") + "]"):
        answer, blob = Bridge().call("parse", json.dumps({"text": text}))
        requests = json.loads(answer)["requests"]
        assert [one["count"] for one in requests] == [2, 1]
        assert [one["salt"] for one in requests] == ["s", ""]
        assert requests[1]["block_size"] == 4
        assert blob == pack([1, 2, 3])


@pytest.mark.parametrize(
    ("text", "field", "index", "places"),
    [
        ("1 2 x 4", "tokens", 2, (4, 5)),
        ("1, -2", "tokens", 1, (3, 5)),
        ("1 4294967296", "tokens", 1, (2, 12)),
        ("[1, 2.5]", "tokens", 1, (4, 7)),
        ("[1, 18446744073709551617]", "tokens", 1, (4, 24)),
        ("[1, true]", "tokens", 1, (4, 8)),
        ("[1, 2", "json", 5, (5, 6)),
        ("1_000 2", "tokens", 0, (0, 5)),
        ("٣", "tokens", 0, (0, 1)),
    ],
)
def test_an_error_says_where(text: str, field: str, index: int, places: tuple[int, int]) -> None:
    """Field and index of the token, and the characters that it has in the text."""
    error = call(Bridge(), "parse", text=text)["error"]
    assert (error["field"], error["index"]) == (field, index)
    assert (error["start"], error["stop"]) == places


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"mm_info": [{"mm_hash": "0x1", "offset": "0", "length": "0"}]}, "mm_info.length"),
        ({"mm_info": [{"mm_hash": "zz", "offset": "0", "length": "1"}]}, "mm_info.mm_hash"),
        ({"mm_info": [{"mm_hash": str(1 << 64), "offset": "0", "length": "1"}]}, "mm_info.mm_hash"),
        ({"mm_info": [{"mm_hash": "1", "offset": "9", "length": "9"}]}, "mm_info.offset"),
        ({"mm_info": [{"mm_hash": "1", "offset": "", "length": "9"}]}, "mm_info.offset"),
        ({"contract": "dynamo-2"}, "contract"),
        ({"block_size": 0}, "block_size"),
        ({"block_size": 1 << 32}, "block_size"),
        ({"salt": "\ud800"}, "salt"),
    ],
)
def test_a_bad_request_changes_nothing(change: Json, field: str) -> None:
    """The error names its field, and the request from before is still there."""
    bridge = Bridge()
    good = put(bridge, "A", {"tokens": list(range(12)), "block_size": 4})
    error = put(bridge, "A", {"tokens": list(range(12)), "block_size": 4}, **change)["error"]
    assert error["field"] == field
    assert error["message"]
    rows = call(bridge, "rows", id="A", start=0, stop=9)["rows"]
    assert rows == good["rows"]


def test_too_many_tokens_are_refused() -> None:
    """A clear limit, before anything is hashed."""
    error = call(
        Bridge(),
        "put",
        bytes(4 * (MAX_TOKENS + 1)),
        id="A",
        contract="documented",
        block_size=16,
    )["error"]
    assert error["field"] == "tokens"
    assert str(MAX_TOKENS) in error["message"]


def test_compare_has_the_letters_of_the_page() -> None:
    """The package's sentence, with A and C for its two."""
    bridge = Bridge()
    put(bridge, "A", {"tokens": list(range(40))})
    put(bridge, "C", {"tokens": [*range(20), 9, *range(21, 40)]})
    answer = call(bridge, "compare", base="A", against="C")
    assert (answer["shared_blocks"], answer["cause"], answer["token_index"]) == (1, "token", 20)
    assert "C has 9" in answer["sentence"]


def test_the_tree_has_the_letters_of_the_page() -> None:
    """Edges name the requests that go through them."""
    bridge = Bridge()
    for name, last in (("A", 1), ("B", 2), ("D", 1)):
        put(bridge, name, {"tokens": [*range(32), *[last] * 16]})
    answer = call(bridge, "tree", ids=["A", "B", "D"])
    edges = {tuple(edge["requests"]): edge["blocks"] for edge in answer["edges"]}
    assert edges == {("A", "B", "D"): 2, ("A", "D"): 1, ("B",): 1}
    assert answer["tokens_saved"] == (9 - 4) * 16


def test_find_in_every_notation() -> None:
    """A hash of the page's requests is found however it is written."""
    bridge = Bridge()
    row = put(bridge, "B", {"tokens": list(range(64)), "salt": "s"})["rows"][2]
    number = int(row["sequence_hash"], 16)
    for text in (
        row["sequence_hash"],
        str(number),
        str(number - (1 << 64) if number >> 63 else number),
        reference.base58(number),
        row["plh_text"],
        row["plh"],
    ):
        answer = call(bridge, "find", text=text, ids=["B"])
        here = [match for match in answer["matches"] if match["here"]]
        assert [(match["id"], match["position"]) for match in here] == [("B", 2)], text
    assert answer["decoded"]["plh_text"] == row["plh_text"]


def test_find_under_other_rules() -> None:
    """Another contract, another block size, or without the salt: found, and it is said."""
    bridge = Bridge()
    request = {"tokens": list(range(64)), "salt": "s"}
    put(bridge, "A", request)
    for change, note in (
        ({"contract": "dynamo-1.3"}, "contract dynamo-1.3"),
        ({"block_size": 32}, "block size 32"),
        ({"salt": None}, "without the salt"),
    ):
        row = reference.hash_request({**request, **change})["blocks"][1]
        matches = call(bridge, "find", text=row["block_hash"], ids=["A"])["matches"]
        assert any(note in match["note"] and not match["here"] for match in matches), change
    assert call(bridge, "find", text="0x0123456789abcdef", ids=["A"])["matches"] == []
    assert call(bridge, "find", text="what?", ids=["A"])["error"]["field"]


def test_exports_come_back() -> None:
    """The request's JSON gives the request, the results are the report, the script runs."""
    rng = random.Random(9)
    bridge = Bridge()
    for _ in range(10):
        request = random_request(rng)
        rows = put(bridge, "A", request)["rows"]
        text = {
            kind: call(bridge, "export", id="A", kind=kind)["text"]
            for kind in ("request", "results", "csv", "python")
        }
        assert reference.hash_request(json.loads(text["request"]))["blocks"] == rows
        assert json.loads(text["results"])["blocks"] == rows
        lines = text["csv"].splitlines()
        assert len(lines) == len(rows) + 1
        for line, row in zip(lines[1:], rows):
            assert line.split(",")[2:] == [str(cell) for cell in row.values()]
        exec(compile(text["python"], "snippet", "exec"), {"print": lambda *_: None})
        name = call(bridge, "export", id="A", kind="csv")["name"]
        assert "documented" in name


def test_selftest() -> None:
    """The known answers that travel with the package are all right."""
    answer = call(Bridge(), "selftest")
    assert answer["passed"] == answer["total"] > 50
