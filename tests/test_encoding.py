"""From tokens to bytes: what counts as tokens, what is refused, and the bytes of a block."""

from __future__ import annotations

import array
import ctypes
import enum
import mmap
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from kvhash_pure import (
    MM_SLOT_TAG_PLACEHOLDER,
    MM_SLOT_TAG_TOKEN,
    FieldTypeError,
    FieldValueError,
    RequestMmObjectInfo,
    compute_block_bytes_with_mm,
    compute_block_hash,
    encoding,
)
from kvhash_pure.encoding import FRAMES, block_segments, pack_tokens
from tests import reference
from tests.helpers import ANYTHING, U32_MAX, rejected
from tests.vectors import Case, cases

TOKENS = [0, 1, 2, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, U32_MAX]
PACKED = (
    "00000000 01000000 02000000 7f000000 80000000 ff000000 00010000 ffff0000 00000100 ffffff7f"
    "00000080 ffffffff"
)


class Kind(enum.IntEnum):
    BOS = 1


class Subclass(list):  # type: ignore[type-arg]
    pass


class Tensor:
    """What a torch tensor looks like from here: no buffer, a tolist()."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def tolist(self) -> Any:
        return self.value


class OldSequence:
    """Iterable by __getitem__ alone."""

    def __getitem__(self, at: int) -> int:
        return TOKENS[at]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        deque,
        Subclass,
        iter,
        lambda t: (token for token in t),
        lambda t: map(int, t),
        lambda t: dict.fromkeys(t).keys(),
        lambda t: array.array("Q", t),
        lambda t: array.array("q", t),
        lambda t: memoryview(array.array("Q", t)),
        lambda t: memoryview(struct.pack(f"={len(t)}I", *t)).cast("I"),
        lambda t: (ctypes.c_uint32 * len(t))(*t),
        lambda t: (ctypes.c_uint64.__ctype_be__ * len(t))(*t),  # type: ignore[attr-defined]
        Tensor,
        lambda t: Tensor(tuple(t)),
        lambda t: OldSequence(),
    ],
)
def test_every_kind_of_integer_sequence(make: Callable[[list[int]], Any]) -> None:
    """4 bytes a token, little-endian, whatever the tokens came in."""
    assert pack_tokens(make(TOKENS)).hex() == PACKED.replace(" ", "")


def test_no_tokens() -> None:
    nothing: tuple[Any, ...] = ([], (), range(0), range(5, 5), iter(()), Tensor([]))
    nothing += (array.array("I"), memoryview(b""), range(9, 3))
    for tokens in nothing:
        assert pack_tokens(tokens) == b""


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_arrays_of_every_typecode(code: str) -> None:
    """Read by item, not by byte: 'L' has 8 bytes here and 4 in Pyodide."""
    tokens = [5, 0, 1, 127]
    expected = bytes.fromhex("05000000 00000000 01000000 7f000000")
    assert pack_tokens(array.array(code, tokens)) == expected
    assert pack_tokens(memoryview(array.array(code, tokens))) == expected
    assert pack_tokens(memoryview(array.array(code, tokens)).toreadonly()) == expected


@pytest.mark.parametrize("code", "bhilq")
def test_negative_items_of_an_array(code: str) -> None:
    """-1 must not become 2^32 - 1 by reading its bytes as unsigned."""
    with rejected(FieldValueError, "tokens", index=2, value=-1):
        pack_tokens(array.array(code, [5, 6, -1, 7]))


@pytest.mark.parametrize("code", "qQ")
def test_items_of_an_array_above_u32(code: str) -> None:
    with rejected(FieldValueError, "tokens", index=1, value=2**32):
        pack_tokens(array.array(code, [5, 2**32]))


@pytest.mark.parametrize("code", "fdc?")
def test_buffers_that_are_not_integers(code: Any) -> None:
    """Numbers with a point, characters and truth values."""
    with rejected(FieldTypeError, "tokens", index=0):
        pack_tokens(memoryview(bytes(16)).cast(code))


def test_views_with_strides() -> None:
    view = memoryview(array.array("I", range(10)))
    assert pack_tokens(view[1::3]).hex() == "01000000" "04000000" "07000000"
    assert pack_tokens(view[::-5]).hex() == "09000000" "04000000"
    assert pack_tokens(memoryview(bytes(range(10)))[::4]).hex() == "00000000" "04000000" "08000000"


def test_views_with_more_dimensions() -> None:
    """A batch is not a request."""
    view = memoryview(bytes(24)).cast("I", [2, 3])
    with rejected(FieldTypeError, "tokens"):
        pack_tokens(view)
    with rejected(FieldTypeError, "tokens", index=0, value=[1, 2]):
        pack_tokens(Tensor([[1, 2], [3, 4]]))
    with rejected(FieldTypeError, "tokens"):
        pack_tokens(Tensor(5))


def test_a_released_view() -> None:
    view = memoryview(bytes(4))
    view.release()
    with rejected(FieldTypeError, "tokens"):
        pack_tokens(view)


@pytest.fixture(scope="module")
def numpy() -> Any:
    return pytest.importorskip("numpy", reason="numpy is a C extension: not in this ring")


@pytest.mark.parametrize("order", "<>=")
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_numpy_arrays_of_every_integer_type(numpy: Any, dtype: str, order: str) -> None:
    """Native or not, writable or not, contiguous or not."""
    tokens = numpy.array([5, 0, 1, 127, 0, 9], dtype=order + dtype)
    expected = bytes.fromhex("05000000 00000000 01000000 7f000000 00000000 09000000")
    assert pack_tokens(tokens) == expected
    tokens.flags.writeable = False
    assert pack_tokens(tokens) == expected
    assert pack_tokens(tokens[::2]).hex() == "05000000" "01000000" "00000000"
    assert pack_tokens(tokens[::-1]).hex()[:16] == "09000000" "00000000"
    assert pack_tokens(tokens[:0]) == b""


def test_numpy_types_by_their_c_names(numpy: Any) -> None:
    """'l', 'q', 'n' and 'p' are other format letters for the same sizes."""
    names = ("intc", "uintc", "int_", "uint", "longlong", "ulonglong", "intp", "uintp", "long")
    for name in names:
        tokens = numpy.array([3, 2**31 - 1], dtype=getattr(numpy, name))
        assert pack_tokens(tokens).hex() == "03000000" "ffffff7f", name


def test_numpy_values_out_of_range(numpy: Any) -> None:
    with rejected(FieldValueError, "tokens", index=1, value=-1):
        pack_tokens(numpy.array([5, -1, -2], dtype=">i4"))
    with rejected(FieldValueError, "tokens", index=0, value=2**32):
        pack_tokens(numpy.array([2**32, 1], dtype="u8"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16", "?", "O", "S1", "U1", "M8[s]", "i4,i4"])
def test_numpy_arrays_of_other_types(numpy: Any, dtype: str) -> None:
    with rejected(FieldTypeError, "tokens", index=ANYTHING):
        pack_tokens(numpy.zeros(3, dtype=dtype))


def test_numpy_dimensions(numpy: Any) -> None:
    for shape in ((), (2, 3), (1, 1)):
        with rejected(FieldTypeError, "tokens"):
            pack_tokens(numpy.zeros(shape, dtype="u4"))


def test_numpy_scalars_in_a_list(numpy: Any) -> None:
    mixed = [numpy.uint32(7), numpy.int64(8), 9, numpy.uint8(10)]
    assert pack_tokens(mixed).hex() == "07000000" "08000000" "09000000" "0a000000"
    with rejected(FieldTypeError, "tokens", index=1):
        pack_tokens([1, numpy.bool_(True)])
    with rejected(FieldTypeError, "tokens", index=0):
        pack_tokens([numpy.float64(1)])
    with rejected(FieldValueError, "tokens", index=1):
        pack_tokens([1, numpy.int64(-1)])


@pytest.mark.parametrize("value", [-1, 2**32, -(2**31), 2**63, 2**64, 2**64 + 1, 10**30])
@pytest.mark.parametrize("index", [0, 3, 6])
def test_tokens_out_of_range(value: int, index: int) -> None:
    """The index and the value of the first wrong one."""
    tokens = [5, 6, 7, 8, 9, 10, 11]
    tokens[index] = value
    for given in (tokens, tuple(tokens), iter(tokens), deque(tokens), Tensor(tokens)):
        with rejected(FieldValueError, "tokens", index=index, value=value):
            pack_tokens(given)


WRONG_ITEMS = [
    True,
    False,
    1.0,
    1.5,
    float("nan"),
    Decimal(1),
    Fraction(1),
    1j,
    "1",
    b"1",
    None,
    [1],
    object,
    int,
]


@pytest.mark.parametrize("value", WRONG_ITEMS, ids=repr)
@pytest.mark.parametrize("index", [0, 1, 4])
def test_items_that_are_not_integers(value: Any, index: int) -> None:
    """Nothing is rounded, parsed or taken for 0 or 1, on any interpreter."""
    tokens: list[Any] = [5, U32_MAX, 7, 256, 9]
    tokens[index] = value
    for given in (tokens, tuple(tokens), iter(tokens)):
        with rejected(FieldTypeError, "tokens", index=index, value=value):
            pack_tokens(given)


def test_a_bool_among_tokens_that_look_like_it() -> None:
    """0 and 1 are tokens; False and True are not, wherever they hide."""
    assert pack_tokens([0, 1, 256, 2**24, 0, 1]).hex() == (
        "00000000" "01000000" "00010000" "00000001" "00000000" "01000000"
    )
    for position in range(6):
        tokens: list[Any] = [0, 1, 256, 2**24, 0, 1]
        tokens[position] = bool(position % 2)
        with rejected(FieldTypeError, "tokens", index=position, value=bool(position % 2)):
            pack_tokens(tokens)


def test_subclasses_of_int_are_integers() -> None:
    assert pack_tokens([Kind.BOS, Kind.BOS]).hex() == "01000000" "01000000"


class HasInt:
    """Converts to an int by __int__ only: a number maybe, an integer no."""

    def __int__(self) -> int:
        return 1


class HasIndex:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_only_index_makes_an_integer() -> None:
    with rejected(FieldTypeError, "tokens", index=1):
        pack_tokens([1, HasInt()])  # type: ignore[list-item]
    assert pack_tokens([HasIndex(7)]).hex() == "07000000"  # type: ignore[list-item]
    with rejected(FieldValueError, "tokens", index=0):
        pack_tokens([HasIndex(-7)])  # type: ignore[list-item]


def test_an_index_that_fails_now_and_then_fails_with_its_own_error() -> None:
    """There is no wrong token to name, so what was raised stays."""

    class Moody:
        calls = 0

        def __index__(self) -> int:
            self.calls += 1
            if self.calls == 1:
                raise TypeError("not now")
            return 7

    with pytest.raises(TypeError):
        pack_tokens([1, Moody()])  # type: ignore[list-item]


@pytest.mark.parametrize("tokens", [b"", b"\1\0\0\0", bytearray(4), mmap.mmap(-1, 4)])
def test_bytes_are_ambiguous(tokens: Any) -> None:
    """One token a byte, or four bytes a token? The caller has to say."""
    with rejected(FieldTypeError, "tokens", value=tokens):
        pack_tokens(tokens)


@pytest.mark.parametrize(
    "tokens", ["", "123", {1, 2}, frozenset({1}), {1: 2}, None, 5, 1.5, True, object(), int]
)
def test_what_is_not_a_sequence_of_tokens(tokens: Any) -> None:
    """Sets and dicts have items but no order that means anything."""
    with rejected(FieldTypeError, "tokens", value=tokens):
        pack_tokens(tokens)


def test_the_field_can_have_another_name() -> None:
    with rejected(FieldValueError, "observed", index=0, value=-1):
        pack_tokens([-1], "observed")


def test_an_iterator_that_fails_fails_with_its_own_error() -> None:
    """A bug in the caller's generator is not bad input; it must not be renamed."""

    def broken() -> Iterator[int]:
        yield 1
        raise TypeError("the tokenizer broke")

    with pytest.raises(TypeError, match="the tokenizer broke"):
        pack_tokens(broken())


@pytest.mark.parametrize(
    ("tokens", "index", "value"),
    [
        (range(-1, 5), 0, -1),
        (range(5, -2, -1), 6, -1),
        (range(2**32 - 2, 2**32 + 2), 2, 2**32),
        (range(2**32 + 1, 5, -1), 0, 2**32 + 1),
        (range(0, 2**70, 2**31), 2, 2**32),
        (range(3, -(2**70), -2), 2, -1),
        (range(2**63), 2**32, 2**32),  # told at once, not after 16 GB
    ],
    ids=repr,
)
def test_ranges_that_leave_u32(tokens: range, index: int, value: int) -> None:
    with rejected(FieldValueError, "tokens", index=index, value=value):
        pack_tokens(tokens)


def test_ranges() -> None:
    assert pack_tokens(range(3)).hex() == "00000000" "01000000" "02000000"
    assert pack_tokens(range(2**32 - 1, 0, -(2**31))).hex() == "ffffffff" "ffffff7f"


def test_the_form_without_a_four_byte_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """No C implementation promises that 'I' or 'L' has 4 bytes; struct takes over there."""
    monkeypatch.setattr(encoding, "U32_CODE", None)
    assert pack_tokens(TOKENS).hex() == PACKED.replace(" ", "")
    for wrong in WRONG_ITEMS:
        with rejected(FieldTypeError, "tokens", index=1, value=wrong):
            pack_tokens([5, wrong])  # type: ignore[list-item]
    for value in (-1, 2**32, 2**64):
        with rejected(FieldValueError, "tokens", index=1, value=value):
            pack_tokens([5, value])


def _strategy(values: list[object]) -> str:
    """PyPy's name for how a list keeps its items: some lists of ints are kept as machine words."""
    words = len(values) % 2 and all(type(value) is int for value in values)
    return "IntegerListStrategy" if words else "ObjectListStrategy"


def _characters(monkeypatch: pytest.MonkeyPatch) -> None:
    cpython = sys.implementation.name == "cpython"
    if not cpython or "u" not in array.typecodes or array.array("u").itemsize != 4:
        pytest.skip("arrays of 32-bit characters, as CPython has them")
    monkeypatch.setattr(encoding, "_TEXT_CODE", "u")


WAYS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "words of PyPy": lambda patch: patch.setattr(encoding, "_strategy", _strategy),
    "types": lambda patch: patch.setattr(encoding, "_TAKES_INT_METHOD", True),
    "bytes": lambda patch: patch.setattr(encoding, "_TEXT_CODE", None),
    "characters": _characters,
}


@pytest.mark.filterwarnings("ignore:The 'u' type code:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_find_a_bool(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Whichever way suits the interpreter: bools are refused wherever they are, and 0 and 1, their
    bytes across two tokens, members of an IntEnum, and what is no character are fine.
    """
    WAYS[way](monkeypatch)
    if way != "words of PyPy":
        monkeypatch.setattr(encoding, "_strategy", None)
        monkeypatch.setattr(encoding, "_TAKES_INT_METHOD", way == "types")
    across = [5, 0x00000100, 0xFFFF0000, 0x01000000, 0x00000100, 0x05000000]
    characters = [5, 0x00000100, 0x00010000, 0xD800, 0xDFFF, 0xFEFF, 0x10FFFF]
    for given in (across, characters):
        for tokens in ([], [0], [1], [5, 6], given, [*given, 1], [*given, 0], [7, Kind.BOS]):
            assert pack_tokens(tokens) == struct.pack(f"<{len(tokens)}I", *tokens)
        for i in range(len(given)):
            for wrong in (True, False):
                with rejected(FieldTypeError, "tokens", index=i, value=wrong):
                    pack_tokens([*given[:i], wrong, *given[i:]])
    for at in (8191, 8192, 8193, 20_000):  # a long prompt is searched piece by piece
        tokens = [5] * 20_001
        for number in (0, 1):
            tokens[at] = number
            assert pack_tokens(tokens) == struct.pack("<20001I", *tokens)
            tokens[at] = bool(number)
            with rejected(FieldTypeError, "tokens", index=at, value=bool(number)):
                pack_tokens(tokens)


def test_the_form_on_a_host_of_the_other_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told that it has the other order, any host gives the bytes the wrong way round."""
    if encoding.U32_CODE is None:
        pytest.skip("this interpreter has no 4-byte array")
    monkeypatch.setattr("sys.byteorder", "big" if sys.byteorder == "little" else "little")
    assert pack_tokens([1, 0x01020304]) == struct.pack(">2I", 1, 0x01020304)
    foreign = memoryview(array.array("H", [1]))  # "native" now means the other order
    assert pack_tokens(foreign) == struct.pack(">I", 256)


# Block bytes


def test_the_table_of_frames() -> None:
    """Tag, number, hash: 1 + 4 + 8 bytes; without any run 4."""
    assert [(name, tag, sum(n for _, n in fields)) for name, tag, fields in FRAMES] == [
        ("plain token", None, 4),
        ("framed token", 0, 13),
        ("placeholder", 1, 13),
    ]
    assert (MM_SLOT_TAG_TOKEN, MM_SLOT_TAG_PLACEHOLDER) == (0, 1)


@pytest.mark.parametrize("case", cases("block_bytes.json"), ids=lambda case: case["name"])
def test_block_bytes_are_the_known_ones(case: Case) -> None:
    runs = [RequestMmObjectInfo(int(h, 16), o, n) for h, o, n in case["mm_runs"]]
    data = compute_block_bytes_with_mm(case["tokens"], case["block_offset"], runs)
    assert data.hex() == case["bytes"]
    for seed, block_hash in case["block_hash"].items():
        assert compute_block_hash(data, int(seed, 16)) == int(block_hash, 16)


def test_block_bytes_in_words() -> None:
    run = RequestMmObjectInfo(mm_hash=0x1122334455667788, offset=9, length=100)
    assert compute_block_bytes_with_mm([0xA0B0C0D0, 0xFFFFFFFF], 8, [run]).hex() == (
        "00" "d0c0b0a0" "0000000000000000"
        "01" "00000000" "8877665544332211"
    )  # fmt: skip


def test_the_token_at_a_placeholder_slot_is_ignored() -> None:
    run = RequestMmObjectInfo(7, 1, 2)
    found = {compute_block_bytes_with_mm([5, t, t + 1, 9], 0, [run]) for t in (0, 1, 2**31)}
    assert len(found) == 1


def test_the_offset_in_a_run_wraps() -> None:
    """The original casts a 64-bit difference to u32, also when that happens within a block."""
    run = RequestMmObjectInfo(mm_hash=7, offset=0, length=2**34)
    data = compute_block_bytes_with_mm([1, 2, 3, 4], 2**32 - 2, [run])
    assert [struct.unpack_from("<BIQ", data, 13 * i) for i in range(4)] == [
        (1, 2**32 - 2, 7), (1, 2**32 - 1, 7), (1, 0, 7), (1, 1, 7)
    ]  # fmt: skip
    data = compute_block_bytes_with_mm([1, 2], 2**33 + 5, [run])
    assert [struct.unpack_from("<BIQ", data, 13 * i) for i in range(2)] == [(1, 5, 7), (1, 6, 7)]


def test_block_bytes_take_runs_in_any_order_and_none() -> None:
    runs = [RequestMmObjectInfo(7, 6, 1), RequestMmObjectInfo(8, 4, 1)]
    one = compute_block_bytes_with_mm([1, 2, 3, 4], 4, runs)
    assert one == compute_block_bytes_with_mm([1, 2, 3, 4], 4, runs[::-1])
    assert one == reference.block_bytes([0] * 4 + [1, 2, 3, 4], 4, [(7, 6, 1), (8, 4, 1)], 1)
    assert compute_block_bytes_with_mm([], 4, runs) == b""
    assert compute_block_bytes_with_mm([], 4, []) == b""


def test_wrong_arguments_of_block_bytes() -> None:
    run = RequestMmObjectInfo(7, 0, 1)
    with rejected(FieldValueError, "tokens", index=0, value=-1):
        compute_block_bytes_with_mm([-1], 0, [run])
    for offset in (-1, 2**64):
        with rejected(FieldValueError, "block_offset", value=offset):
            compute_block_bytes_with_mm([1], offset, [run])
    wrong: tuple[Any, ...] = (True, 1.0, None)
    for offset in wrong:
        with rejected(FieldTypeError, "block_offset", value=offset):
            compute_block_bytes_with_mm([], offset, [run])
    with rejected(FieldTypeError, "mm_info", index=0):
        compute_block_bytes_with_mm([1], 0, [(1, 0, 1)])  # type: ignore[list-item]


def segments(
    count: int, block_size: int, runs: list[tuple[int, int, int]], first: int, stop: int
) -> list[tuple[bytes, int]]:
    packed = struct.pack(f"<{count}I", *range(count))
    infos = [RequestMmObjectInfo(*run) for run in runs]
    return [(bytes(data), n) for data, n in block_segments(packed, block_size, infos, first, stop)]


@pytest.mark.parametrize(
    ("runs", "widths"),
    [
        ([], [(8, 10)]),
        ([(1, 0, 40)], [(26, 10)]),
        ([(1, 8, 1)], [(8, 4), (26, 1), (8, 5)]),
        ([(1, 0, 1), (2, 19, 1)], [(26, 1), (8, 8), (26, 1)]),
        ([(1, 3, 2), (2, 6, 1)], [(8, 1), (26, 3), (8, 6)]),
        ([(1, 3, 2), (2, 5, 1)], [(8, 1), (26, 2), (8, 7)]),
        ([(1, 3, 1), (2, 8, 1)], [(8, 1), (26, 1), (8, 2), (26, 1), (8, 5)]),
        ([(1, 20, 20)], [(8, 10)]),
        ([(1, 19, 20)], [(8, 9), (26, 1)]),
    ],
)
def test_neighbours_of_one_encoding_come_together(
    runs: list[tuple[int, int, int]], widths: list[tuple[int, int]]
) -> None:
    """Blocks of 2 slots: 8 bytes plain, 26 framed; each segment is a whole number of blocks."""
    found = segments(40, 2, runs, 0, 10)
    assert [(width, len(data) // width) for data, width in found] == widths
    assert all(len(data) % width == 0 for data, width in found)


@pytest.mark.parametrize("first", [0, 1, 3, 4, 6])
@pytest.mark.parametrize("stop", [0, 1, 4, 5, 6])
def test_any_range_of_blocks(first: int, stop: int) -> None:
    """Blocks first to stop - 1, each with the bytes that the reference gives it."""
    runs = [(0xAB, 3, 1), (0xCD, 4, 9), (0xEF, 21, 2)]
    joined = []
    for data, width in segments(27, 4, runs, first, stop):
        joined += [data[at : at + width] for at in range(0, len(data), width)]
    assert joined == [reference.block_bytes(range(27), 4, runs, i) for i in range(first, stop)]


def test_thousands_of_runs_do_not_cost_their_square() -> None:
    """One image in every second block: each run is looked at for its own blocks only."""
    runs = [(i, 6 * i + 1, 1) for i in range(20_000)]
    found = segments(6 * 20_000, 3, runs, 0, 40_000)
    assert len(found) == 40_000
    for index in (0, 1, 2, 20_001, 39_998, 39_999):
        near = runs[max(0, index // 2 - 1) : index // 2 + 2]
        assert found[index][0] == reference.block_bytes(range(120_000), 3, near, index)
