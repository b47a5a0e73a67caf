"""The contracts: which salt hash and which chain seed a key is made with (FORMAT.md, "Contracts").

The original's document and its released binaries differ. Both are rows of one table here, and
there is no unnamed third: a value made under one contract never equals a value of another.
Frames, PLH layout, text and bytes are the same in all rows and do not live here.
"""

from __future__ import annotations

from functools import lru_cache

from .errors import FieldTypeError, FieldValueError, require_text
from .kernel import xxh3_64
from .values import Frozen, set_field

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Optional

    _Derive = Callable[[Optional[str], Optional[str]], int]

_U64 = 0xFFFFFFFFFFFFFFFF
# Few tenants and adapters send many requests. Made anew for each, these hashes took 13 % of 200
# tokens' time on CPython and more than half on PyPy. The texts are exact str (`require_text`).
_cached = lru_cache(maxsize=256)

# serde_json escapes these and nothing else; bytes above 0x7E stay as they are.
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)}
_JSON_ESCAPES.update(
    {0x22: '\\"', 0x5C: "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
)


@_cached
def _salt_hash_json(salt: str | None, lora_name: str | None) -> int:
    """`x(JSON, 0)` over the fields that are there, in the order salt, lora_name, no spaces."""
    fields = [
        f'"{name}":"{text.translate(_JSON_ESCAPES)}"'
        for name, text in (("salt", salt), ("lora_name", lora_name))
        if text
    ]
    return xxh3_64(("{" + ",".join(fields) + "}").encode("utf-8"), 0)


@_cached
def _salt_hash_sum(salt: str | None, lora_name: str | None) -> int:
    """`1337 + x(lora_name, 0) + x(salt, 1)` mod 2^64, a term only if its string is there."""
    total = 1337
    if lora_name:
        total += xxh3_64(lora_name.encode("utf-8"), 0)
    if salt:
        total += xxh3_64(salt.encode("utf-8"), 1)
    return total & _U64


class Contract(Frozen):
    """One row of the table: how salt and chain are seeded.

    `name` is what JSON, URLs and the command line call it; `chain_seed` is the u64 seed of
    `sequence_hash[i]`, i > 0; `matches` says in words what the contract agrees with.
    """

    __slots__ = ("_derive", "_unsalted", "chain_seed", "matches", "name")
    _fields = ("name", "chain_seed", "matches", "_derive")
    name: str
    chain_seed: int
    matches: str
    _derive: _Derive
    _unsalted: int

    def __init__(self, name: str, chain_seed: int, matches: str, derive: _Derive) -> None:
        super().__init__(name=name, chain_seed=chain_seed, matches=matches, _derive=derive)
        set_field(self, "_unsalted", derive(None, None))

    def salt_hash(self, salt: str | None = None, lora_name: str | None = None) -> int:
        """The u64 that seeds every block hash of a request; "" counts as absent.

        >>> hex(DYNAMO_1_3.salt_hash())
        '0x539'
        """
        if salt is None and lora_name is None:
            return self._unsalted
        salt = require_text(salt, "salt")
        lora_name = require_text(lora_name, "lora_name")
        if not salt and not lora_name:
            return self._unsalted
        return self._derive(salt, lora_name)

    @staticmethod
    def named(name: str) -> Contract:
        """The contract of that name; FieldValueError names the known ones otherwise."""
        if isinstance(name, str) and name in _BY_NAME:
            return _BY_NAME[name]
        problem = FieldValueError if isinstance(name, str) else FieldTypeError
        expected = f"one of {', '.join(map(repr, _BY_NAME))}"
        raise problem(field="contract", value=name, expected=expected)

    def __repr__(self) -> str:
        return f"Contract.named({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Contract.named, (self.name,))


DOCUMENTED = Contract("documented", 0, "the crate's README up to 1.4.0", _salt_hash_json)
DYNAMO_1_3 = Contract(
    "dynamo-1.3", 1337, "what Dynamo ships since 1.3.0 (checked up to 1.6.1)", _salt_hash_sum
)
CONTRACTS = (DOCUMENTED, DYNAMO_1_3)
_BY_NAME = {row.name: row for row in CONTRACTS}


def require_contract(value: object) -> Contract:
    """`value` if it is one of CONTRACTS, else an error (a name is not silently looked up).

    A row that somebody made would go by its name alone in JSON and in pickles, and come back as
    another.
    """
    if value is DOCUMENTED:  # nearly always; a short request feels the rest
        return DOCUMENTED
    if not isinstance(value, Contract) or _BY_NAME.get(value.name) is not value:
        expected = "a Contract: DOCUMENTED, DYNAMO_1_3 or Contract.named(…)"
        raise FieldTypeError(field="contract", value=value, expected=expected)
    return value


def compute_salt_hash(
    salt: str | None, lora_name: str | None, *, contract: Contract = DOCUMENTED
) -> int:
    """The salt hash of a request under `contract` (the original's name for it)."""
    return require_contract(contract).salt_hash(salt, lora_name)


def compute_salt_hash_from_bytes(payload: bytes) -> int:
    """`x(payload, 0)`: the salt hash of a payload that was serialised elsewhere."""
    return xxh3_64(payload, 0)
