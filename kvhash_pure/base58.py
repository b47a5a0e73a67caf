"""Base58 of u64, with the Bitcoin alphabet (FORMAT.md, "PositionalLineageHash")."""

from __future__ import annotations

from .errors import U64_LIMIT, FieldValueError, shown

_DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def to_base58(value: int) -> str:
    """Base58 of the 8 big-endian bytes of a u64: a '1' for each leading zero byte."""
    digits = ""
    rest = value
    while rest:
        rest, digit = divmod(rest, 58)
        digits = _DIGITS[digit] + digits
    return "1" * (8 - (value.bit_length() + 7) // 8) + digits


def from_base58(text: str, name: str, whole: str) -> int:
    """The u64 of base58 `text`; an error says that it should be a `name` in the PLH `whole`."""
    value = 0
    for i, char in enumerate(text):
        digit = _DIGITS.find(char)
        if digit < 0 or i > 11:
            break
        value = value * 58 + digit
    else:
        if text and value < U64_LIMIT:
            return value
    raise FieldValueError(
        field="plh", value=whole, expected=f"a {name} in base58 of 8 bytes, not {shown(text)}"
    )
