"""Which hash of a request a number seen in a log is (FORMAT.md, "Questions").

Hashes the request in every way that it could have been hashed, and says which one gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from .blocks import block_hashes
from .contract import CONTRACTS
from .encoding import touched_blocks
from .errors import FieldTypeError, FieldValueError, require_block_size
from .kernel import chain
from .lineage import MAX_BLOCKS, PositionalLineageHash
from .notation import Reading, are_octets, read
from .request import Request
from .results import Result

BLOCK_SIZES = tuple(1 << n for n in range(13))
_KINDS = {"block_hash": "block hash", "sequence_hash": "sequence hash", "plh": "PLH"}

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    # Block hashes and sequence hashes.
    Lines = tuple[list[int], list[int]]
    # Contract, and what was done with salt, lora_name and runs.
    Way = tuple[str, str, str, str]


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
    sizes = tuple(dict.fromkeys(require_block_size(size) for size in block_sizes))
    several = isinstance(observed, (list, tuple)) and not are_octets(observed)
    items = list(observed) if several else [observed]  # type: ignore[call-overload]
    if not items or not sizes:
        field = "block_sizes" if items else "observed"
        raise FieldValueError(field=field, value=[], expected="at least one")
    readings = [read(item, i if several else None) for i, item in enumerate(items)]
    wanted: dict[tuple[int, int], list[tuple[int, Reading]]] = {}
    for i, one in enumerate(readings):
        for reading in one:
            wanted.setdefault((reading.bits, reading.value), []).append((i, reading))

    contracts = sorted(CONTRACTS, key=lambda contract: contract != request.contract)
    salts = ("given", "left_out") if request.salt else ("none",)
    names = ("given", "left_out") if request.lora_name else ("none",)
    runs = ("given", "ignored") if request.mm_info else ("none",)
    matches: list[Match] = []
    hashes = 0
    for contract, salt, name in product(contracts, salts, names):
        seed = contract.salt_hash(
            request.salt if salt == "given" else None,
            request.lora_name if name == "given" else None,
        )
        # What was done with the runs, block size (None: no block), kind, position, reading.
        hits: list[tuple[str, int | None, str, int, tuple[int, int]]] = []
        if (64, seed) in wanted:
            hits.append((runs[0], None, "salt_hash", 0, (64, seed)))
        for size in sizes:
            done: Lines | None = None
            for mm_info in runs:
                blocks = _block_hashes(request, size, seed, done and done[0])
                lines = blocks, chain(blocks, contract.chain_seed)
                hits += [(mm_info, size, *hit) for hit in _hits(wanted, lines, done)]
                hashes += 2 * len(blocks)
                done = lines
        for mm_info, own, kind, position, key in hits:
            way = contract.name, salt, name, mm_info
            for i, reading in wanted[key]:
                matches.append(_match(request, i, reading, own, kind, position, way))
    matches.sort(key=lambda match: (match.observed, match.changes))
    given = tuple(
        Observed(
            text=bytes(item).hex() if isinstance(item, (bytes, bytearray)) else str(item).strip(),
            readings=readings[i],
            matches=tuple(n for n, match in enumerate(matches) if match.observed == i),
        )
        for i, item in enumerate(items)
    )
    tried = Tried(
        block_sizes=sizes,
        contracts=tuple(contract.name for contract in contracts),
        salt=salts,
        lora_name=names,
        mm_info=runs,
        hashes=hashes,
    )
    return Identification(
        found=all(one.matches for one in given),
        observed=given,
        matches=tuple(matches),
        tried=tried,
        sentence=_sentence(given, matches, tried),
    )


def _block_hashes(request: Request, size: int, seed: int, given: list[int] | None) -> list[int]:
    """As the request says; or, from what was `given`, with its runs ignored."""
    stop = min(request.total_tokens // size, MAX_BLOCKS)
    if given is None:
        return block_hashes(request.packed, size, request.mm_info, seed, 0, stop)
    ignored = given[:]
    for first, last, _ in touched_blocks(request.mm_info, size, 0, stop):
        ignored[first:last] = block_hashes(request.packed, size, (), seed, first, last)
    return ignored


def _hits(
    wanted: Iterable[tuple[int, int]], lines: Lines, done: Lines | None
) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """(kind, position, (bits, value)) of wanted hashes that were not the same `done` before."""
    numbers = {value for bits, value in wanted if bits == 64}
    for k, kind in enumerate(("block_hash", "sequence_hash")):
        there = numbers.intersection(lines[k])
        for position, value in enumerate(lines[k] if there else ()):
            if value in there and not (done and done[k][position] == value):
                yield kind, position, (64, value)
    for bits, value in wanted:
        plh = Reading(notation="", bits=bits, value=value).plh
        if plh is None or plh.position >= len(lines[1]):
            continue
        at = slice(max(plh.position - 1, 0), plh.position + 1)
        *before, current = lines[1][at]
        made = PositionalLineageHash.new(current, before[0] if before else None, plh.position)
        if made == plh and not (done and done[1][at] == lines[1][at]):
            yield "plh", plh.position, (128, value)


def _match(
    request: Request,
    observed: int,
    reading: Reading,
    size: int | None,
    kind: str,
    position: int,
    way: Way,
) -> Match:
    contract, salt, name, mm_info = way
    own = request.contract.name
    at: tuple[int | None, ...] = (None,) * 4
    text = f"{reading.hex} is the salt hash"
    if size is not None:
        first, stop = position * size, (position + 1) * size
        at = (size, position, first, stop)
        text = f"{reading.hex} is the {_KINDS[kind]} of block {position} (tokens {first} to "
        text += f"{stop - 1}) at block size {size}"
    changes = [f"under contract {contract} instead of {own}"] if contract != own else []
    changes += ["when the salt is left out"] * (salt == "left_out")
    changes += ["when the lora_name is left out"] * (name == "left_out")
    changes += ["when the runs are ignored"] * (mm_info == "ignored")
    text += f": what you get {' and '.join(changes)}" if changes else f" under contract {own}"
    values = (observed, reading.notation, reading.hex, kind, *at, *way, len(changes), text)
    return Match(**dict(zip(Match._fields, values)))


def _sentence(given: tuple[Observed, ...], matches: list[Match], tried: Tried) -> str:
    missing = [one.text for one in given if not one.matches]
    parts: list[str] = []
    if len(given) > 1:
        parts.append(f"{len(given) - len(missing)} of {len(given)} are hashes of this request")
    if matches:
        more = f" ({len(matches)} matches in all)" if len(matches) > 1 else ""
        parts.append(matches[0].sentence + more)
    if missing:
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        text = f"{', '.join(missing[:4])}{more} {'is' if len(missing) == 1 else 'are'} none of the "
        text += f"{tried.hashes} hashes tried: block, sequence and PLH, block sizes "
        text += (
            f"{', '.join(map(str, tried.block_sizes))}, contracts {' and '.join(tried.contracts)}"
        )
        ways = (("salt", tried.salt), ("lora_name", tried.lora_name), ("runs", tried.mm_info))
        text += "".join(f", {word} given and left out" for word, way in ways if len(way) > 1)
        parts.append(text)
    return "; ".join(parts) + "."
