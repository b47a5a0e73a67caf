"""Contract `dynamo-1.3` is what Dynamo's published crates do: answers that they gave once, checked
in every ring. tests/oracle asks them anew, thousands of times.
"""

from __future__ import annotations

import pytest

from tests.oracle.compare import answer_lineage, answer_request, answer_stream, same
from tests.vectors import Case, cases, expand_tokens

REQUESTS = cases("dynamo_crates.json", "requests")
STREAMS = cases("dynamo_crates.json", "streams")
LINEAGES = cases("dynamo_crates.json", "lineages")


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_has_the_crates_hashes(case: Case) -> None:
    """Salt hash, block and sequence hashes, PLH, text, serde JSON, MessagePack; or the error."""
    fields = {**case["request"], "tokens": expand_tokens(case["request"]["tokens"])}
    theirs = case["answer"]
    ours = answer_request({**case, "request": fields})
    assert same(theirs, {key: ours[key] for key in theirs})


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_has_the_crates_results(case: Case) -> None:
    """What each operation returns, and blocks, runs and tail after all of them."""
    assert same(case["answer"], answer_stream(case, case["answer"]))


@pytest.mark.parametrize("case", LINEAGES)
def test_a_lineage_hash_has_the_crates_form(case: Case) -> None:
    """Packing, parts, text and serde forms; no child of position 2^24 - 1."""
    assert same(case["answer"], answer_lineage(case))


def test_the_answers_have_all_that_was_asked_for() -> None:
    """A file without errors, runs or boundaries would prove little."""
    kinds = {case["answer"]["error"][0] for case in REQUESTS if "error" in case["answer"]}
    assert kinds == {"EmptyRun", "OffsetOverflow", "OutOfBounds", "Overlapping"}
    assert sum(bool(case["answer"].get("run_offsets")) for case in REQUESTS) > 10
    names = {operation[0] for case in STREAMS for operation in case["stream"]["operations"]}
    assert len(names) == 10
    assert {case["lineage"]["position"] for case in LINEAGES} >= {255, 256, 65535, 65536, 2**24}
