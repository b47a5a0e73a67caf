"""Two requests slot by slot: where they differ, what kind of difference it is, and where they go
on equally after it (FORMAT.md, "Questions"). Knows nothing of salts, contracts and hashes.

A stream is what is hashed of each slot: packed tokens, or 13-byte frames where any request has
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

# After a difference, so many equal slots (fewer in smaller blocks) count as being aligned again;
# they are looked for so many slots away.
_PROBE, _FAR = 8, 1 << 14


def streams_of(requests: Sequence[Request]) -> tuple[int, list[bytes]]:
    """Bytes a slot, and the stream of each request."""
    if any(request.mm_info for request in requests):
        frames = (framed_slots(request.packed, request.mm_info, 0) for request in requests)
        return FRAMED_SLOT_BYTES, [*map(bytes, frames)]
    return PLAIN_SLOT_BYTES, [request.packed for request in requests]


def common(x: Sequence[object], i: int, y: Sequence[object], j: int, width: int = 1) -> int:
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


class Streams:
    """The streams x and y of two requests, and their differences."""

    def __init__(self, a: Request, b: Request) -> None:
        self.a, self.b = a, b
        self.width, (self.x, self.y) = streams_of([a, b])

    def common(self, i: int = 0, j: int = 0) -> int:
        """Equal slots from slot i of a and j of b on."""
        return common(self.x, i, self.y, j, self.width)

    def differences(self, start: int, block_size: int) -> Iterator[tuple[Difference, Gap | None]]:
        """All differences from slot `start` on, each after the gap of the one before it, until
        the two end. A gap of None ends it early: they do not go on equally near by.
        """
        ends = self.a.total_tokens, self.b.total_tokens
        i = j = start
        while True:
            equal = self.common(i, j)
            i, j = i + equal, j + equal
            if i == ends[0] or j == ends[1]:
                if (i, j) != ends:
                    yield ("length", i, j, *ends), (0, 0)
                return
            gap = self._gap(i, j, min(block_size, _PROBE))
            yield _classify(self.a, i, self.b, j), gap
            if gap is None:
                return
            i, j = i + gap[0], j + gap[1]

    def _gap(self, i: int, j: int, probe: int) -> Gap | None:
        """The fewest slots to leave out at a difference so that `probe` equal ones follow, or
        fewer ones near an end: all up to it, as far from here in both, or as far from the ends.
        """
        width, size = self.width, probe * self.width
        reach = _FAR + 2 * probe  # so that no part below is cut short but by an end
        x = self.x[i * width : (i + reach) * width]
        y = self.y[j * width : (j + reach) * width]
        near_end = min(len(x), len(y)) <= _PROBE * width
        seen_x: dict[bytes, int] = {}
        seen_y: dict[bytes, int] = {}
        best: Gap | None = None
        n = 0
        # A gap smaller than the best so far leaves out less than its sum of either.
        while n < (sum(best) if best else _FAR + probe):
            part_x, part_y = (part[n * width : n * width + size] for part in (x, y))
            for part, seen in ((part_x, seen_x), (part_y, seen_y)):
                if len(part) == size or near_end:
                    seen.setdefault(part, n)
            gaps = [best] if best else []
            if part_x in seen_y:
                gaps.append((n, seen_y[part_x]))
            if part_y in seen_x:
                gaps.append((seen_x[part_y], n))
            if near_end and part_x[: len(part_y)] == part_y[: len(part_x)]:
                gaps.append((n, n))
            best = min(gaps, key=sum, default=None)
            n += 1
        return best


def _classify(a: Request, i: int, b: Request, j: int) -> Difference:
    """What the difference at slot i of a and j of b is, the slots before it being equal."""
    run_a, run_b = _run_at(a, i), _run_at(b, j)
    if run_a and run_b and run_a.mm_hash == run_b.mm_hash:
        return "mm_offset", i, j, run_a, run_b
    before_a, before_b = _run_at(a, i - 1), _run_at(b, j - 1)
    one_goes_on = before_a == run_a or before_b == run_b
    if one_goes_on and before_a and before_b and before_a.mm_hash == before_b.mm_hash:
        return "mm_length", i, j, before_a, before_b
    if run_a and run_b:
        return "mm_hash", i, j, run_a, run_b
    twin_a, twin_b = run_a or _moved(run_b, b, j, a, i), run_b or _moved(run_a, a, i, b, j)
    if twin_a and twin_b:
        return "mm_offset", i, j, twin_a, twin_b
    cause = "mm_coverage" if run_a or run_b else "token"
    return cause, i, j, run_a or _token(a, i), run_b or _token(b, j)


def _run_at(request: Request, slot: int) -> RequestMmObjectInfo | None:
    return next((run for run in request.mm_info if run.offset <= slot < run.end), None)


def _moved(
    run: RequestMmObjectInfo | None, own: Request, here: int, other: Request, there: int
) -> RequestMmObjectInfo | None:
    """Where the object of a run at slot `here` comes in the other request from `there` on, if it
    does not come in that place of its own request too.
    """
    starts, twins = (
        {r.offset - slot: r for r in request.mm_info if run and r.mm_hash == run.mm_hash}
        for request, slot in ((own, here), (other, there))
    )
    return next((twins[at] for at in twins if at >= 0 and at not in starts), None)


def _token(request: Request, slot: int) -> int:
    return int.from_bytes(request.packed[4 * slot : 4 * slot + 4], "little")
