"""The oracles as fixtures, set up once; what cannot be had is said loudly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.oracle.tools import Binding, Crates, Unavailable


def missing(reason: Unavailable) -> NoReturn:
    message = f"ORACLE DID NOT RUN: {reason}"
    print(f"\n{message}", file=sys.stderr)
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session", params=["1.4.0", None], ids=["binding-1.4.0", "binding-newest"])
def binding(request: pytest.FixtureRequest) -> Iterator[Binding]:
    try:
        process = Binding(request.param)
    except Unavailable as reason:
        missing(reason)
    yield process
    process.close()


@pytest.fixture(scope="session")
def crates() -> Crates:
    try:
        return Crates()
    except Unavailable as reason:
        missing(reason)
