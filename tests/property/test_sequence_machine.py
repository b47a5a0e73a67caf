"""Random operations on streaming sequences, against plain lists that are hashed from scratch."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    KvHashingError,
    RequestMmObjectInfo,
    TokenBlockSequence,
)
from kvhash_pure import sequence as module
from tests import reference
from tests.helpers import IN_PYODIDE, IN_PYPY, U32_MAX, U64_MAX
from tests.reference import Run

CONTRACTS = (DOCUMENTED, DYNAMO_1_3)
TOKENS = st.lists(st.one_of(st.integers(0, 9), st.integers(0, U32_MAX)), max_size=14)
HASHES = st.one_of(st.integers(0, 3), st.integers(0, U64_MAX))
WHICH = st.integers(0, 99)


@st.composite
def tokens_and_runs(draw: Any) -> tuple[list[int], list[Run]]:
    """Tokens, and runs over some of them, in any order."""
    tokens = draw(TOKENS)
    marks = sorted(draw(st.sets(st.integers(0, len(tokens)), max_size=6)))
    runs = [
        (draw(HASHES), low, high - low)
        for low, high in zip(marks, marks[1:])
        if draw(st.booleans())
    ]
    return tokens, draw(st.permutations(runs))


def infos(runs: list[Run]) -> list[RequestMmObjectInfo]:
    return [RequestMmObjectInfo(*run) for run in runs]


class Twins:
    """One sequence for each contract, and the slots that both must have."""

    def __init__(
        self, sequences: list[TokenBlockSequence], tokens: list[int], runs: list[Run]
    ) -> None:
        self.sequences, self.tokens, self.runs = sequences, tokens, runs

    def each(self, operation: Callable[[TokenBlockSequence], Any]) -> Any:
        """The result that both give."""
        first, second = (operation(sequence) for sequence in self.sequences)
        assert first == second
        return first

    def grow(
        self,
        operation: Callable[[TokenBlockSequence], Any],
        tokens: list[int],
        runs: list[Run],
    ) -> None:
        """What `operation` adds; it must return the indices of the blocks that got full."""
        total, size = len(self.tokens), self.sequences[0].block_size
        completed = self.each(operation)
        self.tokens += tokens
        self.runs += [(mm_hash, total + offset, length) for mm_hash, offset, length in runs]
        assert isinstance(completed, range)
        assert list(completed) == list(range(total // size, len(self.tokens) // size))

    def cut(self, total: int) -> None:
        del self.tokens[total:]
        self.runs = [(h, o, min(n, total - o)) for h, o, n in self.runs if o < total]

    def check_slots(self) -> None:
        """Everything but hashes: asking for hashes changes what is hashed when."""
        for sequence in self.sequences:
            total, size = len(self.tokens), sequence.block_size
            assert sequence.total_tokens == total
            assert sequence.tail == tuple(self.tokens[total - total % size :])
            assert sequence.mm_runs == tuple(infos(self.runs))
            assert sequence.tokens_at(0, total) == tuple(self.tokens)
            assert len(sequence.blocks) == total // size

    def check_hashes(self) -> None:
        for sequence in self.sequences:
            expected = reference.hash_blocks(
                sequence.contract.name,
                self.tokens,
                sequence.block_size,
                self.runs,
                seed=sequence.salt_hash,
            )
            found = [(b.block_hash, b.sequence_hash, int(b.plh)) for b in sequence.blocks]
            assert found == [(b.block_hash, b.sequence_hash, b.plh) for b in expected]
            assert all(b.plh.contract is sequence.contract for b in sequence.blocks)


class Streaming(RuleBasedStateMachine):
    """Several sequences, forked from one; small chunks, so that many are sealed and shared."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Twins] = []
        self.patch = pytest.MonkeyPatch()

    @initialize(
        size=st.integers(1, 5),
        chunk_slots=st.integers(1, 12),
        salt_hash=st.integers(0, U64_MAX),
        start=tokens_and_runs(),
    )
    def begin(
        self, size: int, chunk_slots: int, salt_hash: int, start: tuple[list[int], list[Run]]
    ) -> None:
        self.patch.setattr(module, "_CHUNK_SLOTS", chunk_slots)
        tokens, runs = start
        sequences = [
            TokenBlockSequence(
                tokens,
                block_size=size,
                salt_hash=salt_hash,
                mm_info=infos(runs),
                contract=contract,
            )
            for contract in CONTRACTS
        ]
        self.all = [Twins(sequences, list(tokens), sorted(runs, key=lambda run: run[1]))]

    def pick(self, which: int) -> Twins:
        return self.all[which % len(self.all)]

    @rule(which=WHICH, token=st.integers(0, U32_MAX))
    def append(self, which: int, token: int) -> None:
        self.pick(which).grow(lambda s: s.append(token), [token], [])

    @rule(which=WHICH, tokens=TOKENS)
    def append_each(self, which: int, tokens: list[int]) -> None:
        for token in tokens:
            self.append(which, token)

    @rule(which=WHICH, tokens=TOKENS)
    def extend(self, which: int, tokens: list[int]) -> None:
        self.pick(which).grow(lambda s: s.extend(tokens), tokens, [])

    @rule(which=WHICH, mm_hash=HASHES, length=st.integers(1, 9))
    def push_mm_run(self, which: int, mm_hash: int, length: int) -> None:
        """The original keeps token 0 at the slots of a pushed run."""
        self.pick(which).grow(
            lambda s: s.push_mm_run(mm_hash, length), [0] * length, [(mm_hash, 0, length)]
        )

    @rule(which=WHICH, given=tokens_and_runs())
    def extend_with_mm(self, which: int, given: tuple[list[int], list[Run]]) -> None:
        """Offsets count from the chunk's start; token 0 at its placeholder slots."""
        tokens, runs = given
        covered = {slot for _, offset, length in runs for slot in range(offset, offset + length)}
        kept = [0 if slot in covered else token for slot, token in enumerate(tokens)]
        self.pick(which).grow(
            lambda s: s.extend_with_mm(tokens, infos(runs)),
            kept,
            sorted(runs, key=lambda run: run[1]),
        )

    @rule(which=WHICH, part=st.integers(0, 100))
    def truncate(self, which: int, part: int) -> None:
        twins = self.pick(which)
        total = (len(twins.tokens) + 2) * part // 100
        twins.each(lambda s: s.truncate(total))
        twins.cut(total)

    @rule(which=WHICH, part=st.integers(0, 100))
    def unwind(self, which: int, part: int) -> None:
        twins = self.pick(which)
        count = len(twins.tokens) * part // 100
        twins.each(lambda s: s.unwind(count))
        twins.cut(len(twins.tokens) - count)

    @rule(which=WHICH)
    def pop(self, which: int) -> None:
        twins = self.pick(which)
        if twins.tokens:
            assert twins.each(lambda s: s.pop()) == twins.tokens[-1]
            twins.cut(len(twins.tokens) - 1)

    @rule(which=WHICH)
    def reset(self, which: int) -> None:
        twins = self.pick(which)
        twins.each(lambda s: s.reset())
        twins.cut(0)

    @precondition(lambda self: len(self.all) < 4)
    @rule(which=WHICH)
    def fork(self, which: int) -> None:
        twins = self.pick(which)
        forks = [sequence.fork() for sequence in twins.sequences]
        self.all.append(Twins(forks, list(twins.tokens), list(twins.runs)))

    @precondition(lambda self: len(self.all) > 1)
    @rule(which=WHICH)
    def drop(self, which: int) -> None:
        del self.all[which % len(self.all)]

    @rule(which=WHICH)
    def fail(self, which: int) -> None:
        """What raises changes nothing: the invariants look."""
        twins = self.pick(which)
        total = len(twins.tokens)
        run = RequestMmObjectInfo(1, 1, 1)
        mistakes: list[Callable[[TokenBlockSequence], object]] = [
            lambda s: s.append(-1),
            lambda s: s.extend([1, 2, 2**32]),
            lambda s: s.push_mm_run(1, 0),
            lambda s: s.push_mm_run(1, 2**64 - 1),
            lambda s: s.extend_with_mm([1], [run]),
            lambda s: s.extend_with_mm([1, 2], [run, run]),
            lambda s: s.truncate(-1),
            lambda s: s.unwind(total + 1),
            lambda s: s.tokens_at(0, total + 1),
        ]
        for mistake in mistakes:
            for each in twins.sequences:
                with pytest.raises(KvHashingError):
                    mistake(each)

    @rule(which=WHICH)
    def hashes(self, which: int) -> None:
        self.pick(which).check_hashes()

    @invariant()
    def slots(self) -> None:
        for twins in self.all:
            twins.check_slots()

    def teardown(self) -> None:
        for twins in self.all:
            twins.check_hashes()
        self.patch.undo()


TestStreaming = Streaming.TestCase
TestStreaming.settings = settings(
    max_examples=settings().max_examples if IN_PYPY or IN_PYODIDE else 500,
    stateful_step_count=25,
)
