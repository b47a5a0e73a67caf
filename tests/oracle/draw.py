"""Random questions for the oracles, good and bad; each from one seeded `random.Random`."""

from __future__ import annotations

from random import Random
from typing import Any

U32, U64 = 1 << 32, 1 << 64
TEXTS = (
    None,
    None,
    None,
    "",
    "a",
    "adapter-a",
    "tenant-a",
    "é",
    "e\u0301",
    '"\\\n\x00\x1f',
    "好🙂",
)

Question = dict[str, Any]


def u64(r: Random) -> int:
    return r.choice(
        (0, 1, U64 - 1, 1 << 63, r.getrandbits(64), r.getrandbits(64), r.getrandbits(8))
    )


def tokens(r: Random, count: int) -> list[int]:
    limit = r.choice((2, 256, 150_000, U32))
    return [r.randrange(limit) for _ in range(count)]


def text(r: Random) -> str | None:
    if r.random() < 0.1:
        return "".join(
            chr(r.choice((r.randrange(32, 127), r.randrange(0xA0, 0xD800))))
            for _ in range(r.randrange(300))
        )
    return r.choice(TEXTS)


def runs(r: Random, slots: int) -> list[tuple[int, int, int]]:
    """Valid runs (mm_hash, offset, length) in any order; neighbours and equal hashes occur."""
    found = []
    at = 0
    hashes = [u64(r) for _ in range(3)]
    while r.random() < 0.7:
        at += r.choice((0, 0, r.randrange(1 + slots)))
        length = r.choice((1, 2, r.randrange(1, 2 + slots)))
        if at + length > slots:
            break
        found.append((r.choice(hashes), at, length))
        at += length
    r.shuffle(found)
    return found


def request(r: Random) -> Question:
    """A request for the crates, one in ten with bad runs."""
    count = r.choice((0, 1, r.randrange(20), r.randrange(100), r.randrange(100), r.randrange(700)))
    found = runs(r, count)
    if r.random() < 0.1:
        bad = r.choice(
            (
                (1, r.randrange(count + 2), 0),
                (2, count, r.randrange(1, 9)),
                (3, U64 - 1 - r.randrange(3), r.randrange(1, 5)),
                (4, r.randrange(count + 1), r.randrange(count + 2)),
                *found,
            )
        )
        found.insert(r.randrange(len(found) + 1), bad)
    fields = {"tokens": tokens(r, count), "mm_info": found, "lora_name": text(r), "salt": text(r)}
    size = r.choice((1, 2, 3, 4, 5, 15, 16, 17, 32, 64, r.randrange(1, 80), r.randrange(1, 300)))
    return {"request": fields, "block_size": size}


def stream(r: Random) -> Question:
    """Operations on a sequence; those that the crate refuses once there are runs are rare then."""
    count = r.randrange(20)
    start = tokens(r, count)
    found = r.choice((None, runs(r, count)))
    operations: list[list[Any]] = []
    total, has_runs = count, bool(found)
    for _ in range(r.randrange(1, 25)):
        kind = r.choice("aaeepxtuoobr")
        if kind in "tuo" and has_runs and r.random() < 0.9:
            kind = "a"
        if kind == "a":
            operations.append([r.choice(("append", "push_token")), r.getrandbits(32)])
            total += 1
        elif kind == "e":
            added = tokens(r, r.randrange(12))
            operations.append(["extend", added])
            total += len(added)
        elif kind == "p":
            length = r.randrange(10)
            operations.append(["push_mm_run", u64(r), length])
            total, has_runs = total + length, has_runs or length > 0
        elif kind == "x":
            added = tokens(r, r.randrange(20))
            parts = runs(r, len(added))
            if r.random() < 0.1:
                parts.append((1, len(added), 1))
            operations.append(["extend_with_mm", added, parts])
            if not parts or parts[-1][1] < len(added):
                total, has_runs = total + len(added), has_runs or bool(parts)
        elif kind == "t":
            n = r.randrange(total + 3)
            operations.append(["truncate", n])
            total = total if has_runs else min(n, total)
        elif kind == "u":
            n = r.randrange(r.choice((3, total + 3)))
            operations.append(["unwind", n])
            total = total if has_runs or n > total else total - n
        elif kind == "o":
            operations.append(["pop"])
            total = total if has_runs else max(total - 1, 0)
        elif kind == "b":
            low, high = sorted((r.randrange(total + 1), r.randrange(total + 1)))
            operations.append(["tokens_at", low, high])
        elif r.random() < 0.2:
            operations.append(["reset"])
            total, has_runs = 0, False
    fields = {"tokens": start, "block_size": r.randrange(1, 9), "operations": operations}
    return {"stream": {**fields, "salt_hash": r.choice((None, u64(r))), "mm_info": found}}


EDGES = (0, 1, 254, 255, 256, 257, 65534, 65535, 65536, 65537, 2**24 - 2, 2**24 - 1, 2**24)


def lineage(r: Random) -> Question:
    position = r.choice((*EDGES, r.randrange(1 << 24)))
    fields = {
        "current": u64(r),
        "parent": u64(r) if position and r.random() < 0.95 else None,
        "position": position,
        "child_position": min(position + 1, (1 << 24) - 1),
        "child_hash": u64(r),
    }
    return {"lineage": fields}


def router_call(r: Random) -> Question:
    """Arguments of `compute_block_hash_for_seq`, all of them good."""
    count = r.choice((0, 1, r.randrange(40), r.randrange(40), r.randrange(300)))
    size = r.choice((1, 2, 3, 4, 5, 16, 32, 64, r.randrange(1, 50), r.randrange(1, 400)))
    if r.random() < 0.02:
        size = r.choice((U32 - 1, U32 - 2, 1 << 31))
    call: Question = {"tokens": tokens(r, count), "kv_block_size": size}
    if r.random() < 0.1:
        call["tokens"] = r.choice((tuple(call["tokens"]), range(count)))
    if r.random() < 0.6:
        call["block_mm_infos"] = (
            None
            if r.random() < 0.1
            else [
                r.choice((None, {"mm_objects": [mm_object(r) for _ in range(r.randrange(4))]}))
                for _ in range(r.randrange(3 + count // size))
            ]
        )
    for name in ("lora_name", "cache_namespace"):
        if r.random() < 0.5:
            call[name] = text(r)
    if r.random() < 0.4:
        call["is_eagle"] = r.choice((None, True, False))
    return call


def mm_object(r: Random) -> Question:
    offsets = [(r.randrange(9), r.randrange(9)) for _ in range(r.randrange(2))]
    return {"mm_hash": r.choice((7, u64(r))), "offsets": offsets}


BELOW, ABOVE = (-1, -(1 << 63), -(1 << 70)), (U64, U64 + 5)
BAD_NUMBERS: tuple[Any, ...] = (*BELOW, *ABOVE, 1.5, 1.0, "4", b"4", None, [1], {})
BAD: dict[str, tuple[Any, ...]] = {
    "tokens": (None, 5, 1.5, "abcd", {1, 2}, {1: 2}, object),
    "kv_block_size": (0, *BAD_NUMBERS),
    "block_mm_infos": (5, "ab", {}, [5], [{}], [[]], ["x"], [None, {"mm_objects": 5}]),
    "lora_name": (1, b"x", "\ud800", 1.5, [], True),
    "cache_namespace": (1, b"x", "a\udfff", 1.5, [], False),
    "is_eagle": (0, 1, "x", 1.5, []),
}


def bad_router_call(r: Random) -> Question:
    """A good call with one thing wrong."""
    call = router_call(r)
    field = r.choice((*BAD, "token", "mm_hash", "mm_objects"))
    if field == "token":
        listed = list(call["tokens"]) or [0]
        listed[r.randrange(len(listed))] = r.choice((U32, *BAD_NUMBERS))
        call["tokens"] = listed
    elif field == "mm_hash":
        one = {**mm_object(r), "mm_hash": r.choice(BAD_NUMBERS)}
        call["block_mm_infos"] = [None] * r.randrange(3) + [{"mm_objects": [mm_object(r), one]}]
    elif field == "mm_objects":
        call["block_mm_infos"] = [
            {"mm_objects": r.choice((None, 5, 1.5, [5], ["x"], [{}], [None]))}
        ]
    else:
        call[field] = r.choice(BAD[field])
    return call


def history(r: Random, wild: bool) -> list[tuple[Any, ...]]:
    """Operations on the router's tree, removal in any order. `wild`: external hashes that mean
    several blocks, parents and blocks that nobody holds; else every hash is that of its path.
    """
    operations: list[tuple[Any, ...]] = []
    letters = r.choice((2, 3, 4))
    known: dict[tuple[int, int], dict[int, list[int]]] = {}
    seen = [5]

    def path(longest: int) -> list[int]:
        return [r.randint(1, letters) for _ in range(r.randrange(longest + 1))]

    def external(way: list[int]) -> int:
        if wild and r.random() < 0.15:
            return r.randint(1, 30)
        value = 7
        for local in way:
            value = (value * 31 + local) % 1_000_003
        return value * 10 + 1

    for _ in range(r.randrange(3, 30)):
        worker, dp_rank = r.randrange(3), r.choice((0, 0, 1))
        held = known.setdefault((worker, dp_rank), {})
        kind = r.random()
        if kind < 0.5:
            parent, way = None, []
            if held and r.random() < 0.6:
                parent = r.choice(list(held))
                way = held[parent]
            elif wild and r.random() < 0.1:
                parent = r.choice(seen)
            blocks = []
            for local in path(5):
                way = [*way, local]
                name = external(way)
                blocks.append((name, local))
                held[name] = way
                seen.append(name)
            if wild and blocks and parent is not None and r.random() < 0.05:
                blocks[-1] = (parent, blocks[-1][1])
            operations.append(("store", worker, parent, blocks, dp_rank))
        elif kind < 0.85:
            names = r.sample(list(held), min(len(held), r.randint(1, 5)))
            if r.random() < 0.5:
                names.sort(key=lambda name: -len(held[name]))
            if wild and r.random() < 0.3:
                names.insert(r.randrange(len(names) + 1), r.choice((*seen, 99_999)))
            for name in names:
                if not wild or r.random() < 0.7:
                    held.pop(name, None)
            operations.append(("remove", worker, names, dp_rank))
        elif kind < 0.92:
            operations.append(("clear", worker, dp_rank))
            held.clear()
        elif kind < 0.96:
            operations.append(("remove_worker", worker))
            known.pop((worker, 0), None)
            known.pop((worker, 1), None)
        ways = [way for held in known.values() for way in held.values()]
        for _ in range(2):
            operations.append(("find_matches", (r.choice(ways) if ways else []) + path(3)))
        operations.append(("find_matches", path(6)))
    return operations
