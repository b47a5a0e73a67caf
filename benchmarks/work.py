"""The work loads, and the process that does them when told to.

`python -m benchmarks.work` reads lines `{"run": [contestant, work], "calls": n}` and answers each
with the CPU seconds of one call. Contestants: `ours` on any interpreter; `xxhash` and `ppxxh`, the
best loop that one can write around those packages for the same result, where they import.
"""

from __future__ import annotations

import gc
import importlib
import json
import random
import sys
import time
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import cycle, islice
from struct import Struct, iter_unpack
from typing import Any, Callable

from kvhash_pure import Request, RequestMmObjectInfo, TokenBlockSequence, xxh3_64

_draw = random.Random(2026)


def _tokens(count: int) -> list[int]:
    return [_draw.randrange(128_000) for _ in range(count)]


RUN = RequestMmObjectInfo(0x0123456789ABCDEF, 4000, 32)
ONE_SHOT = (16, 64, 128, 208, 256, 512, 1024, 4096)

Hash = Callable[[bytes, int], int]
Work = Callable[[Any], object]


def _pairs(size: int) -> list[tuple[bytes, int]]:
    """What 200 one-shot calls hash, and their seeds: any u64."""
    return [
        (_draw.getrandbits(8 * size).to_bytes(size, "little"), _draw.getrandbits(64))
        for _ in range(200)
    ]


def inputs() -> dict[str, list[Any]]:
    """By work, those of "a blocks" under "a": no call sees the input of the one before, as no
    server does, so tokens come from memory and not from the first caches. A million tokens are one
    input, which no such cache holds.
    """
    prompts = [_tokens(8192) for _ in range(64)]
    long = [_tokens(131_072) for _ in range(6)]
    million = _tokens(1_000_000)
    return {
        **dict.fromkeys(("a", "b", "d 32", "d 64", "g"), prompts),
        "c": long,
        "f": [[_tokens(200) for _ in range(1000)] for _ in range(2)],
        **{f"e {size}": [_pairs(size), _pairs(size)] for size in ONE_SHOT},
        "100 k": [million[i : i + 100_000] for i in range(0, 1_000_000, 100_000)],
        "1 M": [million],
    }


def ours() -> dict[str, Work]:
    """Request in, list of sequence hashes or of blocks out; or a stream; or one hash."""

    def stream(tokens: list[int]) -> object:
        sequence = TokenBlockSequence(block_size=16)
        for token in tokens:
            sequence.append(token)
        return sequence.blocks[-1]

    return {
        "a": lambda tokens: Request(tokens).sequence_hashes(16),
        "a blocks": lambda tokens: Request(tokens).into_blocks(16),
        "b": lambda tokens: Request(tokens, mm_info=[RUN]).sequence_hashes(16),
        "b blocks": lambda tokens: Request(tokens, mm_info=[RUN]).into_blocks(16),
        "c": lambda tokens: Request(tokens).sequence_hashes(128),
        "c blocks": lambda tokens: Request(tokens).into_blocks(128),
        "d 32": lambda tokens: Request(tokens).sequence_hashes(32),
        "d 64": lambda tokens: Request(tokens).sequence_hashes(64),
        "f": lambda requests: [Request(tokens).sequence_hashes(16) for tokens in requests],
        "f blocks": lambda requests: [Request(tokens).into_blocks(16) for tokens in requests],
        "g": stream,
        **_common(xxh3_64, lambda tokens: Request(tokens).sequence_hashes(16)),
    }


def loop(xxh3: Hash) -> dict[str, Work]:
    """The same results by a loop around `xxh3`, with nothing checked and nothing kept."""
    pair = Struct("<QQ").pack

    def chain(blocks: Any, seed: int) -> list[int]:
        result: list[int] = []
        for (block,) in islice(blocks, 1):
            parent = xxh3(block, seed)
            result.append(parent)
        for (block,) in blocks:
            parent = xxh3(pair(parent, xxh3(block, seed)), 0)
            result.append(parent)
        return result

    def plain(tokens: Sequence[int], block_size: int) -> list[int]:
        packed = array("I", tokens).tobytes()
        size = 4 * block_size
        whole = memoryview(packed)[: len(packed) // size * size]
        return chain(iter_unpack(f"{size}s", whole), xxh3(b"{}", 0))

    def with_run(tokens: Sequence[int]) -> list[int]:
        packed = array("I", tokens).tobytes()
        first, last = RUN.offset // 16, (RUN.end - 1) // 16 + 1
        slot = Struct("<BIQ").pack
        blocks = list(iter_unpack("64s", packed))
        for i in range(first, last):
            frames = [
                slot(1, s - RUN.offset, RUN.mm_hash)
                if RUN.offset <= s < RUN.end
                else slot(0, tokens[s], 0)
                for s in range(16 * i, 16 * i + 16)
            ]
            blocks[i] = (b"".join(frames),)
        return chain(iter(blocks), xxh3(b"{}", 0))

    def stream(tokens: Sequence[int]) -> object:
        hashes: list[int] = []
        seed, parent, block = xxh3(b"{}", 0), 0, array("I")
        for token in tokens:
            block.append(token)
            if len(block) == 16:
                block_hash = xxh3(block.tobytes(), seed)
                parent = xxh3(pair(parent, block_hash), 0) if hashes else block_hash
                hashes.append(parent)
                del block[:]
        return hashes[-1]

    works: dict[str, Work] = {
        "a": lambda tokens: plain(tokens, 16),
        "b": with_run,
        "c": lambda tokens: plain(tokens, 128),
        "d 32": lambda tokens: plain(tokens, 32),
        "d 64": lambda tokens: plain(tokens, 64),
        "f": lambda requests: [plain(tokens, 16) for tokens in requests],
        "g": stream,
    }
    for name in ("a", "b", "c", "f"):
        works[f"{name} blocks"] = works[name]
    return {**works, **_common(xxh3, lambda tokens: plain(tokens, 16))}


def _common(xxh3: Hash, hashing: Work) -> dict[str, Work]:
    one_shot: Work = lambda pairs: [xxh3(data, seed) for data, seed in pairs]  # noqa: E731
    return {**{f"e {size}": one_shot for size in ONE_SHOT}, "100 k": hashing, "1 M": hashing}


def contestants(of: dict[str, list[Any]]) -> dict[str, dict[str, Work]]:
    """Those that import here; all of them agree, or nothing is worth measuring."""
    found = {"ours": ours()}
    with suppress(ImportError):
        xxhash: Any = importlib.import_module("xxhash")
        found["xxhash"] = loop(xxhash.xxh3_64_intdigest)
    with suppress(ImportError):
        ppxxh: Any = importlib.import_module("ppxxh")
        found["ppxxh"] = loop(lambda data, seed: ppxxh.xxh3_64(data, seed=seed).intdigest())
    for name, works in found.items():
        for work in ("a", "b", "d 32", "e 64", "e 256"):
            (given, *_) = of[work]
            assert works[work](given) == found["ours"][work](given), (name, work)
    return found


def peak_bytes_a_token(tokens: list[int]) -> float:
    """Peak extra memory of work load c, results included, the caller's list of tokens not."""
    import tracemalloc

    Request(tokens).sequence_hashes(128)
    tracemalloc.start()
    result = Request(tokens).sequence_hashes(128)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(tokens) if result else 0.0


def clock() -> Callable[[], float]:
    """CPU seconds of this process; in Pyodide, where Python sees none, node's count of them."""
    if "pyodide" not in sys.modules:
        return time.process_time
    node: Any = importlib.import_module("js").process

    def now() -> float:
        usage = node.cpuUsage()
        return float(usage.user + usage.system) / 1e6

    return now


def main() -> None:
    now = clock()
    of = inputs()
    found = contestants(of)
    turns: dict[tuple[str, str], Iterator[Any]] = {}
    gc.collect()
    if sys.implementation.name == "cpython":
        gc.freeze()  # or a collection would walk over millions of tokens and empty the caches
    hello = {"version": sys.version, "contestants": sorted(found), "xxhash": ""}
    with suppress(ImportError):
        hello["xxhash"] = importlib.import_module("xxhash").VERSION
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if order["run"] == "memory":
            answer = peak_bytes_a_token(of["c"][0])
        else:
            name, work = order["run"]
            call = found[name][work]
            turn = turns.setdefault((name, work), cycle(of[work.removesuffix(" blocks")]))
            results: deque[object] = deque(maxlen=8)  # PyPy drops work that nobody keeps
            given = list(islice(turn, order["calls"]))
            start = now()
            for each in given:
                results.append(call(each))
            answer = (now() - start) / order["calls"]
            assert all(results)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
