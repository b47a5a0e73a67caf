"""The command line: `python3 -m kvhash_pure COMMAND` (FORMAT.md, "Command line").

Files and streams in and out live here, and nothing that hashes. Exit status: 0 fine, 1 the answer
is "no", 2 bad input or usage, said in one line on stderr.
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

from . import __version__, explain_cli, selftest
from .base58 import to_base58
from .contract import CONTRACTS, Contract
from .errors import KvHashingError, require_block_size, shown
from .hash_forms import columns, report_of, rows, table
from .jsonform import load_request
from .lineage import MODES, PositionalLineageHash
from .request import Request
from .strict_json import hex64, hex128, loads


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
    parser = _Parser(prog="python3 -m kvhash_pure", description=__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"kvhash_pure {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")

    command = commands.add_parser("hash", help="all hashes of a request, or of JSON lines")
    command.add_argument("file", metavar="FILE", help="request JSON or JSON lines; - for stdin")
    command.add_argument("--block-size", type=_block_size, metavar="N", help="slots a block")
    names = command.add_mutually_exclusive_group()
    names.add_argument("--contract", choices=[row.name for row in CONTRACTS])
    names.add_argument("--all", action="store_true", help="both contracts and the router")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a request")
    form.add_argument("--csv", action="store_true", help="one CSV row a block")
    command.set_defaults(run=_hash)

    explain_cli.add_commands(commands, _load)

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
    except KvHashingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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


def _hash(args: argparse.Namespace) -> int:
    status = 0
    with _open(args.file) as stream:
        many, texts = _texts(args.file, stream)
        write = _Writer(args, many)
        for number, text in enumerate(texts, 1):
            if text.strip() or not many:
                try:
                    write(number, *load_request(text))
                except KvHashingError as error:
                    write.clear_progress()
                    line = f"line {number}: " if many else ""
                    _complain(f"{args.file}: {line}{error}")
                    status = 2
        write.clear_progress()
    return status


def _load(path: str) -> list[tuple[str, Request, int | None]]:
    """The requests of a file, with the name of each and the block size that it names."""
    name = "stdin" if path == "-" else path
    loaded = []
    with _open(path) as stream:
        many, texts = _texts(path, stream)
        for number, text in enumerate(texts, 1):
            if text.strip() or not many:
                one = f"{name}:{number}" if many else name
                try:
                    loaded.append((one, *load_request(text)))
                except KvHashingError as error:
                    raise Failure(f"{one}: {error}") from None
    return loaded


def _texts(path: str, stream: IO[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Whether the stream is JSON lines, and its texts: each line, blank ones too, or all as one.

    Lines go through one by one if the first is a whole JSON value. If it is not, it is a bad line
    where another line is a request of its own (no part of one document is), else all is one text.
    """
    head, full = [], 0
    for line in stream:
        head.append(line)
        full += bool(line.strip())
        if full == 2:
            break
    first = next(filter(bytes.strip, head), b"")
    if path.endswith((".jsonl", ".ndjson")) or (full == 2 and _value_of(first) is not None):
        return True, chain(head, stream)
    head.extend(stream)
    if any(line.startswith(b"{") and "tokens" in (_value_of(line) or ()) for line in head[1:]):
        return True, iter(head)
    return False, iter([b"".join(head)])


def _value_of(line: bytes) -> Any:
    """The JSON object or list in `line`; None if it is no JSON, and for a lone number or text."""
    try:
        value = loads(line)
    except KvHashingError:
        return None
    return value if isinstance(value, (dict, list)) else None


class _Writer:
    """Writes one request's hashes in the form asked for, and progress on a terminal's stderr."""

    def __init__(self, args: argparse.Namespace, many: bool) -> None:
        self._args = args
        self._many = many
        self._progress = many and sys.stderr.isatty()
        self._next = time.monotonic() + 0.5
        self._requests = self._tokens = 0

    def __call__(self, number: int, request: Request, size: int | None) -> None:
        args = self._args
        if args.contract is not None:
            request = request.under(Contract.named(args.contract))
        size = size if args.block_size is None else args.block_size
        report = report_of(request, size, args.all)
        if args.csv:
            if not self._requests:
                print("request", *columns(args.all), sep=",")
            for row in rows(report, args.all):
                print(number, *row, sep=",")
        elif args.json or self._many:
            print(json.dumps(report))
        else:
            print(table(request, report, args.all))
        self._requests += 1
        self._tokens += request.total_tokens
        if self._progress and time.monotonic() >= self._next:
            self._next += 0.5
            text = f"\r{self._requests} requests, {self._tokens / 1e6:.1f} M tokens"
            print(text, end="", file=sys.stderr, flush=True)

    def clear_progress(self) -> None:
        if self._progress:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _read_plh(text: str) -> PositionalLineageHash:
    """A PLH in any notation that it is printed in."""
    if text.lstrip().startswith("["):
        octets = loads(text)
        if isinstance(octets, list) and all(type(o) is int and 0 <= o < 256 for o in octets):
            return PositionalLineageHash.from_bytes(bytes(octets))
    digits = "".join(text.lower().replace("0x", "").split()).replace(":", "").replace("-", "")
    if len(digits) == 32 and not digits.strip("0123456789abcdef"):
        return PositionalLineageHash.from_u128(int(digits, 16))
    if ":" in text:
        return PositionalLineageHash.parse(text.strip())
    expected = "32 hex digits, 16 bytes as hex or as a JSON list, or position:base58:base58"
    raise Failure(f"{shown(text)} is no PLH; expected {expected}")


def _decode(args: argparse.Namespace) -> int:
    plh = _read_plh(args.plh)
    mode, first, last, position_bits, fragment_bits = MODES[plh.mode]
    current, fragment = plh.current_sequence_hash, plh.parent_hash_fragment
    if args.json:
        fields = {
            "plh": hex128(int(plh)),
            "plh_text": str(plh),
            "mode": mode,
            "position": plh.position,
            "sequence_hash": hex64(current),
            "parent_hash_fragment": hex64(fragment),
            "fragment_bits": fragment_bits,
        }
        print(json.dumps(fields))
        return 0
    signed = current - (current >> 63 << 64)
    print(f"plh              {hex128(int(plh))}")
    print(f"text             {plh}")
    print(f"bytes            {bytes(plh).hex(' ')}")
    print(f"mode             {mode}: positions {first} to {last} in {position_bits} bits")
    print(f"position         {plh.position}")
    print(f"sequence hash    {hex64(current)}  u64 {current}  i64 {signed}  {to_base58(current)}")
    if plh.position == 0 and fragment == 0:
        print("parent fragment  none: the first block")
    else:
        print(f"parent fragment  {hex64(fragment)}: low {fragment_bits} bits of the parent's hash")
    print("contract         not in the 128 bits: it is that of whoever made them")
    return 0


def _selftest(args: argparse.Namespace) -> int:
    checks, failures = selftest.run()
    for line in failures:
        print(f"WRONG  {line}")
    print(f"kvhash_pure {__version__}: {checks - len(failures)}/{checks} known answers are right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
