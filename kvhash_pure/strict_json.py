"""JSON text and 64-bit numbers, in and out (FORMAT.md, "JSON").

Strict on the way in (duplicate keys, NaN and what is not JSON are errors that say where), and
one way out: fixed-width lower-case hex, because JavaScript rounds bare numbers above 2^53.
"""

from __future__ import annotations

from .errors import FieldTypeError, FieldValueError, InvalidJsonError, require_uint, shown

_MOST_LEVELS = 500
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
HEX_DIGITS = "0123456789abcdefABCDEF"


def loads(text: str | bytes | bytearray) -> object:
    """The value of a JSON text (bytes: UTF-8, a BOM is fine), or InvalidJsonError."""
    import json  # not at the top: a program that only hashes need not load it

    if isinstance(text, (bytes, bytearray)):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            byte = text[error.start]
            message = f"JSON is not UTF-8: byte {error.start} is 0x{byte:02x}"
            raise _invalid(byte, "UTF-8 text", message, index=error.start) from None
    elif not isinstance(text, str):
        raise FieldTypeError(field="json", value=text, expected="JSON text or its UTF-8 bytes")
    try:
        if _depth(text) > _MOST_LEVELS:
            raise RecursionError
        return json.loads(
            text.lstrip("\ufeff"), object_pairs_hook=_object, parse_constant=_constant
        )
    except InvalidJsonError:
        raise
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if "\n" in text.rstrip() else ""  # of JSON lines it is one
        message = f"JSON is broken at {line}column {error.colno}: {error.msg}"
        message = message if text.strip("\ufeff \t\r\n") else "JSON is empty"
        found = text[error.pos : error.pos + 20]
        raise _invalid(found, "strict JSON", message, index=error.pos) from None
    except ValueError:  # CPython's limit on the digits of an integer
        raise _invalid("a number of thousands of digits", "u32 and u64 numbers") from None
    except RecursionError:
        raise _invalid("brackets nested too deeply", "a request: 3 levels") from None


def _invalid(
    value: object,
    expected: str,
    message: str = "",
    *,
    field: str = "json",
    index: int | None = None,
) -> InvalidJsonError:
    return InvalidJsonError(message, field=field, index=index, value=value, expected=expected)


def _depth(text: str) -> int:
    """Levels of nesting, exact above _MOST_LEVELS: the parser recurses, and Pyodide dies of it."""
    if text.count("[") + text.count("{") <= _MOST_LEVELS:
        return 0
    outside_strings = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    depth = most = 0
    for bracket in outside_strings.encode("ascii", "ignore").translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        most = max(most, depth)
    return most


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore
        message = f"JSON has the key {shown(twice)} twice in one object; expected it once"
        raise _invalid(twice, "each key once", message, field=twice)
    return value


def _constant(text: str) -> object:
    raise _invalid(text, "strict JSON: no NaN or Infinity")


def hex64(value: int) -> str:
    """`0x` and 16 digits."""
    return f"0x{value:016x}"


def hex128(value: int) -> str:
    """`0x` and 32 digits."""
    return f"0x{value:032x}"


def u64_from_json(value: object, field: str, index: int | None = None) -> int:
    """A u64 as JSON has it: a number, or `"0x…"` with 1 to 16 hex digits."""
    if not isinstance(value, str):
        return require_uint(value, field, index=index)
    digits = value[2:]
    if value[:2] not in ("0x", "0X") or not 1 <= len(digits) <= 16 or digits.strip(HEX_DIGITS):
        expected = '"0x" and 1 to 16 hex digits, or a number'
        raise FieldValueError(field=field, index=index, value=value, expected=expected)
    return int(digits, 16)
