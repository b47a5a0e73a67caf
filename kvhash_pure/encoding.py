"""From tokens and runs to the bytes of blocks (FORMAT.md, "Tokens" and "Block bytes").

What is hashed is decided here and nowhere else; how it is hashed is `kernel`'s.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from struct import error as PackError
from struct import pack, unpack

from .errors import (
    U32_LIMIT,
    U64_LIMIT,
    FieldTypeError,
    FieldValueError,
    KvHashingError,
    is_integer_type,
    require_uint,
)
from .multimodal import RequestMmObjectInfo, validate_and_sort_mm_info

try:
    from __pypy__ import strategy as _strategy
except ImportError:
    _strategy = None

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol, Union

    class _HasToList(Protocol):
        def tolist(self) -> object: ...

    Tokens = Union[Iterable[int], array[int], memoryview, _HasToList]

MM_SLOT_TAG_TOKEN = 0
MM_SLOT_TAG_PLACEHOLDER = 1

# One row a kind of slot: name, tag (None: no tag byte), fields in order as (name, bytes).
# All integers little-endian. A block touched by no run has plain slots only, a block touched by
# some run has framed slots only.
FRAMES: tuple[tuple[str, int | None, tuple[tuple[str, int], ...]], ...] = (
    ("plain token", None, (("token", 4),)),
    ("framed token", MM_SLOT_TAG_TOKEN, (("tag", 1), ("token", 4), ("zero", 8))),
    ("placeholder", MM_SLOT_TAG_PLACEHOLDER, (("tag", 1), ("run_offset", 4), ("mm_hash", 8))),
)
PLAIN_SLOT_BYTES, FRAMED_SLOT_BYTES, _ = (
    sum(width for _, width in fields) for _, _, fields in FRAMES
)

_TOKEN = "a token: an integer, 0 to 2^32 - 1"
# Neither C nor Python promises 4 bytes to any of array's type codes.
U32_CODE = next((code for code in "IL" if array(code).itemsize == 4), None)
# Before 3.10, array takes whatever has __int__ (a Decimal) for an integer.
_TAKES_INT_METHOD = sys.version_info < (3, 10)
_UNSURE = b"\0\0\0\0", b"\1\0\0\0"
_PIECE = 1 << 15  # bytes; new memory for all of a long prompt's would take as long as the search
# 32-bit characters are searched for at more than twice the speed of bytes; 3.13 deprecates them.
_TEXT_CODE = "u" if (3, 10) <= sys.version_info < (3, 13) and array("u").itemsize == 4 else None
_INTEGER_CODES = {1: "bB", 2: "hH", 4: "iI", 8: "qQ"}


def pack_tokens(tokens: Tokens, field: str = "tokens") -> bytes:
    """The tokens as u32 little-endian bytes, 4 a token.

    Takes an iterable of ints, an object with the buffer protocol (read by its item format), or
    one with `tolist()`. Raises FieldTypeError or FieldValueError with the index and the value of
    the first token that is no u32; `bytes` are refused, because they could mean items or memory.
    """
    kind = type(tokens)
    if kind is list or kind is tuple:
        return _pack_ints(tokens, field)  # type: ignore[arg-type]
    if kind is range:
        _check_range(tokens, field)  # type: ignore[arg-type]
        return _pack_ints(tokens, field)  # type: ignore[arg-type]
    if isinstance(tokens, (bytes, bytearray)) or kind.__module__ == "mmap":  # a mapped file
        expected = "token ids, not raw bytes: pass list(data) or memoryview(data).cast(…)"
        raise FieldTypeError(field=field, value=tokens, expected=expected)
    if isinstance(tokens, (str, set, frozenset, dict)):
        raise FieldTypeError(field=field, value=tokens, expected="an ordered iterable of tokens")
    try:
        view = memoryview(tokens)  # type: ignore[arg-type]
    except TypeError:
        pass
    except (ValueError, BufferError):  # numpy's datetime64, a released view
        expected = "tokens in a buffer that can be read as integers"
        raise FieldTypeError(field=field, value=tokens, expected=expected) from None
    else:
        return _pack_buffer(view, field)
    source: object = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    try:
        values = list(source)  # type: ignore[call-overload]
    except TypeError:
        if hasattr(source, "__iter__"):
            raise  # its own iterator failed; that is not ours to rename
        raise FieldTypeError(field=field, value=tokens, expected="an iterable of tokens") from None
    return _pack_ints(values, field)


def _check_range(tokens: range, field: str) -> None:
    """Both ends fit, so all do: a huge range is refused before it is walked."""
    if tokens and not 0 <= min(tokens[0], tokens[-1]) <= max(tokens[0], tokens[-1]) < U32_LIMIT:
        index = 0
        if 0 <= tokens.start < U32_LIMIT:  # the first step over the edge that it walks towards
            room = U32_LIMIT - 1 - tokens.start if tokens.step > 0 else tokens.start
            index = room // abs(tokens.step) + 1
        raise FieldValueError(field=field, index=index, value=tokens[index], expected=_TOKEN)


def _pack_ints(values: Sequence[int], field: str) -> bytes:
    try:
        if U32_CODE is None:
            packed = pack(f"<{len(values)}I", *values)
        else:
            items = array(U32_CODE, values)
            if sys.byteorder == "big":
                items.byteswap()
            packed = items.tobytes()
    except (TypeError, ValueError, OverflowError, PackError, DeprecationWarning):  # last: 3.9, -W
        _raise_bad_token(values, field)
        raise
    if not _all_ints(values, packed):
        for kind in set(map(type, values)) - {int}:
            if not is_integer_type(kind):
                _raise_bad_token(values, field)
    return packed


def _all_ints(values: Sequence[int], packed: bytes) -> bool:
    """Whether all values are known to be ints and no bools; if not, their types must be looked at.

    That costs CPython 10 to 25 ns a token. True and False pack as 1 and 0, so looking for those
    u32 spares most requests the half of it and more. PyPy knows it of a list of machine words,
    and compiles the plain loop: 1 ns.
    """
    if _strategy:
        if type(values) is list and _strategy(values) == "IntegerListStrategy":
            return True
        for value in values:  # noqa: SIM110 - all() over a generator takes 7 times as long
            if type(value) is not int:
                return False
        return True
    if _TAKES_INT_METHOD:
        return False
    looks = 64  # as many as cost about what the types of a short prompt cost
    for start in range(0, len(packed), _PIECE):
        searched, unsure, width = _searchable(packed[start : start + _PIECE])
        for item in unsure:
            at = searched.find(item)
            while at >= 0:
                looks -= 1
                # Else it is a 0 or 1, or the end of a token and the start of the next.
                sure = at % width or is_integer_type(type(values[start // 4 + at // width]))
                if not looks or not sure:
                    return False
                at = searched.find(item, at + width - at % width)
    return True


def _searchable(packed: bytes) -> tuple[Any, tuple[Any, Any], int]:
    """What to search for tokens 0 and 1, those two there, and how long a token is there."""
    if _TEXT_CODE:
        try:
            return array(_TEXT_CODE, packed).tounicode(), ("\0", "\1"), 1
        except ValueError:  # an id that no character has
            return packed, _UNSURE, 4
    return packed, _UNSURE, 4


def _raise_bad_token(values: Sequence[object], field: str) -> None:
    for i, value in enumerate(values):
        try:
            require_uint(value, field, limit=U32_LIMIT, index=i)
        except KvHashingError as error:
            raise type(error)(field=field, index=i, value=value, expected=_TOKEN) from None


def _pack_buffer(view: memoryview, field: str) -> bytes:
    if view.ndim != 1:
        message = f"{field} has {view.ndim} dimensions; expected 1"
        raise FieldTypeError(message, field=field, value=view.ndim, expected="1 dimension")
    order, code = view.format[:-1], view.format[-1:]
    little = order == "<" or (order in ("", "@", "=") and sys.byteorder == "little")
    if order not in ("", "@", "=", "<", ">", "!") or code not in "bBhHiIlLqQnN":
        message = f"{field} has items of format {view.format!r}; expected integers"
        index = 0 if len(view) else None
        raise FieldTypeError(message, field=field, index=index, value=view.format, expected=_TOKEN)
    code = _INTEGER_CODES[view.itemsize][code.isupper()]
    data = view.tobytes()
    if little and code == "I":
        return data
    return _pack_ints(unpack(f"{'<' if little else '>'}{len(view)}{code}", data), field)


def block_segments(
    packed: bytes,
    block_size: int,
    runs: Sequence[RequestMmObjectInfo],
    first: int,
    stop: int,
    base: int = 0,
) -> list[tuple[bytes | bytearray, int]]:
    """Blocks first … stop - 1 as `(bytes, bytes a block)`, equally encoded neighbours together.

    `packed` holds 4 bytes a slot, from block `base` on; `runs` are valid and sorted. Costs
    O(slots) and no Python step for a single slot.
    """
    plain_bytes = PLAIN_SLOT_BYTES * block_size
    if not runs:
        return [(packed[(first - base) * plain_bytes : (stop - base) * plain_bytes], plain_bytes)]
    segments: list[tuple[bytes | bytearray, int]] = []
    position = first
    skipped = base * plain_bytes
    for start, end, touching in touched_blocks(runs, block_size, first, stop):
        if position < start:
            low, high = position * plain_bytes - skipped, start * plain_bytes - skipped
            segments.append((packed[low:high], plain_bytes))
        tokens = packed[start * plain_bytes - skipped : end * plain_bytes - skipped]
        frames = framed_slots(tokens, touching, start * block_size)
        segments.append((frames, FRAMED_SLOT_BYTES * block_size))
        position = end
    if position < stop:
        low, high = position * plain_bytes - skipped, stop * plain_bytes - skipped
        segments.append((packed[low:high], plain_bytes))
    return segments


def touched_blocks(
    runs: Sequence[RequestMmObjectInfo], block_size: int, first: int, stop: int
) -> Iterator[tuple[int, int, Sequence[RequestMmObjectInfo]]]:
    """Ranges of blocks that some run touches, ascending, disjoint, cut to first … stop; and
    their runs, so that thousands of images do not cost their square.
    """
    start = end = first
    since = 0
    for i, run in enumerate(runs):
        low = max(run.offset // block_size, first)
        high = min((run.end - 1) // block_size + 1, stop)
        if low >= high:
            continue
        if low > end:
            if start < end:
                yield start, end, runs[since:i]
            start, since = low, i
        end = max(high, end)
    if start < end:
        yield start, end, runs[since:]


def framed_slots(tokens: bytes, runs: Sequence[RequestMmObjectInfo], start: int) -> bytearray:
    """13-byte frames of packed `tokens`, the first of them at slot `start`."""
    width = FRAMED_SLOT_BYTES
    stop = start + len(tokens) // PLAIN_SLOT_BYTES
    frames = bytearray(width * (stop - start))  # tag 0 and the zero bytes are there already
    column = bytearray(tokens)  # of u32: a token, or where its run has come to
    for run in runs:
        low, high = max(run.offset, start), min(run.end, stop)
        if low >= high:
            continue
        frame = pack("<BIQ", MM_SLOT_TAG_PLACEHOLDER, 0, run.mm_hash)
        frames[width * (low - start) : width * (high - start)] = frame * (high - low)
        # The original casts the 64-bit difference to u32: it wraps.
        first = (low - run.offset) % U32_LIMIT
        offsets: Sequence[int] = range(first, first + high - low)
        if offsets[-1] >= U32_LIMIT:
            offsets = [offset % U32_LIMIT for offset in offsets]
        column[4 * (low - start) : 4 * (high - start)] = pack(f"<{high - low}I", *offsets)
    for k in range(4):
        frames[1 + k :: width] = column[k::4]
    return frames


def compute_block_bytes_with_mm(
    tokens: Tokens, block_offset: int, mm_runs: Sequence[RequestMmObjectInfo]
) -> bytes:
    """The bytes hashed for one block of `tokens` that starts at slot `block_offset`.

    `mm_runs` are the request's runs (offsets in slots of the whole request); runs that do not
    touch the block are ignored. 4 bytes a slot where none touches it, else 13.
    """
    packed = pack_tokens(tokens)
    start = require_uint(block_offset, "block_offset")
    stop = start + len(packed) // PLAIN_SLOT_BYTES
    runs = validate_and_sort_mm_info(mm_runs, U64_LIMIT)
    if not any(run.offset < stop and run.end > start for run in runs):
        return packed
    return bytes(framed_slots(packed, runs, start))
