"""Blocks: full windows of slots, their hashes, the pair that the original calls a block, and PLHs
of many.

FORMAT.md, "Hashes" and "Serialised blocks".
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from itertools import repeat

from .contract import DOCUMENTED, Contract, require_contract
from .encoding import block_segments
from .errors import FieldTypeError, FieldValueError, InvalidJsonError, require_uint
from .kernel import chain, hash_blocks, xxh3_64
from .lineage import HASH_BITS, MODES, PositionalLineageHash
from .multimodal import RequestMmObjectInfo
from .strict_json import loads
from .values import Frozen, set_field


class UniversalBlock(Frozen):
    """One full block: its content hash and its place in the request.

    `block_hash` (u64) says what is in the block, salt included; `plh` says what led to it.
    vLLM's `BlockHash` is chained and so corresponds to `sequence_hash`, not to `block_hash`.
    """

    __slots__ = ("block_hash", "plh")
    _fields = ("block_hash", "plh")
    block_hash: int
    plh: PositionalLineageHash

    def __init__(self, block_hash: int, plh: PositionalLineageHash) -> None:
        set_field(self, "block_hash", require_uint(block_hash, "block_hash"))
        if not isinstance(plh, PositionalLineageHash):
            raise FieldTypeError(field="plh", value=plh, expected="a PositionalLineageHash")
        set_field(self, "plh", plh)

    @property
    def position(self) -> int:
        """Index of the block in its request."""
        return self.plh.position

    @property
    def sequence_hash(self) -> int:
        """The u64 hash of this block and all before it."""
        return self.plh.current_sequence_hash

    def to_json(self) -> str:
        """The original's serde form: `{"block_hash":<u64>,"plh":[16 byte values]}`.

        The numbers are bare, as serde_json writes them: JavaScript would round them.
        """
        values = ",".join(map(str, bytes(self.plh)))
        return f'{{"block_hash":{self.block_hash},"plh":[{values}]}}'

    @classmethod
    def from_json(cls, text: str | bytes, contract: Contract = DOCUMENTED) -> UniversalBlock:
        """The block of `to_json` or of serde_json. The contract is not in the form."""
        value = loads(text)
        if not isinstance(value, dict) or set(value) != {"block_hash", "plh"}:
            raise InvalidJsonError(
                field="block", value=value, expected='an object with "block_hash" and "plh"'
            )
        octets = value["plh"]
        if not isinstance(octets, list) or len(octets) != 16:
            raise InvalidJsonError(field="plh", value=octets, expected="a list of 16 byte values")
        data = bytes(require_uint(o, "plh", limit=256, index=i) for i, o in enumerate(octets))
        return cls(value["block_hash"], PositionalLineageHash.from_bytes(data, contract))

    def to_msgpack(self) -> bytes:
        """The original's MessagePack form: array of 2, u64 in its smallest form, bin of 16."""
        value = self.block_hash
        marker, width = next((m, w) for limit, m, w in _MSGPACK_UINTS if value < limit)
        return b"\x92" + marker + value.to_bytes(width, "big") + b"\xc4\x10" + bytes(self.plh)

    @classmethod
    def from_msgpack(
        cls, data: bytes | bytearray, contract: Contract = DOCUMENTED
    ) -> UniversalBlock:
        """The block of `to_msgpack` or of rmp_serde. The contract is not in the form."""
        if not isinstance(data, (bytes, bytearray)):
            raise FieldTypeError(field="block", value=data, expected="bytes")
        number = data[1:-18]
        framed = data[:1] == b"\x92" and data[-18:-16] == b"\xc4\x10"
        for limit, marker, width in _MSGPACK_UINTS:
            value = int.from_bytes(number[len(marker) :], "big")
            fits = number.startswith(marker) and len(number) == len(marker) + width
            if framed and fits and value < limit:
                return cls(value, PositionalLineageHash.from_bytes(data[-16:], contract))
        expected = "MessagePack: [unsigned integer, bin of 16]"
        raise FieldValueError(field="block", value=bytes(data), expected=expected)


# MessagePack's unsigned integers: value below, marker, bytes of the value.
_MSGPACK_UINTS = (
    (1 << 7, b"", 1),
    (1 << 8, b"\xcc", 1),
    (1 << 16, b"\xcd", 2),
    (1 << 32, b"\xce", 4),
    (1 << 64, b"\xcf", 8),
)


def block_hashes(
    packed: bytes,
    block_size: int,
    runs: Sequence[RequestMmObjectInfo],
    salt_hash: int,
    first: int,
    stop: int,
    base: int = 0,
) -> list[int]:
    """Block hashes of blocks first … stop - 1 of slots packed from block `base` on; trusts its
    input.
    """
    result: list[int] = []
    for payload, block_bytes in block_segments(packed, block_size, runs, first, stop, base):
        result += hash_blocks(payload, block_bytes, salt_hash)
    return result


# PyPy takes four times as long for a PLH's 128-bit integer as for the object around it, which is
# why it keeps the parts and packs them when they are asked for.
COMPILED = sys.implementation.name == "pypy"

# The slots' own setters: a third of the cost of object.__setattr__ on CPython. Used as globals,
# because PyPy's compiler knows what a global is; as local names they take three times as long.
_new = object.__new__
_set_hash, _set_plh = (getattr(UniversalBlock, name).__set__ for name in UniversalBlock.__slots__)
_set_current, _set_parent, _set_position, _set_value, _set_contract = (
    getattr(PositionalLineageHash, name).__set__ for name in PositionalLineageHash.__slots__
)


def _plh(current: int, parent: int, position: int, contract: Contract) -> PositionalLineageHash:
    plh = _new(PositionalLineageHash)
    _set_current(plh, current)
    _set_parent(plh, parent)
    _set_position(plh, position)
    _set_contract(plh, contract)
    return plh


def lineage_hashes(
    sequence_hashes: Sequence[int],
    contract: Contract,
    first_position: int = 0,
    parent: int | None = None,
) -> list[PositionalLineageHash]:
    """PLHs of consecutive sequence hashes, in bulk; trusts its input.

    `parent` is the sequence hash before the first (None at the root).
    """
    before, count = parent or 0, len(sequence_hashes)
    if COMPILED:
        parts = enumerate(zip(sequence_hashes, [before, *sequence_hashes]), first_position)
        return [_plh(current, before, i, contract) for i, (current, before) in parts]
    values: list[int] = []
    for mode, first, last, position_bits, fragment_bits in MODES:
        done = len(values)
        rest = max(0, min(last + 1 - max(first, first_position + done), count - done))
        mask = (1 << fragment_bits) - 1
        head = (mode << position_bits | first_position + done) << HASH_BITS
        for current in sequence_hashes[done : done + rest]:
            values.append((head | current) << fragment_bits | before & mask)
            before = current
            head += 1 << HASH_BITS
    plhs = list(map(_new, repeat(PositionalLineageHash, count)))
    deque(map(_set_value, plhs, values), 0)
    deque(map(_set_contract, plhs, repeat(contract, count)), 0)
    return plhs


def make_blocks(
    hashes: Sequence[int],
    contract: Contract,
    first_position: int = 0,
    parent: int | None = None,
    sequence_hashes: Sequence[int] | None = None,
) -> list[UniversalBlock]:
    """Blocks of consecutive block hashes, chained from `parent` unless their `sequence_hashes`
    are there already; trusts its input.
    """
    if sequence_hashes is None:
        sequence_hashes = chain(list(hashes), contract.chain_seed, parent)
    if COMPILED:
        blocks = [_new(UniversalBlock)] * len(hashes)  # to be filled: faster than to append
        before = parent or 0
        for i in range(len(hashes)):
            block = _new(UniversalBlock)
            _set_hash(block, hashes[i])
            _set_plh(block, _plh(sequence_hashes[i], before, first_position + i, contract))
            before = sequence_hashes[i]
            blocks[i] = block
        return blocks
    blocks = list(map(_new, repeat(UniversalBlock, len(hashes))))
    deque(map(_set_hash, blocks, hashes), 0)
    plhs = lineage_hashes(sequence_hashes, contract, first_position, parent)
    deque(map(_set_plh, blocks, plhs), 0)
    return blocks


def compute_block_hash(block_bytes: bytes, salt_hash: int) -> int:
    """`x(block bytes, salt hash)`: the content hash of one block."""
    return xxh3_64(block_bytes, require_uint(salt_hash, "salt_hash"))


def compute_next_sequence_hash(
    parent: int, block_hash: int, *, contract: Contract = DOCUMENTED
) -> int:
    """`x(LE64 parent sequence hash ‖ LE64 block hash, chain seed)` of two u64."""
    require_contract(contract)
    parent = require_uint(parent, "parent")
    (result,) = chain([require_uint(block_hash, "block_hash")], contract.chain_seed, parent)
    return result
