"""What requests look like to hypothesis: small, with runs anywhere and text of every kind."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kvhash_pure import DOCUMENTED, DYNAMO_1_3, PositionalLineageHash, Request, RequestMmObjectInfo
from tests.helpers import POSITION_EDGES, U32_MAX, U64_MAX

u64 = st.one_of(st.integers(0, U64_MAX), st.sampled_from([0, 1, 2**53 + 1, 2**63, U64_MAX]))
tokens_of_u32 = st.one_of(st.integers(0, U32_MAX), st.integers(0, 3))
contracts = st.sampled_from([DOCUMENTED, DYNAMO_1_3])
block_sizes = st.one_of(st.integers(1, 9), st.sampled_from([16, 19, 60, 61, 64]))
# Everything that UTF-8 can carry: control characters, quotes, emoji, unassigned code points. Drawn
# by number, because hypothesis' table of Unicode categories takes seconds to build.
_code_points = st.integers(0, 0x10F7FF).map(lambda n: chr(n if n < 0xD800 else n + 0x800))
_awkward = st.sampled_from("\"\\/\0\b\t\n\f\r\x1f\x7f\x80\xe9\u0301\u2028\ufeff\U0001f600az")
texts = st.lists(_awkward | _code_points, max_size=12).map("".join)
names: st.SearchStrategy[str | None] = st.one_of(st.none(), texts)
positions = st.one_of(st.integers(0, 2**24 - 1), st.sampled_from(POSITION_EDGES))


@st.composite
def runs_within(draw: Any, total: int) -> list[RequestMmObjectInfo]:
    """Runs that are valid for `total` slots, sorted; often touching, often none."""
    runs, offset = [], 0
    for _ in range(draw(st.integers(0, 4))):
        offset += draw(st.integers(0, 9))
        if offset >= total:
            break
        length = draw(st.integers(1, min(20, total - offset)))
        runs.append(RequestMmObjectInfo(draw(u64), offset, length))
        offset += length
    return runs


@st.composite
def requests(draw: Any, *, most: int = 90, least: int = 0) -> Request:
    tokens = draw(st.lists(tokens_of_u32, min_size=least, max_size=most))
    return Request(
        tokens,
        lora_name=draw(names),
        salt=draw(names),
        mm_info=draw(runs_within(len(tokens))),
        contract=draw(contracts),
    )


@st.composite
def plhs(draw: Any) -> PositionalLineageHash:
    position = draw(positions)
    parent = draw(u64) if position else None
    return PositionalLineageHash.new(draw(u64), parent, position, draw(contracts))


def as_dict(request: Request, block_size: int) -> dict[str, Any]:
    return {**request.to_dict(), "block_size": block_size}


def changed(request: Request, **fields: Any) -> Request:
    """The same request with some fields different."""
    same: dict[str, Any] = {
        name: getattr(request, name)
        for name in ("tokens", "lora_name", "salt", "mm_info", "contract")
    }
    return Request(**{**same, **fields})
