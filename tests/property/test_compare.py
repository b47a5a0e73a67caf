"""One planted difference is the cause that is found; what is said to be shared is what is hashed
equal by the independent reference.
"""

from __future__ import annotations

import random
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvhash_pure import CONTRACTS, Request, RequestMmObjectInfo, compare, prefix_groups
from kvhash_pure.slots import Streams
from tests import reference

Run = RequestMmObjectInfo
Fields = dict[str, Any]


def blocks(request: Request, size: int) -> list[int]:
    """The PLHs of a request by the reference."""
    name = request.contract.name
    runs = [(run.mm_hash, run.offset, run.length) for run in request.mm_info]
    seed = reference.salt_hash(name, request.salt, request.lora_name)
    made = reference.hash_blocks(name, request.tokens, size, runs, seed=seed)
    return [block.plh for block in made]


def shared(a: Request, b: Request, size: int) -> int:
    count = 0
    if a.contract is b.contract:
        for x, y in zip(blocks(a, size), blocks(b, size)):
            if x != y:
                break
            count += 1
    return count


def request_fields(rng: random.Random) -> Fields:
    """A request with a few runs, at least one, that leave room before, between and after."""
    runs, at = [], 0
    for _ in range(rng.randrange(1, 4)):
        at += rng.randrange(2, 30)
        length = rng.randrange(2, 40)
        runs.append(Run(rng.getrandbits(64), at, length))
        at += length
    count = at + rng.randrange(2, 60)
    return {
        "tokens": [rng.getrandbits(32) for _ in range(count)],
        "salt": rng.choice([None, "", "tenant"]),
        "lora_name": rng.choice([None, "", "adapter"]),
        "mm_info": runs,
        "contract": rng.choice(CONTRACTS),
    }


def free_slot(rng: random.Random, fields: Fields) -> int:
    covered = {slot for run in fields["mm_info"] for slot in range(run.offset, run.end)}
    return rng.choice([i for i in range(len(fields["tokens"])) if i not in covered])


def plant_contract(rng: random.Random, fields: Fields) -> int | None:
    (fields["contract"],) = set(CONTRACTS) - {fields["contract"]}
    return None


def plant_salt(rng: random.Random, fields: Fields) -> int | None:
    fields["salt"] = f"other {rng.random()}"
    return None


def plant_lora_name(rng: random.Random, fields: Fields) -> int | None:
    fields["lora_name"] = f"other {rng.random()}"
    return None


def plant_token(rng: random.Random, fields: Fields) -> int | None:
    slot = free_slot(rng, fields)
    fields["tokens"][slot] ^= 1 << rng.randrange(32)
    return slot


def plant_mm_hash(rng: random.Random, fields: Fields) -> int | None:
    i = rng.randrange(len(fields["mm_info"]))
    run: Run = fields["mm_info"][i]
    fields["mm_info"][i] = Run(run.mm_hash ^ 1 << rng.randrange(64), run.offset, run.length)
    return run.offset


def plant_mm_offset(rng: random.Random, fields: Fields) -> int | None:
    """One slot earlier or later: there is room for it."""
    i = rng.randrange(len(fields["mm_info"]))
    run: Run = fields["mm_info"][i]
    by = rng.choice([-1, 1])
    fields["mm_info"][i] = Run(run.mm_hash, run.offset + by, run.length)
    return min(run.offset, run.offset + by)


def plant_mm_length(rng: random.Random, fields: Fields) -> int | None:
    i = rng.randrange(len(fields["mm_info"]))
    run: Run = fields["mm_info"][i]
    length = rng.randrange(1, run.length)
    if rng.random() < 0.5:
        length = run.length + 1
    fields["mm_info"][i] = Run(run.mm_hash, run.offset, length)
    return min(run.end, run.offset + length)


def plant_mm_coverage(rng: random.Random, fields: Fields) -> int | None:
    if rng.random() < 0.5:
        return fields["mm_info"].pop(rng.randrange(len(fields["mm_info"]))).offset  # type: ignore[no-any-return]
    slot = free_slot(rng, fields)
    fields["mm_info"].append(Run(rng.getrandbits(64), slot, 1))
    return slot


def plant_length(rng: random.Random, fields: Fields) -> int | None:
    end = max(run.end for run in fields["mm_info"])
    del fields["tokens"][rng.randrange(end, len(fields["tokens"])) :]
    return None


def plant_none(rng: random.Random, fields: Fields) -> int | None:
    """Things that do not count: ids under runs, the order of runs, "" for absent."""
    for run in fields["mm_info"]:
        for slot in range(run.offset, run.end):
            fields["tokens"][slot] = rng.getrandbits(32)
    fields["mm_info"].reverse()
    fields["salt"] = fields["salt"] or rng.choice([None, ""])
    return None


PLANTS: dict[str, Callable[[random.Random, Fields], int | None]] = {
    "contract": plant_contract,
    "salt": plant_salt,
    "lora_name": plant_lora_name,
    "token": plant_token,
    "mm_hash": plant_mm_hash,
    "mm_offset": plant_mm_offset,
    "mm_length": plant_mm_length,
    "mm_coverage": plant_mm_coverage,
    "length": plant_length,
    "none": plant_none,
}


@pytest.mark.parametrize("cause", PLANTS)
def test_the_planted_difference_is_the_cause(cause: str) -> None:
    """50 random pairs of each kind, 500 in all; the cause and the slot are the planted ones."""
    for seed in range(50):
        rng = random.Random(f"{cause} {seed}")
        fields = request_fields(rng)
        other = {**fields, "tokens": [*fields["tokens"]], "mm_info": [*fields["mm_info"]]}
        slot = PLANTS[cause](rng, other)
        pair = [Request(**fields), Request(**other)]
        if rng.random() < 0.5:
            pair.reverse()
        size = rng.choice([1, 2, 3, 16, 32])
        result = compare(pair[0], pair[1], size)
        assert result.cause == cause, (seed, result)
        assert result.token_index == slot, (seed, result)
        assert result.shared_blocks == shared(pair[0], pair[1], size), (seed, result)
        if slot is not None:
            full = slot // size < max(request.total_tokens // size for request in pair)
            assert result.position == (slot // size if full else None)


def test_planted_block_sizes_are_the_cause() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        request = Request(**request_fields(rng))
        one, two = rng.sample([1, 2, 3, 16, 32], 2)
        result = compare(request, request, (one, two))
        assert (result.cause, result.shared_blocks) == ("block_size", 0)
        answers = {one.by: one.shared_blocks for one in result.would_share}
        assert answers == {n: request.total_tokens // n for n in (one, two)}


runs = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 20), st.integers(1, 6)), max_size=3)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Few tokens of few kinds, so that parts of two requests often agree."""
    tokens = draw(st.lists(st.integers(0, 1), max_size=24))
    chosen: list[Run] = []
    for mm_hash, offset, length in draw(runs):
        run = Run(mm_hash, offset, length)
        if run.end <= len(tokens) and all(
            run.end <= o.offset or o.end <= run.offset for o in chosen
        ):
            chosen.append(run)
    salt = draw(st.sampled_from([None, None, None, "", "s"]))
    return Request(tokens, salt=salt, mm_info=chosen)


@given(requests(), requests(), st.integers(1, 6))
def test_what_is_shared_is_what_is_hashed_equal(a: Request, b: Request, size: int) -> None:
    """For any two requests; and every answer to "what if" is at least what is shared now."""
    result = compare(a, b, size)
    assert result.shared_blocks == shared(a, b, size)
    assert (result.cause == "none") == (not result.causes)
    assert result.shared_blocks <= result.equal_tokens // size
    assert all(one.gain >= 0 for one in result.would_share)
    back = compare(b, a, size)
    assert (back.cause, back.token_index) == (result.cause, result.token_index)


Slots = list[tuple[int, int, int]]
"""What a request shows: (token, 0, -1), or (0, mm_hash, run offset)."""


def slots_of(request: Request) -> Slots:
    slots = [(token, 0, -1) for token in request.tokens]
    for run in request.mm_info:
        slots[run.offset : run.end] = [(0, run.mm_hash, k) for k in range(run.length)]
    return slots


def built(slots: Slots) -> Request:
    """The request that shows these slots; an image whose start was cut off begins anew."""
    found: list[Run] = []
    before = (0, 0, -1)
    for i, (_, mm_hash, k) in enumerate(slots):
        if k >= 0 and before[1:] == (mm_hash, k - 1) and k:
            found[-1] = Run(mm_hash, found[-1].offset, found[-1].length + 1)
        elif k >= 0:
            found.append(Run(mm_hash, i, 1))
        before = slots[i]
    return Request([token for token, _, _ in slots], mm_info=found)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Slots, Slots]:
    """Slots, and the same after one edit: some taken out, some put in, whole images only."""
    piece = st.one_of(
        st.integers(0, 50).map(lambda token: [(token, 0, -1)]),
        st.tuples(st.integers(1, 3), st.integers(1, 5)).map(
            lambda image: [(0, image[0], k) for k in range(image[1])]
        ),
    )
    pieces = st.lists(piece, max_size=12).map(
        lambda parts: [slot for part in parts for slot in part]
    )
    head, tail = draw(pieces), draw(pieces)
    return [*head, *draw(pieces), *tail], [*head, *draw(pieces), *tail]


@given(edited(), st.integers(1, 5))
def test_what_would_be_shared_is_what_edited_requests_share(
    pair: tuple[Slots, Slots], size: int
) -> None:
    """Each answer, by requests that are really edited and hashed by the reference."""
    x, y = pair
    a, b = built(x), built(y)
    assert (slots_of(a), slots_of(b)) == (x, y)
    result = compare(a, b, size)
    if not result.would_share:
        return
    streams = Streams(a, b)
    (_, at, *_), gap = next(streams.differences(result.shared_blocks * size, size))
    k, m = gap or (1, 1)
    left_x, right_x, left_y, right_y = x[at : at + k], x[at + k :], y[at : at + m], y[at + m :]
    start = x[:at]
    for answer in result.would_share:
        if answer.change == "last":
            new = start + right_x + left_x, start + right_y + left_y
        elif answer.change == "same":
            new = x, start + left_x + right_y
        elif answer.by < 0:  # type: ignore[operator]
            new = x, start + left_y[: answer.by] + right_y
        else:
            new = x, start + left_y + (x[: at + k])[-answer.by :] + right_y  # type: ignore[operator]
        edits = [built(one) for one in new]
        if [slots_of(one) for one in edits] == list(new):  # else an image was cut
            assert answer.shared_blocks == shared(edits[0], edits[1], size)


@given(st.lists(requests(), max_size=6), st.integers(1, 6))
def test_a_prefix_tree_has_each_distinct_block_once(many: list[Request], size: int) -> None:
    """Along its edges each request finds its own blocks, and no PLH stands in two edges."""
    tree = prefix_groups(many, size)
    every = [blocks(request, size) for request in many]
    assert tree.blocks_without_sharing == sum(map(len, every))
    assert tree.blocks_stored == len({plh for line in every for plh in line})
    assert tree.tokens_saved == (tree.blocks_without_sharing - tree.blocks_stored) * size
    assert tree.tokens_saved == sum(edge.saved_tokens for edge in tree.edges)
    for i, line in enumerate(every):
        through = [edge for edge in tree.edges if i in edge.requests]
        assert sum(edge.blocks for edge in through) == len(line)
        assert sum(i in edge.ends for edge in tree.edges) == (1 if line else 0)
        for edge in through:
            assert edge.last_plh == reference.plh_text(line[edge.position + edge.blocks - 1])
            assert edge.parent is None or i in tree.edges[edge.parent].requests
    pairs = [compare(a, b, size) for k, a in enumerate(many) for b in many[:k]]
    tokens = [0 if one.cause == "salt" else one.equal_tokens for one in pairs]
    assert tree.longest_shared_tokens == max(tokens, default=0)
    assert tree.shared_tokens == min(tokens, default=0)
