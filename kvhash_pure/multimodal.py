"""Runs of multimodal placeholder slots: what they are and when they are valid.

How a run changes the bytes of a block is `encoding`'s. FORMAT.md, "Runs".
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import (
    U64_LIMIT,
    EmptyRunError,
    FieldTypeError,
    FieldValueError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    require_uint,
)
from .values import Frozen, set_field


class RequestMmObjectInfo(Frozen):
    """One run of placeholder slots: `length` slots from slot `offset` on show object `mm_hash`.

    All three are u64; `offset` counts tokens of the request, not blocks. A length of 0 and a run
    outside the tokens are errors of the request that the run is given to.

    >>> RequestMmObjectInfo(mm_hash=0xDEADBEEF, offset=2, length=4).end
    6
    """

    __slots__ = ("length", "mm_hash", "offset")
    _fields = ("mm_hash", "offset", "length")
    mm_hash: int
    offset: int
    length: int

    def __init__(self, mm_hash: int, offset: int, length: int) -> None:
        set_field(self, "mm_hash", require_uint(mm_hash, "mm_hash"))
        set_field(self, "offset", require_uint(offset, "offset"))
        set_field(self, "length", require_uint(length, "length"))

    @property
    def end(self) -> int:
        """The first slot after the run."""
        return self.offset + self.length

    def __repr__(self) -> str:
        return (
            f"RequestMmObjectInfo(mm_hash={self.mm_hash:#x}, "
            f"offset={self.offset}, length={self.length})"
        )


TokenBlockMmInfo = RequestMmObjectInfo
"""The name that `dynamo-tokens` has for the same thing."""


def validate_and_sort_mm_info(
    mm_info: Iterable[RequestMmObjectInfo] | None, tokens_len: int
) -> tuple[RequestMmObjectInfo, ...]:
    """The runs, valid for a request of `tokens_len` slots, sorted by offset.

    Raises, with the index that the run had in `mm_info`: EmptyRunError, OffsetOverflowError,
    OutOfBoundsError, OverlappingError (at the later run's offset). Runs that touch end to start
    are fine; input order does not matter. Source: `validate_and_sort_mm_info` of the original.
    """
    tokens_len = require_uint(tokens_len, "tokens_len", limit=U64_LIMIT << 1)
    if mm_info is None:
        return ()
    if not isinstance(mm_info, Iterable):
        raise FieldTypeError(
            field="mm_info", value=mm_info, expected="an iterable of RequestMmObjectInfo"
        )
    runs: list[RequestMmObjectInfo] = []
    for i, run in enumerate(mm_info):  # looked at as they come: what is no run may go on for ever
        if not isinstance(run, RequestMmObjectInfo):
            raise FieldTypeError(
                field="mm_info", index=i, value=run, expected="a RequestMmObjectInfo"
            )
        runs.append(run)
    if not runs:
        return ()
    # Sorted first, then checked one by one: which error wins is the original's rule.
    order = sorted(range(len(runs)), key=lambda i: runs[i].offset)
    for before, i in zip([None, *order], order):
        run = runs[i]
        field, value = "mm_info.offset", run.offset
        problem: type[FieldValueError]
        if run.length == 0:
            field, value = "mm_info.length", 0
            problem, expected = EmptyRunError, "at least 1 slot"
        elif run.end >= U64_LIMIT:
            problem, expected = OffsetOverflowError, f"offset + {run.length} below 2^64"
        elif run.end > tokens_len:
            problem = OutOfBoundsError
            expected = f"a run that ends within the {tokens_len} tokens, not at {run.end}"
        elif before is not None and run.offset < runs[before].end:
            problem = OverlappingError
            expected = f"{runs[before].end} or more, where mm_info[{before}] ends"
        else:
            continue
        raise problem(field=field, index=i, value=value, expected=expected)
    return tuple(runs[i] for i in order)
