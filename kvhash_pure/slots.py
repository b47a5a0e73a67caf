"""Two requests slot by slot: where they differ, what kind of difference it is, and where they go
on equally after it (FORMAT.md, "Questions"). Knows nothing of salts, contracts and hashes.

A stream is what is hashed of each slot: packed tokens, or 13-byte frames where either request has
runs. So what is not hashed, such as ids under a run or how runs are listed, cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .encoding import FRAMED_SLOT_BYTES, PLAIN_SLOT_BYTES, _frames
from .multimodal import RequestMmObjectInfo
from .request import Request

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Union

    Evidence = Union[RequestMmObjectInfo, int]
    # Cause, slot of a, slot of b, what is there: tokens, runs, or (length) the ends.
    Difference = tuple[str, int, int, Evidence, Evidence]
    # Slots to leave out of a and of b so that they go on equally.
    Gap = tuple[int, int]

# After a difference, so many equal slots count as being aligned again (fewer in small blocks),
# and so many slots are tried as what the difference took; runs that are there come on top.
_PROBE = 8
_REACH = 256


def stream(request: Request, framed: bool) -> tuple[int, bytes]:
    """Bytes a slot, and what is hashed of each slot; requests with runs must be `framed`."""
    if framed:
        return FRAMED_SLOT_BYTES, bytes(_frames(request._packed, request.mm_info, 0))
    return PLAIN_SLOT_BYTES, request._packed


class Streams:
    """The streams of two requests, and their differences. Takes a few ms a megabyte."""

    def __init__(self, a: Request, b: Request) -> None:
        self.a, self.b = a, b
        framed = bool(a.mm_info or b.mm_info)
        (self.width, self.x), (_, self.y) = stream(a, framed), stream(b, framed)

    def common(self, i: int = 0, j: int = 0) -> int:
        """Equal slots from slot i of a and j of b on."""
        return common(self.x, i, self.y, j, self.width)

    def differences(self, start: int, block_size: int) -> Iterator[tuple[Difference, Gap | None]]:
        """All differences from slot `start` on, each after the gap of the one before it, until
        the two end. A gap of None ends it early: they do not go on equally near by.
        """
        a, b = self.a, self.b
        i = j = start
        while True:
            equal = self.common(i, j)
            i, j = i + equal, j + equal
            if i == a.total_tokens or j == b.total_tokens:
                if i != a.total_tokens or j != b.total_tokens:
                    yield ("length", i, j, a.total_tokens, b.total_tokens), (0, 0)
                return
            gap = self._gap(i, j, block_size)
            yield _classify(a, i, b, j), gap
            if gap is None:
                return
            i, j = i + gap[0], j + gap[1]

    def _gap(self, i: int, j: int, block_size: int) -> Gap | None:
        """The fewest slots to leave out of both at a difference so that they go on equally."""
        probe = min(block_size, _PROBE)
        ends_a, ends_b = _run_ends(self.a, i), _run_ends(self.b, j)
        far = max(block_size, 4 * _REACH, *ends_a, *ends_b) + _REACH
        forth = _search(self.x, i, self.y, j, self.width, probe, ends_a, far)
        back = _search(self.y, j, self.x, i, self.width, probe, ends_b, far)
        found = [gap for gap in (forth, back and back[::-1]) if gap]
        if found:
            return min(found, key=sum)
        # Near an end, fewer slots must do: all up to it, as far from here in both or from the ends.
        left = self.a.total_tokens - i, self.b.total_tokens - j
        least = min(left)
        if least > _PROBE:
            return None
        k = next(k for k in range(1, least + 1) if self.common(i + k, j + k) == least - k)
        tail = next(
            n
            for n in range(least, -1, -1)
            if self.x[len(self.x) - n * self.width :] == self.y[len(self.y) - n * self.width :]
        )
        ends = left[0] - tail, left[1] - tail
        return min((k, k), ends, key=sum)


def common(x: Sequence[int], i: int, y: Sequence[int], j: int, width: int = 1) -> int:
    """Equal leading items of `width` elements, from items i of x and j of y on.

    Halves slices, which C compares, instead of looking at elements.
    """
    i, j = i * width, j * width
    low, high = 0, min(len(x) - i, len(y) - j)
    if x[i : i + high] == y[j : j + high]:
        return high // width
    while high - low > 1:
        middle = (low + high) // 2
        if x[i + low : i + middle] == y[j + low : j + middle]:
            low = middle
        else:
            high = middle
    return low // width


def _run_at(request: Request, slot: int) -> RequestMmObjectInfo | None:
    return next((run for run in request.mm_info if run.offset <= slot < run.end), None)


def _token(request: Request, slot: int) -> int:
    return int.from_bytes(request._packed[4 * slot : 4 * slot + 4], "little")


def _run_ends(request: Request, slot: int) -> list[int]:
    """Slots from `slot` to the ends of the runs at and soon after it."""
    return [r.end - slot for r in request.mm_info if slot < r.end and r.offset < slot + _REACH]


def _search(
    x: bytes, i: int, y: bytes, j: int, width: int, probe: int, more: Iterable[int], far: int
) -> Gap | None:
    """The shortest gap that leaves few slots out of x, or just its runs, and up to far of y."""
    best = None
    for k in sorted({*range(_REACH), *more}):
        needle = x[(i + k) * width : (i + k + probe) * width]
        if len(needle) < probe * width or (best and k >= sum(best)):
            break
        stop = (j + (sum(best) - k if best else far) + probe) * width
        at = y.find(needle, j * width, stop)
        tries = 64  # of made-up tokens there could be thousands
        while at % width and at >= 0 and tries:  # equal bytes, but not slot by slot
            at = y.find(needle, at + 1, stop)
            tries -= 1
        if at >= 0 and at % width == 0:
            best = k, at // width - j
    return best


def _classify(a: Request, i: int, b: Request, j: int) -> Difference:
    """What the difference at slot i of a and j of b is, the slots before it being equal."""
    run_a, run_b = _run_at(a, i), _run_at(b, j)
    if run_a and run_b and run_a.mm_hash == run_b.mm_hash:
        return "mm_offset", i, j, run_a, run_b
    sides = ((run_a, a, i, b, j), (run_b, b, j, a, i))
    for run, _, here, other, there in sides:
        if run and run.offset < here:
            # With equal slots before, the other side's run of this object has just ended.
            twin = _run_at(other, there - 1)
            if twin and twin.mm_hash == run.mm_hash:
                return ("mm_length", i, j, *((run, twin) if other is b else (twin, run)))
    if run_a and run_b:
        return "mm_hash", i, j, run_a, run_b
    for run, own, here, other, there in sides:
        if run:
            starts = {r.offset - here for r in own.mm_info if r.mm_hash == run.mm_hash}
            for twin in other.mm_info:
                if twin.mm_hash == run.mm_hash and 0 <= twin.offset - there not in starts:
                    return ("mm_offset", i, j, *((run, twin) if other is b else (twin, run)))
    cause = "mm_coverage" if run_a or run_b else "token"
    return cause, i, j, run_a or _token(a, i), run_b or _token(b, j)
