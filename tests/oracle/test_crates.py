"""Contract `dynamo-1.3` is what Dynamo's published crates do."""

from __future__ import annotations

from collections import Counter
from random import Random

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
