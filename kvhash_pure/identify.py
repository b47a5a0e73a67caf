"""Which hash of a request a number seen in a log is (FORMAT.md, "Questions").

Hashes the request in every way that it could have been hashed, and says which one gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from .blocks import block_hashes
from .contract import CONTRACTS, Contract
from .errors import FieldTypeError, FieldValueError, require_block_size
from .kernel import chain
from .lineage import MAX_BLOCKS, PositionalLineageHash
from .notation import Reading, are_octets, read
from .request import Request
from .results import Result

BLOCK_SIZES = tuple(1 << n for n in range(13))
_KINDS = {"block_hash": "block hash", "sequence_hash": "sequence hash", "plh": "PLH"}
_WORDS = {"salt": "salt", "lora_name": "lora_name", "mm_info": "runs"}

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any

    # Bits and value of what was observed.
    Number = tuple[int, int]
    # What a hit is and how it was made: the fields of Match of these names.
    Way = dict[str, Any]


class Match(Result):
    """What one observed number (by index) is. `salt`, `lora_name`, `mm_info`: "given", "left_out"
    ("ignored" for runs), or "none" where the request has none. `changes`: how many of these and
    of the contract are not as the request says. Blocks, tokens: None for a salt hash.
    """

    observed: int
    notation: str
    value: str
    kind: str
    block_size: int | None
    position: int | None
    first_token: int | None
    stop_token: int | None
    contract: str
    salt: str
    lora_name: str
    mm_info: str
    changes: int
    sentence: str


class Observed(Result):
    """One number as it was given, its readings, and the indices of its matches."""

    text: str
    readings: tuple[Reading, ...]
    matches: tuple[int, ...]


class Tried(Result):
    """All combinations of these were hashed; `hashes` counts block and sequence hashes."""

    block_sizes: tuple[int, ...]
    contracts: tuple[str, ...]
    salt: tuple[str, ...]
    lora_name: tuple[str, ...]
    mm_info: tuple[str, ...]
    hashes: int


class Identification(Result):
    """What `identify` found. `found`: every observed number has a match. The matches of a number
    come by fewest changes.
    """

    found: bool
    observed: tuple[Observed, ...]
    matches: tuple[Match, ...]
    tried: Tried
    sentence: str


def identify(
    request: Request,
    observed: object,
    *,
    block_size: int | None = None,
    block_sizes: Sequence[int] | None = None,
) -> Identification:
    """Which hash of `request` is `observed`: which block, which kind, hashed in which way.

    `observed`: an int (u64, i64, u128), text (decimal, hex with or without 0x, base58, a PLH's
    text, a JSON list of 16 bytes), 16 bytes, a PositionalLineageHash, or a list of such. Text that
    can be read in several ways is read in all. `block_size` is what the request is believed to
    have, tried before the powers of two from 1 to 4096; `block_sizes` are tried instead of these.
    Each is tried under all contracts, with salt, lora_name and runs, and without.

    Raises KvHashingError kinds. Costs hashing the request 26 times, 208 times if it has all three.
    """
    if not isinstance(request, Request):
        raise FieldTypeError(field="request", value=request, expected="a Request")
    if block_sizes is None:
        block_sizes = [*([] if block_size is None else [block_size]), *BLOCK_SIZES]
    elif not isinstance(block_sizes, (list, tuple, range)):
        expected = "a list of block sizes"
        raise FieldTypeError(field="block_sizes", value=block_sizes, expected=expected)
    several = isinstance(observed, (list, tuple)) and not are_octets(observed)
    items = list(observed) if several else [observed]  # type: ignore[call-overload]
    for field, given in (("observed", items), ("block_sizes", block_sizes)):
        if not given:
            raise FieldValueError(field=field, value=[], expected="at least one")
    tried = _to_try(request, tuple(dict.fromkeys(map(require_block_size, block_sizes))))
    readings = [read(item, i if several else None) for i, item in enumerate(items)]
    wanted: dict[Number, list[tuple[int, Reading]]] = {}
    for i, one in enumerate(readings):
        for reading in one:
            wanted.setdefault((reading.bits, reading.value), []).append((i, reading))
    matches = [
        _match(request, i, reading, way)
        for number, way in _search(request, tried, {r for one in readings for r in one})
        for i, reading in wanted[number]
    ]
    matches.sort(key=lambda match: (match.observed, match.changes))
    seen = tuple(
        Observed(
            text=bytes(item).hex() if isinstance(item, (bytes, bytearray)) else str(item).strip(),
            readings=readings[i],
            matches=tuple(n for n, match in enumerate(matches) if match.observed == i),
        )
        for i, item in enumerate(items)
    )
    return Identification(
        found=all(one.matches for one in seen),
        observed=seen,
        matches=tuple(matches),
        tried=tried,
        sentence=_sentence(seen, matches, tried),
    )


def _to_try(request: Request, sizes: tuple[int, ...]) -> Tried:
    contracts = sorted(CONTRACTS, key=lambda contract: contract != request.contract)
    salt, lora_name = (
        ("given", "left_out") if text else ("none",) for text in (request.salt, request.lora_name)
    )
    mm_info = ("given", "ignored") if request.mm_info else ("none",)
    passes = len(contracts) * len(salt) * len(lora_name) * len(mm_info)
    return Tried(
        block_sizes=sizes,
        contracts=tuple(contract.name for contract in contracts),
        salt=salt,
        lora_name=lora_name,
        mm_info=mm_info,
        hashes=2 * passes * sum(_blocks(request, size) for size in sizes),
    )


def _blocks(request: Request, size: int) -> int:
    return min(request.total_tokens // size, MAX_BLOCKS)


def _search(request: Request, tried: Tried, wanted: set[Reading]) -> Iterator[tuple[Number, Way]]:
    """All numbers that are wanted and found, in each way that makes them."""
    hashes = {reading.value for reading in wanted if reading.bits == 64}
    plhs = {plh for reading in wanted if (plh := reading.plh) is not None}
    for contract, salt, lora_name in product(tried.contracts, tried.salt, tried.lora_name):
        rules = Contract.named(contract)
        seed = rules.salt_hash(
            request.salt if salt == "given" else None,
            request.lora_name if lora_name == "given" else None,
        )
        way = {"contract": contract, "salt": salt, "lora_name": lora_name}
        place: Way
        if seed in hashes:
            place = {"kind": "salt_hash", "block_size": None, "position": None}
            yield (64, seed), {**way, **place, "mm_info": tried.mm_info[0]}
        for size in tried.block_sizes:
            # A block that runs do not touch is found with them; not again without them.
            found: set[tuple[Number, str, int]] = set()
            for mm_info in tried.mm_info:
                runs = request.mm_info if mm_info == "given" else ()
                blocks = block_hashes(request.packed, size, runs, seed, 0, _blocks(request, size))
                hits = {*_hits(hashes, plhs, blocks, chain(blocks, rules.chain_seed))} - found
                for number, kind, position in sorted(hits, key=lambda hit: hit[1:]):
                    place = {"kind": kind, "block_size": size, "position": position}
                    yield number, {**way, **place, "mm_info": mm_info}
                found |= hits


def _hits(
    hashes: set[int], plhs: set[PositionalLineageHash], blocks: list[int], sequence: list[int]
) -> Iterator[tuple[Number, str, int]]:
    """(number, kind, position) of those that are wanted."""
    for kind, line in (("block_hash", blocks), ("sequence_hash", sequence)):
        for value in hashes.intersection(line):
            yield from (((64, value), kind, i) for i, made in enumerate(line) if made == value)
    for plh in plhs:
        at = plh.position
        if at < len(sequence):
            parent = sequence[at - 1] if at else None
            if plh == PositionalLineageHash.new(sequence[at], parent, at):
                yield (128, int(plh)), "plh", at


def _match(request: Request, observed: int, reading: Reading, way: Way) -> Match:
    own, contract, size = request.contract.name, way["contract"], way["block_size"]
    first = stop = None
    text = f"{reading.hex} is the salt hash"
    if size is not None:
        first, stop = way["position"] * size, way["position"] * size + size
        text = f"{reading.hex} is the {_KINDS[way['kind']]} of block {way['position']} (tokens "
        text += f"{first} to {stop - 1}) at block size {size}"
    changes = [f"under contract {contract} instead of {own}"] * (contract != own)
    for field, word in _WORDS.items():
        verb = {"left_out": "is left out", "ignored": "are ignored"}.get(way[field])
        changes += [f"when the {word} {verb}"] if verb else []
    text += f": what you get {' and '.join(changes)}" if changes else f" under contract {own}"
    return Match(
        observed=observed,
        notation=reading.notation,
        value=reading.hex,
        first_token=first,
        stop_token=stop,
        changes=len(changes),
        sentence=text,
        **way,
    )


def _sentence(seen: tuple[Observed, ...], matches: list[Match], tried: Tried) -> str:
    missing = [one.text for one in seen if not one.matches]
    parts: list[str] = []
    if len(seen) > 1:
        parts.append(f"{len(seen) - len(missing)} of {len(seen)} are hashes of this request")
    if matches:
        more = f" ({len(matches)} matches in all)" if len(matches) > 1 else ""
        parts.append(matches[0].sentence + more)
    if missing:
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        sizes, contracts = ", ".join(map(str, tried.block_sizes)), " and ".join(tried.contracts)
        text = f"{', '.join(missing[:4])}{more} {'is' if len(missing) == 1 else 'are'} none of the "
        text += f"{tried.hashes} hashes tried: block, sequence and PLH, block sizes {sizes}, "
        text += f"contracts {contracts}"
        left_out = [word for field, word in _WORDS.items() if len(getattr(tried, field)) > 1]
        parts.append(text + "".join(f", {word} given and left out" for word in left_out))
    return "; ".join(parts) + "."
