"""XXH3-64 of many blocks where every operation of the interpreter costs: CPython and Pyodide.

What is the same for each 64-bit lane (keying, sums, avalanches, scrambles) is done in bulk, on big
ints that hold the lanes of all blocks: `lanes`, 1 to 10 ns a lane instead of 30 for an operation.
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
from .lanes import CHUNK, EVEN, LOW17, TOP4, add, avalanche, lanes_of, repeated, times, words_of
from .unrolled import dotter, folder, one_input
from .xxh3 import M64, PRIME64_1, PRIME_MX1, PRIME_MX2, SECRET, as_bytes, as_seed, hash_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Union

    Payload = Union[bytes, bytearray, memoryview]
    Segments = Sequence[tuple[Payload, int]]
    Unpack = Callable[[bytes], Iterable[tuple[int, ...]]]
    Folds = Callable[[Iterable[tuple[int, ...]]], list[int]]
    Parts = list[tuple[Folds, Unpack]]

_ROUND = 1024  # bytes between two scrambles
_int = int.from_bytes

_WORDS = unpack("<24Q", SECRET)
_FLIP_4TO8 = _WORDS[1] ^ _WORDS[2]
_FLIP_LO, _FLIP_HI = _WORDS[3] ^ _WORDS[4], _WORDS[5] ^ _WORDS[6]  # 9 to 16 bytes
_FLIPS_9TO16 = pack("<2Q", _FLIP_LO, _FLIP_HI)


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
    if type(data) is bytes and type(seed) is int and not seed >> 64:
        try:
            return _one_inputs[len(data)](data, seed)
        except KeyError:
            pass
    payload, seed = as_bytes(data), as_seed(seed)
    return _hash_blocks(payload, len(payload), seed, 0)[0] if payload else hash_bytes(b"", seed)


# By size, up to 240 bytes.
_one_inputs: dict[int, Callable[[bytes, int], int]] = dict.fromkeys(range(17), hash_bytes)


def _hash_blocks(payload: Payload, size: int, seed: int, flip: int) -> list[int]:
    """The hashes, each `^ flip`."""
    if not payload:  # whatever the size
        return []
    most = CHUNK if size > 16 else CHUNK // 16 * size  # small ones become lanes of 16 bytes
    if len(payload) > most and len(payload) > size:
        step = max(1, most // size) * size
        hashes: list[int] = []
        for i in range(0, len(payload), step):
            hashes += _hash_blocks(payload[i : i + step], size, seed, flip)
        return hashes
    data, count = bytes(payload), len(payload) // size
    if size > 240:
        form = _hash_long
    elif size > 16:
        if count < 3:
            hashing = _one_input(size)
            return [hashing(data[i : i + size], seed) ^ flip for i in range(0, len(data), size)]
        form = _len_17to240
    else:
        form = _len_9to16 if size > 8 else _len_4to8 if size > 3 else _len_1to3
    lanes = form(data, size, seed, count)
    if flip:
        lanes ^= repeated(flip, count)
    return list(words_of(count).unpack(lanes.to_bytes(8 * count, "little")))


def _gather(data: bytes, size: int, *parts: tuple[int, int]) -> bytes:
    """The bytes start … stop - 1 of each block of `size` bytes, for each of `parts` in turn."""
    blocks = range(0, len(data), size)
    return b"".join([data[i + start : i + stop] for i in blocks for start, stop in parts])


@lru_cache(maxsize=16)  # the last few seeds: a stream would pay for its keys at each block
def _key(secret: bytes, seed: int, count: int) -> int:
    """The lanes of `secret`, by turns + seed and - seed, `count` times over."""
    signs = lanes_of((seed, -seed & M64), len(secret) // 16)
    key = add(_int(secret, "little"), signs).to_bytes(len(secret), "little")
    return _int(key * count, "little")


@lru_cache(maxsize=16)
def _stripe_key(starts: tuple[int, ...], seed: int, count: int) -> int:
    """64 bytes from each of `starts` of the secret derived from `seed`, `count` times over."""
    secret = _key(SECRET, seed, 1).to_bytes(len(SECRET), "little")
    return _int(b"".join([secret[i : i + 64] for i in starts]) * count, "little")


def _len_1to3(data: bytes, size: int, seed: int, count: int) -> int:
    return lanes_of([hash_bytes(data[i : i + size], seed) for i in range(0, len(data), size)])


def _len_4to8(data: bytes, size: int, seed: int, count: int) -> int:
    seed ^= _int(pack(">I", seed & 0xFFFFFFFF), "little") << 32
    words = _gather(data, size, (size - 4, size), (0, 4))
    keyed = _int(words, "little") ^ repeated(_FLIP_4TO8 - seed & M64, count)
    length = repeated(size, count) & EVEN
    even, odd = _rrmxmx(keyed & EVEN, length), _rrmxmx(keyed >> 64 & EVEN, length)
    return (even | odd << 64) & (1 << 64 * count) - 1  # an odd count leaves a lane over


def _rrmxmx(h: int, length: int) -> int:
    """On every second lane, so that what is shifted out on the left comes round from there."""
    h = (h ^ (h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & EVEN
    h = h * PRIME_MX2 & EVEN
    h = ((h ^ (h >> 35) + length) & EVEN) * PRIME_MX2 & EVEN
    return (h ^ h >> 28) & EVEN


def _len_9to16(data: bytes, size: int, seed: int, count: int) -> int:
    if size < 16:
        data = _gather(data, size, (0, 8), (size - 8, size))
    key = _key(_FLIPS_9TO16, seed, count)
    keyed = (_int(data, "little") ^ key).to_bytes(len(data), "little")
    words = zip(iter_unpack("<2Q", keyed), iter_unpack(">Q8x", keyed))
    sums = [size + swap + hi + ((p := lo * hi) ^ p >> 64) & M64 for (lo, hi), (swap,) in words]
    return avalanche(lanes_of(sums))


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


def _one_input(size: int) -> Callable[[bytes, int], int]:
    if size not in _one_inputs:
        _one_inputs[size] = one_input(size, *_layout(size)[:3])
    return _one_inputs[size]


@lru_cache(maxsize=16)
def _plan(size: int, seed: int, count: int) -> tuple[int, int, int, int, Parts]:
    front, back, secret, parts = _layout(size)
    return front, back, _key(secret, seed, count), repeated(size * PRIME64_1 & M64, count), parts


def _len_17to240(data: bytes, size: int, seed: int, count: int) -> int:
    front, back, key, lanes, parts = _plan(size, seed, count)
    if front + back != size:
        data = _gather(data, size, (0, front), (size - back, size))
    keyed = (_int(data, "little") ^ key).to_bytes(len(data), "little")
    return _merged(keyed, lanes, count, parts)


def _merged(keyed: bytes, lanes: int, count: int, parts: Parts) -> int:
    """Each part's sums of folded products on top of `lanes`, then an avalanche."""
    pack = words_of(count).pack
    for folded, words in parts:
        lanes = avalanche(add(lanes, _int(pack(*folded(words(keyed))), "little")))
    return lanes


@cache
def _folds(first: int, stop: int, lanes: int) -> tuple[Folds, Unpack]:
    """For lanes first … stop - 1 of each block of so many."""
    layout = f"<{16 * first}x{2 * (stop - first)}Q{16 * (lanes - stop)}x"
    return folder(stop - first), Struct(layout).iter_unpack


def _hash_long(data: bytes, size: int, seed: int, count: int) -> int:
    acc = lanes_of(xxh3.ACC_INIT, count)
    rest = (size - 1) // _ROUND * _ROUND  # the last stripe belongs to no full round
    for start in range(0, rest, _ROUND):
        stripes = _gather(data, size, (start, start + _ROUND))
        acc = add(acc, _accumulate(stripes, tuple(range(0, 128, 8)), seed, count))
        acc ^= acc >> 47 & LOW17 ^ _stripe_key((128,), seed, count)  # scramble
        acc = times(acc, xxh3.PRIME32_1)
    full = (size - 1 - rest) // 64
    if size != 64 * (full + 1):  # the last stripe overlaps others, or rounds went before
        data = _gather(data, size, (rest, rest + 64 * full), (size - 64, size))
    acc = add(acc, _accumulate(data, (*range(0, 8 * full, 8), 121), seed, count))
    keyed = (acc ^ _stripe_key((11,), seed, count)).to_bytes(64 * count, "little")
    return _merged(keyed, repeated(size * PRIME64_1 & M64, count), count, [_folds(0, 4, 4)])


def _accumulate(stripes: bytes, secret_starts: tuple[int, ...], seed: int, count: int) -> int:
    """What the stripes of each block add to its 8 accumulators: 8 lanes a block."""
    rows = len(secret_starts)
    lanes = _int(stripes, "little")
    keyed = (lanes ^ _stripe_key(secret_starts, seed, count)).to_bytes(len(stripes), "little")
    products = b"".join(dotter(rows)(iter_unpack(f"<{16 * rows}I", keyed)))
    by_row = zip(*iter_unpack("64s" * rows, stripes))
    summands = [_int(b"".join(row), "little") for row in by_row]
    # 16 words below 2^60 stay in their lanes: so do token ids, up to 2^28.
    words = reduce(add, summands) if lanes & TOP4 else sum(summands)
    swapped = (words & EVEN) << 64 | words >> 64 & EVEN  # word i goes to accumulator i ^ 1
    return add(_int(products, "little"), swapped)
