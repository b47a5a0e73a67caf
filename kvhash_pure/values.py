"""What all value classes share: frozen, comparable, hashable, a repr that can be pasted back."""

from __future__ import annotations

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import TypeVar

    _F = TypeVar("_F", bound="Frozen")

set_field = object.__setattr__


class Frozen:
    """Base of immutable values. A subclass names its fields, in constructor order, in `_fields`."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __init__(self, **values: object) -> None:
        if sorted(values) != sorted(self._fields):
            raise TypeError(f"{type(self).__name__} takes exactly {', '.join(self._fields)}")
        for name, value in values.items():
            set_field(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def _key(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({parts})"

    def __reduce__(self) -> tuple[object, ...]:
        return (restore, (type(self), self._key()))


def restore(kind: type[_F], values: tuple[object, ...]) -> _F:
    """A value of its fields in order, trusted: for unpickling and for changed copies."""
    new = kind.__new__(kind)
    for name, value in zip(kind._fields, values):
        set_field(new, name, value)
    return new
