"""The examples in docstrings are run: they are the first thing that a user copies."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.test_imports import MODULES

EXAMPLES = {*MODULES} - {"__main__", "kernel_pypy", "machine_words"}


@pytest.mark.parametrize("module", sorted(EXAMPLES))
def test_examples_in_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"kvhash_pure.{module}"))
    assert found.failed == 0


def test_there_are_examples() -> None:
    """So that none of the above passes by finding nothing."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = [
        module
        for module in EXAMPLES
        for one in finder.find(importlib.import_module(f"kvhash_pure.{module}"))
        if one.examples
    ]
    assert len(with_examples) >= 8
    assert {"contract", "lineage", "multimodal", "request"} <= {*with_examples}
