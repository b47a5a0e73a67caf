"""Each kernel gives what the plain form and the oracle give, and does no more work than it says."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kvhash_pure import (
    Request,
    RequestMmObjectInfo,
    kernel,
    kernel_cpython,
    request,
    unrolled,
    xxh3,
)
from tests import reference
from tests.helpers import IN_PYODIDE, IN_PYPY, U64_MAX
from tests.intop import kernel_pypy

PYPY = kernel_pypy()
KERNELS = {"cpython": kernel_cpython, "pypy": PYPY}
SLOTS = range(1, 1025)
WIDTHS = (4, 13)  # bytes a slot: a plain token, a frame
SEEDS = (0, 1337, 2**63, U64_MAX, 0x0123456789ABCDEF)
CHUNK = 32768  # bytes that kernel_cpython takes at once
NO_COMPILER = not IN_PYPY  # kernel_pypy runs on the stand-in: 100 times slower

each_kernel = pytest.mark.parametrize("name", list(KERNELS))


def noise(length: int, seed: int) -> bytes:
    return random.Random(seed).getrandbits(8 * length).to_bytes(length, "little")


def split(payload: bytes, size: int) -> list[bytes]:
    return [payload[i : i + size] for i in range(0, len(payload), size)]


def expected(payload: bytes, size: int, seed: int) -> list[int]:
    return [reference.xxh3_64(block, seed) for block in split(payload, size)]


def expected_chain(hashes: Sequence[int], seed: int, parent: int | None = None) -> list[int]:
    result: list[int] = []
    for block_hash in hashes:
        if parent is None:
            parent = block_hash
        else:
            pair = parent.to_bytes(8, "little") + block_hash.to_bytes(8, "little")
            parent = reference.xxh3_64(pair, seed)
        result.append(parent)
    return result


@each_kernel
@pytest.mark.parametrize("width", WIDTHS)
def test_every_block_length(name: str, width: int) -> None:
    """1 to 1 024 slots in both encodings, up to 3 blocks at once, changing seeds."""
    stand_in = name == "pypy" and NO_COMPILER
    for slots in SLOTS:
        size = width * slots
        if stand_in and size > 1200 and slots % 5:
            continue  # all lengths above differ only in how often a loop runs
        count = 1 if stand_in else 1 + slots % 3
        payload = noise(size * count, size)
        seed = SEEDS[slots % len(SEEDS)] if slots % 2 else random.Random(size).getrandbits(64)
        found = KERNELS[name].hash_blocks(payload, size, seed)
        assert found == expected(payload, size, seed), (slots, seed)


@each_kernel
def test_plain_form_agrees(name: str) -> None:
    """The specification's own order of steps gives the same, any length of 1 … 1 100 bytes."""
    step = 1 if name == "cpython" or not NO_COMPILER else 7
    for size in range(1, 1101, step):
        payload = noise(2 * size, size)
        seed = SEEDS[size % len(SEEDS)]
        plain = [xxh3.hash_bytes(block, seed) for block in split(payload, size)]
        assert KERNELS[name].hash_blocks(payload, size, seed) == plain, size


@each_kernel
@pytest.mark.parametrize("size", [1, 3, 4, 8, 12, 16, 64, 80, 208, 256, 500, 1024, 1092, 2048])
def test_many_blocks(name: str, size: int) -> None:
    """Blocks of several chunks, the last of them not full: the first, and all, are right."""
    count = (2 * CHUNK + CHUNK // 2) // max(size, 16) + 1
    if name == "pypy" and NO_COMPILER:
        count = min(count, 40)
    payload = noise(size * count, size)
    assert KERNELS[name].hash_blocks(payload, size, 1337) == expected(payload, size, 1337)


@each_kernel
def test_block_longer_than_a_chunk(name: str) -> None:
    """Two blocks of 66 000 bytes."""
    payload = noise(132_000, 66)
    assert KERNELS[name].hash_blocks(payload, 66_000, 5) == expected(payload, 66_000, 5)


@each_kernel
@pytest.mark.parametrize("size", [4, 8, 13, 16, 64, 128, 129, 208, 240, 241, 512, 1024, 1088, 1664])
def test_extreme_words(name: str, size: int) -> None:
    """All bits set, clear, or set once keyed: the largest products, sums and carries there are."""
    keyed = bytes(byte ^ 0xFF for byte in xxh3.SECRET)
    for pattern in (b"\0", b"\xff", b"\xff\0\0\0", xxh3.SECRET, keyed, keyed[3:], keyed[121:]):
        payload = (pattern * (5 * size))[: 5 * size]
        for seed in (0, 1, U64_MAX):
            found = KERNELS[name].hash_blocks(payload, size, seed)
            assert found == expected(payload, size, seed), (pattern, seed)


@each_kernel
@pytest.mark.parametrize("top", [17, 27, 28, 29, 31])
def test_token_ids(name: str, top: int) -> None:
    """Ids as they are, and around 2^28, where sums of words begin to need care."""
    draw = random.Random(top)
    ids = [draw.getrandbits(top) | draw.getrandbits(1) << top for _ in range(4 * 1088)]
    for slots in (61, 64, 128, 256, 272):
        payload = array("I", ids[: 4 * slots]).tobytes()
        found = KERNELS[name].hash_blocks(payload, 4 * slots, 1337)
        assert found == expected(payload, 4 * slots, 1337)


@each_kernel
@pytest.mark.parametrize("slots", [61, 62, 65, 80, 95, 100, 129, 200, 254, 257, 300])
def test_large_ids_far_into_a_chunk(name: str, slots: int) -> None:
    """Ids above 2^28 count wherever they stand, also where stripes overlap and no size divides."""
    size = 4 * slots
    count = 40 if name == "pypy" and NO_COMPILER else CHUNK // size
    ids = array("I", bytes(size * (count - 2)))
    ids.extend([(1 << 32) - 1] * 2 * slots)
    payload = ids.tobytes()
    assert KERNELS[name].hash_blocks(payload, size, 1337) == expected(payload, size, 1337)


@each_kernel
def test_words_of_any_kind_at_any_place(name: str) -> None:
    """Any number of blocks of any length, up to three chunks; all bits set from somewhere on, or
    here and there among ids.
    """
    draw = random.Random(f"words {name}")
    stand_in = name == "pypy" and NO_COMPILER
    for _ in range(20 if stand_in or IN_PYODIDE else 60 if IN_PYPY else 200):
        size = draw.choice(
            [draw.randrange(1, 300), draw.randrange(241, 1100), draw.randrange(3000)]
        )
        size = max(size, 1)
        count = draw.randrange(1, 5 if stand_in else 3 * CHUNK // max(size, 16) + 2)
        total = size * count
        ones = draw.randrange(total)
        payload = bytearray(array("I", [draw.getrandbits(27)] * (total // 4 + 1)).tobytes()[:total])
        for _ in range(draw.randrange(4)):
            at = draw.randrange(total)
            payload[at : at + 8] = b"\xff" * len(payload[at : at + 8])
        for data in (bytes(payload), bytes(ones) + b"\xff" * (total - ones)):
            seed = draw.choice(SEEDS)
            assert KERNELS[name].hash_blocks(data, size, seed) == expected(data, size, seed)


@each_kernel
def test_no_blocks(name: str) -> None:
    """Nothing in, nothing out."""
    kernel = KERNELS[name]
    assert kernel.hash_blocks(b"", 64, 0) == kernel.chain([], 0) == kernel.chain([], 0, 5) == []
    assert kernel.chain_blocks([], 0, 0) == kernel.chain_blocks([(b"", 64)], 0, 0) == []
    assert kernel.hash_and_chain([], 0, 0) == ([], [])


@each_kernel
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_kinds_of_payload(name: str, kind: Callable[[bytes], Any]) -> None:
    """A part of the packed tokens comes as a memoryview, frames as a bytearray."""
    payload = noise(52 * 16 * 3, 1)
    for size in (16, 64, 208, 832):
        assert KERNELS[name].hash_blocks(kind(payload), size, 3) == expected(payload, size, 3)


@each_kernel
@pytest.mark.parametrize("chain_seed", SEEDS)
@pytest.mark.parametrize("parent", [None, 0, 1, 2**63, U64_MAX, 0x34F35321676F4658])
def test_chain(name: str, chain_seed: int, parent: int | None) -> None:
    """The first is its own block hash at the root, else it is hashed with the parent before it."""
    hashes = [0, U64_MAX, 1, 2**63, *(random.Random(7).getrandbits(64) for _ in range(40))]
    for count in (1, 2, 3, len(hashes)):
        found = KERNELS[name].chain(hashes[:count], chain_seed, parent)
        assert found == expected_chain(hashes[:count], chain_seed, parent)
    assert hashes[:2] == [0, U64_MAX], "the caller's list is left alone"


@each_kernel
def test_chain_blocks(name: str) -> None:
    """Segments of different block lengths are hashed and chained as one sequence."""
    parts = [(noise(64 * 5, 1), 64), (noise(208 * 2, 2), 208), (b"", 64), (noise(64, 3), 64)]
    hashes = [h for payload, size in parts for h in expected(payload, size, 11)]
    chained = expected_chain(hashes, 1337)
    assert KERNELS[name].chain_blocks(parts, 11, 1337) == chained
    assert KERNELS[name].hash_and_chain(parts, 11, 1337) == (hashes, chained)


@each_kernel
def test_seeds_do_not_leak(name: str) -> None:
    """What is kept of the last few seeds is never taken for another seed, length or count."""
    draw = random.Random(9)
    payload = noise(4096, 4)
    seeds = [draw.getrandbits(64) for _ in range(40)]
    for _ in range(300):
        size = draw.choice([16, 64, 96, 208, 256, 512])
        seed, count = draw.choice(seeds), draw.randrange(1, 4)
        data = payload[: size * count]
        assert KERNELS[name].hash_blocks(data, size, seed) == expected(data, size, seed)


def python_calls(work: Callable[[], object]) -> int:
    """How often Python functions of ours were called, generated ones among them."""
    calls = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        # Others run when they like: those that a collection calls, for one.
        module = frame.f_globals.get("__name__", "kvhash_pure, generated")
        calls += event == "call" and module.startswith("kvhash_pure")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("size", [8, 16, 64, 80, 208, 256, 512, 1664])
def test_no_python_call_a_block(size: int) -> None:
    """Within a chunk, hashing and chaining call as many Python functions for 3 blocks, from where
    on the bulk form is used, as for all that fit.
    """
    most = CHUNK // max(size, 16)
    payload = noise(size * most, size)
    kernel_cpython.hash_blocks(payload, size, 1)  # compiled before counting
    kernel_cpython.hash_blocks(payload[: 3 * size], size, 1)
    few = python_calls(lambda: kernel_cpython.hash_blocks(payload[: 3 * size], size, 1))
    many = python_calls(lambda: kernel_cpython.hash_blocks(payload, size, 1))
    assert many == few < 120
    hashes = kernel_cpython.chain(kernel_cpython.hash_blocks(payload, size, 1), 0)
    few = python_calls(lambda: kernel_cpython.chain(hashes[:2], 0))
    assert python_calls(lambda: kernel_cpython.chain(hashes, 0)) == few < 10


def test_code_is_generated_once_a_shape() -> None:
    """Not for a seed, a request or a count of blocks: at most one function a number of lanes, and
    for one input one a size.
    """
    makers: list[Any] = [unrolled.folder, unrolled.dotter, unrolled.one_input]
    sizes = (20, 64, 128, 208, 256, 512, 1092)

    def work(seed: int, count: int) -> None:
        for size in sizes:
            kernel_cpython.hash_blocks(bytes(size * count), size, seed)
            kernel_cpython.xxh3_64(bytes(size), seed)

    work(0, 1)
    before = [maker.cache_info().misses for maker in makers]
    for seed in range(1, 30):
        work(seed, seed)
    assert [maker.cache_info().misses for maker in makers] == before
    for size in range(1, 2100):
        kernel_cpython.hash_blocks(bytes(size), size, 0)
        kernel_cpython.xxh3_64(bytes(size), 0)
    assert [maker.cache_info().currsize for maker in makers] == [8, 16, 240 - 16]


def test_what_is_kept_is_bounded() -> None:
    """Keys of the last few seeds only."""
    for seed in range(100):
        kernel_cpython.hash_blocks(bytes(640), 64, seed)
        kernel_cpython.hash_blocks(bytes(2048), 1024, seed)
    names = ("_key", "_stripe_key", "_plan", "_flips_9to16", "repeated", "words_of")
    caches: list[Any] = [getattr(kernel_cpython, name) for name in names]
    assert all(cache.cache_info().currsize <= 32 for cache in caches)


def test_a_request_packs_its_tokens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building packs; no projection does again, nor unpacks."""
    packed = 0
    pack_tokens: Callable[..., bytes] = vars(request)["pack_tokens"]

    def counting(*arguments: Any) -> bytes:
        nonlocal packed
        packed += 1
        return pack_tokens(*arguments)

    monkeypatch.setattr(request, "pack_tokens", counting)
    made = Request(range(400), mm_info=[RequestMmObjectInfo(5, 40, 32)])
    for block_size in (16, 64):
        made.block_hashes(block_size)
        made.sequence_hashes(block_size)
        made.positional_lineage_hashes(block_size)
        made.into_blocks(block_size)
    assert packed == 1
    assert not hasattr(made, "_tokens")


def test_both_kernels_have_the_interface() -> None:
    """What `kernel` gives, each form gives."""
    for name in kernel.__all__:
        assert callable(getattr(kernel_cpython, name))
        assert callable(getattr(PYPY, name))
    assert IN_PYODIDE or IN_PYPY or kernel.chain is kernel_cpython.chain


@pytest.mark.skipif(not IN_PYPY, reason="PyPy's compiler is asked")
@pytest.mark.parametrize("method", ["sequence_hashes", "block_hashes"])
def test_the_compiler_takes_a_short_request_whole(method: str, tmp_path: Path) -> None:
    """PyPy counts what it gave up on because it was too long; pieces of it would be slower, or be
    interpreted for good.
    """
    program = (
        "from kvhash_pure import Request\n"
        "kept = [None]\n"
        "def work(tokens):\n"
        f"    return Request(tokens).{method}(16)\n"
        "for i in range(5000):\n"
        "    kept[0] = work([i + j for j in range(200)])\n"
    )
    log, checkout = tmp_path / "jit", str(Path(kernel.__file__).parent.parent)
    environment = {**os.environ, "PYPYLOG": f"jit-summary:{log}", "PYTHONPATH": checkout}
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    subprocess.run([sys.executable, str(tmp_path / "program.py")], env=environment, check=True)
    aborts = re.search(r"abort: trace too long:\s+(\d+)", log.read_text("utf-8"))
    assert aborts
    assert aborts[1] == "0"
