"""The products of XXH3-64, written out: functions generated for a number of lanes.

A product of 64-bit lanes is the one step that `kernel_cpython` cannot do on big ints. Each function
here is one comprehension or expression without loops over lanes: names instead of indexing, one
mask a block instead of one a product. They are made when first needed (0.1 to 3 ms each) and kept:
at most 8 + 16, and one a size up to 240. Their text depends on sizes only, never on a request or a
seed.
"""

from __future__ import annotations

from bisect import bisect
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
def one_input(size: int, front: int, back: int, secret: bytes) -> Callable[[bytes, int], int]:
    """All of XXH3-64 for one input of `size` bytes, 17 to 240, under any seed: `f(data, seed)`.

    `front` bytes from its start and `back` up to its end are read, `secret` in that order. The
    seed is added to every second word of the secret and taken from the others, all at once: a
    multiple of the seed and a constant, which is another one for each of the few ranges of seeds
    within which the same words carry or borrow.
    """
    keys = unpack(f"<{len(secret) // 8}Q", secret)
    lanes = len(keys) // 2
    signs = sum([(1 << 128 * i) - (1 << 128 * i + 64) for i in range(lanes)])
    # The first seeds that make a word carry, or borrow.
    turns = sorted([(1 << 64) - key for key in keys[::2]] + [key + 1 for key in keys[1::2]])
    constants = []
    for seed in [0, *turns]:
        words = [key + (-seed if i & 1 else seed) & M64 for i, key in enumerate(keys)]
        constants.append(sum([word << 64 * i for i, word in enumerate(words)]) - seed * signs)
    names = ",".join([f"a{i},b{i}" for i in range(lanes)])
    terms = [f"((p:=a{i}*b{i})^p>>64)" for i in range(lanes)]
    lines = [
        "def hashing(data, seed):",
        f"    data = data[:{front}] + data[{size - back}:]" if front + back != size else "",
        f"    key = constants[bisect(turns, seed)] + seed * {signs}",
        f"    keyed = (int_from(data, 'little') ^ key).to_bytes({16 * lanes}, 'little')",
        f"    {names} = unpack(keyed)",
    ]
    h = f"{size * PRIME64_1 & M64}"
    for part in [terms] if size <= 128 else [terms[:8], terms[8:]]:
        lines += [
            f"    h = {h} + {'+'.join(part)} & {M64}",
            f"    h = (h ^ h >> 37) * {PRIME_MX1} & {M64}",
        ]
        h = "(h ^ h >> 32)"
    scope: dict[str, Any] = {"bisect": bisect, "constants": constants, "turns": turns}
    scope.update(int_from=int.from_bytes, unpack=Struct(f"<{2 * lanes}Q").unpack)
    exec("\n".join([*lines, f"    return {h}"]), scope)
    return scope["hashing"]  # type: ignore[no-any-return]
