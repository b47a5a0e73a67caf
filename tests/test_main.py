"""The command line: tables for people, JSON and CSV for programs, one line for what is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kvhash_pure
from kvhash_pure import selftest
from kvhash_pure.__main__ import main
from tests import reference
from tests.helpers import IN_PYPY, needs_subprocess
from tests.vectors import cases

ROOT = Path(__file__).parent.parent
REQUEST = {
    "tokens": list(range(1, 13)),
    "lora_name": "lora-x",
    "salt": "tenant-a",
    "mm_info": [{"mm_hash": "0xdeadbeef", "offset": 2, "length": 4}],
    "contract": "dynamo-1.3",
    "block_size": 4,
}


class Run:
    """What a command did: exit status, standard output, standard error."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def complains(self, *parts: str) -> None:
        """Exit 2, one line on stderr that has all `parts`, no traceback, nothing on stdout."""
        assert self.status == 2, self.err
        assert self.out == ""
        assert self.err.startswith("kvhash_pure: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        assert "Traceback" not in self.err
        assert len(self.err) < 1000
        for part in parts:
            assert part in self.err


Runner = Callable[..., Run]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs a command in this process; `stdin` is what it reads from "-"."""

    def call(*argv: str, stdin: str | bytes = b"") -> Run:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        status = main(list(argv))
        captured = capsys.readouterr()
        return Run(status, captured.out, captured.err)

    return call


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST, indent=1), encoding="utf-8")
    return path


# hash


def test_hash_as_json(run: Runner, request_file: Path) -> None:
    found = run("hash", str(request_file), "--json")
    assert (found.status, found.err) == (0, "")
    assert found.json == reference.hash_request(REQUEST)
    assert found.out.count("\n") == 1


def test_hash_of_stdin(run: Runner) -> None:
    found = run("hash", "-", "--json", stdin=json.dumps(REQUEST))
    assert found.json == reference.hash_request(REQUEST)


def test_hash_as_a_table(run: Runner, request_file: Path) -> None:
    """Names the contract, the block size, what was salted and each run, then one row a block."""
    found = run("hash", str(request_file))
    assert (found.status, found.err) == (0, "")
    answer = reference.hash_request(REQUEST)
    for part in ("dynamo-1.3", "since 1.3.0", "'tenant-a'", "'lora-x'", "0x00000000deadbeef"):
        assert part in found.out
    assert answer["salt_hash"] in found.out
    lines = found.out.splitlines()
    assert "block size  4" in lines
    assert "tokens      12: 3 blocks, tail of 0 not hashed" in lines
    assert [line.split() for line in lines[-3:]] == [
        [str(value) for value in block.values()] for block in answer["blocks"]
    ]
    assert lines[-4].split() == list(answer["blocks"][0])


def test_the_table_says_what_was_chosen(run: Runner) -> None:
    """Block size 16 and the documented contract are defaults: the output says so."""
    found = run("hash", "-", stdin='{"tokens": [1, 2, 3]}')
    assert "block size  16 (default)" in found.out
    assert "contract    documented: " in found.out
    assert "3: no blocks, tail of 3 not hashed" in found.out
    answer = run("hash", "-", "--json", stdin='{"tokens": [1, 2, 3]}').json
    assert answer.pop("block_size_is_default") is True
    assert answer == reference.hash_request({"tokens": [1, 2, 3]})


def test_the_table_is_ascii(run: Runner) -> None:
    """A salt from elsewhere neither breaks a terminal nor steers it."""
    salt = "\u4e2d\x1b[31m\n\u202e\U0001f600"
    found = run("hash", "-", stdin=json.dumps({"tokens": [1], "salt": salt}))
    assert found.out.isascii()
    assert "\x1b" not in found.out


def test_hash_as_csv(run: Runner, request_file: Path) -> None:
    found = run("hash", str(request_file), "--csv")
    rows = list(csv.DictReader(io.StringIO(found.out)))
    answer = reference.hash_request(REQUEST)
    head = {"request": "1", "contract": "dynamo-1.3", "block_size": "4"}
    expected = [{**head, **{k: str(v) for k, v in block.items()}} for block in answer["blocks"]]
    assert rows == expected


def test_the_command_line_wins_over_the_file(run: Runner, request_file: Path) -> None:
    changed = {**REQUEST, "block_size": 3, "contract": "documented"}
    arguments = ("--block-size", "3", "--contract", "documented", "--json")
    found = run("hash", str(request_file), *arguments)
    assert found.json == reference.hash_request(changed)


@pytest.mark.parametrize("case", cases("known_answers.json")[:40], ids=lambda c: c["name"])
def test_known_answers_by_command(run: Runner, case: dict[str, Any]) -> None:
    from tests.vectors import expand_tokens

    document = {
        key: case[key] for key in ("salt", "lora_name", "mm_info", "contract", "block_size")
    }
    document["tokens"] = expand_tokens(case["tokens"])
    found = run("hash", "-", "--json", stdin=json.dumps(document, ensure_ascii=False))
    assert found.json["salt_hash"] == case["salt_hash"]
    assert [list(block.values()) for block in found.json["blocks"]] == case["blocks"]


@pytest.mark.parametrize("extra", [b"\xef\xbb\xbf", b"\n\n", b" \r\n"])
def test_bom_and_blank_lines_before_a_document(run: Runner, extra: bytes) -> None:
    text = json.dumps(REQUEST, indent=2).replace("\n", "\r\n").encode()
    assert run("hash", "-", "--json", stdin=extra + text).json == reference.hash_request(REQUEST)


# JSON lines


def jsonl(*requests: Any) -> str:
    return "".join(
        (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) + "\n"
        for one in requests
    )


def test_json_lines(run: Runner) -> None:
    """Many requests in, as many answers out, with or without --json."""
    requests = [{**REQUEST, "block_size": size} for size in (1, 2, 3, 4)]
    for arguments in (("--json",), ()):
        found = run("hash", "-", *arguments, stdin=jsonl(*requests))
        assert (found.status, found.err) == (0, "")
        answers = [json.loads(line) for line in found.out.splitlines()]
        assert answers == [reference.hash_request(request) for request in requests]


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_json_lines_by_name(run: Runner, tmp_path: Path, suffix: str) -> None:
    """One request in a file of lines is one line of output, not a table."""
    path = tmp_path / f"one{suffix}"
    path.write_text(jsonl(REQUEST), encoding="utf-8")
    assert run("hash", str(path)).json == reference.hash_request(REQUEST)


def test_json_lines_as_csv(run: Runner) -> None:
    """The first column is the line's number; one header for all."""
    found = run("hash", "-", "--csv", stdin=jsonl(REQUEST, "", REQUEST))
    rows = list(csv.reader(io.StringIO(found.out)))
    assert [row[0] for row in rows] == ["request", "1", "1", "1", "3", "3", "3"]


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        ("{", "JSON is broken"),
        ("[]", "request"),
        ("5", "request"),
        ('{"tokens": [1, -1]}', "tokens[1]"),
        ('{"tokens": [1], "prompt": 2}', "prompt"),
        ('{"tokens": [1], "tokens": [2]}', "tokens"),
        ('{"tokens": [1,', "JSON is broken"),
        ('{"tokens": [1], "block_size": 0}', "block_size"),
    ],
)
@pytest.mark.parametrize("line", [1, 2, 3])
def test_one_bad_line_does_not_stop_the_others(run: Runner, bad: str, part: str, line: int) -> None:
    """It is reported with its number, the others go on, and the exit status says it."""
    lines: list[Any] = [REQUEST, REQUEST]
    lines.insert(line - 1, bad)
    found = run("hash", "-", "--json", stdin=jsonl(*lines))
    assert found.status == 2
    assert found.err.count("\n") == 1
    assert f"stdin:{line}: " in found.err
    assert part in found.err
    answers = [json.loads(one) for one in found.out.splitlines()]
    assert answers == [reference.hash_request(REQUEST)] * 2


def test_blank_lines_and_windows_lines(run: Runner) -> None:
    text = "\ufeff" + jsonl(REQUEST, "", "   ", REQUEST).replace("\n", "\r\n") + "\r\n"
    found = run("hash", "-", "--json", stdin=text)
    assert (found.status, found.err) == (0, "")
    assert len(found.out.splitlines()) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"tokens": [1],\n"salt": "x"}',
        '{"tokens": [1], "mm_info": [\n{"mm_hash": 1, "offset": 0, "length": 1}]}',
        '{"tokens": [1, 2], "mm_info": [{"mm_hash": 1, "offset": 0, "length": 1},\n'
        '{"mm_hash": 2, "offset": 1, "length": 1}]}',
        '{"tokens": [1, 2], "mm_info": [{"mm_hash": 1, "offset": 0, "length": 1}\n,\n'
        '{"mm_hash": 2, "offset": 1, "length": 1}]}',
        '{\n"tokens": [1],\n"mm_info": [{"mm_hash": 1, "offset": 0, "length": 1}\n]}',
        '{"tokens": [1, 2],\n"mm_info": [\n{"mm_hash": 1, "offset": 0, "length": 1},\n'
        '{"mm_hash": 2, "offset": 1, "length": 1}]}',
        '{"mm_info": [{"mm_hash": 1, "offset": 0, "length": 1}\n], "tokens": [1]}',
    ],
)
def test_one_document_over_lines_is_one_document(run: Runner, text: str) -> None:
    """However it is broken into lines, some of which look like objects of their own."""
    found = run("hash", "-", "--json", "--block-size", "1", stdin=text)
    assert (found.status, found.err) == (0, "")
    assert found.json == reference.hash_request({**json.loads(text), "block_size": 1})


def test_progress_on_a_terminal(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only on a terminal's stderr, only for many; it is wiped before anything else is said."""
    now = iter(range(10_000))
    monkeypatch.setattr("kvhash_pure.__main__.time.monotonic", lambda: next(now))
    text = jsonl(REQUEST, "{", REQUEST)
    assert "\r" not in run("hash", "-", stdin=text).err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert run("hash", "-", stdin=text).status == 2
    shown = terminal.getvalue()
    assert "\r\033[K1 requests, 0.0 M tokens" in shown
    assert "\r\033[K2 requests, 0.0 M tokens" in shown
    assert shown.endswith("\r\033[K")
    assert "\r\033[Kkvhash_pure: stdin:2: " in shown


@pytest.mark.parametrize("contract", ["documented", "dynamo-1.3"])
def test_a_thousand_random_requests(run: Runner, contract: str) -> None:
    """Runs, LoRA, salts with quotes, controls and emoji, block sizes 1 to 1 024: bit for bit."""
    generator = random.Random(f"acceptance {contract}")
    count = 15 if reference.ORACLE == "ppxxh" else 500
    requests = [random_request(generator, contract) for _ in range(count)]
    found = run("hash", "-", "--json", stdin=jsonl(*requests))
    assert (found.status, found.err) == (0, "")
    answers = [json.loads(line) for line in found.out.splitlines()]
    assert len(answers) == count
    for request, answer in zip(requests, answers):
        assert answer == reference.hash_request(request)


ALPHABET = "az09 '\"\\/\b\t\n\f\r\0\x01\x1f\x7f\x80\u00e9\u4e2d\u2028\U0001f600\U0001f469\u200d"


def random_request(generator: random.Random, contract: str) -> dict[str, Any]:
    size = generator.choice((1, 2, 3, 16, 17, 64, 128, generator.randint(1, 1024), 1024))
    count = generator.randrange(min(6 * size + 2, 2600))
    request: dict[str, Any] = {
        "tokens": [generator.getrandbits(32) for _ in range(count)],
        "contract": contract,
        "block_size": size,
    }
    for name in ("salt", "lora_name"):
        if generator.random() < 0.6:
            request[name] = "".join(generator.choices(ALPHABET, k=generator.randrange(12)))
    runs = []
    offset = generator.randrange(1 + size)
    while offset < count and generator.random() < 0.7:
        length = min(generator.choice((1, 2, size, generator.randint(1, 3 * size))), count - offset)
        mm_hash: Any = generator.getrandbits(64)
        if generator.random() < 0.5:
            mm_hash = f"0x{mm_hash:x}"
        runs.append({"mm_hash": mm_hash, "offset": offset, "length": length})
        offset += length + generator.choice((0, 1, generator.randrange(1 + 2 * size)))
    generator.shuffle(runs)
    if runs or generator.random() < 0.5:
        request["mm_info"] = runs
    return request


# decode


@pytest.mark.parametrize(
    "notation",
    [
        "0x006bf3dc4041fb4d87a388e4d51d17a1",
        "006bf3dc4041fb4d87a388e4d51d17a1",
        "0x006BF3DC4041FB4D87A388E4D51D17A1",
        "00 6b f3 dc 40 41 fb 4d 87 a3 88 e4 d5 1d 17 a1",
        "1:WQafBEzN7bT:12M6zGpbMVS",
        " 1:WQafBEzN7bT:12M6zGpbMVS\n",
        "[0,107,243,220,64,65,251,77,135,163,136,228,213,29,23,161]",
    ],
)
def test_decode(run: Runner, notation: str) -> None:
    """Hex, bytes as hex, the text form, the bytes of the serde form: the same fields."""
    found = run("decode", notation)
    assert (found.status, found.err) == (0, "")
    fields = {
        "plh": "0x006bf3dc4041fb4d87a388e4d51d17a1",
        "plh_text": "1:WQafBEzN7bT:12M6zGpbMVS",
        "bytes": "00 6b f3 dc 40 41 fb 4d 87 a3 88 e4 d5 1d 17 a1",
        "mode": 0,
        "position": 1,
        "sequence_hash": "0xafcf710107ed361e",
        "sequence_hash_u64": "12668468526058386974",
        "sequence_hash_i64": "-5778275547651164642",
        "sequence_hash_base58": "WQafBEzN7bT",
        "parent_hash_fragment": "0x002388e4d51d17a1",
        "fragment_bits": 54,
    }
    lines = [line.split(maxsplit=1) for line in found.out.splitlines()]
    assert lines == [[name, str(value)] for name, value in fields.items()]
    assert run("decode", notation, "--json").json == fields


def test_decode_of_a_root(run: Runner) -> None:
    found = run("decode", "0:KdcSHaRDW1E")
    assert "position              0" in found.out.splitlines()
    assert "parent_hash_fragment  0x0000000000000000" in found.out.splitlines()


@pytest.mark.parametrize("case", cases("lineage.json", "packed")[::7], ids=lambda c: c["plh"])
def test_decode_in_every_mode(run: Runner, case: dict[str, Any]) -> None:
    for notation in (case["plh"], case["text"]):
        found = run("decode", notation, "--json").json
        assert (found["plh"], found["plh_text"]) == (case["plh"], case["text"])
        assert (found["mode"], found["position"]) == (case["mode"], case["position"])
        assert found["sequence_hash"] == case["sequence_hash"]
        assert found["parent_hash_fragment"] == case["parent_hash_fragment"]


@pytest.mark.parametrize(
    "notation",
    [
        "",
        "x",
        "0x12",
        "0:",
        "0:0OIl",
        "1:WQafBEzN7bT",
        "f" * 32,
        "0" * 33,
        "[1,2,3]",
        "[256" + ",0" * 15 + "]",
        "[true" + ",0" * 15 + "]",
        '["0"' + ",0" * 15 + "]",
        "[",
        "16777216:11111111:11111111",
        "\ud800",
        "a\nb:c",
        "z" * 100_000,
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_decode_of_what_is_no_plh(run: Runner, notation: str) -> None:
    run("decode", notation).complains()


@pytest.mark.parametrize(
    ("bits", "why"),
    [
        (3 << 126, "the two top bits are 0, 1 or 2"),
        ((1 << 126) + (255 << 110), "mode 1 has positions 256 to 65535, not 255"),
        (1, "position 0 has no parent"),
    ],
    ids=["mode", "position", "root"],
)
def test_decode_says_why_128_bits_are_no_plh(run: Runner, bits: int, why: str) -> None:
    run("decode", f"0x{bits:032x}").complains(why)
    run("decode", json.dumps([*bits.to_bytes(16, "big")])).complains(why)


# selftest


def test_selftest(run: Runner) -> None:
    """n of n known answers, from both contracts, in under a second."""
    found = run("selftest")
    assert (found.status, found.err) == (0, "")
    checks, failures = selftest.run()
    assert failures == []
    assert checks >= 80
    assert f"{checks}/{checks} known answers" in found.out
    assert kvhash_pure.__version__ in found.out


def test_selftest_sees_a_wrong_hash(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1 and the line that is wrong: a test that cannot fail proves nothing."""
    monkeypatch.setattr(selftest, "xxh3_64", lambda data, seed=0: 5)
    found = run("selftest")
    assert (found.status, found.err) == (1, "")
    assert "WRONG" in found.out
    assert "0x5; right is 0x2d06800538d394c2" in found.out


# What is wrong


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        ((), "COMMAND"),
        (("hsah", "-"), "hsah"),
        (("hash",), "FILE"),
        (("hash", "-", "-"), "unrecognized"),
        (("hash", "-", "--colour"), "--colour"),
        (("hash", "-", "--json", "--csv"), "--csv"),
        (("hash", "-", "--block-size"), "--block-size"),
        (("hash", "-", "--block-size", "0"), "block_size"),
        (("hash", "-", "--block-size", "4294967296"), "block_size"),
        (("hash", "-", "--block-size", "16.0"), "16.0"),
        (("hash", "-", "--block-size", "1_6"), "1_6"),
        (("hash", "-", "--block-size", "\u0661"), "--block-size"),
        (("hash", "-", "--block-size=-1"), "block_size"),
        (("hash", "-", "--block-size=--1"), "--block-size"),
        (("hash", "-", "--block-size", "9" * 500), "--block-size"),
        (("hash", "-", "--block-size", "9" * 5000), "--block-size"),
        (("hash", "-", "--contract", "1.3"), "dynamo-1.3"),
        (("decode",), "PLH"),
        (("selftest", "x"), "x"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_wrong_usage(run: Runner, argv: tuple[str, ...], part: str) -> None:
    run(*argv).complains(part)


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (["--help"], ["hash", "--help"], ["decode", "--help"], ["selftest", "--help"]):
        with pytest.raises(SystemExit) as left:
            main(argv)
        assert left.value.code == 0
        assert "usage: python3 -m kvhash_pure" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"kvhash_pure {kvhash_pure.__version__}\n"


def test_files_that_cannot_be_read(run: Runner, tmp_path: Path) -> None:
    run("hash", str(tmp_path / "none.json")).complains("none.json", "No such file")
    run("hash", str(tmp_path)).complains("s a directory")
    run("hash", "a\nb.json").complains("No such file")
    run("hash", "a\0b.json").complains("a")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"", "JSON is empty"),
        (b"\xef\xbb\xbf", "JSON is empty"),
        (b"\n\n", "JSON is empty"),
        (b"hello\n", "JSON is broken at column 1:"),
        (b"hello\nworld", "JSON is broken at line 1 column 1:"),
        (b"\xff\xfe{", "UTF-8"),
        (b'{"tokens": [1, 2', "JSON"),
        (b"[1, 2, 3]", "request"),
        (b"null", "request"),
        (b"{}", "tokens"),
        (b'{"tokens": NaN}', "NaN"),
        (b'{"tokens": [1e400]}', "tokens[0]"),
        (b'{"tokens": [1.0]}', "tokens[0]"),
        (b'{"tokens": ["1"]}', "tokens[0]"),
        (b'{"tokens": [true]}', "tokens[0]"),
        (b'{"tokens": [1, 4294967296]}', "tokens[1]"),
        (b'{"tokens": [], "tokens": []}', "tokens"),
        (b'{"tokens": [], "Tokens": []}', "Tokens"),
        (b'{"tokens": [], "salt": "\\ud800"}', "salt"),
        (b'{"tokens": [1], "mm_info": [{"mm_hash": "1", "offset": 0, "length": 1}]}', "mm_hash"),
        (b'{"tokens": [1], "mm_info": [{"mm_hash": 1, "offset": 1, "length": 1}]}', "mm_info[0]"),
        (b'{"tokens": [], "block_size": 0}', "block_size"),
        (b'{"tokens": [], "contract": "x"}', "documented"),
        (b'{"tokens": [' + b"1" * 5000 + b"]}", "kvhash_pure"),
        (b'{"' + b"k" * 100_000 + b'": 1}', "kvhash_pure"),
        (b'{"tokens": "' + b"x" * 100_000 + b'"}', "tokens"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (b'{"tokens": [' + b"[" * 400 + b"]" * 400 + b"]}", "tokens[0]"),
    ],
    ids=lambda value: ascii(value[:40]),
)
@pytest.mark.parametrize("form", ["table", "--json", "--csv"])
def test_wrong_documents(run: Runner, text: bytes, part: str, form: str) -> None:
    """One line that names the file and what is wrong in it; no half of an answer."""
    arguments = () if form == "table" else (form,)
    run("hash", "-", *arguments, stdin=text).complains("stdin: ", part)


def test_too_many_blocks(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvhash_pure.lineage.MAX_BLOCKS", 3)
    text = '{"tokens": [1, 2, 3, 4]}'
    run("hash", "-", "--block-size", "1", stdin=text).complains("blocks is 4", "2^24")


def test_an_interrupt_is_no_traceback(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(selftest, "run", interrupt)
    run("selftest").complains("interrupted")


def test_a_stream_that_breaks(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk or a network file system that fails half-way."""

    def broken() -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(selftest, "run", broken)
    run("selftest").complains("Input/output error")


def test_standard_input_twice(run: Runner) -> None:
    run("compare", "-", "-", stdin=json.dumps(REQUEST)).complains("named twice")


def test_a_reader_gone_in_this_process(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads any more, so nobody is told."""

    def gone() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(selftest, "run", gone)
    found = run("selftest")
    assert (found.status, found.out, found.err) == (2, "", "")


def test_the_module_is_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `python3 -m kvhash_pure` runs."""
    monkeypatch.delitem(sys.modules, "kvhash_pure.__main__")
    monkeypatch.setattr("sys.argv", ["kvhash_pure", "selftest"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("kvhash_pure", run_name="__main__")
    assert left.value.code == 0
    assert "known answers are right" in capsys.readouterr().out


def test_closed_streams(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`<&-` and `>&-` leave None in sys: nothing to read, nowhere to write."""
    monkeypatch.setattr("sys.stdin", None)
    assert main(["hash", "-"]) == 2
    assert capsys.readouterr().err == (
        "kvhash_pure: cannot read standard input: it is closed, or named twice\n"
    )
    monkeypatch.setattr("sys.stdout", None)
    assert main(["selftest"]) == 0


# As a process


def shell(
    *argv: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "kvhash_pure", *argv],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        timeout=120,
        env={**os.environ, **(environment or {})},
    )


@needs_subprocess
def test_as_a_process() -> None:
    """Exit status, streams and encodings are the process's, not only main()'s."""
    text = json.dumps(REQUEST).encode()
    found = shell("hash", "-", "--json", stdin=text)
    assert (found.returncode, found.stderr) == (0, b"")
    assert json.loads(found.stdout) == reference.hash_request(REQUEST)
    found = shell("hash", "-", stdin=b'{"tokens": [1, 2.5]}')
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.splitlines()[0].startswith(b"kvhash_pure: stdin: tokens[1] is 2.5")
    assert shell("--version").stdout.strip().endswith(kvhash_pure.__version__.encode())


@needs_subprocess
def test_without_docstrings() -> None:
    """`python -OO` has none; nothing that the program says or does needs them."""
    argv = [sys.executable, "-OO", "-m", "kvhash_pure"]
    for command, part in (("selftest", b"known answers are right"), ("--help", b"usage: ")):
        found = subprocess.run([*argv, command], cwd=ROOT, capture_output=True, timeout=120)
        assert (found.returncode, found.stderr) == (0, b"")
        assert part in found.stdout


@needs_subprocess
def test_a_terminal_without_unicode() -> None:
    salted = json.dumps({"tokens": [1], "salt": "\u4e2d"}).encode()
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    found = shell("hash", "-", stdin=salted, environment=ascii_only)
    assert (found.returncode, found.stderr) == (0, b"")
    for argv in (("--help",), ("hash", "--help"), ("compare", "--help"), ("identify", "--help")):
        assert shell(*argv, environment=ascii_only).returncode == 0
    wrong = '{"tokens": [], "\u4e2d": 1}'.encode()
    found = shell("hash", "-", stdin=wrong, environment=ascii_only)
    assert found.returncode == 2
    assert b"Traceback" not in found.stderr


@needs_subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="head is a POSIX tool")
@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_a_reader_that_goes_away(form: str) -> None:
    """`| head -1`: no traceback and no complaint."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kvhash_pure", "hash", "-", form, "--block-size", "1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    try:
        process.stdin.write(jsonl(*[{"tokens": list(range(3000))}] * 3).encode())
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.stderr.read() == b""
    assert process.wait(60) == 2
    process.stderr.close()


@needs_subprocess
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        found = subprocess.run(
            [sys.executable, "-m", "kvhash_pure", "selftest"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    assert found.returncode == 2
    assert b"No space left" in found.stderr
    assert found.stderr.count(b"\n") == 1


@needs_subprocess
@pytest.mark.skipif(IN_PYPY, reason="PyPy's own start takes longer")
def test_import_is_cheap() -> None:
    """No json, re, typing, dataclasses, argparse or the like: a program that hashes needs none."""
    program = (
        "import sys; before = set(sys.modules); import kvhash_pure; "
        "print(*sorted(set(sys.modules) - before))"
    )
    found = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, timeout=60
    )
    loaded = set(found.stdout.decode().split())
    assert "kvhash_pure.request" in loaded
    heavy = {"json", "re", "typing", "dataclasses", "argparse", "inspect", "enum", "asyncio"}
    assert not loaded & heavy
    assert "kvhash_pure.__main__" not in loaded
