"""Whatever is handed to any public name, the answer is a result or one of our errors.

Each argument of each function is replaced in turn by every kind of nonsense. What is not checked
here is which error: the tests of each module do that.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from kvhash_pure import (
    CONTRACTS,
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    KvHashingError,
    PositionalLineageHash,
    PositionalRadixTree,
    Request,
    RequestMmObjectInfo,
    TokenBlockSequence,
    UniversalBlock,
    compare,
    compute_block_bytes_with_mm,
    compute_block_hash,
    compute_next_sequence_hash,
    compute_salt_hash,
    compute_salt_hash_from_bytes,
    identify,
    prefix_groups,
    validate_and_sort_mm_info,
    xxh3_64,
)
from kvhash_pure.jsonform import hash_report, load_request
from kvhash_pure.router import (
    block_mm_infos_from_runs,
    compute_block_hash_for_seq,
    compute_seq_hash_for_block,
    hash_mm_identifier,
    representations,
)


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2**24 + 1,
    2**32,
    2**63,
    2**64,
    2**128,
    10**5000,
    1.5,
    float("nan"),
    float("inf"),
    1j,
    Decimal(1),
    "",
    "x",
    "0x",
    "\ud800",
    "documented",
    "0:11111111",
    "9" * 5000,
    b"",
    b"x",
    bytes(16),
    bytearray(4),
    memoryview(b"abcd"),
    memoryview(bytes(8)).cast("d"),
    [],
    [None],
    [[1]],
    [1, "x"],
    [-1],
    [2**64],
    (1, 2, 3),
    {},
    {"tokens": [1]},
    {1: 2},
    {1, 2},
    range(-5, 5),
    object(),
    object,
    int,
    NoRepr(),
    Contract,
    DOCUMENTED,
    DYNAMO_1_3,
    RequestMmObjectInfo(1, 0, 0),
    RequestMmObjectInfo(1, 2**64 - 1, 2**64 - 1),
    PositionalLineageHash.root(1),
    Request([1, 2]),
    lambda: 1,
]

PLH = PositionalLineageHash.root(5).extend(6)
REQUEST = Request(range(40), salt="s", mm_info=[RequestMmObjectInfo(9, 3, 5)])
BLOCK = REQUEST.into_blocks(4)[1]
RUN = RequestMmObjectInfo(7, 1, 2)


def sequence() -> TokenBlockSequence:
    return TokenBlockSequence(range(10), block_size=4, mm_info=[RUN])


def tree() -> PositionalRadixTree[int]:
    made: PositionalRadixTree[int] = PositionalRadixTree()
    for plh in REQUEST.positional_lineage_hashes(4):
        made[plh] = 1
    return made


# A name, the function, and good arguments: each is replaced in turn.
CALLS: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    ("xxh3_64", xxh3_64, (b"abc", 5), {}),
    ("Contract.named", Contract.named, ("documented",), {}),
    ("salt_hash", DOCUMENTED.salt_hash, ("a", "b"), {}),
    ("compute_salt_hash", compute_salt_hash, ("a", "b"), {"contract": DYNAMO_1_3}),
    ("compute_salt_hash_from_bytes", compute_salt_hash_from_bytes, (b"{}",), {}),
    ("compute_block_hash", compute_block_hash, (b"abcd", 5), {}),
    ("next_sequence_hash", compute_next_sequence_hash, (1, 2), {"contract": DOCUMENTED}),
    ("block_bytes", compute_block_bytes_with_mm, ([1, 2, 3], 0, [RUN]), {}),
    ("validate_runs", validate_and_sort_mm_info, ([RUN], 10), {}),
    ("RequestMmObjectInfo", RequestMmObjectInfo, (1, 2, 3), {}),
    (
        "Request",
        Request,
        ([1, 2, 3],),
        {"lora_name": "l", "salt": "s", "mm_info": [RUN], "contract": DOCUMENTED},
    ),
    ("Request.from_dict", Request.from_dict, ({"tokens": [1]},), {}),
    ("Request.under", REQUEST.under, (DYNAMO_1_3,), {}),
    ("block_hashes", REQUEST.block_hashes, (4,), {}),
    ("sequence_hashes", REQUEST.sequence_hashes, (4,), {}),
    ("plhs", REQUEST.positional_lineage_hashes, (4,), {}),
    ("into_blocks", REQUEST.into_blocks, (4,), {}),
    ("load_request", load_request, ('{"tokens": [1]}',), {}),
    ("hash_report", lambda size: hash_report(REQUEST, size), (4,), {}),
    ("UniversalBlock", UniversalBlock, (5, PLH), {}),
    ("block from_json", UniversalBlock.from_json, (BLOCK.to_json(), DOCUMENTED), {}),
    ("block from_msgpack", UniversalBlock.from_msgpack, (BLOCK.to_msgpack(), DOCUMENTED), {}),
    ("PLH.root", PositionalLineageHash.root, (5, DOCUMENTED), {}),
    ("PLH.new", PositionalLineageHash.new, (5, 6, 7, DOCUMENTED), {}),
    ("PLH.from_u128", PositionalLineageHash.from_u128, (int(PLH), DOCUMENTED), {}),
    ("PLH.from_bytes", PositionalLineageHash.from_bytes, (bytes(PLH), DOCUMENTED), {}),
    ("PLH.parse", PositionalLineageHash.parse, (str(PLH), DOCUMENTED), {}),
    ("PLH.extend", PLH.extend, (5,), {}),
    ("PLH.fragment", PLH.parent_fragment_for_child_position, (5,), {}),
    ("PLH <", PLH.__lt__, (PLH,), {}),
    ("PLH >=", PLH.__ge__, (PLH,), {}),
    (
        "TokenBlockSequence",
        TokenBlockSequence,
        ([1, 2, 3],),
        {"block_size": 2, "salt_hash": 5, "mm_info": [RUN], "contract": DOCUMENTED},
    ),
    ("append", lambda token: sequence().append(token), (5,), {}),
    ("extend", lambda tokens: sequence().extend(tokens), ([5],), {}),
    ("extend_with_mm", lambda t, m: sequence().extend_with_mm(t, m), ([5, 6, 7], [RUN]), {}),
    ("push_mm_run hash", lambda mm_hash: sequence().push_mm_run(mm_hash, 3), (5,), {}),
    ("truncate", lambda n: sequence().truncate(n), (5,), {}),
    ("unwind", lambda n: sequence().unwind(n), (5,), {}),
    ("tokens_at", lambda start, stop: sequence().tokens_at(start, stop), (1, 5), {}),
    ("tree at", lambda position: tree().at(position), (1,), {}),
    ("tree parent", lambda plh: tree().parent(plh), (PLH,), {}),
    ("tree children", lambda plh: tree().children(plh), (PLH,), {}),
    ("tree match_prefix", lambda plhs: tree().match_prefix(plhs), ([PLH],), {}),
    ("tree is_leaf", lambda plh: tree().is_leaf(plh), (BLOCK.plh,), {}),
    ("tree set", lambda plh: tree().__setitem__(plh, 1), (PLH,), {}),
    ("compare", compare, (REQUEST, Request(range(40)), 4), {}),
    ("identify", identify, (REQUEST, 5), {"block_size": 4}),
    ("identify sizes", identify, (REQUEST, 5), {"block_sizes": [4]}),
    ("prefix_groups", prefix_groups, ([REQUEST, Request(range(9))], 4), {}),
    (
        "router hashes",
        compute_block_hash_for_seq,
        ([1, 2, 3, 4], 2, None, "l", False, "n"),
        {},
    ),
    ("router chain", compute_seq_hash_for_block, ([1, 2],), {}),
    ("router mm id", hash_mm_identifier, ("00ff" * 16,), {}),
    ("router mm infos", block_mm_infos_from_runs, (REQUEST, 4), {}),
    ("representations", representations, (REQUEST, 4), {}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_junk_in_any_argument(call: tuple[str, Callable[..., Any], Any, Any]) -> None:
    """A result or a KvHashingError with a message, never anything else."""
    _, function, arguments, keywords = call
    function(*arguments, **keywords)
    for junk in JUNK:
        for position in range(len(arguments)):
            attempt(function, [*arguments[:position], junk, *arguments[position + 1 :]], keywords)
        for name in keywords:
            attempt(function, list(arguments), {**keywords, name: junk})


def attempt(function: Callable[..., Any], arguments: list[Any], keywords: dict[str, Any]) -> None:
    try:
        function(*arguments, **keywords)
    except KvHashingError as error:
        assert error.field, error  # noqa: PT017
        assert error.expected, error  # noqa: PT017
        assert 0 < len(str(error)) < 1500  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017


def mutations(value: Any, generator: random.Random) -> Iterator[Any]:
    """JSON documents that are nearly right: a part taken out, doubled or replaced."""
    junk = [None, True, -1, 2**64, 1.5, "", "x", "0x1", [], {}, [1], {"a": 1}, "\ud800", 10**400]
    for _ in range(150):
        document = copy.deepcopy(value)
        spots: list[tuple[Any, Any]] = []

        def walk(node: Any, spots: list[tuple[Any, Any]] = spots) -> None:
            pairs = node.items() if isinstance(node, dict) else enumerate(node)
            for key, child in list(pairs):
                spots.append((node, key))
                if isinstance(child, (dict, list)):
                    walk(child)

        walk(document)
        node, key = generator.choice(spots)
        kind = generator.randrange(3)
        if kind == 0:
            node[key] = generator.choice(junk)
        elif kind == 1:
            del node[key]
        elif isinstance(node, dict):
            node[f"{key}2"] = node[key]
        else:
            node.insert(key, generator.choice(junk))
        yield document


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
def test_documents_that_are_nearly_right(contract: Contract) -> None:
    """As a dict and as text the same: both read, or both refused with the same kind and field."""
    generator = random.Random(f"nearly right {contract.name}")
    good = {**Request(range(6), salt="s", mm_info=[RUN], contract=contract).to_dict()}
    good["block_size"] = 2
    for document in mutations(good, generator):
        outcomes: list[object] = []
        for as_text in (False, True):
            try:
                if as_text:
                    outcomes.append(load_request(json.dumps(document))[0])
                else:
                    outcomes.append(Request.from_dict(document))
            except KvHashingError as error:
                outcomes.append((type(error), error.field, error.index))
        if "Exceeds the limit" not in str(outcomes):
            assert outcomes[0] == outcomes[1], document


def test_text_cut_and_changed_anywhere() -> None:
    """Every prefix of a document, and every byte of it replaced."""
    good = json.dumps({**REQUEST.to_dict(), "tokens": [1] * 8, "block_size": 2}).encode()
    for end in range(len(good)):
        with pytest.raises(KvHashingError):
            load_request(good[:end])
    for at in range(len(good)):
        for byte in b'\x00\xff"{}[],:\\ 0':
            attempt(load_request, [good[:at] + bytes([byte]) + good[at + 1 :]], {})
