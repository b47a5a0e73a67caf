"""Makes our own known answers in tests/vectors/ from independent tools, without `kvhash_pure`.

    python3 -m tests.make_vectors            writes the files
    python3 -m tests.make_vectors --check    exit 1 if a case would change

Hashes come from PyPI `xxhash` (C), base58 from PyPI `base58`, MessagePack from PyPI `msgpack`, JSON
from the standard library, everything between from tests/reference.py.
"""

from __future__ import annotations

import hashlib
import json
import platform
import random
import struct
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import base58
import msgpack

from tests import reference
from tests.reference import CHAIN_SEED, U64
from tests.vectors import HERE, expand_text, expand_tokens

CONTRACTS = tuple(CHAIN_SEED)
DEADBEEF = 0xDEADBEEFDEADBEEF
SCRAMBLED = 2654435761  # an odd step of the tokens visits all of u32

# Block bytes, plain (4 a slot) or framed (13 a slot), on both sides of each XXH3 length class.
BLOCK_SIZES: tuple[int, ...] = (1, 2, 3, 4, 5, 8, 9, 10, 16, 18, 19, 32, 33, 60, 61, 64, 78, 79)
BLOCK_SIZES += (128, 255, 256, 257, 512, 1024)

SALTS: tuple[tuple[str, str | None, str | None], ...] = (
    ("nothing", None, None),
    ("empty strings count as absent", "", ""),
    ("empty salt, lora", "", "adapter"),
    ("salt", "tenant-a", None),
    ("lora", None, "lora-x"),
    ("both", "tenant-a", "lora-x"),
    ("exchanged", "lora-x", "tenant-a"),
    ("one character", "a", None),
    ("space", " ", None),
    ("the word null", "null", "null"),
    ("quote and backslash", 'say "hi" \\ bye', 'C:\\models\\"x"'),
    ("short escapes", "\b\t\n\f\r", "\r\f\n\t\b"),
    ("every control character", "".join(map(chr, range(32))), None),
    ("every control character in the lora name", None, "".join(map(chr, range(32)))),
    ("delete and C1 are not escaped", "\x7f\x80\x9f\xa0", None),
    ("solidus is not escaped", "</script>", None),
    ("line separators are not escaped", "\u2028\u2029", None),
    ("accents composed", "\u00e9", None),
    ("accents decomposed: no normalisation", "e\u0301", None),
    ("byte order mark and non-characters", "\ufeff\ufffe\uffff", None),
    ("chinese", "\u4e2d\u6587\u6a21\u578b", "\u9002\u914d\u5668"),
    ("right to left", "\u0645\u0631\u062d\u0628\u0627", None),
    ("emoji with joiners", "\U0001f469\u200d\U0001f4bb \U0001f1eb\U0001f1f7", "\U0001f600"),
    ("largest code point", "\U0010ffff", None),
    ("looks like JSON", '{"salt":"x"}', None),
)


def hex64(number: int) -> str:
    return f"0x{number:016x}"


def plh_text(value: int) -> str:
    """The text form by way of PyPI base58, from fields cut out with struct."""
    high, low = value >> 64, value & U64
    position_bits, fragment_bits = ((8, 54), (16, 46), (24, 38))[high >> 62]
    position = (high >> (62 - position_bits)) & ((1 << position_bits) - 1)
    sequence = ((high << (2 + position_bits)) | (low >> fragment_bits)) & U64
    fragment = low & ((1 << fragment_bits) - 1)
    words = [base58.b58encode(struct.pack(">Q", word)).decode() for word in (sequence, fragment)]
    return f"0:{words[0]}" if position == 0 else ":".join([str(position), *words])


def row(block: reference.Block) -> list[Any]:
    assert plh_text(block.plh) == block.plh_text
    hashes = hex64(block.block_hash), hex64(block.sequence_hash), f"0x{block.plh:032x}"
    return [block.position, *hashes, block.plh_text]


def digest(blocks: Sequence[reference.Block]) -> str:
    """SHA-256 over block hash (8 bytes), sequence hash (8), PLH (16) of each block, big-endian."""
    state = hashlib.sha256()
    for block in blocks:
        state.update(
            struct.pack(">QQ", block.block_hash, block.sequence_hash)
            + block.plh.to_bytes(16, "big")
        )
    return state.hexdigest()


def tokens(first: int, count: int, step: int = SCRAMBLED) -> dict[str, int]:
    return {"first": first, "step": step, "count": count}


def request_case(name: str, spec: Any, block_size: int, **fields: Any) -> list[dict[str, Any]]:
    """One request under both contracts; `keep` lists the positions written out, else all are."""
    keep: Sequence[int] | None = fields.pop("keep", None)
    salt, lora_name, mm_info = (
        fields.get("salt"),
        fields.get("lora_name"),
        fields.get("mm_info", []),
    )
    runs = [(m["mm_hash"], m["offset"], m["length"]) for m in mm_info]
    out = []
    for contract in CONTRACTS:
        seed = reference.salt_hash(contract, salt, lora_name)
        blocks = reference.hash_blocks(contract, expand_tokens(spec), block_size, runs, seed=seed)
        out.append(
            {
                "name": name,
                "contract": contract,
                "tokens": spec,
                "block_size": block_size,
                "salt": salt,
                "lora_name": lora_name,
                "mm_info": [{**m, "mm_hash": hex64(m["mm_hash"])} for m in mm_info],
                "salt_hash": hex64(seed),
                "count": len(blocks),
                "sha256": digest(blocks),
                "blocks": [row(blocks[i]) for i in (range(len(blocks)) if keep is None else keep)],
            }
        )
    return out


def run(mm_hash: int, offset: int, length: int) -> dict[str, int]:
    return {"mm_hash": mm_hash, "offset": offset, "length": length}


def known_answers() -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    one_to_12 = list(range(1, 13))
    made += request_case("plain", one_to_12, 4)
    made += request_case("no token", [], 4)
    made += request_case("only a tail", [7, 8, 9], 4)
    made += request_case("exactly one block", [7, 8, 9, 10], 4)
    made += request_case("largest token", [0xFFFFFFFF] * 4, 4)
    made += request_case("zero token", [0] * 4, 2)
    made += request_case("empty strings count as absent", one_to_12, 4, salt="", lora_name="")
    made += request_case("lora", one_to_12, 4, lora_name="lora-x")
    made += request_case("salt", one_to_12, 4, salt="tenant-a")
    made += request_case("salt and lora", one_to_12, 4, salt="tenant-a", lora_name="lora-x")
    made += request_case(
        "string needing JSON escapes",
        one_to_12,
        4,
        salt='a"b\\c\n\t\x01\x7f/\u00e9\u4e2d\U0001f600',
    )
    made += request_case("run inside", one_to_12, 4, mm_info=[run(0xDEADBEEF, 2, 4)])
    made += request_case("run is the first slot", one_to_12, 4, mm_info=[run(1, 0, 1)])
    made += request_case("run is the last slot of a block", one_to_12, 4, mm_info=[run(1, 7, 1)])
    made += request_case("run ends with a block", one_to_12, 4, mm_info=[run(1, 1, 3)])
    made += request_case("run only in the tail", list(range(1, 15)), 4, mm_info=[run(1, 12, 2)])
    made += request_case(
        "run reaches into the tail", list(range(1, 15)), 4, mm_info=[run(1, 10, 4)]
    )
    made += request_case(
        "all placeholders, largest mm_hash", [0] * 12, 4, mm_info=[run(U64, 0, 12)]
    )
    made += request_case("mm_hash 0", one_to_12, 4, mm_info=[run(0, 4, 4)])
    made += request_case(
        "two runs side by side", one_to_12, 4, mm_info=[run(5, 2, 3), run(6, 5, 3)]
    )
    made += request_case(
        "same object twice", tokens(1, 24, 1), 8, mm_info=[run(5, 2, 3), run(5, 18, 3)]
    )
    full = tokens(16, 16, 1)
    made += request_case(
        "full placeholder block", [0] * 16 + expand_tokens(full), 16, mm_info=[run(DEADBEEF, 0, 16)]
    )
    made += request_case(
        "two runs, given unsorted", tokens(0, 40, 1), 8, mm_info=[run(7, 20, 5), run(9, 3, 2)]
    )
    made += request_case("block 128 with tail", tokens(0, 300, 1), 128, salt="model-arch-tag")
    made += request_case(
        "run over three blocks of 16", tokens(0, 80, 1), 16, mm_info=[run(0xCAFE, 16, 40)]
    )
    made += request_case(
        "run starts mid-block", tokens(0, 80, 1), 16, mm_info=[run(0xCAFE, 21, 40)]
    )
    made += request_case(
        "unsorted runs", tokens(1, 40, 1), 8, mm_info=[run(7, 20, 5), run(9, 3, 2), run(8, 33, 7)]
    )
    made += request_case(
        "everything at once",
        tokens(3, 70),
        16,
        salt='\u00fc"\x1f',
        lora_name="\U0001f600",
        mm_info=[run(0x0123456789ABCDEF, 40, 20), run(1 << 63, 0, 5)],
    )
    for size in BLOCK_SIZES:
        made += request_case(
            f"blocks of {size}", tokens(size, 2 * size + size // 2), size, salt="s"
        )
        runs = [run(0xFEEDFACE00000000 + size, size // 2, size)]
        made += request_case(
            f"blocks of {size}, framed", tokens(size, 2 * size + size // 3), size, mm_info=runs
        )
    edge: tuple[int, ...] = (0, 1, 254, 255, 256, 257, 258)
    made += request_case("positions around 255", tokens(9, 260), 1, keep=edge)
    made += request_case(
        "positions around 255, framed", tokens(9, 520), 2, keep=edge, mm_info=[run(3, 0, 520)]
    )
    edge = (0, 65534, 65535, 65536, 65537, 65538)
    made += request_case("positions around 65535", tokens(11, 65540), 1, keep=edge)
    generator = random.Random("kvhash known answers")
    for number in range(24):
        size = generator.choice((1, 3, 7, 16, 16, 31, 32, 64))
        count = generator.randrange(size * 5 + 3)
        runs, offset = [], 0
        while offset < count and generator.random() < 0.6:
            offset += generator.randrange(1 + size)
            length = 1 + generator.randrange(2 * size)
            if offset + length <= count:
                runs.append(run(generator.getrandbits(64), offset, length))
            offset += length
        generator.shuffle(runs)
        salt = generator.choice((None, "", "tenant", "\u00e9\n"))
        spec = tokens(generator.getrandbits(32), count)
        made += request_case(f"random {number}", spec, size, salt=salt, mm_info=runs)
    return {"cases": made}


def lineage() -> dict[str, Any]:
    """Packed values by their fields, and children of PLHs just before a change of layout."""
    positions: tuple[int, ...] = (0, 1, 2, 127, 254, 255, 256, 257, 258, 4095)
    positions += (65534, 65535, 65536, 65537, 65538, 2**24 - 2, 2**24 - 1)
    words = (
        0,
        1,
        U64,
        0x00000000000000FF,
        0x00FFFFFFFFFFFFFF,
        1 << 63,
        0x123456789ABCDEF0,
        0xFEDCBA9876543210,
    )
    packed = []
    for at, position in enumerate(positions):
        for pair in range(4):
            sequence, parent = words[(at + pair) % 8], words[(at * 3 + pair * 5 + 1) % 8]
            parent = parent if position else 0
            value = reference.plh(position, sequence, parent)
            bits = reference.fragment_bits(position)
            packed.append(
                {
                    "position": position,
                    "mode": 0 if position < 256 else 1 if position < 65536 else 2,
                    "sequence_hash": hex64(sequence),
                    "parent_sequence_hash": hex64(parent),
                    "parent_hash_fragment": hex64(parent % 2**bits),
                    "plh": f"0x{value:032x}",
                    "text": plh_text(value),
                }
            )
    children = []
    generator = random.Random("kvhash children")
    for contract in CONTRACTS:
        for position in (
            0,
            1,
            253,
            254,
            255,
            256,
            257,
            65533,
            65534,
            65535,
            65536,
            65537,
            2**24 - 2,
        ):
            before, current, block_hash = (generator.getrandbits(64) for _ in range(3))
            child = reference.next_sequence_hash(contract, current, block_hash)
            child_plh = reference.plh(position + 1, child, current)
            children.append(
                {
                    "contract": contract,
                    "plh": f"0x{reference.plh(position, current, before if position else 0):032x}",
                    "child_block_hash": hex64(block_hash),
                    "child_sequence_hash": hex64(child),
                    "child_plh": f"0x{child_plh:032x}",
                    "child_text": plh_text(child_plh),
                }
            )
    return {"packed": packed, "children": children}


def salts() -> dict[str, Any]:
    rows: list[tuple[str, Any, Any]] = list(SALTS)
    lengths: tuple[int, ...] = (0, 1, 3, 4, 8, 9, 16, 17, 64, 117, 118, 128, 129, 228, 229)
    lengths += (240, 241, 500, 1011, 1012, 1024, 1025, 3000)
    rows += [(f"salt of {n} bytes", {"repeat": "x", "times": n}, None) for n in lengths]
    rows += [(f"lora of {2 * n} bytes", None, {"repeat": "\u00e9", "times": n}) for n in lengths]
    made = []
    for name, salt_spec, lora_spec in rows:
        salt, lora_name = expand_text(salt_spec), expand_text(lora_spec)
        made.append(
            {
                "name": name,
                "salt": salt_spec,
                "lora_name": lora_spec,
                "payload_sha256": hashlib.sha256(
                    reference.salt_payload(salt, lora_name)
                ).hexdigest(),
                **{
                    contract: hex64(reference.salt_hash(contract, salt, lora_name))
                    for contract in CONTRACTS
                },
            }
        )
    return {"cases": made}


def block_bytes() -> dict[str, Any]:
    """The bytes themselves, and their hashes under a few salt hashes."""
    made = []
    for name, window, offset, runs in (
        ("two tokens", [1, 0xFFFFFFFF], 0, []),
        ("no run in this block", [5, 6, 7], 3, [(9, 0, 3), (9, 6, 1)]),
        ("run covers the block", [0, 0, 0], 0, [(0x0102030405060708, 0, 3)]),
        ("run in the middle", [5, 6, 7, 8], 4, [(0xDEADBEEF, 5, 2)]),
        ("run began 300 slots before", [5, 6], 302, [(0xDEADBEEF, 2, 301)]),
        ("two runs, the second goes on", [5, 6, 7, 8], 8, [(1, 0, 9), (U64, 10, 70)]),
    ):
        size = len(window)
        touched = any(o < offset + size and offset < o + n for _, o, n in runs)
        data = framed(window, offset, runs) if touched else plain(window)
        if (
            offset % size == 0
        ):  # then the window is a block of a request, and the reference can say so too
            assert data == reference.block_bytes([0] * offset + window, size, runs, offset // size)
        made.append(
            {
                "name": name,
                "tokens": window,
                "block_offset": offset,
                "mm_runs": [[hex64(h), o, n] for h, o, n in runs],
                "bytes": data.hex(),
                "block_hash": {
                    hex64(seed): hex64(reference.xxh3_64(data, seed)) for seed in (0, 1337, U64)
                },
            }
        )
    return {"cases": made}


def plain(window: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(window)}I", *window)


def framed(window: Sequence[int], offset: int, runs: Sequence[tuple[int, int, int]]) -> bytes:
    frames = []
    for slot, token in enumerate(window, offset):
        inside = [(h, o) for h, o, n in runs if o <= slot < o + n]
        tag, low, high = (1, slot - inside[0][1], inside[0][0]) if inside else (0, token, 0)
        frames.append(struct.pack("<BIQ", tag, low, high))
    return b"".join(frames)


def serde() -> dict[str, Any]:
    """A block as serde writes it: a JSON object, a MessagePack array with 16 bytes of bin."""
    made = []
    hashes = (0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 + 1, 2**63, U64)
    for at, block_hash in enumerate(hashes):
        position = (0, 1, 255, 256, 65535, 65536, 2**24 - 1)[at % 7]
        value = reference.plh(position, block_hash, 0xFEDCBA9876543210 if position else 0)
        raw = value.to_bytes(16, "big")
        made.append(
            {
                "block_hash": hex64(block_hash),
                "plh": f"0x{value:032x}",
                "json": json.dumps(
                    {"block_hash": block_hash, "plh": list(raw)}, separators=(",", ":")
                ),
                "msgpack": msgpack.packb([block_hash, raw]).hex(),
            }
        )
    return {"cases": made}


FILES = {
    "known_answers.json": known_answers,
    "lineage.json": lineage,
    "salts.json": salts,
    "block_bytes.json": block_bytes,
    "serde.json": serde,
}


def provenance() -> dict[str, str]:
    tools = " ".join(f"{name} {version(name)}" for name in ("xxhash", "base58", "msgpack"))
    return {
        "command": "python3 -m tests.make_vectors",
        "tools": f"{platform.python_implementation()} {platform.python_version()}, {tools}",
        "oracle": "tests/reference.py on the C xxhash library; kvhash_pure takes no part",
        "notes": "rows in `blocks` are [position, block_hash, sequence_hash, plh, plh_text]; "
        "`sha256` covers every block as block hash, sequence hash (8 bytes each), PLH (16), all "
        "big-endian",
    }


def lines(value: dict[str, Any]) -> str:
    """JSON with one case a line, so that a change shows as the lines that changed."""
    parts = []
    for key, table in value.items():
        if isinstance(table, list):
            rows = ",\n".join("  " + json.dumps(each, separators=(",", ":")) for each in table)
            parts.append(f" {json.dumps(key)}: [\n{rows}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(table)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def changed(name: str) -> bool:
    """Whether making `name` anew would change any case in it."""
    stored = json.loads((HERE / name).read_text(encoding="utf-8"))
    stored.pop("provenance")
    return bool(stored != FILES[name]())


def main(argv: Sequence[str]) -> int:
    assert reference.ORACLE == "xxhash", "known answers are made on the C library"
    if "--check" in argv:
        stale = [name for name in FILES if changed(name)]
        print("changed: " + ", ".join(stale) if stale else f"{len(FILES)} files agree")
        return int(bool(stale))
    for name, make in FILES.items():
        text = lines({"provenance": provenance(), **make()})
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
