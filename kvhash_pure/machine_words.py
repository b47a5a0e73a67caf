"""Arithmetic on machine words for PyPy's compiler: `__pypy__.intop` and what is made of it.

`intop` has 64-bit operations that wrap; Python's own leave the machine word at the first product,
at 10 to 35 times the cost. So words are *signed* here, and only results become unsigned. Here:
what happens to one word or two. Not here: which words those are (`kernel_pypy`). The algorithm as
a thing to read is `xxh3.py`, whose names are kept; checks of input are elsewhere.
"""

from __future__ import annotations

from . import xxh3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def operation(a: int, b: int) -> int: ...

    int_add = int_lshift = int_mul = int_sub = uint_rshift = operation
else:
    from __pypy__.intop import int_add, int_lshift, int_mul, int_sub, uint_rshift  # noqa: F401

_M32, _M63, _TWO_TO_64 = (1 << 32) - 1, (1 << 63) - 1, 1 << 64


def signed(word: int) -> int:
    """The word with the bits of a u64."""
    return word if word <= _M63 else word - _TWO_TO_64


def unsigned(word: int) -> int:
    """The u64 with the bits of a word."""
    return word if word >= 0 else _TWO_TO_64 + word  # in 19 ns; word + _TWO_TO_64 takes 26


def results(words: list[int]) -> list[int]:
    """`unsigned` of each."""
    numbers: list[Any] = [None] * len(words)  # half of the results are no machine words
    for i in range(len(words)):
        numbers[i] = unsigned(words[i])
    return numbers


def mul128_fold64(a: int, b: int) -> int:
    """`intop` has no high half of a product: added up from four products of 32 bits."""
    a_low, a_high = a & _M32, uint_rshift(a, 32)
    b_low, b_high = b & _M32, uint_rshift(b, 32)
    # Neither sum exceeds (2^32-1) + (2^32-1)^2: no carry is lost.
    middle = int_add(int_mul(a_high, b_low), uint_rshift(int_mul(a_low, b_low), 32))
    carry = uint_rshift(int_add(int_mul(a_low, b_high), middle & _M32), 32)
    high = int_add(int_add(int_mul(a_high, b_high), uint_rshift(middle, 32)), carry)
    return high ^ int_mul(a, b)


_PRIME32_1 = xxh3.PRIME32_1
_PRIME_MX1, _PRIME_MX2 = signed(xxh3.PRIME_MX1), signed(xxh3.PRIME_MX2)


def avalanche(h: int) -> int:
    """`xxh3`'s."""
    h = int_mul(h ^ uint_rshift(h, 37), _PRIME_MX1)
    return h ^ uint_rshift(h, 32)


def swap64(x: int) -> int:
    """The bytes in the other order."""
    x = int_lshift(x & 0x00FF00FF00FF00FF, 8) | uint_rshift(x, 8) & 0x00FF00FF00FF00FF
    x = int_lshift(x & 0x0000FFFF0000FFFF, 16) | uint_rshift(x, 16) & 0x0000FFFF0000FFFF
    return int_lshift(x, 32) | uint_rshift(x, 32)


def rotl64(x: int, bits: int) -> int:
    """The bits turned to the left."""
    return int_lshift(x, bits) | uint_rshift(x, 64 - bits)


def rrmxmx(h: int, size: int) -> int:
    """What is done to the keyed word of 4 to 8 bytes; the name is the original's."""
    h = int_mul(h ^ rotl64(h, 49) ^ rotl64(h, 24), _PRIME_MX2)
    h = int_mul(h ^ int_add(uint_rshift(h, 35), size), _PRIME_MX2)
    return h ^ uint_rshift(h, 28)


def mix_9to16(lo: int, hi: int, size: int) -> int:
    """What is done to the two keyed words of 9 to 16 bytes."""
    return avalanche(int_add(int_add(size, swap64(lo)), int_add(hi, mul128_fold64(lo, hi))))


def mix(acc: int, neighbour: int, keyed: int) -> int:
    """What a stripe does to one accumulator."""
    return int_add(int_add(acc, neighbour), int_mul(keyed & _M32, uint_rshift(keyed, 32)))


def scramble(acc: int, key: int) -> int:
    """What the end of a round does to one accumulator."""
    return int_mul(acc ^ uint_rshift(acc, 47) ^ key, _PRIME32_1)
