"""Which hash a number is: every notation, every way of hashing, against the reference."""

from __future__ import annotations

import itertools
import json
import pickle
import random
import sys
import time
from typing import Any

import pytest

import kvhash_pure
from kvhash_pure import (
    DYNAMO_1_3,
    PositionalLineageHash,
    Request,
    RequestMmObjectInfo,
    identify,
)
from kvhash_pure.errors import FieldTypeError, FieldValueError
from kvhash_pure.identify import BLOCK_SIZES, Identification
from tests import reference
from tests.helpers import ANYTHING, IN_PYODIDE, IN_PYPY, rejected

RANDOM = random.Random(8)
TOKENS = [RANDOM.randrange(2**32) for _ in range(100)]
RUN = (0xA11CE, 40, 20)
FULL = Request(TOKENS, salt="s", lora_name="l", mm_info=[RequestMmObjectInfo(*RUN)])
PLAIN = Request(TOKENS)


def block(
    position: int,
    size: int = 16,
    contract: str = reference.DOCUMENTED,
    salt: str | None = None,
    lora_name: str | None = None,
    runs: tuple[reference.Run, ...] = (),
) -> reference.Block:
    seed = reference.salt_hash(contract, salt, lora_name)
    return reference.hash_blocks(contract, TOKENS, size, runs, seed=seed)[position]


def only(result: Identification) -> Any:
    assert result.found
    (match,) = result.matches
    return match


# Notations.


def notations(block: reference.Block) -> dict[str, list[object]]:
    value, plh = block.sequence_hash, block.plh
    return {
        "u64": [value, str(value), f" {value},\n"],
        "i64": [value - 2**64, str(value - 2**64)] if value >> 63 else [],
        "hex": [f"0x{value:016x}", f"0X{value:X}", f"{value:x}", f'"{value:#x}"'],
        "base58": [reference.base58(value)],
        "plh_text": [block.plh_text],
        "u128": [plh, str(plh)],
        "hex ": [f"0x{plh:032x}", f"{plh:032x}", plh.to_bytes(16, "big").hex(" ")],
        "bytes": [
            plh.to_bytes(16, "big"),
            bytearray(plh.to_bytes(16, "big")),
            [*plh.to_bytes(16, "big")],
            json.dumps([*plh.to_bytes(16, "big")]),
        ],
        "plh": [PositionalLineageHash.from_u128(plh)],
    }


@pytest.mark.parametrize("position", range(1, 6))
def test_every_notation_is_read(position: int) -> None:
    """A sequence hash in the notations of 64 bits, the PLH in those of 128."""
    made = block(position)
    for name, spellings in notations(made).items():
        for observed in spellings:
            match = only(identify(PLAIN, observed, block_sizes=[16]))
            wide = name in ("plh_text", "u128", "hex ", "bytes", "plh")
            assert match.kind == ("plh" if wide else "sequence_hash"), observed
            assert match.notation == name.strip()
            assert (match.position, match.block_size) == (position, 16)
            expected = f"0x{made.plh:032x}" if wide else f"0x{made.sequence_hash:016x}"
            assert match.value == expected


def test_some_position_has_a_negative_form() -> None:
    """Of the notations above, i64 is there for hashes from 2^63 on only."""
    assert any(notations(block(position))["i64"] for position in range(1, 6))


def test_a_text_of_digits_is_read_in_three_ways() -> None:
    """A u64 in decimal, 8 hex digits, 8 base58 digits."""
    (one,) = identify(PLAIN, "11111112", block_sizes=[16]).observed
    readings = [(reading.notation, reading.value) for reading in one.readings]
    assert readings == [("u64", 11111112), ("hex", 0x11111112), ("base58", 1)]
    (one,) = identify(PLAIN, 11111112, block_sizes=[16]).observed
    assert [reading.notation for reading in one.readings] == ["u64"]


def test_what_can_be_no_hash_is_an_error() -> None:
    for text in (
        "",
        "xyz!",
        str(2**128),
        str(-(2**63) - 1),
        "9" * 5000,
        "1:2:3:4",
        "[1]",
        "٣",
    ):
        with rejected(FieldValueError, "observed", value=text):
            identify(PLAIN, text)
    for value in (2**128, -(2**63) - 1, 10**5000, b"short", b"x" * 17):
        with rejected(FieldValueError, "observed", value=value):
            identify(PLAIN, value)
    wrong: object
    for wrong in (None, 1.5, True, {}, object()):
        with rejected(FieldTypeError, "observed", value=ANYTHING):
            identify(PLAIN, wrong)
    with rejected(FieldValueError, "observed", index=1, value="?"):
        identify(PLAIN, [5, "?"])
    with rejected(FieldValueError, "observed", value=[]):
        identify(PLAIN, [])


def test_128_bits_that_are_no_plh_match_nothing() -> None:
    result = identify(PLAIN, 2**128 - 1, block_sizes=[16])
    assert not result.found
    assert result.observed[0].to_dict()["readings"] == [
        {"notation": "u128", "value": "0x" + "f" * 32, "plh": None}
    ]


# Ways of hashing.

WAYS = list(
    itertools.product(
        (reference.DOCUMENTED, reference.DYNAMO_1_3),
        ("given", "left_out"),
        ("given", "left_out"),
        ("given", "ignored"),
    )
)


@pytest.mark.parametrize(("contract", "salt", "lora_name", "mm_info"), WAYS)
@pytest.mark.parametrize("kind", ["block_hash", "sequence_hash", "plh"])
def test_every_way_of_hashing_is_found(
    kind: str, contract: str, salt: str, lora_name: str, mm_info: str
) -> None:
    """Block 2, slots 32 to 47, has tokens and slots of the run."""
    made = block(
        2,
        16,
        contract,
        "s" if salt == "given" else None,
        "l" if lora_name == "given" else None,
        (RUN,) if mm_info == "given" else (),
    )
    match = only(identify(FULL, getattr(made, kind)))
    assert match.kind == kind
    assert (match.contract, match.salt, match.lora_name) == (contract, salt, lora_name)
    assert (match.mm_info, match.block_size, match.position) == (mm_info, 16, 2)
    assert (match.first_token, match.stop_token) == (32, 48)
    left_out = [salt, lora_name].count("left_out") + (mm_info == "ignored")
    assert match.changes == left_out + (contract != "documented")
    assert match.sentence.count(" left out") == [salt, lora_name].count("left_out")
    assert ("when the runs are ignored" in match.sentence) == (mm_info == "ignored")
    assert ("under contract dynamo-1.3 instead of" in match.sentence) == (contract != "documented")


@pytest.mark.parametrize("size", [16, *BLOCK_SIZES[:7]])
def test_powers_of_two_are_tried(size: int) -> None:
    match = only(identify(PLAIN, block(100 // size - 1, size).plh))
    assert match.block_size == size
    assert match.position == 100 // size - 1


def test_the_requests_own_size_is_tried_first_and_given_sizes_alone() -> None:
    made = block(3, 24)
    assert not identify(PLAIN, made.plh).found
    result = identify(PLAIN, made.plh, block_size=24)
    assert only(result).block_size == 24
    assert result.tried.block_sizes == (24, *BLOCK_SIZES)
    result = identify(PLAIN, made.plh, block_sizes=[5, 24, 5])
    assert only(result).block_size == 24
    assert result.tried.block_sizes == (5, 24)


def test_the_contract_of_the_request_is_tried_first() -> None:
    request = PLAIN.under(DYNAMO_1_3)
    result = identify(request, block(1, 16, reference.DYNAMO_1_3).block_hash)
    assert only(result).changes == 0
    assert result.tried.contracts == ("dynamo-1.3", "documented")
    assert only(result).sentence.endswith(
        "(tokens 16 to 31) at block size 16 under contract dynamo-1.3"
    )
    result = identify(request, block(1).block_hash)
    assert only(result).changes == 1


def test_the_first_block_hash_is_also_the_first_sequence_hash() -> None:
    result = identify(PLAIN, block(0).block_hash, block_sizes=[16])
    assert [match.kind for match in result.matches] == ["block_hash", "sequence_hash"]
    assert str(result).endswith("under contract documented (2 matches in all).")


def test_equal_blocks_are_all_named() -> None:
    request = Request([7] * 8)
    result = identify(request, request.block_hashes(2)[1], block_sizes=[2])
    kinds = [(match.kind, match.position) for match in result.matches]
    assert kinds == [("block_hash", n) for n in range(4)] + [("sequence_hash", 0)]


def test_a_salt_hash_is_one() -> None:
    match = only(identify(FULL, reference.salt_hash(reference.DYNAMO_1_3, "s", None)))
    assert (match.kind, match.position, match.block_size) == ("salt_hash", None, None)
    assert (match.contract, match.salt, match.lora_name) == ("dynamo-1.3", "given", "left_out")


def test_what_runs_do_not_touch_is_found_once() -> None:
    """Blocks before the run are the same with it and without: the likelier way is said."""
    made = block(1, 16, salt="s", lora_name="l")
    assert only(identify(FULL, made.plh)).mm_info == "given"
    assert only(identify(FULL, made.block_hash)).mm_info == "given"
    after = block(5, 16, salt="s", lora_name="l")
    assert only(identify(FULL, after.block_hash)).mm_info == "given"
    assert only(identify(FULL, after.plh)).mm_info == "ignored"


def test_a_plh_of_another_parent_is_none_of_ours() -> None:
    """Same position, same sequence hash, one bit of the fragment flipped."""
    assert not identify(PLAIN, block(3).plh ^ 1).found
    assert not identify(PLAIN, block(3).plh ^ 1 << 60).found
    assert not identify(Request(TOKENS[:16]), block(3).plh).found


def test_several_numbers_at_once() -> None:
    made = block(2)
    result = identify(PLAIN, [5, made.block_hash, str(made.sequence_hash)], block_sizes=[16])
    assert not result.found
    assert [one.matches for one in result.observed] == [(), (0,), (1,)]
    assert [match.observed for match in result.matches] == [1, 2]
    assert str(result).startswith(f"2 of 3 are hashes of this request; 0x{made.block_hash:016x} is")
    assert "; 5 is none of the 24 hashes tried: " in str(result)


def test_what_was_tried_is_said() -> None:
    assert str(identify(FULL, [1, 2, 3, 4, 5], block_sizes=[16, 64])) == (
        "0 of 5 are hashes of this request; 1, 2, 3, 4 and 1 more are none of the 224 hashes "
        "tried: block, sequence and PLH, block sizes 16, 64, contracts documented and dynamo-1.3, "
        "salt given and left out, lora_name given and left out, runs given and left out."
    )
    result = identify(Request([]), 1)
    assert (result.found, result.tried.hashes) == (False, 0)
    assert result.tried.salt == result.tried.lora_name == result.tried.mm_info == ("none",)


def test_the_json_form() -> None:
    made = block(2)
    result = identify(PLAIN, made.plh_text, block_sizes=[16])
    form: Any = json.loads(json.dumps(result.to_dict()))
    assert form["matches"][0]["value"] == f"0x{made.plh:032x}"
    (reading,) = form["observed"][0]["readings"]
    assert reading == {
        "notation": "plh_text",
        "value": f"0x{made.plh:032x}",
        "plh": {
            "position": 2,
            "mode": 0,
            "sequence_hash": f"0x{made.sequence_hash:016x}",
            "parent_fragment": f"0x{block(1).sequence_hash % 2**54:016x}",
        },
    }
    assert form["tried"]["hashes"] == 24
    assert pickle.loads(pickle.dumps(result)) == result
    assert kvhash_pure.identify is identify


def test_bad_requests_and_sizes_are_named() -> None:
    with rejected(FieldTypeError, "request", value=[1]):
        identify([1], 5)  # type: ignore[arg-type]
    with rejected(FieldTypeError, "block_sizes", value=16):
        identify(PLAIN, 5, block_sizes=16)  # type: ignore[arg-type]
    with rejected(FieldValueError, "block_sizes", value=[]):
        identify(PLAIN, 5, block_sizes=[])
    with rejected(FieldValueError, "block_size", value=0):
        identify(PLAIN, 5, block_size=0)


@pytest.mark.skipif(
    IN_PYPY or IN_PYODIDE or sys.gettrace() is not None,
    reason="the bound is CPython's, without a tracer",
)
def test_a_planted_hash_among_all_ways_costs_about_as_many_hashings() -> None:
    """8 192 tokens with salt, adapter and an image: 208 passes, 0.44 s where making the blocks
    once takes 1.3 ms: 340 times as long. A ratio, as no machine's clock is another's.
    """
    tokens = [RANDOM.randrange(2**32) for _ in range(8192)]
    request = Request(tokens, salt="s", lora_name="l", mm_info=[RequestMmObjectInfo(7, 1000, 576)])
    planted = Request(tokens, lora_name="l", contract=DYNAMO_1_3).sequence_hashes(64)[100]
    took, hashing = [], []
    for _ in range(3):
        start = time.process_time()
        match = only(identify(request, planted))
        took.append(time.process_time() - start)
        assert (match.block_size, match.position, match.changes) == (64, 100, 3)
        for _ in range(5):
            start = time.process_time()
            Request(tokens).into_blocks(16)
            hashing.append(time.process_time() - start)
    assert min(took) < 1000 * min(hashing)
