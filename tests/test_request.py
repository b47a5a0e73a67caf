"""A request and its four projections, against known answers and an independent computation."""

from __future__ import annotations

import copy
import hashlib
import pickle
import struct
from collections.abc import Callable
from typing import Any

import pytest

import kvhash_pure
from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    EmptyRunError,
    FieldTypeError,
    FieldValueError,
    KvHashingError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    PositionOverflowError,
    Request,
    RequestMmObjectInfo,
    UnknownFieldError,
)
from kvhash_pure import request as request_module
from kvhash_pure.jsonform import hash_report, load_request
from tests import reference
from tests.helpers import ANYTHING, U64_MAX, rejected
from tests.vectors import Case, cases, expand_tokens

Run = RequestMmObjectInfo
NAMES: dict[str, Any] = {
    "Request": Request,
    "RequestMmObjectInfo": Run,
    "Contract": Contract,
}


def request_of(case: Case) -> Request:
    return Request(
        expand_tokens(case["tokens"]),
        lora_name=case["lora_name"],
        salt=case["salt"],
        mm_info=[Run(int(m["mm_hash"], 16), m["offset"], m["length"]) for m in case["mm_info"]],
        contract=Contract.named(case["contract"]),
    )


@pytest.mark.parametrize(
    "case", cases("known_answers.json"), ids=lambda case: f"{case['contract']}: {case['name']}"
)
def test_known_answers(case: Case) -> None:
    """Every projection gives the numbers made with the C library; the digest covers each block."""
    request, size = request_of(case), case["block_size"]
    assert request.salt_hash() == int(case["salt_hash"], 16)
    blocks = request.into_blocks(size)
    assert len(blocks) == case["count"]
    everything = hashlib.sha256()
    for position, block in enumerate(blocks):
        assert block.position == position
        numbers = struct.pack(">QQ", block.block_hash, block.sequence_hash)
        everything.update(numbers + bytes(block.plh))
    assert everything.hexdigest() == case["sha256"]
    assert [b.block_hash for b in blocks] == request.block_hashes(size)
    assert [b.sequence_hash for b in blocks] == request.sequence_hashes(size)
    assert [b.plh for b in blocks] == request.positional_lineage_hashes(size)
    for position, block_hash, sequence_hash, plh, text in case["blocks"]:
        block = blocks[position]
        assert block.block_hash == int(block_hash, 16)
        assert block.sequence_hash == int(sequence_hash, 16)
        assert int(block.plh) == int(plh, 16)
        assert str(block.plh) == text
        assert block.plh.contract is request.contract


def test_the_tail_is_never_hashed() -> None:
    """Full windows only: nothing for less than a block, nothing changes until the next is full."""
    whole = Request(range(12)).into_blocks(4)
    assert len(whole) == 3
    for count in range(13):
        assert Request(range(count)).into_blocks(4) == whole[: count // 4]
    assert Request([]).into_blocks(1) == []
    assert Request(range(3)).into_blocks(4) == []
    assert Request(range(3)).into_blocks(2**32 - 1) == []


def test_fields_come_back() -> None:
    runs = [Run(2, 5, 1), Run(1, 0, 2)]
    request = Request(
        iter([7, 8, 9, 2**32 - 1, 0, 1]),
        lora_name="lora",
        salt="salt",
        mm_info=iter(runs),
        contract=DYNAMO_1_3,
    )
    assert request.tokens == (7, 8, 9, 2**32 - 1, 0, 1)
    assert request.tokens is request.tokens
    assert request.total_tokens == 6
    assert (request.lora_name, request.salt) == ("lora", "salt")
    assert request.mm_info == (Run(1, 0, 2), Run(2, 5, 1))
    assert request.contract is DYNAMO_1_3
    plain = Request([])
    assert (plain.tokens, plain.lora_name, plain.salt) == ((), None, None)
    assert (plain.mm_info, plain.contract) == ((), DOCUMENTED)


def test_a_request_is_a_value() -> None:
    def make(**changes: Any) -> Request:
        fields: dict[str, Any] = {"lora_name": "l", "salt": 's"', "mm_info": [Run(1, 0, 2)]}
        return Request(**{"tokens": [1, 2, 3], **fields, **changes})

    one = make()
    assert one == make(tokens=iter((1, 2, 3)))
    assert hash(one) == hash(make())
    others = [
        make(tokens=[1, 2, 4]),
        make(lora_name="m"),
        make(salt=None),
        make(mm_info=[Run(1, 0, 1)]),
        make(contract=DYNAMO_1_3),
    ]
    assert len({one, *others}) == 6
    assert one != (1, 2, 3)
    for request in (one, *others, Request([])):
        assert eval(repr(request), NAMES) == request
        assert pickle.loads(pickle.dumps(request)) == request
        assert copy.deepcopy(request) == request
        assert Request.from_dict(request.to_dict()) == request


def test_repr_says_what_is_there() -> None:
    assert repr(Request([1, 2])) == "Request([1, 2])"
    assert repr(Request([], salt="", contract=DYNAMO_1_3)) == (
        "Request([], salt='', contract=Contract.named('dynamo-1.3'))"
    )


@pytest.mark.parametrize(
    "name", ["tokens", "lora_name", "salt", "mm_info", "contract", "packed", "other"]
)
def test_a_request_is_immutable(name: str) -> None:
    request = Request([1, 2, 3])
    with pytest.raises(AttributeError):
        setattr(request, name, None)
    with pytest.raises(AttributeError):
        delattr(request, name)
    assert request == Request([1, 2, 3])


def test_the_caller_cannot_change_it_from_outside() -> None:
    """What is given is copied: a list, an array, runs."""
    tokens, runs = [1, 2, 3, 4], [Run(1, 0, 1)]
    request = Request(tokens, mm_info=runs)
    before = request.into_blocks(2)
    tokens[0] = 99
    runs.clear()
    assert request.tokens == (1, 2, 3, 4)
    assert request.into_blocks(2) == before
    request.into_blocks(2).clear()
    assert request.into_blocks(2) == before


def test_empty_strings_count_as_absent() -> None:
    for contract in (DOCUMENTED, DYNAMO_1_3):
        plain = Request(range(8), contract=contract).into_blocks(4)
        empty = Request(range(8), salt="", lora_name="", contract=contract).into_blocks(4)
        assert plain == empty


def test_the_builder() -> None:
    """As in the original's quick reference; the last call of a setter wins."""
    run = Run(1, 0, 2)
    built = (
        Request.builder()
        .tokens([0])
        .tokens([1, 2, 3])
        .lora_name("l")
        .salt("s")
        .mm_info([run])
        .contract(DYNAMO_1_3)
        .build()
    )
    expected = Request([1, 2, 3], lora_name="l", salt="s", mm_info=[run], contract=DYNAMO_1_3)
    assert built == expected
    assert Request.builder().tokens([1]).build() == Request([1])
    assert Request.builder().tokens([1]).salt(None).lora_name(None).build() == Request([1])
    from_iterators = Request.builder().tokens(iter([1, 2, 3])).mm_info(iter([run]))
    twice = from_iterators.build(), from_iterators.build()
    assert twice == (Request([1, 2, 3], mm_info=[run]),) * 2
    with rejected(UnknownFieldError, "tokens", value=None):
        Request.builder().salt("s").build()
    with rejected(FieldValueError, "tokens", index=0, value=-1):
        Request.builder().tokens([-1]).build()


@pytest.mark.parametrize(
    ("kind", "field", "index", "value", "fields"),
    [
        (FieldValueError, "tokens", 1, -1, {"tokens": [0, -1]}),
        (FieldValueError, "tokens", 2, 2**32, {"tokens": [0, 1, 2**32]}),
        (FieldTypeError, "tokens", 0, True, {"tokens": [True]}),
        (FieldTypeError, "tokens", None, None, {"tokens": None}),
        (FieldTypeError, "tokens", None, "123", {"tokens": "123"}),
        (FieldTypeError, "tokens", None, b"123", {"tokens": b"123"}),
        (FieldTypeError, "lora_name", None, 5, {"lora_name": 5}),
        (FieldTypeError, "lora_name", None, b"l", {"lora_name": b"l"}),
        (FieldValueError, "lora_name", 1, "l\udfff", {"lora_name": "l\udfff"}),
        (FieldTypeError, "salt", None, ["s"], {"salt": ["s"]}),
        (FieldValueError, "salt", 0, "\ud83d", {"salt": "\ud83d"}),
        (FieldTypeError, "mm_info", None, 5, {"mm_info": 5}),
        (FieldTypeError, "mm_info", 0, (1, 0, 1), {"mm_info": [(1, 0, 1)]}),
        (EmptyRunError, "mm_info.length", 0, 0, {"mm_info": [Run(1, 1, 0)]}),
        (OffsetOverflowError, "mm_info.offset", 0, 1, {"mm_info": [Run(1, 1, U64_MAX)]}),
        (OutOfBoundsError, "mm_info.offset", 1, 4, {"mm_info": [Run(1, 0, 1), Run(1, 4, 1)]}),
        (OverlappingError, "mm_info.offset", 0, 1, {"mm_info": [Run(1, 1, 2), Run(1, 0, 2)]}),
        (FieldTypeError, "contract", None, "documented", {"contract": "documented"}),
        (FieldTypeError, "contract", None, None, {"contract": None}),
    ],
)
def test_each_wrong_field(
    kind: type[KvHashingError], field: str, index: int | None, value: Any, fields: dict[str, Any]
) -> None:
    """One clear kind each, in the constructor and in the builder."""
    whole = {"tokens": [1, 2, 3, 4], **fields}
    with rejected(kind, field, index=index, value=value):
        Request(**whole)
    builder = Request.builder()
    for name, given in whole.items():
        builder = getattr(builder, name)(given)
    with rejected(kind, field, index=index, value=value):
        builder.build()


PROJECTIONS: tuple[Callable[..., list[Any]], ...] = (
    Request.block_hashes,
    Request.sequence_hashes,
    Request.positional_lineage_hashes,
    Request.into_blocks,
)


@pytest.mark.parametrize("project", PROJECTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("size", [0, -1, 2**32, 2**64])
def test_block_sizes_out_of_range(project: Callable[..., list[Any]], size: int) -> None:
    with rejected(FieldValueError, "block_size", value=size):
        project(Request([1, 2, 3]), size)


@pytest.mark.parametrize("project", PROJECTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("size", [True, False, 16.0, "16", None])
def test_block_sizes_of_the_wrong_type(project: Callable[..., list[Any]], size: Any) -> None:
    with rejected(FieldTypeError, "block_size", value=size):
        project(Request([1, 2, 3]), size)


@pytest.mark.parametrize("project", PROJECTIONS, ids=lambda function: function.__name__)
def test_too_many_blocks_are_told_before_hashing(
    project: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^24 blocks are the most; one more is refused without a single hash."""
    tokens = memoryview(bytes(4 * (2**24 + 1))).cast("I")
    request = Request(tokens)
    del tokens
    hashed: list[int] = []

    def count(*arguments: Any) -> list[int]:
        hashed.append(arguments[-1])
        return []

    def count_segments(segments: Any, *arguments: Any) -> list[int]:
        return count(sum(len(payload) // block_bytes for payload, block_bytes in segments))

    monkeypatch.setattr(request_module, "block_hashes", count)

    def count_both(*arguments: Any) -> tuple[list[int], list[int]]:
        return count_segments(*arguments), []

    monkeypatch.setattr(request_module, "chain_blocks", count_segments)
    monkeypatch.setattr(request_module, "hash_and_chain", count_both)
    with rejected(PositionOverflowError, "blocks", value=2**24 + 1):
        project(request, 1)
    assert hashed == []
    project(request, 2)
    project(Request(request.tokens[:16]), 1)
    assert hashed == [2**23, 16]


def test_under_another_contract() -> None:
    """The same request under other rules, for those who compare the two."""
    request = Request([1, 2, 3, 4], salt="s", mm_info=[Run(1, 0, 2)])
    other = request.under(DYNAMO_1_3)
    assert other == Request([1, 2, 3, 4], salt="s", mm_info=[Run(1, 0, 2)], contract=DYNAMO_1_3)
    assert other.under(DOCUMENTED) == request
    assert request.contract is DOCUMENTED
    wrong: Any = "dynamo-1.3"
    with rejected(FieldTypeError, "contract", value=wrong):
        request.under(wrong)


# JSON form


def test_from_dict_reads_the_json_form() -> None:
    request = Request.from_dict(
        {
            "tokens": [1, 2, 3],
            "lora_name": "l",
            "salt": "s",
            "mm_info": [
                {"mm_hash": "0xDEADbeef", "offset": 2, "length": 1},
                {"mm_hash": 2**64 - 1, "offset": "0x0", "length": "0x2"},
            ],
            "contract": "dynamo-1.3",
            "block_size": 16,
        }
    )
    assert request == Request(
        [1, 2, 3],
        lora_name="l",
        salt="s",
        mm_info=[Run(2**64 - 1, 0, 2), Run(0xDEADBEEF, 2, 1)],
        contract=DYNAMO_1_3,
    )


def test_null_is_absent() -> None:
    nulls = {"tokens": [1], "lora_name": None, "salt": None, "mm_info": None}
    assert Request.from_dict(nulls) == Request.from_dict({"tokens": [1]}) == Request([1])


def test_to_dict_gives_the_json_form() -> None:
    request = Request([1, 2], salt="s", mm_info=[Run(0xAB, 0, 1)], contract=DYNAMO_1_3)
    assert request.to_dict() == {
        "tokens": [1, 2],
        "lora_name": None,
        "salt": "s",
        "mm_info": [{"mm_hash": "0x00000000000000ab", "offset": 0, "length": 1}],
        "contract": "dynamo-1.3",
    }


GOOD_RUN = {"mm_hash": 1, "offset": 0, "length": 1}


@pytest.mark.parametrize(
    ("kind", "field", "index", "value", "document"),
    [
        (FieldTypeError, "request", None, [1], [1]),
        (FieldTypeError, "request", None, None, None),
        (FieldTypeError, "request", None, "tokens", "tokens"),
        (UnknownFieldError, "tokens", None, None, {}),
        (UnknownFieldError, "token", None, "token", {"tokens": [], "token": []}),
        (UnknownFieldError, "Salt", None, "Salt", {"tokens": [], "Salt": "x"}),
        (UnknownFieldError, "5", None, 5, {"tokens": [], 5: 5}),
        (FieldTypeError, "tokens", None, None, {"tokens": None}),
        (FieldTypeError, "tokens", None, 5, {"tokens": 5}),
        (FieldTypeError, "tokens", None, "12", {"tokens": "12"}),
        (FieldTypeError, "tokens", None, {"0": 1}, {"tokens": {"0": 1}}),
        (FieldTypeError, "tokens", 1, 2.0, {"tokens": [1, 2.0]}),
        (FieldTypeError, "tokens", 0, "1", {"tokens": ["1"]}),
        (FieldTypeError, "tokens", 0, None, {"tokens": [None]}),
        (FieldTypeError, "tokens", 0, [1], {"tokens": [[1]]}),
        (FieldValueError, "tokens", 0, 2**32, {"tokens": [2**32]}),
        (FieldTypeError, "salt", None, 5, {"tokens": [], "salt": 5}),
        (FieldTypeError, "lora_name", None, False, {"tokens": [], "lora_name": False}),
        (FieldTypeError, "contract", None, None, {"tokens": [], "contract": None}),
        (FieldValueError, "contract", None, "1.3", {"tokens": [], "contract": "1.3"}),
        (FieldValueError, "block_size", None, 0, {"tokens": [], "block_size": 0}),
        (FieldTypeError, "block_size", None, None, {"tokens": [], "block_size": None}),
        (FieldTypeError, "block_size", None, "16", {"tokens": [], "block_size": "16"}),
        (FieldTypeError, "block_size", None, 16.0, {"tokens": [], "block_size": 16.0}),
        (FieldTypeError, "block_size", None, True, {"tokens": [], "block_size": True}),
        (FieldTypeError, "mm_info", None, GOOD_RUN, {"tokens": [1], "mm_info": GOOD_RUN}),
        (FieldTypeError, "mm_info", None, "", {"tokens": [1], "mm_info": ""}),
        (FieldTypeError, "mm_info", 0, [1, 0, 1], {"tokens": [1], "mm_info": [[1, 0, 1]]}),
        (UnknownFieldError, "mm_hash", 0, None, {"tokens": [1], "mm_info": [{}]}),
        (
            UnknownFieldError,
            "length",
            0,
            None,
            {"tokens": [1], "mm_info": [{"mm_hash": 1, "offset": 0}]},
        ),
        (
            UnknownFieldError,
            "len",
            1,
            "len",
            {"tokens": [1], "mm_info": [GOOD_RUN, {**GOOD_RUN, "len": 1}]},
        ),
        (
            FieldValueError,
            "mm_info.mm_hash",
            0,
            "deadbeef",
            {"tokens": [1], "mm_info": [{**GOOD_RUN, "mm_hash": "deadbeef"}]},
        ),
        (
            FieldValueError,
            "mm_info.offset",
            0,
            -1,
            {"tokens": [1], "mm_info": [{**GOOD_RUN, "offset": -1}]},
        ),
        (
            FieldTypeError,
            "mm_info.length",
            0,
            1.0,
            {"tokens": [1], "mm_info": [{**GOOD_RUN, "length": 1.0}]},
        ),
        (
            EmptyRunError,
            "mm_info.length",
            0,
            0,
            {"tokens": [1], "mm_info": [{**GOOD_RUN, "length": 0}]},
        ),
    ],
)
def test_each_wrong_document(
    kind: type[KvHashingError], field: str, index: int | None, value: Any, document: Any
) -> None:
    with rejected(kind, field, index=index, value=value):
        Request.from_dict(document)


def test_an_unknown_key_is_named_and_the_known_are_listed() -> None:
    with pytest.raises(UnknownFieldError, match=r"'prompt'.*tokens, lora_name, salt") as caught:
        Request.from_dict({"tokens": [], "prompt": "hi"})
    assert "tokens" in caught.value.expected
    for key in ("k" * 10**6, 10**5000, ("a", "b")):
        with rejected(UnknownFieldError, ANYTHING):
            Request.from_dict({"tokens": [], key: 1})


def test_load_request() -> None:
    text = '{"tokens": [1, 2, 3], "block_size": 2, "contract": "dynamo-1.3"}'
    assert load_request(text) == (Request([1, 2, 3], contract=DYNAMO_1_3), 2)
    assert load_request(text.encode()) == load_request(text)
    assert load_request('{"tokens": []}') == (Request([]), None)
    with rejected(FieldTypeError, "request", value=[]):
        load_request("[]")


@pytest.mark.parametrize("case", cases("known_answers.json")[::5], ids=lambda case: case["name"])
def test_the_report(case: Case) -> None:
    """Hashes as fixed-width hex, contract and block size named, the length of the tail."""
    report = hash_report(request_of(case), case["block_size"])
    document = {**case, "tokens": expand_tokens(case["tokens"])}
    assert report == reference.hash_request(document)


def test_the_report_says_that_the_block_size_was_chosen_for_you() -> None:
    report = hash_report(Request(range(20)), None)
    assert report["block_size"] == 16
    assert report.pop("block_size_is_default") is True
    assert report == reference.hash_request({"tokens": list(range(20))})
    assert "block_size_is_default" not in hash_report(Request(range(20)), 16)
    with rejected(FieldValueError, "block_size", value=0):
        hash_report(Request([]), 0)


def test_public_names() -> None:
    """`__all__` is sorted, complete and importable; the version is one."""
    assert sorted(set(kvhash_pure.__all__)) == sorted(kvhash_pure.__all__)
    for name in kvhash_pure.__all__:
        assert getattr(kvhash_pure, name) is not None
    assert kvhash_pure.__version__.count(".") == 2
    with pytest.raises(AttributeError):
        getattr(kvhash_pure, "no_such_name")  # noqa: B009
