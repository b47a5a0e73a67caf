"""XXH3-64 of many blocks for PyPy's compiler: plain loops over `machine_words`.

The compiler likes `unpack_from` with a constant format (a plain load at any alignment) and steps
of 64 bytes written out (half the time of a loop over 16), but nothing longer: 512 bytes exceed its
limit and are interpreted, 40 times slower. Names that are alive where a loop is entered are boxed,
so what needs names of its own is a function. The first turn of a loop is compiled again into each
of its callers. Long loops begin with a turn that does nothing, so that a short request (no salt, no
runs, blocks of 16 or 32) stays within the limit as a whole. The algorithm as a thing to read is
`xxh3.py`, whose names are kept here; checks of input are elsewhere.
"""

from __future__ import annotations

from struct import pack, unpack, unpack_from

from . import xxh3
from .machine_words import (
    avalanche,
    int_add,
    int_lshift,
    int_mul,
    int_sub,
    mix,
    mix_9to16,
    mul128_fold64,
    results,
    rrmxmx,
    scramble,
    signed,
    swap64,
    uint_rshift,
    unsigned,
)
from .xxh3 import SECRET, as_bytes, as_seed, hash_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Union

    Payload = Union[bytes, bytearray, memoryview]
    Segments = Sequence[tuple[Payload, int]]

_PRIME64_1 = signed(xxh3.PRIME64_1)
_ACC_INIT = tuple([signed(word) for word in xxh3.ACC_INIT])
_WORDS = list(unpack("<24q", SECRET))
_QUADS = [_WORDS[i : i + 4] for i in range(0, 16, 4)]
_FLIP_4TO8 = _WORDS[1] ^ _WORDS[2]
_FLIP_LO, _FLIP_HI = _WORDS[3] ^ _WORDS[4], _WORDS[5] ^ _WORDS[6]


def hash_blocks(payload: Payload, block_bytes: int, seed: int) -> list[int]:
    """XXH3-64 of each `block_bytes` bytes of `payload` (a whole number of them), under one seed."""
    return results(_hash_blocks(bytes(payload), block_bytes, seed))


def chain(block_hashes: list[int], chain_seed: int, parent: int | None = None) -> list[int]:
    """Sequence hashes: the root's own block hash, then XXH3 of LE64 parent and LE64 block hash."""
    if len(block_hashes) == 1:  # of a stream
        return _chain([signed(block_hashes[0])], chain_seed, parent)
    return _chain([signed(block_hash) for block_hash in block_hashes], chain_seed, parent)


def chain_blocks(segments: Segments, seed: int, chain_seed: int) -> list[int]:
    """`chain` of the block hashes of `(payload, block_bytes)` segments, from the root."""
    return _chain(_hash_segments(segments, seed), chain_seed, None)


def hash_and_chain(segments: Segments, seed: int, chain_seed: int) -> tuple[list[int], list[int]]:
    """The block hashes of the segments, and `chain_blocks` of them."""
    words = _hash_segments(segments, seed)
    return results(words), _chain(words, chain_seed, None)


def xxh3_64(data: object, seed: int = 0) -> int:
    """`xxh3.xxh3_64`, faster."""
    payload = as_bytes(data)
    if type(seed) is not int or not 0 <= seed <= xxh3.M64:
        seed = as_seed(seed)
    size = len(payload)
    if size < 4:
        return hash_bytes(payload, seed)
    if size > 128:
        return unsigned(_hash_blocks(payload, size, seed)[0])
    word = signed(seed)
    if size > 16:
        return unsigned(_mix_17to128(payload, size, word))
    if size > 8:
        return unsigned(_mix_9to16(payload, 0, size, *_flips_9to16(word)))
    return unsigned(_mix_4to8(payload, 0, size, _flip_4to8(word)))


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
        return [signed(hash_bytes(data[i : i + size], seed)) for i in range(0, len(data), size)]
    if size <= 16:
        return (_len_9to16 if size > 8 else _len_4to8)(data, size, signed(seed))
    return (_hash_long if size > 240 else _len_17to240)(data, size, signed(seed))


def _flip_4to8(seed: int) -> int:
    return int_sub(_FLIP_4TO8, seed ^ int_lshift(uint_rshift(swap64(seed), 32), 32))


def _flips_9to16(seed: int) -> tuple[int, int]:
    return int_add(_FLIP_LO, seed), int_sub(_FLIP_HI, seed)


# One input each: without a loop, the compiler makes them part of their callers.


def _mix_4to8(data: bytes, at: int, size: int, flip: int) -> int:
    (first,) = unpack_from("<I", data, at)
    (last,) = unpack_from("<I", data, at + size - 4)
    return rrmxmx((int_lshift(first, 32) | last) ^ flip, size)


def _mix_9to16(data: bytes, at: int, size: int, flip_lo: int, flip_hi: int) -> int:
    (lo,) = unpack_from("<q", data, at)
    (hi,) = unpack_from("<q", data, at + size - 8)
    return mix_9to16(lo ^ flip_lo, hi ^ flip_hi, size)


def _mix32b(data: bytes, at: int, back: int, quad: int, seed: int) -> int:
    """A lane from each end. A call for each would exceed the compiler's limit from 65 bytes on."""
    a, b = unpack_from("<2q", data, at)
    c, d = unpack_from("<2q", data, back)
    k0, k1, k2, k3 = _QUADS[quad]
    ab = mul128_fold64(a ^ int_add(k0, seed), b ^ int_sub(k1, seed))
    return int_add(ab, mul128_fold64(c ^ int_add(k2, seed), d ^ int_sub(k3, seed)))


def _mix_17to128(data: bytes, size: int, seed: int) -> int:
    acc = int_add(int_mul(size, _PRIME64_1), _mix32b(data, 0, size - 16, 0, seed))
    if size > 32:
        acc = int_add(acc, _mix32b(data, 16, size - 32, 1, seed))
    if size > 64:
        acc = int_add(acc, _mix32b(data, 32, size - 48, 2, seed))
    if size > 96:
        acc = int_add(acc, _mix32b(data, 48, size - 64, 3, seed))
    return avalanche(acc)


def _len_4to8(data: bytes, size: int, seed: int) -> list[int]:
    flip = _flip_4to8(seed)
    hashes = [0] * (len(data) // size)
    for block in range(len(hashes)):
        hashes[block] = _mix_4to8(data, block * size, size, flip)
    return hashes


def _len_9to16(data: bytes, size: int, seed: int) -> list[int]:
    flip_lo, flip_hi = _flips_9to16(seed)
    hashes = [0] * (len(data) // size)
    for block in range(len(hashes)):
        hashes[block] = _mix_9to16(data, block * size, size, flip_lo, flip_hi)
    return hashes


def _chain(words: list[int], chain_seed: int, parent: int | None) -> list[int]:
    if not words:
        return []
    flip_lo, flip_hi = _flips_9to16(signed(chain_seed))
    last = words[0]
    if parent is not None:
        last = mix_9to16(signed(parent) ^ flip_lo, last ^ flip_hi, 16)
    hashes: list[Any] = [None] * len(words)  # as in `results`
    for i in range(len(words)):
        if not i:
            continue  # the empty turn
        linked = mix_9to16(last ^ flip_lo, words[i] ^ flip_hi, 16)
        # Not before the link: processors guess its sign, wrongly at every other, meanwhile.
        hashes[i - 1] = unsigned(last)
        last = linked
    hashes[-1] = unsigned(last)
    return hashes


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


def _fold4(data: bytes, at: int, key: list[int], i: int) -> int:
    a, b, c, d, e, f, g, h = unpack_from("<8q", data, at)
    ab = mul128_fold64(a ^ key[i], b ^ key[i + 1])
    cd = mul128_fold64(c ^ key[i + 2], d ^ key[i + 3])
    ef = mul128_fold64(e ^ key[i + 4], f ^ key[i + 5])
    gh = mul128_fold64(g ^ key[i + 6], h ^ key[i + 7])
    return int_add(int_add(ab, cd), int_add(ef, gh))


def _fold1(data: bytes, at: int, key: list[int], i: int) -> int:
    a, b = unpack_from("<2q", data, at)
    return mul128_fold64(a ^ key[i], b ^ key[i + 1])


def _len_17to240(data: bytes, size: int, seed: int) -> list[int]:
    fours, ones, secret = _layouts.get(size) or _layout(size)
    key, avalanche_at = _seeded(secret, seed), 16 if size > 128 else 0
    hashes = [0] * (len(data) // size)
    for block in range(-1, len(hashes)):
        if block < 0:
            continue  # the empty turn
        acc, i, base = int_mul(size, _PRIME64_1), 0, block * size
        for at in fours:
            acc, i = int_add(acc, _fold4(data, base + at, key, i)), i + 8
            if i == avalanche_at:  # after the first 128 bytes
                acc = avalanche(acc)
        for at in ones:
            acc, i = int_add(acc, _fold1(data, base + at, key, i)), i + 2
        hashes[block] = avalanche(acc)
    return hashes


def _hash_long(data: bytes, size: int, seed: int) -> list[int]:
    # Not by _seeded: with it, the compiled loop below takes 2.6 times as long for 256 bytes.
    key = [(int_sub if i & 1 else int_add)(word, seed) for i, word in enumerate(_WORDS)]
    secret = pack("<24q", *key)
    m0, m1, m2, m3, m4, m5, m6, m7 = unpack_from("<8q", secret, 11)
    start = int_mul(size, _PRIME64_1)
    hashes = [0] * (len(data) // size)
    at = 0
    for block in range(-1, len(hashes)):
        if block < 0:
            continue  # the empty turn
        (s0, s1, s2, s3, s4, s5, s6, s7), k = _ACC_INIT, 0
        last = block * size + size - 64
        while at < last:
            w0, w1 = unpack_from("<2q", data, at)
            s0 = mix(s0, w1, w0 ^ key[k])
            s1 = mix(s1, w0, w1 ^ key[k + 1])
            w2, w3 = unpack_from("<2q", data, at + 16)
            s2 = mix(s2, w3, w2 ^ key[k + 2])
            s3 = mix(s3, w2, w3 ^ key[k + 3])
            w4, w5 = unpack_from("<2q", data, at + 32)
            s4 = mix(s4, w5, w4 ^ key[k + 4])
            s5 = mix(s5, w4, w5 ^ key[k + 5])
            w6, w7 = unpack_from("<2q", data, at + 48)
            s6 = mix(s6, w7, w6 ^ key[k + 6])
            s7 = mix(s7, w6, w7 ^ key[k + 7])
            at += 64
            k += 1
            if k == 16:
                k = 0
                s0, s1 = scramble(s0, key[16]), scramble(s1, key[17])
                s2, s3 = scramble(s2, key[18]), scramble(s3, key[19])
                s4, s5 = scramble(s4, key[20]), scramble(s5, key[21])
                s6, s7 = scramble(s6, key[22]), scramble(s7, key[23])
        # The last stripe ends where the block ends, whatever it overlaps.
        w0, w1, w2, w3, w4, w5, w6, w7 = unpack_from("<8q", data, last)
        k0, k1, k2, k3, k4, k5, k6, k7 = unpack_from("<8q", secret, 121)
        s01 = mul128_fold64(mix(s0, w1, w0 ^ k0) ^ m0, mix(s1, w0, w1 ^ k1) ^ m1)
        s23 = mul128_fold64(mix(s2, w3, w2 ^ k2) ^ m2, mix(s3, w2, w3 ^ k3) ^ m3)
        s45 = mul128_fold64(mix(s4, w5, w4 ^ k4) ^ m4, mix(s5, w4, w5 ^ k5) ^ m5)
        s67 = mul128_fold64(mix(s6, w7, w6 ^ k6) ^ m6, mix(s7, w6, w7 ^ k7) ^ m7)
        acc = int_add(int_add(s01, s23), int_add(s45, s67))
        hashes[block] = avalanche(int_add(start, acc))
        at = last + 64
    return hashes
