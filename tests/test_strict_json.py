"""JSON text in: strict, and each error says where. 64-bit numbers out: always hex."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from kvhash_pure import FieldTypeError, FieldValueError, InvalidJsonError
from kvhash_pure.strict_json import hex64, hex128, loads, u64_from_json
from tests.helpers import ANYTHING, U64_MAX, rejected

LONG_KEY = "k" * 10_000


def test_json_is_read() -> None:
    text = '{"tokens": [0, 4294967295], "salt": "\\u00e9\\n", "lora_name": null, "x": [true, -1.5]}'
    expected = {"tokens": [0, 2**32 - 1], "salt": "é\n", "lora_name": None, "x": [True, -1.5]}
    assert loads(text) == loads(text.encode()) == loads(bytearray(text.encode())) == expected
    assert loads(f" {2**64} ") == 2**64


@pytest.mark.parametrize("text", ["\ufeff[1]", b"\xef\xbb\xbf[1]"])
def test_a_byte_order_mark_is_no_part_of_it(text: str | bytes) -> None:
    """Editors on Windows write one."""
    assert loads(text) == [1]


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        (" ", 1),
        ("{", 1),
        ("[1,]", 3),
        ("{'a': 1}", 1),
        ('{"a" 1}', 5),
        ("[1] [2]", 4),
        ('"a\nb"', 2),
        ('"\\x41"', 1),
        ("01", 1),
        ("+1", 0),
        ("1.", 1),
        ("0x10", 1),
        ("tru", 0),
        ("\u0661", 0),
        ("[1, 2", 6),
    ],
)
def test_what_is_no_json(text: str, index: int) -> None:
    """The index is the character's; the message has the column, and the line if there are more."""
    with rejected(InvalidJsonError, "json", index=ANYTHING):
        loads(text)
    # PyPy counts a control character in a string as read: one character on, here a line on.
    where = r"JSON is (empty|broken at (line [12] )?column \d+)"
    with pytest.raises(InvalidJsonError, match=where) as caught:
        loads(text)
    assert abs(caught.value.index - index) <= 1  # type: ignore[operator]


def test_line_and_column() -> None:
    with pytest.raises(InvalidJsonError, match="line 3 column 2"):
        loads('{\n"tokens":\n x}')


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_no_numbers_that_json_does_not_have(text: str) -> None:
    with rejected(InvalidJsonError, "json"):
        loads(text)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": 2, "a": 1}', '[{"a": {"a": 1, "a": 2}}]', '{"a": 1, "\\u0061": 2}']
)
def test_a_key_twice(text: str) -> None:
    """Which of the two is meant? Python would take the last, others the first."""
    with rejected(InvalidJsonError, "a", value="a"):
        loads(text)


def test_many_keys_and_one_twice() -> None:
    """Found in linear time, and not repeated in full."""
    keys = [f'"{i}": 0' for i in range(200_000)]
    with rejected(InvalidJsonError, "199999", value="199999"):
        loads("{" + ",".join([*keys, keys[-1]]) + "}")
    with rejected(InvalidJsonError, LONG_KEY, value=LONG_KEY):
        loads(f'{{"{LONG_KEY}": 1, "{LONG_KEY}": 2}}')


@pytest.mark.parametrize(
    ("data", "index"), [(b"\xff", 0), (b'"\xe9"', 1), (b'["\xf0\x9f"]', 2), (b'"\xed\xa0\x80"', 1)]
)
def test_bytes_that_are_no_utf8(data: bytes, index: int) -> None:
    """Latin-1, a cut character, a surrogate in CESU: byte index and byte."""
    with rejected(InvalidJsonError, "json", index=index, value=data[index]):
        loads(data)


@pytest.mark.parametrize("data", ["[1]".encode("utf-16"), "[1]".encode("utf-32")])
def test_other_encodings(data: bytes) -> None:
    """json.loads would guess them from the zeros; nobody else would."""
    with pytest.raises(InvalidJsonError):
        loads(data)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_nested_far_too_deeply(opening: str) -> None:
    with rejected(InvalidJsonError, "json", index=ANYTHING):
        loads(opening * 200_000)


def test_a_parser_that_runs_out_of_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Called from deep inside another program, the parser may have less room than we count on."""

    def loads_deep(*arguments: object, **keywords: object) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("json.loads", loads_deep)
    with rejected(InvalidJsonError, "json", index=ANYTHING):
        loads("[1]")


def test_numbers_of_thousands_of_digits() -> None:
    """An error or a number, by interpreter, but no other exception."""
    if hasattr(sys, "get_int_max_str_digits"):
        with rejected(InvalidJsonError, "json"):
            loads("[" + "1" * 5000 + "]")
    else:
        assert loads("1" * 5000) == int("1" * 4000) * 10**1000 + int("1" * 1000)


@pytest.mark.parametrize("value", [None, 5, ["{}"], {}])
def test_what_is_no_text(value: Any) -> None:
    with rejected(FieldTypeError, "json", value=value):
        loads(value)


def test_hex_has_a_fixed_width() -> None:
    assert hex64(0) == "0x0000000000000000"
    assert hex64(U64_MAX) == "0xffffffffffffffff"
    assert hex64(0xABC) == "0x0000000000000abc"
    assert hex128(0xABC) == "0x00000000000000000000000000000abc"
    assert hex128(2**128 - 1) == "0x" + "f" * 32


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0),
        (U64_MAX, U64_MAX),
        ("0x0", 0),
        ("0xff", 255),
        ("0XFF", 255),
        ("0x0000000000000000", 0),
        ("0xFFFFFFFFffffffff", U64_MAX),
    ],
)
def test_a_u64_is_a_number_or_hex(value: object, number: int) -> None:
    assert u64_from_json(value, "mm_info.mm_hash") == number


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0x",
        "ff",
        "255",
        "-0x1",
        "0x-1",
        "0x_1",
        "0x1_0",
        "0x 1",
        " 0x1",
        "0x1 ",
        "0xg",
        "0x1.0",
        "0x00000000000000000",
        "0x10000000000000000",
        "0o7",
        "0b1",
        "0x\u0661",
        "\uff10x1",
    ],
)
def test_text_that_is_no_hex(value: str) -> None:
    """No guessing: decimal text could be hex without its 0x."""
    with rejected(FieldValueError, "mm_info.mm_hash", index=2, value=value):
        u64_from_json(value, "mm_info.mm_hash", 2)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_numbers_that_are_no_u64(value: int) -> None:
    with rejected(FieldValueError, "mm_info.mm_hash", index=2, value=value):
        u64_from_json(value, "mm_info.mm_hash", 2)


@pytest.mark.parametrize("value", [True, None, 1.0, 1e300, [], {}])
def test_json_values_that_are_no_number(value: object) -> None:
    """1.0 is refused too: a float has lost digits above 2^53 before we see it."""
    with rejected(FieldTypeError, "mm_info.mm_hash", index=2, value=value):
        u64_from_json(value, "mm_info.mm_hash", 2)
