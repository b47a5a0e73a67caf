"""The prefix tree of many requests: its edges, and what sharing saves."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import kvhash_pure
from kvhash_pure import DYNAMO_1_3, Request, RequestMmObjectInfo, prefix_groups
from kvhash_pure.errors import FieldTypeError, FieldValueError
from tests import reference
from tests.helpers import rejected

RANDOM = random.Random(7)
TOKENS = [RANDOM.randrange(2**32) for _ in range(100)]
FORK = [*TOKENS[:70], *range(30)]


def test_requests_that_fork_share_the_edge_before_the_fork() -> None:
    """A whole one, one that ends after 3 blocks, one that forks in block 4, one of another salt,
    one shorter than a block.
    """
    requests = [
        Request(TOKENS),
        Request(TOKENS[:50]),
        Request(FORK),
        Request(TOKENS, salt="x"),
        Request(TOKENS[:3]),
    ]
    tree = prefix_groups(requests, 16)
    rows = [
        (e.parent, e.position, e.blocks, e.tokens, e.requests, e.ends, e.saved_tokens)
        for e in tree.edges
    ]
    assert rows == [
        (None, 0, 3, 48, (0, 1, 2), (1,), 96),
        (None, 0, 6, 96, (3,), (3,), 0),
        (0, 3, 1, 16, (0, 2), (), 16),
        (2, 4, 2, 32, (0,), (0,), 0),
        (2, 4, 2, 32, (2,), (2,), 0),
    ]
    assert tree.without_blocks == (4,)
    assert (tree.blocks_without_sharing, tree.blocks_stored, tree.tokens_saved) == (21, 14, 112)
    assert (tree.shared_tokens, tree.cacheable_tokens) == (0, 0)
    assert tree.longest_shared_tokens == 70
    line = reference.hash_blocks(
        reference.DOCUMENTED, TOKENS, 16, seed=reference.salt_hash(reference.DOCUMENTED)
    )
    assert [tree.edges[i].last_plh for i in (0, 3)] == [line[2].plh_text, line[5].plh_text]
    assert str(tree) == (
        "5 requests with 21 blocks in all, 14 of them distinct: sharing saves 112 tokens at "
        "block size 16."
    )


def test_a_shared_prefix_of_240_tokens_saves_nothing_at_block_size_784() -> None:
    start = [RANDOM.randrange(2**32) for _ in range(240)]
    requests = [Request([*start, n, *range(2000)]) for n in (1, 2, 3)]
    tree = prefix_groups(requests, 784)
    assert (tree.shared_tokens, tree.cacheable_tokens, tree.tokens_saved) == (240, 0, 0)
    assert str(tree) == (
        "3 requests with 6 blocks in all, 6 of them distinct: sharing saves no tokens at block "
        "size 784; the longest prefix that two of them share is 240 tokens, less than a block, "
        "so it saves nothing."
    )
    assert prefix_groups(requests, 16).cacheable_tokens == 240
    assert prefix_groups(requests, 100).cacheable_tokens == 200


def test_what_all_share_is_cut_to_whole_blocks() -> None:
    tree = prefix_groups([Request(TOKENS), Request(TOKENS[:50]), Request(FORK)], 32)
    assert (tree.shared_tokens, tree.cacheable_tokens) == (50, 32)
    assert str(tree).endswith("; all of them share 50 tokens, of which whole blocks hold 32.")


def test_ids_under_runs_and_other_images_decide_as_they_are_hashed() -> None:
    """Slots 10 to 49 show one image in two requests, another one in the third."""
    hidden = [*TOKENS[:10], *range(40), *TOKENS[50:]]
    requests = [
        Request(tokens, mm_info=[RequestMmObjectInfo(mm_hash, 10, 40)])
        for tokens, mm_hash in ((TOKENS, 1), (hidden, 1), (TOKENS, 2))
    ]
    tree = prefix_groups(requests, 16)
    assert [edge.requests for edge in tree.edges] == [(0, 1), (2,)]
    assert (tree.shared_tokens, tree.longest_shared_tokens) == (10, 100)


def test_contracts_salts_and_adapters_stand_side_by_side() -> None:
    requests = [
        Request(TOKENS),
        Request(TOKENS, contract=DYNAMO_1_3),
        Request(TOKENS, salt="x"),
        Request(TOKENS, lora_name="x"),
    ]
    tree = prefix_groups(iter(requests), 16)
    assert [edge.parent for edge in tree.edges] == [None] * 4
    assert [edge.contract for edge in tree.edges].count("dynamo-1.3") == 1
    assert (tree.tokens_saved, tree.longest_shared_tokens) == (0, 0)


def test_equal_requests_are_one_edge_in_which_all_end() -> None:
    tree = prefix_groups([Request(TOKENS)] * 3, 16)
    (edge,) = tree.edges
    assert (edge.requests, edge.ends, edge.saved_tokens) == ((0, 1, 2), (0, 1, 2), 192)
    assert tree.cacheable_tokens == 96


def test_none_and_one() -> None:
    assert str(prefix_groups([], 16)) == (
        "no requests with no blocks in all, 0 of them distinct: sharing saves no tokens at block "
        "size 16."
    )
    tree = prefix_groups([Request(TOKENS)], 16)
    assert (len(tree.edges), tree.shared_tokens, tree.tokens_saved) == (1, 0, 0)


def test_a_chain_of_hundreds_of_forks_is_no_deep_recursion() -> None:
    tokens = list(range(300))
    tree = prefix_groups([Request(tokens[:n]) for n in range(1, 300)], 1)
    assert tree.blocks_stored == 299
    assert len(tree.edges) == 299
    assert tree.edges[-1].position == 298


def test_the_json_form_has_flat_edges() -> None:
    tree = prefix_groups([Request(TOKENS), Request(FORK)], 16)
    form: Any = json.loads(json.dumps(tree.to_dict()))
    assert form["edges"][1]["parent"] == 0
    assert form["edges"][0]["requests"] == [0, 1]
    assert form["sentence"] == tree.sentence
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert "position=4" in str(tree.edges[1])


def test_the_name_is_public() -> None:
    assert kvhash_pure.prefix_groups is prefix_groups


def test_what_is_no_request_is_named() -> None:
    with rejected(FieldTypeError, "requests", index=1, value="x"):
        prefix_groups([Request([1]), "x"], 16)  # type: ignore[list-item]
    with rejected(FieldTypeError, "requests", value=5):
        prefix_groups(5, 16)  # type: ignore[arg-type]
    with rejected(FieldValueError, "block_size", value=0):
        prefix_groups([], 0)
