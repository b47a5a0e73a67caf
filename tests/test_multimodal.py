"""Runs of placeholder slots: what is valid, and each way not to be."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from kvhash_pure import (
    EmptyRunError,
    FieldTypeError,
    FieldValueError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    RequestMmObjectInfo,
    TokenBlockMmInfo,
    validate_and_sort_mm_info,
)
from tests.helpers import U64_MAX, rejected

Run = RequestMmObjectInfo


def test_a_run_is_three_u64() -> None:
    run = Run(mm_hash=U64_MAX, offset=7, length=3)
    assert (run.mm_hash, run.offset, run.length, run.end) == (U64_MAX, 7, 3, 10)
    assert Run(1, 2, 3) == Run(mm_hash=1, offset=2, length=3)
    assert TokenBlockMmInfo is RequestMmObjectInfo


def test_a_run_is_a_value() -> None:
    run = Run(0xDEADBEEF, 2, 4)
    assert repr(run) == "RequestMmObjectInfo(mm_hash=0xdeadbeef, offset=2, length=4)"
    assert eval(repr(run), {"RequestMmObjectInfo": Run}) == run
    assert pickle.loads(pickle.dumps(run)) == run
    assert len({run, Run(0xDEADBEEF, 2, 4), Run(0xDEADBEEF, 2, 5)}) == 2
    assert run != (0xDEADBEEF, 2, 4)
    with pytest.raises(AttributeError, match="immutable"):
        run.offset = 3
    with pytest.raises(AttributeError, match="immutable"):
        del run.offset
    assert run.offset == 2


@pytest.mark.parametrize("field", ["mm_hash", "offset", "length"])
def test_each_field_is_checked(field: str) -> None:
    good = {"mm_hash": 1, "offset": 2, "length": 3}
    for value in (-1, 2**64):
        with rejected(FieldValueError, field, value=value):
            Run(**{**good, field: value})
    wrong: tuple[Any, ...] = (True, 1.0, "1", None)
    for value in wrong:
        with rejected(FieldTypeError, field, value=value):
            Run(**{**good, field: value})


def test_no_runs() -> None:
    assert validate_and_sort_mm_info([], 0) == ()
    assert validate_and_sort_mm_info((), 10) == ()
    assert validate_and_sort_mm_info(iter([]), 10) == ()


def test_runs_come_back_sorted_whatever_the_order() -> None:
    runs = [Run(9, 0, 2), Run(9, 2, 1), Run(5, 7, 3), Run(1, 4, 3)]
    for order in permutations(runs):
        found = validate_and_sort_mm_info(order, 10)
        assert [run.offset for run in found] == [0, 2, 4, 7]
        assert validate_and_sort_mm_info(iter(order), 10) == found


def test_an_empty_run() -> None:
    with rejected(EmptyRunError, "mm_info.length", index=1, value=0):
        validate_and_sort_mm_info([Run(1, 0, 1), Run(1, 2, 0)], 10)


@pytest.mark.parametrize(("offset", "length"), [(U64_MAX, 1), (1, U64_MAX), (U64_MAX, U64_MAX)])
def test_a_run_whose_end_leaves_64_bits(offset: int, length: int) -> None:
    """offset + length stays below 2^64; the value named is the offset."""
    with rejected(OffsetOverflowError, "mm_info.offset", index=0, value=offset):
        validate_and_sort_mm_info([Run(1, offset, length)], 10)


def test_the_largest_end_is_only_out_of_bounds() -> None:
    with rejected(OutOfBoundsError, "mm_info.offset", index=0, value=U64_MAX - 1):
        validate_and_sort_mm_info([Run(1, U64_MAX - 1, 1)], 10)


def test_a_run_ends_within_the_tokens() -> None:
    assert validate_and_sort_mm_info([Run(1, 9, 1)], 10) == (Run(1, 9, 1),)
    assert validate_and_sort_mm_info([Run(1, 0, 10)], 10) == (Run(1, 0, 10),)
    for run in (Run(1, 9, 2), Run(1, 10, 1), Run(1, 0, 11)):
        with rejected(OutOfBoundsError, "mm_info.offset", index=0, value=run.offset):
            validate_and_sort_mm_info([run], 10)
    with rejected(OutOfBoundsError, "mm_info.offset", index=0, value=0):
        validate_and_sort_mm_info([Run(1, 0, 1)], 0)


@pytest.mark.parametrize(
    ("runs", "index", "offset"),
    [
        ([Run(1, 0, 3), Run(2, 2, 3)], 1, 2),
        ([Run(2, 2, 3), Run(1, 0, 3)], 0, 2),
        ([Run(1, 4, 2), Run(2, 4, 2)], 1, 4),
        ([Run(1, 0, 9), Run(2, 3, 1)], 1, 3),
        ([Run(1, 5, 2), Run(2, 1, 2), Run(3, 2, 2)], 2, 2),
    ],
)
def test_no_two_runs_share_a_slot(runs: list[Run], index: int, offset: int) -> None:
    """The error stands at the later run's offset and names its place in the caller's order."""
    with rejected(OverlappingError, "mm_info.offset", index=index, value=offset):
        validate_and_sort_mm_info(runs, 10)


def test_a_longer_run_hides_no_overlap_further_on() -> None:
    """A run that covers a short one reaches beyond it; the third overlaps only the first."""
    with rejected(OverlappingError, "mm_info.offset", index=1, value=1):
        validate_and_sort_mm_info([Run(1, 0, 9), Run(2, 1, 1), Run(3, 5, 1)], 10)


@pytest.mark.parametrize("wrong", [(1, 2, 3), {"mm_hash": 1}, None, 5, "run"])
def test_only_runs_are_runs(wrong: Any) -> None:
    with rejected(FieldTypeError, "mm_info", index=1, value=wrong):
        validate_and_sort_mm_info([Run(1, 0, 1), wrong], 10)


@pytest.mark.parametrize("wrong", [5, 1.5, Run(1, 0, 1)])
def test_mm_info_is_iterable(wrong: Any) -> None:
    with rejected(FieldTypeError, "mm_info", value=wrong):
        validate_and_sort_mm_info(wrong, 10)


@pytest.mark.parametrize("wrong", [None, 1.5, True, "10"])
def test_the_number_of_tokens_is_a_number(wrong: Any) -> None:
    with rejected(FieldTypeError, "tokens_len", value=wrong):
        validate_and_sort_mm_info([Run(1, 0, 1)], wrong)
    with rejected(FieldValueError, "tokens_len", value=-1):
        validate_and_sort_mm_info([Run(1, 0, 1)], -1)


def test_what_is_no_run_is_told_at_once() -> None:
    """However many there are: a range of 2^70 is not walked, nor is what never ends."""
    for endless in (range(2**70), itertools.count()):
        with rejected(FieldTypeError, "mm_info", index=0, value=0):
            validate_and_sort_mm_info(endless, 10)  # type: ignore[arg-type]


def test_an_iterator_that_fails_fails_with_its_own_error() -> None:
    def broken() -> Iterator[RequestMmObjectInfo]:
        yield Run(1, 0, 1)
        raise TypeError("the caller's own")

    with pytest.raises(TypeError, match="the caller's own"):
        validate_and_sort_mm_info(broken(), 10)
