"""One number for everything: SHA-256 over the hashes of a fixed corpus of requests.

    python -m tests.digest

Every interpreter must print the same line; `PINNED` was made by `tests/reference.py` on the C
library and is checked against it again wherever that library runs. Needs the standard library and
`kvhash_pure` only, so that it also runs where pytest does not.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

# Of the whole corpus, and of each 13th case of it, one of 65 540 blocks among them.
PINNED = "1d33141e4a8427f5814a8e5d8badf69221cf751bf637a358a85bf6e7a58c7505"
PINNED_PART = "16e6ea6e72c818a872b5ad3ec3ee567ee41db0cb9326cb4fab9401a0fb805d15"

Run = tuple[int, int, int]
CONTRACTS = ("documented", "dynamo-1.3")
# Characters that JSON escapes, that it must not escape, and of each UTF-8 length.
ALPHABET = 'aZ09 "\\/\b\f\n\r\t\0\x01\x1f\x7fé߿ࠀ€\u2028\uffff😀'
# Block lengths on both sides of each class of XXH3: plain blocks have 4 bytes a slot (16 | 17,
# 128 | 129, 240 | 241, 1024 | 1025 bytes), framed ones 13 (one slot is 13, 9 are 117, 10 are 130,
# 18 are 234, 19 are 247, 78 are 1014, 79 are 1027).
BLOCK_SIZES = (*range(1, 84), 127, 128, 129, 255, 256, 257, 260, 511, 512, 513, 1024)
RANDOM_CASES = 2500


class Case(NamedTuple):
    """A request and a block size."""

    tokens: Sequence[int]
    block_size: int
    runs: tuple[Run, ...] = ()
    lora_name: str | None = None
    salt: str | None = None
    contract: str = CONTRACTS[0]


class Hashed(NamedTuple):
    """What must agree: the salt hash, and of each block its hashes, PLH and PLH text."""

    salt_hash: int
    blocks: list[tuple[int, int, int, str]]


class Stream:
    """Random numbers that no interpreter can have its own opinion on: SHA-256 of a counter."""

    def __init__(self, name: str) -> None:
        self._name, self._count, self._left = name.encode(), 0, b""

    def take(self, size: int) -> bytes:
        while len(self._left) < size:
            self._left += hashlib.sha256(self._name + self._count.to_bytes(8, "little")).digest()
            self._count += 1
        taken, self._left = self._left[:size], self._left[size:]
        return taken

    def below(self, limit: int) -> int:
        return int.from_bytes(self.take(8), "little") % limit

    def tokens(self, count: int) -> list[int]:
        """u32s: small as token ids are, any, and now and then the greatest."""
        data = self.take(4 * count)
        words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, 4 * count, 4)]
        return [w % 128256 if w & 4 else 0xFFFFFFFF if w & 0xF8 == 0 else w for w in words]

    def text(self) -> str | None:
        length = self.below(12) - 2
        if length < 0:
            return None
        return "".join(ALPHABET[self.below(len(ALPHABET))] for _ in range(length))

    def runs(self, total: int, most: int) -> tuple[Run, ...]:
        """Up to `most` runs within `total` slots, some of them end to start."""
        runs: list[Run] = []
        start = 0
        for _ in range(most):
            start += self.below(20) if self.below(3) else 0
            length = 1 + self.below(40)
            if start + length > total:
                break
            runs.append((int.from_bytes(self.take(8), "little"), start, length))
            start += length
        return tuple(runs)


def corpus() -> Iterator[Case]:
    """The fixed requests, the same on every machine."""
    stream = Stream("kvhash digest 1")
    for block_size in BLOCK_SIZES:
        for contract in CONTRACTS:
            total = 3 * block_size + stream.below(block_size)
            tokens = stream.tokens(total)
            yield Case(tokens, block_size, contract=contract)
            runs = stream.runs(total, 1 + block_size // 16)
            yield Case(tokens, block_size, runs, stream.text(), stream.text(), contract)
    for contract in CONTRACTS:  # positions 255 | 256 and 65 535 | 65 536
        yield Case(stream.tokens(260), 1, stream.runs(260, 9), contract=contract)
        yield Case(stream.tokens(65_540), 1, ((2**64 - 1, 65_530, 8),), "lora", contract=contract)
    for number in range(RANDOM_CASES):
        total = stream.below(300)
        yield Case(
            stream.tokens(total),
            1 + stream.below(32),
            stream.runs(total, stream.below(5)),
            stream.text(),
            stream.text(),
            CONTRACTS[number % 2],
        )


def by_package(case: Case) -> Hashed:
    """The package that is imported at the time of the call."""
    kvhash: Any = importlib.import_module("kvhash_pure")
    request = kvhash.Request(
        case.tokens,
        lora_name=case.lora_name,
        salt=case.salt,
        mm_info=[kvhash.RequestMmObjectInfo(*run) for run in case.runs],
        contract=kvhash.Contract.named(case.contract),
    )
    return Hashed(
        request.salt_hash(),
        [
            (block.block_hash, block.sequence_hash, block.plh.as_u128(), str(block.plh))
            for block in request.into_blocks(case.block_size)
        ],
    )


def digest(hash_case: Callable[[Case], Hashed] = by_package, step: int = 1) -> str:
    """SHA-256, in hex, over what `hash_case` makes of each `step`th case of the corpus."""
    total = hashlib.sha256()
    for case in islice(corpus(), 0, None, step):
        salt_hash, blocks = hash_case(case)
        total.update(salt_hash.to_bytes(8, "little") + len(blocks).to_bytes(4, "little"))
        for block_hash, sequence_hash, plh, text in blocks:
            total.update(block_hash.to_bytes(8, "little") + sequence_hash.to_bytes(8, "little"))
            total.update(plh.to_bytes(16, "big") + text.encode("ascii") + b"\n")
    return total.hexdigest()


def main() -> int:
    """Print the digest; fail if it is not the pinned one."""
    found = digest()
    print(found, "as pinned" if found == PINNED else f"IS NOT AS PINNED: {PINNED}")
    return 0 if found == PINNED else 1


if __name__ == "__main__":
    sys.exit(main())
