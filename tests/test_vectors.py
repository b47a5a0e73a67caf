"""The data files of the tests: made by other tools, complete, and never read as nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import reference, vectors
from tests.vectors import Case, cases, expand_text, expand_tokens, load

OURS = ["known_answers.json", "lineage.json", "salts.json", "block_bytes.json", "serde.json"]


@pytest.mark.parametrize("name", OURS)
def test_vectors_are_made_again_from_independent_tools(name: str) -> None:
    """`python3 -m tests.make_vectors --check`: not a case differs."""
    for package in ("xxhash", "base58", "msgpack"):
        pytest.importorskip(package, reason=f"{package} makes the vectors; not in this ring")
    from tests import make_vectors

    assert sorted(make_vectors.FILES) == sorted(OURS)
    assert not make_vectors.changed(name)


@pytest.mark.parametrize("name", OURS)
def test_provenance(name: str) -> None:
    provenance = load(name)["provenance"]
    assert provenance["command"] == "python3 -m tests.make_vectors"
    assert "xxhash" in provenance["tools"]


def test_the_files_stay_small() -> None:
    assert sum((vectors.HERE / name).stat().st_size for name in OURS) < 200_000


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"provenance": "x"}',
        '{"provenance": "x", "cases": []}',
        '{"source": "x", "cases": [1], "more": []}',
        '{"cases": [1]}',
        '{"source": "", "cases": [1]}',
    ],
)
def test_a_file_without_cases_or_origin_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that is parametrised by nothing passes; the loader does not let it."""
    (tmp_path / "some.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(vectors, "HERE", tmp_path)
    with pytest.raises(AssertionError, match=r"some\.json"):
        load("some.json")


def test_stored_tokens_and_texts() -> None:
    assert expand_tokens([1, 2]) == [1, 2]
    assert expand_tokens({"first": 2**32 - 1, "step": 2, "count": 3}) == [2**32 - 1, 1, 3]
    assert expand_text({"repeat": "ab", "times": 2}) == "abab"
    assert (expand_text(None), expand_text("")) == (None, "")


# The reference itself, against numbers that neither it nor we have made.


@pytest.mark.parametrize("case", load("dynamo_binaries.json")["sequence"])
def test_the_reference_agrees_with_dynamos_binaries(case: Case) -> None:
    runs = [
        (int(run["mm_hash"], 16), run["offset"], run["length"]) for run in case.get("mm_info", ())
    ]
    seed = int(case["salt_hash"], 16)
    blocks = reference.hash_blocks("dynamo-1.3", range(1, 13), 4, runs, seed=seed)
    for block, block_hash, plh in zip(blocks, case["block_hash"], case["plh"]):
        assert block.block_hash == int(block_hash, 16)
        assert block.plh == int(plh, 16)
    for block, text in zip(blocks, case["text"] or ()):
        assert text in (None, block.plh_text)


def test_the_reference_agrees_with_dynamos_packing_and_salts() -> None:
    for case in cases("dynamo_binaries.json", "plh_new"):
        plh = reference.plh(case["position"], int(case["current"], 16), int(case["parent"], 16))
        assert plh == int(case["plh"], 16)
        assert case["text"] in (None, reference.plh_text(plh))
    for case in cases("dynamo_binaries.json", "salt_hash"):
        found = reference.salt_hash("dynamo-1.3", case["salt"], case["lora_name"])
        assert found == int(case["hash"], 16)


def test_the_reference_agrees_with_the_documented_chain() -> None:
    chain = load("dynamo_binaries.json")["documented_chain"]
    blocks = reference.hash_blocks("documented", range(1, 13), 4, seed=chain["salt_hash"])
    assert [block.block_hash for block in blocks] == chain["block_hash"]
    assert [block.sequence_hash for block in blocks] == chain["sequence_hash"]


def test_the_oracles_of_xxh3_agree() -> None:
    """The pure-Python oracle stands in where C cannot be installed; here they meet."""
    ppxxh = pytest.importorskip("ppxxh", reason="ppxxh is not installed in this ring")
    for length in (0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 1025):
        data = bytes(i * 37 % 251 for i in range(length))
        for seed in (0, 1337, 2**64 - 1):
            digest = int(ppxxh.xxh3_64(data, seed=seed).hexdigest(), 16)
            assert reference.xxh3_64(data, seed) == digest


def test_the_reference_writes_json_as_serde_does() -> None:
    payload = reference.salt_payload('"\\\b\t\n\f\r\x01\x1f\x7f/\u00e9', "\U0001f600")
    assert payload == (
        b'{"salt":"\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\x7f/\xc3\xa9",'
        b'"lora_name":"\xf0\x9f\x98\x80"}'
    )
    assert reference.salt_payload("", None) == b"{}"
    assert json.loads(reference.salt_payload("a", "b")) == {"salt": "a", "lora_name": "b"}
