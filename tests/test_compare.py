"""Why two requests share a prefix, or do not: each case from a real report, against what the
independent reference hashes.
"""

from __future__ import annotations

import json
import pickle
import random
import sys
import time
from typing import Any

import pytest

import kvhash_pure
from kvhash_pure import DYNAMO_1_3, Request, RequestMmObjectInfo, compare
from kvhash_pure.compare import MAX_CAUSES, Cause, Comparison, Side
from kvhash_pure.errors import FieldTypeError, FieldValueError
from kvhash_pure.slots import Streams
from kvhash_pure.would_share import WouldShare
from tests import reference
from tests.helpers import IN_PYODIDE, IN_PYPY, rejected

Run = RequestMmObjectInfo
RANDOM = random.Random(6)
TOKENS = [RANDOM.randrange(2**32) for _ in range(100)]
IMAGE = Run(0xA11CE, 20, 40)
OTHER = Run(0xB0B, 20, 40)


def blocks(request: Request, size: int) -> list[reference.Block]:
    """The request's blocks as the reference hashes them."""
    name = request.contract.name
    runs = [(run.mm_hash, run.offset, run.length) for run in request.mm_info]
    seed = reference.salt_hash(name, request.salt, request.lora_name)
    return reference.hash_blocks(name, request.tokens, size, runs, seed=seed)


def shared(a: Request, b: Request, size: int) -> int:
    """Leading blocks of one PLH in both, by the reference."""
    pairs = zip(blocks(a, size), blocks(b, size))
    return next((i for i, (x, y) in enumerate(pairs) if x.plh != y.plh), -1) % (
        min(a.total_tokens // size, b.total_tokens // size) + 1
    )


def checked(a: Request, b: Request, size: int = 16) -> Comparison:
    """The comparison, with what must hold of every one already looked at."""
    result = compare(a, b, size)
    assert result.shared_blocks == shared(a, b, size)
    assert result.shared_tokens == result.shared_blocks * size
    assert str(result) == result.sentence
    assert "\n" not in result.sentence
    assert result.sentence[0].isupper()
    assert result.sentence.endswith(".")
    assert json.loads(json.dumps(result.to_dict()))["cause"] == result.cause
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(compare(a, b, size))
    hashes_a = [block.block_hash for block in blocks(a, size)]
    hashes_b = [block.block_hash for block in blocks(b, size)]
    later = [i for i, value in enumerate(hashes_b) if i >= result.shared_blocks]
    assert list(result.same_content) == [i for i in later if hashes_b[i] in hashes_a]
    for in_b, in_a in zip(result.same_content, result.same_content_in_a):
        assert hashes_a[in_a] == hashes_b[in_b]
    back = compare(b, a, size)
    assert (back.cause, back.shared_blocks) == (result.cause, result.shared_blocks)
    return result


def would(result: Comparison, change: str) -> Any:
    """The one answer about `change`."""
    (answer,) = (one for one in result.would_share if one.change == change)
    assert answer.gain == answer.shared_blocks - result.shared_blocks
    return answer


def causes(result: Comparison) -> list[str]:
    return [cause.cause for cause in result.causes]


def first_cause(result: Comparison) -> Any:
    form: Any = result.to_dict()
    return form["causes"][0]


# The cases of real reports.


def test_equal_requests_differ_in_nothing() -> None:
    result = checked(Request(TOKENS, salt="s"), Request(TOKENS, salt="s"))
    assert (result.cause, result.position, result.token_index) == ("none", None, None)
    assert (result.shared_blocks, result.causes, result.would_share) == (6, (), ())
    assert result.sentence == (
        "All 6 blocks (96 tokens at block size 16) are shared; nothing differs."
    )


def test_a_date_in_the_system_prompt_is_named_and_could_come_last() -> None:
    """Two tokens are another date; what comes after is equal, slot by slot, and lost."""
    dated = [*TOKENS[:20], 7, 8, *TOKENS[22:]]
    result = checked(Request(TOKENS), Request(dated))
    assert (result.cause, result.position, result.token_index) == ("token", 1, 20)
    (cause,) = result.causes
    assert (cause.slot, cause.a, cause.b) == (4, TOKENS[20], 7)
    assert result.same_content == (2, 3, 4, 5)
    put_last = [
        Request([*TOKENS[:20], *TOKENS[22:], *date]) for date in (TOKENS[20:22], dated[20:22])
    ]
    assert would(result, "last").shared_blocks == shared(put_last[0], put_last[1], 16) == 6
    assert would(result, "same").shared_blocks == 6
    assert result.sentence == (
        "The first block (16 tokens at block size 16) is shared; token 20 (block 1, slot 4) "
        f"differs: A has {TOKENS[20]}, B has 7; 6 blocks would be shared if those 2 tokens "
        "came last."
    )


def test_a_date_of_another_length_also_moves_what_follows() -> None:
    """Undoing the shift gives equal content but no sharing; putting the dates last gives both."""
    dated = [*TOKENS[:20], 7, 8, 9, *TOKENS[22:]]
    result = checked(Request(TOKENS), Request(dated))
    assert causes(result) == ["token"]
    assert result.same_content == ()
    tail = would(result, "tail")
    assert (tail.by, tail.gain, tail.same_content) == (-1, 0, 4)
    moved = checked(Request(TOKENS), Request([*dated[:22], *dated[23:]]))
    assert (moved.shared_blocks, len(moved.same_content)) == (1, 4)
    assert "4 more would have the same content, but not be reusable" in tail.sentence
    assert would(result, "last").shared_blocks == 6


def test_one_more_token_at_the_start_shifts_every_block() -> None:
    result = checked(Request(TOKENS), Request([5, *TOKENS]))
    assert (result.cause, result.shared_blocks, result.token_index) == ("token", 0, 0)
    assert causes(result) == ["token"]
    assert result.causes_complete
    tail = would(result, "tail")
    assert (tail.by, tail.shared_blocks, tail.gain) == (-1, 6, 6)
    assert result.sentence.endswith("would be shared if the rest of B came 1 token earlier.")
    text = "6 blocks would be shared if that token were "
    assert would(result, "same").sentence == f"{text}not there"
    back = compare(Request([5, *TOKENS]), Request(TOKENS), 16)
    assert would(back, "same").sentence == f"{text}in both"
    assert would(back, "tail").by == 1
    assert would(back, "tail").shared_blocks == 6


@pytest.mark.parametrize(("extra", "by"), [(16, -16), (17, -1), (21, -5), (31, 1), (32, None)])
def test_a_longer_shift_is_undone_up_to_the_next_block(extra: int, by: int | None) -> None:
    """Up to one block: all of it. Above: the smallest shift that puts equal slots into equal
    places of blocks, so that their content is equal; a whole number of blocks needs none.
    """
    result = checked(Request(TOKENS), Request([*range(extra), *TOKENS]))
    moves = [one for one in result.would_share if one.change == "tail"]
    assert [one.by for one in moves] == ([] if by is None else [by])
    if by == -16:
        assert moves[0].shared_blocks == 6
    elif by is not None:
        filler = [*range(extra + by)] if by < 0 else [*range(extra), *range(by)]
        moved = checked(Request(TOKENS), Request([*filler, *TOKENS]))
        assert moves[0].same_content == len(moved.same_content) == 6
    else:
        assert result.same_content == tuple(range(2, 8))
        assert result.same_content_in_a == (0, 1, 2, 3, 4, 5)


def test_a_shift_back_past_one_block_is_filled_up() -> None:
    """b lacks 20 tokens that a has: 4 more put the rest into equal places."""
    result = checked(Request([*range(20), *TOKENS]), Request(TOKENS))
    tail = would(result, "tail")
    assert (tail.by, tail.gain) == (4, 0)
    moved = checked(Request([*range(20), *TOKENS]), Request([*range(16, 20), *TOKENS]))
    assert tail.same_content == len(moved.same_content) == 6


def test_a_lora_called_x_is_not_a_salt_called_x() -> None:
    result = checked(Request(TOKENS, lora_name="x"), Request(TOKENS, salt="x"))
    assert (result.cause, result.position, result.token_index) == ("salt", 0, None)
    assert causes(result) == ["salt", "lora_name"]
    assert (result.causes[0].a, result.causes[0].b) == (None, "x")
    assert would(result, "salt").shared_blocks == would(result, "lora_name").shared_blocks == 0
    assert would(result, "salt+lora_name").shared_blocks == 6
    assert any("'x' is a salt in one and a lora_name in the other" in n for n in result.notes)


@pytest.mark.parametrize("field", ["salt", "lora_name"])
def test_empty_is_the_same_as_absent(field: str) -> None:
    result = checked(Request(TOKENS, **{field: ""}), Request(TOKENS))  # type: ignore[arg-type]
    assert (result.cause, result.shared_blocks) == ("none", 6)
    assert result.notes == (f'{field} "" counts as none',)


def test_two_adapters_of_one_name_share() -> None:
    """Whatever their weights are: the name is the identity, and the answer says so."""
    result = checked(Request(TOKENS, lora_name="x"), Request(TOKENS, lora_name="x"))
    assert (result.cause, result.shared_blocks) == ("none", 6)
    assert "an adapter's identity is its name only" in result.sentence
    assert "an adapter's identity is its name only" in result.notes[0]


def test_names_that_look_alike_show_their_code_points() -> None:
    result = checked(
        Request(TOKENS, lora_name="caf\u00e9"), Request(TOKENS, lora_name="cafe\u0301")
    )
    assert (result.cause, result.shared_blocks) == ("lora_name", 0)
    assert "(U+00E9)" in result.sentence
    assert "(U+0065 U+0301)" in result.sentence
    assert "equal in NFC" in result.sentence


def test_plain_names_show_no_code_points() -> None:
    result = checked(Request(TOKENS, salt="day"), Request(TOKENS, salt="night"))
    assert "the salt differs: A has 'day' and B has 'night'" in result.sentence
    assert "U+" not in result.sentence


def test_texts_too_long_to_show_show_where_they_part() -> None:
    result = checked(Request(TOKENS, salt="s" * 100 + "a"), Request(TOKENS, salt="s" * 100 + "b"))
    assert "... (101 long) (U+0061) and B has 'sss" in result.sentence
    assert "(101 long) (U+0062)" in result.sentence


def test_an_accent_against_none_shows_no_code_points() -> None:
    result = checked(Request(TOKENS), Request(TOKENS, salt="\u00e9"))
    assert "A has none and B has '\u00e9'" in result.sentence
    assert "U+" not in result.sentence


def test_another_contract_decides_before_everything() -> None:
    result = compare(
        Request(TOKENS), Request([1, *TOKENS], salt="s", contract=DYNAMO_1_3), (16, 64)
    )
    assert causes(result) == ["contract", "block_size", "salt", "token"]
    assert (result.cause, result.position, result.shared_blocks) == ("contract", 0, 0)
    assert (result.causes[0].a, result.causes[0].b) == ("documented", "dynamo-1.3")
    assert (result.causes[1].a, result.causes[1].b) == (16, 64)
    assert result.causes[3].token_index == 0


def test_equal_requests_of_two_contracts_share_nothing() -> None:
    result = compare(Request(TOKENS), Request(TOKENS, contract=DYNAMO_1_3), 16)
    assert (result.cause, result.shared_blocks, result.same_content) == ("contract", 0, ())
    assert would(result, "contract").shared_blocks == 6
    assert result.equal_tokens == 100


def test_block_size_16_against_64() -> None:
    result = compare(Request(TOKENS), Request(TOKENS), (16, 64))
    assert (result.cause, result.position, result.shared_blocks) == ("block_size", 0, 0)
    answers = [(one.by, one.shared_blocks) for one in result.would_share]
    assert answers == [(16, 6), (64, 1)]
    form = result.to_dict()
    assert form["block_size"] is None
    assert form["a"] == {
        "name": "A", "contract": "documented",
        "block_size": 16, "tokens": 100, "blocks": 6, "tail": 4,
    }  # fmt: skip
    assert form["b"] == {
        "name": "B", "contract": "documented",
        "block_size": 64, "tokens": 100, "blocks": 1, "tail": 36,
    }  # fmt: skip


def test_one_size_given_twice_is_one_size() -> None:
    assert compare(Request(TOKENS), Request(TOKENS), [16, 16]).to_dict()["block_size"] == 16


def test_requests_shorter_than_a_block_cannot_share() -> None:
    result = checked(Request([1, 2]), Request([1, 2, 3]))
    assert (result.cause, result.position, result.shared_blocks) == ("length", None, 0)
    assert result.sentence == (
        "Nothing can be shared without a full block: A has 2 tokens for blocks of 16, "
        "B has 3 tokens for blocks of 16; nothing differs: A ends after 2 tokens, B has 1 more."
    )
    result = checked(Request([1, 2]), Request([1, 3], salt="s"))
    assert causes(result) == ["salt", "token"]
    assert result.position is None
    assert checked(Request([]), Request([])).cause == "none"


def test_a_strict_prefix_differs_in_nothing() -> None:
    result = checked(Request(TOKENS), Request(TOKENS[:50]))
    assert (result.cause, result.position, result.token_index) == ("length", None, None)
    assert (result.causes[0].a, result.causes[0].b) == (100, 50)
    assert result.sentence == (
        "All 3 blocks (48 tokens at block size 16) are shared; nothing differs: "
        "B ends after 50 tokens, A has 50 more."
    )
    assert result.would_share == ()


def test_one_shared_block_is_the_only_one() -> None:
    assert checked(Request(TOKENS[:16]), Request(TOKENS[:16])).sentence.startswith("The only block")


def test_a_difference_in_the_tail_costs_nothing() -> None:
    result = checked(Request(TOKENS), Request([*TOKENS[:99], 1]))
    assert (result.cause, result.position, result.token_index) == ("token", None, 99)
    assert result.shared_blocks == 6
    assert result.causes_complete
    assert "token 99 (in the unhashed tail) differs" in result.sentence
    assert [one.gain for one in result.would_share] == [0, 0]
    assert would(result, "same").sentence.startswith("still 6 blocks would be shared")


def test_what_is_tail_here_and_block_there_differs_at_that_block() -> None:
    result = checked(Request(TOKENS[:40]), Request([*TOKENS[:35], 1, *TOKENS[36:]]))
    assert (result.cause, result.position, result.token_index) == ("token", 2, 35)
    assert causes(result) == ["token", "length"]


def test_an_image_swapped() -> None:
    a, b = Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS, mm_info=[OTHER])
    result = checked(a, b)
    assert (result.cause, result.position, result.token_index) == ("mm_hash", 1, 20)
    assert causes(result) == ["mm_hash"]
    form = first_cause(result)
    assert form["a"] == {
        "mm_hash": "0x00000000000a11ce", "offset": 20, "length": 40, "run_offset": 0
    }  # fmt: skip
    assert form["b"]["mm_hash"] == "0x0000000000000b0b"
    assert result.same_content == (4, 5)
    assert would(result, "same").shared_blocks == 6
    put_last = [
        Request([*TOKENS[:20], *TOKENS[60:], *TOKENS[20:60]], mm_info=[Run(run.mm_hash, 60, 40)])
        for run in (IMAGE, OTHER)
    ]
    assert would(result, "last").shared_blocks == shared(put_last[0], put_last[1], 16) == 3


def test_an_image_moved_by_one_token() -> None:
    """With the tokens around it, as one more token before it does."""
    a = Request(TOKENS, mm_info=[IMAGE])
    b = Request([*TOKENS[:20], 1, *TOKENS[20:]], mm_info=[Run(0xA11CE, 21, 40)])
    result = checked(a, b)
    assert (result.cause, result.position, result.token_index) == ("mm_offset", 1, 20)
    assert causes(result) == ["mm_offset"]
    tail = would(result, "tail")
    assert (tail.by, tail.shared_blocks) == (-1, 6)
    form = first_cause(result)
    assert (form["a"]["offset"], form["b"]["offset"]) == (20, 21)
    assert (form["a"]["run_offset"], form["b"]["run_offset"]) == (0, None)
    assert "from token 20 on, B has object 0x00000000000a11ce from token 21 on" in result.sentence


def test_a_run_moved_over_the_same_tokens() -> None:
    result = checked(
        Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS, mm_info=[Run(0xA11CE, 24, 40)])
    )
    assert (result.cause, result.token_index) == ("mm_offset", 20)


def test_an_image_that_comes_twice_and_once() -> None:
    """The second one is in the same place in both, so the first was not moved: it is missing."""
    twice = [Run(7, 10, 4), Run(7, 50, 4)]
    result = checked(Request(TOKENS, mm_info=twice), Request(TOKENS, mm_info=twice[1:]))
    assert (result.cause, result.token_index) == ("mm_coverage", 10)


def test_an_image_run_across_three_blocks_is_one_difference() -> None:
    """Slots 20 to 59 touch blocks 1, 2 and 3; the run offset goes on from block to block."""
    result = checked(Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS))
    assert (result.cause, result.position, result.token_index) == ("mm_coverage", 1, 20)
    assert causes(result) == ["mm_coverage"]
    assert result.same_content == (4, 5)
    form = first_cause(result)
    assert form["b"] == {"token": TOKENS[20]}
    assert f"A has object 0x00000000000a11ce, B has token {TOKENS[20]}" in result.sentence


def test_an_image_of_another_length() -> None:
    short = Run(0xA11CE, 20, 30)
    result = checked(Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS, mm_info=[short]))
    assert (result.cause, result.position, result.token_index) == ("mm_length", 3, 50)
    assert "in 40 slots, B has object 0x00000000000a11ce in 30 slots" in result.sentence
    touching = [short, Run(0xB0B, 50, 10)]
    result = checked(Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS, mm_info=touching))
    assert (result.cause, result.token_index) == ("mm_length", 50)


def test_ids_under_a_run_do_not_count() -> None:
    a = Request(TOKENS, mm_info=[IMAGE])
    b = Request([*TOKENS[:20], *range(40), *TOKENS[60:]], mm_info=[IMAGE])
    result = checked(a, b)
    assert (result.cause, result.shared_blocks) == ("none", 6)
    assert result.notes == (
        "token ids under runs differ, which does not matter: they are not hashed",
    )


def test_one_run_and_two_halves_cover_the_same_slots_with_other_offsets() -> None:
    halves = [Run(0xA11CE, 20, 20), Run(0xA11CE, 40, 20)]
    result = checked(Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS, mm_info=halves))
    assert (result.cause, result.position, result.token_index) == ("mm_offset", 2, 40)
    form = first_cause(result)
    assert (form["a"]["run_offset"], form["b"]["run_offset"]) == (20, 0)


# What the cases above do not reach.


def test_several_differences_come_in_order() -> None:
    other = [*TOKENS[:20], 1, *TOKENS[21:60], 2, 3, *TOKENS[60:90], 4, *TOKENS[91:], 5]
    result = checked(Request(TOKENS), Request(other))
    assert causes(result) == ["token", "token", "token", "length"]
    places = [(cause.token_index, cause.token_index_b) for cause in result.causes]
    assert places == [(20, 20), (60, 60), (90, 92), (None, None)]
    assert "token 90 of A and 92 of B differs" in result.causes[2].sentence
    assert result.causes[3].sentence == "A ends after 100 tokens, B has 1 more"
    assert result.causes_complete


def test_requests_that_never_meet_again_say_so() -> None:
    other = [*TOKENS[:20], *(RANDOM.randrange(2**32) for _ in range(80))]
    result = checked(Request(TOKENS), Request(other))
    assert causes(result) == ["token"]
    assert not result.causes_complete
    assert [one.change for one in result.would_share] == ["last", "same"]
    assert "would be shared" not in result.sentence


def test_no_more_causes_than_can_be_read() -> None:
    tokens = [RANDOM.randrange(2**32) for _ in range(1000)]
    result = compare(
        Request(tokens), Request([0 if i % 20 == 9 else t for i, t in enumerate(tokens)]), 16
    )
    assert len(result.causes) == MAX_CAUSES
    assert not result.causes_complete


def test_equal_bytes_between_slots_are_no_equal_slots() -> None:
    """What aligns again is found slot by slot: 0x01000000 after 0 is not 1 after 0."""
    a = Request([9, *[1, 0] * 8, *TOKENS])
    b = Request([8, 7, *[0x100, 0] * 8, 5, *[1, 0] * 8, *TOKENS])
    x = Streams(a, b)
    assert x.x[4:36] in x.y[:72]
    result = checked(a, b)
    assert result.causes_complete
    assert causes(result) == ["token"]


def test_made_up_tokens_cannot_make_the_search_endless() -> None:
    """Bytes that match at every second place and never at a slot: the answer is only incomplete."""
    a, b = Request([9, *[0x00010001] * 4000]), Request([8, *[0x01000100] * 4000])
    start = time.process_time()
    result = checked(a, b)
    assert time.process_time() - start < 10
    assert causes(result) == ["token"]
    assert not result.causes_complete


def test_the_places_of_content_prefer_the_same_place() -> None:
    """b's block 3 is a's blocks 1 and 3; block 4 is only a's block 2."""
    one, two = TOKENS[:16], TOKENS[16:32]
    a = Request([*TOKENS[32:48], *one, *two, *one])
    b = Request([*TOKENS[48:64], *TOKENS[64:80], *TOKENS[80:96], *one, *two])
    result = checked(a, b)
    assert (result.same_content, result.same_content_in_a) == ((3, 4), (3, 2))


def test_blocks_whose_hashes_collide_are_shared_and_said_to_collide() -> None:
    """XXH3 multiplies words of the block by each other; where one is 0, the other does not count.
    Such tokens can be made from the salt hash, and a cache would mix these two requests up.
    """
    zero = (0xBE4BA423396CFEB8 + Request([]).salt_hash()) % 2**64
    words = [zero % 2**32, zero >> 32]
    a, b = (Request([*words, n, n, *TOKENS[:28]]) for n in (1, 2))
    result = checked(a, b)
    assert result.shared_blocks == 2
    assert result.equal_tokens == 2
    assert result.notes == ("the hashes of shared blocks collide: slot 2 differs",)


def test_a_difference_amid_a_run_after_a_collision_is_one_of_coverage() -> None:
    """Where slots before it differ too, no run can be said to have been longer or moved."""
    streams = Streams(Request(TOKENS, mm_info=[IMAGE]), Request(TOKENS))
    ((cause, i, j, a, b), _), *_ = streams.differences(32, 16)
    assert (cause, i, j, a, b) == ("mm_coverage", 32, 32, IMAGE, TOKENS[32])


def test_the_two_can_have_names() -> None:
    result = compare(Request([1]), Request([2]), 1, names=("old.json", "new.json"))
    assert "old.json has 1, new.json has 2" in result.sentence
    assert all("B" not in one.sentence for one in result.would_share)


@pytest.mark.parametrize("wrong", [None, "AB", ("A",), ("A", "B", "C"), ("A", 2)])
def test_what_are_no_two_names_is_named(wrong: Any) -> None:
    with rejected(FieldTypeError, "names", value=wrong):
        compare(Request([1]), Request([2]), 1, names=wrong)


def test_results_are_frozen_and_can_be_pasted_back() -> None:
    result = compare(Request([1]), Request([2]), 1)
    with pytest.raises(AttributeError, match="immutable"):
        result.cause = "none"
    names = {kind.__name__: kind for kind in (Comparison, Cause, Side, WouldShare)}
    assert eval(repr(result), names) == result


def test_the_name_is_the_function_and_the_module_can_still_be_imported_from() -> None:
    assert kvhash_pure.compare is compare
    assert callable(compare)
    assert Comparison.__module__ == "kvhash_pure.compare"


def test_what_is_no_request_is_named() -> None:
    with rejected(FieldTypeError, "a", value=[1]):
        compare([1], Request([1]), 1)  # type: ignore[arg-type]
    with rejected(FieldTypeError, "b", value=None):
        compare(Request([1]), None, 1)  # type: ignore[arg-type]


def test_what_is_no_block_size_is_named() -> None:
    with rejected(FieldValueError, "block_size", value=0):
        compare(Request([1]), Request([1]), (1, 0))
    with rejected(FieldTypeError, "block_size", value=(1, 2, 3)):
        compare(Request([1]), Request([1]), (1, 2, 3))
    with rejected(FieldTypeError, "block_size", value="16"):
        compare(Request([1]), Request([1]), "16")  # type: ignore[arg-type]


@pytest.mark.skipif(
    IN_PYPY or IN_PYODIDE or sys.gettrace() is not None,
    reason="the bound is CPython's, without a tracer",
)
def test_a_comparison_costs_at_most_two_and_a_half_times_hashing_both() -> None:
    tokens = [RANDOM.randrange(2**32) for _ in range(131_072)]
    a = Request(tokens)
    rest = [RANDOM.randrange(2**32) for _ in range(131_072)]
    for b in (Request(tokens), Request([1, *tokens[:-1]]), Request(rest)):
        best_hash = best_compare = 1e9
        for _ in range(3):
            start = time.process_time()
            a.into_blocks(16)
            b.into_blocks(16)
            middle = time.process_time()
            compare(a, b, 16)
            best_hash = min(best_hash, middle - start)
            best_compare = min(best_compare, time.process_time() - middle)
        assert best_compare <= 2.5 * best_hash
