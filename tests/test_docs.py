"""The documents say what the code does: tables, known answers, snippets, commands, links.

`python3 -m tests.test_docs` writes anew the tables of docs/FORMAT.md and the outputs of commands
that README.md shows (read the diff before you commit it); the tests only compare. Tables of
rules come from the code's own tables, tables of numbers from `tests/reference.py`, in which the
package has no part.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

from kvhash_pure import (
    CONTRACTS,
    DYNAMO_1_3,
    Contract,
    PositionalLineageHash,
    Request,
    RequestMmObjectInfo,
    UniversalBlock,
    __version__,
    compare,
    compute_block_bytes_with_mm,
    errors,
)
from kvhash_pure.__main__ import main
from kvhash_pure.encoding import FRAMES
from kvhash_pure.lineage import MODES
from tests import reference, vectors

ROOT = Path(__file__).parent.parent
FORMAT = ROOT / "docs" / "FORMAT.md"
README = ROOT / "README.md"
DOCUMENTS = [FORMAT, README, ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md"]

TOKENS = list(range(1, 13))
RUNS = [(0xDEADBEEF, 2, 4)]
BLOCK_SIZE = 4


def rows(head: str, *lines: tuple[object, ...]) -> str:
    """A Markdown table; `head` names the columns, separated by bars."""
    columns = head.split("|")
    out = ["| " + " | ".join(name.strip() for name in columns) + " |", "|---" * len(columns) + "|"]
    out += ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]
    return "\n".join(out)


def frames_table() -> str:
    lines = []
    for name, tag, fields in FRAMES:
        parts = []
        for field, width in fields:
            value = f" = `{tag:02x}`" if field == "tag" else ""
            parts.append(f"`{field}`{value} ({width})")
        lines.append((name, sum(width for _, width in fields), ", ".join(parts)))
    return rows("slot | bytes | fields, in this order (bytes each)", *lines)


def contracts_table() -> str:
    return rows(
        "name | chain seed | salt hash without salt and adapter | what it matches",
        *(
            (f"`{row.name}`", row.chain_seed, f"`0x{row.salt_hash():016x}`", row.matches)
            for row in CONTRACTS
        ),
    )


def modes_table() -> str:
    lines = []
    for mode, first, last, position_bits, fragment_bits in MODES:
        positions = f"{first:,} … {last:,}".replace(",", " ")
        lines.append((mode, positions, position_bits, fragment_bits))
    head = "mode | positions | P, bits of the position | R, bits of the parent fragment"
    return rows(head, *lines)


def errors_table() -> str:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.KvHashingError)
    ]
    lines = []
    for kind in kinds[1:]:
        also = "TypeError" if issubclass(kind, TypeError) else "ValueError"
        lines.append((f"`{kind.__name__}`", f"`{also}`", " ".join((kind.__doc__ or "").split())))
    return rows("kind | also a | when", *lines)


def salts_table() -> str:
    def cell(text: str | None) -> str:
        return "" if text is None else f"`{json.dumps(text, ensure_ascii=False)}`"

    lines = []
    for salt, lora_name in (
        (None, None),
        ("tenant-a", None),
        (None, "lora-x"),
        ("tenant-a", "lora-x"),
        ('say "hi"\n\x01', "é/中"),
    ):
        made = [f"`0x{reference.salt_hash(row.name, salt, lora_name):016x}`" for row in CONTRACTS]
        lines.append((cell(salt), cell(lora_name), *made))
    names = " | ".join(f"`{row.name}`" for row in CONTRACTS)
    return rows(f"salt (as JSON) | lora_name | {names}", *lines)


def made(contract: str, runs: list[reference.Run]) -> list[reference.Block]:
    seed = reference.salt_hash(contract)
    return reference.hash_blocks(contract, TOKENS, BLOCK_SIZE, runs, seed=seed)


def answers_table() -> str:
    lines = []
    for row in CONTRACTS:
        for runs in ([], RUNS):
            for block in made(row.name, runs):
                lines.append(
                    (
                        f"`{row.name}`",
                        "run" if runs else "",
                        block.position,
                        f"`{block.block_hash:016x}`",
                        f"`{block.sequence_hash:016x}`",
                        f"`{block.plh:032x}`",
                        f"`{block.plh_text}`",
                    )
                )
    return rows("contract | | position | block hash | sequence hash | PLH | text", *lines)


def serde_forms() -> tuple[str, str]:
    """JSON and MessagePack of block 1 of the documented plain example, put together by hand."""
    block = made(reference.DOCUMENTED, [])[1]
    plh = block.plh.to_bytes(16, "big")
    text = json.dumps({"block_hash": block.block_hash, "plh": list(plh)}, separators=(",", ":"))
    packed = b"\x92\xcf" + block.block_hash.to_bytes(8, "big") + b"\xc4\x10" + plh
    return text, packed.hex()


def serde_table() -> str:
    text, packed = serde_forms()
    return rows(
        "form | block 1 of the first [known answer](#known-answers)",
        ("JSON", f"`{text}`"),
        ("MessagePack", f"`{packed}`"),
    )


def router_table() -> str:
    """The rule written down once more: windows, objects, seed and chain, on the C library."""
    lines = []
    for what, more, lora_name, objects in (
        ("tokens alone", 0, "", ()),
        ("`lora_name` `adapter-a`", 0, "adapter-a", ()),
        ("object `0xdeadbeef` in the first block", 0, "", (0xDEADBEEF,)),
        ("Eagle", 1, "", ()),
    ):
        seed = 1337 + (reference.xxh3_64(lora_name.encode(), 0) if lora_name else 0)
        local: list[int] = []
        chained: list[int] = []
        for start in range(0, len(TOKENS) - BLOCK_SIZE - more + 1, BLOCK_SIZE):
            window = TOKENS[start : start + BLOCK_SIZE + more]
            data = b"".join(token.to_bytes(4, "little") for token in window)
            data += b"".join(value.to_bytes(8, "little") for value in objects if not start)
            local.append(reference.xxh3_64(data, seed & reference.U64))
            pair = (chained or [0])[-1].to_bytes(8, "little") + local[-1].to_bytes(8, "little")
            chained.append(reference.xxh3_64(pair, 1337) if start else local[0])
        lines += [
            (what if not i else "", i, f"`{one:016x}`", f"`{other:016x}`")
            for i, (one, other) in enumerate(zip(local, chained))
        ]
    return rows("input | block | local hash | sequence hash", *lines)


TABLES: dict[str, Callable[[], str]] = {
    "frames": frames_table,
    "contracts": contracts_table,
    "salts": salts_table,
    "modes": modes_table,
    "serde": serde_table,
    "errors": errors_table,
    "answers": answers_table,
    "router": router_table,
}
_TABLE = r"(<!-- table: {} -->\n)(.*?)(<!-- end -->)"


def table_in(document: str, name: str) -> str:
    found = re.search(_TABLE.format(name), document, re.DOTALL)
    assert found, f"no table {name} in FORMAT.md"
    return found.group(2).strip()


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_specification_are_the_codes_own(name: str) -> None:
    """FORMAT.md's tables are generated; `python3 -m tests.test_docs` writes them."""
    assert table_in(FORMAT.read_text(encoding="utf-8"), name) == TABLES[name]()


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda row: row.name)
@pytest.mark.parametrize("runs", [[], RUNS], ids=["plain", "run"])
def test_the_package_gives_the_printed_known_answers(
    contract: Contract, runs: list[reference.Run]
) -> None:
    """Each row of "Known answers", made by the package."""
    request = Request(
        TOKENS, mm_info=[RequestMmObjectInfo(*run) for run in runs], contract=contract
    )
    printed = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table_in(FORMAT.read_text(encoding="utf-8"), "answers").splitlines()[2:]
    ]
    wanted = [row[2:] for row in printed if row[:2] == [contract.name, "run" if runs else ""]]
    assert len(wanted) == 3
    assert wanted == [
        [
            str(block.position),
            f"{block.block_hash:016x}",
            f"{block.sequence_hash:016x}",
            f"{int(block.plh):032x}",
            str(block.plh),
        ]
        for block in request.into_blocks(BLOCK_SIZE)
    ]


def test_the_package_gives_the_printed_salt_hashes_and_serialised_block() -> None:
    """The tables "salts" and "serde", made by the package."""
    for line in table_in(FORMAT.read_text(encoding="utf-8"), "salts").splitlines()[2:]:
        salt, lora_name, *hashes = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        texts = [json.loads(text) if text else None for text in (salt, lora_name)]
        assert hashes == [f"0x{row.salt_hash(*texts):016x}" for row in CONTRACTS]
    block = Request(TOKENS).into_blocks(BLOCK_SIZE)[1]
    text, packed = serde_forms()
    assert (block.to_json(), block.to_msgpack().hex()) == (text, packed)
    assert UniversalBlock.from_json(text) == block


def test_the_example_of_block_bytes_is_right() -> None:
    """The hex dump in "Block bytes" is what is hashed for the three blocks."""
    section = FORMAT.read_text(encoding="utf-8").split("## Block bytes")[1].split("\n## ")[0]
    dump = section.split("```")[1]
    printed = "".join(re.sub(r"block \d", "", dump).split())
    assert printed == "".join(
        reference.block_bytes(TOKENS, BLOCK_SIZE, near, index).hex()
        for index, near in enumerate([RUNS, RUNS, []])
    )
    runs = [RequestMmObjectInfo(*run) for run in RUNS]
    assert printed == "".join(
        compute_block_bytes_with_mm(TOKENS[at : at + BLOCK_SIZE], at, runs).hex()
        for at in range(0, len(TOKENS), BLOCK_SIZE)
    )


def test_the_json_examples_are_a_request_and_its_answer() -> None:
    """ "Request JSON" is accepted as it stands; "Answer JSON" is the answer for tokens 1 … 11."""
    text = FORMAT.read_text(encoding="utf-8")
    parts = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    request, answer = (json.loads(part) for part in parts)
    assert Request.from_dict(request).salt == "tenant-a"
    assert answer == reference.hash_request({"tokens": TOKENS[:11], "block_size": BLOCK_SIZE})


def test_the_figure_shows_real_values() -> None:
    """docs/key.svg carries the hashes of the example with a run, both halves of each PLH."""
    figure = (ROOT / "docs" / "key.svg").read_text(encoding="utf-8")
    shown = re.findall(r">([0-9a-f]{16})<", figure)
    wanted = [f"{reference.salt_hash(reference.DOCUMENTED):016x}"]
    for block in made(reference.DOCUMENTED, RUNS):
        wanted += [f"{block.block_hash:016x}", f"{block.sequence_hash:016x}"]
        wanted += [f"{block.plh:032x}"[:16], f"{block.plh:032x}"[16:]]
        assert f">{block.plh_text}<" in figure
    assert sorted(shown) == sorted(wanted)


def slots(*tokens: int, runs: list[reference.Run] | None = None, **names: Any) -> Request:
    infos = [RequestMmObjectInfo(*run) for run in runs or []]
    return Request([*tokens, *range(100, 140)], mm_info=infos, **names)


PAIRS = {
    "contract": (slots(1), slots(1, contract=DYNAMO_1_3)),
    "block_size": (slots(1), slots(1)),
    "salt": (slots(1, salt="x"), slots(1, lora_name="x")),
    "lora_name": (slots(1, lora_name="x"), slots(1, salt="")),
    "token": (slots(1), slots(2)),
    "mm_hash": (slots(1, runs=[(7, 2, 3)]), slots(1, runs=[(8, 2, 3)])),
    "mm_offset": (slots(1, runs=[(7, 2, 3)]), slots(1, runs=[(7, 1, 3)])),
    "mm_length": (slots(1, runs=[(7, 2, 3)]), slots(1, runs=[(7, 2, 4)])),
    "mm_coverage": (slots(1, runs=[(7, 2, 3)]), slots(1)),
    "length": (Request(range(8)), Request(range(16))),
    "none": (slots(1, salt=""), slots(1)),
}


def test_each_cause_of_the_specification_is_what_compare_says() -> None:
    """ "Questions" lists the causes; a pair of requests for each gives it."""
    lines = table_in(FORMAT.read_text(encoding="utf-8"), "causes").splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == list(PAIRS)
    for cause, pair in PAIRS.items():
        sizes = (4, 8) if cause == "block_size" else 4
        assert compare(*pair, sizes).cause == cause


def test_the_readme_names_the_wheel_that_is_built() -> None:
    """The file name in the three lines for micropip has the version of the package."""
    assert f"/kvhash_pure-{__version__}-py3-none-any.whl" in README.read_text(encoding="utf-8")


def test_the_specification_has_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """ "Command line" has a row for each command of `--help`."""
    section = FORMAT.read_text(encoding="utf-8").split("## Command line")[1].split("\n## ")[0]
    named = re.findall(r"^\| `(\w+) ?[^`]*` \|", section, re.MULTILINE)
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out.partition("COMMAND\n")[2]
    assert sorted(named) == sorted(re.findall(r"^ {4}(\w+)", listed, re.MULTILINE))


RESULTS = ROOT / "benchmarks" / "RESULTS.md"


def speed_table() -> str:
    """The first rows of the latest benchmark: medians, without what is to be reached."""
    text = RESULTS.read_text(encoding="utf-8")

    def found(pattern: str) -> str:
        match = re.search(pattern, text, re.MULTILINE)
        assert match, pattern
        return match.group(1)

    lines = []
    for key in ("a", "b", "c", "f", "g"):
        work, *cells = found(rf"^\| {key} \| (.*) \|$").split(" | ")
        medians = [cell.partition("(")[2].partition(")")[0] for cell in cells[:3]]
        lines.append((work.replace("the same", "8 192 tokens"), *medians))
    head = [
        "sequence hashes of",
        "CPython " + found(r"^- CPython: (\S+)"),
        "PyPy " + found(r"^- PyPy: \S+ \((\d+\.\d+\.\d+)"),
        "Pyodide, Python " + found(r"^- Pyodide: (\S+)"),
    ]
    return f"{found('^(Machine: .*)$')}\n\n{rows(' | '.join(head), *lines)}"


def test_the_table_of_speed_is_the_latest_that_was_measured() -> None:
    """README, "Speed": from benchmarks/RESULTS.md, written by `python3 -m tests.test_docs`."""
    assert table_in(README.read_text(encoding="utf-8"), "speed") == speed_table()


def fences(path: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a document: (language, body)."""
    return re.findall(r"^```(\w*)\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)


def test_the_snippets_of_the_readme_do_what_they_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ```python blocks, run in order as one session; what they print is printed in README."""
    monkeypatch.chdir(ROOT)
    body = "\n".join(body for language, body in fences(README) if language == "python")
    case = doctest.DocTestParser().get_doctest(body, {}, "README.md", "README.md", 0)
    assert len(case.examples) >= 10
    output: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(case, out=output.append)
    assert not result.failed, "".join(output)


def test_the_hashes_in_the_readme_are_those_of_the_reference() -> None:
    """Every text of a PLH that README prints was made by the independent reference."""
    files = ("chat", "chat_with_date", "chat_with_other_date", "date_last", "date_last_other")
    texts = [(ROOT / "examples" / f"{name}.json").read_text(encoding="utf-8") for name in files]
    request = {"tokens": TOKENS, "block_size": BLOCK_SIZE}
    run = {"mm_hash": RUNS[0][0], "offset": RUNS[0][1], "length": RUNS[0][2]}
    known = {
        block["plh_text"]
        for one in (
            *map(json.loads, texts),
            request,
            {**request, "lora_name": "lora-x"},
            {**request, "contract": reference.DYNAMO_1_3, "mm_info": [run]},
        )
        for block in reference.hash_request(one)["blocks"]
    }
    base58 = "[1-9A-HJ-NP-Za-km-z]{6,11}"
    printed = set(re.findall(rf"\b\d+:{base58}(?::{base58})?", README.read_text(encoding="utf-8")))
    assert len(printed) >= 12
    assert printed <= known


def commands(path: Path) -> list[tuple[list[str], str]]:
    """Commands of a document, and what it shows as their output ("": nothing)."""
    found: list[tuple[list[str], str]] = []
    blocks = fences(path)
    for i, (language, body) in enumerate(blocks):
        if language:
            continue
        lines = [line for line in body.splitlines() if line.startswith("python3 -m kvhash_pure ")]
        shown = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else ""
        found += [(shlex.split(line)[3:], shown if len(lines) == 1 else "") for line in lines]
    return found


COMMANDS = [
    (path, *command)
    for path in (README, ROOT / "examples" / "README.md")
    for command in commands(path)
]


def test_the_table_of_the_simulator_is_what_it_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command under "Simulators" and its output."""
    command, shown = next(
        (one[1], two[1])
        for one, two in zip(fences(README), fences(README)[1:])
        if one[1].startswith("python3 examples/")
    )
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", command.split()[1:])
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(sys.argv[0], run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == shown


def test_the_first_command_of_the_readme_needs_nothing_but_a_clone() -> None:
    """What people paste first is `hash examples/chat.json`."""
    assert COMMANDS[0][:2] == (README, ["hash", "examples/chat.json"])


@pytest.mark.parametrize(
    ("path", "arguments", "shown"),
    COMMANDS,
    ids=[f"{path.parent.name}: {' '.join(arguments)}" for path, arguments, _ in COMMANDS],
)
def test_commands_run_and_print_what_is_shown(
    path: Path,
    arguments: list[str],
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each `python3 -m kvhash_pure …` of a document, as it stands, in the root of a clone."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    status = main(arguments)
    printed = capsys.readouterr()
    assert status in (0, 1)
    assert not printed.err
    assert printed.out
    assert not shown or printed.out == shown


def headings(document: str) -> list[str]:
    """Titles, code blocks left out."""
    plain = re.sub(r"```.*?```", "", document, flags=re.DOTALL)
    return re.findall(r"^#+ (.*)$", plain, re.MULTILINE)


def anchor(title: str) -> str:
    """The anchor of a heading as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Each relative link names a file that is there, each anchor a heading; no heading twice."""
    text = path.read_text(encoding="utf-8")
    titles = headings(text)
    assert len(titles) == len(set(titles))
    plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", plain) + re.findall(r'src="([^"]+)"', plain):
        if target.startswith(("https://", "http://")):
            continue
        name, _, part = target.partition("#")
        other = path.parent / name if name else path
        assert other.exists(), f"{path.name}: {target}"
        if part:
            known = [anchor(title) for title in headings(other.read_text(encoding="utf-8"))]
            assert part in known, f"{path.name}: {target}"


def test_modules_name_sections_that_exist() -> None:
    """`FORMAT.md, "Runs"` in a docstring leads to a heading of that name."""
    titles = headings(FORMAT.read_text(encoding="utf-8"))
    named = 0
    for path in sorted((ROOT / "kvhash_pure").glob("*.py")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for mention in re.findall(r'FORMAT\.md, ("[^"]+"(?:(?:,| and) "[^"]+")*)', text):
            for title in re.findall(r'"([^"]+)"', mention):
                named += 1
                assert title in titles, f"{path.name} names the section {title!r}"
    assert named >= 8


def test_widths_in_the_figures_of_the_text_add_up() -> None:
    """The sum is 128 in each mode, and `known answers` of PLHs unpack to what is printed."""
    assert all(2 + p + 64 + r == 128 for _, _, _, p, r in MODES)
    for case in vectors.cases("lineage.json", "packed"):
        plh = PositionalLineageHash.from_u128(int(case["plh"], 16))
        assert (plh.position, plh.mode) == (case["position"], case["mode"])


def write_tables() -> None:
    text = FORMAT.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        found = re.search(_TABLE.format(name), text, re.DOTALL)
        assert found, name
        text = f"{text[: found.start(2)]}{table()}\n{text[found.end(2) :]}"
    FORMAT.write_text(text, encoding="utf-8")


def write_outputs() -> None:
    text = README.read_text(encoding="utf-8")
    for arguments, shown in commands(README):
        if shown:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                main(arguments)
            text = text.replace(f"```text\n{shown}```", f"```text\n{printed.getvalue()}```")
    found = re.search(_TABLE.format("speed"), text, re.DOTALL)
    assert found
    text = f"{text[: found.start(2)]}{speed_table()}\n{text[found.end(2) :]}"
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
    write_outputs()
