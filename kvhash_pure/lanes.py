"""Arithmetic on 64-bit lanes, all lanes of many blocks in one big int: 1 to 10 ns a lane.

Here: what the same operation does to every lane, modulo 2^64. Not here: products of two lanes,
which big ints cannot do (`unrolled`), and what the lanes mean (`kernel_cpython`).
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

from .xxh3 import M64, PRIME_MX1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK = 1 << 15  # bytes a big int, so that a few of them fit in the first-level cache


def _masks(word: int, bits: int = 64) -> int:
    """`word` at every `bits` bits. `&` stops at its shorter operand: fits any count of blocks."""
    # Stripes overlap: those of a chunk of 258-byte blocks, the longest, are 1.24 chunks.
    count = 10 * CHUNK // bits
    return int.from_bytes(word.to_bytes(bits // 8, "little") * count, "little")


EVEN = _masks(M64, 128)
TOP4 = _masks(15 << 60)
LOW17 = _masks(M64 >> 47)
_LOW63, _TOP = _masks(M64 >> 1), _masks(1 << 63)
_LOW32, _LOW27 = _masks(M64 >> 32), _masks(M64 >> 37)

words_of = lru_cache(maxsize=32)(lambda count: Struct(f"<{count}Q"))


def lanes_of(words: Sequence[int], times: int = 1) -> int:
    """64-bit words, one a lane, all of them `times` times over."""
    return int.from_bytes(words_of(len(words)).pack(*words) * times, "little")


@lru_cache(maxsize=16)
def repeated(word: int, count: int) -> int:
    """`word` in each of `count` lanes."""
    return lanes_of((word,), count)


def add(a: int, b: int) -> int:
    """Sums modulo 2^64: of the lanes without their top bits, which are put in afterwards."""
    return (a & _LOW63) + (b & _LOW63) ^ (a ^ b) & _TOP


def times(lanes: int, prime: int) -> int:
    """Products modulo 2^64: of even lanes, with the odd ones away as room, then of odd lanes."""
    return (lanes & EVEN) * prime & EVEN | ((lanes >> 64 & EVEN) * prime & EVEN) << 64


def avalanche(lanes: int) -> int:
    """`xxh3`'s, of every lane."""
    lanes = times(lanes ^ lanes >> 37 & _LOW27, PRIME_MX1)
    return lanes ^ lanes >> 32 & _LOW32
