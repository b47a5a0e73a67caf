"""What two requests would share if one thing about them were another (FORMAT.md, "Questions").

Counted anew on edited slots, never estimated.
"""

from __future__ import annotations

from collections.abc import Iterator

from .results import Result, count
from .slots import Streams, common
from .values import restore


class WouldShare(Result):
    """An answer to "would be shared if …": after one `change` (`by` so many slots, or to that
    block size) `shared_blocks` are shared, `gain` more; `same_content` blocks match unshared.
    """

    change: str
    by: int | None
    shared_blocks: int
    gain: int
    same_content: int | None
    sentence: str


def if_headers_were_same(
    header: list[str], sizes: tuple[int, int], equal: int
) -> Iterator[WouldShare]:
    """Each of the causes `header`, which share nothing now, made equal alone; then all of them.

    `equal` leading slots are equal.
    """
    changes = [[cause] for cause in header]
    if len(header) > 1:
        changes.append(header)
    for change in changes:
        resized = "block_size" in change
        for size in sizes if resized else sizes[:1]:
            shared = equal // size if change == header else 0
            text = " and ".join(change).replace("block_size", f"block size ({size})")
            by = size if resized else None
            yield _would("+".join(change), by, shared, 0, f"both had the same {text}")


def if_slots_were_edited(
    streams: Streams, at: int, gap: tuple[int, int], size: int, now: int, name: str
) -> Iterator[WouldShare]:
    """A difference at slot `at` of both undone in three ways: moved out, put last, made equal.

    `now` blocks are shared; `name` is what the second request is called.
    """
    x, y, width = streams.x, streams.y, streams.width
    start, end_x, end_y = (slot * width for slot in (at, at + gap[0], at + gap[1]))

    def shared(x: bytes, y: bytes) -> int:
        return common(x, 0, y, 0, width) // size

    # A shift of up to one block is undone; of a longer one, what is left of it in a block.
    shift = gap[1] - gap[0]
    if abs(shift) > size:
        shift %= size
        if shift > min(size - shift, gap[1]):
            shift -= size
    if shift:
        moved = y[: end_y - shift * width] + y[end_y:]
        if shift < 0:
            filler = (bytes(-shift * width) + x[:end_x])[shift * width :]
            moved = y[:end_y] + filler + y[end_y:]
        blocks, step = shared(x, moved), size * width
        known = {x[i : i + step] for i in range(0, len(x) - step + 1, step)}
        later = range(blocks * step, len(moved) - step + 1, step)
        same = sum(moved[i : i + step] in known for i in later)
        text = f"the rest of {name} came {count(abs(shift), 'token')} "
        text += "earlier" if shift > 0 else "later"
        yield _would("tail", -shift, blocks, now, text, same)
    these = "that token" if max(gap) == 1 else f"those {max(gap)} tokens"
    x_last = x[:start] + x[end_x:] + x[start:end_x]
    y_last = y[:start] + y[end_y:] + y[start:end_y]
    yield _would("last", None, shared(x_last, y_last), now, f"{these} came last")
    y_same = y[:start] + x[start:end_x] + y[end_y:]
    made = "not there" if not gap[0] else "the same" if gap[1] else "in both"
    yield _would("same", None, shared(x, y_same), now, f"{these} were {made}")


def _would(
    change: str, by: int | None, shared: int, now: int, condition: str, same: int | None = None
) -> WouldShare:
    gain = shared - now
    text = f"{'' if gain else 'still '}{count(shared, 'block')} would be shared if {condition}"
    if same:
        text += f" (and {same} more would have the same content, but not be reusable)"
    return restore(WouldShare, (change, by, shared, gain, same, text))
