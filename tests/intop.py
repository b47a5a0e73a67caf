"""`__pypy__.intop` in plain Python, so that `kernel_pypy` can be run and measured on CPython.

Stricter than the original: an operand that is no signed 64-bit word fails at once. On PyPy itself
the real module is used.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


def _word(value: int) -> int:
    assert type(value) is int, value
    assert -(1 << 63) <= value < 1 << 63, hex(value)
    return value


def _wrapped(value: int) -> int:
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def int_add(a: int, b: int) -> int:
    return _wrapped(_word(a) + _word(b))


def int_sub(a: int, b: int) -> int:
    return _wrapped(_word(a) - _word(b))


def int_mul(a: int, b: int) -> int:
    return _wrapped(_word(a) * _word(b))


def int_lshift(a: int, bits: int) -> int:
    assert 0 <= bits < 64, bits
    return _wrapped(_word(a) << bits)


def uint_rshift(a: int, bits: int) -> int:
    assert 0 <= bits < 64, bits
    return _wrapped((_word(a) & (1 << 64) - 1) >> bits)


@contextmanager
def there() -> Iterator[None]:
    """`__pypy__.intop` can be imported: the interpreter's own, else this."""
    if sys.implementation.name == "pypy":
        yield
        return
    sys.modules["__pypy__"] = package = ModuleType("__pypy__")
    sys.modules["__pypy__.intop"] = vars(package)["intop"] = sys.modules[__name__]
    try:
        yield
    finally:
        del sys.modules["__pypy__"], sys.modules["__pypy__.intop"]


def kernel_pypy() -> Any:
    """The module `kvhash_pure.kernel_pypy`."""
    with there():
        return importlib.import_module("kvhash_pure.kernel_pypy")
