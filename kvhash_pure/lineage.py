"""The PositionalLineageHash: 128 bits that say where a block stands and what leads to it.

Layout, text and bytes, all read from `MODES` (FORMAT.md, "PositionalLineageHash"). Which hashes
go in is decided elsewhere.
"""

from __future__ import annotations

from .base58 import from_base58, to_base58
from .contract import DOCUMENTED, Contract, require_contract
from .errors import (
    U64_LIMIT,
    U128_LIMIT,
    ContractMismatchError,
    FieldTypeError,
    FieldValueError,
    PositionOverflowError,
    require_uint,
)
from .kernel import chain
from .strict_json import hex128
from .values import Frozen, set_field

TYPE_CHECKING = False
# mode, first position, last position, bits of the position, bits of the parent fragment.
# From the top of the 128 bits: mode (2), position, sequence hash (64), parent fragment.
MODES: tuple[tuple[int, int, int, int, int], ...] = (
    (0, 0, 255, 8, 54),
    (1, 256, 65_535, 16, 46),
    (2, 65_536, 16_777_215, 24, 38),
)
MODE_BITS = 2
HASH_BITS = 64
MAX_BLOCKS = MODES[-1][2] + 1

_U64 = U64_LIMIT - 1


def _row(position: int) -> tuple[int, int, int, int, int]:
    for row in MODES:
        if position <= row[2]:
            return row
    raise PositionOverflowError(
        field="position", value=position, expected=f"at most {MAX_BLOCKS - 1} (2^24 blocks)"
    )


def require_block_count(blocks: int) -> int:
    """`blocks` if a PLH can number them all, else PositionOverflowError."""
    if blocks > MAX_BLOCKS:
        raise PositionOverflowError(
            field="blocks", value=blocks, expected=f"at most {MAX_BLOCKS} (2^24): larger blocks"
        )
    return blocks


class PositionalLineageHash(Frozen):
    """One block's identity, 128 bits. Made by `root`, `extend`, `new`, `from_u128`, `from_bytes`,
    `parse`; ordered by position, then sequence hash, then parent fragment.

    It knows its contract, which counts in equality, order and repr but is not in the 128 bits.

    >>> plh = PositionalLineageHash.root(0x34f35321676f4658)
    >>> str(plh), plh.position, hex(plh.current_sequence_hash)
    ('0:9rgntUAidYj', 0, '0x34f35321676f4658')
    """

    __slots__ = ("_current", "_parent", "_position", "_value", "contract")
    _fields = ("_value", "contract")
    _current: int
    _parent: int
    _position: int
    _value: int
    contract: Contract

    def __init__(self) -> None:
        raise TypeError("use PositionalLineageHash.root, .extend, .new, .from_u128 or .parse")

    @classmethod
    def _of(cls, value: int, contract: Contract) -> PositionalLineageHash:
        new = object.__new__(cls)
        set_field(new, "_value", value)
        set_field(new, "contract", contract)
        return new

    if not TYPE_CHECKING:  # pragma: no branch

        def __getattr__(self, name: str) -> int:
            """`_value` of one that was made in bulk on PyPy, when it is first asked for."""
            if name != "_value":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = _packed(self._current, self._parent, self._position)
            set_field(self, name, value)
            return value

    @classmethod
    def root(cls, block_hash: int, contract: Contract = DOCUMENTED) -> PositionalLineageHash:
        """The PLH of the first block: position 0, no parent. `block_hash` is a u64."""
        return cls.new(require_uint(block_hash, "block_hash"), None, 0, contract)

    @classmethod
    def new(
        cls,
        current_sequence_hash: int,
        parent_sequence_hash: int | None,
        position: int,
        contract: Contract = DOCUMENTED,
    ) -> PositionalLineageHash:
        """From its parts: two u64 sequence hashes (no parent: None) and a position below 2^24.

        Position 0 takes no parent: the text form has no place for one.
        """
        current = require_uint(current_sequence_hash, "current_sequence_hash")
        position = require_uint(position, "position")
        parent = 0
        if parent_sequence_hash is not None:
            parent = require_uint(parent_sequence_hash, "parent_sequence_hash")
            if parent and not position:
                expected = "None: position 0 has no parent"
                raise FieldValueError(field="parent_sequence_hash", value=parent, expected=expected)
        return cls._of(_packed(current, parent, position), require_contract(contract))

    def extend(self, child_block_hash: int) -> PositionalLineageHash:
        """The PLH of the next block, whose u64 block hash is given; needs nothing else."""
        child = require_uint(child_block_hash, "child_block_hash")
        parent = self.current_sequence_hash
        (current,) = chain([child], self.contract.chain_seed, parent)
        return self.new(current, parent, self.position + 1, self.contract)

    @property
    def mode(self) -> int:
        """0, 1 or 2: the row of `MODES`."""
        return self._value >> 126

    @property
    def position(self) -> int:
        """Index of the block in its request, 0 … 2^24 - 1. Counts blocks, not tokens."""
        position_bits = MODES[self._value >> 126][3]
        return self._value >> (126 - position_bits) & ((1 << position_bits) - 1)

    @property
    def current_sequence_hash(self) -> int:
        """The u64 sequence hash of this block and all before it."""
        return self._value >> MODES[self._value >> 126][4] & _U64

    @property
    def parent_hash_fragment(self) -> int:
        """The low 54, 46 or 38 bits (by mode) of the parent's sequence hash; 0 at the root."""
        return self._value & ((1 << MODES[self._value >> 126][4]) - 1)

    def parent_fragment_for_child_position(self, position: int) -> int:
        """What a child at `position` carries of this block: this hash cut to the *child's* bits."""
        fragment_bits = _row(require_uint(position, "position"))[4]
        return self.current_sequence_hash & ((1 << fragment_bits) - 1)

    def as_u128(self) -> int:
        """The packed integer."""
        return self._value

    __int__ = as_u128

    def __bytes__(self) -> bytes:
        return self._value.to_bytes(16, "big")

    @classmethod
    def from_u128(cls, value: int, contract: Contract = DOCUMENTED) -> PositionalLineageHash:
        """The PLH of a packed integer; FieldValueError if no PLH has these bits."""
        number = require_uint(value, "plh", limit=U128_LIMIT)
        plh = cls._of(number, require_contract(contract))
        if plh.mode >= len(MODES):
            expected = "a PLH: the two top bits are 0, 1 or 2"
        elif not MODES[plh.mode][1] <= plh.position <= MODES[plh.mode][2]:
            mode, first, last, _, _ = MODES[plh.mode]
            expected = f"a PLH: mode {mode} has positions {first} to {last}, not {plh.position}"
        elif plh.position == 0 and plh.parent_hash_fragment:
            expected = "a PLH: position 0 has no parent, so its last 54 bits are 0"
        else:
            return plh
        raise FieldValueError(field="plh", value=hex128(number), expected=expected)

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, contract: Contract = DOCUMENTED
    ) -> PositionalLineageHash:
        """The PLH of its 16 big-endian bytes."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise FieldTypeError(field="plh", value=data, expected="16 bytes")
        try:
            octets = bytes(data)
        except ValueError:  # a released view
            octets = b""
        if len(octets) != 16:
            raise FieldValueError(field="plh", value=data, expected="16 bytes")
        return cls.from_u128(int.from_bytes(octets, "big"), contract)

    @classmethod
    def parse(cls, text: str, contract: Contract = DOCUMENTED) -> PositionalLineageHash:
        """The PLH of its text: `position:b58` at position 0, else `position:b58:b58`.

        Strict: only what `str` gives is taken. Base58 has the Bitcoin alphabet.
        """
        if not isinstance(text, str):
            raise FieldTypeError(field="plh", value=text, expected="text")
        digits, *rest = text.split(":")
        expected = "0:base58 for a root, else position:base58:base58, with a decimal position"
        decimal = digits.isascii() and digits.isdigit() and len(digits) <= 8
        if decimal and len(rest) == (2 if int(digits) else 1):
            names = ("sequence hash", "parent fragment")
            numbers = [from_base58(part, name, text) for part, name in zip(rest, names)]
            plh = cls.new(numbers[0], numbers[1] if rest[1:] else None, int(digits), contract)
            if str(plh) == text:
                return plh
            expected = f"the text of a PLH; the closest is {str(plh)!r}"
        raise FieldValueError(field="plh", value=text, expected=expected)

    def __str__(self) -> str:
        position = self.position
        text = f"{position}:{to_base58(self.current_sequence_hash)}"
        return text if position == 0 else f"{text}:{to_base58(self.parent_hash_fragment)}"

    def __repr__(self) -> str:
        value = hex128(self._value)
        return f"PositionalLineageHash.from_u128({value}, contract={self.contract!r})"

    def __hash__(self) -> int:
        return hash(self._value)

    def __lt__(self, other: PositionalLineageHash) -> bool:
        # Modes rise with positions and stand on top, so the packed integer has the order.
        return self._value < self._comparable(other)

    def __le__(self, other: PositionalLineageHash) -> bool:
        return self._value <= self._comparable(other)

    def __gt__(self, other: PositionalLineageHash) -> bool:
        return self._value > self._comparable(other)

    def __ge__(self, other: PositionalLineageHash) -> bool:
        return self._value >= self._comparable(other)

    def _comparable(self, other: object) -> int:
        if not isinstance(other, PositionalLineageHash):
            raise FieldTypeError(field="other", value=other, expected="a PositionalLineageHash")
        if other.contract is not self.contract:
            raise ContractMismatchError(
                field="contract", value=other.contract.name, expected=repr(self.contract.name)
            )
        return other._value


def _packed(current: int, parent: int, position: int) -> int:
    mode, _, _, position_bits, fragment_bits = _row(position)
    value = (mode << position_bits | position) << HASH_BITS | current
    return value << fragment_bits | parent & ((1 << fragment_bits) - 1)
