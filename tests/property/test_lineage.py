"""What holds for every PLH: forms that come back, order, and fragments that fit."""

from __future__ import annotations

import pickle

from hypothesis import example, given
from hypothesis import strategies as st

from kvhash_pure import DOCUMENTED, FieldValueError, KvHashingError, PositionalLineageHash
from tests import reference
from tests.helpers import rejected
from tests.property.strategies import plhs, positions, texts, u64

PLH = PositionalLineageHash


@given(u64, u64, positions)
def test_fields_go_in_and_come_out(current: int, parent: int, position: int) -> None:
    plh = PLH.new(current, parent if position else None, position)
    assert plh.current_sequence_hash == current
    assert plh.position == position
    bits = reference.fragment_bits(position)
    assert plh.parent_hash_fragment == (parent % 2**bits if position else 0)
    assert int(plh) == reference.plh(position, current, parent if position else 0)
    assert str(plh) == reference.plh_text(int(plh))


@given(plhs())
def test_every_form_comes_back(plh: PositionalLineageHash) -> None:
    """u128, bytes, text, repr, pickle."""
    contract = plh.contract
    forms = [
        PLH.from_u128(int(plh), contract),
        PLH.from_u128(plh.as_u128(), contract),
        PLH.from_bytes(bytes(plh), contract),
        PLH.parse(str(plh), contract),
        pickle.loads(pickle.dumps(plh)),
    ]
    spaces: dict[str, object] = {}
    exec("from kvhash_pure import *", spaces)
    forms.append(eval(repr(plh), spaces))
    assert forms == [plh] * 6
    assert len({plh, *forms}) == 1


@given(plhs(), plhs())
def test_order_is_the_order_of_the_packed_integer(
    one: PositionalLineageHash, two: PositionalLineageHash
) -> None:
    """And that is position, then sequence hash, then fragment."""
    two = PLH.from_u128(int(two), one.contract)

    def key(plh: PositionalLineageHash) -> tuple[int, int, int]:
        return plh.position, plh.current_sequence_hash, plh.parent_hash_fragment

    assert (one < two) == (int(one) < int(two)) == (key(one) < key(two))
    assert (one <= two) == (int(one) <= int(two)) == (key(one) <= key(two))
    assert (one > two) == (key(one) > key(two))
    assert (one >= two) == (key(one) >= key(two))
    assert (one == two) == (key(one) == key(two))
    assert sorted([one, two]) == sorted([two, one])


@given(u64, st.lists(u64, min_size=1, max_size=6), st.sampled_from([0, 252, 255, 65533, 65535]))
def test_fragments_fit_across_changes_of_mode(first: int, hashes: list[int], position: int) -> None:
    """A child's fragment is its parent's hash cut to the child's bits: 255/256, 65 535/65 536."""
    plh = PLH.new(first, 5 if position else None, position)
    for block_hash in hashes:
        child = plh.extend(block_hash)
        bits = reference.fragment_bits(child.position)
        assert child.position == plh.position + 1
        assert child.parent_hash_fragment == plh.current_sequence_hash % 2**bits
        assert child.parent_hash_fragment == plh.parent_fragment_for_child_position(child.position)
        expected = reference.next_sequence_hash("documented", plh.current_sequence_hash, block_hash)
        assert child.current_sequence_hash == expected
        plh = child


@given(st.integers(0, 2**128 - 1))
@example(3 << 126)
@example(1 << 126)
def test_128_bits_are_a_plh_or_an_error(value: int) -> None:
    """Whatever is accepted has exactly one form; nothing is normalised on the way in."""
    try:
        plh = PLH.from_u128(value)
    except FieldValueError as error:
        assert error.field == "plh"  # noqa: PT017
        return
    assert int(plh) == value
    assert int(PLH.parse(str(plh))) == value
    assert reference.plh_text(value) == str(plh)


@given(st.text(":0123456789lIOzjpKdcSHaRDW", max_size=24) | texts)
def test_text_is_a_plh_or_an_error(text: str) -> None:
    try:
        plh = PLH.parse(text)
    except KvHashingError:
        return
    assert str(plh) == text


@given(plhs(), st.data())
def test_one_wrong_character_is_seen_or_is_another_plh(
    plh: PositionalLineageHash, data: st.DataObject
) -> None:
    text = str(plh)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(32, 126).map(chr))
    mutated = text[:at] + other + text[at + 1 :]
    try:
        found = PLH.parse(mutated, plh.contract)
    except KvHashingError:
        return
    assert (found == plh) == (mutated == text)


@given(st.binary(max_size=20).filter(lambda data: len(data) != 16))
def test_bytes_of_another_length(data: bytes) -> None:
    with rejected(FieldValueError, "plh", value=data):
        PLH.from_bytes(data, DOCUMENTED)
