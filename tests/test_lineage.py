"""The PositionalLineageHash: layout, text, bytes, order, and what is no PLH."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    ContractMismatchError,
    FieldTypeError,
    FieldValueError,
    PositionalLineageHash,
    PositionOverflowError,
    blocks,
)
from kvhash_pure.base58 import to_base58
from kvhash_pure.blocks import lineage_hashes
from kvhash_pure.lineage import (
    MAX_BLOCKS,
    MODES,
    require_block_count,
)
from tests import reference
from tests.helpers import POSITION_EDGES, U64_MAX, rejected
from tests.vectors import Case, cases, load

PLH = PositionalLineageHash
CONTRACTS = (DOCUMENTED, DYNAMO_1_3)

PACKED = cases("lineage.json", "packed")
CHILDREN = cases("lineage.json", "children")


def number(text: str) -> int:
    return int(text, 16)


def test_the_table_of_modes() -> None:
    """mode (2), position, sequence hash (64), fragment: 128 bits in each row, no gap between."""
    assert MODES == ((0, 0, 255, 8, 54), (1, 256, 65535, 16, 46), (2, 65536, 16777215, 24, 38))
    assert all(2 + p + 64 + r == 128 and last < 2**p for _, _, last, p, r in MODES)
    assert MAX_BLOCKS == 2**24


@pytest.mark.parametrize("case", PACKED, ids=lambda case: f"{case['position']} {case['plh']}")
def test_every_form_of_a_known_value(case: Case) -> None:
    """Fields, integer, bytes and text, from each to each."""
    value, text = number(case["plh"]), case["text"]
    parent = number(case["parent_sequence_hash"]) if case["position"] else None
    plh = PLH.new(number(case["sequence_hash"]), parent, case["position"])
    assert plh.as_u128() == int(plh) == value
    assert bytes(plh) == value.to_bytes(16, "big")
    assert str(plh) == text
    for other in (
        PLH.from_u128(value),
        PLH.from_bytes(bytes(plh)),
        PLH.from_bytes(bytearray(bytes(plh))),
        PLH.from_bytes(memoryview(bytes(plh))),
        PLH.parse(text),
        eval(repr(plh), {"PositionalLineageHash": PLH, "Contract": Contract}),
        pickle.loads(pickle.dumps(plh)),
        copy.deepcopy(plh),
    ):
        assert other == plh
        assert hash(other) == hash(plh)
        assert other.mode == case["mode"]
        assert other.position == case["position"]
        assert other.current_sequence_hash == number(case["sequence_hash"])
        assert other.parent_hash_fragment == number(case["parent_hash_fragment"])
        assert other.contract is DOCUMENTED


@pytest.mark.parametrize("case", load("dynamo_binaries.json")["plh_new"])
def test_dynamos_binaries_pack_the_same(case: Case) -> None:
    plh = PLH.new(number(case["current"]), number(case["parent"]), case["position"], DYNAMO_1_3)
    assert bytes(plh).hex() == case["plh"]
    if case["text"] is not None:
        assert str(plh) == case["text"]


@pytest.mark.parametrize("case", CHILDREN, ids=lambda case: f"{case['contract']} {case['plh']}")
def test_a_child_follows_from_the_plh_alone(case: Case) -> None:
    plh = PLH.from_u128(number(case["plh"]), Contract.named(case["contract"]))
    child = plh.extend(number(case["child_block_hash"]))
    assert child.as_u128() == number(case["child_plh"])
    assert child.current_sequence_hash == number(case["child_sequence_hash"])
    assert str(child) == case["child_text"]
    assert child.contract is plh.contract
    assert child.position == plh.position + 1
    assert child.parent_hash_fragment == plh.parent_fragment_for_child_position(child.position)


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
def test_a_root_is_its_own_sequence_hash(contract: Contract) -> None:
    for block_hash in (0, 1, 0x6F6388E4D51D17A1, U64_MAX):
        root = PLH.root(block_hash, contract)
        assert (root.position, root.mode) == (0, 0)
        assert root.current_sequence_hash == block_hash
        assert root.parent_hash_fragment == 0
        assert root == PLH.root(block_hash, contract=contract)
        assert root.contract is contract
        assert str(root) == f"0:{reference.base58(block_hash)}"


def test_the_child_decides_how_much_of_its_parent_it_keeps() -> None:
    """Across a change of mode the fragment has the child's width, not the parent's."""
    for parent, bits in ((254, 54), (255, 46), (256, 46), (65534, 46), (65535, 38), (65536, 38)):
        plh = PLH.new(U64_MAX, 0, parent)
        assert plh.parent_fragment_for_child_position(parent + 1) == 2**bits - 1
        assert plh.extend(1).parent_hash_fragment == 2**bits - 1


def test_positions_end_at_2_24() -> None:
    last = PLH.new(1, 2, 2**24 - 1)
    assert last.position == 2**24 - 1
    with rejected(PositionOverflowError, "position", value=2**24):
        last.extend(3)
    for position in (2**24, 2**32, 2**64 - 1):
        with rejected(PositionOverflowError, "position", value=position):
            PLH.new(1, 2, position)
        with rejected(PositionOverflowError, "position", value=position):
            last.parent_fragment_for_child_position(position)
    assert require_block_count(2**24) == 2**24
    with rejected(PositionOverflowError, "blocks", value=2**24 + 1):
        require_block_count(2**24 + 1)


def test_wrong_parts() -> None:
    plh = PLH.root(5)
    wrong_values = (-1, 2**64)
    wrong_types: tuple[Any, ...] = (True, 1.0, "1", b"1")
    for kind, values in ((FieldValueError, wrong_values), (FieldTypeError, wrong_types)):
        for value in values:
            with rejected(kind, "block_hash", value=value):
                PLH.root(value)
            with rejected(kind, "child_block_hash", value=value):
                plh.extend(value)
            with rejected(kind, "current_sequence_hash", value=value):
                PLH.new(value, None, 0)
            with rejected(kind, "parent_sequence_hash", value=value):
                PLH.new(1, value, 1)
            with rejected(kind, "position", value=value):
                PLH.new(1, 2, value)
            with rejected(kind, "position", value=value):
                plh.parent_fragment_for_child_position(value)


def test_a_root_has_no_parent() -> None:
    """Its text has no place for one, so it could not come back."""
    with rejected(FieldValueError, "parent_sequence_hash", value=7):
        PLH.new(5, 7, 0)
    value = (5 << 54) | 7
    with rejected(FieldValueError, "plh"):
        PLH.from_u128(value)
    with rejected(FieldValueError, "plh"):
        PLH.from_bytes(value.to_bytes(16, "big"))


@pytest.mark.parametrize("wrong", ["documented", None, 0, Contract])
def test_a_contract_is_a_contract(wrong: Any) -> None:
    calls: tuple[tuple[Callable[..., PLH], tuple[Any, ...]], ...] = (
        (PLH.root, (1,)),
        (PLH.new, (1, None, 0)),
        (PLH.from_u128, (1 << 54,)),
        (PLH.from_bytes, (bytes(16),)),
        (PLH.parse, ("0:11111111",)),
    )
    for call, arguments in calls:
        with rejected(FieldTypeError, "contract", value=wrong):
            call(*arguments, wrong)


@pytest.mark.parametrize(
    "value",
    [
        3 << 126,
        2**128 - 1,
        (1 << 126) | (255 << 110),
        (1 << 126) | (0 << 110),
        (2 << 126) | (65535 << 102),
        (2 << 126) | (0 << 102) | 1,
    ],
    ids=hex,
)
def test_bits_that_no_block_has(value: int) -> None:
    """Mode 3, and positions that belong to a lower mode: one position has one form."""
    with rejected(FieldValueError, "plh"):
        PLH.from_u128(value)
    with rejected(FieldValueError, "plh"):
        PLH.from_bytes(value.to_bytes(16, "big"))


@pytest.mark.parametrize("value", [-1, 2**128, 2**200])
def test_numbers_beyond_128_bits(value: int) -> None:
    with rejected(FieldValueError, "plh", value=value):
        PLH.from_u128(value)


@pytest.mark.parametrize("value", [True, 1.5, "0:11111111", b"1", None])
def test_numbers_of_another_type(value: Any) -> None:
    with rejected(FieldTypeError, "plh", value=value):
        PLH.from_u128(value)


@pytest.mark.parametrize("length", [0, 1, 15, 17, 32])
def test_bytes_of_another_length(length: int) -> None:
    with rejected(FieldValueError, "plh", value=bytes(length)):
        PLH.from_bytes(bytes(length))


def test_a_released_view_is_no_plh() -> None:
    view = memoryview(bytes(16))
    view.release()
    with rejected(FieldValueError, "plh", value=view):
        PLH.from_bytes(view)


@pytest.mark.parametrize("value", ["0" * 16, [0] * 16, 16, None])
def test_bytes_of_another_type(value: Any) -> None:
    """bytes(16) would be sixteen zeros: an int must not be taken for bytes."""
    with rejected(FieldTypeError, "plh", value=value):
        PLH.from_bytes(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "0",
        "0:",
        "0::",
        "1:",
        "x:11111111",
        "-1:11111111",
        "+0:11111111",
        "0x0:11111111",
        " 0:11111111",
        "0:11111111 ",
        "0:11111111\n",
        "00:11111111",
        "01:11111111:11111111",
        "0:11111111:11111111",
        "0:KdcSHaRDW1E:11111111",
        "1:WQafBEzN7bT",
        "1:WQafBEzN7bT:12M6zGpbMVS:1",
        "1:WQafBEzN7bT:",
        "1::12M6zGpbMVS",
        "1:WQafBEzN7b0:12M6zGpbMVS",
        "1:WQafBEzN7bO:12M6zGpbMVS",
        "1:WQafBEzN7bI:12M6zGpbMVS",
        "1:WQafBEzN7bl:12M6zGpbMVS",
        "1:WQafBEzN7bT:2M6zGpbMVS",
        "1:1WQafBEzN7bT:12M6zGpbMVS",
        "0:1111111",
        "0:111111111",
        "0:jpXCZedGfVR",
        "0:zzzzzzzzzzz",
        "\u0660:11111111",
        "\u00b2:11111111:11111111",
        "0:\u0967111111",
        "1,WQafBEzN7bT,12M6zGpbMVS",
    ],
)
def test_text_that_is_no_plh(text: str) -> None:
    """One PLH has one text: whatever does not print like that is refused, with its own words."""
    with rejected(FieldValueError, "plh", value=text):
        PLH.parse(text)


def test_text_far_too_long() -> None:
    """Told at once, and not repeated in full."""
    tails = ("1" * 10**5, "z" * 10**5, ":" * 10**5, "\u0661" * 10**5)
    for text in (*("0:" + tail for tail in tails), "9" * 5000 + ":1:1", "9" * 10**6):
        with rejected(FieldValueError, "plh", value=text):
            PLH.parse(text)


def test_a_fragment_wider_than_its_mode() -> None:
    """2^46 fits a fragment of mode 0, not one of mode 1."""
    wide = reference.base58(2**46)
    assert PLH.parse(f"255:11111111:{wide}").parent_hash_fragment == 2**46
    with rejected(FieldValueError, "plh"):
        PLH.parse(f"256:11111111:{wide}")


@pytest.mark.parametrize("text", ["16777216:11111111:11111111", "99999999:11111111:11111111"])
def test_text_with_a_position_too_high(text: str) -> None:
    with rejected(PositionOverflowError, "position", value=int(text.split(":")[0])):
        PLH.parse(text)


@pytest.mark.parametrize("value", [None, 0, b"0:11111111", 1.5])
def test_text_of_another_type(value: Any) -> None:
    with rejected(FieldTypeError, "plh", value=value):
        PLH.parse(value)


def test_base58_against_the_real_package() -> None:
    """Bitcoin's alphabet over 8 big-endian bytes, a 1 for each leading zero byte."""
    base58 = pytest.importorskip("base58", reason="base58 is not installed in this ring")
    for word in (0, 1, 57, 58, 255, 256, 2**38, 2**53 + 1, 2**56 - 1, 2**56, 2**63, U64_MAX):
        text = base58.b58encode(word.to_bytes(8, "big")).decode()
        assert to_base58(word) == reference.base58(word) == text


def test_base58_of_known_values() -> None:
    """The same without the package: numbers read off Dynamo's binaries."""
    assert to_base58(0xCB38E4D7FB2DCA5C) == "azWbh91idkf"
    assert to_base58(0x6FC1EBD4F4D6EA31) == "KhBtiwq56Fr"
    assert to_base58(0) == "11111111"
    assert to_base58(1) == "11111112"


def test_order_is_position_then_sequence_hash_then_value() -> None:
    """Which is the order of the packed integers, across modes too."""
    words = (0, 1, 2**63, U64_MAX)
    made = [
        PLH.new(word, None if position == 0 else parent, position)
        for position in POSITION_EDGES
        for word in words
        for parent in ((0,) if position == 0 else (0, 5))
    ]
    assert sorted(made, key=int) == made
    assert sorted(random.Random(1).sample(made, len(made))) == made
    for low, high in itertools.combinations(made, 2):
        assert low < high
        assert low <= high
        assert high > low
        assert high >= low
        assert low != high
        assert [high < low, high <= low, low > high, low >= high] == [False] * 4
    assert made[3] <= PLH.from_u128(int(made[3])) >= made[3]


def test_nothing_compares_across_contracts() -> None:
    """Same bits, two contracts: never equal, never ordered, two keys of a dict."""
    one, two = (PLH.root(5, contract) for contract in CONTRACTS)
    assert int(one) == int(two)
    assert bytes(one) == bytes(two)
    assert str(one) == str(two)
    assert one != two
    assert len({one, two}) == 2
    for compare in (PLH.__lt__, PLH.__le__, PLH.__gt__, PLH.__ge__):
        with rejected(ContractMismatchError, "contract", value="dynamo-1.3"):
            compare(one, two)
    assert "documented" in repr(one)
    assert "dynamo-1.3" in repr(two)


def test_a_plh_is_no_number() -> None:
    plh = PLH.root(5)
    assert plh != int(plh)
    assert plh != bytes(plh)
    assert plh != str(plh)
    for other in (5, "0:11111111", None):
        with pytest.raises(TypeError):
            plh < other  # type: ignore[operator]  # noqa: B015
        with pytest.raises(TypeError):
            sorted([plh, other])  # type: ignore[type-var]


def test_a_plh_is_immutable() -> None:
    plh = PLH.root(5)
    for name in ("position", "contract", "_value", "anything"):
        with pytest.raises(AttributeError):
            setattr(plh, name, 1)
        with pytest.raises(AttributeError):
            delattr(plh, name)
    assert plh == PLH.root(5)
    with pytest.raises(TypeError, match="root"):
        PLH()


@pytest.fixture(params=["packed at once", "packed when asked for"])
def each_way_of_packing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways, whichever one suits the interpreter."""
    monkeypatch.setattr(blocks, "COMPILED", request.param == "packed when asked for")


@pytest.mark.usefixtures("each_way_of_packing")
def test_plhs_in_bulk_are_like_any_other() -> None:
    """Equal, hashed, ordered, copied, pickled and immutable as those made one at a time."""
    made = PLH.root(7), PLH.root(7).extend(8)

    def bulk() -> list[PLH]:
        return lineage_hashes([plh.current_sequence_hash for plh in made], DOCUMENTED)

    assert bulk() == list(made)
    assert set(bulk()) == set(made)
    assert sorted([bulk()[1], bulk()[0]]) == list(made)
    assert [copy.copy(plh) for plh in bulk()] == list(made)
    assert copy.deepcopy(bulk()) == list(made)
    assert pickle.loads(pickle.dumps(bulk())) == list(made)
    assert [str(plh) for plh in bulk()] == [str(plh) for plh in made]
    assert [repr(plh) for plh in bulk()] == [repr(plh) for plh in made]
    assert [plh.position for plh in bulk()] == [0, 1]
    with pytest.raises(AttributeError, match="immutable"):
        bulk()[0]._value = 1
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        bulk()[0].anything  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.usefixtures("each_way_of_packing")
@pytest.mark.parametrize("first", [0, 1, 250, 65530, 2**24 - 9])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_plhs_in_bulk(first: int, count: int) -> None:
    """The same values as one at a time, from any start, across changes of mode."""
    hashes = [(i * 0x9E3779B97F4A7C15) & U64_MAX for i in range(1, count + 1)]
    before = None if first == 0 else 0xFEDCBA9876543210
    found = lineage_hashes(hashes, DYNAMO_1_3, first, before)
    parents = [before or 0, *hashes]
    assert [int(plh) for plh in found] == [
        reference.plh(first + i, hashes[i], parents[i]) for i in range(count)
    ]
    assert all(plh.contract is DYNAMO_1_3 for plh in found)
    made = blocks.make_blocks(range(count), DYNAMO_1_3, first, before, hashes)
    assert [(block.block_hash, block.plh) for block in made] == list(enumerate(found))
    assert len(set(map(id, made))) == len(set(map(id, found))) == count


@pytest.mark.usefixtures("each_way_of_packing")
def test_plhs_in_bulk_across_all_modes() -> None:
    found = lineage_hashes(list(range(65_540)), DOCUMENTED)
    for position in POSITION_EDGES[:-1]:
        assert int(found[position]) == reference.plh(position, position, max(0, position - 1))
