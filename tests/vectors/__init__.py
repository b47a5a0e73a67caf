"""Data cases with their provenance. `load` refuses a file without cases: no test passes unread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Case = dict[str, Any]


def load(name: str) -> dict[str, Any]:
    """The whole file `name`; an error when a table is empty or nothing says where it comes from."""
    document: dict[str, Any] = json.loads((HERE / name).read_text(encoding="utf-8"))
    assert document.get("source") or document.get("provenance"), f"{name}: no provenance"
    tables = [key for key, value in document.items() if isinstance(value, list)]
    assert tables, f"{name}: no table of cases"
    for key in tables:
        assert document[key], f"{name}: table {key} is empty"
    return document


def cases(name: str, table: str = "cases") -> list[Case]:
    """The rows of one table of `name`, at least one."""
    rows: list[Case] = load(name)[table]
    return rows


def expand_tokens(spec: list[int] | Mapping[str, int]) -> list[int]:
    """Tokens as stored: a list, or {first, step, count} meaning (first + i * step) mod 2^32."""
    if isinstance(spec, list):
        return spec
    return [(spec["first"] + i * spec["step"]) & 0xFFFFFFFF for i in range(spec["count"])]


def expand_text(spec: str | Mapping[str, Any] | None) -> str | None:
    """A string as stored: itself, absent, or {repeat, times}."""
    if spec is None or isinstance(spec, str):
        return spec
    return str(spec["repeat"]) * int(spec["times"])
