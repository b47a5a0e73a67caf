"""Contract `dynamo-1.3` is what Dynamo's published crates do."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from kvhash_pure import DYNAMO_1_3, FieldValueError, PositionalLineageHash
from tests.oracle import draw
from tests.oracle.compare import answer_lineage, answer_request, answer_stream, same
from tests.oracle.tools import CRATES, Crates

REQUESTS, STREAMS, LINEAGES = 6000, 2000, 2000


def test_requests_give_the_crates_hashes(crates: Crates) -> None:
    """Salt, block and sequence hashes, PLH as number, text, JSON and MessagePack; bad runs too."""
    r = Random("requests")
    questions = [draw.request(r) for _ in range(REQUESTS)]
    blocks = 0
    errors = Counter[str]()
    for question, theirs in zip(questions, crates.ask(questions)):
        ours = answer_request(question)
        assert same(theirs, ours), (question, theirs, ours)
        if "error" in theirs:
            errors[theirs["error"][0]] += 1
        else:
            blocks += len(theirs["plh"])
    assert min(errors.values()) > 10
    print(f"\n{CRATES}: {REQUESTS} requests, {blocks} blocks, 0 mismatches; bad: {dict(errors)}")


def test_streams_give_the_crates_results(crates: Crates) -> None:
    """What each operation returns, the blocks, the runs and the tail after all of them."""
    r = Random("streams")
    questions = [draw.stream(r) for _ in range(STREAMS)]
    operations = Counter[str]()
    refused = 0
    for question, theirs in zip(questions, crates.ask(questions)):
        ours = answer_stream(question, theirs)
        assert same(theirs, ours), (question, theirs, ours)
        operations.update(operation[0] for operation in question["stream"]["operations"])
        refused += str(theirs).count("MmRunsPresent")
    print(
        f"\n{CRATES}: {STREAMS} streams, {sum(operations.values())} operations, 0 mismatches; "
        f"{refused} refused there because of runs, not compared; {dict(operations)}"
    )


def test_lineage_hashes_are_the_crates(crates: Crates) -> None:
    """Packing, parts, text, serde forms and `extend`, at every boundary of the modes."""
    r = Random("lineage")
    questions = [draw.lineage(r) for _ in range(LINEAGES)]
    for question, theirs in zip(questions, crates.ask(questions)):
        ours = answer_lineage(question)
        assert same(theirs, ours), (question, theirs, ours)
    print(f"\n{CRATES}: {LINEAGES} lineage hashes, 0 mismatches")


def test_what_the_crate_reads_back(crates: Crates) -> None:
    """The bytes of a PLH are that PLH again. The crate takes any 16, ours only those of one."""
    r = Random("bytes")
    written = [
        answer_lineage(question)
        for question in (draw.lineage(r) for _ in range(500))
        if question["lineage"]["position"] < 2**24
    ]
    same_child = {"child_position": 0, "child_hash": 0}
    for theirs, ours in zip(
        crates.ask({"lineage": {"bytes": json.loads(o["json"]), **same_child}} for o in written),
        written,
    ):
        assert {key: theirs[key] for key in ("plh", "text", "json")} == {
            key: ours[key] for key in ("plh", "text", "json")
        }
        data = bytes(json.loads(ours["json"]))
        assert str(PositionalLineageHash.from_bytes(data, DYNAMO_1_3)) == theirs["text"]
    stricter = {
        "no mode": (b"\xff" + bytes(15), "panic"),
        "position 1 in mode 1": (b"\x40\x00\x40" + bytes(13), "plh"),
        "root with a parent": (bytes(15) + b"\x01", "plh"),
        "17 bytes": (bytes(17), "error"),
        "15 bytes": (bytes(15), "error"),
    }
    questions = [{"lineage": {"bytes": list(d), **same_child}} for d, _ in stricter.values()]
    for (data, expected), theirs in zip(stricter.values(), crates.ask(questions)):
        assert expected in theirs
        with pytest.raises(FieldValueError):
            PositionalLineageHash.from_bytes(data, DYNAMO_1_3)
