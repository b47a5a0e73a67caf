"""Contracts: one table, each row checked against numbers made without us."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    FieldTypeError,
    FieldValueError,
    Request,
    compute_salt_hash,
    compute_salt_hash_from_bytes,
)
from kvhash_pure.contract import CONTRACTS
from tests import reference
from tests.helpers import rejected
from tests.vectors import Case, cases, expand_text, load


def test_the_table_of_contracts() -> None:
    """Two rows, named, and the documented one is the default of the package."""
    assert [(row.name, row.chain_seed) for row in CONTRACTS] == [
        ("documented", 0),
        ("dynamo-1.3", 1337),
    ]
    assert CONTRACTS == (DOCUMENTED, DYNAMO_1_3)
    assert "README" in DOCUMENTED.matches
    assert "1.3.0" in DYNAMO_1_3.matches


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
def test_a_contract_is_found_by_its_name(contract: Contract) -> None:
    assert Contract.named(contract.name) is contract
    assert eval(repr(contract), {"Contract": Contract}) is contract


@pytest.mark.parametrize("name", ["", "Documented", "dynamo", "dynamo-1.4", "documented "])
def test_an_unknown_name_is_an_error_that_lists_the_known(name: str) -> None:
    with rejected(FieldValueError, "contract", value=name):
        Contract.named(name)
    with pytest.raises(FieldValueError, match=r"'documented', 'dynamo-1\.3'"):
        Contract.named(name)


@pytest.mark.parametrize("name", [None, 0, b"documented", DOCUMENTED])
def test_a_name_is_text(name: Any) -> None:
    with rejected(FieldTypeError, "contract", value=name):
        Contract.named(name)


def test_contracts_are_values() -> None:
    assert DOCUMENTED != DYNAMO_1_3
    assert DOCUMENTED != "documented"
    assert len({DOCUMENTED, DYNAMO_1_3, Contract.named("documented")}) == 2
    for row in CONTRACTS:
        assert pickle.loads(pickle.dumps(row)) is row
        assert copy.deepcopy(row) is row
        with pytest.raises(AttributeError, match="immutable"):
            row.chain_seed = 5
        with pytest.raises(AttributeError, match="immutable"):
            del row.chain_seed


@pytest.mark.parametrize("case", cases("salts.json"), ids=lambda case: case["name"])
def test_salt_hashes_are_the_known_ones(case: Case) -> None:
    """Both derivations, for every kind of string: escapes, controls, other scripts, lengths."""
    salt, lora_name = expand_text(case["salt"]), expand_text(case["lora_name"])
    for contract in CONTRACTS:
        expected = int(case[contract.name], 16)
        assert contract.salt_hash(salt, lora_name) == expected
        assert compute_salt_hash(salt, lora_name, contract=contract) == expected
    payload = reference.salt_payload(salt, lora_name)
    assert compute_salt_hash_from_bytes(payload) == int(case["documented"], 16)


@pytest.mark.parametrize("case", load("dynamo_binaries.json")["salt_hash"])
def test_dynamos_binaries_give_the_same_salt_hashes(case: Case) -> None:
    assert DYNAMO_1_3.salt_hash(case["salt"], case["lora_name"]) == int(case["hash"], 16)


def test_no_salt_at_all() -> None:
    """An empty string counts as absent; absent is not zero in either contract."""
    for nothing in ((None, None), ("", ""), (None, ""), ("", None)):
        assert DOCUMENTED.salt_hash(*nothing) == 0x1349CDE127705C16
        assert DYNAMO_1_3.salt_hash(*nothing) == 1337
    assert DOCUMENTED.salt_hash() == compute_salt_hash(None, None) == 0x1349CDE127705C16


def test_salt_and_lora_name_are_not_exchangeable() -> None:
    for contract in CONTRACTS:
        assert contract.salt_hash("a", "b") != contract.salt_hash("b", "a")
        assert contract.salt_hash("a", None) != contract.salt_hash(None, "a")


def test_no_unicode_normalisation() -> None:
    """Two spellings of é are two salts: whoever wants one normalises before."""
    for contract in CONTRACTS:
        assert contract.salt_hash("\u00e9") != contract.salt_hash("e\u0301")


@pytest.mark.parametrize("field", ["salt", "lora_name"])
def test_text_that_has_no_utf8(field: str) -> None:
    for contract in CONTRACTS:
        with rejected(FieldValueError, field, value="x\ud800", index=1):
            contract.salt_hash(**{field: "x\ud800"})
        with rejected(FieldTypeError, field, value=b"x"):
            contract.salt_hash(**{field: b"x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["documented", None, 0])
def test_a_contract_is_never_guessed_from_something_else(name: Any) -> None:
    """The silent default would be another hash; a name has to go through Contract.named."""
    with rejected(FieldTypeError, "contract", value=name):
        compute_salt_hash("a", None, contract=name)


class Odd(str):
    """Text that says to be another."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("tenant-a")

    def __str__(self) -> str:
        return "tenant-a"

    def encode(self, *_: object) -> bytes:
        return b"tenant-a"

    def translate(self, *_: object) -> str:
        return "tenant-a"


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
def test_a_text_is_hashed_by_its_characters_whatever_it_says(contract: Contract) -> None:
    """Salt hashes are remembered, and a subclass of str may be equal to all of them."""
    for text in ("tenant-a", "tenant-b", "tenant-c"):
        for salt, lora_name in ((text, None), (None, text), (text, "x"), ("x", text)):
            right = reference.salt_hash(contract.name, salt, lora_name)
            odd = [Odd(value) if value == text else value for value in (salt, lora_name)]
            assert contract.salt_hash(*odd) == contract.salt_hash(salt, lora_name) == right
            request = Request([1, 2], salt=odd[0], lora_name=odd[1], contract=contract)
            assert request.salt_hash() == right
            assert {type(request.salt), type(request.lora_name)} <= {str, type(None)}


def test_more_texts_than_are_remembered() -> None:
    """The right hash again and again, when others have taken its place meanwhile."""
    for _ in range(2):
        for i in range(600):
            right = reference.salt_hash("documented", f"tenant-{i}", None)
            assert DOCUMENTED.salt_hash(f"tenant-{i}") == right


def test_a_row_that_is_not_in_the_table_makes_no_hashes() -> None:
    """Its name would bring another contract back from JSON and from pickles."""
    impostor = Contract("documented", 7, "nothing", lambda salt, lora_name: 0)
    with rejected(FieldTypeError, "contract", value=impostor):
        compute_salt_hash("a", None, contract=impostor)
