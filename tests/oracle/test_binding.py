"""`router` and `router_tree` answer as Dynamo's own binding does."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from kvhash_pure import KvHashingError
from kvhash_pure.router import compute_block_hash_for_seq
from tests.oracle import draw
from tests.oracle.compare import answer_tree
from tests.oracle.tools import Binding

GOOD, BAD, HISTORIES = 5000, 2000, 1000

# Where the binding's answer would be another request's hash or cannot be read, ours is an error.
STRICTER: tuple[dict[str, Any], ...] = (
    {"tokens": [1, True, 0], "kv_block_size": 3},
    {"tokens": b"abcd", "kv_block_size": 4},
    {"tokens": [1, 2, 3, 4], "kv_block_size": 2**32 + 2},
    {"tokens": [1, 2, 3, 4], "kv_block_size": 2**64 - 1},
    {"tokens": [1, 2], "kv_block_size": True},
)


def test_good_input_gives_the_bindings_hashes(binding: Binding) -> None:
    """Equal hashes on thousands of random calls: sizes, objects, names, windows of Eagle."""
    r = Random(f"good {binding.version}")
    calls = [draw.router_call(r) for _ in range(GOOD)]
    blocks = 0
    for call, answer in zip(calls, binding.ask([("hash", call) for call in calls])):
        ours = compute_block_hash_for_seq(**call)
        assert answer == ("ok", ours), call
        blocks += len(ours)
    print(f"\nbinding {binding.version}: {GOOD} good calls, {blocks} block hashes, 0 mismatches")


def test_bad_input_is_refused_with_the_bindings_kind(binding: Binding) -> None:
    """What the binding refuses, ours refuses as the same kind, and names field and value."""
    r = Random(f"bad {binding.version}")
    calls = [draw.bad_router_call(r) for _ in range(BAD)]
    kinds = Counter[str]()
    for call, (kind, said) in zip(calls, binding.ask([("hash", call) for call in calls])):
        with pytest.raises(KvHashingError) as caught:
            compute_block_hash_for_seq(**call)
        error = caught.value
        assert error.field.split(".")[0] in call
        assert error.expected
        wanted: type[Exception] = {  # of its objects the binding says `Exception`
            "ValueError": ValueError,
            "UnicodeEncodeError": ValueError,
            "OverflowError": OverflowError,
            "TypeError": TypeError,
        }.get(kind, KvHashingError)
        assert kind != "ok"
        assert isinstance(error, wanted), (call, kind, said, error)
        kinds[kind] += 1
    print(f"\nbinding {binding.version}: {BAD} bad calls, 0 mismatches: {dict(kinds)}")


def test_ours_is_stricter_exactly_where_it_says_so(binding: Binding) -> None:
    """bool and bytes as tokens, bool and 33 bits as a block size: the binding takes them."""
    for call, (kind, _) in zip(STRICTER, binding.ask([("hash", call) for call in STRICTER])):
        assert kind == "ok"
        with pytest.raises(KvHashingError):
            compute_block_hash_for_seq(**call)


def test_iterators_are_taken_where_the_binding_wants_a_list(binding: Binding) -> None:
    """Ours takes any iterable and objects without offsets; the binding refuses both."""
    hidden: dict[str, Any] = {"tokens": [1], "kv_block_size": 1}
    hidden["block_mm_infos"] = [{"mm_objects": [{"mm_hash": 1}]}]
    ((kind, _),) = binding.ask([("hash", hidden)])
    assert kind == "Exception"
    assert compute_block_hash_for_seq(**hidden) == compute_block_hash_for_seq(
        iter([1]), 1, [{"mm_objects": [{"mm_hash": 1, "offsets": [(0, 1)]}]}]
    )


@pytest.mark.parametrize("wild", [False, True], ids=["true hashes", "any hashes"])
def test_the_tree_finds_what_the_bindings_tree_finds(binding: Binding, wild: bool) -> None:
    """Equal `find_matches` after every step of random histories, removals in any order.

    Errors too: all of them in 1.4.0. Newer ones forget some unreachable blocks a little earlier,
    which shows in the error of a later `remove` or `store` alone, once in thousands of histories.
    """
    r = Random(f"tree {binding.version} {wild}")
    histories = [draw.history(r, wild) for _ in range(HISTORIES)]
    in_1_4 = binding.version.startswith("1.4.")
    finds = operations = other_errors = 0
    for history, theirs in zip(histories, binding.ask([("tree", h) for h in histories])):
        ours = answer_tree(history, keep_empty_edges=in_1_4)
        operations += len(history)
        for operation, their, our in zip(history, theirs, ours):
            if operation[0] == "find_matches":
                assert our == their, history
                finds += 1
        other_errors += ours != theirs
    print(
        f"\nbinding {binding.version}: {HISTORIES} histories ({'any' if wild else 'true'} hashes), "
        f"{operations} operations, {finds} find_matches, 0 mismatches; "
        f"{other_errors} histories with another error"
    )
    assert other_errors == 0 if in_1_4 else other_errors < HISTORIES // 200
