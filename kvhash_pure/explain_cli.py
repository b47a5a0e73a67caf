"""The commands `compare` and `identify` (FORMAT.md, "Command line"): a sentence, then the evidence.

Prints answers and nothing else; files are read by the function that `add_commands` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable

from .compare import Comparison, compare
from .errors import FieldValueError, KvHashingError, require_block_size
from .identify import identify
from .jsonform import DEFAULT_BLOCK_SIZE
from .prefix_tree import PrefixTree, prefix_groups
from .request import Request
from .results import Result, count
from .strict_json import hex64

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    # Name, request, and the block size that its file names.
    Loaded = tuple[str, Request, "int | None"]
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

_SHOWN = 20
_COLOURS = {"good": "32", "bad": "31", "faint": "2", "bold": "1"}


def add_commands(commands: Commands, load: Callable[[str], list[Loaded]]) -> None:
    """Adds both commands to the parser; `load` reads the requests of a file name or `-`."""
    command = commands.add_parser("compare", help="why two requests share a prefix, or do not")
    text = "two requests: why; more, or JSON lines: the tree of what they share"
    command.add_argument("files", metavar="FILE", nargs="+", help=text)
    text = "slots a block; two sizes: those of the first and the second request"
    command.add_argument("--block-size", type=_sizes, metavar="N[,M]", help=text)
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_compare, load=load)

    command = commands.add_parser("identify", help="which hash of a request a number is")
    command.add_argument("file", metavar="REQUEST", help="request JSON; - for stdin")
    text = "u64, signed i64, hex, base58, a PLH as text, u128, or a JSON list of 16 bytes"
    command.add_argument("hashes", metavar="HASH", nargs="+", help=text)
    text = "try only these; otherwise the request's own and powers of two from 1 to 4096"
    command.add_argument("--block-size", type=_sizes, metavar="N[,M...]", help=text)
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_identify, load=load)


def _sizes(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isascii() and part.lstrip("-").isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, nor several with commas")
    try:
        return [require_block_size(int(part)) for part in parts]
    except KvHashingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _compare(args: argparse.Namespace) -> int:
    loaded: list[Loaded] = [one for path in args.files for one in args.load(path)]
    names = [name for name, _, _ in loaded]
    short = [os.path.basename(name) for name in names]
    names = short if len({*short}) == len(names) else names
    requests = [request for _, request, _ in loaded]
    if len(loaded) < 2:
        expected = "at least two"
        raise FieldValueError(field="number of requests", value=len(loaded), expected=expected)
    sizes = args.block_size or [size or DEFAULT_BLOCK_SIZE for _, _, size in loaded]
    if len(sizes) == 1:
        sizes *= len(loaded)
    elif len(sizes) != len(loaded) or (len(loaded) > 2 and len({*sizes}) > 1):
        expected = "one for all; two for two requests"
        raise FieldValueError(field="block size", value=sizes, expected=expected)
    result: Comparison | PrefixTree
    if len(loaded) == 2:
        result = compare(requests[0], requests[1], sizes, names=(names[0], names[1]))
        shares, lines = result.shared_blocks > 0, _comparison_lines(result, names, requests)
    else:
        result = prefix_groups(requests, sizes[0])
        shares, lines = result.tokens_saved > 0, _tree_lines(result, names)
    default = not args.block_size and not all(size for _, _, size in loaded)
    if default:
        lines.append(f"block size  {DEFAULT_BLOCK_SIZE} (default) where no file names one")
    more = {"names": names, "block_size_is_default": default}
    _print(args, result, lines, shares, more)
    return 0 if shares else 1


def _identify(args: argparse.Namespace) -> int:
    loaded = args.load(args.file)
    if len(loaded) != 1:
        raise FieldValueError(field="number of requests", value=len(loaded), expected="one")
    _, request, own = loaded[0]
    result = identify(request, args.hashes, block_size=own, block_sizes=args.block_size)
    lines: list[str] = []
    for one in result.observed:
        readings = ", ".join(f"{r.notation} {r.hex}" for r in one.readings)
        lines += ["", _paint("good" if one.matches else "bad", one.text) + f"  read as {readings}"]
        for reading in one.readings:
            if reading.plh is not None:
                lines.append(f"  as a PLH: position {reading.plh.position}, text {reading.plh}")
        lines += _cut([f"  {result.matches[i].sentence}" for i in one.matches])
        if not one.matches:
            lines.append("  no match")
    _print(args, result, lines, result.found, {})
    return 0 if result.found else 1


def _print(
    args: argparse.Namespace,
    result: Result,
    lines: list[str],
    good: bool,
    more: dict[str, object],
) -> None:
    if args.json:
        print(json.dumps({**result.to_dict(), **more}))
    else:
        text = "\n".join([_paint("good" if good else "bad", str(result)), *lines])
        # Names come from users and file systems: what the terminal cannot show is escaped.
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))


def _comparison_lines(result: Comparison, names: list[str], requests: list[Request]) -> list[str]:
    lines = [""]
    sides = zip(names, result.contracts, result.block_sizes, result.tokens)
    for name, contract, size, tokens in sides:
        text = f"{name}: contract {contract}, {count(tokens, 'token')}, "
        text += f"{count(tokens // size, 'block')} of {size}, tail of {tokens % size} not hashed"
        lines.append("request     " + text)
    lines.append(f"equal       {count(result.equal_tokens, 'leading slot')}")
    label = "cause       "
    for cause in result.causes:
        lines.append(f"{label}{_paint('bold', cause.cause)}: {cause.sentence}")
        label = "then        "
    if not result.causes_complete:
        lines.append("            what follows could not be aligned again, or is too much to list")
    for name, request, size in zip(names, requests, result.block_sizes):
        position = result.position
        if position is not None and position < request.total_tokens // size:
            block = request.into_blocks(size)[position]
            label = f"block {position}".ljust(12)
            lines.append(f"{label}{name}: block hash {hex64(block.block_hash)}, PLH {block.plh}")
    lines += [f"what if     {one.sentence}" for one in result.would_share]
    if result.same_content:
        text = f"{_ranges(result.same_content)} of {names[1]}"
        lines.append(f"content     the same but not reusable (other lineage): {text}")
    return lines + [f"note        {note}" for note in result.notes]


def _tree_lines(result: PrefixTree, names: list[str]) -> list[str]:
    children: dict[int | None, list[int]] = {}
    for i, edge in enumerate(result.edges):
        children.setdefault(edge.parent, []).append(i)
    several = len({edge.contract for edge in result.edges}) > 1
    lines = [""]
    todo = [(i, "", "", "") for i in reversed(children.get(None, []))]
    while todo:
        i, before, fork, indent = todo.pop()
        edge = result.edges[i]
        members = [names[n] for n in edge.requests]
        text = f"{count(edge.blocks, 'block')} ({count(edge.tokens, 'token')})  "
        if len(members) > 1:
            text += _paint("good", f"shared by {len(members)}: ") + _names(members)
            text += f", saves {count(edge.saved_tokens, 'token')}"
        else:
            text += members[0]
        if edge.parent is None and several:
            text += f"  contract {edge.contract}"
        lines.append(f"{before}{fork}{text}  {_paint('faint', edge.last_plh)}")
        below = children.get(i, [])
        for child in reversed(below):
            last = child == below[-1]
            more = ("└─ ", "   ") if last else ("├─ ", "│  ")
            todo.append((child, before + indent, *more))
    if result.without_blocks:
        short = _names([names[n] for n in result.without_blocks])
        lines.append(f"shorter than one block: {short}")
    return lines


def _names(names: list[str]) -> str:
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + more


def _cut(lines: list[str]) -> list[str]:
    more = [f"  and {len(lines) - _SHOWN} more (all of them with --json)"] * (len(lines) > _SHOWN)
    return lines[:_SHOWN] + more


def _ranges(positions: tuple[int, ...]) -> str:
    """Blocks 3, 5-7 of ascending positions."""
    parts: list[list[int]] = []
    for position in positions:
        if parts and parts[-1][1] == position - 1:
            parts[-1][1] = position
        else:
            parts.append([position, position])
    text = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts[:_SHOWN])
    more = ", ..." if len(parts) > _SHOWN else ""
    return f"{'block' if len(positions) == 1 else 'blocks'} {text}{more}"


def _paint(style: str, text: str) -> str:
    """Colour on a terminal that did not ask for none (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return text
    return f"\033[{_COLOURS[style]}m{text}\033[0m"
