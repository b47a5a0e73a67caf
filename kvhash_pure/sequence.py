"""A sequence that grows, rolls back and forks; no block of it is hashed twice.

Operations and their checks; what is kept and how it is shared is `chunks`'s. FORMAT.md, "Blocks"
and "Runs".
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from .blocks import UniversalBlock, make_blocks
from .chunks import Chunk, unpacked
from .contract import DOCUMENTED, Contract, require_contract
from .encoding import pack_tokens
from .errors import U32_LIMIT, U64_LIMIT, FieldValueError, require_block_size, require_uint
from .lineage import MAX_BLOCKS, require_block_count
from .multimodal import RequestMmObjectInfo, validate_and_sort_mm_info

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any

    from .encoding import Tokens

# At most so many slots a chunk, but at least a block: a fork copies 20 KB or less beside the
# tail, and a batch for the hash kernel is long enough for its fixed cost not to show.
_CHUNK_SLOTS = 4096
_NONE_COMPLETED = range(0)


class TokenBlockSequence:
    """The blocks of a growing sequence. In whatever way it came to be, they are those of a fresh
    one over the same tokens and `mm_runs`.

    `tokens`: u32 each, any iterable of ints or buffer of integers. `block_size`: 1 … 2^32 - 1
    slots. `salt_hash`: u64; for the keys of a Request give its `salt_hash()` and its `contract`:
    the default 0, which is the original's, is not that of a request without a salt. `mm_info`:
    runs of placeholder slots. What adds slots returns the range of block indices that it
    completed. An operation that raises a KvHashingError changes nothing. Keeps 4 bytes a token
    and 16 a block; `copy.copy` is `fork`.

    >>> sequence = TokenBlockSequence(range(6), block_size=4)
    >>> sequence.extend([6, 7, 8]), sequence.tail
    (range(1, 2), (8,))
    """

    __slots__ = ("_block_size", "_capacity", "_last", "_missing", "_rules")
    _last: Chunk
    _missing: int

    def __init__(
        self,
        tokens: Tokens = (),
        *,
        block_size: int,
        salt_hash: int = 0,
        mm_info: Iterable[RequestMmObjectInfo] = (),
        contract: Contract = DOCUMENTED,
    ) -> None:
        self._block_size = require_block_size(block_size)
        self._capacity = max(1, _CHUNK_SLOTS // self._block_size) * self._block_size
        salt_hash = require_uint(salt_hash, "salt_hash")
        self._rules = (self._block_size, salt_hash, require_contract(contract))
        self.reset()
        packed = pack_tokens(tokens)
        self._add(packed, validate_and_sort_mm_info(mm_info, len(packed) // 4))

    @property
    def block_size(self) -> int:
        """Slots a block."""
        return self._block_size

    @property
    def salt_hash(self) -> int:
        """The u64 that seeds every block hash."""
        return self._rules[1]

    @property
    def contract(self) -> Contract:
        """Which rules make the hashes."""
        return self._rules[2]

    @property
    def total_tokens(self) -> int:
        """Number of slots, placeholders and tail included."""
        return self._last.first * self._block_size + len(self._last.tokens)

    @property
    def tail(self) -> tuple[int, ...]:
        """The tokens of the last, unfinished block: fewer than `block_size`."""
        tokens = self._last.tokens
        return tuple(tokens[len(tokens) - len(tokens) % self._block_size :])

    @property
    def blocks(self) -> Sequence[UniversalBlock]:
        """The finished blocks: a view that follows the sequence and makes blocks when they are
        taken out. Finding one, or a slice, is a step for every 4 096 slots from the end to it.
        """
        return _Blocks(self)

    @property
    def last_complete_block(self) -> UniversalBlock | None:
        """The last finished block; None while there is none."""
        count = self._finished()
        return self._blocks(count - 1, count)[0] if count else None

    @property
    def mm_runs(self) -> tuple[RequestMmObjectInfo, ...]:
        """The runs by offset, as long as truncation left them."""
        # A chunk knows a run up to the chunk's end: the last chunk that has it is right.
        chunks = self._last.span(0, self._finished())
        return tuple({run.offset: run for chunk in chunks for run in chunk.runs}.values())

    def tokens_at(self, start: int, stop: int) -> tuple[int, ...]:
        """Tokens of slots start … stop - 1; 0 where `push_mm_run` or `extend_with_mm` put a
        placeholder. FieldValueError unless start <= stop <= total_tokens.
        """
        start, stop = require_uint(start, "start"), self._require_count(stop, "stop")
        if start > stop:
            raise FieldValueError(field="start", value=start, expected=f"at most stop, {stop}")
        chunks = self._last.span(start // self._block_size, stop // self._block_size)
        slots = unpacked(b"")
        for chunk in chunks:
            slots += chunk.tokens
        skipped = chunks[0].first * self._block_size
        return tuple(slots[start - skipped : stop - skipped])

    def append(self, token: int) -> range:
        """Adds one token (u32)."""
        if token.__class__ is not int:  # 55 ns less than type(token) on CPython 3.9
            token = require_uint(token, "token", limit=U32_LIMIT)
        try:
            self._last.tokens.append(token)
        except (OverflowError, TypeError):
            expected = "an integer, 0 to 2^32 - 1"
            raise FieldValueError(field="token", value=token, expected=expected) from None
        # Counting down is a tenth faster on CPython than asking for the length modulo block_size.
        missing = self._missing - 1
        if missing > 0:
            self._missing = missing
            return _NONE_COMPLETED
        tokens = self._last.tokens
        self._missing = self._block_size - len(tokens) % self._block_size
        if self._missing < self._block_size:
            return _NONE_COMPLETED  # an interrupt once kept the countdown from its step
        stop = self._finished()
        if stop > MAX_BLOCKS:
            tokens.pop()
            self._missing = 1
            require_block_count(stop)
        if len(tokens) >= self._capacity:
            self._last = self._last.seal(*self._rules)
        return range(stop - 1, stop)

    def extend(self, tokens: Tokens) -> range:
        """Adds tokens: u32 each, any iterable of ints or buffer of integers. All or none."""
        return self._add(pack_tokens(tokens))

    def push_mm_run(self, mm_hash: int, length: int) -> range:
        """Adds a run of `length` placeholder slots on object `mm_hash` (both u64): a run of its
        own, also where the slot before shows the same object.
        """
        run = RequestMmObjectInfo(mm_hash, self.total_tokens, length)
        validate_and_sort_mm_info((run,), U64_LIMIT)
        require_block_count(run.end // self._block_size)
        return self._add(bytes(4 * run.length), (run,))

    def extend_with_mm(self, tokens: Tokens, mm_info: Iterable[RequestMmObjectInfo]) -> range:
        """Adds tokens and runs whose offsets count from the first of them. All or none. Token 0
        is kept at placeholder slots.
        """
        packed = bytearray(pack_tokens(tokens))
        total, runs = self.total_tokens, []
        for run in validate_and_sort_mm_info(mm_info, len(packed) // 4):
            packed[4 * run.offset : 4 * run.end] = bytes(4 * run.length)
            runs.append(RequestMmObjectInfo(run.mm_hash, total + run.offset, run.length))
        return self._add(bytes(packed), runs)

    def truncate(self, n: int) -> None:
        """Keeps the first n slots, all if there are no more; a run cut in two keeps its first
        part. O(block_size), and a step for every 4 096 slots dropped.
        """
        n = require_uint(n, "n")
        if n <= self.total_tokens:
            (chunk,) = self._last.span(n // self._block_size, n // self._block_size)
            self._last = chunk.head(n, self._block_size)
            self._missing = self._block_size - n % self._block_size

    def unwind(self, n: int) -> None:
        """Takes the last n slots back, as `truncate`; FieldValueError if there are fewer."""
        self.truncate(self.total_tokens - self._require_count(n, "n"))

    def pop(self) -> int:
        """Takes the last slot back and returns its token; FieldValueError if there is none."""
        total = self.total_tokens
        if not total:
            raise FieldValueError(field="total_tokens", value=0, expected="at least 1 to pop")
        (token,) = self.tokens_at(total - 1, total)
        self.truncate(total - 1)
        return token

    def reset(self) -> None:
        """Forgets all slots and runs; block size, salt hash and contract stay."""
        self._last, self._missing = Chunk(None, 0, []), self._block_size

    def fork(self) -> TokenBlockSequence:
        """An independent copy that shares the finished blocks: time and memory O(tail), however
        long the sequence is and however both go on.
        """
        self._last.hash(*self._rules)  # here, or both would
        new = object.__new__(type(self))
        new._block_size, new._capacity = self._block_size, self._capacity
        new._rules, new._missing = self._rules, self._missing
        new._last = self._last.head(self.total_tokens, self._block_size)
        return new

    __copy__ = fork

    def __reduce__(self) -> tuple[object, ...]:
        make = partial(
            type(self),
            block_size=self.block_size,
            salt_hash=self.salt_hash,
            mm_info=self.mm_runs,
            contract=self.contract,
        )
        return make, (array("I", self.tokens_at(0, self.total_tokens)),)

    def __repr__(self) -> str:
        return f"<TokenBlockSequence: {self.total_tokens} tokens in blocks of {self._block_size}>"

    def _require_count(self, value: int, field: str) -> int:
        count, total = require_uint(value, field), self.total_tokens
        if count > total:
            expected = f"at most {total}, the tokens there are"
            raise FieldValueError(field=field, value=count, expected=expected)
        return count

    def _finished(self) -> int:
        """Number of finished blocks."""
        return self._last.first + len(self._last.tokens) // self._block_size

    def _add(self, packed: bytes, runs: Sequence[RequestMmObjectInfo] = ()) -> range:
        """Adds slots and runs that are valid; nothing at all if the blocks get too many."""
        first, total, size = self._finished(), self.total_tokens, self._block_size
        stop = require_block_count((total + len(packed) // 4) // size)
        slots = unpacked(packed)
        moved = 0
        try:
            self._last.runs += runs
            while moved < len(slots):
                tokens = self._last.tokens
                room = max(self._capacity - len(tokens), size - len(tokens) % size)
                tokens += slots[moved : moved + room]
                moved += room
                if len(tokens) >= self._capacity and len(tokens) % size == 0:
                    self._last = self._last.seal(*self._rules)
            self._missing = size - len(self._last.tokens) % size
        except BaseException:  # no interrupt, no lack of memory may leave half of it
            self.truncate(total)
            raise
        return range(first, stop)

    def _blocks(self, first: int, stop: int) -> list[UniversalBlock]:
        self._last.hash(*self._rules)
        blocks = []
        for chunk in self._last.span(first, stop - 1):
            low, high = max(first - chunk.first, 0), stop - chunk.first
            parent = chunk.sequence_hashes[low - 1] if low else chunk.parent
            known = chunk.block_hashes[low:high], chunk.sequence_hashes[low:high]
            blocks += make_blocks(known[0], self.contract, chunk.first + low, parent, known[1])
        return blocks


class _Blocks(Sequence[UniversalBlock]):
    """What `TokenBlockSequence.blocks` gives. Equal to any sequence of equal blocks."""

    __slots__ = ("_of",)

    def __init__(self, of: TokenBlockSequence) -> None:
        self._of = of

    def __len__(self) -> int:
        return self._of._finished()

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return self._of._blocks(chosen, chosen + 1)[0]
        if chosen.step == 1 and chosen:
            return self._of._blocks(chosen.start, chosen.stop)
        return [self[i] for i in chosen]

    def __iter__(self) -> Iterator[UniversalBlock]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
