"""Why two requests do, or do not, share a prefix (FORMAT.md, "Questions").

How many blocks are shared is read from their hashes, why they part from their slots (`slots`);
what would be shared if … is counted on edited slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from .errors import FieldTypeError, require_block_size, shown
from .multimodal import RequestMmObjectInfo
from .request import Request
from .results import Result, count
from .slots import Streams, common
from .strict_json import hex64
from .would_share import WouldShare, if_header_were_same, if_slots_were_edited

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from .slots import Difference

MAX_CAUSES = 20


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
        """The JSON form; runs with the `run_offset` of the slot, texts with code points."""
        form = super().to_dict()
        if self.token_index is not None and self.cause != "token":
            form["a"] = _slot_form(self.a, self.token_index)
            form["b"] = _slot_form(self.b, self.token_index_b)
        if self.cause in ("salt", "lora_name"):
            a, b = str(self.a or ""), str(self.b or "")
            form["code_points_a"], form["code_points_b"] = _code_points(a, b), _code_points(b, a)
            form["same_when_normalized"] = _nfc(a) == _nfc(b)
        return form


def _slot_form(it: object, slot: int | None) -> dict[str, object]:
    if not isinstance(it, RequestMmObjectInfo) or slot is None:
        return {"token": it}
    form = {"mm_hash": hex64(it.mm_hash), "offset": it.offset, "length": it.length}
    return {**form, "run_offset": slot - it.offset if it.offset <= slot < it.end else None}


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
    contracts: tuple[str, str]
    block_sizes: tuple[int, int]
    tokens: tuple[int, int]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        form = super().to_dict()
        sides = zip(*(form.pop(name) for name in self._fields[-3:]))
        form["a"], form["b"] = (
            {"contract": c, "block_size": s, "tokens": n, "blocks": n // s, "tail": n % s}
            for c, s, n in sides
        )
        form["block_size"] = self.block_sizes[0] if len({*self.block_sizes}) == 1 else None
        return form


def compare(
    a: Request,
    b: Request,
    block_size: int | Sequence[int],
    *,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """How many leading blocks `a` and `b` share at `block_size`, and why not more.

    `block_size`: one for both, or a's and b's. `names` are what the sentences call the two.
    Raises KvHashingError kinds. Costs little more than hashing both requests once.

    >>> print(compare(Request(range(40)), Request([*range(30), 9, *range(31, 36)]), 16))
    The first block (16 tokens at block size 16) is shared; token 30 (block 1, slot 14) differs: \
A has 30, B has 9; 2 blocks would be shared if that token were the same.
    """
    for name, request in (("a", a), ("b", b)):
        if not isinstance(request, Request):
            raise FieldTypeError(field=name, value=request, expected="a Request")
    two = tuple(block_size) if isinstance(block_size, (tuple, list)) else (block_size,) * 2
    if len(two) != 2:
        raise FieldTypeError(field="block_size", value=block_size, expected="one size, or two")
    return _Pair(a, b, (require_block_size(two[0]), require_block_size(two[1])), names).compare()


class _Pair:
    """Two requests while they are compared."""

    def __init__(
        self, a: Request, b: Request, sizes: tuple[int, int], names: tuple[str, str]
    ) -> None:
        self.a, self.b, self.sizes, self.names = a, b, sizes, names
        self.tokens = a.total_tokens, b.total_tokens
        self.blocks = self.tokens[0] // sizes[0], self.tokens[1] // sizes[1]
        self.shared = 0
        self.streams = Streams(a, b)
        self.equal = self.streams.common()

    def compare(self) -> Comparison:
        size = self.sizes[0]
        same: list[tuple[int, int]] = []
        if self.a.contract == self.b.contract and size == self.sizes[1]:
            hashes = self.a.block_hashes(size), self.b.block_hashes(size)
            self.shared = common(hashes[0], 0, hashes[1], 0)
            same = _same_content(*hashes, self.shared)
        causes = list(self._header_causes())
        header = [cause.cause for cause in causes]
        # After a collision of hashes, blocks are shared whose slots differ: look behind them.
        differences = self.streams.differences(self.shared * size, min(self.sizes))
        found = list(islice(differences, MAX_CAUSES + 1))
        causes += [self._slot_cause(difference) for difference, _ in found]
        if header:
            would = list(if_header_were_same(header, self.sizes, self.equal))
        elif found and causes[0].cause != "length":
            (_, at, *_), gap = found[0]
            edits = self.streams, at, gap, size, self.shared, self.names[1]
            would = list(if_slots_were_edited(*edits))
        else:
            would = []
        first = causes[0] if causes else None
        return Comparison(
            shared_blocks=self.shared,
            shared_tokens=self.shared * size,
            position=first.position if first else None,
            cause=first.cause if first else "none",
            causes=tuple(causes[:MAX_CAUSES]),
            token_index=first.token_index if first else None,
            same_content=tuple(i for i, _ in same),
            sentence=self._sentence(first, would),
            same_content_in_a=tuple(i for _, i in same),
            would_share=tuple(would),
            notes=tuple(self._notes()),
            causes_complete=len(causes) <= MAX_CAUSES and all(gap for _, gap in found[-1:]),
            equal_tokens=self.equal,
            contracts=(self.a.contract.name, self.b.contract.name),
            block_sizes=self.sizes,
            tokens=self.tokens,
        )

    def _header_causes(self) -> Iterator[Cause]:
        """Those that change every block, in the order in which they decide."""
        a, b = self.a, self.b
        pairs: tuple[tuple[str, str | int | None, str | int | None], ...] = (
            ("contract", a.contract.name, b.contract.name),
            ("block_size", *self.sizes),
            ("salt", a.salt or None, b.salt or None),
            ("lora_name", a.lora_name or None, b.lora_name or None),
        )
        for cause, left, right in pairs:
            if left != right:
                said = _said(cause, left, right), _said(cause, right, left)
                text = f"the {cause.replace('k_s', 'k s')} differs: "
                text += " and ".join(f"{n} has {what}" for n, what in zip(self.names, said))
                if left and right and _nfc(str(left)) == _nfc(str(right)):
                    text += ", which look alike (equal in NFC) but are hashed as written"
                position = 0 if any(self.blocks) else None
                values = (cause, position, None, None, None, left, right, text)
                yield Cause(**dict(zip(Cause._fields, values)))

    def _slot_cause(self, found: Difference) -> Cause:
        cause, i, j, a, b = found
        (name_a, name_b), (size_a, size_b) = self.names, self.sizes
        full = i // size_a < self.blocks[0] or j // size_b < self.blocks[1]
        place = f"block {i // size_a}, slot {i % size_a}" if full else "in the unhashed tail"
        at: tuple[int | None, ...] = (i // size_a if full else None, i, i % size_a, j)
        if cause == "length":
            at = (None,) * 4
            (end, rest), (ends, on) = (i, self.tokens[1] - j), self.names
            if i != self.tokens[0]:
                (end, rest), (ends, on) = (j, self.tokens[0] - i), self.names[::-1]
            text = f"{ends} ends after {count(end, 'token')}, {on} has {rest} more"
        else:
            text = "token " if cause == "token" else "slot "
            text += f"{i} ({place})" if i == j else f"{i} of {name_a} and {j} of {name_b}"
            text += f" differs: {name_a} has {_evidence(cause, a)}, "
            text += f"{name_b} has {_evidence(cause, b)}"
        return Cause(**dict(zip(Cause._fields, (cause, *at, a, b, text))))

    def _notes(self) -> Iterator[str]:
        a, b = self.a, self.b
        if a.lora_name and a.lora_name == b.lora_name:
            yield f"both name the adapter {shown(a.lora_name)}; {_ADAPTER}"
        for salt, lora_name in ((a.salt, b.lora_name), (b.salt, a.lora_name)):
            if salt and salt == lora_name:
                yield f"{shown(salt)} is a salt in one and a lora_name in the other: not the same"
        for name, one, two in (("salt", a.salt, b.salt), ("lora_name", a.lora_name, b.lora_name)):
            if one != two and not one and not two:
                yield f'{name} "" counts as none'
        if self.equal < self.shared * self.sizes[0]:
            yield f"the hashes of shared blocks collide: slot {self.equal} differs"
        if a.packed[: 4 * self.equal] != b.packed[: 4 * self.equal]:
            yield "token ids under runs differ, which does not matter: they are not hashed"

    def _sentence(self, first: Cause | None, would: list[WouldShare]) -> str:
        shared, fewest = self.shared, min(self.blocks)
        if fewest == 0:
            sides = zip(self.names, self.tokens, self.sizes)
            said = [f"{name} has {count(n, 'token')} for blocks of {s}" for name, n, s in sides]
            parts = [f"nothing can be shared without a full block: {', '.join(said)}"]
        elif shared == 0:
            parts = ["no block is shared"]
        else:
            which = "the first" if shared < fewest else "all" if shared > 1 else "the only"
            blocks = "block" if shared == 1 else f"{shared} blocks"
            saved = f"({count(shared * self.sizes[0], 'token')} at block size {self.sizes[0]})"
            verb = "is" if shared == 1 else "are"
            parts = [f"{which} {blocks} {saved} {verb} shared"]
        if first is None or first.cause == "length":
            parts.append("nothing differs" + (f": {first.sentence}" if first else ""))
            if self.a.lora_name and self.b.lora_name:
                parts.append(_ADAPTER)
        else:
            parts.append(first.sentence)
        best = max(would, key=lambda one: one.gain, default=None)
        if best and best.gain:
            parts.append(best.sentence)
        text = "; ".join(parts)
        return text[0].upper() + text[1:] + "."


_ADAPTER = "an adapter's identity is its name only, so adapters of one name share"


def _same_content(a: list[int], b: list[int], shared: int) -> list[tuple[int, int]]:
    """Positions of b from `shared` on, and where a has a block of that hash: best the same."""
    if shared == len(b):
        return []
    home = dict(zip(reversed(a), range(len(a) - 1, -1, -1)))
    return [
        (i, i if a[i : i + 1] == [value] else home[value])
        for i, value in enumerate(b[shared:], shared)
        if value in home
    ]


def _said(cause: str, value: str | int | None, other: str | int | None) -> str:
    if value is None or cause in ("contract", "block_size"):
        return "none" if value is None else str(value)
    alike = shown(value) == shown(other) or not f"{value}{other}".isascii()
    points = _code_points(str(value), str(other)) if other and alike else []
    return shown(value) + (f" ({' '.join(points)})" if points else "")


def _evidence(cause: str, it: RequestMmObjectInfo | int) -> str:
    if isinstance(it, int):
        return str(it) if cause == "token" else f"token {it}"
    more = {"mm_offset": f" from token {it.offset} on", "mm_length": f" in {it.length} slots"}
    return f"object {hex64(it.mm_hash)}{more.get(cause, '')}"


def _nfc(text: str) -> str:
    from unicodedata import normalize  # not at the top: few comparisons need its tables

    return normalize("NFC", text)


def _code_points(text: str, other: str) -> list[str]:
    """Those of `text` from the first character on that differs from `other`'s, at most 8."""
    shortest = min(len(text), len(other))
    first = next((i for i in range(shortest) if text[i] != other[i]), shortest)
    return [f"U+{ord(char):04X}" for char in text[first : first + 8]]
