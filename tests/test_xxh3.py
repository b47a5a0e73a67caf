"""XXH3-64 as one input's hash: the plain form, and what the kernels make of one input."""

from __future__ import annotations

import ctypes
import json
import mmap
import random
import runpy
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kvhash_pure import compute_hash_v2, kernel, kernel_cpython, xxh3, xxh3_64
from kvhash_pure.errors import FieldTypeError, FieldValueError
from tests import reference
from tests.helpers import IN_PYODIDE, IN_PYPY, U64_MAX, rejected
from tests.intop import kernel_pypy, there

VECTORS = json.loads(
    (Path(__file__).parent / "vectors" / "xxh3_64_published.json").read_text("utf-8")
)["vectors"]
FORMS = {
    "plain": xxh3.xxh3_64,
    "cpython": kernel_cpython.xxh3_64,
    "pypy": kernel_pypy().xxh3_64,
}
SEEDS = (0, 1, 1337, 2**31, 2**32, 2**63, U64_MAX, 0x0123456789ABCDEF, 0xFEDCBA9876543210)
# kernel_pypy is made for a compiler: without one, and without the C library, fewer seeds do.
SLOW = IN_PYODIDE or IN_PYPY
LENGTHS = (*range(1101), *range(2048 - 64, 2048 + 65), *range(3072 - 64, 3072 + 65))
LONG = (4095, 4096, 4097, 16384, 32767, 32768, 32769, 65536, 65537, 70000)

each_form = pytest.mark.parametrize("form", list(FORMS.values()), ids=list(FORMS))


def noise(length: int, seed: int = 20) -> bytes:
    return random.Random(seed).getrandbits(8 * length).to_bytes(length, "little") if length else b""


def sanity_buffer(length: int) -> bytes:
    """The input of the published values; the rule is in the file."""
    out = bytearray()
    generator = 2654435761
    for _ in range(length):
        out.append(generator >> 56)
        generator = generator * 11400714785074694797 % 2**64
    return bytes(out)


@each_form
def test_published_values(form: Callable[..., int]) -> None:
    """The 28 values published with xxHash 0.8, two seeds over lengths of every class."""
    assert len(VECTORS) == 28
    for case in VECTORS:
        data = sanity_buffer(case["length"])
        assert form(data, int(case["seed"], 16)) == int(case["hash"], 16), case


@each_form
def test_every_length(form: Callable[..., int], request: pytest.FixtureRequest) -> None:
    """Each length of 0 … 1 100 and around two scrambles, under seeds at the edges of 32 and 64
    bits, is what the oracle says.
    """
    fewer = SLOW or request.node.callspec.id == "pypy"
    data = noise(max(LENGTHS))
    for length in LENGTHS:
        seeds = (SEEDS[length % len(SEEDS)],) if fewer else SEEDS
        for seed in (*seeds, random.Random(length).getrandbits(64)):
            expected = reference.xxh3_64(data[:length], seed)
            assert form(data[:length], seed) == expected, (length, seed)


@each_form
def test_long_inputs(form: Callable[..., int]) -> None:
    """Lengths up to 70 000: many scrambles, and more than one chunk of the kernels."""
    data = noise(max(LONG))
    for length in LONG:
        for seed in SEEDS[:: 4 if SLOW else 2]:
            expected = reference.xxh3_64(data[:length], seed)
            assert form(data[:length], seed) == expected, (length, seed)


@each_form
def test_extreme_words(form: Callable[..., int]) -> None:
    """All bits set or clear, in the input or after keying (the largest products and carries)."""
    inverted = bytes(byte ^ 0xFF for byte in xxh3.SECRET)
    for pattern in (b"\0", b"\xff", xxh3.SECRET, inverted, inverted[8:], xxh3.SECRET[3:]):
        for length in (*range(1, 18), 32, 64, 65, 96, 128, 129, 208, 240, 241, 512, 1024, 1025):
            data = (pattern * length)[:length]
            for seed in (0, U64_MAX):
                assert form(data, seed) == reference.xxh3_64(data, seed), (pattern, length, seed)


@each_form
def test_seeds_at_which_a_word_of_the_secret_carries_or_borrows(form: Callable[..., int]) -> None:
    """On both sides of each sum's 2^64 and of each difference's 0, wherever a length reads it."""
    data = noise(240)
    starts = (*range(0, 136 - 7, 8), *range(3, 136 - 7, 8), 136 - 17, 136 - 9)
    words = [int.from_bytes(xxh3.SECRET[i : i + 8], "little") for i in starts]
    seeds = {sign * word + i & U64_MAX for word in words for sign in (1, -1) for i in (-1, 0, 1)}
    for length in (17, 32, 33, 64, 65, 96, 128, 129, 144, 208, 240):
        for seed in sorted(seeds):
            expected = reference.xxh3_64(data[:length], seed)
            assert form(data[:length], seed) == expected, (length, seed)


_big_endian_u32: Any = vars(ctypes.c_uint32)["__ctype_be__"]


def exporters() -> dict[str, Any]:
    data = noise(64)
    mapped = mmap.mmap(-1, 64)
    mapped[:] = data
    return {
        "bytes": data,
        "bytearray": bytearray(data),
        "memoryview": memoryview(data),
        "slice": memoryview(b"\0\0" + data + b"\0")[2:66],
        "two dimensions": memoryview(data).cast("B", (8, 8)),
        "array of bytes": array("B", data),
        "array of shorts": array("h", data),
        "array of doubles": array("d", data),
        "cast to doubles": memoryview(data).cast("d"),
        "ctypes array": (ctypes.c_uint32 * 16).from_buffer_copy(data),
        "ctypes big-endian": (_big_endian_u32 * 16).from_buffer_copy(data),
        "mmap": mapped,
    }


@each_form
@pytest.mark.parametrize("name", list(exporters()))
def test_any_buffer_is_hashed_as_its_bytes(form: Callable[..., int], name: str) -> None:
    """What an exporter's items are does not matter, only the bytes that it holds in memory."""
    assert form(exporters()[name], 7) == reference.xxh3_64(noise(64), 7)


@each_form
def test_array_of_integers_is_hashed_as_memory(form: Callable[..., int]) -> None:
    """array('I') is 4 bytes an item, not one."""
    items = array("I", range(16))
    assert form(items) == reference.xxh3_64(items.tobytes(), 0) != form(bytes(range(16)))


@each_form
def test_no_bytes_in_many_shapes(form: Callable[..., int]) -> None:
    """Nothing has a hash: the empty input's, known from the specification."""
    for empty in (b"", bytearray(), memoryview(b""), array("Q"), memoryview(b"abc")[2:2]):
        assert form(empty) == 0x2D06800538D394C2


@each_form
@pytest.mark.parametrize("data", ["text", 5, 1.5, None, [1, 2], (1,), {}, object(), range(4)])
def test_what_has_no_buffer_is_refused(form: Callable[..., int], data: Any) -> None:
    """A str or a list of numbers has no bytes of its own."""
    with rejected(FieldTypeError, "data", value=data):
        form(data)


@each_form
def test_buffers_with_holes_are_refused(form: Callable[..., int]) -> None:
    """A view that skips or reverses bytes is not the bytes in memory; nor is a released one."""
    view = memoryview(bytes(range(32)))
    released = memoryview(b"abc")
    released.release()
    for holes in (view[::2], view[::-1], view.cast("I")[::3], released):
        with rejected(FieldValueError, "data"):
            form(holes)


@each_form
def test_seed_is_a_u64(form: Callable[..., int]) -> None:
    """0 … 2^64 - 1, an integer: never reduced, truncated or converted."""
    for outside in (-1, 2**64, 2**200, -(2**63)):
        with rejected(FieldValueError, "seed", value=outside):
            form(b"abc", outside)
    wrong: tuple[Any, ...] = (True, False, 1.0, "1", None, b"1", [1])
    for kind in wrong:
        with rejected(FieldTypeError, "seed", value=kind):
            form(b"abc", kind)


@each_form
def test_seed_may_be_any_integer_type(form: Callable[..., int]) -> None:
    """What has `__index__` is an integer: numpy's, an enum's member."""

    class Seed:
        def __index__(self) -> int:
            return 1337

    for length in (3, 64, 300):
        data = noise(length)
        assert form(data, Seed()) == form(data, 1337) == reference.xxh3_64(data, 1337)


def test_public_names_are_the_kernel() -> None:
    """`xxh3_64` and the original's name for it, with its order of arguments."""
    assert xxh3_64 is kernel.xxh3_64
    data = noise(100)
    assert compute_hash_v2(data, 9) == xxh3_64(data, seed=9) == reference.xxh3_64(data, 9)


def test_kernel_is_the_one_for_this_interpreter() -> None:
    """`__pypy__.intop` decides, once, at import."""
    chosen = "kvhash_pure.kernel_pypy" if IN_PYPY else "kvhash_pure.kernel_cpython"
    assert kernel.hash_blocks.__module__ == kernel.chain.__module__ == chosen
    with there():
        again = runpy.run_path(kernel.__file__, run_name="kvhash_pure.kernel")
    assert {again[name].__module__ for name in kernel.__all__} == {"kvhash_pure.kernel_pypy"}
