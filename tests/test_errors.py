"""Errors: what, where, which value, what would be right, and a message that fits in a line."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kvhash_pure import errors
from kvhash_pure.errors import (
    FieldTypeError,
    FieldValueError,
    KvHashingError,
    require_block_size,
    require_text,
    require_uint,
)
from tests.helpers import U64_MAX, rejected

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, KvHashingError)
]


def test_every_kind_is_also_a_builtin_kind() -> None:
    """A caller who knows nothing of us catches ValueError or TypeError."""
    assert len(KINDS) >= 10
    for kind in KINDS:
        if kind is not KvHashingError:
            assert issubclass(kind, ValueError) != issubclass(kind, TypeError), kind
            assert kind.__doc__


def test_message_says_what_where_and_what_would_be_right() -> None:
    error = FieldValueError(field="mm_info.offset", index=3, value=-1, expected="at least 0")
    assert str(error) == "mm_info[3].offset is -1; expected at least 0"
    assert (error.field, error.index, error.value, error.expected) == (
        "mm_info.offset",
        3,
        -1,
        "at least 0",
    )


def test_message_without_an_index_and_a_message_of_ones_own() -> None:
    assert str(FieldTypeError(field="salt", value=5, expected="a str")) == (
        "salt is 5; expected a str"
    )
    own = FieldTypeError("no", field="salt", value=5, expected="a str")
    assert str(own) == "no"
    assert own.field == "salt"


@pytest.mark.parametrize("kind", KINDS)
def test_errors_survive_pickle_and_copy(kind: type[KvHashingError]) -> None:
    """Worker processes hand errors back by pickle."""
    error = kind(field="tokens", index=7, value=-1, expected="u32")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert (twin.field, twin.index, twin.value, twin.expected) == ("tokens", 7, -1, "u32")


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no repr for you")


class ManyLines:
    def __repr__(self) -> str:
        return "one\ntwo"


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        ManyLines(),
        10**5000,
        -(10**5000),
        [10**5000],
        "x" * 10**6,
        b"x" * 10**6,
        bytearray(10**6),
        list(range(10**5)),
        dict.fromkeys(range(1000)),
        ("x" * 10**5,),
        nested(100_000),
        "\ud800",
        "\n\r\x1b[31m",
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_value_can_break_or_flood_the_message(value: object) -> None:
    """The error that is reported is ours, on one line, whatever the value is or does."""
    with rejected(FieldValueError, "tokens", index=0):
        raise FieldValueError(field="tokens", index=0, value=value, expected="a token")


@pytest.mark.parametrize("value", [0, 1, 255, 2**63, U64_MAX])
def test_unsigned_numbers_pass_unchanged(value: int) -> None:
    assert require_uint(value, "x") == value


class Index:
    """Not an int, but says that it stands for one, as numpy scalars do."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class BrokenIndex:
    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")


def test_what_stands_for_an_integer_counts_as_one() -> None:
    number = require_uint(Index(7), "x")
    assert number == 7
    assert type(number) is int


@pytest.mark.parametrize("value", [True, False, 1.0, "1", b"1", None, [], BrokenIndex(), int])
def test_other_types_are_type_errors(value: object) -> None:
    with rejected(FieldTypeError, "x", value=value):
        require_uint(value, "x")


@pytest.mark.parametrize("value", [-1, 2**64, 2**1000, -(2**1000)])
def test_numbers_out_of_range_are_value_errors(value: int) -> None:
    with rejected(FieldValueError, "x", value=value, index=4):
        require_uint(value, "x", index=4)


@pytest.mark.parametrize("value", [1, 2, 16, 2**32 - 1])
def test_block_sizes(value: int) -> None:
    """1 to 2^32 - 1 slots."""
    assert require_block_size(value) == value


@pytest.mark.parametrize("value", [0, -1, 2**32, 2**1000])
def test_block_sizes_out_of_range(value: int) -> None:
    with rejected(FieldValueError, "block_size", value=value):
        require_block_size(value)


@pytest.mark.parametrize("value", [True, 16.0, "16", None])
def test_block_sizes_of_the_wrong_type(value: object) -> None:
    with rejected(FieldTypeError, "block_size", value=value):
        require_block_size(value)


@pytest.mark.parametrize("value", [None, "", "a", "\0", "\U0010ffff", "\uffff"])
def test_text_passes_unchanged(value: str | None) -> None:
    assert require_text(value, "salt") == value


@pytest.mark.parametrize("value", ["\ud800", "ab\udfff", "\U0001f600\udc00"])
def test_lone_surrogates_have_no_utf8(value: str) -> None:
    """The index is the character's, because that is what an editor can show."""
    with rejected(FieldValueError, "salt", value=value, index=len(value) - 1):
        require_text(value, "salt")


@pytest.mark.parametrize("value", [b"salt", 5, True, ["a"]])
def test_text_of_another_type(value: object) -> None:
    with rejected(FieldTypeError, "salt", value=value):
        require_text(value, "salt")
