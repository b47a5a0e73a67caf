"""What the sources of the page promise: types, no build step's tricks, no way out."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from .conftest import WEB

SOURCES = sorted((WEB / "src").rglob("*.js"))


def test_the_javascript_is_typed() -> None:
    """Every module is checked by TypeScript, strictly."""
    assert len(SOURCES) > 20
    for path in SOURCES:
        assert path.read_text("utf-8").startswith("// @ts-check\n"), path
    done = subprocess.run(
        ["npm", "--prefix", str(WEB), "run", "check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout


def test_no_markup_from_text_and_no_code_from_text() -> None:
    """What people paste becomes text nodes and attributes, never markup; nothing is evaluated."""
    for path in SOURCES:
        if path.name in ("files.js", "baked.js"):  # files.js reads SVG that the page drew itself
            continue
        text = path.read_text("utf-8")
        found = re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
        assert found is None, f"{path}: {found}"


def test_the_memory_of_python_has_one_name() -> None:
    """The page deletes what the worker keeps; a new service worker deletes other caches only."""
    names = set()
    for name in ("worker.js", "client.js"):
        text = (WEB / "src" / name).read_text("utf-8")
        names |= set(re.findall(r'MEMORY = "([^"]+)"', text))
    (name,) = names
    deletes = re.search(r'startsWith\("([^"]+)"\)', (WEB / "sw.js").read_text("utf-8"))
    assert deletes
    assert not name.startswith(deletes[1])


def test_python_knows_no_page() -> None:
    """bridge.py imports the package and the standard library only."""
    text = (WEB / "bridge.py").read_text("utf-8")
    roots = set(re.findall(r"^(?:from|import) (\w+)", text, re.M))
    assert roots == {"__future__", "collections", "json", "kvhash_pure", "re", "sys", "typing"}


def test_what_is_served_is_listed_with_its_licences(dist: Path) -> None:
    """Notices for all that is not ours, a lock with our wheel only, no address of another host."""
    licences = (dist / "LICENSES.txt").read_text("utf-8")
    for name in ("Mozilla Public License", "pyodide", "llama3-tokenizer-js", "IBM Plex"):
        assert name in licences
    lock = json.loads((dist / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
    assert list(lock["packages"]) == ["kvhash-pure"]
    for path in (dist / "src").rglob("*.js"):
        hosts = set(re.findall(r"https?://[\w.]+", path.read_text("utf-8")))
        assert hosts <= {"http://www.w3.org"}, path  # the namespace of SVG
