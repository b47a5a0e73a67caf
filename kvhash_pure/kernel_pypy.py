"""XXH3-64 of many blocks for PyPy's compiler: machine words from `__pypy__.intop`, plain loops.

`intop` has 64-bit operations that wrap; Python's own leave the machine word at the first product,
at 10 to 35 times the cost. So words are *signed* here, and only results become unsigned. None
gives the high half of a product: `_mul128_fold64` adds it up from four products of 32 bits.

The compiler likes `unpack_from` with a constant format (a plain load at any alignment) and steps
of 64 bytes written out (half the time of a loop over 16), but nothing longer: 512 bytes exceed its
limit and are interpreted, 40 times slower. The algorithm as a thing to read is `xxh3.py`, whose
names are kept here; checks of input are elsewhere.
"""

from __future__ import annotations

from array import array
from struct import pack, unpack, unpack_from

from . import xxh3
from .xxh3 import SECRET, as_bytes, as_seed, hash_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Union

    Payload = Union[bytes, bytearray, memoryview]
    Segments = Sequence[tuple[Payload, int]]

    def operation(a: int, b: int) -> int: ...

    int_add = int_lshift = int_mul = int_sub = uint_rshift = operation
else:
    from __pypy__.intop import int_add, int_lshift, int_mul, int_sub, uint_rshift


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _unsigned(word: int) -> int:
    return word if word >= 0 else _2_TO_64 + word  # in 19 ns; word + _2_TO_64 takes 26


def _results(words: list[int]) -> list[int]:
    numbers = [_2_TO_64] * len(words)  # no list of words: half of the results leave the word
    for i in range(len(words)):
        numbers[i] = _unsigned(words[i])
    return numbers


_M32, _2_TO_64 = 0xFFFFFFFF, 1 << 64
_PRIME32_1, _PRIME64_1 = xxh3.PRIME32_1, _signed(xxh3.PRIME64_1)
_PRIME_MX1, _PRIME_MX2 = _signed(xxh3.PRIME_MX1), _signed(xxh3.PRIME_MX2)
_ACC_INIT = tuple([_signed(word) for word in xxh3.ACC_INIT])
_WORDS = list(unpack("<24q", SECRET))
_FLIP_4TO8 = _WORDS[1] ^ _WORDS[2]
_FLIP_LO, _FLIP_HI = _WORDS[3] ^ _WORDS[4], _WORDS[5] ^ _WORDS[6]


def hash_blocks(payload: Payload, block_bytes: int, seed: int) -> list[int]:
    """XXH3-64 of each `block_bytes` bytes of `payload` (a whole number of them), under one seed."""
    return _results(_hash_blocks(bytes(payload), block_bytes, seed))


def chain(block_hashes: list[int], chain_seed: int, parent: int | None = None) -> list[int]:
    """Sequence hashes: the root's own block hash, then XXH3 of LE64 parent and LE64 block hash."""
    return _chain(array("q", array("Q", block_hashes).tobytes()).tolist(), chain_seed, parent)


def chain_blocks(segments: Segments, seed: int, chain_seed: int) -> list[int]:
    """`chain` of the block hashes of `(payload, block_bytes)` segments, from the root."""
    return _chain(_hash_segments(segments, seed), chain_seed, None)


def hash_and_chain(segments: Segments, seed: int, chain_seed: int) -> tuple[list[int], list[int]]:
    """The block hashes of the segments, and `chain_blocks` of them."""
    words = _hash_segments(segments, seed)
    return _results(words), _chain(words, chain_seed, None)


def xxh3_64(data: object, seed: int = 0) -> int:
    """`xxh3.xxh3_64`, faster."""
    payload = as_bytes(data)
    if type(seed) is not int or not 0 <= seed <= xxh3.M64:
        seed = as_seed(seed)
    if 16 < len(payload) <= 128:
        return _unsigned(_len_17to128(payload, len(payload), _signed(seed)))
    if len(payload) < 4:
        return hash_bytes(payload, seed)
    return _unsigned(_hash_blocks(payload, len(payload), seed)[0])


def _hash_segments(segments: Segments, seed: int) -> list[int]:
    if len(segments) == 1:
        ((payload, size),) = segments  # nearly always; a loop of one turn takes 150 ns
        return _hash_blocks(bytes(payload), size, seed)
    words: list[int] = []
    for payload, size in segments:
        words += _hash_blocks(bytes(payload), size, seed)
    return words


def _hash_blocks(data: bytes, size: int, seed: int) -> list[int]:
    if size <= 3:
        return [_signed(hash_bytes(data[i : i + size], seed)) for i in range(0, len(data), size)]
    if size <= 16:
        return (_len_9to16 if size > 8 else _len_4to8)(data, size, _signed(seed))
    return (_hash_long if size > 240 else _len_17to240)(data, size, _signed(seed))


def _mul128_fold64(a: int, b: int) -> int:
    a_low, a_high = a & _M32, uint_rshift(a, 32)
    b_low, b_high = b & _M32, uint_rshift(b, 32)
    low, cross = int_mul(a_low, b_low), int_mul(a_high, b_low)
    # At most (2^32-1) + (2^32-1) + (2^32-1)^2 = 2^64-1: no carry is lost.
    middle = int_add(int_add(uint_rshift(low, 32), cross & _M32), int_mul(a_low, b_high))
    high = int_add(uint_rshift(cross, 32), uint_rshift(middle, 32))
    return int_add(int_mul(a_high, b_high), high) ^ (int_lshift(middle, 32) | low & _M32)


def _avalanche(h: int) -> int:
    h = int_mul(h ^ uint_rshift(h, 37), _PRIME_MX1)
    return h ^ uint_rshift(h, 32)


def _swap64(x: int) -> int:
    x = int_lshift(x & 0x00FF00FF00FF00FF, 8) | uint_rshift(x, 8) & 0x00FF00FF00FF00FF
    x = int_lshift(x & 0x0000FFFF0000FFFF, 16) | uint_rshift(x, 16) & 0x0000FFFF0000FFFF
    return int_lshift(x, 32) | uint_rshift(x, 32)


def _rotl64(x: int, bits: int) -> int:
    return int_lshift(x, bits) | uint_rshift(x, 64 - bits)


def _len_4to8(data: bytes, size: int, seed: int) -> list[int]:
    flip = int_sub(_FLIP_4TO8, seed ^ int_lshift(uint_rshift(_swap64(seed), 32), 32))
    hashes = [0] * (len(data) // size)
    for block in range(len(hashes)):
        (first,) = unpack_from("<I", data, block * size)
        (last,) = unpack_from("<I", data, block * size + size - 4)
        h = (int_lshift(first, 32) | last) ^ flip
        h = int_mul(h ^ _rotl64(h, 49) ^ _rotl64(h, 24), _PRIME_MX2)
        h = int_mul(h ^ int_add(uint_rshift(h, 35), size), _PRIME_MX2)
        hashes[block] = h ^ uint_rshift(h, 28)
    return hashes


def _mix_9to16(lo: int, hi: int, size: int) -> int:
    acc = int_add(int_add(size, _swap64(lo)), int_add(hi, _mul128_fold64(lo, hi)))
    return _avalanche(acc)


def _len_9to16(data: bytes, size: int, seed: int) -> list[int]:
    flip_lo, flip_hi = int_add(_FLIP_LO, seed), int_sub(_FLIP_HI, seed)
    hashes = [0] * (len(data) // size)
    for block in range(len(hashes)):
        (lo,) = unpack_from("<q", data, block * size)
        (hi,) = unpack_from("<q", data, block * size + size - 8)
        hashes[block] = _mix_9to16(lo ^ flip_lo, hi ^ flip_hi, size)
    return hashes


def _chain(words: list[int], chain_seed: int, parent: int | None) -> list[int]:
    seed = _signed(chain_seed)
    flip_lo, flip_hi = int_add(_FLIP_LO, seed), int_sub(_FLIP_HI, seed)
    last = 0 if parent is None else _signed(parent)
    hashes = [_2_TO_64] * len(words)
    for i in range(len(words)):
        linked = i or parent is not None
        last = _mix_9to16(last ^ flip_lo, words[i] ^ flip_hi, 16) if linked else words[i]
        hashes[i] = _unsigned(last)
    return hashes


def _mix16b(data: bytes, at: int, word: int, seed: int) -> int:
    lo, hi = unpack_from("<2q", data, at)
    return _mul128_fold64(lo ^ int_add(_WORDS[word], seed), hi ^ int_sub(_WORDS[word + 1], seed))


def _len_17to128(data: bytes, size: int, seed: int) -> int:
    """One input: without a loop, the compiler makes it part of the caller's."""
    acc = int_add(_mix16b(data, 0, 0, seed), _mix16b(data, size - 16, 2, seed))
    if size > 32:
        acc = int_add(acc, _mix16b(data, 16, 4, seed))
        acc = int_add(acc, _mix16b(data, size - 32, 6, seed))
    if size > 64:
        acc = int_add(acc, _mix16b(data, 32, 8, seed))
        acc = int_add(acc, _mix16b(data, size - 48, 10, seed))
    if size > 96:
        acc = int_add(acc, _mix16b(data, 48, 12, seed))
        acc = int_add(acc, _mix16b(data, size - 64, 14, seed))
    return _avalanche(int_add(acc, int_mul(size, _PRIME64_1)))


def _seeded(secret: list[int], seed: int) -> list[int]:
    if len(secret) == 8:  # of 16 tokens: with a loop, 200 tokens take 7 % longer
        a, b, c, d, e, f, g, h = secret
        front = [int_add(a, seed), int_sub(b, seed), int_add(c, seed), int_sub(d, seed)]
        return [*front, int_add(e, seed), int_sub(f, seed), int_add(g, seed), int_sub(h, seed)]
    key = [0] * len(secret)
    for i in range(0, len(key), 2):
        key[i], key[i + 1] = int_add(secret[i], seed), int_sub(secret[i + 1], seed)
    return key


# 17 to 240 bytes, by size: where four lanes start, where one does, their secret in that order.
_layouts: dict[int, tuple[list[int], list[int], list[int]]] = {}


def _layout(size: int) -> tuple[list[int], list[int], list[int]]:
    if size > 128:
        lanes = [(16 * i, 16 * i if i < 8 else 16 * (i - 8) + 3) for i in range(size // 16)]
        lanes.append((size - 16, 136 - 17))
    else:
        pairs = (size + 31) // 32
        lanes = [(16 * i, 32 * i) for i in range(pairs)]
        lanes += [(size - 16 * (i + 1), 32 * i + 16) for i in reversed(range(pairs))]
    parts: tuple[list[int], list[int], list[int], list[int]] = [], [], [], []
    fours, ones, first, then = parts
    while lanes:
        four = len(lanes) > 3 and lanes[3][0] == lanes[0][0] + 48
        (fours if four else ones).append(lanes[0][0])
        for _, secret in lanes[: 4 if four else 1]:
            (first if four else then).extend(unpack_from("<2q", SECRET, secret))
        del lanes[: 4 if four else 1]
    return _layouts.setdefault(size, (fours, ones, first + then))


def _len_17to240(data: bytes, size: int, seed: int) -> list[int]:
    fours, ones, secret = _layouts.get(size) or _layout(size)
    key, avalanche_at = _seeded(secret, seed), 16 if size > 128 else 0
    hashes = [0] * (len(data) // size)
    for block in range(len(hashes)):
        acc, i, base = int_mul(size, _PRIME64_1), 0, block * size
        for at in fours:
            a, b, c, d, e, f, g, h = unpack_from("<8q", data, base + at)
            ab = _mul128_fold64(a ^ key[i], b ^ key[i + 1])
            cd = _mul128_fold64(c ^ key[i + 2], d ^ key[i + 3])
            ef = _mul128_fold64(e ^ key[i + 4], f ^ key[i + 5])
            gh = _mul128_fold64(g ^ key[i + 6], h ^ key[i + 7])
            acc, i = int_add(acc, int_add(int_add(ab, cd), int_add(ef, gh))), i + 8
            if i == avalanche_at:  # after the first 128 bytes
                acc = _avalanche(acc)
        for at in ones:
            a, b = unpack_from("<2q", data, base + at)
            acc, i = int_add(acc, _mul128_fold64(a ^ key[i], b ^ key[i + 1])), i + 2
        hashes[block] = _avalanche(acc)
    return hashes


def _hash_long(data: bytes, size: int, seed: int) -> list[int]:
    # Not by _seeded: with it, the compiled loop below takes 2.6 times as long for 256 bytes.
    key = [(int_sub if i & 1 else int_add)(word, seed) for i, word in enumerate(_WORDS)]
    secret = pack("<24q", *key)
    m0, m1, m2, m3, m4, m5, m6, m7 = unpack_from("<8q", secret, 11)
    start = int_mul(size, _PRIME64_1)
    hashes = [0] * (len(data) // size)
    at = 0
    for block in range(len(hashes)):
        (s0, s1, s2, s3, s4, s5, s6, s7), k = _ACC_INIT, 0
        last = block * size + size - 64
        while at < last:
            w0, w1, w2, w3, w4, w5, w6, w7 = unpack_from("<8q", data, at)
            s0 = _mix(s0, w1, w0 ^ key[k])
            s1 = _mix(s1, w0, w1 ^ key[k + 1])
            s2 = _mix(s2, w3, w2 ^ key[k + 2])
            s3 = _mix(s3, w2, w3 ^ key[k + 3])
            s4 = _mix(s4, w5, w4 ^ key[k + 4])
            s5 = _mix(s5, w4, w5 ^ key[k + 5])
            s6 = _mix(s6, w7, w6 ^ key[k + 6])
            s7 = _mix(s7, w6, w7 ^ key[k + 7])
            at += 64
            k += 1
            if k == 16:
                k = 0
                s0, s1 = _scramble(s0, key[16]), _scramble(s1, key[17])
                s2, s3 = _scramble(s2, key[18]), _scramble(s3, key[19])
                s4, s5 = _scramble(s4, key[20]), _scramble(s5, key[21])
                s6, s7 = _scramble(s6, key[22]), _scramble(s7, key[23])
        # The last stripe ends where the block ends, whatever it overlaps.
        w0, w1, w2, w3, w4, w5, w6, w7 = unpack_from("<8q", data, last)
        k0, k1, k2, k3, k4, k5, k6, k7 = unpack_from("<8q", secret, 121)
        s01 = _mul128_fold64(_mix(s0, w1, w0 ^ k0) ^ m0, _mix(s1, w0, w1 ^ k1) ^ m1)
        s23 = _mul128_fold64(_mix(s2, w3, w2 ^ k2) ^ m2, _mix(s3, w2, w3 ^ k3) ^ m3)
        s45 = _mul128_fold64(_mix(s4, w5, w4 ^ k4) ^ m4, _mix(s5, w4, w5 ^ k5) ^ m5)
        s67 = _mul128_fold64(_mix(s6, w7, w6 ^ k6) ^ m6, _mix(s7, w6, w7 ^ k7) ^ m7)
        acc = int_add(int_add(s01, s23), int_add(s45, s67))
        hashes[block] = _avalanche(int_add(start, acc))
        at = last + 64
    return hashes


def _mix(acc: int, neighbour: int, keyed: int) -> int:
    """One lane of `_accumulate`."""
    return int_add(int_add(acc, neighbour), int_mul(keyed & _M32, uint_rshift(keyed, 32)))


def _scramble(acc: int, key: int) -> int:
    return int_mul(acc ^ uint_rshift(acc, 47) ^ key, _PRIME32_1)
