"""What many requests share: a compressed prefix tree of their blocks (FORMAT.md, "Questions").

An edge is a run of blocks that the same requests go through. Requests of different contract, salt
or lora_name share nothing, and stand side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from .errors import FieldTypeError, require_block_size
from .lineage import PositionalLineageHash
from .request import Request
from .results import Result, count
from .slots import common, streams_of


class PrefixEdge(Result):
    """Blocks `position` … `position + blocks - 1` of the `requests` (indices) that share them.

    `parent` is the index of the edge before, None at the root; `ends` are the requests whose last
    full block is the edge's last. The two PLHs are text.
    """

    parent: int | None
    position: int
    blocks: int
    tokens: int
    requests: tuple[int, ...]
    ends: tuple[int, ...]
    saved_tokens: int
    contract: str
    last_plh: str


class PrefixTree(Result):
    """What `prefix_groups` found: edges, parents before children, and what sharing saves.

    `shared_tokens` leading slots are common to all requests, `cacheable_tokens` of them in whole
    blocks; `longest_shared_tokens` are common to some two.
    """

    block_size: int
    requests: int
    edges: tuple[PrefixEdge, ...]
    without_blocks: tuple[int, ...]
    blocks_without_sharing: int
    blocks_stored: int
    tokens_saved: int
    shared_tokens: int
    cacheable_tokens: int
    longest_shared_tokens: int
    sentence: str


def prefix_groups(requests: Iterable[Request], block_size: int) -> PrefixTree:
    """The prefix tree of `requests` at `block_size`; costs hashing each of them once.

    Raises KvHashingError kinds.
    """
    size = require_block_size(block_size)
    if not isinstance(requests, Iterable):
        raise FieldTypeError(field="requests", value=requests, expected="an iterable of requests")
    given: list[Request] = []
    for i, request in enumerate(requests):  # looked at as they come, and they may never end
        if not isinstance(request, Request):
            raise FieldTypeError(field="requests", index=i, value=request, expected="a Request")
        given.append(request)
    lines = [request.sequence_hashes(size) for request in given]
    edges = tuple(_edges(given, lines, size))
    total = sum(map(len, lines))
    stored = sum(edge.blocks for edge in edges)
    shared, longest = _shared_tokens(given)
    saved = (total - stored) * size
    text = f"{count(len(given), 'request')} with {count(total, 'block')} in all, {stored} of them"
    text += f" distinct: sharing saves {count(saved, 'token')} at block size {size}"
    if longest and not saved:
        text += f"; the longest prefix that two of them share is {count(longest, 'token')}"
        text += ", less than a block, so it saves nothing"
    elif shared:
        text += f"; all of them share {count(shared, 'token')}, of which whole blocks"
        text += f" hold {shared // size * size}"
    return PrefixTree(
        block_size=size,
        requests=len(given),
        edges=edges,
        without_blocks=tuple(i for i, line in enumerate(lines) if not line),
        blocks_without_sharing=total,
        blocks_stored=stored,
        tokens_saved=saved,
        shared_tokens=shared,
        cacheable_tokens=shared // size * size,
        longest_shared_tokens=longest,
        sentence=text + ".",
    )


def _edges(given: list[Request], lines: list[list[int]], size: int) -> Iterator[PrefixEdge]:
    """Depth first. A sequence hash stands for all before it: where two are equal, so are those."""
    numbers = itertools.count()
    # Parent edge, blocks passed, the requests that passed them.
    todo: list[tuple[int | None, int, list[int]]] = [(None, 0, [*range(len(given))])]
    while todo:
        parent, start, members = todo.pop()
        groups: dict[tuple[str, int], list[int]] = {}
        for i in members:
            if start < len(lines[i]):
                groups.setdefault((given[i].contract.name, lines[i][start]), []).append(i)
        for group in groups.values():
            line, contract = lines[group[0]], given[group[0]].contract
            blocks = min(common(line, start, lines[i], start) for i in group)
            stop = start + blocks
            parent_hash = line[stop - 2] if stop > 1 else None
            plh = PositionalLineageHash.new(line[stop - 1], parent_hash, stop - 1, contract)
            todo.append((next(numbers), stop, group))
            yield PrefixEdge(
                parent=parent,
                position=start,
                blocks=blocks,
                tokens=blocks * size,
                requests=tuple(group),
                ends=tuple(i for i in group if len(lines[i]) == stop),
                saved_tokens=(len(group) - 1) * blocks * size,
                contract=contract.name,
                last_plh=str(plh),
            )


def _shared_tokens(given: list[Request]) -> tuple[int, int]:
    """Leading slots common to all, and the most that any two have in common."""
    if len(given) < 2:
        return 0, 0
    width, parts = streams_of(given)
    keys = ((r.contract.name, r.salt or "", r.lora_name or "") for r in given)
    line = sorted(zip(keys, parts))
    # Sorted, the likest are neighbours, and the two ends have in common what all have.
    pairs = [(line[0], line[-1]), *zip(line, line[1:])]
    all_share, *two_share = (common(x, 0, y, 0, width) * (k == m) for (k, x), (m, y) in pairs)
    return all_share, max(two_share)
