"""What a streaming sequence keeps: tokens, runs and hashes, in a chain of chunks.

A full chunk is sealed: never written again, and shared with all forks and with what a truncation
leaves. Only the last chunk, which also has the tail, is one sequence's own. Nothing is validated
here. FORMAT.md, "Blocks" and "Runs".
"""

from __future__ import annotations

import sys
from array import array
from struct import pack, unpack

from .blocks import block_hashes
from .contract import Contract
from .encoding import U32_CODE
from .kernel import chain
from .multimodal import RequestMmObjectInfo

_TOKEN_CODE = U32_CODE or "Q"
# Whether an array's memory is what is hashed: u32, little-endian.
_IS_PACKED = sys.byteorder == "little" and U32_CODE is not None


class Chunk:
    """Slots from block `first` on, after sequence hash `parent` (None at the root).

    `runs`: those that touch the chunk, cut at its end when it is sealed. The hashes are those of
    the leading blocks: hashing waits until a chunk is full or somebody asks.
    """

    __slots__ = ("block_hashes", "first", "parent", "prev", "runs", "sequence_hashes", "tokens")

    def __init__(self, prev: Chunk | None, first: int, runs: list[RequestMmObjectInfo]) -> None:
        self.prev, self.first, self.runs = prev, first, runs
        self.parent = prev.sequence_hashes[-1] if prev else None
        self.tokens = array(_TOKEN_CODE)
        self.block_hashes: array[int] = array("Q")
        self.sequence_hashes: array[int] = array("Q")

    def span(self, first: int, last: int) -> list[Chunk]:
        """The chunks of blocks first … last, in order, at one step for each chunk behind `first`;
        `last` may also be the block that the tail begins. This chunk is the last of the chain.
        """
        chunks: list[Chunk] = []
        chunk: Chunk | None = self
        while chunk and (not chunks or chunks[-1].first > first):
            if chunk.first <= last:
                chunks.append(chunk)
            chunk = chunk.prev
        return chunks[::-1]

    def head(self, stop: int, block_size: int) -> Chunk:
        """A copy, to be written, of what is before slot `stop`."""
        new = Chunk(self.prev, self.first, _cut(self.runs, stop))
        blocks = stop // block_size - self.first
        new.tokens += self.tokens[: stop - self.first * block_size]
        new.block_hashes += self.block_hashes[:blocks]
        new.sequence_hashes += self.sequence_hashes[:blocks]
        return new

    def hash(self, block_size: int, salt_hash: int, contract: Contract) -> None:
        """Hashes the full blocks that have no hash yet."""
        done, ready = len(self.block_hashes), len(self.tokens) // block_size
        if done < ready:
            packed = _packed(self.tokens[done * block_size : ready * block_size])
            first, stop = self.first + done, self.first + ready
            hashes = block_hashes(packed, block_size, self.runs, salt_hash, first, stop, first)
            parent = self.sequence_hashes[done - 1] if done else self.parent
            sequence_hashes = chain(hashes, contract.chain_seed, parent)
            # In this order an interrupt between the two only means that they are made again.
            self.sequence_hashes[done:] = array("Q", sequence_hashes)
            self.block_hashes.extend(hashes)

    def seal(self, block_size: int, salt_hash: int, contract: Contract) -> Chunk:
        """Hashes the chunk, which has full blocks only, and returns the one that follows it."""
        runs, stop = self.runs, self.first * block_size + len(self.tokens)
        self.runs = _cut(runs, stop)
        self.hash(block_size, salt_hash, contract)
        inside = len(self.runs)
        if inside and runs[inside - 1].end > stop:
            inside -= 1
        return Chunk(self, self.first + len(self.block_hashes), runs[inside:])


def _cut(runs: list[RequestMmObjectInfo], stop: int) -> list[RequestMmObjectInfo]:
    """The runs that begin before slot `stop`, cut there."""
    kept = []
    for run in runs:
        if run.offset >= stop:
            break
        if run.end > stop:
            run = RequestMmObjectInfo(run.mm_hash, run.offset, stop - run.offset)
        kept.append(run)
    return kept


def _packed(slots: array[int]) -> bytes:
    return slots.tobytes() if _IS_PACKED else pack(f"<{len(slots)}I", *slots)


def unpacked(packed: bytes) -> array[int]:
    """An array of what `pack_tokens` gave."""
    slots = packed if _IS_PACKED else unpack(f"<{len(packed) // 4}I", packed)
    return array(_TOKEN_CODE, slots)
