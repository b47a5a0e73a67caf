"""Replays a trace against prefix caches of several sizes and reports how often they would have hit.

    python3 examples/simulate_prefix_cache.py examples/trace.jsonl
    pypy3 examples/simulate_prefix_cache.py TRACE --block-size 16 --capacity 1000,4000 --plot r.png

The trace is in the Mooncake format: JSON lines with `timestamp`, `input_length`, `output_length`
and `hash_ids`, one 64-bit id for each 512 tokens of input, the last one possibly for fewer. A
trace has no tokens, so each id is turned into 512 tokens that depend on all of its 64 bits; these
are hashed with kvhash_pure, and what the caches hold are PositionalLineageHashes, as in a server.
Capacities count blocks.

The caches evict the least recently used *leaf*: a block goes before the blocks that lead to it.
One pass serves all capacities, see `Caches`. Requests are taken in the order of the file; what a
request generates is not cached until a later request brings it as input, which is how the format
records it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a clone needs no installation

from kvhash_pure import (
    DOCUMENTED,
    Contract,
    KvHashingError,
    PositionalLineageHash,
    PositionalRadixTree,
    Request,
)

TOKENS_PER_ID = 512
DEFAULT_CAPACITIES = "25,50,100,200,400,800"

# An id becomes 2 048 bytes: the id 256 times, XORed with a pattern, so that an id's blocks differ
# from each other. Each pair of tokens holds all 64 bits of the id: at one place, two ids cannot
# have equal blocks of two or more tokens.
_PATTERN = int.from_bytes(hashlib.shake_128(b"512 tokens").digest(4 * TOKENS_PER_ID), "little")
_REPEAT = sum(1 << 64 * i for i in range(TOKENS_PER_ID // 2))


class TraceError(ValueError):
    """A line of the trace that is not what the format says."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


class TraceRow(NamedTuple):
    timestamp: float
    input_length: int
    output_length: int
    hash_ids: list[int]


def read_trace(lines: Iterable[str]) -> Iterator[TraceRow]:
    """The rows of a trace, each checked; TraceError names the line. Unknown keys are ignored."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _row(number, line)


def _row(number: int, line: str) -> TraceRow:
    try:
        line.encode()  # no UTF-8: lone surrogates here, and PyPy's parser garbles them
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeError) else getattr(error, "msg", error)
        raise TraceError(number, f"not JSON: {why}") from None
    if not isinstance(value, dict):
        raise TraceError(number, f"a JSON object expected, not {type(value).__name__}")
    for key in TraceRow._fields:
        if key not in value:
            raise TraceError(number, f"no {key!r}")
    time, ids = value["timestamp"], value["hash_ids"]
    if isinstance(time, bool) or not isinstance(time, (int, float)) or not -1e300 < time < 1e300:
        raise TraceError(number, f"timestamp is {_shown(time)}; a number expected")
    length = _integer(number, "input_length", value["input_length"], 1 << 63)
    output = _integer(number, "output_length", value["output_length"], 1 << 63)
    if not isinstance(ids, list):
        raise TraceError(number, f"hash_ids is {type(ids).__name__}; a list expected")
    for i, item in enumerate(ids):
        _integer(number, f"hash_ids[{i}]", item, 1 << 64)
    wanted = -(-length // TOKENS_PER_ID)
    if len(ids) != wanted:
        what = f"{len(ids)} hash_ids for input_length {length}"
        raise TraceError(number, f"{what}; {wanted} expected, one for each {TOKENS_PER_ID} tokens")
    return TraceRow(time, length, output, ids)


def _integer(number: int, key: str, value: object, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        wanted = f"an integer, 0 to 2^{limit.bit_length() - 1} - 1"
        raise TraceError(number, f"{key} is {_shown(value)}; {wanted}, expected")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def tokens_of(hash_id: int) -> array[int]:
    """The 512 tokens that stand for an id, the same on every machine."""
    tokens = array("I", (_PATTERN ^ hash_id * _REPEAT).to_bytes(4 * TOKENS_PER_ID, "little"))
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens


class _Node:
    """An id after certain ids before it: the PLHs of its blocks, and the ids seen after it."""

    __slots__ = ("after", "plhs")

    def __init__(self, plhs: Sequence[PositionalLineageHash]) -> None:
        self.plhs = plhs
        self.after: dict[int, _Node] = {}


class Hasher:
    """Lists of ids to PLHs. What was hashed once is not hashed again: neither an id's tokens (a
    block hash says what is in a block, whatever stands before it), nor a prefix of ids (a PLH is
    extended by a block hash alone)."""

    def __init__(self, block_size: int, contract: Contract) -> None:
        self.block_size = block_size
        self.contract = contract
        self.per_id = TOKENS_PER_ID // block_size
        self.hashed_ids = 0
        self._root = _Node(())
        self._block_hashes: dict[int, list[int]] = {}

    def plhs(self, ids: Sequence[int], input_length: int) -> list[PositionalLineageHash]:
        """The PLHs of all full blocks of a request whose `input_length` tokens come from `ids`."""
        node = self._root
        out: list[PositionalLineageHash] = []
        for depth, hash_id in enumerate(ids):
            following = node.after.get(hash_id)
            if following is None:
                self._hash(ids[depth:])
                following = node.after[hash_id] = _Node(
                    self._extended(out[-1] if out else None, hash_id)
                )
            node = following
            out += node.plhs
        # The last id may stand for fewer than 512 tokens; a block that is not full is none.
        del out[input_length // self.block_size :]
        return out

    def _hash(self, ids: Sequence[int]) -> None:
        """Block hashes of those ids that have none yet, as one request."""
        missing = [hash_id for hash_id in dict.fromkeys(ids) if hash_id not in self._block_hashes]
        if missing:
            tokens = array("I")
            for hash_id in missing:
                tokens += tokens_of(hash_id)
            hashes = Request(tokens, contract=self.contract).block_hashes(self.block_size)
            for i, hash_id in enumerate(missing):
                self._block_hashes[hash_id] = hashes[i * self.per_id : (i + 1) * self.per_id]
            self.hashed_ids += len(missing)

    def _extended(
        self, plh: PositionalLineageHash | None, hash_id: int
    ) -> list[PositionalLineageHash]:
        out = []
        for block_hash in self._block_hashes[hash_id]:
            plh = (
                PositionalLineageHash.root(block_hash, self.contract)
                if plh is None
                else plh.extend(block_hash)
            )
            out.append(plh)
        return out


class _Block:
    """A block that was seen: `level` is the index of the smallest cache that holds it now."""

    __slots__ = ("level",)

    def __init__(self, level: int) -> None:
        self.level = level


class Caches:
    """Caches of all capacities at once, the last without limit, each evicting its LRU leaf.

    A block is used whenever one that follows it is. So if a request uses its blocks from the last
    to the first, each block was used later than all blocks after it, and the least recently used
    *leaf* is the least recently used *block*: plain LRU. And of two plain LRU caches the larger
    always holds what the smaller holds. So one list of blocks by last use serves all: it is cut
    into levels at the capacities, a block that is used goes to the front of level 0, and a level
    that became too long hands its oldest block to the next.
    """

    def __init__(self, capacities: Sequence[int]) -> None:
        self.capacities = sorted(set(capacities))
        self.hits = [0] * (len(self.capacities) + 1)
        self.index: PositionalRadixTree[_Block] = PositionalRadixTree()
        self._rooms = [high - low for low, high in zip([0, *self.capacities], self.capacities)]
        self._levels: list[OrderedDict[_Block, None]] = [OrderedDict() for _ in self.hits]

    def request(self, plhs: Sequence[PositionalLineageHash]) -> None:
        """Counts the leading blocks that each cache holds, then brings in all of the request."""
        unlimited = len(self.capacities)
        counts = [0] * len(self.hits)
        blocks = []
        for plh in plhs:
            block = self.index.get(plh)
            if block is None:
                break
            blocks.append(block)
            counts[block.level] += 1  # levels never fall along a path: a cache holds a prefix of it
        held = 0
        for level, count in enumerate(counts):
            held += count
            self.hits[level] += held
        for plh in plhs[len(blocks) :]:
            block = self.index[plh] = _Block(unlimited)
            self._levels[unlimited][block] = None
            blocks.append(block)
        for block in reversed(blocks):
            self._use(block)

    def _use(self, block: _Block) -> None:
        levels, found = self._levels, block.level
        if found == 0:
            levels[0].move_to_end(block)
            return
        del levels[found][block]
        levels[0][block] = None
        block.level = 0
        for level in range(found):
            if len(levels[level]) <= self._rooms[level]:
                break
            oldest, _ = levels[level].popitem(last=False)
            oldest.level = level + 1
            levels[level + 1][oldest] = None


class Outcome(NamedTuple):
    requests: int
    input_tokens: int
    blocks: int
    distinct_blocks: int
    distinct_ids: int
    block_size: int
    contract: str
    capacities: list[int | None]
    """In blocks; None stands for no limit."""
    hits: list[int]
    """Blocks found, one number for each capacity."""

    def rate(self, i: int) -> float:
        """Hit blocks of all full blocks."""
        return self.hits[i] / self.blocks if self.blocks else 0.0

    def saved(self, i: int) -> float:
        """Tokens that need no prefill, of all input tokens (tails included)."""
        return self.hits[i] * self.block_size / self.input_tokens if self.input_tokens else 0.0


def simulate(
    rows: Iterable[TraceRow],
    capacities: Sequence[int],
    block_size: int = TOKENS_PER_ID,
    contract: Contract = DOCUMENTED,
) -> Outcome:
    """Replays `rows`. `block_size` is 2, 4, 8 … 512: no block mixes two ids, none merges them."""
    if block_size < 2 or TOKENS_PER_ID % block_size:
        raise ValueError(
            f"block size {block_size}: 2 or more that divides {TOKENS_PER_ID} expected"
        )
    if min(capacities, default=1) < 1:
        raise ValueError(f"capacity {min(capacities)}: at least 1 block expected")
    hasher, caches = Hasher(block_size, contract), Caches(capacities)
    requests = tokens = blocks = 0
    for row in rows:
        plhs = hasher.plhs(row.hash_ids, row.input_length)
        caches.request(plhs)
        requests += 1
        tokens += row.input_length
        blocks += len(plhs)
    return Outcome(
        requests,
        tokens,
        blocks,
        len(caches.index),
        hasher.hashed_ids,
        block_size,
        contract.name,
        [*caches.capacities, None],
        caches.hits,
    )


def table(outcome: Outcome) -> str:
    """For people."""
    lines = [
        f"{outcome.requests} requests, {outcome.input_tokens} input tokens",
        f"{outcome.blocks} blocks of {outcome.block_size} tokens, "
        f"{outcome.distinct_blocks} different; contract {outcome.contract}",
        "",
        f"{'capacity':>10}  {'hit blocks':>10}  {'hit rate':>8}  {'tokens saved':>12}",
    ]
    for i, capacity in enumerate(outcome.capacities):
        name = "unlimited" if capacity is None else str(capacity)
        numbers = f"{outcome.hits[i]:>10}  {outcome.rate(i):>8.4f}  {outcome.saved(i):>12.2%}"
        lines.append(f"{name:>10}  {numbers}  {'#' * round(30 * outcome.rate(i))}".rstrip())
    return "\n".join(lines)


def report(outcome: Outcome) -> dict[str, object]:
    """For machines: the outcome with the rates, as JSON has it."""
    value: dict[str, object] = outcome._asdict()
    del value["capacities"], value["hits"]
    value["caches"] = [
        {
            "capacity": capacity,
            "hit_blocks": outcome.hits[i],
            "hit_rate": outcome.rate(i),
            "tokens_saved": outcome.saved(i),
        }
        for i, capacity in enumerate(outcome.capacities)
    ]
    return value


def plot(outcome: Outcome, path: str) -> None:
    """Hit rate over capacity, as a picture; the unlimited cache is the dashed line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    rates = [outcome.rate(i) for i in range(len(outcome.hits))]
    capacities = [capacity for capacity in outcome.capacities if capacity is not None]
    axes.plot(capacities, rates[:-1], marker="o")
    axes.axhline(rates[-1], linestyle="--", color="grey", label=f"unlimited: {rates[-1]:.3f}")
    axes.set(
        xscale="log",
        ylim=(0, 1),
        xlabel=f"capacity, blocks of {outcome.block_size} tokens",
        ylabel="prefix-hit rate",
        title=f"LRU leaf eviction, {outcome.requests} requests",
    )
    axes.set_xticks(capacities, [str(capacity) for capacity in capacities])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)


def with_progress(lines: Iterable[str], size: int) -> Iterator[str]:
    """The lines, and on stderr how much of `size` bytes has gone by (0: not known)."""
    done, shown = 0, -1
    for number, line in enumerate(lines, 1):
        yield line
        done += len(line)
        percent = 100 * done // size if size else number // 1000
        if percent != shown:
            shown = percent
            text = f"\r{number} requests" + (f", {percent} %" if size else "")
            print(text, end="", file=sys.stderr, flush=True)
    clear_progress()


def clear_progress() -> None:
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


def _numbers(text: str) -> list[int]:
    values = [int(part) for part in text.split(",")]
    if min(values) < 1:
        raise ValueError(text)
    return values


_numbers.__name__ = "list of numbers, at least 1,"  # argparse shows it: "invalid … value: 'x'"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Prefix-hit rates of a Mooncake trace under LRU leaf eviction."
    )
    option = parser.add_argument
    option("trace", help="a file of JSON lines, or - for standard input")
    option("--block-size", type=int, default=512, metavar="N", help="divides 512 (default 512)")
    option(
        "--capacity",
        type=_numbers,
        default=DEFAULT_CAPACITIES,
        metavar="N,N,…",
        help="blocks a cache holds (default %(default)s); one without limit is always there",
    )
    option("--contract", default=DOCUMENTED.name, help="how keys are made (default %(default)s)")
    option("--json", action="store_true", help="one JSON object instead of the table")
    option("--plot", metavar="FILE", help="draw the rates (needs matplotlib)")
    option("--progress", action="store_true", help="progress on stderr, terminal or not")
    options = parser.parse_args(argv)
    options.progress = options.progress or sys.stderr.isatty()
    try:
        contract = Contract.named(options.contract)
        if options.plot:
            import matplotlib  # noqa: F401  (now, not after minutes of work)
        if options.trace == "-":
            outcome = _run(sys.stdin, 0, options, contract)
        else:
            # A byte that is no UTF-8 shall be an error of its line, not of the file.
            with open(options.trace, encoding="utf-8-sig", errors="surrogateescape") as file:
                outcome = _run(file, Path(options.trace).stat().st_size, options, contract)
        if options.plot:
            plot(outcome, options.plot)
    except ImportError:
        print("error: --plot needs matplotlib, which is not installed here", file=sys.stderr)
        return 2
    except (OSError, ValueError, KvHashingError) as error:
        if options.progress:
            clear_progress()
        print(f"error: {options.trace}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report(outcome)) if options.json else table(outcome))
    return 0


def _run(
    lines: Iterable[str], size: int, options: argparse.Namespace, contract: Contract
) -> Outcome:
    if options.progress:
        lines = with_progress(lines, size)
    return simulate(read_trace(lines), options.capacity, options.block_size, contract)


if __name__ == "__main__":
    sys.exit(main())
