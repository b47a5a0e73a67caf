"""What the answers of `compare`, `prefix_groups` and `identify` have in common."""

from __future__ import annotations

from .values import Frozen


class Result(Frozen):
    """Base of answers: a subclass's annotations are its fields. `to_dict` is the JSON form, `str`
    the sentence for people where there is one.
    """

    sentence: str

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)

    def __str__(self) -> str:
        return self.sentence if "sentence" in self._fields else repr(self)

    def to_dict(self) -> dict[str, object]:
        """The JSON form (FORMAT.md, "JSON")."""
        return {name: _plain(getattr(self, name)) for name in self._fields}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_dict() if isinstance(value, Result) else value


def count(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'' if n == 1 else 's'}"
