"""The whole contract once more, for reading, on other people's tools: the oracle of the tests.

XXH3-64 is the C library's (PyPI `xxhash`), or `ppxxh` where no C extension can be installed (PyPy,
Pyodide); JSON is the standard library's. Nothing here may import `kvhash_pure`, nor be clever: one
block at a time, one slot at a time.
"""

from __future__ import annotations

import importlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

Run = tuple[int, int, int]
"""One multimodal run: (mm_hash, offset, length)."""

DOCUMENTED = "documented"
DYNAMO_1_3 = "dynamo-1.3"
CHAIN_SEED = {DOCUMENTED: 0, DYNAMO_1_3: 1337}
U64 = (1 << 64) - 1
BITCOIN = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _find_xxh3() -> tuple[str, Callable[[bytes, int], int]]:
    try:
        xxhash: Any = importlib.import_module("xxhash")
    except ImportError:
        ppxxh: Any = importlib.import_module("ppxxh")
        return "ppxxh", lambda data, seed: int(ppxxh.xxh3_64(data, seed=seed).hexdigest(), 16)
    return "xxhash", lambda data, seed: int(xxhash.xxh3_64_intdigest(data, seed))


ORACLE, xxh3_64 = _find_xxh3()


def salt_payload(salt: str | None, lora_name: str | None) -> bytes:
    """The JSON that the documented contract hashes; an empty string counts as absent."""
    present = {key: text for key, text in (("salt", salt), ("lora_name", lora_name)) if text}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def salt_hash(contract: str, salt: str | None = None, lora_name: str | None = None) -> int:
    if contract == DOCUMENTED:
        return xxh3_64(salt_payload(salt, lora_name), 0)
    assert contract == DYNAMO_1_3, contract
    total = 1337
    if lora_name:
        total += xxh3_64(lora_name.encode("utf-8"), 0)
    if salt:
        total += xxh3_64(salt.encode("utf-8"), 1)
    return total & U64


def block_bytes(tokens: Sequence[int], block_size: int, runs: Iterable[Run], index: int) -> bytes:
    """What is hashed for block `index`: plain tokens, or 13-byte frames if a run touches it."""
    slots = range(index * block_size, (index + 1) * block_size)
    owner: dict[int, Run] = {}
    for run in runs:
        for slot in range(max(run[1], slots.start), min(run[1] + run[2], slots.stop)):
            assert slot not in owner
            owner[slot] = run
    out = b""
    for slot in slots:
        if not owner:
            out += struct.pack("<I", tokens[slot])
        elif slot in owner:
            mm_hash, offset, _ = owner[slot]
            out += b"\x01" + struct.pack("<IQ", slot - offset, mm_hash)
        else:
            out += b"\x00" + struct.pack("<IQ", tokens[slot], 0)
    return out


def next_sequence_hash(contract: str, parent: int, block_hash: int) -> int:
    return xxh3_64(struct.pack("<QQ", parent, block_hash), CHAIN_SEED[contract])


def plh(position: int, sequence_hash: int, parent: int) -> int:
    """The 128 bits, assembled as text so that no shift can be wrong.

    `parent` is a whole sequence hash; 0 at the root.
    """
    if position < 256:
        mode, position_bits, fragment_bits = "00", 8, 54
    elif position < 65536:
        mode, position_bits, fragment_bits = "01", 16, 46
    else:
        assert position < 1 << 24
        mode, position_bits, fragment_bits = "10", 24, 38
    bits = mode + format(position, f"0{position_bits}b") + format(sequence_hash, "064b")
    bits += format(parent, "064b")[-fragment_bits:]
    assert len(bits) == 128
    return int(bits, 2)


def fragment_bits(position: int) -> int:
    return 54 if position < 256 else 46 if position < 65536 else 38


def base58(number: int) -> str:
    """base58 (Bitcoin's alphabet) of the 8 big-endian bytes of a u64."""
    raw, text = number.to_bytes(8, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BITCOIN[digit] + text
    return "1" * (8 - len(raw.lstrip(b"\0"))) + text


def plh_text(value: int) -> str:
    bits = format(value, "0128b")
    position_bits = {"00": 8, "01": 16, "10": 24}[bits[:2]]
    position = int(bits[2 : 2 + position_bits], 2)
    current = int(bits[2 + position_bits : 66 + position_bits], 2)
    if position == 0:
        return f"0:{base58(current)}"
    return f"{position}:{base58(current)}:{base58(int(bits[66 + position_bits :], 2))}"


class Block:
    """One hashed block: the values, as integers."""

    def __init__(self, position: int, block_hash: int, sequence_hash: int, parent: int) -> None:
        self.position, self.block_hash, self.sequence_hash = position, block_hash, sequence_hash
        self.plh = plh(position, sequence_hash, parent)
        self.plh_text = plh_text(self.plh)


def hash_blocks(
    contract: str, tokens: Sequence[int], block_size: int, runs: Iterable[Run] = (), *, seed: int
) -> list[Block]:
    """Every full block; `seed` is the salt hash."""
    runs = list(runs)
    blocks: list[Block] = []
    for index in range(len(tokens) // block_size):
        near = [
            r for r in runs if r[1] < (index + 1) * block_size and index * block_size < r[1] + r[2]
        ]
        block_hash = xxh3_64(block_bytes(tokens, block_size, near, index), seed)
        if not blocks:
            blocks.append(Block(0, block_hash, block_hash, 0))
            continue
        parent = blocks[-1].sequence_hash
        blocks.append(
            Block(index, block_hash, next_sequence_hash(contract, parent, block_hash), parent)
        )
    return blocks


def number(value: Any) -> int:
    """A u64 of the JSON form: a number or "0x..."."""
    return int(value, 16) if isinstance(value, str) else int(value)


def hash_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request in the JSON form of section 6 to the JSON answer of section 6."""
    contract = request.get("contract", DOCUMENTED)
    block_size = request.get("block_size", 16)
    runs = [
        (number(r["mm_hash"]), number(r["offset"]), number(r["length"]))
        for r in request.get("mm_info") or ()
    ]
    seed = salt_hash(contract, request.get("salt"), request.get("lora_name"))
    blocks = hash_blocks(contract, request["tokens"], block_size, runs, seed=seed)
    return {
        "contract": contract,
        "block_size": block_size,
        "salt_hash": f"0x{seed:016x}",
        "blocks": [
            {
                "position": block.position,
                "block_hash": f"0x{block.block_hash:016x}",
                "sequence_hash": f"0x{block.sequence_hash:016x}",
                "plh": f"0x{block.plh:032x}",
                "plh_text": block.plh_text,
            }
            for block in blocks
        ],
        "tail": len(request["tokens"]) % block_size,
    }
