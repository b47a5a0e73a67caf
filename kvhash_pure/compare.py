"""Why two requests do, or do not, share a prefix (FORMAT.md, "Questions").

How many blocks are shared is read from their hashes; why they part, and what they would share if
they did not, from their slots (`slots`). Here are the causes that are no slots, and the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from .errors import FieldTypeError, require_block_size, shown
from .multimodal import RequestMmObjectInfo
from .request import Request
from .results import Result, count
from .slots import Streams, common
from .strict_json import hex64
from .values import restore
from .would_share import WouldShare, if_headers_were_same, if_slots_were_edited

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from .slots import Difference

MAX_CAUSES = 20
_ADAPTER = "an adapter's identity is its name only, so adapters of one name share"


class Cause(Result):
    """One difference. `cause` is its identifier; `a` and `b` are the evidence: contract names,
    block sizes, texts or None, tokens, runs, token counts. `token_index` is a's, `slot` counts
    in a's block; `position` is None where no full block holds the slot.
    """

    cause: str
    position: int | None
    token_index: int | None
    slot: int | None
    token_index_b: int | None
    a: RequestMmObjectInfo | int | str | None
    b: RequestMmObjectInfo | int | str | None
    sentence: str

    def to_dict(self) -> dict[str, object]:
        """The JSON form; a run comes with the `run_offset` of the slot."""
        form = super().to_dict()
        sides = (("a", self.a, self.token_index), ("b", self.b, self.token_index_b))
        for side, it, slot in sides:
            if isinstance(it, RequestMmObjectInfo) and slot is not None:
                at = slot - it.offset if it.offset <= slot < it.end else None
                run = (hex64(it.mm_hash), it.offset, it.length, at)
                form[side] = dict(zip(("mm_hash", "offset", "length", "run_offset"), run))
            elif self.cause.startswith("mm_"):
                form[side] = {"token": it}
        return form


class Side(Result):
    """One of the two requests: full blocks, and the tokens that come after them."""

    name: str
    contract: str
    block_size: int
    tokens: int
    blocks: int
    tail: int


class Comparison(Result):
    """What `compare` found. `causes` has what decides first. `same_content` lists b's positions
    whose block a has too (at `same_content_in_a`), but with another lineage: not reusable.
    `equal_tokens` leading slots are equal, whatever salt, contract and block size are.
    """

    shared_blocks: int
    shared_tokens: int
    position: int | None
    cause: str
    causes: tuple[Cause, ...]
    token_index: int | None
    same_content: tuple[int, ...]
    sentence: str
    same_content_in_a: tuple[int, ...]
    would_share: tuple[WouldShare, ...]
    notes: tuple[str, ...]
    causes_complete: bool
    equal_tokens: int
    a: Side
    b: Side
    block_size: int | None


def compare(
    a: Request, b: Request, block_size: int | Sequence[int], *, names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """How many leading blocks `a` and `b` share at `block_size`, and why not more.

    `block_size`: one for both, or a's and b's. `names` are what the sentences call the two.
    Raises KvHashingError kinds. Costs little more than hashing both requests once.

    >>> print(compare(Request(range(40)), Request([*range(30), 9, *range(31, 36)]), 16))
    The first block (16 tokens at block size 16) is shared; token 30 (block 1, slot 14) differs: \
A has 30, B has 9; 2 blocks would be shared if that token came last.
    """
    for name, request in (("a", a), ("b", b)):
        if not isinstance(request, Request):
            raise FieldTypeError(field=name, value=request, expected="a Request")
    if not isinstance(names, (tuple, list)) or [type(name) for name in names] != [str, str]:
        raise FieldTypeError(field="names", value=names, expected="two texts")
    sizes = block_size if isinstance(block_size, (tuple, list)) else (block_size, block_size)
    if len(sizes) != 2:
        raise FieldTypeError(field="block_size", value=block_size, expected="one size, or two")
    side_a, side_b = sides = _side(names[0], a, sizes[0]), _side(names[1], b, sizes[1])
    size = side_a.block_size
    shared = 0
    same: list[tuple[int, int]] = []
    if a.contract == b.contract and size == side_b.block_size:
        hashes = a.block_hashes(size), b.block_hashes(size)
        shared = common(hashes[0], 0, hashes[1], 0)
        same = _same_content(*hashes, shared)
    streams = Streams(a, b)
    equal = streams.common()
    causes = list(_header_causes(a, b, sides))
    # After a collision of hashes, blocks are shared whose slots differ: look behind them.
    differences = streams.differences(shared * size, min(size, side_b.block_size))
    found = list(islice(differences, MAX_CAUSES + 1))
    would: Iterable[WouldShare] = ()
    if causes:
        header = [cause.cause for cause in causes]
        would = if_headers_were_same(header, (size, side_b.block_size), equal)
    elif found and found[0][0][0] != "length":
        (_, at, *_), gap = found[0]
        would = if_slots_were_edited(streams, at, gap or (1, 1), size, shared, side_b.name)
    would = tuple(would)
    causes += [_slot_cause(difference, *sides) for difference, _ in found]
    first = causes[0] if causes else None
    notes = tuple(_notes(a, b, equal, shared * size))
    return Comparison(
        shared_blocks=shared,
        shared_tokens=shared * size,
        position=first.position if first else None,
        cause=first.cause if first else "none",
        causes=tuple(causes[:MAX_CAUSES]),
        token_index=first.token_index if first else None,
        same_content=tuple(i for i, _ in same),
        sentence=_sentence(shared, sides, first, would, notes),
        same_content_in_a=tuple(i for _, i in same),
        would_share=would,
        notes=notes,
        causes_complete=len(causes) <= MAX_CAUSES and all(gap for _, gap in found[-1:]),
        equal_tokens=equal,
        a=side_a,
        b=side_b,
        block_size=size if size == side_b.block_size else None,
    )


def _side(name: str, request: Request, block_size: object) -> Side:
    size, tokens = require_block_size(block_size), request.total_tokens
    return restore(Side, (name, request.contract.name, size, tokens, *divmod(tokens, size)))


def _same_content(a: list[int], b: list[int], shared: int) -> list[tuple[int, int]]:
    """Positions of b from `shared` on, and where a has a block of that hash: best the same."""
    home = dict(zip(reversed(a), range(len(a) - 1, -1, -1))) if shared < len(b) else {}
    return [
        (i, i if a[i : i + 1] == [value] else home[value])
        for i, value in enumerate(b[shared:], shared)
        if value in home
    ]


def _header_causes(a: Request, b: Request, sides: tuple[Side, Side]) -> Iterator[Cause]:
    """Those that change every block, in the order in which they decide."""
    pairs: tuple[tuple[str, str | int | None, str | int | None], ...] = (
        ("contract", a.contract.name, b.contract.name),
        ("block_size", sides[0].block_size, sides[1].block_size),
        ("salt", a.salt or None, b.salt or None),
        ("lora_name", a.lora_name or None, b.lora_name or None),
    )
    position = 0 if any(side.blocks for side in sides) else None
    for cause, left, right in pairs:
        if left != right:
            says = _said(cause, left, right), _said(cause, right, left)
            text = f"the {cause.replace('block_size', 'block size')} differs: "
            text += " and ".join(f"{side.name} has {said}" for side, said in zip(sides, says))
            if left and right and _nfc(str(left)) == _nfc(str(right)):
                text += ", which look alike (equal in NFC) but are hashed as written"
            yield restore(Cause, (cause, position, None, None, None, left, right, text))


def _said(cause: str, value: str | int | None, other: str | int | None) -> str:
    """A value in words; code points from where two texts part, if they are hard to tell apart."""
    if value is None or cause in ("contract", "block_size"):
        return "none" if value is None else str(value)
    text, against = str(value), str(other or "")
    if not against or (f"{text}{against}".isascii() and shown(text) != shown(against)):
        return shown(text)
    part = common(text, 0, against, 0)
    points = [f"U+{ord(char):04X}" for char in text[part : part + 8]]
    return f"{shown(text)} ({' '.join(points)})" if points else shown(text)


def _nfc(text: str) -> str:
    from unicodedata import normalize  # not at the top: few comparisons need its tables

    return normalize("NFC", text)


def _slot_cause(found: Difference, side_a: Side, side_b: Side) -> Cause:
    cause, i, j, a, b = found
    if cause == "length":
        more_a, more_b = side_a.tokens - i, side_b.tokens - j
        ends, end, on = (side_a, i, side_b) if more_b else (side_b, j, side_a)
        text = f"{ends.name} ends after {count(end, 'token')}, {on.name} has {more_a + more_b} more"
        return restore(Cause, (cause, None, None, None, None, a, b, text))
    position, slot = divmod(i, side_a.block_size)
    full = position < side_a.blocks or j // side_b.block_size < side_b.blocks
    place = f"block {position}, slot {slot}" if full else "in the unhashed tail"
    text = "token " if cause == "token" else "slot "
    text += f"{i} ({place})" if i == j else f"{i} of {side_a.name} and {j} of {side_b.name}"
    text += f" differs: {side_a.name} has {_evidence(cause, a)}, "
    text += f"{side_b.name} has {_evidence(cause, b)}"
    return restore(Cause, (cause, position if full else None, i, slot, j, a, b, text))


def _evidence(cause: str, it: RequestMmObjectInfo | int) -> str:
    if isinstance(it, int):
        return str(it) if cause == "token" else f"token {it}"
    more = {"mm_offset": f" from token {it.offset} on", "mm_length": f" in {it.length} slots"}
    return f"object {hex64(it.mm_hash)}{more.get(cause, '')}"


def _notes(a: Request, b: Request, equal: int, shared: int) -> Iterator[str]:
    """What does not count or is easily mixed up; `equal` slots are equal, `shared` are shared."""
    if a.lora_name and a.lora_name == b.lora_name:
        yield _ADAPTER
    for salt, lora_name in ((a.salt, b.lora_name), (b.salt, a.lora_name)):
        if salt and salt == lora_name:
            yield f"{shown(salt)} is a salt in one and a lora_name in the other: not the same"
    for name, one, two in (("salt", a.salt, b.salt), ("lora_name", a.lora_name, b.lora_name)):
        if one != two and not one and not two:
            yield f'{name} "" counts as none'
    if equal < shared:
        yield f"the hashes of shared blocks collide: slot {equal} differs"
    if a.packed[: 4 * equal] != b.packed[: 4 * equal]:
        yield "token ids under runs differ, which does not matter: they are not hashed"


def _sentence(
    shared: int,
    sides: Sequence[Side],
    first: Cause | None,
    would: Sequence[WouldShare],
    notes: Sequence[str],
) -> str:
    fewest = min(side.blocks for side in sides)
    if fewest == 0:
        has = [
            f"{side.name} has {count(side.tokens, 'token')} for blocks of {side.block_size}"
            for side in sides
        ]
        parts = [f"nothing can be shared without a full block: {', '.join(has)}"]
    elif shared == 0:
        parts = ["no block is shared"]
    else:
        size = sides[0].block_size
        which = "the first" if shared < fewest else "all" if shared > 1 else "the only"
        blocks, verb = ("block", "is") if shared == 1 else (f"{shared} blocks", "are")
        saved = f"{count(shared * size, 'token')} at block size {size}"
        parts = [f"{which} {blocks} ({saved}) {verb} shared"]
    if first and first.cause != "length":
        parts.append(first.sentence)
    else:
        parts.append("nothing differs" + (f": {first.sentence}" if first else ""))
        parts += [note for note in notes if note == _ADAPTER]
    best = max(would, key=lambda one: one.gain, default=None)
    if best and best.gain:
        parts.append(best.sentence)
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."
