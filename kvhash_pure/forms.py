"""Answers in the forms of the command line: tables, CSV, trees (FORMAT.md, "Command line")."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .base58 import to_base58
from .compare import Comparison
from .identify import Identification
from .jsonform import BLOCK_NAMES
from .lineage import MODES, PositionalLineageHash
from .prefix_tree import PrefixTree
from .request import Request
from .results import count
from .router import REPRESENTATION_NAMES
from .strict_json import hex64, hex128

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any

_COLOURS = {"good": "32", "bad": "31", "faint": "2", "bold": "1"}


def paint(style: str, text: str) -> str:
    """Colour on a terminal that did not ask for none (https://no-color.org)."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if unwanted or not is_terminal(sys.stdout):
        return text
    return f"\033[{_COLOURS[style]}m{text}\033[0m"


def is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()  # it is None where the shell closed it


def listed(items: Sequence[str], most: int = 6) -> str:
    """The items, or the first of them and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _named(request: Request) -> str:
    """What a request has of salt and adapter; the table is ASCII, so they are escaped."""
    both = (("salt", request.salt), ("lora_name", request.lora_name))
    return "".join(f"  {name} {value!a}" for name, value in both if value)


# hash


def csv_rows(report: dict[str, Any], number: int) -> list[list[object]]:
    """A report as CSV: the head, then a row for each block; no cell has a comma."""
    of_report = [name for name in ("contract", "block_size") if name in report]
    of_block = BLOCK_NAMES if "contract" in report else REPRESENTATION_NAMES
    rows: list[list[object]] = [["request", *of_report, *of_block]]
    for block in report["blocks"]:
        cells = (block[name] for name in of_block)
        text = (" ".join(map("=".join, c)) if isinstance(c, list) else c for c in cells)
        rows.append([number, *(report[name] for name in of_report), *text])
    return rows


def hash_table(request: Request, report: dict[str, Any]) -> str:
    """A report as a table: a line for each block, or of every name for each block."""
    lines = []
    salt_hash = report["salt_hash"]
    every_name = not isinstance(salt_hash, str)
    if every_name:
        salt_hash = "  ".join(f"{name} {value}" for name, value in salt_hash.items())
    else:
        lines.append(f"contract    {request.contract.name}: {request.contract.matches}")
    chosen = " (default)" if "block_size_is_default" in report else ""
    blocks, tail = report["blocks"], f"tail of {report['tail']} not hashed"
    salt_hash += _named(request)
    lines += [
        f"block size  {report['block_size']}{chosen}",
        f"tokens      {request.total_tokens}: {count(len(blocks), 'block')}, {tail}",
        f"salt hash   {salt_hash}",
    ]
    for run in request.mm_info:
        lines.append(
            f"run         slots {run.offset} to {run.end - 1}  mm_hash {hex64(run.mm_hash)}"
        )
    lines.append("")
    if every_name:
        width = max(map(len, REPRESENTATION_NAMES))
        for block in blocks:
            lines.append(f"block {block['position']}")
            lines += [f"  {name:{width}}  {block[name]}" for name in REPRESENTATION_NAMES[1:-1]]
            lines += [f"  the same: {' = '.join(names)}" for names in block["agree"]]
    else:
        rows = [BLOCK_NAMES, *([str(block[name]) for name in BLOCK_NAMES] for block in blocks)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


# compare


def comparison(result: Comparison, requests: Sequence[Request]) -> list[str]:
    """What the sentence of a comparison says in short, line by line."""
    lines = [""]
    for side in (result.a, result.b):
        text = f"{side.name}: contract {side.contract}, {count(side.tokens, 'token')}, "
        text += f"{count(side.blocks, 'block')} of {side.block_size}"
        lines.append(f"request     {text}, tail of {side.tail} not hashed")
    lines.append(f"equal       {count(result.equal_tokens, 'leading slot')}")
    for i, cause in enumerate(result.causes):
        label = "then" if i else "cause"
        lines.append(f"{label:12}{paint('bold', cause.cause)}: {cause.sentence}")
    if not result.causes_complete:
        lines.append(" " * 12 + "what follows could not be aligned again, or is too much to list")
    for side, request in zip((result.a, result.b), requests):
        position = result.position
        if position is not None and position < side.blocks:
            block = request.into_blocks(side.block_size)[position]
            text = f"block hash {hex64(block.block_hash)}, PLH {block.plh}"
            lines.append(f"{f'block {position}':12}{side.name}: {text}")
    lines += [f"what if     {one.sentence}" for one in result.would_share]
    if result.same_content:
        blocks = f"{count(len(result.same_content), 'block')} of {result.b.name}"
        text = f"{blocks}, the first of them block {result.same_content[0]}"
        lines.append(f"content     the same but not reusable (other lineage): {text}")
    return lines + [f"note        {note}" for note in result.notes]


def tree(result: PrefixTree, names: Sequence[str], requests: Sequence[Request]) -> list[str]:
    """The edges of a prefix tree below each other; why roots differ, where tokens do not say it."""
    children: dict[int | None, list[int]] = {}
    for i, edge in enumerate(result.edges):
        children.setdefault(edge.parent, []).append(i)
    several = len({edge.contract for edge in result.edges}) > 1
    lines = [""]
    todo = [(i, "", "", "") for i in reversed(children.get(None, []))]
    while todo:
        i, before, fork, indent = todo.pop()
        edge = result.edges[i]
        below = children.get(i, [])
        members = [names[n] for n in edge.requests]
        text = f"{count(edge.blocks, 'block')} ({count(edge.tokens, 'token')})  "
        if len(members) > 1:
            text += f"{paint('good', f'shared by {len(members)}:')} {listed(members)}"
            text += f", saves {count(edge.saved_tokens, 'token')}"
        else:
            text += members[0]
        if below and edge.ends:  # where nothing follows, all end
            verb = "ends" if len(edge.ends) == 1 else "end"
            text += f"; {listed([names[n] for n in edge.ends])} {verb} here"
        if edge.parent is None:
            text += f"  contract {edge.contract}" if several else ""
            text += _named(requests[edge.requests[0]])
        lines.append(f"{before}{fork}{text}  {paint('faint', edge.last_plh)}")
        for child in reversed(below):
            forks = ("└─ ", "   ") if child == below[-1] else ("├─ ", "│  ")
            todo.append((child, before + indent, *forks))
    if result.without_blocks:
        lines.append(f"shorter than one block: {listed([names[n] for n in result.without_blocks])}")
    return lines


# identify and decode


def identification(result: Identification) -> list[str]:
    """How each number was read, and its matches."""
    lines: list[str] = []
    for one in result.observed:
        readings = ", ".join(f"{r.notation} {r.hex}" for r in one.readings)
        lines += ["", f"{paint('good' if one.matches else 'bad', one.text)}  read as {readings}"]
        plhs = filter(None, (reading.plh for reading in one.readings))
        lines += [f"  as a PLH: position {plh.position}, text {plh}" for plh in plhs]
        lines += [f"  {result.matches[i].sentence}" for i in one.matches[:20]]
        if len(one.matches) > 20:
            lines.append(f"  and {len(one.matches) - 20} more (all of them with --json)")
        if not one.matches:
            no_plh = all(r.bits == 128 and r.plh is None for r in one.readings)
            lines.append("  no match" + (": no PLH has these 128 bits" if no_plh else ""))
    return lines


def decoded(plh: PositionalLineageHash) -> dict[str, object]:
    """The fields of a PLH, and its sequence hash in each notation; 64 bits as text."""
    current = plh.current_sequence_hash
    return {
        "plh": hex128(int(plh)),
        "plh_text": str(plh),
        "bytes": bytes(plh).hex(" "),
        "mode": plh.mode,
        "position": plh.position,
        "sequence_hash": hex64(current),
        "sequence_hash_u64": str(current),
        "sequence_hash_i64": str(current - (current >> 63 << 64)),
        "sequence_hash_base58": to_base58(current),
        "parent_hash_fragment": hex64(plh.parent_hash_fragment),
        "fragment_bits": MODES[plh.mode][4],
    }
