"""What many requests share: a compressed prefix tree of their blocks (FORMAT.md, "Questions").

An edge is a run of blocks that the same requests go through. Requests of different contract, salt
or lora_name share nothing, and stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import FieldTypeError, require_block_size
from .lineage import PositionalLineageHash
from .request import Request
from .results import Result, count
from .slots import common, stream


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
    first_plh: str
    last_plh: str


class PrefixTree(Result):
    """What `prefix_groups` found: edges, parents before children, and what sharing saves.

    `shared_tokens` leading slots are common to all requests, `longest_shared_tokens` to some two;
    only whole blocks of them can be cached: `cacheable_tokens`, `longest_cacheable_tokens`.
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
    longest_cacheable_tokens: int
    sentence: str


def prefix_groups(requests: Iterable[Request], block_size: int) -> PrefixTree:
    """The prefix tree of `requests` at `block_size`; costs hashing each of them once.

    Raises KvHashingError kinds.
    """
    size = require_block_size(block_size)
    if not isinstance(requests, Iterable):
        raise FieldTypeError(field="requests", value=requests, expected="an iterable of requests")
    given: list[Request] = []
    for request in requests:
        if not isinstance(request, Request):
            raise FieldTypeError(
                field="requests", index=len(given), value=request, expected="a Request"
            )
        given.append(request)
    lines = [request.sequence_hashes(size) for request in given]
    edges = _edges(given, lines, size)
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
        edges=tuple(edges),
        without_blocks=tuple(i for i, line in enumerate(lines) if not line),
        blocks_without_sharing=total,
        blocks_stored=stored,
        tokens_saved=saved,
        shared_tokens=shared,
        cacheable_tokens=shared // size * size,
        longest_shared_tokens=longest,
        longest_cacheable_tokens=longest // size * size,
        sentence=text + ".",
    )


def _edges(given: list[Request], lines: list[list[int]], size: int) -> list[PrefixEdge]:
    edges: list[PrefixEdge] = []
    # Depth first: (parent edge, blocks passed, the requests that passed them).
    todo: list[tuple[int | None, int, list[int]]] = [(None, 0, [*range(len(given))])]
    while todo:
        parent, start, members = todo.pop()
        groups: dict[tuple[str, int], list[int]] = {}
        for i in members:
            if start < len(lines[i]):
                groups.setdefault((given[i].contract.name, lines[i][start]), []).append(i)
        for group in groups.values():
            line = lines[group[0]]
            # A sequence hash stands for all before it, so equality of one is that of a prefix.
            low, high = start, min(len(lines[i]) for i in group) - 1
            while low < high:
                middle = (low + high + 1) // 2
                same = all(lines[i][middle] == line[middle] for i in group)
                low, high = (middle, high) if same else (low, middle - 1)
            blocks, contract = low + 1 - start, given[group[0]].contract
            first, last = (
                str(PositionalLineageHash.new(line[at], line[at - 1] if at else None, at, contract))
                for at in (start, low)
            )
            edge = PrefixEdge(
                parent=parent,
                position=start,
                blocks=blocks,
                tokens=blocks * size,
                requests=tuple(group),
                ends=tuple(i for i in group if len(lines[i]) == low + 1),
                saved_tokens=(len(group) - 1) * blocks * size,
                contract=contract.name,
                first_plh=first,
                last_plh=last,
            )
            todo.append((len(edges), low + 1, group))
            edges.append(edge)
    return edges


def _shared_tokens(given: list[Request]) -> tuple[int, int]:
    """Leading slots common to all, and the most that any two have in common."""
    framed = any(request.mm_info for request in given)
    streams = sorted(
        (r.contract.name, r.salt or "", r.lora_name or "", *stream(r, framed)) for r in given
    )
    # Sorted, the likest are neighbours and the two ends have in common what all have.
    pairs = [*zip(streams, streams[1:]), *zip(streams[:1], streams[-1:])]
    shared = [common(x[4], 0, y[4], 0, x[3]) if x[:3] == y[:3] else 0 for x, y in pairs]
    return (shared[-1], max(shared[:-1])) if len(given) > 1 else (0, 0)
