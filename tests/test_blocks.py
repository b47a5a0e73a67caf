"""Blocks as pairs of hash and PLH, their serialised forms, and the primitives by name."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    FieldTypeError,
    FieldValueError,
    InvalidJsonError,
    KvHashingError,
    PositionalLineageHash,
    UniversalBlock,
    compute_block_hash,
    compute_hash_v2,
    compute_next_sequence_hash,
    xxh3_64,
)
from kvhash_pure.blocks import make_blocks
from tests import reference
from tests.helpers import ANYTHING, U64_MAX, rejected
from tests.vectors import Case, cases, load

SERDE = cases("serde.json")
PLH = PositionalLineageHash


def block_of(case: Case, contract: Contract = DOCUMENTED) -> UniversalBlock:
    return UniversalBlock(
        int(case["block_hash"], 16), PLH.from_u128(int(case["plh"], 16), contract)
    )


def test_a_block_is_a_value() -> None:
    plh = PLH.root(7).extend(8)
    block = UniversalBlock(block_hash=8, plh=plh)
    assert (block.block_hash, block.plh, block.position) == (8, plh, 1)
    assert block.sequence_hash == plh.current_sequence_hash
    names = {cls.__name__: cls for cls in (UniversalBlock, PLH, Contract)}
    assert eval(repr(block), names) == block
    assert pickle.loads(pickle.dumps(block)) == block
    assert block == UniversalBlock(8, plh)
    assert hash(block) == hash(UniversalBlock(8, plh))
    assert block != UniversalBlock(9, plh)
    assert block != UniversalBlock(8, PLH.from_u128(int(plh), DYNAMO_1_3))
    for name in ("block_hash", "plh", "position", "other"):
        with pytest.raises(AttributeError):
            setattr(block, name, 1)


def test_wrong_parts_of_a_block() -> None:
    for value in (-1, 2**64):
        with rejected(FieldValueError, "block_hash", value=value):
            UniversalBlock(value, PLH.root(1))
    wrong: tuple[Any, ...] = (True, "0x1", 1.0, None)
    for value in wrong:
        with rejected(FieldTypeError, "block_hash", value=value):
            UniversalBlock(value, PLH.root(1))
        with rejected(FieldTypeError, "plh", value=value):
            UniversalBlock(1, value)


@pytest.mark.parametrize("contract", [DOCUMENTED, DYNAMO_1_3], ids=lambda row: row.name)
@pytest.mark.parametrize("case", SERDE, ids=lambda case: case["block_hash"])
def test_serde_forms(case: Case, contract: Contract) -> None:
    """As serde_json and rmp_serde write a block; the contract is not in the bytes."""
    block = block_of(case, contract)
    assert block.to_json() == case["json"]
    assert block.to_msgpack().hex() == case["msgpack"]
    for form in (case["json"], case["json"].encode(), json.dumps(json.loads(case["json"]))):
        assert UniversalBlock.from_json(form, contract) == block
    packed = bytes.fromhex(case["msgpack"])
    assert UniversalBlock.from_msgpack(packed, contract) == block
    assert UniversalBlock.from_msgpack(bytearray(packed), contract) == block


@pytest.mark.parametrize("case", SERDE, ids=lambda case: case["block_hash"])
def test_the_real_msgpack_reads_and_writes_the_same(case: Case) -> None:
    msgpack = pytest.importorskip("msgpack", reason="msgpack is a C extension: not in this ring")
    block = block_of(case)
    assert msgpack.unpackb(block.to_msgpack()) == [block.block_hash, bytes(block.plh)]
    assert msgpack.packb([block.block_hash, bytes(block.plh)]) == block.to_msgpack()
    assert UniversalBlock.from_msgpack(msgpack.packb([block.block_hash, bytes(block.plh)])) == block


def test_the_json_form_has_bare_numbers_and_any_key_order() -> None:
    block = UniversalBlock(U64_MAX, PLH.root(1))
    assert json.loads(block.to_json()) == {"block_hash": U64_MAX, "plh": list(bytes(block.plh))}
    turned = f'{{"plh": {list(bytes(block.plh))}, "block_hash": {U64_MAX}}}'
    assert UniversalBlock.from_json(turned) == block


ZEROS = [0] * 16


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([], KvHashingError),
        (None, KvHashingError),
        ({}, KvHashingError),
        ({"block_hash": 1}, KvHashingError),
        ({"plh": ZEROS}, KvHashingError),
        ({"block_hash": 1, "plh": ZEROS, "position": 0}, KvHashingError),
        ({"block_hash": 1, "plh": "0:11111111"}, KvHashingError),
        ({"block_hash": 1, "plh": ZEROS[1:]}, KvHashingError),
        ({"block_hash": 1, "plh": [0, *ZEROS]}, KvHashingError),
        ({"block_hash": 1, "plh": {str(i): 0 for i in range(16)}}, KvHashingError),
        ({"block_hash": 1, "plh": [256, *ZEROS[1:]]}, FieldValueError),
        ({"block_hash": 1, "plh": [-1, *ZEROS[1:]]}, FieldValueError),
        ({"block_hash": 1, "plh": [1.0, *ZEROS[1:]]}, FieldTypeError),
        ({"block_hash": 1, "plh": [True, *ZEROS[1:]]}, FieldTypeError),
        ({"block_hash": 1, "plh": ["0", *ZEROS[1:]]}, FieldTypeError),
        ({"block_hash": 1, "plh": [255, *ZEROS[1:]]}, FieldValueError),
        ({"block_hash": -1, "plh": ZEROS}, FieldValueError),
        ({"block_hash": 2**64, "plh": ZEROS}, FieldValueError),
        ({"block_hash": 1.0, "plh": ZEROS}, FieldTypeError),
        ({"block_hash": "1", "plh": ZEROS}, FieldTypeError),
        ({"block_hash": True, "plh": ZEROS}, FieldTypeError),
        ({"block_hash": None, "plh": ZEROS}, FieldTypeError),
    ],
)
def test_json_that_is_no_block(value: Any, kind: type[KvHashingError]) -> None:
    with pytest.raises(kind) as caught:
        UniversalBlock.from_json(json.dumps(value))
    assert caught.value.field in ("block", "block_hash", "plh")
    assert caught.value.expected


def test_json_that_is_no_json() -> None:
    for text in ("", "{", '{"block_hash":1,"block_hash":1,"plh":[]}', "NaN", b"\xff"):
        with pytest.raises(InvalidJsonError):
            UniversalBlock.from_json(text)


@pytest.mark.parametrize("case", SERDE[:8], ids=lambda case: case["block_hash"])
def test_msgpack_cut_or_changed(case: Case) -> None:
    """Every shorter form, a longer one, and other types in either place."""
    packed = bytes.fromhex(case["msgpack"])
    wrong = [packed[:n] for n in range(len(packed))] + [packed + b"\0"]
    wrong += [
        b"\x93" + packed[1:],
        b"\x82" + packed[1:],
        b"\x92\xd3" + bytes(8) + packed[-18:],
        b"\x92\xff" + packed[-18:],
        b"\x92\xcb" + bytes(8) + packed[-18:],
        packed[:-18] + b"\xc4\x0f" + packed[-16:],
        packed[:-18] + b"\xc5\x10" + packed[-16:],
        packed[:-18] + b"\xd9\x10" + packed[-16:],
    ]
    for data in wrong:
        with rejected(FieldValueError, "block", value=data):
            UniversalBlock.from_msgpack(data)
    with rejected(FieldValueError, "plh"):
        UniversalBlock.from_msgpack(packed[:-16] + b"\xff" * 16)


@pytest.mark.parametrize("value", ["\x92", 5, None, [1, bytes(16)], memoryview(bytes(4))])
def test_msgpack_of_another_type(value: Any) -> None:
    with rejected(FieldTypeError, "block", value=ANYTHING):
        UniversalBlock.from_msgpack(value)


def test_contracts_of_serialised_blocks_are_contracts() -> None:
    case = SERDE[0]
    wrong: Any = "documented"
    with rejected(FieldTypeError, "contract", value=wrong):
        UniversalBlock.from_json(case["json"], wrong)
    with rejected(FieldTypeError, "contract", value=wrong):
        UniversalBlock.from_msgpack(bytes.fromhex(case["msgpack"]), wrong)


@pytest.mark.parametrize("case", load("dynamo_binaries.json")["sequence"])
def test_blocks_of_dynamos_binaries(case: Case) -> None:
    """Block hash to PLH, as the released binaries chain them."""
    hashes = [int(text, 16) for text in case["block_hash"]]
    blocks = make_blocks(hashes, DYNAMO_1_3)
    assert [block.block_hash for block in blocks] == hashes
    assert [bytes(block.plh).hex() for block in blocks] == case["plh"]
    for block, text in zip(blocks, case["text"] or ()):
        if text is not None:
            assert str(block.plh) == text


def test_the_documented_chain_of_the_original() -> None:
    """Constants of the original's own tests, from when its chain seed was 0."""
    case = load("dynamo_binaries.json")
    chain = case["documented_chain"]
    blocks = make_blocks(chain["block_hash"], DOCUMENTED)
    assert [block.sequence_hash for block in blocks] == chain["sequence_hash"]
    parent, child = chain["sequence_hash"][0], chain["block_hash"][1]
    assert compute_next_sequence_hash(parent, child) == chain["sequence_hash"][1]


def test_next_sequence_hash() -> None:
    for contract in (DOCUMENTED, DYNAMO_1_3):
        for parent, child in ((0, 0), (1, 2), (2, 1), (U64_MAX, U64_MAX)):
            expected = reference.next_sequence_hash(contract.name, parent, child)
            assert compute_next_sequence_hash(parent, child, contract=contract) == expected
    for value in (-1, 2**64):
        with rejected(FieldValueError, "parent", value=value):
            compute_next_sequence_hash(value, 1)
        with rejected(FieldValueError, "block_hash", value=value):
            compute_next_sequence_hash(1, value)
    wrong: Any = "documented"
    with rejected(FieldTypeError, "contract", value=wrong):
        compute_next_sequence_hash(1, 2, contract=wrong)


def test_block_hash_of_bytes() -> None:
    for length in (0, 1, 4, 64, 240, 241, 2000):
        data = bytes(i % 251 for i in range(length))
        for seed in (0, 1337, U64_MAX):
            expected = reference.xxh3_64(data, seed)
            assert compute_block_hash(data, seed) == expected
            assert compute_hash_v2(data, seed) == xxh3_64(data, seed) == expected
    for value in (-1, 2**64):
        with rejected(FieldValueError, "salt_hash", value=value):
            compute_block_hash(b"", value)
    wrong: Any = "text"
    with pytest.raises(KvHashingError):
        compute_block_hash(wrong, 0)
    with rejected(FieldTypeError, "salt_hash", value=wrong):
        compute_block_hash(b"", wrong)
