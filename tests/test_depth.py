"""Depth is refused, not followed: Pyodide cannot survive the recursion that CPython catches."""

from __future__ import annotations

import json

import pytest

from kvhash_pure import InvalidJsonError
from kvhash_pure.strict_json import loads


@pytest.mark.parametrize("levels", [501, 5_000, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_json_nested_too_deeply_is_an_error(levels: int, opened: str, closed: str) -> None:
    """At 5 000 levels Pyodide 0.29 dies within json.loads, and the page's worker with it."""
    for text in (opened * levels + "1" + closed * levels, opened * levels):
        with pytest.raises(InvalidJsonError) as caught:
            loads(text)
        assert caught.value.field == "json"
        assert "nested" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        [{"a": [i]} for i in range(2_000)],
        ["[" * 5_000, "{" * 5_000, '\\"[' * 600, '"[' * 600, "\\" * 3 + "[" * 600],
        {"]" * 600 + "[" * 600: ["}{" * 600]},
    ],
    ids=["many, flat", "brackets in strings", "brackets in keys"],
)
def test_many_brackets_are_not_depth(value: object) -> None:
    """Only levels count: a request may have thousands of runs, a salt any characters."""
    assert loads(json.dumps(value)) == value
