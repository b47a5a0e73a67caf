"""XXH3-64 of many blocks where every operation of the interpreter costs: CPython and Pyodide.

What is the same for each 64-bit lane (keying, sums, avalanches, scrambles) is done in bulk, on one
big int that holds the lanes of all blocks: 1 to 10 ns a lane instead of 30 for each operation.
Only products of lanes are left to functions that are written out for a block: `unrolled`.

Blocks are first copied so that no two reads overlap, which leaves two shapes for all lengths:
16-byte lanes up to 240 bytes, 64-byte stripes above. The algorithm as a thing to read is
`xxh3.py`, whose names are kept here; checks of input are elsewhere.
"""

from __future__ import annotations

from array import array
from functools import cache, lru_cache, reduce
from struct import Struct, iter_unpack, pack, unpack

from . import xxh3
from .unrolled import dotter, folder, one_input
from .xxh3 import M64, PRIME64_1, PRIME_MX1, PRIME_MX2, SECRET, as_bytes, as_seed, hash_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Union

    Payload = Union[bytes, bytearray, memoryview]
    Segments = Iterable[tuple[Payload, int]]
    Unpack = Callable[[bytes], Iterable[tuple[int, ...]]]
    Folds = Callable[[Iterable[tuple[int, ...]]], list[int]]
    Parts = list[tuple[Folds, Unpack]]

_CHUNK = 1 << 15  # bytes a big int, so that a few of them fit in the first-level cache
_ROUND = 1024  # bytes between two scrambles
_int = int.from_bytes

_WORDS = unpack("<24Q", SECRET)
_FLIP_4TO8 = _WORDS[1] ^ _WORDS[2]
_FLIP_LO, _FLIP_HI = _WORDS[3] ^ _WORDS[4], _WORDS[5] ^ _WORDS[6]  # 9 to 16 bytes
_FLIPS_9TO16 = pack("<2Q", _FLIP_LO, _FLIP_HI)


def _masks(word: int, bits: int = 64) -> int:
    """`word` at every `bits` bits. `&` stops at its shorter operand: fits any count of blocks."""
    # Stripes overlap: those of a chunk of 258-byte blocks, the longest, are 1.24 chunks.
    return _int(word.to_bytes(bits // 8, "little") * (10 * _CHUNK // bits), "little")


_EVEN = _masks(M64, 128)
_LOW63, _TOP, _TOP4 = _masks(M64 >> 1), _masks(1 << 63), _masks(15 << 60)
_LOW32, _LOW27, _LOW17 = _masks(M64 >> 32), _masks(M64 >> 37), _masks(M64 >> 47)


def hash_blocks(payload: Payload, block_bytes: int, seed: int) -> list[int]:
    """XXH3-64 of each `block_bytes` bytes of `payload` (a whole number of them), under one seed."""
    return _hash_blocks(payload, block_bytes, seed, 0)


def chain(block_hashes: list[int], chain_seed: int, parent: int | None = None) -> list[int]:
    """Sequence hashes: the root's own block hash, then XXH3 of LE64 parent and LE64 block hash."""
    flip_lo, flip_hi = _flips_9to16(chain_seed)
    return _chain([block_hash ^ flip_hi for block_hash in block_hashes], flip_lo, flip_hi, parent)


def chain_blocks(segments: Segments, seed: int, chain_seed: int) -> list[int]:
    """`chain` of the block hashes of `(payload, block_bytes)` segments, from the root."""
    flip_lo, flip_hi = _flips_9to16(chain_seed)
    flipped: list[int] = []
    for payload, block_bytes in segments:
        flipped += _hash_blocks(payload, block_bytes, seed, flip_hi)
    return _chain(flipped, flip_lo, flip_hi, None)


def hash_and_chain(segments: Segments, seed: int, chain_seed: int) -> tuple[list[int], list[int]]:
    """The block hashes of the segments, and `chain_blocks` of them."""
    hashes: list[int] = []
    for payload, block_bytes in segments:
        hashes += _hash_blocks(payload, block_bytes, seed, 0)
    return hashes, chain(hashes, chain_seed)


def xxh3_64(data: object, seed: int = 0) -> int:
    """`xxh3.xxh3_64`, faster."""
    payload = as_bytes(data)
    if type(seed) is not int or not 0 <= seed <= M64:
        seed = as_seed(seed)
    length = len(payload)
    if length <= 16:
        return hash_bytes(payload, seed)
    if length <= 240:
        return _one_input(length)(payload, length, seed)
    return _hash_blocks(payload, length, seed, 0)[0]


def _hash_blocks(payload: Payload, size: int, seed: int, flip: int) -> list[int]:
    """The hashes, each `^ flip`."""
    most = _CHUNK if size > 16 else _CHUNK // 16 * size  # small ones become lanes of 16 bytes
    if len(payload) > most and len(payload) > size:
        step = max(1, most // size) * size
        hashes: list[int] = []
        for i in range(0, len(payload), step):
            hashes += _hash_blocks(payload[i : i + step], size, seed, flip)
        return hashes
    if size > 16:
        form = _len_17to240 if size <= 240 else _hash_long
    else:
        form = _len_9to16 if size > 8 else _len_4to8 if size > 3 else _len_1to3
    count = len(payload) // size
    lanes = form(bytes(payload), size, seed, count)
    if flip:
        lanes ^= _repeated(flip, count)
    return list(_quads(count).unpack(lanes.to_bytes(8 * count, "little")))


def _gather(data: bytes, size: int, *parts: tuple[int, int]) -> bytes:
    """The bytes start … stop - 1 of each block of `size` bytes, for each of `parts` in turn."""
    blocks = range(0, len(data), size)
    return b"".join([data[i + start : i + stop] for i in blocks for start, stop in parts])


def _keyed(data: bytes, key: int) -> bytes:
    return (_int(data, "little") ^ key).to_bytes(len(data), "little")


_quads = lru_cache(maxsize=32)(lambda count: Struct(f"<{count}Q"))


def _lanes(words: Sequence[int], times: int = 1) -> int:
    """64-bit words, one a lane, all of them `times` times over."""
    return _int(_quads(len(words)).pack(*words) * times, "little")


def _add(a: int, b: int) -> int:
    """Sums of lanes modulo 2^64: added without their top bits, which are put in afterwards."""
    return (a & _LOW63) + (b & _LOW63) ^ (a ^ b) & _TOP


def _times(lanes: int, prime: int) -> int:
    """Products modulo 2^64: of even lanes, with the odd ones away as room, then of odd lanes."""
    return (lanes & _EVEN) * prime & _EVEN | ((lanes >> 64 & _EVEN) * prime & _EVEN) << 64


def _avalanche(lanes: int) -> int:
    lanes ^= lanes >> 37 & _LOW27
    even, odd = (lanes & _EVEN) * PRIME_MX1, (lanes >> 64 & _EVEN) * PRIME_MX1
    lanes = even & _EVEN | (odd & _EVEN) << 64
    return lanes ^ lanes >> 32 & _LOW32


@lru_cache(maxsize=16)  # the last few seeds: a stream would pay for its keys at each block
def _key(secret: bytes, seed: int, count: int) -> int:
    """The lanes of `secret`, by turns + seed and - seed, `count` times over."""
    signs = _lanes((seed, -seed & M64), len(secret) // 16)
    key = _add(_int(secret, "little"), signs).to_bytes(len(secret), "little")
    return _int(key * count, "little")


@lru_cache(maxsize=16)
def _stripe_key(starts: tuple[int, ...], seed: int, count: int) -> int:
    """64 bytes from each of `starts` of the secret derived from `seed`, `count` times over."""
    secret = _key(SECRET, seed, 1).to_bytes(len(SECRET), "little")
    return _int(b"".join([secret[i : i + 64] for i in starts]) * count, "little")


@lru_cache(maxsize=16)
def _repeated(word: int, count: int) -> int:
    return _lanes((word,), count)


def _len_1to3(data: bytes, size: int, seed: int, count: int) -> int:
    return _lanes([hash_bytes(data[i : i + size], seed) for i in range(0, len(data), size)])


def _len_4to8(data: bytes, size: int, seed: int, count: int) -> int:
    seed ^= _int(pack(">I", seed & 0xFFFFFFFF), "little") << 32
    words = _gather(data, size, (size - 4, size), (0, 4))
    keyed = _int(words, "little") ^ _repeated(_FLIP_4TO8 - seed & M64, count)
    length = _repeated(size, count) & _EVEN
    even, odd = _rrmxmx(keyed & _EVEN, length), _rrmxmx(keyed >> 64 & _EVEN, length)
    return (even | odd << 64) & (1 << 64 * count) - 1  # an odd count leaves a lane over


def _rrmxmx(h: int, length: int) -> int:
    """On every second lane, so that what is shifted out on the left comes round from there."""
    h = (h ^ (h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & _EVEN
    h = h * PRIME_MX2 & _EVEN
    h = ((h ^ (h >> 35) + length) & _EVEN) * PRIME_MX2 & _EVEN
    return (h ^ h >> 28) & _EVEN


def _len_9to16(data: bytes, size: int, seed: int, count: int) -> int:
    if size < 16:
        data = _gather(data, size, (0, 8), (size - 8, size))
    keyed = _keyed(data, _key(_FLIPS_9TO16, seed, count))
    words = zip(iter_unpack("<2Q", keyed), iter_unpack(">Q8x", keyed))
    sums = [size + swap + hi + ((p := lo * hi) ^ p >> 64) & M64 for (lo, hi), (swap,) in words]
    return _avalanche(_lanes(sums))


def _chain(flipped: list[int], flip_lo: int, flip_hi: int, parent: int | None) -> list[int]:
    """`flipped`: block hashes, each `^ flip_hi`. The inner part of `_len_9to16` for 16 bytes."""
    hashes = iter(flipped)
    result = []
    if parent is None:
        parent = next(hashes, 0) ^ flip_hi
        result = [parent][: len(flipped)]
    word = array("Q", [0])  # 8 bytes to swap, 20 ns cheaper than by to_bytes and from_bytes
    swap = word.byteswap
    for hi in hashes:
        lo = parent ^ flip_lo
        word[0] = lo
        swap()
        lo *= hi
        h = word[0] + hi + 16 + (lo ^ lo >> 64) & M64
        h = (h ^ h >> 37) * PRIME_MX1 & M64
        parent = h ^ h >> 32
        result.append(parent)
    return result


@lru_cache(maxsize=16)
def _flips_9to16(seed: int) -> tuple[int, int]:
    return _FLIP_LO + seed & M64, _FLIP_HI - seed & M64


@cache
def _layout(size: int) -> tuple[int, int, bytes, Parts]:
    """17 to 240 bytes: how many from the block's start, from its end; the secret; the sums of
    folded products before each avalanche.
    """
    if size <= 128:
        pairs = (size + 31) // 32
        offsets = [32 * i for i in range(pairs)] + [32 * i + 16 for i in reversed(range(pairs))]
        front = back = 16 * pairs
        parts = [(0, 2 * pairs)]
    else:
        offsets = [16 * i if i < 8 else 16 * (i - 8) + 3 for i in range(size // 16)] + [136 - 17]
        front, back = size // 16 * 16, 16
        parts = [(0, 8), (8, len(offsets))]
    secret = b"".join([SECRET[i : i + 16] for i in offsets])
    return front, back, secret, [_folds(i, j, len(offsets)) for i, j in parts]


@cache
def _one_input(size: int) -> Callable[[bytes, int, int], int]:
    return one_input(*_layout(size)[:3])


@lru_cache(maxsize=16)
def _plan(size: int, seed: int, count: int) -> tuple[int, int, int, int, Parts]:
    front, back, secret, parts = _layout(size)
    return front, back, _key(secret, seed, count), _repeated(size * PRIME64_1 & M64, count), parts


def _len_17to240(data: bytes, size: int, seed: int, count: int) -> int:
    front, back, key, lanes, parts = _plan(size, seed, count)
    if front + back != size:
        data = _gather(data, size, (0, front), (size - back, size))
    keyed = _keyed(data, key)
    for folded, words in parts:
        lanes = _avalanche(_add(lanes, _lanes(folded(words(keyed)))))
    return lanes


@cache
def _folds(first: int, stop: int, lanes: int) -> tuple[Folds, Unpack]:
    """For lanes first … stop - 1 of each block of so many."""
    layout = f"<{16 * first}x{2 * (stop - first)}Q{16 * (lanes - stop)}x"
    return folder(stop - first), Struct(layout).iter_unpack


def _hash_long(data: bytes, size: int, seed: int, count: int) -> int:
    acc = _lanes(xxh3.ACC_INIT, count)
    rest = (size - 1) // _ROUND * _ROUND  # the last stripe belongs to no full round
    for start in range(0, rest, _ROUND):
        stripes = _gather(data, size, (start, start + _ROUND))
        acc = _add(acc, _accumulate(stripes, tuple(range(0, 128, 8)), seed, count))
        acc ^= acc >> 47 & _LOW17 ^ _stripe_key((128,), seed, count)  # scramble
        acc = _times(acc, xxh3.PRIME32_1)
    full = (size - 1 - rest) // 64
    if size != 64 * (full + 1):  # the last stripe overlaps others, or rounds went before
        data = _gather(data, size, (rest, rest + 64 * full), (size - 64, size))
    acc = _add(acc, _accumulate(data, (*range(0, 8 * full, 8), 121), seed, count))
    keyed = (acc ^ _stripe_key((11,), seed, count)).to_bytes(64 * count, "little")
    folded, words = _folds(0, 4, 4)
    return _avalanche(_add(_repeated(size * PRIME64_1 & M64, count), _lanes(folded(words(keyed)))))


def _accumulate(stripes: bytes, secret_starts: tuple[int, ...], seed: int, count: int) -> int:
    """What the stripes of each block add to its 8 accumulators: 8 lanes a block."""
    rows = len(secret_starts)
    lanes = _int(stripes, "little")
    keyed = (lanes ^ _stripe_key(secret_starts, seed, count)).to_bytes(len(stripes), "little")
    products = b"".join(dotter(rows)(iter_unpack(f"<{16 * rows}I", keyed)))
    by_row = zip(*iter_unpack("64s" * rows, stripes))
    summands = [_int(b"".join(row), "little") for row in by_row]
    # 16 words below 2^60 stay in their lanes: so do token ids, up to 2^28.
    words = reduce(_add, summands) if lanes & _TOP4 else sum(summands)
    swapped = (words & _EVEN) << 64 | words >> 64 & _EVEN  # word i goes to accumulator i ^ 1
    return _add(_int(products, "little"), swapped)
