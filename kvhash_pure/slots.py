"""Two requests slot by slot: where they differ, what kind of difference it is, and where they go
on equally after it (FORMAT.md, "Questions"). Knows nothing of salts, contracts and hashes.

A stream is what is hashed of each slot: packed tokens, or 13-byte frames where either request has
runs. So what is not hashed, such as ids under a run or how runs are listed, cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .encoding import FRAMED_SLOT_BYTES, PLAIN_SLOT_BYTES, framed_slots
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

# After a difference, so many equal slots count as being aligned again (fewer in small blocks).
# They are looked for as far away as a block, within these bounds, or as runs near by go.
_PROBE = 8
_NEAR, _FAR = 1 << 10, 1 << 14


def stream(request: Request, framed: bool) -> tuple[int, bytes]:
    """Bytes a slot, and what is hashed of each slot; requests with runs must be `framed`."""
    if framed:
        return FRAMED_SLOT_BYTES, bytes(framed_slots(request.packed, request.mm_info, 0))
    return PLAIN_SLOT_BYTES, request.packed


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
        found = self._search(i, j, min(block_size, _PROBE), max(min(block_size, _FAR), _NEAR))
        if found:
            return found
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

    def _search(self, i: int, j: int, probe: int, far: int) -> Gap | None:
        """The smallest gap after which `probe` slots are equal, up to `far` slots away."""
        width, size = self.width, probe * self.width
        start_x, start_y = i * width, j * width
        seen_x: dict[bytes, int] = {}
        seen_y: dict[bytes, int] = {}
        far = max([far, *_run_ends(self.a, i, far), *_run_ends(self.b, j, far)])
        best: Gap | None = None
        n = 0
        # A gap smaller than the best so far leaves out less than its sum of either.
        while n < (sum(best) if best else far + probe):
            part_x = self.x[start_x + n * width : start_x + n * width + size]
            part_y = self.y[start_y + n * width : start_y + n * width + size]
            if len(part_x) == size:
                seen_x.setdefault(part_x, n)
            if len(part_y) == size:
                seen_y.setdefault(part_y, n)
            gaps = [best] if best else []
            if part_x in seen_y:
                gaps.append((n, seen_y[part_x]))
            if part_y in seen_x:
                gaps.append((seen_x[part_y], n))
            best = min(gaps, key=sum, default=None)
            n += 1
        return best


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
    return int.from_bytes(request.packed[4 * slot : 4 * slot + 4], "little")


def _run_ends(request: Request, slot: int, far: int) -> list[int]:
    """Slots from `slot` to the ends of the runs at it and up to `far` after it."""
    return [r.end - slot for r in request.mm_info if slot < r.end and r.offset < slot + far]


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
