"""XXH3-64 as published (xxHash 0.8, default secret), one function a length class.

Here: the algorithm in the order and with the names of the specification, for reading and as the
oracle of the fast kernels. Not here: speed (``kernel.py``). Implements FORMAT.md, "XXH3-64".

Every input is read as little-endian words through ``int.from_bytes(…, "little")``, so neither the
host's byte order nor its word size can reach a result.
"""

from __future__ import annotations

from .errors import FieldTypeError, FieldValueError, require_uint

M64 = 0xFFFFFFFFFFFFFFFF

PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
SECRET_MIN = 136  # the shortest secret the specification allows; 129-240 counts back from it
STRIPE = 64
STRIPES_PER_ROUND = (len(SECRET) - STRIPE) // 8  # 16: a scramble after every 1 024 bytes
ACC_INIT = (
    PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1,
)  # fmt: skip


def xxh3_64(data: object, seed: int = 0) -> int:
    """Seeded XXH3-64 of ``data``'s bytes: an int of 0 … 2^64-1.

    ``data``: any C-contiguous object with the buffer protocol, hashed as the bytes it holds in
    memory (``array('I')`` as 4 bytes an item). ``seed``: 0 … 2^64-1. Raises FieldTypeError or
    FieldValueError naming ``data`` or ``seed``.
    """
    return hash_bytes(as_bytes(data), as_seed(seed))


def as_bytes(data: object) -> bytes:
    """The bytes of a buffer; FieldTypeError for what has none, FieldValueError if it has holes."""
    if type(data) is bytes:
        return data
    expected = "a bytes-like object, C-contiguous"
    try:
        view = memoryview(data)  # type: ignore[arg-type]  # what has no buffer is told below
    except TypeError:
        raise FieldTypeError(field="data", value=data, expected=expected) from None
    except (BufferError, ValueError):  # a released view, or an exporter that refuses
        raise FieldValueError(field="data", value=data, expected=expected) from None
    with view:
        if not view.c_contiguous:
            raise FieldValueError(field="data", value=data, expected=expected)
        return view.tobytes()


def as_seed(seed: object) -> int:
    """The seed as an int of 0 … 2^64-1, or an error naming it."""
    return require_uint(seed, "seed")


def hash_bytes(data: bytes, seed: int) -> int:
    """XXH3-64 of checked input: the specification's choice by length."""
    length = len(data)
    if length <= 16:
        return _len_0to16(data, length, seed)
    if length <= 128:
        return _len_17to128(data, length, seed)
    if length <= 240:
        return _len_129to240(data, length, seed)
    return _hash_long(data, length, seed)


def _read32(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "little")


def _read64(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _rotl64(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & M64


def _mul128_fold64(a: int, b: int) -> int:
    product = a * b
    return (product & M64) ^ (product >> 64)


def _xxh64_avalanche(h: int) -> int:
    h = (h ^ h >> 33) * PRIME64_2 & M64
    h = (h ^ h >> 29) * PRIME64_3 & M64
    return h ^ h >> 32


def _avalanche(h: int) -> int:
    h = (h ^ h >> 37) * PRIME_MX1 & M64
    return h ^ h >> 32


def _rrmxmx(h: int, length: int) -> int:
    h ^= _rotl64(h, 49) ^ _rotl64(h, 24)
    h = h * PRIME_MX2 & M64
    h = (h ^ (h >> 35) + length) * PRIME_MX2 & M64
    return h ^ h >> 28


def _len_0to16(data: bytes, length: int, seed: int) -> int:
    if length == 0:
        return _xxh64_avalanche(seed ^ _read64(SECRET, 56) ^ _read64(SECRET, 64))
    if length <= 3:
        first, middle, last = data[0], data[length >> 1], data[-1]
        combined = first << 16 | middle << 24 | last | length << 8
        flip = (_read32(SECRET, 0) ^ _read32(SECRET, 4)) + seed & M64
        return _xxh64_avalanche(combined ^ flip)
    if length <= 8:
        seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
        flip = (_read64(SECRET, 8) ^ _read64(SECRET, 16)) - seed & M64
        return _rrmxmx((_read32(data, 0) << 32 | _read32(data, length - 4)) ^ flip, length)
    flip_lo = (_read64(SECRET, 24) ^ _read64(SECRET, 32)) + seed & M64
    flip_hi = (_read64(SECRET, 40) ^ _read64(SECRET, 48)) - seed & M64
    lo = _read64(data, 0) ^ flip_lo
    hi = _read64(data, length - 8) ^ flip_hi
    swapped = int.from_bytes(lo.to_bytes(8, "little"), "big")
    return _avalanche(length + swapped + hi + _mul128_fold64(lo, hi) & M64)


def _mix16b(data: bytes, offset: int, secret_offset: int, seed: int) -> int:
    lo = _read64(data, offset) ^ (_read64(SECRET, secret_offset) + seed & M64)
    hi = _read64(data, offset + 8) ^ (_read64(SECRET, secret_offset + 8) - seed & M64)
    return _mul128_fold64(lo, hi)


def _len_17to128(data: bytes, length: int, seed: int) -> int:
    acc = length * PRIME64_1
    # 1 to 4 pairs, one lane counted from each end; lanes overlap where the length is no multiple
    for i in range((length - 1) // 32 + 1):
        acc += _mix16b(data, 16 * i, 32 * i, seed)
        acc += _mix16b(data, length - 16 * (i + 1), 32 * i + 16, seed)
    return _avalanche(acc & M64)


def _len_129to240(data: bytes, length: int, seed: int) -> int:
    acc = length * PRIME64_1
    for i in range(8):
        acc += _mix16b(data, 16 * i, 16 * i, seed)
    acc = _avalanche(acc & M64)
    for i in range(8, length // 16):
        acc += _mix16b(data, 16 * i, 16 * (i - 8) + 3, seed)
    acc += _mix16b(data, length - 16, SECRET_MIN - 17, seed)
    return _avalanche(acc & M64)


def derive_secret(seed: int) -> bytes:
    """The 192-byte secret of the long form: the default one, +seed and -seed by turns."""
    words = []
    for i in range(0, len(SECRET), 16):
        words += [_read64(SECRET, i) + seed & M64, _read64(SECRET, i + 8) - seed & M64]
    return b"".join(word.to_bytes(8, "little") for word in words)


def _accumulate(acc: list[int], data: bytes, start: int, secret: bytes, secret_start: int) -> None:
    for i in range(8):
        word = _read64(data, start + 8 * i)
        keyed = word ^ _read64(secret, secret_start + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + word & M64
        acc[i] = acc[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & M64


def _scramble(acc: list[int], secret: bytes) -> None:
    for i in range(8):
        key = _read64(secret, len(secret) - STRIPE + 8 * i)
        acc[i] = (acc[i] ^ acc[i] >> 47 ^ key) * PRIME32_1 & M64


def _merge_accs(acc: list[int], secret: bytes, secret_offset: int, start: int) -> int:
    for i in range(0, 8, 2):
        start += _mul128_fold64(
            acc[i] ^ _read64(secret, secret_offset + 8 * i),
            acc[i + 1] ^ _read64(secret, secret_offset + 8 * i + 8),
        )
    return _avalanche(start & M64)


def _hash_long(data: bytes, length: int, seed: int) -> int:
    secret = derive_secret(seed)
    acc = list(ACC_INIT)
    # every stripe that starts before the last byte's, so a length of 64·n has n-1 of them here
    for stripe in range((length - 1) // STRIPE):
        in_round = stripe % STRIPES_PER_ROUND
        _accumulate(acc, data, stripe * STRIPE, secret, 8 * in_round)
        if in_round == STRIPES_PER_ROUND - 1:
            _scramble(acc, secret)
    # the last stripe ends where the input ends, whatever it overlaps
    _accumulate(acc, data, length - STRIPE, secret, len(secret) - STRIPE - 7)
    return _merge_accs(acc, secret, 11, length * PRIME64_1)
