"""The command line: `python3 -m kvhash_pure COMMAND` (FORMAT.md, "Command line").

Files and streams in and out live here, and nothing that hashes or knows how answers look. Exit
status: 0 fine, 1 the answer is "no", 2 bad input or usage, said in one line on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, Any, NoReturn

from . import __version__, forms, notation, selftest
from .compare import Comparison, compare
from .contract import CONTRACTS, Contract
from .errors import KvHashingError, require_block_size, shown
from .identify import identify
from .jsonform import DEFAULT_BLOCK_SIZE, hash_report, load_request
from .lineage import PositionalLineageHash
from .prefix_tree import PrefixTree, prefix_groups
from .request import Request
from .strict_json import loads


class Failure(Exception):
    """What is said in one line on stderr before exit status 2."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message[:400]} (see: {self.prog} --help)")


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit status; prints no traceback for bad input."""
    try:
        args = _parser().parse_args(argv)
        status: int = args.run(args)
        if sys.stdout is not None:  # it is None after `>&-`
            sys.stdout.flush()
        return status
    except (Failure, KvHashingError) as error:
        _complain(error)
    except KeyboardInterrupt:
        _complain("interrupted")
    except BrokenPipeError:  # the reader went away, as `head` does
        _drop_stdout()
    except OSError as error:
        _complain(error.strerror or error)
        _drop_stdout()
    return 2


def _complain(what: object) -> None:
    """One line on stderr, whatever stands in file names."""
    print("kvhash_pure:", " ".join(str(what).splitlines()), file=sys.stderr)


def _drop_stdout() -> None:
    """What is still in the buffer cannot be written; Python would complain when it leaves."""
    with suppress(OSError, AttributeError):  # no file behind it, so nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    text = "The keys of a request's KV-cache blocks, and why two requests (do not) share them."
    parser = _Parser(prog="python3 -m kvhash_pure", description=text)
    parser.add_argument("--version", action="version", version=f"kvhash_pure {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")

    command = commands.add_parser("hash", help="all hashes of a request, or of JSON lines")
    command.add_argument("file", metavar="FILE", help="request JSON or JSON lines; - for stdin")
    text = "slots a block; otherwise the request's own, or 16"
    command.add_argument("--block-size", type=_block_size, metavar="N", help=text)
    names = command.add_mutually_exclusive_group()
    names.add_argument("--contract", choices=[row.name for row in CONTRACTS])
    names.add_argument("--all", action="store_true", help="both contracts and the router")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a request")
    form.add_argument("--csv", action="store_true", help="one CSV row a block")
    command.set_defaults(run=_hash)

    command = commands.add_parser("compare", help="why two requests share a prefix, or do not")
    text = "two requests: why; more, or JSON lines: the tree of what they share"
    command.add_argument("files", metavar="FILE", nargs="+", help=text)
    text = "slots a block; two sizes: those of the first and the second request"
    command.add_argument("--block-size", type=_block_sizes, metavar="N[,M]", help=text)
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_compare)

    command = commands.add_parser("identify", help="which hash of a request a number is")
    command.add_argument("file", metavar="REQUEST", help="request JSON; - for stdin")
    text = "u64, signed i64, hex, base58, a PLH as text, u128, or a JSON list of 16 bytes"
    command.add_argument("hashes", metavar="HASH", nargs="+", help=text)
    text = "try only these; otherwise the request's own and powers of two from 1 to 4096"
    command.add_argument("--block-size", type=_block_sizes, metavar="N[,M...]", help=text)
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_identify)

    command = commands.add_parser("decode", help="the fields of a PLH")
    command.add_argument("plh", metavar="PLH", help="hex, 16 bytes as hex or JSON, or its text")
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_decode)

    command = commands.add_parser("selftest", help="check the bundled known answers")
    command.set_defaults(run=_selftest)
    return parser


def _block_size(text: str) -> int:
    if not (text.isascii() and text.lstrip("-").isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    try:
        return require_block_size(int(text))
    except (KvHashingError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _block_sizes(text: str) -> list[int]:
    return [_block_size(part) for part in text.split(",")]


def _open(path: str) -> IO[bytes]:
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:  # after `<&-`, or `- -`
            raise Failure("cannot read standard input: it is closed, or named twice")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"cannot read {path!a}: {error}") from None  # a NUL in the name


def _texts(path: str) -> Iterator[tuple[int, str, bytes]]:
    """The requests of a file as JSON: line (0: the file is one request), name and text of each.

    Lines are read one by one if the first is a whole JSON value. If it is not, it is a bad line
    where another line is a request of its own (no part of one document is), else all is one text.
    """
    name = "stdin" if path == "-" else path
    with _open(path) as stream:
        head, filled = [], []
        for line in stream:
            head.append(line)
            filled += [line] if line.strip() else []
            if len(filled) == 2:
                break
        many = len(filled) == 2 and _value_of(filled[0]) is not None
        many = many or path.endswith((".jsonl", ".ndjson"))
        if not many:
            head.extend(stream)
            others = (line for line in head[1:] if line.startswith(b"{"))
            many = any("tokens" in (_value_of(line) or ()) for line in others)
        if not many:
            yield 0, name, b"".join(head)
            return
        for number, line in enumerate(chain(head, stream), 1):
            if line.strip():
                yield number, f"{name}:{number}", line


def _value_of(line: bytes) -> Any:
    """The JSON object or list in `line`; None if it is no JSON, and for a lone number or text."""
    try:
        value = loads(line)
    except KvHashingError:
        return None
    return value if isinstance(value, (dict, list)) else None


def _load(path: str) -> Iterator[tuple[str, Request, int | None]]:
    """The requests of a file, with the name of each and the block size that it names."""
    for _, name, text in _texts(path):
        try:
            yield (name, *load_request(text))
        except KvHashingError as error:
            raise Failure(f"{name}: {error}") from None


def _hash(args: argparse.Namespace) -> int:
    status = done = tokens = 0
    is_watched = forms.is_terminal(sys.stderr) and not forms.is_terminal(sys.stdout)
    due = time.monotonic() + 0.5
    for line, name, text in _texts(args.file):
        try:
            request, size = load_request(text)
            if args.contract is not None:
                request = request.under(Contract.named(args.contract))
            report = hash_report(request, args.block_size or size, every_name=args.all)
        except KvHashingError as error:
            _tell(is_watched, "")
            _complain(f"{name}: {error}")
            status = 2
            continue
        if args.csv:
            for row in forms.csv_rows(report, line or 1)[bool(done) :]:  # one head for all
                print(*row, sep=",")
        else:
            print(json.dumps(report) if args.json or line else forms.hash_table(request, report))
        done += 1
        tokens += request.total_tokens
        if line and time.monotonic() >= due:
            due += 0.5
            _tell(is_watched, f"{done} requests, {tokens / 1e6:.1f} M tokens")
    _tell(is_watched, "")
    return status


def _tell(is_watched: bool, progress: str) -> None:
    """Shows how far we are, in place of what was shown before."""
    if is_watched:
        print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)


def _compare(args: argparse.Namespace) -> int:
    loaded = [one for path in args.files for one in _load(path)]
    if len(loaded) < 2:
        raise Failure(f"compare needs at least two requests; got {len(loaded)}")
    paths, requests, own = zip(*loaded)
    numbered = [f"{path} ({n})" for n, path in enumerate(paths, 1)]  # one file given twice
    shortest = ([*map(os.path.basename, paths)], [*paths], numbered)
    names = next(names for names in shortest if len({*names}) == len(names))
    given = args.block_size or [size or DEFAULT_BLOCK_SIZE for size in own]
    sizes = given * len(loaded) if len(given) == 1 else given
    if len(sizes) != len(loaded):
        raise Failure(f"{len(sizes)} block sizes for {len(loaded)} requests; give one for all")
    if len(loaded) > 2 and len({*sizes}) > 1:
        named = {size: [n for n, s in zip(names, sizes) if s == size] for size in sizes}
        text = ", ".join(f"{size} ({forms.listed(who)})" for size, who in named.items())
        raise Failure(f"block sizes differ: {text}; a tree has one, --block-size N settles it")
    is_default = not args.block_size and not all(own)
    answer: Comparison | PrefixTree
    if len(loaded) == 2:
        answer = compare(requests[0], requests[1], sizes, names=(names[0], names[1]))
        shares, lines = answer.shared_blocks > 0, forms.comparison(answer, requests)
    else:
        answer = prefix_groups(requests, sizes[0])
        shares, lines = answer.tokens_saved > 0, forms.tree(answer, names, requests)
    if is_default:
        lines.append(f"block size  {DEFAULT_BLOCK_SIZE} (default) where no file names one")
    more = {"names": names, "block_size_is_default": is_default}
    return _answer(args, {**answer.to_dict(), **more}, str(answer), lines, shares)


def _identify(args: argparse.Namespace) -> int:
    loaded = list(_load(args.file))
    if len(loaded) != 1:
        raise Failure(f"identify needs one request; {args.file} has {len(loaded)}")
    _, request, own = loaded[0]
    answer = identify(request, args.hashes, block_size=own, block_sizes=args.block_size)
    return _answer(args, answer.to_dict(), str(answer), forms.identification(answer), answer.found)


def _answer(
    args: argparse.Namespace, form: dict[str, object], sentence: str, lines: list[str], good: bool
) -> int:
    """Prints JSON, or the sentence and the evidence; the exit status says whether it is good."""
    if args.json:
        print(json.dumps(form))
    else:
        text = "\n".join([forms.paint("good" if good else "bad", sentence), *lines])
        # Names come from users and file systems: what the terminal cannot show is escaped.
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
    return 0 if good else 1


def _decode(args: argparse.Namespace) -> int:
    text = args.plh.strip()
    if ":" in text:
        plh = PositionalLineageHash.parse(text)  # whose errors say more than those of `read`
    else:
        wide = [one for one in notation.read(text, field="plh") if one.bits == 128]
        if not wide:
            raise Failure(f"{shown(text)} is no PLH, which has 128 bits (for 64, see identify)")
        named = (one.plh for one in wide)
        plh = next(filter(None, named), None) or PositionalLineageHash.from_u128(wide[-1].value)
    form = forms.decoded(plh)
    print(json.dumps(form) if args.json else "\n".join(f"{k:22}{v}" for k, v in form.items()))
    return 0


def _selftest(args: argparse.Namespace) -> int:
    checks, failures = selftest.run()
    for line in failures:
        print(f"WRONG  {line}")
    print(f"kvhash_pure {__version__}: {checks - len(failures)}/{checks} known answers are right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
