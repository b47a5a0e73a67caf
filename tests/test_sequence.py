"""A streaming sequence: however it grew, its blocks are those of its slots hashed from scratch."""

from __future__ import annotations

import array
import copy
import gc
import pickle
from collections.abc import Iterator
from typing import Any, Callable

import pytest

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    EmptyRunError,
    FieldTypeError,
    FieldValueError,
    KvHashingError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    PositionOverflowError,
    Request,
    RequestMmObjectInfo,
    TokenBlockSequence,
    UniversalBlock,
    blocks,
    chunks,
    lineage,
    sequence,
)
from tests import reference
from tests.helpers import ANYTHING, IN_PYPY, U32_MAX, U64_MAX, rejected
from tests.reference import Run
from tests.vectors import Case, cases, expand_text, expand_tokens

KNOWN = [case for case in cases("known_answers.json") if case["count"] < 1000]
MANY_BLOCKS = [case for case in cases("known_answers.json") if case["count"] >= 1000]
Row = tuple[int, int, int]


@pytest.fixture(params=[DOCUMENTED, DYNAMO_1_3], ids=lambda contract: contract.name)
def contract(request: pytest.FixtureRequest) -> Contract:
    found: Contract = request.param
    return found


def run(mm_hash: int, offset: int, length: int) -> RequestMmObjectInfo:
    return RequestMmObjectInfo(mm_hash=mm_hash, offset=offset, length=length)


def rows(blocks: Any) -> list[Row]:
    return [(block.block_hash, block.sequence_hash, int(block.plh)) for block in blocks]


def expected(
    tokens: Any, block_size: int, runs: Any = (), *, seed: int = 0, name: str = "documented"
) -> list[Row]:
    """From scratch, by the independent reference."""
    plain: list[Run] = [(r.mm_hash, r.offset, r.length) for r in runs]
    found = reference.hash_blocks(name, list(tokens), block_size, plain, seed=seed)
    return [(block.block_hash, block.sequence_hash, block.plh) for block in found]


def fresh(found: TokenBlockSequence) -> list[Row]:
    """What the slots of a sequence hash to from scratch."""
    tokens = found.tokens_at(0, found.total_tokens)
    return expected(
        tokens,
        found.block_size,
        found.mm_runs,
        seed=found.salt_hash,
        name=found.contract.name,
    )


def state(found: TokenBlockSequence) -> tuple[object, ...]:
    total = found.total_tokens
    return total, found.tokens_at(0, total), found.tail, found.mm_runs, list(found.blocks)


class Known:
    """A known answer: its slots and runs, and the blocks that they have."""

    def __init__(self, case: Case) -> None:
        self.tokens = expand_tokens(case["tokens"])
        self.size: int = case["block_size"]
        self.runs = sorted(
            (run(int(r["mm_hash"], 16), r["offset"], r["length"]) for r in case["mm_info"]),
            key=lambda info: info.offset,
        )
        self.contract = Contract.named(case["contract"])
        self.salt_hash = int(case["salt_hash"], 16)
        assert self.salt_hash == self.contract.salt_hash(
            expand_text(case["salt"]), expand_text(case["lora_name"])
        )
        self.answers = [
            (row[0], int(row[1], 16), int(row[2], 16), int(row[3], 16)) for row in case["blocks"]
        ]
        self.count: int = case["count"]

    def new(self, tokens: Any = (), runs: Any = ()) -> TokenBlockSequence:
        return TokenBlockSequence(
            tokens,
            block_size=self.size,
            salt_hash=self.salt_hash,
            mm_info=runs,
            contract=self.contract,
        )

    def feed(self, found: TokenBlockSequence, start: int, stop: int) -> None:
        """Slots start … stop - 1, in one call, with the runs that begin in them."""
        within = [
            run(info.mm_hash, info.offset - start, info.length)
            for info in self.runs
            if start <= info.offset < stop
        ]
        found.extend_with_mm(self.tokens[start:stop], within)

    def check(self, found: TokenBlockSequence) -> None:
        assert len(found.blocks) == self.count
        for position, *answer in self.answers:
            block = found.blocks[position]
            assert [block.block_hash, block.sequence_hash, int(block.plh)] == answer


def known_id(case: Case) -> str:
    return f"{case['name']}, {case['contract']}"


@pytest.mark.parametrize("case", KNOWN, ids=known_id)
def test_known_answers_whole_and_token_by_token(case: Case) -> None:
    """In one call; and each slot by itself, runs pushed when their first slot comes."""
    known = Known(case)
    known.check(known.new(known.tokens, known.runs))

    single = known.new()
    begin = {info.offset: info for info in known.runs}
    while single.total_tokens < len(known.tokens):
        total = single.total_tokens
        if total in begin:
            before, info = single.total_tokens // known.size, begin[total]
            completed = single.push_mm_run(info.mm_hash, info.length)
        else:
            before = total // known.size
            completed = single.append(known.tokens[total])
        assert list(completed) == list(range(before, single.total_tokens // known.size))
    known.check(single)
    assert single.mm_runs == tuple(known.runs)


@pytest.mark.parametrize("case", KNOWN, ids=known_id)
def test_known_answers_split_at_every_point(case: Case) -> None:
    """Two calls with the border anywhere. A run is given whole: where the border would cut it,
    a sequence is cut there instead, and its run ends there.
    """
    known = Known(case)
    inside = {
        slot for info in known.runs for slot in range(info.offset + 1, info.offset + info.length)
    }
    grown = known.new()
    whole = known.new(known.tokens, known.runs)
    step = 1 if len(known.tokens) <= 200 else 7
    for border in range(0, len(known.tokens) + 1, step):
        if border in inside:
            cut = whole.fork()
            cut.truncate(border)
            assert rows(cut.blocks) == fresh(cut)
            assert cut.mm_runs[-1].offset + cut.mm_runs[-1].length == border
        else:
            known.feed(grown, grown.total_tokens, border)
            both = grown.fork()
            known.feed(both, border, len(known.tokens))
            known.check(both)
    known.check(whole)


@pytest.mark.parametrize("case", MANY_BLOCKS, ids=known_id)
def test_known_answers_of_many_blocks(case: Case) -> None:
    """65 540 blocks of 1: PLH modes change, chunks are sealed, on the way."""
    known = Known(case)
    found = known.new(known.tokens[:255])
    for token in known.tokens[255:5000]:
        found.append(token)
    for border in (65_535, 65_536, 65_537, len(known.tokens)):
        found.extend(known.tokens[found.total_tokens : border])
    known.check(found)
    found.truncate(255)
    found.extend(known.tokens[255:])
    known.check(found)
    assert len(found.blocks[65_530:65_540]) == 10
    assert found.last_complete_block == found.blocks[-1]


def test_what_the_binaries_of_dynamo_give() -> None:
    """Blocks of streaming sequences, read from the binaries of 1.3.1 and 1.4.0."""
    for case in cases("dynamo_binaries.json", "sequence"):
        assert case["tokens"] == "1..12"
        given = case.get("mm_info", ())
        runs = [run(int(r["mm_hash"], 16), r["offset"], r["length"]) for r in given]
        salt_hash = int(case["salt_hash"], 16)
        found = TokenBlockSequence(
            block_size=case["block_size"], salt_hash=salt_hash, contract=DYNAMO_1_3
        )
        found.extend_with_mm(range(1, 13), runs)
        listed = found.blocks[: len(case["block_hash"])]
        assert [f"{block.block_hash:016x}" for block in listed] == case["block_hash"]
        assert [bytes(block.plh).hex() for block in listed] == case["plh"]


def test_the_range_of_completed_blocks() -> None:
    found = TokenBlockSequence(block_size=4)
    assert found.append(1) == range(0)
    assert list(found.extend([2, 3])) == []
    assert found.append(4) == range(1)
    assert found.extend(range(9)) == range(1, 3)
    assert found.push_mm_run(7, 2) == range(0)
    assert found.push_mm_run(7, 9) == range(3, 6)
    assert found.extend_with_mm([1, 2, 3, 4], [run(5, 1, 2)]) == range(6, 7)
    assert found.extend([]) == range(0)
    assert (found.total_tokens, found.tail) == (28, ())


def test_a_token_after_a_run_reencodes_the_whole_block(contract: Contract) -> None:
    """Some run touches it: every slot is a frame, those before the run too."""
    found = TokenBlockSequence([11, 12], block_size=4, contract=contract)
    found.push_mm_run(0xDEAD, 1)
    found.append(13)
    want = expected([11, 12, 0, 13], 4, [run(0xDEAD, 2, 1)], name=contract.name)
    assert rows(found.blocks) == want
    assert want != expected([11, 12, 0, 13], 4, name=contract.name)


def test_runs_are_never_merged() -> None:
    """Pushed twice, an object begins anew: run_offset counts from its own run."""
    twice = TokenBlockSequence(block_size=4)
    twice.push_mm_run(9, 3)
    twice.push_mm_run(9, 3)
    assert twice.mm_runs == (run(9, 0, 3), run(9, 3, 3))
    once = TokenBlockSequence(block_size=4)
    once.push_mm_run(9, 6)
    assert once.mm_runs == (run(9, 0, 6),)
    assert rows(twice.blocks) == expected([0] * 4, 4, [run(9, 0, 3), run(9, 3, 1)])
    assert rows(once.blocks) == expected([0] * 4, 4, [run(9, 0, 6)][:1])
    assert once.blocks != twice.blocks


def test_what_stands_at_placeholder_slots() -> None:
    """The constructor keeps the caller's tokens there, as the original; the others put 0."""
    found = TokenBlockSequence([5, 6, 7], block_size=2, mm_info=[run(1, 1, 2)])
    found.push_mm_run(2, 2)
    found.extend_with_mm([8, 9, 10], [run(3, 1, 1)])
    assert found.tokens_at(0, 8) == (5, 6, 7, 0, 0, 8, 0, 10)
    assert found.tokens_at(2, 6) == (7, 0, 0, 8)
    assert found.tokens_at(8, 8) == ()
    assert [found.pop() for _ in range(3)] == [10, 0, 8]


def test_runs_longer_than_a_chunk(contract: Contract) -> None:
    """One run over several sealed chunks, then truncated inside, at and before their borders."""
    for size in (16, 1000, 5000):
        found = TokenBlockSequence(range(50), block_size=size, contract=contract)
        found.push_mm_run(3, 10_000)
        found.push_mm_run(4, 1)
        found.extend(range(6000))
        assert found.mm_runs == (run(3, 50, 10_000), run(4, 10_050, 1))
        assert rows(found.blocks) == fresh(found)
        for total in (10_050, 8192, 8191, 5001, 5000, 4096, 51, 50, 49):
            found.truncate(total)
            assert found.total_tokens == total
            assert list(found.mm_runs) == [run(3, 50, n) for n in [total - 50] if n > 0]
            assert rows(found.blocks) == fresh(found)
            longer = found.fork()
            longer.extend(range(100_000, 100_000 + 2 * size))
            assert longer.mm_runs == found.mm_runs
            assert rows(longer.blocks) == fresh(longer)


def test_thousands_of_runs() -> None:
    runs = [run(i, 3 * i, 1 + i % 3) for i in range(4000)]
    found = TokenBlockSequence(range(12_000), block_size=8, mm_info=reversed(runs))
    assert found.mm_runs == tuple(runs)
    assert rows(found.blocks) == fresh(found)


def test_truncate_unwind_pop_reset() -> None:
    found = TokenBlockSequence(range(10), block_size=4, salt_hash=5, contract=DYNAMO_1_3)
    found.truncate(10)
    found.truncate(U64_MAX)
    assert found.total_tokens == 10
    found.truncate(9)
    assert (found.tail, len(found.blocks)) == ((8,), 2)
    assert found.pop() == 8
    assert (found.tail, len(found.blocks)) == ((), 2)
    assert found.pop() == 7
    assert (found.tail, len(found.blocks)) == ((4, 5, 6), 1)
    found.unwind(0)
    found.unwind(2)
    assert (found.tail, found.total_tokens) == ((4,), 5)
    found.extend([5, 6, 7])
    assert rows(found.blocks) == expected(range(8), 4, seed=5, name="dynamo-1.3")
    found.push_mm_run(1, 3)
    found.unwind(11)
    assert (found.total_tokens, found.mm_runs, found.tail) == (0, (), ())
    found.extend(range(4))
    found.reset()
    assert (found.total_tokens, found.mm_runs, list(found.blocks)) == (0, (), [])
    assert (found.block_size, found.salt_hash, found.contract) == (4, 5, DYNAMO_1_3)


def test_blocks_is_a_view_that_follows() -> None:
    found = TokenBlockSequence(range(50), block_size=4)
    view = found.blocks
    want = Request(range(50)).into_blocks(4)
    found_zero = TokenBlockSequence(range(50), block_size=4, salt_hash=Request([]).salt_hash())
    assert found_zero.blocks == want
    assert want == found_zero.blocks
    assert view != want
    other: object = 12
    assert view != other
    assert view == found.fork().blocks
    listed = list(view)
    assert all(isinstance(block, UniversalBlock) for block in listed)
    assert [view[i] for i in range(12)] == listed
    assert [view[i] for i in range(-12, 0)] == listed
    assert list(reversed(view)) == listed[::-1]
    for part in (slice(3, 7), slice(None, None, -1), slice(1, 9, 3), slice(5, 2), slice(99, None)):
        assert view[part] == listed[part]
    assert listed[4] in view
    assert view.index(listed[4]) == 4
    found.truncate(9)
    assert list(view) == listed[:2]
    with pytest.raises(IndexError):
        view[2]
    with pytest.raises(TypeError):
        hash(view)


def test_the_last_complete_block() -> None:
    found = TokenBlockSequence([1, 2, 3], block_size=4)
    assert found.last_complete_block is None
    found.extend([4, 5])
    assert found.last_complete_block == found.blocks[0]


def fork_cases() -> Iterator[tuple[int, int]]:
    yield from ((1, 0), (1, 1), (1, 4097))
    for size in (4, 16, 5000):
        for total in (0, 1, size - 1, size, 4095, 4096, 4097, 12_289):
            yield size, total


@pytest.mark.parametrize(("size", "total"), list(fork_cases()))
def test_forks_are_independent(size: int, total: int) -> None:
    """Grow, cut and fork again on both sides, below and above what is shared."""
    first = TokenBlockSequence(range(total), block_size=size)
    first.push_mm_run(8, 3)
    second = first.fork()
    third = second.fork()
    before = state(first)
    second.extend(range(5000))
    third.truncate(total // 2)
    fourth = third.fork()
    third.extend(range(500_000, 505_000))
    assert state(first) == before
    fourth.push_mm_run(9, 5)
    first.append(77)
    fifth = second.fork()
    second.unwind(second.total_tokens)
    for found in (first, second, third, fourth, fifth):
        assert rows(found.blocks) == fresh(found)
    assert fifth.total_tokens == total + 3 + 5000
    assert first.total_tokens == total + 4
    assert third.tokens_at(total // 2, total // 2 + 2) == (500_000, 500_001)
    assert fourth.mm_runs[-1] == run(9, total // 2, 5)


def test_runs_of_forks_are_their_own() -> None:
    first = TokenBlockSequence([1], block_size=4, mm_info=[run(1, 0, 1)])
    second = first.fork()
    second.push_mm_run(2, 1)
    first.extend([5, 6, 7])
    assert first.mm_runs == (run(1, 0, 1),)
    assert second.mm_runs == (run(1, 0, 1), run(2, 1, 1))
    assert rows(first.blocks) == fresh(first)


def test_copies_and_pickles() -> None:
    first = TokenBlockSequence(
        range(9000), block_size=16, salt_hash=3, mm_info=[run(1, 5, 2)], contract=DYNAMO_1_3
    )
    before = state(first)
    for other in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert state(other) == before
        assert (other.salt_hash, other.contract) == (3, DYNAMO_1_3)
        other.truncate(8000)
        other.extend([1] * 2000)
        assert state(first) == before
    assert repr(first) == "<TokenBlockSequence: 9000 tokens in blocks of 16>"
    with pytest.raises(AttributeError):
        first.block_size = 4  # type: ignore[misc]


def test_no_block_is_hashed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when asked for again, not after a fork, not after a truncation."""
    hashed: list[int] = []
    real = blocks.block_hashes

    def counting(*args: Any) -> list[int]:
        found = real(*args)
        hashed.extend(found)
        return found

    monkeypatch.setattr(chunks, "block_hashes", counting)
    first = TokenBlockSequence(range(10_000), block_size=16)
    for token in range(10_000, 10_040):
        first.append(token)
    list(first.blocks)
    second = first.fork()
    list(second.blocks), list(first.blocks)
    second.truncate(10_000)
    list(second.blocks)
    assert len(hashed) == len(set(hashed)) == 627
    second.extend(range(16))
    list(second.blocks), list(first.blocks)
    assert len(hashed) == 628


@pytest.mark.skipif(IN_PYPY, reason="tracemalloc is CPython's")
def test_memory_of_sequences_and_forks() -> None:
    """At most 16 bytes a token beside the hashes; a fork costs the same at any length."""
    tracemalloc: Any = pytest.importorskip("tracemalloc")
    tokens = array.array("I", range(100_000, 300_000))
    tracemalloc.start()
    try:
        gc.collect()
        base = tracemalloc.get_traced_memory()[0]
        found = TokenBlockSequence(tokens[:1000], block_size=16)
        sizes = []
        for end in (10_000, 200_000):
            found.extend(tokens[found.total_tokens : end])
            gc.collect()
            low = tracemalloc.get_traced_memory()[0]
            forks = [found.fork() for _ in range(10)]
            sizes.append((tracemalloc.get_traced_memory()[0] - low) / 10)
            del forks
        held = tracemalloc.get_traced_memory()[0] - base
    finally:
        tracemalloc.stop()
    assert held < 16 * 200_000
    assert max(sizes) < 30_000


def test_a_host_whose_arrays_are_not_little_endian_u32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then tokens are converted, not copied."""
    monkeypatch.setattr(chunks, "_IS_PACKED", False)
    found = TokenBlockSequence([1, 2, U32_MAX], block_size=2, mm_info=[run(1, 2, 1)])
    found.append(258)
    assert rows(found.blocks) == fresh(found)
    assert found.tokens_at(0, 4) == (1, 2, U32_MAX, 258)


class Index:
    """An integer that is no int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_numbers_of_other_types() -> None:
    """Whatever has __index__, numpy's integers for example, is the int that it stands for."""
    made: Any = Index
    found = TokenBlockSequence(block_size=made(2), salt_hash=made(3))
    found.append(made(U32_MAX))
    found.push_mm_run(made(1), made(2))
    assert found.tokens_at(made(0), made(3)) == (U32_MAX, 0, 0)
    found.unwind(made(1))
    found.truncate(made(1))
    assert found.tokens_at(0, 1) == (U32_MAX,)
    assert type(found.block_size) is int
    found.extend(array.array("B", [1, 2]))
    assert rows(found.blocks) == expected([U32_MAX, 1], 2, seed=3)


class Liar:
    """Says that it is an int."""

    __class__ = int  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "liar"


LIAR: Any = Liar()
BAD: list[tuple[Callable[[TokenBlockSequence], object], type[KvHashingError], str, Any, Any]] = [
    (lambda s: s.append(-1), FieldValueError, "token", None, -1),
    (lambda s: s.append(2**32), FieldValueError, "token", None, 2**32),
    (lambda s: s.append(2**70), FieldValueError, "token", None, 2**70),
    (lambda s: s.append(True), FieldTypeError, "token", None, True),
    (lambda s: s.append(1.0), FieldTypeError, "token", None, 1.0),  # type: ignore[arg-type]
    (lambda s: s.append("1"), FieldTypeError, "token", None, "1"),  # type: ignore[arg-type]
    (lambda s: s.append(None), FieldTypeError, "token", None, None),  # type: ignore[arg-type]
    (lambda s: s.append(LIAR), FieldValueError, "token", None, LIAR),
    (lambda s: s.extend([1, 2, -1]), FieldValueError, "tokens", 2, -1),
    (lambda s: s.extend([1] * 9 + [2**32]), FieldValueError, "tokens", 9, 2**32),
    (lambda s: s.extend(iter([1, 2, "3"])), FieldTypeError, "tokens", 2, "3"),  # type: ignore[arg-type]
    (lambda s: s.extend(b"abcd"), FieldTypeError, "tokens", None, b"abcd"),
    (lambda s: s.push_mm_run(1, 0), EmptyRunError, "mm_info.length", 0, 0),
    (lambda s: s.push_mm_run(1, U64_MAX), OffsetOverflowError, "mm_info.offset", 0, 6),
    (lambda s: s.push_mm_run(1, U64_MAX - 5), OffsetOverflowError, "mm_info.offset", 0, 6),
    (lambda s: s.push_mm_run(1, U64_MAX - 6), PositionOverflowError, "blocks", None, 2**62 - 1),
    (lambda s: s.push_mm_run(1, 2**64), FieldValueError, "length", None, 2**64),
    (lambda s: s.push_mm_run(1, -1), FieldValueError, "length", None, -1),
    (lambda s: s.push_mm_run(2**64, 1), FieldValueError, "mm_hash", None, 2**64),
    (lambda s: s.push_mm_run(1, True), FieldTypeError, "length", None, True),
    (lambda s: s.push_mm_run(1, 2**60), PositionOverflowError, "blocks", None, ANYTHING),
    (
        lambda s: s.extend_with_mm([1, 2], [run(1, 1, 2)]),
        OutOfBoundsError,
        "mm_info.offset",
        0,
        1,
    ),
    (
        lambda s: s.extend_with_mm([1, 2], [run(1, 0, 2), run(1, 1, 1)]),
        OverlappingError,
        "mm_info.offset",
        1,
        1,
    ),
    (lambda s: s.extend_with_mm([1], [run(1, 0, 0)]), EmptyRunError, "mm_info.length", 0, 0),
    (lambda s: s.extend_with_mm([1, -1], [run(1, 0, 1)]), FieldValueError, "tokens", 1, -1),
    (lambda s: s.extend_with_mm([1], 7), FieldTypeError, "mm_info", None, 7),  # type: ignore[arg-type]
    (lambda s: s.truncate(-1), FieldValueError, "n", None, -1),
    (lambda s: s.truncate(1.0), FieldTypeError, "n", None, 1.0),  # type: ignore[arg-type]
    (lambda s: s.unwind(7), FieldValueError, "n", None, 7),
    (lambda s: s.unwind(-1), FieldValueError, "n", None, -1),
    (lambda s: s.tokens_at(0, 7), FieldValueError, "stop", None, 7),
    (lambda s: s.tokens_at(3, 2), FieldValueError, "start", None, 3),
    (lambda s: s.tokens_at(-1, 2), FieldValueError, "start", None, -1),
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_what_fails_changes_nothing(i: int) -> None:
    """One clear error, and the state before is the state after."""
    mistake, kind, field, index, value = BAD[i]
    found = TokenBlockSequence(range(1, 7), block_size=4, mm_info=[run(5, 4, 1)])
    before = state(found)
    with rejected(kind, field, index=index, value=value):
        mistake(found)
    assert state(found) == before
    found.extend([1, 2, 3])
    assert rows(found.blocks) == fresh(found)


def test_an_iterator_that_fails_changes_nothing() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError("the caller's own")

    found = TokenBlockSequence([1], block_size=4)
    with pytest.raises(RuntimeError, match="the caller's own"):
        found.extend(broken())
    assert state(found) == (1, (1,), (1,), (), [])


class Interrupt:
    """Stands in for what is called and raises at the nth call."""

    def __init__(self, real: Callable[..., Any], calls: int) -> None:
        self.real, self.calls = real, calls

    def __call__(self, *args: Any) -> Any:
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return self.real(*args)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_an_interrupt_leaves_all_or_nothing(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C comes while hashing, most likely: the call has done nothing then."""
    first = TokenBlockSequence(range(3000), block_size=16, mm_info=[run(1, 2990, 5)])
    before = state(first)
    for name in ("block_hashes", "chain"):
        with monkeypatch.context() as patch:
            patch.setattr(chunks, name, Interrupt(vars(chunks)[name], calls))
            with pytest.raises(KeyboardInterrupt):
                first.extend_with_mm(range(15_000), [run(1, 50, 14_000)])
        assert state(first) == before
    first.extend_with_mm(range(15_000), [run(1, 50, 14_000)])
    assert rows(first.blocks) == fresh(first)


def test_an_interrupted_append_heals(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a full chunk is hashed, or just after the token was taken in."""
    found = TokenBlockSequence(range(4095), block_size=16)
    with monkeypatch.context() as patch:
        patch.setattr(chunks, "chain", Interrupt(vars(chunks)["chain"], 1))
        with pytest.raises(KeyboardInterrupt):
            found.append(4095)
    assert found.total_tokens == 4096
    completed = [found.append(token) for token in range(4096, 4112)]
    assert completed == [range(0)] * 15 + [range(256, 257)]
    other = found.fork()
    found._missing += 1  # as if the signal had come between the token and the countdown
    ranges = [found.append(token) for token in range(4112, 4144)]
    assert ranges[16:] == [range(0)] * 15 + [range(258, 259)]
    for each in (found, other):
        each.extend(range(9000))
        assert rows(each.blocks) == fresh(each)
        assert len(each.blocks) == each.total_tokens // 16


def test_popping_from_an_empty_sequence() -> None:
    found = TokenBlockSequence(block_size=4)
    with rejected(FieldValueError, "total_tokens", value=0):
        found.pop()
    with rejected(FieldValueError, "n", value=1):
        found.unwind(1)
    found.unwind(0)
    assert state(found) == (0, (), (), (), [])


def test_wrong_constructor_arguments() -> None:
    make: Any = TokenBlockSequence
    for size in (0, -1, 2**32):
        with rejected(FieldValueError, "block_size", value=size):
            make(block_size=size)
    with rejected(FieldTypeError, "block_size", value=16.0):
        make(block_size=16.0)
    for salt_hash in (-1, 2**64):
        with rejected(FieldValueError, "salt_hash", value=salt_hash):
            make(block_size=4, salt_hash=salt_hash)
    with rejected(FieldTypeError, "contract", value="documented"):
        make(block_size=4, contract="documented")
    with rejected(OutOfBoundsError, "mm_info.offset", index=0, value=1):
        make([1, 2], block_size=4, mm_info=[run(1, 1, 2)])
    with rejected(FieldTypeError, "tokens", value="1 2"):
        make("1 2", block_size=4)


def test_position_overflow_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^24 blocks and no more, for every way to grow; a limit of 3 stands in for it here."""
    monkeypatch.setattr(lineage, "MAX_BLOCKS", 3)
    monkeypatch.setattr(sequence, "MAX_BLOCKS", 3)
    found = TokenBlockSequence(range(15), block_size=4)
    before = state(found)
    ways: list[Callable[[], object]] = [
        lambda: found.append(1),
        lambda: found.extend([1]),
        lambda: found.push_mm_run(1, 1),
        lambda: found.extend_with_mm([1], [run(1, 0, 1)]),
        lambda: TokenBlockSequence(range(16), block_size=4),
    ]
    for grow in ways:
        with rejected(PositionOverflowError, "blocks", value=4):
            grow()
        assert state(found) == before
    found.pop()
    assert found.append(14) == range(0)
    assert state(found) == before


def test_largest_block_size() -> None:
    found = TokenBlockSequence(range(10), block_size=U32_MAX)
    found.fork().append(1)
    assert (len(found.blocks), found.tail) == (0, tuple(range(10)))
    found.truncate(3)
    assert found.tail == (0, 1, 2)


def test_the_limit_is_that_of_positions() -> None:
    assert lineage.MAX_BLOCKS == 2**24
    assert vars(sequence)["MAX_BLOCKS"] == 2**24
