"""What ours answers to the oracles' questions, in the oracles' words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kvhash_pure import (
    DYNAMO_1_3,
    EmptyRunError,
    FieldValueError,
    KvHashingError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    PositionalLineageHash,
    PositionOverflowError,
    Request,
    RequestMmObjectInfo,
)
from kvhash_pure.router_tree import RouterRadixTree, UnknownBlockError
from kvhash_pure.sequence import TokenBlockSequence


def as_runs(rows: Iterable[Iterable[int]] | None) -> list[RequestMmObjectInfo]:
    return [RequestMmObjectInfo(*row) for row in rows or ()]


def run_error(error: KvHashingError, runs: list[Any]) -> list[Any]:
    """The crates' name of a run error, and what they tell about it."""
    assert error.index is not None
    run = runs[error.index]
    if isinstance(error, EmptyRunError):
        return ["EmptyRun"]
    if isinstance(error, OverlappingError):
        return ["Overlapping", run[1]]
    kinds = {OffsetOverflowError: "OffsetOverflow", OutOfBoundsError: "OutOfBounds"}
    return [kinds[type(error)], run[1], run[2]]  # type: ignore[index]


def answer_request(question: dict[str, Any]) -> dict[str, Any]:
    fields, size = question["request"], question["block_size"]
    try:
        request = Request(
            fields["tokens"],
            lora_name=fields["lora_name"],
            salt=fields["salt"],
            mm_info=as_runs(fields["mm_info"]),
            contract=DYNAMO_1_3,
        )
    except KvHashingError as error:
        return {"error": run_error(error, fields["mm_info"])}
    blocks = request.into_blocks(size)
    return {
        "salt_hash": request.salt_hash(),
        "block_hashes": request.block_hashes(size),
        "sequence_hashes": request.sequence_hashes(size),
        "plh": [f"{int(plh):032x}" for plh in request.positional_lineage_hashes(size)],
        "text": [str(block.plh) for block in blocks],
        "json": [block.to_json() for block in blocks],
        "msgpack": [block.to_msgpack().hex() for block in blocks],
        "run_offsets": [run.offset for run in request.mm_info],
    }


def answer_stream(question: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Ours is told which operations the crate refuses because of runs, and leaves them out."""
    fields = question["stream"]
    sequence = TokenBlockSequence(
        fields["tokens"],
        block_size=fields["block_size"],
        salt_hash=fields["salt_hash"] or 0,
        mm_info=as_runs(fields["mm_info"]),
        contract=DYNAMO_1_3,
    )
    results = []
    for operation, (their_result, _, _) in zip(fields["operations"], theirs["results"]):
        refused = {"error": ["MmRunsPresent"]}
        result = refused if their_result == refused else operate(sequence, operation)
        results.append([result, sequence.total_tokens, len(sequence.blocks)])
    return {
        "results": results,
        "blocks": [[b.block_hash, f"{int(b.plh):032x}"] for b in sequence.blocks],
        "runs": [[run.mm_hash, run.offset, run.length] for run in sequence.mm_runs],
        "tail": list(sequence.tail),
        "tokens": list(sequence.tokens_at(0, sequence.total_tokens)),
    }


def operate(sequence: TokenBlockSequence, operation: list[Any]) -> Any:
    name, *arguments = operation
    name = {"push_token": "append"}.get(name, name)
    if name == "extend_with_mm":
        arguments[1] = as_runs(arguments[1])
    try:
        result = getattr(sequence, name)(*arguments)
    except KvHashingError as error:
        if name == "extend_with_mm":
            return {"error": run_error(error, operation[2])}
        if name == "pop":
            return None  # the crate's Option
        kinds = {"unwind": ["InsufficientTokens"], "push_mm_run": ["EmptyRun"]}
        return {"error": kinds[name]}
    if isinstance(result, range):
        return [result.start, result.stop] if result else None
    return list(result) if isinstance(result, tuple) else result


def answer_lineage(question: dict[str, Any]) -> dict[str, Any]:
    fields = question["lineage"]
    try:
        plh = PositionalLineageHash.new(
            fields["current"], fields["parent"], fields["position"], DYNAMO_1_3
        )
    except PositionOverflowError:
        return {"panic": "position"}
    extended: Any
    try:
        extended = f"{int(plh.extend(fields['child_hash'])):032x}"
    except PositionOverflowError:
        extended = {"panic": "position"}
    assert PositionalLineageHash.parse(str(plh), DYNAMO_1_3) == plh
    return {
        "plh": f"{int(plh):032x}",
        "text": str(plh),
        "mode": plh.mode,
        "position": plh.position,
        "current": plh.current_sequence_hash,
        "fragment": plh.parent_hash_fragment,
        "fragment_for_child": plh.parent_fragment_for_child_position(fields["child_position"]),
        "extended": extended,
        "json": str(list(bytes(plh))).replace(" ", ""),
        "msgpack": "c410" + bytes(plh).hex(),
    }


def same(theirs: Any, ours: Any) -> bool:
    """Equal, where a panic of theirs is an error of ours and `OutOfBounds` tells one thing more."""
    if isinstance(theirs, dict) and "panic" in theirs:
        return isinstance(ours, dict) and "panic" in ours
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and theirs.keys() == ours.keys()
            and all(same(theirs[key], ours[key]) for key in theirs)
        )
    if isinstance(theirs, list) and theirs[:1] == ["OutOfBounds"]:
        return bool(theirs[:3] == ours)
    if isinstance(theirs, list):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    return bool(theirs == ours)


def answer_tree(
    operations: Iterable[tuple[Any, ...]], keep_empty_edges: bool
) -> list[tuple[str, Any]]:
    """A history played on our tree, in the binding's words."""
    tree = RouterRadixTree(keep_empty_edges=keep_empty_edges)
    answers: list[tuple[str, Any]] = []
    for name, *arguments in operations:
        try:
            result = getattr(tree, name)(*arguments)
        except UnknownBlockError as error:
            what = "parent block" if error.field == "parent_hash" else "block"
            answers.append((f"Failed to find {what}", None))
        except FieldValueError:
            answers.append(("Invalid block sequence", None))
        else:
            if result is not None:
                result = sorted((*holder, score) for holder, score in result.items())
            answers.append(("ok", result))
    return answers
