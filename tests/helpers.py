"""What several test modules need: how an error is expected, and what cannot run everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kvhash_pure.errors import KvHashingError

IN_PYODIDE = sys.platform == "emscripten"
IN_PYPY = sys.implementation.name == "pypy"

needs_subprocess = pytest.mark.skipif(IN_PYODIDE, reason="no subprocess in Pyodide")

# Boundaries, named once.
POSITION_EDGES = (0, 1, 254, 255, 256, 257, 258, 65534, 65535, 65536, 65537, 65538, 2**24 - 1)
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1


class _Anything:
    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Any = _Anything()


@contextmanager
def rejected(
    kind: type[KvHashingError],
    field: Any,
    *,
    index: Any = None,
    value: Any = ANYTHING,
) -> Iterator[None]:
    """The block raises exactly `kind`, with these attributes and a message fit for a terminal."""
    with pytest.raises(KvHashingError) as caught:
        yield
    error = caught.value
    assert type(error) is kind, repr(error)
    assert isinstance(error, (ValueError, TypeError))
    if field is not ANYTHING:
        assert error.field == field
    if index is not ANYTHING:
        assert error.index == index
    if value is not ANYTHING:
        assert type(error.value) is type(value)
        assert error.value == value or error.value is value
    assert error.expected
    message = str(error)
    assert message
    assert "\n" not in message
    assert len(message) < 600
