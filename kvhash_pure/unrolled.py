"""The products of XXH3-64, written out: functions generated for a number of lanes.

A product of 64-bit lanes is the one step that `kernel_cpython` cannot do on big ints. Each function
here is one comprehension or expression without loops over lanes: names instead of indexing, one
mask a block instead of one a product. There are at most 8 + 16 + 12 of them, made when first
needed (0.1 to 3 ms each) and kept; their text depends on sizes only, never on a request or a seed.
"""

from __future__ import annotations

from functools import cache
from struct import Struct, unpack

from .xxh3 import M64, PRIME64_1, PRIME_MX1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Blocks = Iterable[tuple[int, ...]]


@cache
def folder(lanes: int) -> Callable[[Blocks], list[int]]:
    """`mul128_fold64` of each pair of words of a block, summed, for many blocks.

    >>> folder(2)([(1 << 63, 2, 3, 5)])  # 2^64 folds to 1
    [16]
    """
    names = ",".join([f"a{i},b{i}" for i in range(lanes)])
    # The high half stays above bit 63 of each term, where the last mask takes it away.
    terms = "+".join([f"((p:=a{i}*b{i})^p>>64)" for i in range(lanes)])
    source = f"lambda blocks: [{terms} & {M64} for {names} in blocks]"
    return eval(source)  # type: ignore[no-any-return]


@cache
def dotter(rows: int) -> Callable[[Blocks], list[bytes]]:
    """Low half times high half of each word, summed over `rows` stripes for each of 8 lanes and
    packed, for many blocks. Halves come unpacked, so a product needs no mask and no shift.
    """
    names = ",".join([f"l{i},h{i}" for i in range(8 * rows)])
    lanes = ["+".join([f"l{i}*h{i}" for i in range(j, 8 * rows, 8)]) for j in range(8)]
    sums = ",".join([f"({lane})&{M64}" for lane in lanes])
    source = f"lambda blocks: [pack({sums}) for {names} in blocks]"
    return eval(source, {"pack": Struct("<8Q").pack})  # type: ignore[no-any-return]


@cache
def one_input(front: int, back: int, secret: bytes) -> Callable[[bytes, int, int], int]:
    """All of XXH3-64 for one input of 17 to 240 bytes, of any seed: `f(data, length, seed)`.

    `front` bytes from its start and `back` up to its end are read, `secret` in that order.
    """
    keys = unpack(f"<{len(secret) // 8}Q", secret)
    names = [f"{c}{i}" for i in range(len(keys) // 2) for c in "ab"]
    terms = [
        f"((p:=({a}^{plus}+seed&{M64})*({b}^{minus}-seed&{M64}))^p>>64)"
        for a, b, plus, minus in zip(names[::2], names[1::2], keys[::2], keys[1::2])
    ]
    parts = [terms] if front + back <= 128 else [terms[:8], terms[8:]]
    lines = [
        "def hashing(data, length, seed):",
        f"    {','.join(names[: front // 8])} = front(data)",
        f"    {','.join(names[front // 8 :])} = back(data, length - {back})",
        f"    h = length * {PRIME64_1}",
    ]
    for part in parts:
        lines += [
            f"    h = h + {'+'.join(part)} & {M64}",
            f"    h = (h ^ h >> 37) * {PRIME_MX1} & {M64}",
            "    h ^= h >> 32",
        ]
    scope: dict[str, Any] = {
        "front": Struct(f"<{front // 8}Q").unpack_from,
        "back": Struct(f"<{back // 8}Q").unpack_from,
    }
    exec("\n".join([*lines, "    return h"]), scope)
    return scope["hashing"]  # type: ignore[no-any-return]
