"""Runs under one version of Dynamo's binding: pickled questions on stdin, answers on stdout.

`("hash", arguments)` calls `compute_block_hash_for_seq`; `("tree", operations)` plays a history on
a fresh `RadixTree`. An exception is answered as `(name of its type, its text)`.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from typing import Any

from dynamo import _core

Answer = tuple[str, Any]


def hash_blocks(arguments: dict[str, Any]) -> Answer:
    try:
        return "ok", _core.compute_block_hash_for_seq(**arguments)
    except Exception as error:
        return type(error).__name__, str(error)


class Tree:
    """The binding's tree under the operations of ours."""

    def __init__(self) -> None:
        self._tree = _core.RadixTree()
        self._events = 0

    def _apply(self, worker: int, dp_rank: int, data: object) -> None:
        self._events += 1
        event = {"event_id": self._events, "data": data, "dp_rank": dp_rank}
        self._tree.apply_event(worker, json.dumps(event).encode())

    def store(
        self, worker: int, parent: int | None, blocks: Iterable[tuple[int, int]], dp_rank: int
    ) -> None:
        listed = [{"block_hash": name, "tokens_hash": local} for name, local in blocks]
        self._apply(worker, dp_rank, {"stored": {"parent_hash": parent, "blocks": listed}})

    def remove(self, worker: int, hashes: list[int], dp_rank: int) -> None:
        self._apply(worker, dp_rank, {"removed": {"block_hashes": hashes}})

    def clear(self, worker: int, dp_rank: int) -> None:
        self._apply(worker, dp_rank, "cleared")

    def remove_worker(self, worker: int) -> None:
        self._tree.remove_worker(worker)

    def find_matches(self, hashes: list[int]) -> list[tuple[int, int, int]]:
        scores = self._tree.find_matches(hashes).scores
        return sorted((worker, dp_rank, score) for (worker, dp_rank), score in scores.items())


def play(operations: Iterable[tuple[Any, ...]]) -> list[Answer]:
    tree = Tree()
    answers: list[Answer] = []
    for name, *arguments in operations:
        try:
            answers.append(("ok", getattr(tree, name)(*arguments)))
        except RuntimeError as error:
            answers.append((str(error).rpartition(": ")[2], None))
    return answers


def main() -> None:
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the binding logs to stdout
    while True:
        try:
            questions = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        kinds: dict[str, Callable[[Any], Any]] = {"hash": hash_blocks, "tree": play}
        pickle.dump([kinds[kind](what) for kind, what in questions], output)
        output.flush()


if __name__ == "__main__":
    main()
