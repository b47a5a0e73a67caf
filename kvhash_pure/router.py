"""The router's hashes of the same blocks, and all names of a block side by side.

Drop-in for the pure functions of Dynamo's binding (FORMAT.md, "Router"). The router's tree is
`router_tree`; there are no events and no wire formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from struct import pack

from .blocks import UniversalBlock
from .contract import CONTRACTS, DYNAMO_1_3
from .encoding import pack_tokens
from .errors import (
    FieldTypeError,
    FieldValueError,
    UnknownFieldError,
    require_block_size,
    require_text,
)
from .kernel import chain, hash_blocks, xxh3_64
from .request import Request
from .router_tree import RouterRadixTree as RouterRadixTree
from .router_tree import RouterRangeError, items_of, router_hashes, router_uint
from .strict_json import HEX_DIGITS, hex64, hex128
from .values import Frozen

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Optional

    from .encoding import Tokens

    MmInfos = Optional[Iterable[Optional[Mapping[str, object]]]]

ROUTER_SEED = DYNAMO_1_3.chain_seed


def compute_block_hash_for_seq(
    tokens: Tokens,
    kv_block_size: int,
    block_mm_infos: MmInfos = None,
    lora_name: str | None = None,
    is_eagle: bool | None = None,
    cache_namespace: str | None = None,
) -> list[int]:
    """The router's local hash (u64) of each full window of `kv_block_size` tokens.

    Not chained. `block_mm_infos`: None or `{"mm_objects": [{"mm_hash": u64}, …]}` for each block;
    their order and offsets do not matter, a missing rest is None. `is_eagle`: windows have one
    token more, their stride stays. Takes the tokens that `Request` takes. Raises KvHashingError
    kinds that are what the binding raises too: ValueError, OverflowError, TypeError; a block size
    of 2^32 or more, which the binding cuts to 32 bits, is refused.

    >>> compute_block_hash_for_seq([1, 2, 3, 4, 5], 4)
    [14643705804678351452]
    """
    try:
        packed = pack_tokens(tokens)
        size = require_block_size(kv_block_size, "kv_block_size")
    except FieldValueError as error:
        if error.value == 0:  # the block size: the binding's ValueError
            raise
        raise RouterRangeError(
            field=error.field, index=error.index, value=error.value, expected=error.expected
        ) from None
    objects = _mm_hashes(block_mm_infos)
    lora_name = require_text(lora_name, "lora_name")
    if not isinstance(is_eagle, (bool, type(None))):
        raise FieldTypeError(field="is_eagle", value=is_eagle, expected="True, False or None")
    seed = DYNAMO_1_3.salt_hash(require_text(cache_namespace, "cache_namespace"), lora_name)
    return _local_hashes(packed, size, size + bool(is_eagle), objects, seed)


def _local_hashes(
    packed: bytes, size: int, width: int, objects: list[bytes], seed: int
) -> list[int]:
    """Hashes of windows of `width` tokens and their objects' bytes; trusts its input."""
    count = max(0, (len(packed) // 4 - width) // size + 1)
    step, span, objects = 4 * size, 4 * width, objects[:count]
    if not count:  # the kernel prepares for the length of a window: up to 16 GiB of it
        return []
    if width == size and not any(objects):
        return hash_blocks(packed[: step * count], span, seed)
    objects += [b""] * (count - len(objects))
    windows = (packed[step * i : step * i + span] + more for i, more in enumerate(objects))
    result: list[int] = []
    for length, group in groupby(windows, len):  # neighbours of one length: one call of the kernel
        result += hash_blocks(b"".join(group), length, seed)
    return result


def _mm_hashes(infos: MmInfos) -> list[bytes]:
    """For each block the mm_hash values of its objects, ascending, as u64 LE; checks all of it."""
    if infos is None:
        return []
    field, inner = "block_mm_infos", "block_mm_infos.mm_objects"
    result = []
    for i, info in enumerate(items_of(infos, field, "a list, None or mm_objects a block")):
        listed = [] if info is None else _entry(info, "mm_objects", field, i)
        values = [
            _entry(item, "mm_hash", inner, i) for item in items_of(listed, inner, "a list", i)
        ]
        hashes = sorted(router_uint(value, f"{inner}.mm_hash", i) for value in values)
        result.append(pack(f"<{len(hashes)}Q", *hashes))
    return result


def _entry(value: object, key: str, field: str, index: int) -> object:
    if not isinstance(value, Mapping):
        raise FieldTypeError(field=field, index=index, value=value, expected=f"a dict with {key!r}")
    if key not in value:
        raise UnknownFieldError(field=field, index=index, value=value, expected=f"a {key!r} in it")
    return value[key]


def compute_seq_hash_for_block(local_hashes: Iterable[int]) -> list[int]:
    """The router's sequence hashes (u64): the first local hash, then each hashed after its
    predecessor, always with seed 1337, whatever the adapter or the namespace.
    """
    return chain(router_hashes(local_hashes, "local_hashes"), ROUTER_SEED)


def hash_mm_identifier(text: str) -> int | None:
    """The u64 for a multimodal object's identifier; None for "".

    64 ASCII hex digits give their first 16, big-endian; any other text `x(UTF-8, 0)`.
    """
    if require_text(text, "text") is None:
        raise FieldTypeError(field="text", value=text, expected="a str")
    if len(text) == 64 and not text.strip(HEX_DIGITS):
        return int(text[:16], 16)
    return xxh3_64(text.encode("utf-8"), 0) if text else None


def _require_request(value: object) -> Request:
    if not isinstance(value, Request):
        raise FieldTypeError(field="request", value=value, expected="a Request")
    return value


def block_mm_infos_from_runs(request: Request, block_size: int) -> list[dict[str, object] | None]:
    """`block_mm_infos` of a request's runs: an entry for each block, the tail included.

    In one block an object counts once, however many of its runs are there; `offsets` are pairs
    [start, end) within the block.
    """
    runs, size = _require_request(request).mm_info, require_block_size(block_size)
    found: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for run in runs:
        for i in range(run.offset // size, (run.end - 1) // size + 1):
            span = max(run.offset - i * size, 0), min(run.end - i * size, size)
            found.setdefault(i, {}).setdefault(run.mm_hash, []).append(span)
    infos: list[dict[str, object] | None] = [None] * -(-request.total_tokens // size)
    for i, spans in found.items():
        infos[i] = {"mm_objects": [{"mm_hash": k, "offsets": v} for k, v in spans.items()]}
    return infos


# The names of a block's numbers, in the order of `BlockRepresentations.to_dict`.
HASH_NAMES = (
    *(f"{row.name}.{kind}" for row in CONTRACTS for kind in ("block_hash", "sequence_hash")),
    "router.local_hash",
    "router.sequence_hash",
)
REPRESENTATION_NAMES = (
    "position",
    *HASH_NAMES,
    *(f"{row.name}.{kind}" for row in CONTRACTS for kind in ("plh", "plh_text")),
    "agree",
)


class BlockRepresentations(Frozen):
    """One block under all its names. `blocks`: as each of CONTRACTS makes it, in that order."""

    __slots__ = ("blocks", "router_local_hash", "router_sequence_hash")
    _fields = ("blocks", "router_local_hash", "router_sequence_hash")
    blocks: tuple[UniversalBlock, ...]
    router_local_hash: int
    router_sequence_hash: int

    @property
    def position(self) -> int:
        """Index of the block in its request."""
        return self.blocks[0].position

    @property
    def hashes(self) -> dict[str, int]:
        """The 64-bit hashes by their names in HASH_NAMES."""
        own = (value for b in self.blocks for value in (b.block_hash, b.sequence_hash))
        return dict(zip(HASH_NAMES, (*own, self.router_local_hash, self.router_sequence_hash)))

    @property
    def agree(self) -> list[list[str]]:
        """Which names say the same number: groups of at least two."""
        groups: dict[int, list[str]] = {}
        for name, value in self.hashes.items():
            groups.setdefault(value, []).append(name)
        return [names for names in groups.values() if len(names) > 1]

    def to_dict(self) -> dict[str, object]:
        """For JSON: REPRESENTATION_NAMES and their values, hashes as fixed-width hex."""
        plhs = (text for b in self.blocks for text in (hex128(int(b.plh)), str(b.plh)))
        values = (self.position, *map(hex64, self.hashes.values()), *plhs, self.agree)
        return dict(zip(REPRESENTATION_NAMES, values))


def representations(request: Request, block_size: int) -> list[BlockRepresentations]:
    """Each full block of a request as both contracts and the router know it.

    The request's own contract does not matter. The router's namespace is the salt, its objects are
    the runs', its tokens those of the request, also where placeholders stand.
    """
    size = require_block_size(block_size)
    rows = [_require_request(request).under(contract).into_blocks(size) for contract in CONTRACTS]
    objects = _mm_hashes(block_mm_infos_from_runs(request, size))
    seed = DYNAMO_1_3.salt_hash(request.salt, request.lora_name)
    local = _local_hashes(request.packed, size, size, objects, seed)
    named = zip(zip(*rows), local, chain(local, ROUTER_SEED))
    return [
        BlockRepresentations(blocks=blocks, router_local_hash=one, router_sequence_hash=other)
        for blocks, one, other in named
    ]
