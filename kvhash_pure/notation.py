"""A hash in any notation that logs and tools print it in, read in every way that it can mean
(FORMAT.md, "Questions").
"""

from __future__ import annotations

from operator import index as as_int

from .errors import FieldTypeError, FieldValueError, KvHashingError, is_integer_type
from .lineage import PositionalLineageHash
from .results import Result
from .strict_json import hex64, hex128, loads

NOTATIONS = "u64, i64, hex, base58, the text of a PLH, u128 or 16 bytes"
_HEX_DIGITS = "0123456789abcdefABCDEF"
# Numbers from … to below: notation, bits.
_NUMBERS = (
    (-(1 << 63), 0, "i64", 64),
    (0, 1 << 64, "u64", 64),
    (1 << 64, 1 << 128, "u128", 128),
)


class Reading(Result):
    """One way to read what was observed: `value` has `bits` 64 or 128 (a PLH)."""

    notation: str
    bits: int
    value: int

    @property
    def plh(self) -> PositionalLineageHash | None:
        """The PLH of these 128 bits; None if no PLH has them."""
        try:
            return PositionalLineageHash.from_u128(self.value) if self.bits == 128 else None
        except FieldValueError:
            return None

    @property
    def hex(self) -> str:
        """`0x` and 16 or 32 digits."""
        return hex64(self.value) if self.bits == 64 else hex128(self.value)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        plh = self.plh
        fields = plh and {
            "position": plh.position,
            "mode": plh.mode,
            "sequence_hash": hex64(plh.current_sequence_hash),
            "parent_fragment": hex64(plh.parent_hash_fragment),
        }
        return {"notation": self.notation, "value": self.hex, "plh": fields}


def are_octets(value: object) -> bool:
    """16 bytes are one PLH; a list of 16 too, as no list of hashes has only such small numbers."""
    return (
        isinstance(value, (bytes, bytearray, list, tuple))
        and len(value) == 16
        and all(type(octet) is int and 0 <= octet < 256 for octet in value)
    )


def read(value: object, index: int | None = None, field: str = "observed") -> tuple[Reading, ...]:
    """Every reading of one observed value, or an error that lists the notations."""
    if isinstance(value, str):
        found = _read_text(value.strip(" \t\r\n\"',;"))
    elif isinstance(value, PositionalLineageHash):
        found = [("plh", 128, int(value))]
    elif isinstance(value, (bytes, bytearray)) or are_octets(value):
        found = _read_octets(value)
    elif is_integer_type(type(value)):
        found = _read_number(as_int(value))  # type: ignore[arg-type]
    else:
        raise FieldTypeError(field=field, index=index, value=value, expected=NOTATIONS)
    if not found:
        raise FieldValueError(field=field, index=index, value=value, expected=NOTATIONS)
    return tuple(Reading(notation=n, bits=bits, value=number) for n, bits, number in found)


# Each of these gives (notation, bits, value) of each reading.


def _read_number(number: int) -> list[tuple[str, int, int]]:
    rows = [row for row in _NUMBERS if row[0] <= number < row[1]]
    return [(notation, bits, number % (1 << bits)) for _, _, notation, bits in rows]


def _read_octets(value: object) -> list[tuple[str, int, int]]:
    if not are_octets(value):
        return []
    return [("bytes", 128, int.from_bytes(bytes(value), "big"))]  # type: ignore[call-overload]


def _read_text(text: str) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    try:
        if text[:1] == "[":
            return _read_octets(loads(text))
        if ":" in text:
            return [("plh_text", 128, int(PositionalLineageHash.parse(text)))]
        digits = text[1:] if text[:1] == "-" else text
        if digits.isascii() and digits.isdigit() and len(digits) < 40:
            found += _read_number(int(text))
        digits = "".join(text.split())
        digits = digits[2:] if digits[:2] in ("0x", "0X") else digits
        if 1 <= len(digits) <= 32 and not digits.strip(_HEX_DIGITS):
            found.append(("hex", 64 if len(digits) <= 16 else 128, int(digits, 16)))
        plh = PositionalLineageHash.parse("0:" + text)
        found.append(("base58", 64, plh.current_sequence_hash))
    except KvHashingError:
        pass
    return found
