"""The base of all values: frozen, comparable, hashable, printable, picklable."""

from __future__ import annotations

import copy
import pickle

import pytest

from kvhash_pure.values import Frozen


class Point(Frozen):
    __slots__ = ("x", "y")
    _fields = ("x", "y")


class Other(Frozen):
    __slots__ = ("x", "y")
    _fields = ("x", "y")


def test_fields_are_given_by_name_all_of_them() -> None:
    point = Point(y=2, x=1)
    assert repr(point) == "Point(x=1, y=2)"
    assert eval(repr(point)) == point
    for wrong in ({}, {"x": 1}, {"x": 1, "y": 2, "z": 3}, {"x": 1, "z": 2}):
        with pytest.raises(TypeError, match="takes exactly x, y"):
            Point(**wrong)


def test_equality_is_of_class_and_fields() -> None:
    assert Point(x=1, y=2) == Point(x=1, y=2)
    assert hash(Point(x=1, y=2)) == hash(Point(x=1, y=2))
    assert Point(x=1, y=2) != Point(x=1, y=3)
    assert Point(x=1, y=2) != Other(x=1, y=2)
    assert Point(x=1, y=2) != (1, 2)


def test_nothing_can_be_set_or_deleted() -> None:
    point = Point(x=1, y=2)
    for name in ("x", "z"):
        with pytest.raises(AttributeError, match=f"immutable: {name} cannot be set"):
            setattr(point, name, 5)
        with pytest.raises(AttributeError, match=f"immutable: {name} cannot be deleted"):
            delattr(point, name)
    assert point == Point(x=1, y=2)


def test_copies_and_pickles() -> None:
    point = Point(x=[1], y=2)
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
