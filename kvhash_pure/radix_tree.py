"""An index of blocks by lineage: a value for each PLH, and who stands before and behind whom.

Two levels: position, then PLH. All that is known of relations comes from the PLHs themselves:
a child carries its parent's sequence hash cut to 54, 46 or 38 bits, which may fit more than one
block. FORMAT.md, "PositionalLineageHash".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import MappingProxyType

from .contract import DOCUMENTED
from .errors import ContractMismatchError, FieldTypeError, require_uint
from .lineage import MAX_BLOCKS, PositionalLineageHash

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any, TypeVar, Union

    V = TypeVar("V")
    # The only key of a group, or several: most groups have one, and a dict is ten times a key.
    _Groups = dict[int, Union[PositionalLineageHash, dict[PositionalLineageHash, None]]]
else:
    V = object


class _Level:
    """The keys of one position; and grouped by what each says of its parent, and by what a child
    of each would say of it.
    """

    __slots__ = ("by_own", "by_parent", "values")

    def __init__(self) -> None:
        self.values: dict[PositionalLineageHash, Any] = {}
        self.by_parent: _Groups = {}
        self.by_own: _Groups = {}


_NO_LEVEL = _Level()


class PositionalRadixTree(MutableMapping[PositionalLineageHash, V]):
    """A mutable mapping from PLHs to values that knows parents, children and leaves.

    Keys of two contracts never meet: with a key that is not of the contract of those present,
    every operation is a ContractMismatchError (with what is no PLH, a FieldTypeError). A missing
    key is a KeyError. All costs are O(1) a key unless said otherwise.

    `parent` and `children` give every key that the fragments allow, nearly always the right one
    alone; or, if they are told the child's block hash, the one that it proves. The PLH asked
    about need not be present, nor need a key's parent.

    To evict the least recently used leaf, keep blocks in the order of use and use those of a
    request from its last to its first: then the oldest block is always a leaf.
    """

    def __init__(self) -> None:
        self._levels: dict[int, _Level] = {}
        self._leaves: OrderedDict[PositionalLineageHash, None] = OrderedDict()
        self._len = 0
        self._contract = DOCUMENTED  # of the keys; any while there are none

    def __getitem__(self, plh: PositionalLineageHash) -> V:
        value: V = self._level(plh).values[plh]
        return value

    def __contains__(self, plh: object) -> bool:
        return plh in self._level(plh).values

    def __setitem__(self, plh: PositionalLineageHash, value: V) -> None:
        level = self._level(plh)
        if plh not in level.values:
            if level is _NO_LEVEL:
                level = self._levels[plh.position] = _Level()
            self._contract, self._len = plh.contract, self._len + 1
            _join(level.by_parent, plh.parent_hash_fragment, plh)
            _join(level.by_own, _own_fragment(plh), plh)
            if not self.children(plh):
                self._leaves[plh] = None
            for parent in self.parent(plh):
                self._leaves.pop(parent, None)
        level.values[plh] = value

    def __delitem__(self, plh: PositionalLineageHash) -> None:
        level = self._level(plh)
        del level.values[plh]
        self._len -= 1
        self._leaves.pop(plh, None)
        _leave(level.by_own, _own_fragment(plh), plh)
        if _leave(level.by_parent, plh.parent_hash_fragment, plh):
            self._leaves.update(dict.fromkeys(self.parent(plh)))
        if not level.values:
            del self._levels[plh.position]

    def __len__(self) -> int:
        return self._len

    def __iter__(self) -> Iterator[PositionalLineageHash]:
        for position in sorted(self._levels):
            yield from self._levels[position].values

    def at(self, position: int) -> Mapping[PositionalLineageHash, V]:
        """The keys at a position (u64) and their values, to read; empty where there are none."""
        position = require_uint(position, "position")
        return MappingProxyType(self._levels.get(position, _NO_LEVEL).values)

    def parent(
        self, plh: PositionalLineageHash, block_hash: int | None = None
    ) -> tuple[PositionalLineageHash, ...]:
        """The keys that `plh` may extend; `block_hash` (u64) is that of `plh` itself."""
        self._level(plh)
        before = self._levels.get(plh.position - 1, _NO_LEVEL)
        found = _members(before.by_own, plh.parent_hash_fragment)
        if block_hash is None:
            return found
        block_hash = require_uint(block_hash, "block_hash")
        return tuple(parent for parent in found if parent.extend(block_hash) == plh)

    def children(
        self, plh: PositionalLineageHash, block_hash: int | None = None
    ) -> tuple[PositionalLineageHash, ...]:
        """The keys that may extend `plh`, O(their number); `block_hash` (u64) is the child's."""
        self._level(plh)
        behind = self._levels.get(plh.position + 1, _NO_LEVEL)
        found = _members(behind.by_parent, _own_fragment(plh))
        if block_hash is None:
            return found
        block_hash = require_uint(block_hash, "block_hash")
        return tuple(child for child in found if child == plh.extend(block_hash))

    def match_prefix(self, plhs: Iterable[PositionalLineageHash]) -> int:
        """How many of a request's PLHs, from the first on, are present without a gap."""
        if not isinstance(plhs, Iterable):
            raise FieldTypeError(field="plhs", value=plhs, expected="an iterable of PLHs")
        count = 0
        for plh in plhs:
            if plh not in self:
                break
            count += 1
        return count

    def leaves(self) -> Iterator[PositionalLineageHash]:
        """The keys that no key present may extend, by when they became leaves."""
        return iter(self._leaves)

    def is_leaf(self, plh: PositionalLineageHash) -> bool:
        """Whether `plh` is present and no key present may extend it."""
        self._level(plh)
        return plh in self._leaves

    def _level(self, plh: object) -> _Level:
        if not isinstance(plh, PositionalLineageHash):
            raise FieldTypeError(field="plh", value=plh, expected="a PositionalLineageHash")
        if self._len and plh.contract is not self._contract:
            expected = f"{self._contract.name!r}, the contract of the keys present"
            raise ContractMismatchError(
                field="contract", value=plh.contract.name, expected=expected
            )
        return self._levels.get(plh.position, _NO_LEVEL)


def _own_fragment(plh: PositionalLineageHash) -> int:
    """What a child says of `plh`: the child's position decides how much. The last has none."""
    return plh.parent_fragment_for_child_position(min(plh.position + 1, MAX_BLOCKS - 1))


def _join(groups: _Groups, fragment: int, plh: PositionalLineageHash) -> None:
    group = groups.setdefault(fragment, plh)
    if isinstance(group, dict):
        group[plh] = None
    elif group is not plh:
        groups[fragment] = {group: None, plh: None}


def _leave(groups: _Groups, fragment: int, plh: PositionalLineageHash) -> bool:
    """Whether the group is gone with its last member."""
    group = groups[fragment]
    if isinstance(group, dict):
        del group[plh]
        if group:
            return False
    del groups[fragment]
    return True


def _members(groups: _Groups, fragment: int) -> tuple[PositionalLineageHash, ...]:
    group = groups.get(fragment, {})
    return tuple(group) if isinstance(group, dict) else (group,)
