"""The router's radix tree: who has how many leading blocks (FORMAT.md, "Radix tree").

Values in memory; no event is parsed here. Blocks lie on edges, one edge a stretch without branches,
as in Dynamo's tree: what that answers once a block is gone from the middle of a sequence depends
on where its edges end, so ours end in the same places.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import U32_LIMIT, U64_LIMIT, FieldTypeError, FieldValueError, require_uint

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    Holder = tuple[int, int]  # worker id, dp rank
    Block = tuple[int, int]  # external hash, local hash


class RouterRangeError(FieldValueError, OverflowError):
    """A number that does not fit its type: the binding's OverflowError."""


class UnknownBlockError(FieldValueError):
    """An external hash of no block that this worker holds."""


def items_of(values: object, field: str, expected: str, index: int | None = None) -> list[object]:
    """A list of what has an order and is no text."""
    unordered = isinstance(values, (str, bytes, bytearray, dict, set, frozenset))
    if unordered or not isinstance(values, Iterable):
        raise FieldTypeError(field=field, index=index, value=values, expected=expected)
    return list(values)


def router_uint(value: object, field: str, index: int | None = None, limit: int = U64_LIMIT) -> int:
    """An unsigned integer. Dynamo's events write hashes signed: add 2^64 to a negative one."""
    return require_uint(value, field, limit=limit, index=index, out_of_range=RouterRangeError)


def router_hashes(values: Iterable[int], field: str) -> list[int]:
    """`values` as a list of u64."""
    items = items_of(values, field, "a list of u64 hashes")
    return [router_uint(value, field, i) for i, value in enumerate(items)]


class _Edge:
    """A stretch of blocks. `cover`: how many of them, from the first on, each holder has."""

    __slots__ = ("above", "blocks", "children", "cover", "grows", "locals", "where")

    def __init__(self, above: _Edge | None, blocks: list[Block]) -> None:
        self.above = above or self
        self.blocks: list[Block] = []
        self.locals: list[int] = []
        self.where: dict[int, int] = {}  # external hash: index
        self.cover: dict[Holder, int] = {}
        self.children: dict[int, _Edge] = {}
        self.grows = above is not None  # until it gets a child, blocks may be added at its end
        self.add(blocks)

    def add(self, blocks: list[Block]) -> None:
        self.where.update((name, i) for i, (name, _) in enumerate(blocks, len(self.blocks)))
        self.blocks += blocks
        self.locals += [local for _, local in blocks]

    def match(self, hashes: list[int]) -> int:
        """How many of its leading blocks lead `hashes`."""
        if hashes[: len(self.locals)] == self.locals:
            return len(self.locals)
        pairs = enumerate(zip(self.locals, hashes))
        return next((i for i, (a, b) in pairs if a != b), len(hashes))


class RouterRadixTree:
    """Which workers hold the leading blocks of a sequence, as the router's `RadixTree` knows it.

    A holder is a pair (worker id u64, dp rank u32). Local hashes lead through the tree; an external
    hash is what the worker calls a block. `keep_empty_edges`: True as in Dynamo 1.4, where blocks
    that nobody holds any more still shape what is stored after them; False as in 1.6.

    >>> tree = RouterRadixTree()
    >>> tree.store(7, None, [(101, 1), (102, 2)])
    >>> tree.find_matches([1, 2, 3])
    {(7, 0): 2}
    """

    def __init__(self, *, keep_empty_edges: bool = False) -> None:
        self._keep = keep_empty_edges
        self._root = _Edge(None, [])
        self._held: dict[Holder, dict[int, _Edge]] = {}

    def find_matches(self, local_hashes: Iterable[int]) -> dict[Holder, int]:
        """Leading blocks that each holder has, holders of at least one; O(blocks + holders)."""
        hashes = router_hashes(local_hashes, "local_hashes")
        scores: dict[Holder, int] = {}
        edge, depth, active = self._root, 0, None
        while depth < len(hashes) and hashes[depth] in edge.children:
            edge = edge.children[hashes[depth]]
            matched = edge.match(hashes[depth : depth + len(edge.locals)])
            active = edge.cover if active is None else active
            scores.update((w, depth + min(edge.cover.get(w, 0), matched)) for w in active)
            active = {w: 0 for w in active if edge.cover.get(w) == matched == len(edge.blocks)}
            depth += matched
            if not active:
                break
        return scores

    def store(
        self, worker: int, parent_hash: int | None, blocks: Iterable[Block], dp_rank: int = 0
    ) -> None:
        """The worker now holds these (external hash, local hash), after its block `parent_hash`
        (an external hash; None: from the start). Storing twice is harmless.

        Raises UnknownBlockError for a parent that the worker does not hold, FieldValueError where
        a block has its parent's hash; then nothing is stored.
        """
        holder, new = _holder(worker, dp_rank), _pairs(blocks)
        held = self._held.setdefault(holder, {})
        edge = self._root
        if parent_hash is not None:
            parent = router_uint(parent_hash, "parent_hash")
            for i, (name, _) in enumerate(new):
                if name == parent:
                    expected = "another hash than the parent's"
                    raise FieldValueError(field="blocks", index=i, value=name, expected=expected)
            if parent not in held or parent not in held[parent].where:
                raise _unknown("parent_hash", parent, holder)
            edge = held[parent]
            done = edge.where[parent] + 1
            if edge.cover.get(holder, 0) < done:  # removed from the edge by way of another block
                del held[parent]
                raise _unknown("parent_hash", parent, holder)
            after = edge.blocks[done:]
            if after[: len(new)] == new[: len(after)] and (len(new) <= len(after) or edge.grows):
                edge.add(new[len(after) :])
                edge.cover[holder] = max(edge.cover[holder], done + len(new))
                held.update((name, edge) for name, _ in new)
                return
            if after:
                self._split(edge, done)
        while new:  # down from the end of `edge`: along what is there, then a new stretch
            child = edge.children.get(new[0][1])
            if child is not None:
                count = matched = child.match([local for _, local in new])
                if matched < min(len(child.blocks), len(new)):
                    self._split(child, matched)
            else:
                child, matched = edge, len(new)
                if edge.grows and edge.cover.get(holder) == len(edge.blocks):
                    edge.add(new)
                else:
                    child = edge.children[new[0][1]] = _Edge(edge, new)
                    edge.grows = False
                count = len(child.blocks)
            child.cover[holder] = max(child.cover.get(holder, 0), count)
            held.update((name, child) for name, _ in new[:matched])
            edge, new = child, new[matched:]

    def _split(self, edge: _Edge, at: int) -> None:
        """Ends `edge` before its block `at`; the rest becomes its only child."""
        rest = _Edge(edge, edge.blocks[at:])
        for name in rest.where:
            edge.where.pop(name, None)
        del edge.blocks[at:], edge.locals[at:]
        rest.cover = {w: count - at for w, count in edge.cover.items() if count > at}
        edge.cover = {w: min(count, at) for w, count in edge.cover.items()}
        rest.children, rest.grows = edge.children, edge.grows
        edge.children, edge.grows = {}, False
        if rest.cover or self._keep:
            edge.children[rest.locals[0]] = rest
        for child in rest.children.values():
            child.above = rest
        for holder, count in rest.cover.items():
            self._held[holder].update((name, rest) for name, _ in rest.blocks[:count])

    def remove(self, worker: int, hashes: Iterable[int], dp_rank: int = 0) -> None:
        """The worker no longer holds the blocks of these external hashes.

        What follows on the same edge goes too; what follows on later edges stays, unreachable until
        the gap is filled. Raises UnknownBlockError at the first hash that the worker does not hold,
        once the others are gone.
        """
        holder, names = _holder(worker, dp_rank), router_hashes(hashes, "hashes")
        held = self._held.get(holder, {})
        gone: set[int] = set()
        problem: UnknownBlockError | None = None
        for i, name in enumerate(names):
            edge = held.get(name)
            if edge is None or name not in edge.where:
                if name not in gone and problem is None:
                    problem = _unknown("hashes", name, holder, i)
                continue
            at, count = edge.where[name], edge.cover.get(holder, 0)
            for other in [other for other, _ in edge.blocks[at:count]] or [name]:
                held.pop(other, None)
                gone.add(other)
            if at < count:
                self._cut(edge, holder, at)
        if problem is not None:
            raise problem

    def _cut(self, edge: _Edge, holder: Holder, count: int) -> None:
        """`holder` keeps `count` blocks of the edge; what nobody can reach from it is dropped."""
        edge.cover.pop(holder, None)
        if count:
            edge.cover[holder] = count
        if len(edge.blocks) not in edge.cover.values():
            edge.children.clear()
        siblings = edge.above.children
        if not edge.cover and not self._keep and siblings.get(edge.locals[0]) is edge:
            del siblings[edge.locals[0]]

    def clear(self, worker: int, dp_rank: int = 0) -> None:
        """Nothing is left of this one dp rank of the worker."""
        holder = _holder(worker, dp_rank)
        for edge in {id(edge): edge for edge in self._held.pop(holder, {}).values()}.values():
            self._cut(edge, holder, 0)

    def remove_worker(self, worker: int) -> None:
        """Nothing is left of any dp rank of the worker."""
        worker, _ = _holder(worker, 0)
        for holder in [holder for holder in self._held if holder[0] == worker]:
            self.clear(*holder)


def _holder(worker: int, dp_rank: int) -> Holder:
    return router_uint(worker, "worker"), router_uint(dp_rank, "dp_rank", limit=U32_LIMIT)


def _unknown(field: str, name: int, holder: Holder, index: int | None = None) -> UnknownBlockError:
    expected = f"a block that worker {holder[0]}, dp rank {holder[1]} holds"
    return UnknownBlockError(field=field, index=index, value=name, expected=expected)


def _pairs(blocks: Iterable[Block]) -> list[Block]:
    expected = "pairs (external hash, local hash)"
    pairs: list[Block] = []
    for i, pair in enumerate(items_of(blocks, "blocks", expected)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise FieldTypeError(field="blocks", index=i, value=pair, expected=expected)
        name = router_uint(pair[0], "blocks.external_hash", i)
        pairs.append((name, router_uint(pair[1], "blocks.local_hash", i)))
    return pairs
