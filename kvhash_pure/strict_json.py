"""JSON text and 64-bit numbers, in and out (FORMAT.md, "JSON").

Strict on the way in (duplicate keys, NaN and what is not JSON are errors that say where), and
one way out: fixed-width lower-case hex, because JavaScript rounds bare numbers above 2^53.
"""

from __future__ import annotations

from .errors import FieldTypeError, FieldValueError, InvalidJsonError, require_uint, shown

_MOST_LEVELS = 500
_HEX_DIGITS = "0123456789abcdefABCDEF"


def loads(text: str | bytes | bytearray) -> object:
    """The value of a JSON text (bytes: UTF-8, a BOM is fine), or InvalidJsonError."""
    import json  # not at the top: a program that only hashes need not load it

    if isinstance(text, (bytes, bytearray)):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidJsonError(
                f"JSON is not UTF-8: byte {error.start} is 0x{text[error.start]:02x}",
                field="json",
                index=error.start,
                value=text[error.start],
                expected="UTF-8 text",
            ) from None
    elif not isinstance(text, str):
        raise FieldTypeError(field="json", value=text, expected="JSON text or its UTF-8 bytes")
    if _depth(text) > _MOST_LEVELS:
        raise _too_deep()
    try:
        return json.loads(
            text.lstrip("\ufeff"), object_pairs_hook=_object, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InvalidJsonError(
            f"JSON is broken at {where}: {error.msg}",
            field="json",
            index=error.pos,
            value=text[error.pos : error.pos + 20],
            expected="strict JSON",
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except InvalidJsonError:
        raise
    except ValueError:  # CPython's limit on the digits of an integer
        raise InvalidJsonError(
            field="json", value="a number of thousands of digits", expected="u32 and u64 numbers"
        ) from None


def _depth(text: str) -> int:
    """Levels of nesting, exact above _MOST_LEVELS: the parser recurses, and Pyodide dies of it."""
    if text.count("[") + text.count("{") <= _MOST_LEVELS:
        return 0
    depth = most = 0
    for outside in text.replace("\\\\", "").replace('\\"', "").split('"')[::2]:
        for opened in outside.replace("}", "]").split("]"):
            depth += opened.count("[") + opened.count("{")
            most = max(most, depth)
            depth -= 1
        depth += 1  # one closing bracket fewer than parts
    return most


def _too_deep() -> InvalidJsonError:
    return InvalidJsonError(
        field="json", value="brackets nested too deeply", expected="a request: 3 levels"
    )


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore
        raise InvalidJsonError(
            f"JSON has the key {shown(twice)} twice in one object; expected it once",
            field=twice,
            value=twice,
            expected="each key once",
        )
    return value


def _constant(text: str) -> object:
    raise InvalidJsonError(field="json", value=text, expected="strict JSON: no NaN or Infinity")


def hex64(value: int) -> str:
    """`0x` and 16 digits."""
    return f"0x{value:016x}"


def hex128(value: int) -> str:
    """`0x` and 32 digits."""
    return f"0x{value:032x}"


def u64_from_json(value: object, field: str, index: int | None = None) -> int:
    """A u64 as JSON has it: a number, or `"0x…"` with 1 to 16 hex digits."""
    if not isinstance(value, str):
        if isinstance(value, bool) or not isinstance(value, int):
            raise FieldTypeError(
                field=field, index=index, value=value, expected='an integer or "0x…" text'
            )
        return require_uint(value, field, index=index)
    digits = value[2:]
    if value[:2] not in ("0x", "0X") or not 1 <= len(digits) <= 16 or digits.strip(_HEX_DIGITS):
        raise FieldValueError(
            field=field, index=index, value=value, expected='"0x" and 1 to 16 hex digits'
        )
    return int(digits, 16)
