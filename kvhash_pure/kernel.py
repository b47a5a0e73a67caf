"""Which form of XXH3-64 runs here, chosen once at import by what the interpreter has.

Here: the narrow interface that the rest of the package hashes through. Not here: any arithmetic.
"""

from __future__ import annotations

from . import xxh3


def xxh3_64(data: object, seed: int = 0) -> int:
    """`xxh3.xxh3_64` with the fast forms behind it: same rule, same errors, same result."""
    return xxh3.xxh3_64(data, seed)


def hash_blocks(payload: bytes | memoryview, block_bytes: int, seed: int) -> list[int]:
    """XXH3-64 of each `block_bytes` bytes of `payload` (a whole number of them), under one seed."""
    data = bytes(payload)
    stops = range(block_bytes, len(data) + 1, block_bytes)
    return [xxh3.hash_bytes(data[stop - block_bytes : stop], seed) for stop in stops]


def chain(block_hashes: list[int], chain_seed: int, parent: int | None = None) -> list[int]:
    """Sequence hashes: the first is its own block hash at the root, each next one hashes
    LE64 previous + LE64 block hash. `parent`: the sequence hash before the first, None at the root.
    """
    result = []
    for block_hash in block_hashes:
        if parent is None:
            parent = block_hash
        else:
            pair = (parent | block_hash << 64).to_bytes(16, "little")
            parent = xxh3.hash_bytes(pair, chain_seed)
        result.append(parent)
    return result
