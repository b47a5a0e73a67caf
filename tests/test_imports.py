"""Imports go one way, nothing but the standard library comes in, and modules stay readable."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kvhash_pure
from tests.helpers import IN_PYODIDE

PACKAGE = Path(kvhash_pure.__file__).parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))

# Every module may import from lines above its own, never from its own or below.
LAYERS = """
errors values
base58 xxh3 strict_json multimodal results router_tree
unrolled lanes machine_words encoding
kernel_cpython kernel_pypy
kernel
contract
lineage
blocks notation
request chunks radix_tree
sequence slots identify router selftest
would_share prefix_tree jsonform
compare
forms
__init__
__main__
"""
LAYER = {name: number for number, line in enumerate(LAYERS.split("\n")) for name in line.split()}

# What a program that only hashes must not have to load.
HEAVY = {"argparse", "dataclasses", "enum", "inspect", "json", "re", "typing"}
PROGRAMS = {"__main__", "forms"}


def tree_of(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """(level, module) of every import below `node`, those inside functions too."""
    for one in ast.walk(node):
        if isinstance(one, ast.Import):
            yield from ((0, alias.name) for alias in one.names)
        elif isinstance(one, ast.ImportFrom):
            if one.module:
                yield one.level, one.module
            else:
                yield from ((one.level, alias.name) for alias in one.names)


def runtime_imports(module: str) -> Iterator[tuple[int, str]]:
    """Imports that happen when the module is imported: not those for type checkers, nor later."""
    for statement in tree_of(module).body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            continue
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from imports(statement)


def test_every_module_has_its_layer() -> None:
    assert sorted(LAYER) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    """__main__ at the bottom may see everything, errors at the top sees nothing of ours."""
    ours = {name.split(".")[0] for level, name in imports(tree_of(module)) if level}
    for name in ours - {"__version__"}:
        assert LAYER[name] < LAYER[module], f"{module} imports {name}"
    assert all(level <= 1 for level, _ in imports(tree_of(module)))


@pytest.mark.skipif(sys.version_info < (3, 10), reason="sys.stdlib_module_names is of 3.10")
@pytest.mark.parametrize("module", MODULES)
def test_nothing_but_the_standard_library(module: str) -> None:
    """`__pypy__` is the interpreter's own, and used only where it is there."""
    allowed = {*getattr(sys, "stdlib_module_names", ()), "__pypy__"}
    found = {name.split(".")[0] for level, name in imports(tree_of(module)) if not level}
    assert found <= allowed
    assert ("__pypy__" in found) <= (module in {"kernel", "machine_words", "encoding"})


@pytest.mark.parametrize("module", sorted({*MODULES} - PROGRAMS))
def test_the_import_stays_light(module: str) -> None:
    assert not {name.split(".")[0] for level, name in runtime_imports(module) if not level} & HEAVY


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_read_in_one_sitting(module: str) -> None:
    """At most 300 lines of at most 100 characters; the first says what lives here."""
    text = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    assert max(map(len, text.splitlines()), default=0) <= 100
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring
    assert docstring.split("\n")[0].endswith((".", ":", ",", ";")) or "\n" in docstring


@pytest.mark.parametrize("module", sorted({*MODULES} - PROGRAMS))
def test_no_globals_clock_environment_or_files(module: str) -> None:
    """The package computes; only the programs see the world."""
    called = {name.split(".")[0] for level, name in imports(tree_of(module)) if not level}
    assert not called & {"os", "time", "datetime", "random", "pathlib", "io", "socket", "threading"}
    builtins = {
        node.func.id
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not builtins & {"open", "print", "input", "breakpoint"}
    assert not any(isinstance(node, ast.Global) for node in ast.walk(tree_of(module)))


def test_the_package_says_that_it_is_typed() -> None:
    if IN_PYODIDE and not (PACKAGE / "py.typed").exists():
        pytest.skip("a checkout is not a wheel")
    assert (PACKAGE / "py.typed").read_text(encoding="utf-8") == ""
