"""The same bits everywhere: one digest of one corpus, on every interpreter and every host."""

from __future__ import annotations

import array
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Callable, Literal

import pytest

from tests import digest, reference


def test_this_interpreter_gives_the_pinned_digest(
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    """Thousands of requests, both contracts, every length class, runs, boundary positions."""
    found = digest.digest()
    version = platform.python_version()
    if sys.implementation.name == "pypy":
        version += " (PyPy {}.{}.{})".format(*sys.pypy_version_info[:3])  # type: ignore[attr-defined]
    host = f"{platform.python_implementation()} {version} {platform.machine()}"
    record_testsuite_property("interpreter", host)
    record_testsuite_property("digest", found)
    assert found == digest.PINNED


@pytest.mark.skipif(
    reference.ORACLE != "xxhash", reason="no C xxhash here: the CPython rings re-make the digest"
)
def test_the_pin_is_what_the_c_library_gives() -> None:
    """The pinned number comes from the reference on the C library, not from our own code."""

    def by_reference(case: digest.Case) -> digest.Hashed:
        seed = reference.salt_hash(case.contract, case.salt, case.lora_name)
        blocks = reference.hash_blocks(
            case.contract, case.tokens, case.block_size, case.runs, seed=seed
        )
        return digest.Hashed(
            seed, [(b.block_hash, b.sequence_hash, b.plh, b.plh_text) for b in blocks]
        )

    assert digest.digest(by_reference) == digest.PINNED
    assert digest.digest(by_reference, 13) == digest.PINNED_PART


ByteOrder = Literal["little", "big"]


class Host(ModuleType):
    """Stands in for the modules `array` and `struct` of a machine with another layout."""

    def __init__(self, name: str, byteorder: ByteOrder, sizes: dict[str, int]) -> None:
        super().__init__(name)
        self.byteorder, self.sizes = byteorder, sizes
        foreign = byteorder != sys.byteorder

        def swapped(code: str, values: Iterable[int]) -> array.array[int]:
            items = array.array(code, values)
            if foreign:
                items.byteswap()
            return items

        class Array(array.array):  # type: ignore[type-arg]
            """An array whose items have that machine's size and, in memory, its byte order."""

            def __new__(cls, code: str, values: Iterable[int] = ()) -> Array:
                real = NATIVE[sizes[code]][code.isupper()]  # the code of that size on this machine
                raw = values if isinstance(values, bytes) else swapped(real, values).tobytes()
                return super().__new__(cls, real, raw)

            def tolist(self) -> list[int]:
                return swapped(self.typecode, self.tobytes()).tolist()

            def __iter__(self) -> Iterator[int]:
                return iter(self.tolist())

            def __getitem__(self, key: Any) -> Any:
                return self.tolist()[key]

            def __setitem__(self, key: Any, value: Any) -> None:
                super().__setitem__(key, swapped(self.typecode, [value])[0])

            def tounicode(self) -> str:
                return "".join(map(chr, self))

            def append(self, value: int) -> None:
                super().append(swapped(self.typecode, [value])[0])

            def extend(self, values: Iterable[int]) -> None:
                super().extend(swapped(self.typecode, values))

        self.array = Array
        self.error = struct.error
        self.Struct = lambda fmt: struct.Struct(self._format(fmt))

    def _format(self, fmt: str) -> str:
        """Native formats mean the host's order, and sizes that no code may count on."""
        if fmt[:1] in "<>!":
            return fmt
        return (">" if self.byteorder == "big" else "<") + fmt.lstrip("@=")

    def __getattr__(self, name: str) -> Any:
        function = getattr(struct, name)
        return lambda fmt, *rest: function(self._format(fmt), *rest)


NATIVE = {1: "bB", 2: "hH", 4: "iI", 8: "qQ"}
LP64 = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8, "u": 4}
HOSTS: dict[str, tuple[ByteOrder, dict[str, int]]] = {
    "big-endian, 64-bit": ("big", LP64),
    "big-endian, 32-bit": ("big", {**LP64, "l": 4, "L": 4}),
    "little-endian, 32-bit": ("little", {**LP64, "l": 4, "L": 4}),
    "little-endian, 16-bit int": ("little", {**LP64, "i": 2, "I": 2, "l": 4, "L": 4, "u": 2}),
    "big-endian, 64-bit int": ("big", {**LP64, "i": 8, "I": 8}),
}


@pytest.mark.parametrize("name", HOSTS)
def test_no_host_layout_reaches_a_hash(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest does not change on a host of another byte order, word size or array layout.

    The package is imported anew with `sys.byteorder`, `sys.maxsize`, `array` and `struct` of that
    host. What cannot be faked from Python is a memoryview's idea of native order.
    """
    byteorder, sizes = HOSTS[name]
    for module in [m for m in sys.modules if m.partition(".")[0] == "kvhash_pure"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "array", Host("array", byteorder, sizes))
    monkeypatch.setitem(sys.modules, "struct", Host("struct", byteorder, sizes))
    monkeypatch.setattr(sys, "byteorder", byteorder)
    monkeypatch.setattr(sys, "maxsize", 2 ** (8 * sizes["L"] - 1) - 1)
    try:
        assert digest.digest(step=13) == digest.PINNED_PART
    finally:
        for module in [m for m in sys.modules if m.partition(".")[0] == "kvhash_pure"]:
            monkeypatch.delitem(sys.modules, module)
