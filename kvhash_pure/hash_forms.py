"""A request's hashes as the command line gives them: JSON, table, CSV (FORMAT.md, "Command line").

Shapes only. Each comes in two kinds: under the request's contract, or under every name that
Dynamo has for a block (`every_name`: both contracts and the router).
"""

from __future__ import annotations

from collections.abc import Iterator

from .contract import CONTRACTS
from .jsonform import hash_report, report_head
from .request import Request
from .router import REPRESENTATION_NAMES, representations
from .strict_json import hex64

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any

BLOCK_NAMES = ("position", "block_hash", "sequence_hash", "plh", "plh_text")
_OF_REQUEST = {False: ("contract", "block_size"), True: ("block_size",)}
_OF_BLOCK = {False: BLOCK_NAMES, True: REPRESENTATION_NAMES}


def report_of(request: Request, block_size: int | None, every_name: bool) -> dict[str, Any]:
    """The JSON form. `block_size` None: 16, and the report says that it was chosen."""
    if not every_name:
        return hash_report(request, block_size)
    report = report_head(block_size)
    report["salt_hash"] = {row.name: hex64(request.under(row).salt_hash()) for row in CONTRACTS}
    blocks = representations(request, report["block_size"])
    report["blocks"] = [block.to_dict() for block in blocks]
    report["tail"] = request.total_tokens % report["block_size"]
    return report


def columns(every_name: bool) -> tuple[str, ...]:
    """The head of the CSV form."""
    return *_OF_REQUEST[every_name], *_OF_BLOCK[every_name]


def rows(report: dict[str, Any], every_name: bool) -> Iterator[list[object]]:
    """The lines of the CSV form, one a block; no cell has a comma."""
    of_request = [report[name] for name in _OF_REQUEST[every_name]]
    for block in report["blocks"]:
        yield of_request + [_cell(block[name]) for name in _OF_BLOCK[every_name]]


def _cell(value: Any) -> object:
    return " ".join(map("=".join, value)) if isinstance(value, list) else value


def table(request: Request, report: dict[str, Any], every_name: bool) -> str:
    """The form for people: blocks below each other, or all names of one below each other."""
    lines = [*_head(request, report), ""]
    if every_name:
        width = max(map(len, REPRESENTATION_NAMES))
        for block in report["blocks"]:
            lines.append(f"block {block['position']}")
            lines += [f"  {name:{width}}  {block[name]}" for name in REPRESENTATION_NAMES[1:-1]]
            lines += [f"  the same: {' = '.join(names)}" for names in block["agree"]]
    else:
        cells = [BLOCK_NAMES, *(list(map(str, row[2:])) for row in rows(report, False))]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    return "\n".join(lines)


def _head(request: Request, report: dict[str, Any]) -> Iterator[str]:
    salt_hash = report["salt_hash"]
    if isinstance(salt_hash, str):
        yield f"contract    {request.contract.name}: {request.contract.matches}"
    else:
        salt_hash = "  ".join(f"{name} {value}" for name, value in salt_hash.items())
    chosen = " (default)" if report.get("block_size_is_default") else ""
    yield f"block size  {report['block_size']}{chosen}"
    count, tail = len(report["blocks"]), report["tail"]
    yield f"tokens      {request.total_tokens}: {count} blocks, tail of {tail} not hashed"
    for name, value in (("salt", request.salt), ("lora_name", request.lora_name)):
        salt_hash += f"  {name} {value!a}" if value else ""
    yield f"salt hash   {salt_hash}"
    for run in request.mm_info:
        yield f"run         slots {run.offset} to {run.end - 1}  mm_hash {hex64(run.mm_hash)}"
