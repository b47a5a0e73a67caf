"""What the page asks Python: one class, JSON text in, JSON text out, tokens as packed bytes.

The package does all hashing; this file holds the page's requests between calls, hashes again
only what an edit changed, and answers for windows of blocks, so that a request of 131 072 tokens
never becomes one big JSON text. It knows no DOM and runs on any Python (tests/web test it on
CPython). Every u64 and u128 that leaves is fixed-width hex.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import kvhash_pure
from kvhash_pure import (
    Contract,
    KvHashingError,
    PositionalLineageHash,
    Request,
    RequestMmObjectInfo,
    selftest,
)
from kvhash_pure.blocks import block_hashes, lineage_hashes
from kvhash_pure.compare import compare
from kvhash_pure.contract import CONTRACTS
from kvhash_pure.encoding import FRAMES, PLAIN_SLOT_BYTES, block_segments, pack_tokens
from kvhash_pure.errors import FieldValueError, require_block_size, shown
from kvhash_pure.identify import identify
from kvhash_pure.jsonform import DEFAULT_BLOCK_SIZE, hash_report
from kvhash_pure.kernel import chain
from kvhash_pure.lineage import HASH_BITS, MODE_BITS, MODES
from kvhash_pure.prefix_tree import prefix_groups
from kvhash_pure.strict_json import hex64, hex128, loads

Json = dict[str, Any]

MAX_TOKENS = 1_000_000
MAX_REQUESTS = 8
_PIECE = re.compile(r"[^\s,;\[\]()]+")
_NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]+")


class Held:
    """One request of the page, its packed tokens and the hashes of its blocks."""

    def __init__(self, request: Request, block_size: int) -> None:
        self.request = request
        self.block_size = block_size
        self.packed = request.packed
        self.salt_hash = request.salt_hash()
        self.block_hashes: list[int] = []
        self.sequence_hashes: list[int] = []

    @property
    def blocks(self) -> int:
        return self.request.total_tokens // self.block_size

    def hash(self, old: Held | None) -> int:
        """Fill the hashes, taking from `old` what cannot have changed. Returns the blocks kept."""
        request, size, blocks = self.request, self.block_size, self.blocks
        keep = tail = 0
        same_rules = (
            old is not None
            and old.block_size == size
            and old.salt_hash == self.salt_hash
            and old.request.contract is request.contract
        )
        if old is not None and same_rules:
            first = min(
                _common_prefix(self.packed, old.packed) // PLAIN_SLOT_BYTES,
                _first_run_difference(request.mm_info, old.request.mm_info),
            )
            keep = min(first // size, blocks, old.blocks)
            if len(self.packed) == len(old.packed) and request.mm_info == old.request.mm_info:
                # Same length, same runs: behind the last changed slot the contents are the same.
                suffix = _common_suffix(self.packed, old.packed) // PLAIN_SLOT_BYTES
                start = -(-(request.total_tokens - suffix) // size)
                tail = max(0, blocks - max(start, keep))
        middle = block_hashes(
            self.packed, size, request.mm_info, self.salt_hash, keep, blocks - tail
        )
        parent = None
        if old is not None and same_rules:
            self.block_hashes = old.block_hashes[:keep]
            self.sequence_hashes = old.sequence_hashes[:keep]
            parent = self.sequence_hashes[-1] if keep else None
        self.block_hashes += middle
        if old is not None and tail:
            self.block_hashes += old.block_hashes[blocks - tail : blocks]
        self.sequence_hashes += chain(self.block_hashes[keep:], request.contract.chain_seed, parent)
        return keep

    def rows(self, start: int, stop: int) -> list[Json]:
        """Blocks start … stop - 1 as section "JSON" of FORMAT.md has them."""
        start, stop = max(0, start), min(stop, self.blocks)
        parent = self.sequence_hashes[start - 1] if 0 < start < stop else None
        hashes = self.sequence_hashes[start:stop]
        plhs = lineage_hashes(hashes, self.request.contract, start, parent)
        return [
            {
                "position": start + i,
                "block_hash": hex64(self.block_hashes[start + i]),
                "sequence_hash": hex64(hashes[i]),
                "plh": hex128(int(plh)),
                "plh_text": str(plh),
            }
            for i, plh in enumerate(plhs)
        ]


class Bridge:
    """The methods that the page may call, by name, each from a dict to a dict."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def call(self, method: str, params: str, blob: bytes | None = None) -> tuple[str, bytes | None]:
        """Call a method with JSON `params`; errors of input come back as `{"error": …}`."""
        allowed: dict[str, Callable[[Json, bytes | None], Any]] = {
            "hello": self.hello,
            "selftest": self.selftest,
            "parse": self.parse,
            "put": self.put,
            "drop": self.drop,
            "rows": self.rows,
            "block": self.block,
            "compare": self.compare,
            "tree": self.tree,
            "find": self.find,
            "export": self.export,
        }
        try:
            answer = allowed[method](json.loads(params), blob)
        except KvHashingError as error:
            answer = {"error": fault(error)}
        out: bytes | None = None
        if isinstance(answer, tuple):
            answer, out = answer
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")), out

    def hello(self, params: Json, blob: bytes | None = None) -> Json:
        """Versions, limits and the package's own tables, which the page's drawings read."""
        return {
            "kvhash": kvhash_pure.__version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            "contracts": [
                {"name": c.name, "chain_seed": hex64(c.chain_seed), "matches": c.matches}
                for c in CONTRACTS
            ],
            "modes": [
                {
                    "mode": mode,
                    "first": first,
                    "last": last,
                    "position_bits": position_bits,
                    "fragment_bits": fragment_bits,
                }
                for mode, first, last, position_bits, fragment_bits in MODES
            ],
            "mode_bits": MODE_BITS,
            "hash_bits": HASH_BITS,
            "frames": [
                {"kind": kind, "fields": [list(f) for f in fields]} for kind, _, fields in FRAMES
            ],
            "max_tokens": MAX_TOKENS,
            "default_block_size": DEFAULT_BLOCK_SIZE,
        }

    def parse(self, params: Json, blob: bytes | None = None) -> tuple[Json, bytes]:
        """Token ids, one request, or several, from `text`; their packed tokens end to end.

        Takes a JSON list of ids, ids with commas or spaces between, a request's JSON, JSON lines
        of requests, or a JSON list of requests.
        """
        text = params["text"].lstrip("\ufeff")
        found = [_parse_one(value) for value in _values(text)]
        if len(found) > MAX_REQUESTS:
            raise FieldValueError(
                f"the text has {len(found)} requests; expected at most {MAX_REQUESTS}",
                field="requests",
                value=len(found),
                expected=f"at most {MAX_REQUESTS} requests",
            )
        return {"requests": [one for one, _ in found]}, b"".join(packed for _, packed in found)

    def put(self, params: Json, blob: bytes | None = None) -> Json:
        """Set request `id`; without `blob` its tokens stay. Nothing is kept of a bad one.

        `window`: the blocks whose rows come with the answer. `kept`: leading blocks that are
        the same as before.
        """
        name = params["id"]
        old = self._held.get(name)
        packed = blob if blob is not None else old.packed if old else b""
        _limit_tokens(len(packed) // PLAIN_SLOT_BYTES)
        request = Request(
            memoryview(packed).cast("I"),
            lora_name=params.get("lora_name"),
            salt=params.get("salt"),
            mm_info=[_run(run, i) for i, run in enumerate(params.get("mm_info") or ())],
            contract=Contract.named(params["contract"]),
        )
        held = Held(request, require_block_size(params["block_size"]))
        kept = held.hash(old)
        self._held[name] = held
        return {
            "id": name,
            "tokens": request.total_tokens,
            "blocks": held.blocks,
            "tail": request.total_tokens % held.block_size,
            "salt_hash": hex64(held.salt_hash),
            "mm_info": [
                {"mm_hash": hex64(run.mm_hash), "offset": run.offset, "length": run.length}
                for run in request.mm_info
            ],
            "kept": kept,
            "rows": held.rows(*params.get("window", (0, 0))),
        }

    def drop(self, params: Json, blob: bytes | None = None) -> Json:
        """Forget request `id`."""
        self._held.pop(params["id"], None)
        return {"id": params["id"]}

    def rows(self, params: Json, blob: bytes | None = None) -> Json:
        """Blocks `start` … `stop` - 1 of request `id`."""
        rows = self._held[params["id"]].rows(params["start"], params["stop"])
        return {"id": params["id"], "rows": rows}

    def block(self, params: Json, blob: bytes | None = None) -> Json:
        """Everything about block `position` of request `id`: bytes by frame, chain step, PLH bits.

        Frames of slots `first_slot` … `first_slot + slots` - 1 of the block only.
        """
        held = self._held[params["id"]]
        position, first = params["position"], params.get("first_slot", 0)
        count = min(params.get("slots", 64), held.block_size - first)
        (row,) = held.rows(position, position + 1)
        parent = held.sequence_hashes[position - 1] if position else None
        mode = int(row["plh"], 16) >> (HASH_BITS * 2 - MODE_BITS)
        chained = None
        if parent is not None:
            own = held.block_hashes[position]
            chained = (parent | own << HASH_BITS).to_bytes(16, "little").hex()
        payload, size = _payload(held, position)
        return {
            "id": params["id"],
            **row,
            "salt_hash": hex64(held.salt_hash),
            "byte_count": len(payload),
            "slot_bytes": size,
            "first_slot": first,
            "frames": _frames(payload, size, first, count),
            "parent": None if parent is None else hex64(parent),
            "chain_seed": hex64(held.request.contract.chain_seed),
            "chain_bytes": chained,
            "mode": mode,
            "fields": _fields(int(row["plh"], 16), mode),
            "lineage": _lineage(held, position),
        }

    def compare(self, params: Json, blob: bytes | None = None) -> Json:
        """The package's `compare` of two requests, called by the letters that the page has."""
        names = params["base"], params["against"]
        a, b = (self._held[name] for name in names)
        answer = compare(a.request, b.request, (a.block_size, b.block_size), names=names)
        return {"base": names[0], "against": names[1], **answer.to_dict()}

    def tree(self, params: Json, blob: bytes | None = None) -> Json:
        """The compressed prefix tree of requests `ids`, and what sharing saves."""
        return _tree(params["ids"], [self._held[name] for name in params["ids"]])

    def find(self, params: Json, blob: bytes | None = None) -> Json:
        """Where `text`, a hash in any notation, occurs in requests `ids`; see `identify`."""
        return _find(params["text"], {name: self._held[name] for name in params["ids"]})

    def export(self, params: Json, blob: bytes | None = None) -> Json:
        """Request `id` as text: `kind` is request, results, csv or python."""
        held = self._held[params["id"]]
        text = EXPORTS[params["kind"]](held)
        name = f"kvhash-{params['id']}-{held.request.contract.name}-bs{held.block_size}"
        return {"text": text, "name": name}

    def selftest(self, params: Json, blob: bytes | None = None) -> Json:
        """Known answers that travel with the package: how many were right, of how many."""
        return _selftest()


def fault(error: KvHashingError) -> Json:
    """An error as the page shows it: at its field and index, with what would be right."""
    answer: Json = {
        "kind": type(error).__name__,
        "message": str(error),
        "field": error.field,
        "index": error.index,
        "value": shown(error.value),
        "expected": error.expected,
    }
    for name in ("start", "stop"):
        if hasattr(error, name):
            answer[name] = getattr(error, name)
    return answer


def _limit_tokens(count: int) -> None:
    if count > MAX_TOKENS:
        raise FieldValueError(
            f"the request has {count} tokens; this page takes at most {MAX_TOKENS}",
            field="tokens",
            value=count,
            expected=f"at most {MAX_TOKENS} tokens",
        )


def _values(text: str) -> list[Any]:
    """The JSON values of a pasted text; bare ids become one list, lines of objects several."""
    stripped = text.strip()
    if stripped[:1] == "{" and "\n" in stripped:
        try:
            return [loads(stripped)]
        except KvHashingError as whole:
            lines = [line for line in stripped.splitlines() if line.strip()]
            if not all(line.lstrip().startswith("{") for line in lines):
                raise
            if not lines[0].rstrip().endswith("}"):
                raise whole from None
            return [loads(line) for line in lines]
    if stripped[:1] == "{":
        return [loads(stripped)]
    if stripped[:1] == "[":
        value = _located(text, lambda: loads(text))
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return list(value)
        return [_located(text, lambda: pack_tokens(value))]
    return [_located(text, lambda: pack_tokens(_bare_ids(stripped)))]


def _located(text: str, action: Callable[[], Any]) -> Any:
    """`action()`, its error with the characters of `text` that the bad token or place has."""
    try:
        return action()
    except KvHashingError as error:
        if error.field == "json" and error.index is not None:
            places = (error.index, error.index + 1)
        elif error.field == "tokens" and error.index is not None:
            piece = next((m for i, m in enumerate(_PIECE.finditer(text)) if i == error.index), None)
            if piece is None:
                raise
            places = piece.span()
        else:
            raise
        error.__dict__["start"], error.__dict__["stop"] = places
        raise


def _bare_ids(text: str) -> list[int]:
    pieces = _PIECE.findall(text)
    try:
        return list(map(int, pieces)) if text.isascii() and "_" not in text else _slow_ids(pieces)
    except ValueError:
        return _slow_ids(pieces)


def _slow_ids(pieces: list[str]) -> list[int]:
    ids = []
    for i, piece in enumerate(pieces):
        if not _NUMBER.fullmatch(piece) or not piece.isascii() or len(piece) > 40:
            raise FieldValueError(
                field="tokens", index=i, value=piece, expected="a token: an integer, 0 to 2^32 - 1"
            )
        ids.append(int(piece, 0 if piece[:2] in ("0x", "0X") else 10))
    return ids


def _parse_one(value: Any) -> tuple[Json, bytes]:
    if isinstance(value, bytes):
        count = len(value) // PLAIN_SLOT_BYTES
        _limit_tokens(count)
        return {"count": count, "given": ["tokens"]}, value
    request = Request.from_dict(value)
    _limit_tokens(request.total_tokens)
    return {
        "count": request.total_tokens,
        "given": sorted(key for key, item in value.items() if item is not None),
        "lora_name": request.lora_name or "",
        "salt": request.salt or "",
        "mm_info": [
            {"mm_hash": hex64(r.mm_hash), "offset": str(r.offset), "length": str(r.length)}
            for r in request.mm_info
        ],
        "contract": request.contract.name,
        "block_size": value.get("block_size"),
    }, request.packed


def _run(run: Json, i: int) -> RequestMmObjectInfo:
    """A run whose numbers were typed: decimal, or hex after 0x."""
    numbers = []
    for key in ("mm_hash", "offset", "length"):
        text = str(run[key]).strip()
        if not _NUMBER.fullmatch(text) or not text.isascii() or len(text) > 40:
            raise FieldValueError(
                field=f"mm_info.{key}", index=i, value=run[key], expected="a u64: digits, or 0x…"
            )
        numbers.append(int(text, 0 if text[:2] in ("0x", "0X") else 10))
    try:
        return RequestMmObjectInfo(*numbers)
    except KvHashingError as error:
        raise FieldValueError(
            field=f"mm_info.{error.field}", index=i, value=error.value, expected=error.expected
        ) from None


def _common_prefix(a: bytes, b: bytes) -> int:
    """Number of equal leading bytes, by slices that memcmp compares."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _common_suffix(a: bytes, b: bytes) -> int:
    """Number of equal trailing bytes of two texts of one length."""
    low, high = 0, len(a)
    if a == b:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[len(a) - middle : len(a) - low] == b[len(a) - middle : len(a) - low]:
            low = middle
        else:
            high = middle
    return low


def _first_run_difference(
    a: tuple[RequestMmObjectInfo, ...], b: tuple[RequestMmObjectInfo, ...]
) -> int:
    """The first slot that the runs of two requests may treat differently."""
    for i in range(max(len(a), len(b))):
        pair = [runs[i] for runs in (a, b) if i < len(runs)]
        if len(pair) < 2 or pair[0] != pair[1]:
            return min(run.offset for run in pair)
    return MAX_TOKENS


def _payload(held: Held, position: int) -> tuple[bytes, int]:
    """The bytes that block `position` hashes, and how many each slot has."""
    ((payload, block_bytes),) = block_segments(
        held.packed, held.block_size, held.request.mm_info, position, position + 1
    )
    return bytes(payload), block_bytes // held.block_size


def _frames(payload: bytes, size: int, first: int, count: int) -> list[Json]:
    """Slots of a block's bytes, read by the package's table of frames."""
    frames = []
    for slot in range(first, first + count):
        start = slot * size
        frame = payload[start : start + size]
        tag = None if size == PLAIN_SLOT_BYTES else frame[0]
        kind, _, layout = next(row for row in FRAMES if row[1] == tag)
        fields, at = [], 0
        for name, width in layout:
            number = int.from_bytes(frame[at : at + width], "little")
            text = hex64(number) if name == "mm_hash" else str(number)
            fields.append({"name": name, "hex": frame[at : at + width].hex(), "value": text})
            at += width
        frames.append({"slot": slot, "start": start, "kind": kind, "fields": fields})
    return frames


def _fields(plh: int, mode: int) -> list[Json]:
    """The fields of a PLH's 128 bits from the top, read by the package's table of modes."""
    _, _, _, position_bits, fragment_bits = MODES[mode]
    layout = (
        ("mode", MODE_BITS),
        ("position", position_bits),
        ("sequence_hash", HASH_BITS),
        ("parent_fragment", fragment_bits),
    )
    fields, high = [], HASH_BITS * 2
    for name, width in layout:
        low = high - width
        value = plh >> low & ((1 << width) - 1)
        digits = -(-width // 4)
        fields.append(
            {
                "name": name,
                "high": high - 1,
                "low": low,
                "width": width,
                "hex": f"0x{value:0{digits}x}",
                "value": str(value),
                "bits": f"{value:0{width}b}",
            }
        )
        high = low
    return fields


def _lineage(held: Held, position: int, before: int = 3, after: int = 1) -> list[Json]:
    """Rows around `position`, each with the fragment that its child carries of it."""
    rows = held.rows(position - before, position + after + 1)
    for row in rows:
        child = row["position"] + 1
        row["fragment"], row["fragment_bits"] = None, 0
        if child < held.blocks:
            (fragment_bits,) = (bits for _, low, high, _, bits in MODES if low <= child <= high)
            value = held.sequence_hashes[row["position"]] & ((1 << fragment_bits) - 1)
            row["fragment"], row["fragment_bits"] = hex64(value), fragment_bits
    return rows


def _tokens_text(held: Held) -> str:
    return ", ".join(map(str, held.request.tokens))


def _export_request(held: Held) -> str:
    value = {**held.request.to_dict(), "block_size": held.block_size}
    return json.dumps(value, ensure_ascii=False) + "\n"


def _export_results(held: Held) -> str:
    return json.dumps(hash_report(held.request, held.block_size), indent=1) + "\n"


def _export_csv(held: Held) -> str:
    lines = ["contract,block_size,position,block_hash,sequence_hash,plh,plh_text"]
    head = f"{held.request.contract.name},{held.block_size}"
    lines += [
        f"{head},{r['position']},{r['block_hash']},{r['sequence_hash']},{r['plh']},{r['plh_text']}"
        for r in held.rows(0, held.blocks)
    ]
    return "\r\n".join(lines) + "\r\n"


def _export_python(held: Held) -> str:
    request = held.request
    parts = [f"    [{_tokens_text(held)}],"]
    if request.lora_name:
        parts.append(f"    lora_name={request.lora_name!r},")
    if request.salt:
        parts.append(f"    salt={request.salt!r},")
    if request.mm_info:
        parts.append("    mm_info=[")
        parts += [f"        {run!r}," for run in request.mm_info]
        parts.append("    ],")
    parts.append(f"    contract=Contract.named({request.contract.name!r}),")
    names = "Contract, Request, RequestMmObjectInfo" if request.mm_info else "Contract, Request"
    lines = [
        f"# kvhash_pure {kvhash_pure.__version__}, contract {request.contract.name}, "
        f"block size {held.block_size}",
        f"from kvhash_pure import {names}",
        "",
        "request = Request(",
        *parts,
        ")",
        f"blocks = request.into_blocks({held.block_size})",
        "for block in blocks:",
        "    print(block.position, hex(block.block_hash), hex(block.sequence_hash), block.plh)",
    ]
    if held.blocks:
        (last,) = held.rows(held.blocks - 1, held.blocks)
        lines.append(f"assert int(blocks[-1].plh) == {last['plh']}")
    return "\n".join(lines) + "\n"


EXPORTS: dict[str, Callable[[Held], str]] = {
    "request": _export_request,
    "results": _export_results,
    "csv": _export_csv,
    "python": _export_python,
}


def _tree(names: list[str], held: list[Held]) -> Json:
    """`prefix_groups` with the page's letters for its indices."""
    size = held[0].block_size
    tree = prefix_groups([one.request for one in held], size).to_dict()
    edges = tree["edges"]
    assert isinstance(edges, list)
    for edge in edges:
        for key in ("requests", "ends"):
            edge[key] = [names[i] for i in edge[key]]
    without = tree["without_blocks"]
    assert isinstance(without, list)
    return {**tree, "names": names, "without_blocks": [names[i] for i in without]}


# Tokens times ways of hashing that one search may cost: a few seconds in a browser.
_SEARCH_BUDGET = 4_000_000
_LIKELY_SIZES = (16, 64, 32, 128, 1, 256, 8, 512, 4, 1024, 2, 2048, 4096)


def _find(text: str, held: dict[str, Held]) -> Json:
    """`identify` in each of the page's requests, and every PLH that the text can be, decoded.

    First at the page's block size, then, where that finds nothing, at as many others as the
    budget allows.
    """
    answers: list[tuple[str, Any]] = []
    for sizes_of in (lambda one: [one.block_size], _affordable_sizes(held)):
        answers = [
            (name, identify(one.request, text, block_sizes=sizes_of(one)).to_dict())
            for name, one in held.items()
        ]
        if any(answer["matches"] for _, answer in answers):
            break
    matches = [
        {"id": name, **_match(match, held[name])}
        for name, answer in answers
        for match in answer["matches"]
    ]
    matches.sort(key=lambda match: not match["here"])
    here = [match for match in matches if match["here"]]
    sizes = sorted({size for _, answer in answers for size in answer["tried"]["block_sizes"]})
    if here:
        kinds = " and the ".join(sorted({match["kind_text"] for match in here}))
        positions = sorted({match["position"] for match in here})
        places = f"block{'s' if len(positions) > 1 else ''} {', '.join(map(str, positions[:5]))}"
        letters = ", ".join(dict.fromkeys(match["id"] for match in here))
        sentence = f"It is the {kinds} of {places} in {letters}."
    elif matches:
        sentence = "No hash of the requests as they are, but one of theirs under other rules:"
    else:
        where = ", ".join(map(str, sizes))
        sentence = f"It is no hash of these requests under any contract, at block sizes {where}."
    decoded = [
        _decoded(int(reading["value"], 16))
        for seen in (answers[0][1]["observed"] if answers else ())
        for reading in seen["readings"]
        if reading["plh"] is not None
    ]
    return {
        "sentence": sentence,
        "matches": matches[:40],
        "decoded": decoded[0] if decoded else None,
        "block_sizes": sizes,
    }


def _affordable_sizes(held: dict[str, Held]) -> Callable[[Held], list[int]]:
    def sizes(one: Held) -> list[int]:
        request = one.request
        ways = 2 << sum(map(bool, (request.salt, request.lora_name, request.mm_info)))
        cost = len(held) * ways * max(1, request.total_tokens)
        likely = dict.fromkeys((one.block_size, *_LIKELY_SIZES))
        return list(likely)[: max(1, _SEARCH_BUDGET // cost)]

    return sizes


_KINDS = {"block_hash": "block hash", "sequence_hash": "sequence hash", "plh": "PLH"}


def _match(match: Json, held: Held) -> Json:
    changes = []
    if match["contract"] != held.request.contract.name:
        changes.append(f"contract {match['contract']}")
    if match["block_size"] not in (None, held.block_size):
        changes.append(f"block size {match['block_size']}")
    for field, word in (("salt", "salt"), ("lora_name", "LoRA name")):
        if match[field] == "left_out":
            changes.append(f"without the {word}")
    if match["mm_info"] in ("ignored", "left_out"):
        changes.append("without the runs")
    keys = ("kind", "block_size", "position", "contract", "sentence", "value")
    return {
        **{key: match[key] for key in keys},
        "kind_text": _KINDS.get(match["kind"], match["kind"].replace("_", " ")),
        "here": not changes,
        "note": "under " + ", ".join(changes) if changes else "",
    }


def _decoded(value: int) -> Json:
    plh = PositionalLineageHash.from_u128(value)
    return {"plh": hex128(value), "plh_text": str(plh), "fields": _fields(value, plh.mode)}


def _selftest() -> Json:
    checks, failures = selftest.run()
    return {"passed": checks - len(failures), "total": checks, "failures": failures}
