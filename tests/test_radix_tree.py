"""The lineage index against a dictionary, at positions where the fragment's width changes too."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Callable

import pytest

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    ContractMismatchError,
    FieldTypeError,
    FieldValueError,
    PositionalLineageHash,
    PositionalRadixTree,
    Request,
)
from tests.helpers import POSITION_EDGES, U64_MAX, rejected
from tests.reference import fragment_bits

PLH = PositionalLineageHash
LAST = 2**24 - 1

# Equal in their low 38, 46 and 54 bits and different above: what a fragment cannot tell apart.
BASE = 0x0123456789ABCDEF
HASHES = [BASE, BASE ^ 1 << 38, BASE ^ 1 << 46, BASE ^ 1 << 54, BASE ^ 1 << 63, BASE ^ 1, 0]


def chain(length: int, seed: int = 0) -> list[PositionalLineageHash]:
    tokens = range(seed * 1000, seed * 1000 + length)
    return Request(tokens).positional_lineage_hashes(1)


def near(position: int, count: int = 5) -> tuple[list[PositionalLineageHash], list[int]]:
    """A lineage that starts at a position, and the block hashes of its links."""
    plhs = [PLH.new(HASHES[0], HASHES[1] if position else None, position)]
    block_hashes = [position * 7 + i for i in range(count)]
    for block_hash in block_hashes[1:]:
        plhs.append(plhs[-1].extend(block_hash))
    return plhs, block_hashes


class Model:
    """The same index as one dictionary; relations by looking at every key."""

    def __init__(self) -> None:
        self.values: dict[PositionalLineageHash, int] = {}

    def extends(self, child: PositionalLineageHash, parent: PositionalLineageHash) -> bool:
        """A child's fragment is the parent's sequence hash cut to the bits of the child."""
        if child.position != parent.position + 1:
            return False
        cut = parent.current_sequence_hash % 2 ** fragment_bits(child.position)
        return bool(child.parent_hash_fragment == cut)

    def parents(self, plh: PositionalLineageHash) -> set[PositionalLineageHash]:
        return {key for key in self.values if self.extends(plh, key)}

    def children(self, plh: PositionalLineageHash) -> set[PositionalLineageHash]:
        return {key for key in self.values if self.extends(key, plh)}

    def leaves(self) -> set[PositionalLineageHash]:
        return {key for key in self.values if not self.children(key)}


def pool() -> list[PositionalLineageHash]:
    positions = sorted({*POSITION_EDGES, LAST - 1})
    keys = [
        PLH.new(current, parent if position else None, position)
        for position in positions
        for current in HASHES[:4]
        for parent in HASHES[:3]
    ]
    for position in (254, 65_534, LAST - 3):
        keys += near(position, 4)[0]
    return list(dict.fromkeys(keys))


def compare(tree: PositionalRadixTree[int], model: Model, asked: Any) -> None:
    assert len(tree) == len(model.values)
    assert dict(tree) == model.values
    anything: Any = model.values
    assert tree == anything
    positions = [plh.position for plh in tree]
    assert positions == sorted(positions)
    assert set(tree.leaves()) == model.leaves()
    for plh in asked:
        assert (plh in tree) == (plh in model.values)
        assert tree.get(plh) == model.values.get(plh)
        parents, children = tree.parent(plh), tree.children(plh)
        assert len(parents) == len(set(parents))
        assert len(children) == len(set(children))
        assert set(parents) == model.parents(plh)
        assert set(children) == model.children(plh)
        assert tree.is_leaf(plh) == (plh in model.leaves())
    for position in {*positions, *POSITION_EDGES}:
        want = {key: v for key, v in model.values.items() if key.position == position}
        assert tree.at(position) == want


@pytest.mark.parametrize("seed", range(12))
def test_against_a_dictionary(seed: int) -> None:
    """Random sets and deletes of keys whose fragments collide, at every boundary position."""
    rng = random.Random(seed)
    keys = pool()
    tree: PositionalRadixTree[int] = PositionalRadixTree()
    model = Model()
    for step in range(120):
        if model.values and rng.random() < 0.4:
            plh = rng.choice(list(model.values))
            if rng.random() < 0.5:
                del tree[plh]
                del model.values[plh]
            else:
                assert tree.pop(plh) == model.values.pop(plh)
        else:
            plh = rng.choice(keys)
            tree[plh] = model.values[plh] = step
        if step % 20 == 19:
            compare(tree, model, rng.sample(keys, 12))
    for plh in rng.sample(list(model.values), len(model.values)):
        del tree[plh]
        del model.values[plh]
    compare(tree, model, keys[:5])
    assert list(tree.leaves()) == []


@pytest.mark.parametrize("position", [0, 252, 253, 254, 65_532, 65_533, 65_534, LAST - 4])
def test_relations_across_the_widths(position: int) -> None:
    """54, 46 and 38 bits: always those of the child's position."""
    plhs, block_hashes = near(position)
    tree = PositionalRadixTree[int]()
    for i, plh in enumerate(plhs):
        tree[plh] = i
    assert tree.parent(plhs[0]) == ()
    for parent, child, block_hash in zip(plhs, plhs[1:], block_hashes[1:]):
        assert tree.parent(child) == tree.parent(child, block_hash) == (parent,)
        assert tree.children(parent) == tree.children(parent, block_hash) == (child,)
        assert tree.children(parent, block_hash + 1) == ()
        assert tree.parent(child, block_hash + 1) == ()
    assert tree.children(plhs[-1]) == ()
    assert list(tree.leaves()) == [plhs[-1]]


def test_ambiguous_fragments_give_all_candidates() -> None:
    """At 65 536 a child knows 38 bits of its parent; only its block hash says which it is."""
    parents = [PLH.new(BASE ^ high << 38, 5, 65_535) for high in range(5)]
    other = PLH.new(BASE ^ 1, 5, 65_535)
    child = parents[3].extend(77)
    stranger = parents[1].extend(78)
    tree = PositionalRadixTree[str]()
    for plh in [*parents, other]:
        tree[plh] = "parent"
    tree[child] = "child"
    assert set(tree.parent(child)) == set(parents)
    assert tree.parent(child, 77) == (parents[3],)
    assert tree.parent(child, 78) == ()
    assert set(tree.parent(stranger, 78)) == {parents[1]}
    for parent in parents:
        assert tree.children(parent) == (child,)
        assert tree.children(parent, 77) == ((child,) if parent is parents[3] else ())
        assert not tree.is_leaf(parent)
    assert tree.children(other) == ()
    assert set(tree.leaves()) == {child, other}
    tree[stranger] = "child"
    assert set(tree.children(parents[0])) == {child, stranger}
    del tree[child]
    assert not tree.is_leaf(parents[0])
    del tree[stranger]
    assert set(tree.leaves()) == {*parents, other}


def test_keys_that_differ_in_the_fragment_alone() -> None:
    """One position and one sequence hash, two parents: two keys, both children of the next."""
    first, second = PLH.new(1, 2, 7), PLH.new(1, 3, 7)
    child = first.extend(9)
    tree = PositionalRadixTree[int]()
    tree[first], tree[second], tree[child] = 1, 2, 3
    assert (tree[first], tree[second]) == (1, 2)
    assert tree.parent(child) == (first, second)
    assert tree.children(first) == tree.children(second) == (child,)


def test_match_prefix() -> None:
    plhs, others = chain(300), chain(300, seed=1)
    tree = PositionalRadixTree[int]()
    assert tree.match_prefix(plhs) == 0
    for i, plh in enumerate(plhs[:270]):
        tree[plh] = i
    assert tree.match_prefix(plhs) == 270
    assert tree.match_prefix(iter(plhs)) == 270
    assert tree.match_prefix(plhs[:100]) == 100
    assert tree.match_prefix([]) == 0
    assert tree.match_prefix(others) == 0
    del tree[plhs[256]]
    assert tree.match_prefix(plhs) == 256


def test_eviction_from_the_leaf_up() -> None:
    """Whatever leaf is taken, what is left keeps every parent: prefixes stay whole."""
    plhs = chain(60)
    forks = [plh.extend(block_hash) for plh in plhs[::7] for block_hash in (1, 2)]
    tree = PositionalRadixTree[int]()
    for i, plh in enumerate(plhs + forks):
        tree[plh] = i
    rng = random.Random(5)
    while tree:
        leaf = rng.choice(list(tree.leaves()))
        assert tree.is_leaf(leaf)
        assert tree.children(leaf) == ()
        del tree[leaf]
        assert leaf not in tree
        assert all(tree.parent(plh) for plh in tree if plh.position)
    assert list(tree.leaves()) == []


def test_leaves_come_in_the_order_in_which_they_became_leaves() -> None:
    first, second = chain(3), chain(3, seed=1)
    tree = PositionalRadixTree[int]()
    for plh in first + second:
        tree[plh] = 0
    assert list(tree.leaves()) == [first[2], second[2]]
    tree[first[2]] = 1
    assert list(tree.leaves()) == [first[2], second[2]]
    del tree[next(tree.leaves())]
    assert list(tree.leaves()) == [second[2], first[1]]


def test_it_is_a_mutable_mapping() -> None:
    plhs = chain(4)
    tree = PositionalRadixTree[int]()
    tree.update(zip(plhs, range(4)))
    assert list(tree) == list(tree.keys()) == plhs
    assert list(tree.items()) == list(zip(plhs, range(4)))
    assert tree.setdefault(plhs[0], 9) == 0
    assert tree.get(plhs[1].extend(5)) is None
    assert tree.pop(plhs[1].extend(5), 8) == 8
    assert tree.at(2) == {plhs[2]: 2}
    assert tree.at(4) == tree.at(U64_MAX) == {}
    assert isinstance(tree.at(2), Mapping)
    with pytest.raises(TypeError):
        tree.at(2)[plhs[2]] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        tree.at(99)[plhs[2]] = 1  # type: ignore[index]
    tree.clear()
    assert (len(tree), list(tree.leaves()), tree.at(2)) == (0, [], {})


def state(tree: PositionalRadixTree[int]) -> object:
    return list(tree.items()), list(tree.leaves()), [tree.children(plh) for plh in tree]


def test_contracts_never_meet() -> None:
    """Every operation with a key of the other contract is an error and changes nothing."""
    plhs = chain(3)
    theirs = [PLH.from_u128(int(plh), DYNAMO_1_3) for plh in plhs]
    tree = PositionalRadixTree[int]()
    tree.update(zip(plhs, range(3)))
    before = state(tree)
    operations: list[Callable[[PositionalLineageHash], object]] = [
        lambda plh: tree[plh],
        lambda plh: tree.get(plh),
        lambda plh: plh in tree,
        lambda plh: tree.__setitem__(plh, 1),
        lambda plh: tree.__delitem__(plh),
        lambda plh: tree.pop(plh, None),
        lambda plh: tree.parent(plh),
        lambda plh: tree.children(plh),
        lambda plh: tree.is_leaf(plh),
        lambda plh: tree.match_prefix([plh]),
    ]
    for operation in operations:
        with rejected(ContractMismatchError, "contract", value="dynamo-1.3"):
            operation(theirs[1])
        for value in (int(plhs[1]), str(plhs[1]), None, bytes(plhs[1])):
            wrong: Any = value
            with rejected(FieldTypeError, "plh", value=value):
                operation(wrong)
        assert state(tree) == before
    tree.clear()
    tree.update(zip(theirs, range(3)))
    assert len(tree) == 3
    with rejected(ContractMismatchError, "contract", value=DOCUMENTED.name):
        tree[plhs[0]] = 1


def test_what_fails_changes_nothing() -> None:
    plhs = chain(3)
    tree = PositionalRadixTree[int]()
    tree.update(zip(plhs, range(3)))
    before = state(tree)
    for absent in (plhs[0].extend(1), plhs[2].extend(1), PLH.new(1, 2, LAST)):
        with pytest.raises(KeyError):
            tree[absent]
        with pytest.raises(KeyError):
            del tree[absent]
    for block_hash in (-1, 2**64):
        with rejected(FieldValueError, "block_hash", value=block_hash):
            tree.parent(plhs[1], block_hash)
        with rejected(FieldValueError, "block_hash", value=block_hash):
            tree.children(plhs[1], block_hash)
    with rejected(FieldTypeError, "block_hash", value=1.5):
        tree.children(plhs[2], 1.5)  # type: ignore[arg-type]
    with rejected(FieldValueError, "position", value=-1):
        tree.at(-1)
    with rejected(FieldTypeError, "position", value="1"):
        tree.at("1")  # type: ignore[arg-type]
    single: Any = plhs[0]
    with rejected(FieldTypeError, "plhs", value=single):
        tree.match_prefix(single)
    assert state(tree) == before
