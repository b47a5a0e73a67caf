"""What is said when input is wrong: one exception family, and the checks that raise it.

Every error is a `KvHashingError` and also a `ValueError` or a `TypeError`. The attributes are API
(what was wrong, where, its value, what would be right); the text of the message is not.
Nothing here knows what a request, a block or a hash is.
"""

from __future__ import annotations

from operator import index as as_int

U32_LIMIT = 1 << 32
U64_LIMIT = 1 << 64
U128_LIMIT = 1 << 128
_SHOWN_CHARS = 80
_CONTAINERS = (list, tuple, dict, set, frozenset)


def shown(value: object) -> str:
    """`repr(value)` that fits in a line, whatever the value is or does."""
    if type(value) is int and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (bytes, bytearray, str)) and len(value) > _SHOWN_CHARS:
        return f"{value[:_SHOWN_CHARS]!r}... ({len(value)} long)"
    if isinstance(value, _CONTAINERS):
        items = value.values() if isinstance(value, dict) else value
        # Too long to show, or of a depth that repr would follow until Pyodide's stack ends.
        if len(value) > 8 or any(isinstance(item, _CONTAINERS) for item in items):
            return f"a {type(value).__name__} of {len(value)} items"
    try:
        text = repr(value).replace("\n", " ")
    except Exception:  # a hostile __repr__ must not hide the error that we came to report
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 2 * _SHOWN_CHARS else text[: 2 * _SHOWN_CHARS] + "..."


class KvHashingError(Exception):
    """Base of all errors of this package.

    Attributes: `field` (dotted name, for example "mm_info.offset"), `index` (position in that
    field's sequence, else None), `value` (the offending value) and `expected` (what would be
    right, in words). A `message` of one's own replaces the one made from them.
    """

    def __init__(
        self,
        message: str = "",
        *,
        field: str = "",  # left out by pickle alone, which restores the attributes afterwards
        index: int | None = None,
        value: object = None,
        expected: str = "",
    ) -> None:
        if not message:
            root, dot, rest = field.partition(".")
            where = root + ("" if index is None else f"[{index}]") + dot + rest
            message = f"{where} is {shown(value)}; expected {expected}"
        super().__init__(message)
        self.field = field
        self.index = index
        self.value = value
        self.expected = expected


class FieldTypeError(KvHashingError, TypeError):
    """A value of the wrong type."""


class FieldValueError(KvHashingError, ValueError):
    """A value of the right type that is out of range or malformed."""


class UnknownFieldError(FieldValueError):
    """A key that the JSON form does not have, or a required one that is missing."""


class InvalidJsonError(FieldValueError):
    """Text that is not strict JSON. `index` is the offset of the character."""


class EmptyRunError(FieldValueError):
    """A run of length 0 (EmptyRun in the original)."""


class OffsetOverflowError(FieldValueError):
    """A run whose offset + length leaves 64 bits (OffsetOverflow in the original)."""


class OutOfBoundsError(FieldValueError):
    """A run that ends after the last token (OutOfBounds in the original)."""


class OverlappingError(FieldValueError):
    """Two runs over one slot; `value` is the later run's offset (Overlapping in the original)."""


class PositionOverflowError(FieldValueError):
    """More blocks than a PLH has positions for: 2^24."""


class ContractMismatchError(FieldValueError):
    """Two contracts in one operation. Their hashes never compare."""


def is_integer_type(kind: type) -> bool:
    """Whether instances stand for integers: `__index__`, but no bool, numpy's neither (its older
    versions take True for 1).
    """
    return kind is int or (hasattr(kind, "__index__") and kind.__name__ not in ("bool", "bool_"))


def require_uint(
    value: object,
    field: str,
    *,
    limit: int = U64_LIMIT,
    least: int = 0,
    index: int | None = None,
    out_of_range: type[KvHashingError] = FieldValueError,
) -> int:
    """`value` as an int in least … limit - 1, or an error. bool is not a number here."""
    if type(value) is int and least <= value < limit:  # nearly always
        return value
    problem: type[KvHashingError] = FieldTypeError
    if is_integer_type(type(value)):
        try:
            number = int(as_int(value))  # type: ignore[arg-type]
        except TypeError:  # numpy's arrays have __index__ and refuse to use it
            pass
        else:
            if least <= number < limit:
                return number
            problem = out_of_range
    expected = f"an integer, {least} to 2^{limit.bit_length() - 1} - 1"
    raise problem(field=field, index=index, value=value, expected=expected)


def require_block_size(value: object, field: str = "block_size") -> int:
    """Slots a block: 1 … 2^32 - 1."""
    if type(value) is int and 0 < value < U32_LIMIT:  # a call less, of those a short prompt feels
        return value
    return require_uint(value, field, limit=U32_LIMIT, least=1)


def require_text(value: object, field: str) -> str | None:
    """None, or a str that has a UTF-8 form (no lone surrogates); no normalisation."""
    if value is None:
        return None
    if type(value) is not str:
        if not isinstance(value, str):
            raise FieldTypeError(field=field, value=value, expected="a str or None")
        value = str.__str__(value)  # a subclass may encode as, or equal, another text
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        at = error.start
        expected = f"UTF-8 text; character {at} is the lone surrogate U+{ord(value[at]):04X}"
        raise FieldValueError(field=field, index=at, value=value, expected=expected) from None
    return value
