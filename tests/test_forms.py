"""The commands `compare` and `identify`: a sentence, then evidence; exit 0, 1 or 2."""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kvhash_pure import (
    DYNAMO_1_3,
    Request,
    RequestMmObjectInfo,
    compare,
    identify,
    prefix_groups,
)
from kvhash_pure.__main__ import main
from tests import reference

FORMAT = Path(__file__).parent.parent / "docs" / "FORMAT.md"
TOKENS = list(range(1000, 1100))
Save = Callable[..., str]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Save:
    """Writes a request to a file of the current directory, which is an empty one."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, request: Request, **more: object) -> str:
        Path(name).write_text(json.dumps({**request.to_dict(), **more}), encoding="utf-8")
        return name

    return write


def lines(capture: Capture) -> list[str]:
    out, err = capture.readouterr()
    assert err == ""
    return out.splitlines()


def failure(capture: Capture, *argv: str) -> str:
    """What is said in one line before exit status 2."""
    assert main([*argv]) == 2
    out, err = capture.readouterr()
    assert out == ""
    assert err.startswith("kvhash_pure: ")
    assert err.count("\n") == 1
    return err


def test_two_requests_that_share_some(save: Save, capsys: Capture) -> None:
    a, b = save("a.json", Request(TOKENS)), save("b.json", Request([*TOKENS[:20], 7, *TOKENS[21:]]))
    assert main(["compare", a, b]) == 0
    seed = reference.salt_hash(reference.DOCUMENTED)
    blocks = []
    for name, tokens in (("a.json", TOKENS), ("b.json", [*TOKENS[:20], 7, *TOKENS[21:]])):
        block = reference.hash_blocks(reference.DOCUMENTED, tokens, 16, seed=seed)[1]
        line = f"block hash 0x{block.block_hash:016x}, PLH {block.plh_text}"
        blocks.append(f"block 1     {name}: {line}")
    assert lines(capsys) == [
        "The first block (16 tokens at block size 16) is shared; token 20 (block 1, slot 4) "
        "differs: a.json has 1020, b.json has 7; 6 blocks would be shared if that token "
        "came last.",
        "",
        "request     a.json: contract documented, 100 tokens, 6 blocks of 16, tail of 4 not hashed",
        "request     b.json: contract documented, 100 tokens, 6 blocks of 16, tail of 4 not hashed",
        "equal       20 leading slots",
        "cause       token: token 20 (block 1, slot 4) differs: a.json has 1020, b.json has 7",
        *blocks,
        "what if     6 blocks would be shared if that token came last",
        "what if     6 blocks would be shared if that token were the same",
        "content     the same but not reusable (other lineage): 4 blocks of b.json, the first of "
        "them block 2",
        "block size  16 (default) where no file names one",
    ]


def test_two_requests_that_share_nothing(save: Save, capsys: Capture) -> None:
    """Exit status 1; all causes, and all notes."""
    a = save("a.json", Request(TOKENS, salt="x"))
    b = save("b.json", Request(TOKENS[::-1], lora_name="x"), block_size=16)
    assert main(["compare", a, b, "--block-size", "16"]) == 1
    text = lines(capsys)
    assert text[0].startswith("No block is shared; the salt differs: ")
    assert [line[:23] for line in text[5:8]] == [
        "cause       salt: the s",
        "then        lora_name: ",
        "then        token: toke",
    ]
    assert text[8] == "            what follows could not be aligned again, or is too much to list"
    assert text[-1] == "note        'x' is a salt in one and a lora_name in the other: not the same"


def test_block_sizes_come_from_the_command_or_the_files(save: Save, capsys: Capture) -> None:
    a, b = save("a.json", Request(TOKENS), block_size=8), save("b.json", Request(TOKENS))
    for argv, sizes in (
        (["--block-size", "4"], (4, 4)),
        (["--block-size", "4,5"], (4, 5)),
        ([], (8, 16)),
    ):
        assert main(["compare", a, b, "--json", *argv]) == int(sizes[0] != sizes[1])
        answer: Any = json.loads("".join(lines(capsys)))
        assert (answer["a"]["block_size"], answer["b"]["block_size"]) == sizes
        assert answer["block_size_is_default"] == (not argv)
        assert answer["names"] == ["a.json", "b.json"]
        assert answer["cause"] == ("none" if sizes[0] == sizes[1] else "block_size")


def test_files_of_one_name_go_by_their_paths(save: Save, capsys: Capture) -> None:
    Path("x").mkdir()
    Path("y").mkdir()
    save("x/r.json", Request([1])), save("y/r.json", Request([2]))
    assert main(["compare", "x/r.json", "y/r.json", "--block-size", "1"]) == 1
    assert "x/r.json has 1, y/r.json has 2" in lines(capsys)[0]
    assert main(["compare", "x/r.json", "x/r.json", "--block-size", "1,2"]) == 1
    assert "x/r.json (1) has 1 and x/r.json (2) has 2" in lines(capsys)[0]


def test_more_requests_are_a_tree(save: Save, capsys: Capture) -> None:
    names = [
        save("a.json", Request(TOKENS)),
        save("b.json", Request([*TOKENS[:40], *range(60)])),
        save("c.json", Request([*TOKENS[:40], *range(20), *range(40)])),
        save("d.json", Request(TOKENS, contract=DYNAMO_1_3)),
        save("e.json", Request(TOKENS[:3])),
    ]
    assert main(["compare", *names]) == 0
    plhs = []
    text = []
    for line in lines(capsys):
        head, plh = line.rsplit("  ", 1) if "tokens)  " in line else (line, "")
        text.append(head)
        plhs.append(plh)
    assert text == [
        "5 requests with 24 blocks in all, 19 of them distinct: sharing saves 80 tokens at block "
        "size 16.",
        "",
        "2 blocks (32 tokens)  shared by 3: a.json, b.json, c.json, saves 64 tokens"
        "  contract documented",
        "├─ 4 blocks (64 tokens)  a.json",
        "└─ 1 block (16 tokens)  shared by 2: b.json, c.json, saves 16 tokens",
        "   ├─ 3 blocks (48 tokens)  b.json",
        "   └─ 3 blocks (48 tokens)  c.json",
        "6 blocks (96 tokens)  d.json  contract dynamo-1.3",
        "shorter than one block: e.json",
        "block size  16 (default) where no file names one",
    ]
    assert plhs[3] == str(Request(TOKENS).positional_lineage_hashes(16)[5])


def test_roots_that_only_names_keep_apart_say_so(save: Save, capsys: Capture) -> None:
    """Escaped, as everywhere: names come from users."""
    names = [
        save("a.json", Request(TOKENS)),
        save("b.json", Request(TOKENS, salt="caf\u00e9\n", lora_name="x")),
        save("c.json", Request(TOKENS, lora_name="x")),
    ]
    assert main(["compare", *names]) == 1
    assert [line.rsplit("  ", 1)[0] for line in lines(capsys)[2:5]] == [
        "6 blocks (96 tokens)  a.json",
        "6 blocks (96 tokens)  b.json  salt 'caf\\xe9\\n'  lora_name 'x'",
        "6 blocks (96 tokens)  c.json  lora_name 'x'",
    ]


def test_a_request_that_ends_where_others_go_on_is_marked(save: Save, capsys: Capture) -> None:
    names = [save(f"{n}.json", Request(TOKENS[:n])) for n in (33, 40, 80, 81)]
    assert main(["compare", *names]) == 0
    heads = [line.rsplit("  ", 1)[0] for line in lines(capsys)[2:4]]
    assert heads == [
        "2 blocks (32 tokens)  shared by 4: 33.json, 40.json, 80.json, 81.json, saves 96 tokens; "
        "33.json, 40.json end here",
        "└─ 3 blocks (48 tokens)  shared by 2: 80.json, 81.json, saves 48 tokens",
    ]


def test_a_tree_that_saves_nothing_is_a_no(save: Save, capsys: Capture) -> None:
    names = [save(f"{i}.json", Request([i, *TOKENS]), block_size=16) for i in range(3)]
    assert main(["compare", *names, "--json"]) == 1
    answer: Any = json.loads("".join(lines(capsys)))
    assert (answer["tokens_saved"], answer["names"]) == (0, names)
    assert answer["block_size_is_default"] is False


def test_many_names_are_cut(save: Save, capsys: Capture) -> None:
    Path("r.jsonl").write_text(f"{json.dumps(Request(TOKENS).to_dict())}\n\n" * 8, encoding="utf-8")
    assert main(["compare", "r.jsonl"]) == 0
    assert "shared by 8: r.jsonl:1, r.jsonl:3, " in (line := lines(capsys)[2])
    assert "r.jsonl:11 and 2 more, saves 672 tokens" in line


def test_a_request_from_a_pipe(
    save: Save, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = save("a.json", Request(TOKENS))
    stdin = io.TextIOWrapper(io.BytesIO(Path(a).read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["compare", a, "-"]) == 0
    assert "request     stdin: " in "\n".join(lines(capsys))


def test_identify_finds_every_notation(save: Save, capsys: Capture) -> None:
    """A negative number is a hash, not an option."""
    request = Request(TOKENS)
    path = save("a.json", request, block_size=24)
    negative = next(h for h in request.sequence_hashes(24)[1:] if h >> 63) - 2**64
    plh = request.positional_lineage_hashes(24)[3]
    assert main(["identify", path, str(negative), str(plh)]) == 0
    text = lines(capsys)
    assert text[0].startswith("2 of 2 are hashes of this request; 0x")
    assert text[1:4:2] == ["", text[3]]
    assert text[2].startswith(f"{negative}  read as i64 0x")
    assert " at block size 24 under contract documented" in text[3]
    assert text[6] == f"  as a PLH: position 3, text {plh}"
    assert text[7].startswith(f"  0x{int(plh):032x} is the PLH of block 3 ")


def test_identify_that_finds_nothing_is_a_no(save: Save, capsys: Capture) -> None:
    assert main(["identify", save("a.json", Request(TOKENS)), "-5", "--block-size", "8,9"]) == 1
    text = lines(capsys)
    assert text[0] == (
        "-5 is none of the 92 hashes tried: block, sequence and PLH, block sizes 8, 9, contracts "
        "documented and dynamo-1.3."
    )
    assert text[2:] == ["-5  read as i64 0xfffffffffffffffb", "  no match"]


def test_identify_says_that_bits_are_no_plh(save: Save, capsys: Capture) -> None:
    path = save("a.json", Request(TOKENS))
    for number, text in (
        ("f" * 32, "  no match: no PLH has these 128 bits"),
        ("1" * 19, "  no match"),
    ):
        assert main(["identify", path, number]) == 1
        assert lines(capsys)[-1] == text


def test_identify_as_json_and_long_lists_cut(save: Save, capsys: Capture) -> None:
    request = Request([7] * 30)
    argv = ["identify", save("a.json", request), str(request.block_hashes(1)[0])]
    assert main([*argv, "--block-size", "1", "--json"]) == 0
    answer: Any = json.loads("".join(lines(capsys)))
    assert len(answer["matches"]) == 31
    assert main([*argv, "--block-size", "1"]) == 0
    assert lines(capsys)[-1] == "  and 11 more (all of them with --json)"


def test_many_places_are_counted(save: Save, capsys: Capture) -> None:
    """Every second block has equal content, 25 in all; --json lists them."""
    a = save("a.json", Request([0, *(n for i in range(25) for n in (5, i + 50))]))
    b = save("b.json", Request([1, *(n for i in range(25) for n in (5, i + 100))]))
    assert main(["compare", a, b, "--block-size", "1"]) == 1
    (line,) = (line for line in lines(capsys) if line.startswith("content"))
    assert line.endswith(": 25 blocks of b.json, the first of them block 1")


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    save: Save,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    environment: dict[str, str],
    coloured: bool,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", out)
    path = save("a.json", Request(TOKENS, mm_info=[RequestMmObjectInfo(1, 2, 3)]))
    assert main(["compare", path, path]) == 0
    assert out.getvalue().startswith("\033[32mAll 6 blocks") == coloured
    assert ("\033" in out.getvalue()) == coloured


def test_what_a_terminal_cannot_show_is_escaped(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    a, b = save("a.json", Request(TOKENS)), save("b.json", Request(TOKENS, salt="\u00e9"))
    assert main(["compare", a, b]) == 1
    assert main(["compare", a, a, b]) == 0
    text = out.buffer.getvalue().decode("ascii")
    assert r"b.json has '\xe9'" in text


def test_what_is_wrong_is_said_in_one_line(save: Save, capsys: Capture) -> None:
    a, b = save("a.json", Request(TOKENS)), save("b.json", Request(TOKENS), block_size=8)
    assert "at least two requests; got 1" in failure(capsys, "compare", a)
    sizes = failure(capsys, "compare", a, b, "--block-size", "1,2,3")
    assert "3 block sizes for 2 requests; give one for all" in sizes
    assert failure(capsys, "compare", a, b, save("c.json", Request([1]))) == (
        "kvhash_pure: block sizes differ: 16 (a.json, c.json), 8 (b.json); a tree has one, "
        "--block-size N settles it\n"
    )
    assert "'x' is no whole number" in failure(capsys, "compare", a, b, "--block-size", "4,x")
    assert "is 0; expected" in failure(capsys, "compare", a, b, "--block-size", "0")
    assert "cannot read d.json" in failure(capsys, "compare", a, "d.json")
    assert "observed[1] is 'x!'" in failure(capsys, "identify", a, "5", "x!")
    Path("bad.json").write_text('{"tokens": [-1]}', encoding="utf-8")
    assert "bad.json: tokens[0] is -1" in failure(capsys, "compare", a, "bad.json")
    Path("two.jsonl").write_text('{"tokens": []}\n{"tokens": [1.5]}\n', encoding="utf-8")
    assert "two.jsonl:2: tokens[0] is 1.5" in failure(capsys, "identify", "two.jsonl", "5")
    Path("two.jsonl").write_text('{"tokens": []}\n{"tokens": [1]}\n', encoding="utf-8")
    assert "identify needs one request; two.jsonl has 2" in failure(
        capsys, "identify", "two.jsonl", "5"
    )


def documented(title: str) -> list[str]:
    """The keys in the first column of the table of docs/FORMAT.md with that title, in order."""
    _, found, rest = FORMAT.read_text(encoding="utf-8").partition(
        f"\n| {title} | value |\n|---|---|\n"
    )
    assert found, title
    rows = itertools.takewhile(lambda line: line.startswith("| "), rest.splitlines())
    return [key for row in rows for key in row.split(" | ")[0].split("`")[1::2]]


def test_the_documented_keys_are_those_of_the_answers() -> None:
    """In the specification, and in its order."""
    a, b = Request(TOKENS), Request([*TOKENS[:20], 7, 8, *TOKENS[21:]], lora_name="x")
    salted: Any = compare(a, b, 16).to_dict()
    assert documented("key of `compare`") == [*salted]
    assert documented("key of a cause") == [*salted["causes"][0]] == [*salted["causes"][1]]
    assert documented("key of a `would_share`") == [*salted["would_share"][0]]
    tree: Any = prefix_groups([a, b], 16).to_dict()
    assert documented("key of `prefix_groups`") == [*tree]
    assert documented("key of an edge") == [*tree["edges"][0]]
    found: Any = identify(a, a.block_hashes(16)[1]).to_dict()
    assert documented("key of `identify`") == [*found]
    assert documented("key of a match") == [*found["matches"][0]]
    (row,) = (
        line for line in FORMAT.read_text(encoding="utf-8").splitlines() if "| `tried` |" in line
    )
    assert {*row.split("`")[3::2]} == {*found["tried"]}
