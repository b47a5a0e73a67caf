"""What holds for every request: the rules of the contract, each as a property."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from kvhash_pure import (
    DOCUMENTED,
    DYNAMO_1_3,
    FieldValueError,
    OverlappingError,
    PositionalLineageHash,
    Request,
    RequestMmObjectInfo,
    UniversalBlock,
    compute_block_bytes_with_mm,
    compute_block_hash,
    compute_next_sequence_hash,
)
from kvhash_pure.jsonform import hash_report, load_request
from tests import reference
from tests.helpers import U32_MAX, rejected
from tests.property.strategies import (
    as_dict,
    block_sizes,
    changed,
    contracts,
    names,
    requests,
    texts,
    tokens_of_u32,
    u64,
)


@given(requests(), block_sizes)
@example(Request([]), 1)
@example(Request([0], mm_info=[RequestMmObjectInfo(0, 0, 1)]), 1)
def test_agrees_with_an_independent_computation(request: Request, size: int) -> None:
    """All hashes, in JSON, as the plain reference on another XXH3 computes them."""
    assert hash_report(request, size) == reference.hash_request(as_dict(request, size))


@given(requests(), block_sizes)
def test_the_projections_are_one_computation(request: Request, size: int) -> None:
    blocks = request.into_blocks(size)
    assert len(blocks) == request.total_tokens // size
    assert [block.position for block in blocks] == list(range(len(blocks)))
    assert [block.block_hash for block in blocks] == request.block_hashes(size)
    assert [block.sequence_hash for block in blocks] == request.sequence_hashes(size)
    assert [block.plh for block in blocks] == request.positional_lineage_hashes(size)


@given(requests(), block_sizes, st.lists(tokens_of_u32, max_size=40))
def test_prefix_stability(request: Request, size: int, more: list[int]) -> None:
    """Tokens that come after change nothing before: that is what a prefix cache lives on."""
    longer = changed(request, tokens=[*request.tokens, *more])
    before = request.into_blocks(size)
    assert longer.into_blocks(size)[: len(before)] == before


@given(requests(least=1), block_sizes, st.data())
def test_a_changed_token_changes_every_block_from_there(
    request: Request, size: int, data: Any
) -> None:
    """And none before; at a placeholder slot it changes nothing."""
    slot = data.draw(st.integers(0, request.total_tokens - 1))
    tokens = list(request.tokens)
    tokens[slot] ^= data.draw(st.integers(1, U32_MAX))
    one, two = request.into_blocks(size), changed(request, tokens=tokens).into_blocks(size)
    if any(run.offset <= slot < run.end for run in request.mm_info):
        assert one == two
        return
    first = slot // size
    assert one[:first] == two[:first]
    assert all(a.plh != b.plh for a, b in zip(one[first:], two[first:]))
    assert all(a.block_hash == b.block_hash for a, b in zip(one[first + 1 :], two[first + 1 :]))


@given(requests(least=9), st.integers(1, 9), names, names)
def test_salt_and_lora_isolate(request: Request, size: int, salt: Any, lora_name: Any) -> None:
    """Another salt or adapter shares no block, not even the first."""
    other = changed(request, salt=salt, lora_name=lora_name)
    one, two = request.into_blocks(size), other.into_blocks(size)
    same = (request.salt or "", request.lora_name or "") == (salt or "", lora_name or "")
    if same:
        assert one == two
    else:
        assert not {b.block_hash for b in one} & {b.block_hash for b in two}
        assert not {b.plh for b in one} & {b.plh for b in two}


@given(requests(), block_sizes, st.booleans(), st.booleans())
def test_empty_is_absent(request: Request, size: int, salt: bool, lora_name: bool) -> None:
    """ "" and None are the same for hashing, whatever the other one says."""
    fields = [name for name, wanted in (("salt", salt), ("lora_name", lora_name)) if wanted]
    one = changed(request, **dict.fromkeys(fields, ""))
    two = changed(request, **dict.fromkeys(fields))
    assert one.into_blocks(size) == two.into_blocks(size)


@given(texts, texts)
def test_distinct_texts_have_distinct_salts(one: str, two: str) -> None:
    """No escape, order or normalisation makes two texts one."""
    assume(one != two)
    for contract in (DOCUMENTED, DYNAMO_1_3):
        assert contract.salt_hash(one, two) != contract.salt_hash(two, one)
        assert contract.salt_hash(one) != contract.salt_hash(two)
        assert contract.salt_hash(None, one) != contract.salt_hash(None, two)


@given(texts, texts)
def test_the_documented_salt_is_json(salt: str, lora_name: str) -> None:
    """What is hashed reads back as JSON with the same two strings."""
    payload = reference.salt_payload(salt, lora_name)
    present = {k: v for k, v in (("salt", salt), ("lora_name", lora_name)) if v}
    assert json.loads(payload) == present
    assert DOCUMENTED.salt_hash(salt, lora_name) == reference.xxh3_64(payload, 0)


@given(requests(), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(request: Request, generator: random.Random) -> None:
    shuffled = list(request.mm_info)
    generator.shuffle(shuffled)
    other = changed(request, mm_info=shuffled)
    assert other == request
    assert other.mm_info == request.mm_info
    assert other.into_blocks(5) == request.into_blocks(5)


@given(requests(), block_sizes)
def test_no_runs_is_plain(request: Request, size: int) -> None:
    """Without runs a block is its tokens and nothing else; no runs in any notation is no runs."""
    plain = changed(request, mm_info=[])
    assert plain == changed(request, mm_info=()) == changed(request, mm_info=None)
    tokens = request.tokens
    for block in plain.into_blocks(size):
        window = tokens[block.position * size : (block.position + 1) * size]
        data = b"".join(token.to_bytes(4, "little") for token in window)
        assert block.block_hash == reference.xxh3_64(data, plain.salt_hash())


@given(requests(), block_sizes)
def test_blocks_without_a_run_do_not_know_of_runs(request: Request, size: int) -> None:
    """Plain blocks of a request with images have the block hash of the same text without."""
    mixed, plain = request.block_hashes(size), changed(request, mm_info=()).block_hashes(size)
    for i in range(len(mixed)):
        touched = any(run.offset < (i + 1) * size and i * size < run.end for run in request.mm_info)
        assert (mixed[i] == plain[i]) != touched


@given(
    u64,
    st.integers(1, 8),
    st.integers(1, 60),
    st.integers(0, 7),
    st.integers(0, 5),
    st.integers(0, 5),
    contracts,
)
def test_an_object_is_shared_where_it_stands_alike(
    mm_hash: int, size: int, length: int, lead: int, one: int, two: int, contract: Any
) -> None:
    """A run's blocks depend on the slots from its own start, not on where in the request it is."""

    def blocks_from(skipped: int) -> list[int]:
        start = skipped * size + lead
        tokens = [7] * (start + length + size)
        run = RequestMmObjectInfo(mm_hash, start, length)
        return Request(tokens, mm_info=[run], contract=contract).block_hashes(size)[skipped:]

    shorter, longer = sorted((blocks_from(one), blocks_from(two)), key=len)
    assert longer[: len(shorter)] == shorter


@given(requests(), block_sizes)
def test_extend_reproduces_the_chain(request: Request, size: int) -> None:
    """Each PLH follows from the one before and the block hash alone."""
    plh = None
    for block in request.into_blocks(size):
        if plh is None:
            plh = PositionalLineageHash.root(block.block_hash, request.contract)
        else:
            parent = plh.current_sequence_hash
            plh = plh.extend(block.block_hash)
            contract = request.contract
            step = compute_next_sequence_hash(parent, block.block_hash, contract=contract)
            assert step == block.sequence_hash
        assert plh == block.plh


@given(requests(), block_sizes)
def test_the_primitives_make_the_same_blocks(request: Request, size: int) -> None:
    """Block bytes, then their hash: the long way by the original's names."""
    hashes = []
    for start in range(0, request.total_tokens - size + 1, size):
        window = request.tokens[start : start + size]
        data = compute_block_bytes_with_mm(window, start, request.mm_info)
        assert len(data) in (4 * size, 13 * size)
        hashes.append(compute_block_hash(data, request.salt_hash()))
    assert hashes == request.block_hashes(size)


@given(requests(least=1), st.data())
def test_overlapping_runs_never_pass(request: Request, data: Any) -> None:
    """One more run over an occupied slot is refused, wherever it is put in the list."""
    assume(request.mm_info)
    run = data.draw(st.sampled_from(request.mm_info))
    slot = data.draw(st.integers(run.offset, run.end - 1))
    extra = RequestMmObjectInfo(run.mm_hash, slot, 1)
    runs = list(request.mm_info)
    runs.insert(data.draw(st.integers(0, len(runs))), extra)
    try:
        changed(request, mm_info=runs)
    except OverlappingError as error:
        found = error
    assert found.field == "mm_info.offset"
    assert found.value == runs[found.index or 0].offset


@given(st.lists(tokens_of_u32, max_size=30), st.data())
def test_a_token_out_of_range_is_found(tokens: list[int], data: Any) -> None:
    index = data.draw(st.integers(0, len(tokens)))
    wrong = data.draw(st.one_of(st.integers(max_value=-1), st.integers(min_value=2**32)))
    tokens.insert(index, wrong)
    with rejected(FieldValueError, "tokens", index=index, value=wrong):
        Request(tokens)


@given(requests(), block_sizes)
def test_every_form_of_a_request_comes_back(request: Request, size: int) -> None:
    """dict, JSON text, repr and pickle."""
    text = json.dumps(as_dict(request, size), ensure_ascii=False)
    assert load_request(text) == (request, size)
    assert load_request(text.encode()) == load_request(json.dumps(as_dict(request, size)))
    assert Request.from_dict(request.to_dict()) == request
    assert pickle.loads(pickle.dumps(request)) == request
    spaces: dict[str, Any] = {}
    exec("from kvhash_pure import *", spaces)
    assert eval(repr(request), spaces) == request


@given(requests(), st.integers(1, 9))
def test_every_form_of_a_block_comes_back(request: Request, size: int) -> None:
    contract = request.contract
    for block in request.into_blocks(size)[:3]:
        assert UniversalBlock.from_json(block.to_json(), contract) == block
        assert UniversalBlock.from_msgpack(block.to_msgpack(), contract) == block


@given(requests(least=9), st.integers(1, 9))
def test_contracts_never_meet(request: Request, size: int) -> None:
    """The two contracts give one request no common sequence hash, and no equal PLH."""
    one, two = (request.under(c).into_blocks(size) for c in (DOCUMENTED, DYNAMO_1_3))
    assert not {b.sequence_hash for b in one} & {b.sequence_hash for b in two}
    assert not {b.plh for b in one} & {b.plh for b in two}
