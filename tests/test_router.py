"""The router's hashes, all names of a block side by side, and the router's tree.

Oracles: answers of Dynamo's own binding (`vectors/kv_router*.json`), and the rule written down once
more on the C library of xxHash. tests/oracle asks the binding itself.
"""

from __future__ import annotations

import csv
import io
import json
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kvhash_pure import (
    DYNAMO_1_3,
    FieldTypeError,
    FieldValueError,
    KvHashingError,
    Request,
    RequestMmObjectInfo,
    UnknownFieldError,
)
from kvhash_pure.__main__ import main
from kvhash_pure.router import (
    ROUTER_SEED,
    RouterRadixTree,
    block_mm_infos_from_runs,
    compute_block_hash_for_seq,
    compute_seq_hash_for_block,
    hash_mm_identifier,
    representations,
)
from kvhash_pure.router_tree import RouterRangeError, UnknownBlockError
from tests import reference
from tests.helpers import ANYTHING, U64_MAX, rejected
from tests.oracle.compare import answer_tree
from tests.vectors import Case, cases

BINDING = cases("kv_router.json", "rows")
HISTORIES = cases("kv_router_tree.json", "histories")
ANSWERED = 14643705804678351452  # tokens 1, 2, 3, 4 in one block: the original's own constant
x = reference.xxh3_64


def tokens_of(case: Case) -> Sequence[int]:
    tokens = case["tokens"]
    return range(*tokens["range"]) if isinstance(tokens, dict) else tokens


def infos(*objects: Sequence[int] | None) -> list[dict[str, Any] | None]:
    """`block_mm_infos` of the mm_hash values in each block."""
    return [
        None if hashes is None else {"mm_objects": [{"mm_hash": value} for value in hashes]}
        for hashes in objects
    ]


def rule(
    tokens: Sequence[int], size: int, objects: Sequence[Sequence[int] | None], seed: int, more: int
) -> list[int]:
    """Local hashes as the rule says them, a window at a time."""
    found = []
    for i in range(len(tokens)):
        window = tokens[i * size : i * size + size + more]
        if len(window) == size + more:
            extra = sorted(objects[i] or ()) if i < len(objects) else []
            data = struct.pack(f"<{len(window)}I{len(extra)}Q", *window, *extra)
            # Without alignment: `<` packs the u64 right after the u32.
            found.append(x(data, seed))
    return found


class TestLocalHashes:
    @pytest.mark.parametrize("case", BINDING, ids=lambda case: case["name"])
    def test_the_bindings_answers(self, case: Case) -> None:
        """Local and sequence hashes that Dynamo 1.4.0 gave."""
        local = compute_block_hash_for_seq(tokens_of(case), case["block_size"], **case["options"])
        assert [str(value) for value in local] == case["local"]
        assert [str(value) for value in compute_seq_hash_for_block(local)] == case["sequence"]

    def test_the_rule(self) -> None:
        """Seed, windows, stride and objects on random input: tokens as u32, objects ascending."""
        r = random.Random(7)
        for _ in range(300):
            size, more = r.randint(1, 20), r.randint(0, 1)
            tokens = [r.getrandbits(32) for _ in range(r.randrange(90))]
            objects = [
                r.choice((None, [], [r.getrandbits(64) for _ in range(r.randint(1, 4))]))
                for _ in range(r.randrange(8))
            ]
            lora, namespace = r.choice((None, "", "a", "é")), r.choice((None, "", "a", "tenant"))
            seed = 1337 + (x(lora.encode(), 0) if lora else 0)
            seed += x(namespace.encode(), 1) if namespace else 0
            assert compute_block_hash_for_seq(
                tokens,
                size,
                infos(*objects),
                lora_name=lora,
                is_eagle=bool(more),
                cache_namespace=namespace,
            ) == rule(tokens, size, objects, seed & U64_MAX, more)

    def test_a_list_of_objects_may_end_before_the_blocks_or_after_them(self) -> None:
        """A missing rest is None; what lies beyond the last block is checked and not used."""
        plain = compute_block_hash_for_seq(range(8), 4)
        short = compute_block_hash_for_seq(range(8), 4, infos([9]))
        assert short[0] != plain[0]
        assert short[1] == plain[1]
        assert compute_block_hash_for_seq(range(8), 4, infos([9], None, [8])) == short
        assert compute_block_hash_for_seq(range(8), 4, infos([9], [])) == short
        with rejected(RouterRangeError, "block_mm_infos.mm_objects.mm_hash", index=2, value=-1):
            compute_block_hash_for_seq(range(8), 4, infos(None, None, [-1]))

    @pytest.mark.parametrize("size", [6, 2**31, 2**32 - 1])
    def test_no_full_window_costs_nothing(self, size: int) -> None:
        """However large the window is that the tokens do not fill."""
        for is_eagle in (False, True):
            assert compute_block_hash_for_seq(range(5), size, infos([9]), is_eagle=is_eagle) == []
            assert compute_block_hash_for_seq(range(5), size, is_eagle=is_eagle) == []
        assert representations(Request(range(5)), size) == []

    def test_tokens_may_be_what_a_request_takes(self) -> None:
        """Any iterable of ints; the binding wants a sequence."""
        assert compute_block_hash_for_seq(iter([1, 2, 3, 4]), 4) == [ANSWERED]
        assert compute_block_hash_for_seq(memoryview(bytes([1, 2, 3, 4])), 4) == [ANSWERED]

    @pytest.mark.parametrize(
        ("kind", "field", "index", "change"),
        [
            (RouterRangeError, "tokens", 1, {"tokens": [1, -1]}),
            (RouterRangeError, "tokens", 0, {"tokens": [2**32]}),
            (FieldTypeError, "tokens", 1, {"tokens": [1, True, 0]}),
            (FieldTypeError, "tokens", 0, {"tokens": [1.0]}),
            (FieldTypeError, "tokens", None, {"tokens": b"abcd"}),
            (FieldTypeError, "tokens", None, {"tokens": None}),
            (FieldValueError, "kv_block_size", None, {"kv_block_size": 0}),
            (RouterRangeError, "kv_block_size", None, {"kv_block_size": -1}),
            (RouterRangeError, "kv_block_size", None, {"kv_block_size": 2**32}),
            (FieldTypeError, "kv_block_size", None, {"kv_block_size": True}),
            (FieldTypeError, "kv_block_size", None, {"kv_block_size": "4"}),
            (FieldTypeError, "block_mm_infos", None, {"block_mm_infos": 5}),
            (FieldTypeError, "block_mm_infos", None, {"block_mm_infos": "ab"}),
            (FieldTypeError, "block_mm_infos", 1, {"block_mm_infos": [None, 5]}),
            (UnknownFieldError, "block_mm_infos", 0, {"block_mm_infos": [{}]}),
            (
                FieldTypeError,
                "block_mm_infos.mm_objects",
                1,
                {"block_mm_infos": [None, {"mm_objects": None}]},
            ),
            (
                UnknownFieldError,
                "block_mm_infos.mm_objects",
                0,
                {"block_mm_infos": [{"mm_objects": [{"offsets": []}]}]},
            ),
            (
                RouterRangeError,
                "block_mm_infos.mm_objects.mm_hash",
                0,
                {"block_mm_infos": [{"mm_objects": [{"mm_hash": 2**64}]}]},
            ),
            (
                FieldTypeError,
                "block_mm_infos.mm_objects.mm_hash",
                0,
                {"block_mm_infos": [{"mm_objects": [{"mm_hash": "1"}]}]},
            ),
            (FieldTypeError, "lora_name", None, {"lora_name": b"x"}),
            (FieldValueError, "lora_name", 0, {"lora_name": "\ud800"}),
            (FieldTypeError, "cache_namespace", None, {"cache_namespace": 1}),
            (FieldTypeError, "is_eagle", None, {"is_eagle": 1}),
        ],
    )
    def test_bad_input_is_named(
        self, kind: type[KvHashingError], field: str, index: int | None, change: dict[str, Any]
    ) -> None:
        """Kind as in the binding (ValueError, OverflowError, TypeError), with field and index."""
        with rejected(kind, field, index=index):
            compute_block_hash_for_seq(**{"tokens": [1, 2, 3, 4], "kv_block_size": 2, **change})

    def test_a_number_out_of_range_is_an_overflow_error(self) -> None:
        """Code that catches what the binding raises goes on to work; a size of 0 is none."""
        with pytest.raises(OverflowError):
            compute_block_hash_for_seq([-1], 4)
        with pytest.raises(ValueError, match="kv_block_size") as caught:
            compute_block_hash_for_seq([1], 0)
        assert not isinstance(caught.value, OverflowError)


class TestSequenceHashes:
    def test_the_chain(self) -> None:
        """First the local hash, then x(LE64 previous ‖ LE64 local, 1337)."""
        second = x(struct.pack("<QQ", 5, 6), 1337)
        third = x(struct.pack("<QQ", second, U64_MAX), 1337)
        assert ROUTER_SEED == 1337
        assert compute_seq_hash_for_block([5, 6, U64_MAX]) == [5, second, third]
        assert compute_seq_hash_for_block(()) == []

    @pytest.mark.parametrize("value", [-1, U64_MAX + 1])
    def test_a_hash_out_of_range(self, value: int) -> None:
        with rejected(RouterRangeError, "local_hashes", index=1, value=value):
            compute_seq_hash_for_block([1, value])

    @pytest.mark.parametrize("value", [None, "12", b"12", {1, 2}, {1: 2}, 5])
    def test_no_list_of_hashes(self, value: Any) -> None:
        with rejected(FieldTypeError, "local_hashes", value=value):
            compute_seq_hash_for_block(value)


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", None),
            ("0123456789abcdef" * 4, 0x0123456789ABCDEF),
            ("FEDCBA9876543210" + "0" * 48, 0xFEDCBA9876543210),
            ("f" * 63, x(b"f" * 63, 0)),
            ("f" * 65, x(b"f" * 65, 0)),
            ("f" * 32 + "g" + "f" * 31, x(b"f" * 32 + b"g" + b"f" * 31, 0)),
            ("\u0661" * 64, x(("\u0661" * 64).encode(), 0)),
            ("image-1", x(b"image-1", 0)),
        ],
    )
    def test_the_rule(self, text: str, expected: int | None) -> None:
        """64 hex digits are read, anything else is hashed; ASCII digits alone are digits."""
        assert hash_mm_identifier(text) == expected

    @pytest.mark.parametrize("value", [None, 1, b"f" * 64])
    def test_no_text(self, value: Any) -> None:
        with rejected(FieldTypeError, "text", value=value):
            hash_mm_identifier(value)

    def test_text_without_utf_8(self) -> None:
        with rejected(FieldValueError, "text", index=1):
            hash_mm_identifier("a\ud800")


RUNS = [
    RequestMmObjectInfo(mm_hash=9, offset=2, length=4),
    RequestMmObjectInfo(mm_hash=8, offset=6, length=1),
    RequestMmObjectInfo(mm_hash=9, offset=7, length=1),
    RequestMmObjectInfo(mm_hash=7, offset=13, length=1),
]


class TestRuns:
    def test_a_block_lists_the_objects_in_it(self) -> None:
        """Each object once a block, its slots as [start, end) there; the tail has an entry too."""
        assert block_mm_infos_from_runs(Request(range(14), mm_info=RUNS), 4) == [
            {"mm_objects": [{"mm_hash": 9, "offsets": [(2, 4)]}]},
            {
                "mm_objects": [
                    {"mm_hash": 9, "offsets": [(0, 2), (3, 4)]},
                    {"mm_hash": 8, "offsets": [(2, 3)]},
                ]
            },
            None,
            {"mm_objects": [{"mm_hash": 7, "offsets": [(1, 2)]}]},
        ]

    def test_no_runs_no_blocks_no_size(self) -> None:
        assert block_mm_infos_from_runs(Request(range(9)), 4) == [None] * 3
        assert block_mm_infos_from_runs(Request([]), 4) == []
        with rejected(FieldValueError, "block_size", value=0):
            block_mm_infos_from_runs(Request([1]), 0)


class TestRepresentations:
    def test_without_runs_the_router_has_the_hashes_of_dynamo_1_3(self) -> None:
        """Block and sequence hashes, with the salt as namespace; those of `documented` differ."""
        request = Request(range(10), salt="tenant-a", lora_name="adapter-a")
        found = representations(request, 4)
        released = request.under(DYNAMO_1_3)
        assert [b.router_local_hash for b in found] == released.block_hashes(4)
        assert [b.router_sequence_hash for b in found] == released.sequence_hashes(4)
        assert [block.position for block in found] == [0, 1]
        for contract, blocks in zip(
            ("documented", "dynamo-1.3"), zip(*(block.blocks for block in found))
        ):
            seed = reference.salt_hash(contract, "tenant-a", "adapter-a")
            expected = reference.hash_blocks(contract, range(10), 4, seed=seed)
            assert [(b.block_hash, int(b.plh)) for b in blocks] == [
                (row.block_hash, row.plh) for row in expected
            ]
        assert found[1].agree == [
            ["dynamo-1.3.block_hash", "router.local_hash"],
            ["dynamo-1.3.sequence_hash", "router.sequence_hash"],
        ]
        assert found == representations(released, 4)

    def test_where_a_run_is_nothing_agrees(self) -> None:
        """The encodings differ in the block that a run touches, and so do all sequence hashes."""
        found = representations(Request(range(12), mm_info=RUNS[:1]), 4)
        assert found[1].agree == []
        assert found[2].agree == [["dynamo-1.3.block_hash", "router.local_hash"]]
        seen = [block.router_local_hash for block in found]
        assert seen == rule(range(12), 4, [[9], [9]], 1337, 0)

    def test_at_the_root_block_and_sequence_hash_are_one(self) -> None:
        (block,) = representations(Request([1, 2, 3, 4]), 4)
        assert block.router_local_hash == ANSWERED
        assert block.agree == [
            ["documented.block_hash", "documented.sequence_hash"],
            [
                "dynamo-1.3.block_hash",
                "dynamo-1.3.sequence_hash",
                "router.local_hash",
                "router.sequence_hash",
            ],
        ]

    def test_the_json_form(self) -> None:
        """Fixed-width hex by name; survives JSON."""
        (block,) = representations(Request([1, 2, 3, 4]), 4)
        form = block.to_dict()
        assert json.loads(json.dumps(form)) == form
        assert list(form) == [
            "position",
            "documented.block_hash",
            "documented.sequence_hash",
            "dynamo-1.3.block_hash",
            "dynamo-1.3.sequence_hash",
            "router.local_hash",
            "router.sequence_hash",
            "documented.plh",
            "documented.plh_text",
            "dynamo-1.3.plh",
            "dynamo-1.3.plh_text",
            "agree",
        ]
        assert form["router.local_hash"] == "0xcb38e4d7fb2dca5c"
        assert form["dynamo-1.3.plh"] == "0x0032ce3935fecb729700000000000000"
        assert form["dynamo-1.3.plh_text"] == "0:azWbh91idkf"

    def test_no_block_and_no_size(self) -> None:
        assert representations(Request([1, 2, 3]), 4) == []
        with rejected(FieldValueError, "block_size", value=0):
            representations(Request([1]), 0)


class TestCommandLine:
    """`hash --all`: both contracts and the router."""

    REQUEST = json.dumps({"tokens": list(range(1, 10)), "salt": "t"})

    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.file = tmp_path / "request.json"
        self.file.write_text(self.REQUEST, encoding="utf-8")

    def run(self, *options: str) -> int:
        return main(["hash", "--all", *options, str(self.file)])

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Blocks as `representations` has them, one salt hash a contract."""
        assert self.run("--json", "--block-size", "4") == 0
        report = json.loads(capsys.readouterr().out)
        found = representations(Request(range(1, 10), salt="t"), 4)
        assert report == {
            "block_size": 4,
            "salt_hash": {
                name: f"0x{reference.salt_hash(name, 't'):016x}"
                for name in ("documented", "dynamo-1.3")
            },
            "blocks": [block.to_dict() for block in found],
            "tail": 1,
        }

    def test_the_block_size_may_be_ours(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run("--json") == 0
        report = json.loads(capsys.readouterr().out)
        assert report["block_size"] == 16
        assert report["block_size_is_default"] is True
        assert report["blocks"] == []

    def test_csv(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One row a block; which names agree in one cell."""
        assert self.run("--csv", "--block-size", "4") == 0
        head, *lines = csv.reader(io.StringIO(capsys.readouterr().out))
        found = representations(Request(range(1, 10), salt="t"), 4)
        for line, block in zip(lines, found):
            cells = dict(zip(head, line))
            assert (cells.pop("request"), cells.pop("block_size")) == ("1", "4")
            form = {name: str(value) for name, value in block.to_dict().items()}
            form["agree"] = " ".join("=".join(names) for names in block.agree)
            assert cells == form
        assert len(lines) == 2

    def test_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The names below each other, then which say the same."""
        assert self.run("--block-size", "4") == 0
        lines = capsys.readouterr().out.splitlines()
        second = representations(Request(range(1, 10), salt="t"), 4)[1]
        local = f"0x{second.router_local_hash:016x}"
        at = lines.index("block 1")
        assert f"  router.local_hash         {local}" in lines[at:]
        assert lines[-2:] == [
            "  the same: dynamo-1.3.block_hash = router.local_hash",
            "  the same: dynamo-1.3.sequence_hash = router.sequence_hash",
        ]
        assert not any(line.startswith("contract") for line in lines)

    def test_one_contract_is_not_all(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run("--contract", "documented") == 2
        assert "--contract" in capsys.readouterr().err


def chain_of(*locals_: int) -> list[tuple[int, int]]:
    """Pairs whose external hash is that of the whole path."""
    return list(zip(compute_seq_hash_for_block(locals_), locals_))


class TestTree:
    @pytest.mark.parametrize("case", HISTORIES)
    @pytest.mark.parametrize("version", ["1.4.0", "1.6.1"])
    def test_the_bindings_answers(self, case: Case, version: str) -> None:
        """Every result and error of random histories, also where the two versions differ."""
        theirs = [(said, result) for said, result in case["answers"][version]]
        ours = answer_tree(case["operations"], keep_empty_edges=version == "1.4.0")
        plain = json.loads(json.dumps(ours))
        assert [tuple(answer) for answer in plain] == theirs

    def test_leaf_first_histories_are_those_of_a_plain_set(self) -> None:
        """While no block goes before those after it, a holder has what it stored and kept."""
        for seed in range(200):
            r = random.Random(seed)
            tree = RouterRadixTree(keep_empty_edges=bool(seed % 2))
            model: dict[tuple[int, int], set[tuple[int, ...]]] = {}
            for _ in range(25):
                holder = r.randrange(3), r.randrange(2)
                ways = model.setdefault(holder, set())
                way = tuple(r.randint(1, 2) for _ in range(r.randint(1, 6)))
                known = max(n for n in range(len(way) + 1) if not n or way[:n] in ways)
                start = r.choice((0, known))
                blocks = chain_of(*way)
                kind = r.random()
                if kind < 0.6:
                    parent = blocks[start - 1][0] if start else None
                    tree.store(holder[0], parent, blocks[start:], holder[1])
                    ways |= {way[: n + 1] for n in range(len(way))}
                elif kind < 0.85 and known:
                    gone = [w for w in ways if w[:known] == way[:known]]
                    gone.sort(key=len, reverse=True)
                    tree.remove(holder[0], [chain_of(*w)[-1][0] for w in gone], holder[1])
                    ways.difference_update(gone)
                elif kind < 0.95:
                    tree.clear(*holder)
                    ways.clear()
                else:
                    tree.remove_worker(holder[0])
                    model.update({(holder[0], rank): set() for rank in (0, 1)})
                query = tuple(r.randint(1, 2) for _ in range(7))
                scores = {
                    who: max(n for n in range(8) if not n or query[:n] in have)
                    for who, have in model.items()
                }
                assert tree.find_matches(query) == {w: n for w, n in scores.items() if n}

    def test_only_the_named_dp_rank_is_cleared(self) -> None:
        tree = RouterRadixTree()
        for dp_rank in (0, 1):
            tree.store(7, None, chain_of(1, 2), dp_rank)
        tree.clear(7, 1)
        assert tree.find_matches([1, 2, 3]) == {(7, 0): 2}
        tree.remove_worker(8)
        tree.clear(8)
        assert tree.find_matches(iter([1])) == {(7, 0): 1}

    def test_storing_twice_is_harmless(self) -> None:
        tree = RouterRadixTree()
        for _ in range(2):
            tree.store(7, None, chain_of(1, 2, 3))
            tree.store(7, chain_of(1)[0][0], chain_of(1, 2, 3)[1:])
        tree.store(7, None, [])
        assert tree.find_matches([1, 2, 3]) == {(7, 0): 3}
        assert tree.find_matches([2, 3]) == {}
        assert tree.find_matches([]) == {}

    def test_an_unknown_parent_is_refused(self) -> None:
        """Held by nobody, by another worker, by another dp rank, or no longer."""
        tree = RouterRadixTree()
        first, second = chain_of(1, 2)
        tree.store(7, None, [first, second])
        for worker, dp_rank in ((8, 0), (7, 1)):
            with rejected(UnknownBlockError, "parent_hash", value=first[0]):
                tree.store(worker, first[0], [second], dp_rank)
        with rejected(UnknownBlockError, "parent_hash", value=99):
            tree.store(7, 99, [])
        tree.remove(7, [first[0]])
        with rejected(UnknownBlockError, "parent_hash", value=second[0]):
            tree.store(7, second[0], [(5, 5)])
        assert tree.find_matches([1, 2]) == {}

    def test_a_block_with_its_parents_hash_is_refused_and_nothing_stored(self) -> None:
        tree = RouterRadixTree()
        tree.store(7, None, [(101, 1)])
        with rejected(FieldValueError, "blocks", index=1, value=101):
            tree.store(7, 101, [(102, 2), (101, 3)])
        assert tree.find_matches([1, 2]) == {(7, 0): 1}

    def test_an_unknown_hash_does_not_save_the_others(self) -> None:
        """The error is of the first unknown one, and comes once the rest is gone."""
        tree = RouterRadixTree()
        tree.store(7, None, [(101, 1), (102, 2), (103, 3)])
        with rejected(UnknownBlockError, "hashes", index=1, value=55):
            tree.remove(7, [103, 55, 102, 56])
        assert tree.find_matches([1, 2, 3]) == {(7, 0): 1}
        with rejected(UnknownBlockError, "hashes", index=0, value=101):
            tree.remove(8, [101])

    def test_what_follows_a_removed_block_is_not_found(self) -> None:
        """On the same edge it is gone; on a later edge it waits until the gap is filled."""
        one_edge, two_edges = RouterRadixTree(), RouterRadixTree()
        for tree in (one_edge, two_edges):
            tree.store(7, None, [(101, 1), (102, 2), (103, 3)])
        two_edges.store(8, None, [(101, 1), (102, 2), (109, 9)])
        for tree, found in ((one_edge, 2), (two_edges, 3)):
            tree.remove(7, [102])
            assert tree.find_matches([1, 2, 3])[7, 0] == 1
            tree.store(7, 101, [(102, 2)])
            assert tree.find_matches([1, 2, 3])[7, 0] == found

    @pytest.mark.parametrize(
        ("kind", "field", "index", "call"),
        [
            (RouterRangeError, "worker", None, ("store", -1, None, [])),
            (RouterRangeError, "worker", None, ("remove_worker", 2**64)),
            (FieldTypeError, "worker", None, ("clear", "a")),
            (RouterRangeError, "dp_rank", None, ("clear", 1, 2**32)),
            (RouterRangeError, "parent_hash", None, ("store", 1, -5, [])),
            (FieldTypeError, "parent_hash", None, ("store", 1, True, [])),
            (FieldTypeError, "blocks", None, ("store", 1, None, 5)),
            (FieldTypeError, "blocks", None, ("store", 1, None, "ab")),
            (FieldTypeError, "blocks", 1, ("store", 1, None, [(1, 2), 3])),
            (FieldTypeError, "blocks", 0, ("store", 1, None, [(1, 2, 3)])),
            (RouterRangeError, "blocks.external_hash", 0, ("store", 1, None, [(-1, 2)])),
            (FieldTypeError, "blocks.local_hash", 0, ("store", 1, None, [(1, "2")])),
            (FieldTypeError, "hashes", None, ("remove", 1, None)),
            (RouterRangeError, "hashes", 1, ("remove", 1, [1, 2**64])),
            (FieldTypeError, "local_hashes", 0, ("find_matches", [1.0])),
        ],
    )
    def test_bad_input_is_named_and_changes_nothing(
        self, kind: type[KvHashingError], field: str, index: Any, call: tuple[Any, ...]
    ) -> None:
        tree = RouterRadixTree()
        tree.store(1, None, [(1, 1), (2, 2)])
        name, *arguments = call
        with rejected(kind, field, index=index, value=ANYTHING):
            getattr(tree, name)(*arguments)
        assert tree.find_matches([1, 2]) == {(1, 0): 2}

    def test_a_hash_that_means_two_blocks(self) -> None:
        """The name that a worker gave to another's block is no parent, and can be removed."""
        for again in (True, False):
            tree = RouterRadixTree()
            tree.store(1, None, [(5, 1)])
            tree.store(1, None, [(6, 1)])
            with rejected(UnknownBlockError, "parent_hash", value=6):
                tree.store(1, 6, [(7, 7)])
            tree.store(2, None, [(5, 1), (6, 2)])
            if again:
                tree.remove(1, [6])
            with rejected(UnknownBlockError, "parent_hash", value=6):
                tree.store(1, 6, [(7, 7)])
            with rejected(UnknownBlockError, "hashes", index=0, value=6):
                tree.remove(1, [6])
            assert tree.find_matches([1, 2]) == {(1, 0): 1, (2, 0): 2}

    def test_what_nobody_holds_is_forgotten(self) -> None:
        """A tree through which much passes does not grow; with `keep_empty_edges` it does."""
        kept = RouterRadixTree(keep_empty_edges=True)
        for tree, left in ((RouterRadixTree(), 0), (kept, 50)):
            for i in range(50):
                tree.store(1, None, chain_of(i, 1, 2))
                tree.remove(1, [name for name, _ in chain_of(i, 1, 2)])
            assert len(tree._root.children) == left
