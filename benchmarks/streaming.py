"""Streaming sequences: what growing token by token, keeping, forking and rolling back cost.

`python3 benchmarks/streaming.py` (on PyPy too). Ratios come from interleaved runs, the best of
each side; hashes are asked for at the end of each run, so no side leaves work undone. Memory is
what `tracemalloc` sees, so CPython only.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from array import array
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kvhash_pure import TokenBlockSequence


def best(runs: int, *sides: Callable[[], object]) -> list[float]:
    """Seconds of the fastest run of each side, the sides taking turns."""
    seconds = [float("inf")] * len(sides)
    for _ in range(runs):
        for i, side in enumerate(sides):
            start = time.perf_counter()
            side()
            seconds[i] = min(seconds[i], time.perf_counter() - start)
    return seconds


def growing(tokens: list[int], block_size: int, runs: int) -> None:
    def extend() -> object:
        sequence = TokenBlockSequence(block_size=block_size)
        sequence.extend(tokens)
        return sequence.last_complete_block

    def append() -> object:
        sequence = TokenBlockSequence(block_size=block_size)
        add = sequence.append
        for token in tokens:
            add(token)
        return sequence.last_complete_block

    def ask() -> object:
        sequence = TokenBlockSequence(block_size=block_size)
        block: object = None
        for token in tokens:
            if sequence.append(token):
                block = sequence.last_complete_block
        return block

    one, each, asked = (second / len(tokens) * 1e9 for second in best(runs, extend, append, ask))
    print(
        f"  {block_size:6}  {one:8.1f}  {each:8.1f}  {each / one:6.2f}x  {asked:14.1f}"
        f"  {asked / one:6.2f}x"
    )


def memory(tokens: array[int], block_size: int) -> None:
    try:
        import tracemalloc
    except ImportError:
        print("  no tracemalloc here")
        return
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    sequence = TokenBlockSequence(tokens, block_size=block_size)
    blocks = len(sequence.blocks)
    held = tracemalloc.get_traced_memory()[0] - base
    grown = TokenBlockSequence(block_size=block_size)
    for token in tokens:
        grown.append(token)
    held_grown = tracemalloc.get_traced_memory()[0] - base - held
    before = tracemalloc.get_traced_memory()[0]
    forks = [sequence.fork() for _ in range(100)]
    a_fork = (tracemalloc.get_traced_memory()[0] - before) / len(forks)
    tracemalloc.stop()
    hashes = 16 * blocks
    for name, size in (("one extend", held), ("token by token", held_grown)):
        print(
            f"  {block_size:6}  {name:14}  {size / len(tokens):6.2f} bytes a token, "
            f"{(size - hashes) / len(tokens):5.2f} of them beyond 16 a block"
        )
    print(f"  {block_size:6}  a fork          {a_fork:6.0f} bytes")


def forking(tokens: array[int], block_size: int, runs: int) -> None:
    for length in (10_000, len(tokens)):
        sequence = TokenBlockSequence(tokens[:length], block_size=block_size)

        def fork() -> None:
            for _ in range(100):
                sequence.fork()  # noqa: B023

        def speculate() -> None:
            for _ in range(100):
                draft = sequence.fork()  # noqa: B023
                draft.extend((1, 2, 3, 4, 5))
                draft.unwind(3)

        def roll_back() -> None:
            for _ in range(100):
                shorter = sequence.fork()  # noqa: B023
                shorter.unwind(6000)
                shorter.append(1)

        found = (second / 100 * 1e6 for second in best(runs, fork, speculate, roll_back))
        print(f"  {length:9}" + "".join(f"  {microseconds:12.1f}" for microseconds in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=15, help="runs of each side (15)")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="for memory (1 000 000)")
    arguments = parser.parse_args()
    rng = random.Random(1)
    many = array("I", (rng.randrange(150_000) for _ in range(arguments.tokens)))
    tokens = many[:65_536].tolist()

    print("Nanoseconds a token, hashes included; ratios to one extend")
    print("   block    extend    append   ratio  append and ask   ratio")
    for block_size in (1, 16, 64, 128, 512):
        growing(tokens, block_size, arguments.runs)
    print(f"Memory of {len(many)} tokens")
    for block_size in (16, 128):
        memory(many, block_size)
    print("Microseconds, blocks of 16")
    print("     length          fork  fork, draft 5   fork, back 6000")
    forking(many, 16, arguments.runs)


if __name__ == "__main__":
    main()
