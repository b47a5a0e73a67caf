"""A request: what determines its keys, validated when built, immutable after.

The four projections (block hashes, sequence hashes, PLHs, blocks) each hash from the packed
tokens. FORMAT.md, "Request" and "JSON".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import unpack

from .blocks import UniversalBlock, block_hashes, lineage_hashes, make_blocks
from .contract import DOCUMENTED, Contract, require_contract
from .encoding import block_segments, pack_tokens
from .errors import FieldTypeError, UnknownFieldError, require_block_size, require_text, shown
from .kernel import chain_blocks, hash_and_chain
from .lineage import PositionalLineageHash, require_block_count
from .multimodal import RequestMmObjectInfo, validate_and_sort_mm_info
from .strict_json import hex64, u64_from_json
from .values import Frozen, restore, set_field

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from .encoding import Tokens

_REQUEST_KEYS = ("tokens", "lora_name", "salt", "mm_info", "contract", "block_size")
_NO_RUNS: tuple[RequestMmObjectInfo, ...] = ()
_RUN_KEYS = ("mm_hash", "offset", "length")


class Request(Frozen):
    """Tokens and all else that goes into their keys.

    `tokens`: u32 each, any iterable of ints or a buffer of integers. `lora_name`, `salt`: text
    or None; "" counts as absent; no Unicode normalisation. `mm_info`: runs of placeholder slots,
    any order. `contract` says which rules make the hashes. Raises KvHashingError kinds that name
    field, index and value. Keeps the tokens as `packed`: 4 bytes each, little-endian.

    >>> request = Request(range(40), lora_name="adapter-a")
    >>> [str(plh) for plh in request.positional_lineage_hashes(16)]
    ['0:MYTWX7wcUKS', '1:Qyjds9qW4c8:1dSZXvpLEC']
    """

    __slots__ = ("_tokens", "contract", "lora_name", "mm_info", "packed", "salt")
    _fields = ("packed", "lora_name", "salt", "mm_info", "contract")
    packed: bytes
    _tokens: tuple[int, ...]
    lora_name: str | None
    salt: str | None
    mm_info: tuple[RequestMmObjectInfo, ...]
    contract: Contract

    def __init__(
        self,
        tokens: Tokens,
        *,
        lora_name: str | None = None,
        salt: str | None = None,
        mm_info: Iterable[RequestMmObjectInfo] | None = _NO_RUNS,
        contract: Contract = DOCUMENTED,
    ) -> None:
        packed = pack_tokens(tokens)
        lora_name = require_text(lora_name, "lora_name")
        salt = require_text(salt, "salt")
        if mm_info is not _NO_RUNS:  # else valid, and a short prompt is spared the search
            mm_info = validate_and_sort_mm_info(mm_info, len(packed) // 4)
        contract = require_contract(contract)
        # In a row: with calls between them, PyPy does not compile the setters.
        _set_packed(self, packed)
        _set_lora_name(self, lora_name)
        _set_salt(self, salt)
        _set_mm_info(self, mm_info)
        _set_contract(self, contract)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens as given (what stands at placeholder slots is kept, though not hashed)."""
        try:
            return self._tokens
        except AttributeError:  # unpacked on demand: a hashing program never asks
            set_field(self, "_tokens", unpack(f"<{self.total_tokens}I", self.packed))
            return self._tokens

    @property
    def total_tokens(self) -> int:
        """Number of slots, placeholders included."""
        return len(self.packed) // 4

    def under(self, contract: Contract) -> Request:
        """The same request under another contract: every hash differs."""
        values = dict(zip(self._fields, self._key()), contract=require_contract(contract))
        return restore(Request, tuple(values.values()))

    def salt_hash(self) -> int:
        """The u64 that seeds every block hash."""
        return self.contract.salt_hash(self.salt, self.lora_name)

    def block_hashes(self, block_size: int) -> list[int]:
        """Content hash (u64) of each full block of `block_size` slots, 1 … 2^32 - 1.

        Raises PositionOverflowError, before anything is hashed, above 2^24 blocks.
        """
        size = require_block_size(block_size)
        blocks = require_block_count(self.total_tokens // size)
        return block_hashes(self.packed, size, self.mm_info, self.salt_hash(), 0, blocks)

    def sequence_hashes(self, block_size: int) -> list[int]:
        """Lineage hash (u64) of each full block; see `block_hashes`."""
        return chain_blocks(*self._work(block_size))

    def _work(self, block_size: int) -> tuple[Sequence[tuple[bytes | bytearray, int]], int, int]:
        """What the kernel hashes and chains, the salt hash and the chain seed."""
        size = require_block_size(block_size)
        blocks = require_block_count(len(self.packed) // (4 * size))
        segments = block_segments(self.packed, size, self.mm_info, 0, blocks)
        return segments, self.salt_hash(), self.contract.chain_seed

    def positional_lineage_hashes(self, block_size: int) -> list[PositionalLineageHash]:
        """PLH of each full block; see `block_hashes`."""
        return lineage_hashes(self.sequence_hashes(block_size), self.contract)

    def into_blocks(self, block_size: int) -> list[UniversalBlock]:
        """Block hash and PLH of each full block; see `block_hashes`. The request is not used up."""
        hashes, sequence_hashes = hash_and_chain(*self._work(block_size))
        return make_blocks(hashes, self.contract, sequence_hashes=sequence_hashes)

    @staticmethod
    def builder() -> RequestBuilder:
        """The original's way to build one, field by field."""
        return RequestBuilder()

    @classmethod
    def from_dict(cls, value: object) -> Request:
        """The request of its JSON form (FORMAT.md, "JSON").

        A `block_size` in it is checked and left to `jsonform.load_request`: a request has none.
        """
        fields = _object(value, "request", _REQUEST_KEYS, required=("tokens",))
        if "block_size" in fields:
            require_block_size(fields["block_size"])
        tokens, runs = fields["tokens"], fields.get("mm_info")
        if runs is not None and not isinstance(runs, (list, tuple)):
            raise FieldTypeError(field="mm_info", value=runs, expected="a list of runs")
        name = fields.get("contract", DOCUMENTED.name)
        return cls(
            tokens,  # type: ignore[arg-type]
            lora_name=fields.get("lora_name"),  # type: ignore[arg-type]
            salt=fields.get("salt"),  # type: ignore[arg-type]
            mm_info=[_run(run, i) for i, run in enumerate(runs or ())],
            contract=Contract.named(name),  # type: ignore[arg-type]
        )

    def to_dict(self) -> dict[str, object]:
        """The JSON form; `from_dict` gives the same request back."""
        return {
            "tokens": list(self.tokens),
            "lora_name": self.lora_name,
            "salt": self.salt,
            "mm_info": [
                {"mm_hash": hex64(run.mm_hash), "offset": run.offset, "length": run.length}
                for run in self.mm_info
            ],
            "contract": self.contract.name,
        }

    def __repr__(self) -> str:
        given = [f"Request({list(self.tokens)!r}"]
        for name, value in zip(self._fields[1:], self._key()[1:]):
            if value not in (None, (), DOCUMENTED):
                given.append(f"{name}={value!r}")
        return ", ".join(given) + ")"


# As in `blocks`.
_set_packed, _set_lora_name, _set_salt, _set_mm_info, _set_contract = (
    getattr(Request, name).__set__ for name in Request._fields
)


class RequestBuilder:
    """Setters that return the builder, then `build()`; the last call of a setter wins."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}

    def tokens(self, tokens: Tokens) -> RequestBuilder:
        """Required."""
        return self._with("tokens", tokens)

    def lora_name(self, lora_name: str | None) -> RequestBuilder:
        """Name of the adapter; "" counts as absent."""
        return self._with("lora_name", lora_name)

    def salt(self, salt: str | None) -> RequestBuilder:
        """Separates caches; "" counts as absent."""
        return self._with("salt", salt)

    def mm_info(self, mm_info: Iterable[RequestMmObjectInfo]) -> RequestBuilder:
        """All runs of the request, in any order."""
        return self._with("mm_info", mm_info)

    def contract(self, contract: Contract) -> RequestBuilder:
        """`DOCUMENTED` where it is not called."""
        return self._with("contract", contract)

    def build(self) -> Request:
        """The request; UnknownFieldError if `tokens` was never called."""
        if "tokens" not in self._values:
            raise _missing("tokens", "request")
        return Request(**self._values)  # type: ignore[arg-type]

    def _with(self, field: str, value: object) -> RequestBuilder:
        # A second build would find an iterator used up, and hash nothing.
        self._values[field] = list(value) if isinstance(value, Iterator) else value
        return self


def _missing(key: str, what: str, index: int | None = None) -> UnknownFieldError:
    message = f"{what} has no {key!r}; expected it to be there"
    return UnknownFieldError(message, field=key, index=index, expected=f"{key!r} in the {what}")


def _object(
    value: object,
    what: str,
    keys: tuple[str, ...],
    required: tuple[str, ...],
    at: int | None = None,
) -> dict[str, object]:
    if not isinstance(value, dict):
        raise FieldTypeError(field=what, index=at, value=value, expected="a JSON object")
    where = what if at is None else f"{what}[{at}]"
    for key in value:
        if key not in keys:
            expected = f"only {', '.join(keys)}"
            message = f"{where} has the unknown key {shown(key)}; expected {expected}"
            name = key if isinstance(key, str) else shown(key)
            raise UnknownFieldError(message, field=name, index=at, value=key, expected=expected)
    for key in required:
        if key not in value:
            raise _missing(key, where, at)
    return value


def _run(value: object, i: int) -> RequestMmObjectInfo:
    fields = _object(value, "mm_info", _RUN_KEYS, required=_RUN_KEYS, at=i)
    return RequestMmObjectInfo(*(u64_from_json(fields[k], f"mm_info.{k}", i) for k in _RUN_KEYS))
