"""The same bits everywhere: one digest of one corpus, on every interpreter and every host."""

from __future__ import annotations

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
    record_testsuite_property("interpreter", f"{platform.python_implementation()} {version}")
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


ByteOrder = Literal["little", "big"]


class Host(ModuleType):
    """Stands in for the modules `array` and `struct` of a machine with another layout."""

    def __init__(self, name: str, byteorder: ByteOrder, sizes: dict[str, int]) -> None:
        super().__init__(name)
        self.byteorder, self.sizes = byteorder, sizes
        host = self

        class Array:
            """As much of `array.array` as there is without a buffer."""

            def __init__(self, typecode: str, values: Iterable[int] = ()) -> None:
                self.typecode, self.itemsize = typecode, host.sizes[typecode]
                self._signed = typecode.islower()
                self._data = b"".join(
                    value.to_bytes(self.itemsize, host.byteorder, signed=self._signed)
                    for value in values
                )

            def byteswap(self) -> None:
                size, data = self.itemsize, self._data
                self._data = b"".join(
                    data[i : i + size][::-1] for i in range(0, len(data), size)
                )

            def tobytes(self) -> bytes:
                return self._data

            def frombytes(self, data: bytes) -> None:
                self._data += bytes(data)

            def tolist(self) -> list[int]:
                size, data = self.itemsize, self._data
                return [
                    int.from_bytes(data[i : i + size], host.byteorder, signed=self._signed)
                    for i in range(0, len(data), size)
                ]

            def __len__(self) -> int:
                return len(self._data) // self.itemsize

            def __iter__(self) -> Iterator[int]:
                return iter(self.tolist())

        self.array = Array
        self.error = struct.error

    def _format(self, fmt: str) -> str:
        """Native formats mean the host's order, and sizes that no code may count on."""
        if fmt[:1] in "<>!":
            return fmt
        return (">" if self.byteorder == "big" else "<") + fmt.lstrip("@=")

    def __getattr__(self, name: str) -> Any:
        function = getattr(struct, name)
        return lambda fmt, *rest: function(self._format(fmt), *rest)


LP64 = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8}
HOSTS: dict[str, tuple[ByteOrder, dict[str, int]]] = {
    "big-endian, 64-bit": ("big", LP64),
    "big-endian, 32-bit": ("big", {**LP64, "l": 4, "L": 4}),
    "little-endian, 32-bit": ("little", {**LP64, "l": 4, "L": 4}),
    "little-endian, 16-bit int": ("little", {**LP64, "i": 2, "I": 2, "l": 4, "L": 4}),
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
        assert digest.digest() == digest.PINNED
    finally:
        for module in [m for m in sys.modules if m.partition(".")[0] == "kvhash_pure"]:
            monkeypatch.delitem(sys.modules, module)
