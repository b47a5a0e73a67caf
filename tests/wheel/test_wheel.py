"""The wheel: one file, the same bytes however it is built, working wherever it is installed."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import kvhash_pure
from tests import digest
from tests.pyodide import chromium
from tests.wheel import crossenv

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(CHECKOUT / "web"))
import make_lock  # noqa: E402  # a script beside the page, not a package

PYODIDES = CHECKOUT / "tests" / "pyodide" / "node_modules"
VERSIONS = ["0.29.5", "314.0.7"]
INTERPRETERS = [*(f"python3.{minor}" for minor in range(9, 14)), "pypy3"]
HERE = Path(__file__).resolve().parent
README = CHECKOUT / "README.md"
needs_3_13 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 13),
    reason="pyodide-build must run on the Python version of Pyodide 0.29.5: 3.13",
)


def run(*command: object, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command; its output, or a failure that shows it."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-6000:]}")
    return str(done.stdout)


def copy(top: Path, *parts: str, to: Path) -> Path:
    """Copy the files in and below `top`, at another place, with neither mode nor time."""
    files = [p for p in top.iterdir() if p.is_file()]
    for path, name in [*((p, p.name) for p in files), *chromium.tree(top, *parts)]:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return to


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds, kept still while the tests run."""
    return copy(CHECKOUT, *chromium.SUITE, to=tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `python -m build` makes it, by way of the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--installer=uv", "--outdir", out, cwd=sources)
    (built,) = out.glob("*.whl")
    return built


def test_one_pure_wheel_of_the_version_in_the_code(wheel: Path) -> None:
    """The name says it: any Python 3, any platform, no native code."""
    assert wheel.name == f"kvhash_pure-{kvhash_pure.__version__}-py3-none-any.whl"


def test_the_wheel_holds_the_package_and_nothing_else(sources: Path, wheel: Path) -> None:
    """Every module, the type marker, the license; no tests, no page."""
    info = f"kvhash_pure-{kvhash_pure.__version__}.dist-info"
    package = sources / "kvhash_pure"
    expected = {f"kvhash_pure/{name}" for _, name in chromium.tree(package)}
    expected |= {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == expected
        assert "kvhash_pure/py.typed" in expected
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
    assert metadata["Requires-Python"] == ">=3.9"
    needs = metadata.get_all("Requires-Dist") or []
    assert [n for n in needs if "extra ==" not in n] == []


def test_building_again_gives_the_same_bytes(sources: Path, wheel: Path, tmp_path: Path) -> None:
    """Another directory, another time, another umask, straight from the tree: the same file."""
    source = copy(sources, "kvhash_pure", to=tmp_path / "elsewhere")
    for path in source.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    out = tmp_path / "dist"
    before = os.umask(0o077)
    try:
        command = [sys.executable, "-m", "build", "--installer=uv", "--wheel", "--outdir", out]
        run(*command, cwd=source)
    finally:
        os.umask(before)
    assert (out / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_self_test_in_a_bare_environment(
    interpreter: str, wheel: Path, tmp_path: Path
) -> None:
    """Nothing but the wheel is installed; the command line and the digest are right."""
    # A shim of pyenv may be there without the interpreter.
    found = shutil.which(interpreter)
    if not found or subprocess.run([found, "-c", ""], check=False).returncode:
        pytest.skip(f"{interpreter} is not on this machine")
    venv = tmp_path / "venv"
    run("uv", "venv", "--quiet", "--python", found, venv, cwd=tmp_path)
    python = venv / "bin" / "python"
    run(
        *("uv", "pip", "install", "--quiet", "--python", python, "--no-index", "--offline", wheel),
        cwd=tmp_path,
    )
    assert "answers are right" in run(python, "-m", "kvhash_pure", "selftest", cwd=tmp_path)
    shutil.copy(CHECKOUT / "tests" / "digest.py", tmp_path)
    assert run(python, "digest.py", cwd=tmp_path).split()[0] == digest.PINNED


@pytest.fixture(scope="session")
def cross_build(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables under which pyodide-build finds our small cross-build environment."""
    directory = tmp_path_factory.mktemp("cross")
    return crossenv.variables(crossenv.make(PYODIDES / "pyodide-0.29.5", directory))


@needs_3_13
def test_pyodide_build_gives_the_same_wheel(
    sources: Path, wheel: Path, cross_build: dict[str, str], tmp_path: Path
) -> None:
    """`pyodide build` in place of `python -m build`: not one byte differs."""
    source = copy(sources, "kvhash_pure", to=tmp_path / "source")
    run("pyodide", "build", source, "--outdir", tmp_path / "out", cwd=tmp_path, env=cross_build)
    assert (tmp_path / "out" / wheel.name).read_bytes() == wheel.read_bytes()


@needs_3_13
def test_the_suite_passes_in_a_pyodide_venv(
    sources: Path, wheel: Path, cross_build: dict[str, str], tmp_path: Path
) -> None:
    """`pyodide venv`, `pip install` of the wheel, and the suite against what is installed."""
    run("pyodide", "venv", "venv", cwd=tmp_path, env=cross_build)
    tools = ["pytest", "hypothesis==6.155.7", "ppxxh==1.0.0", "base58"]
    run("venv/bin/pip", "install", "--quiet", wheel, *tools, cwd=tmp_path, env=cross_build)
    source = copy(sources, *chromium.SUITE, to=tmp_path / "source")
    # Some tests read the package's sources here; without __init__.py they cannot be imported.
    hidden = source / "kvhash_pure" / "__init__.py"
    hidden.rename(hidden.with_name("__init__.txt"))
    where = "import kvhash_pure; print(kvhash_pure.__file__)"
    python = tmp_path / "venv" / "bin" / "python"
    assert "site-packages" in run(python, "-c", where, cwd=source)
    said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=source)
    assert " passed" in said.splitlines()[-1]


@pytest.fixture(params=VERSIONS)
def staged(request: pytest.FixtureRequest, wheel: Path, tmp_path: Path) -> Path:
    """A directory for `indexURL`, made as the page's build makes it."""
    make_lock.stage(PYODIDES / f"pyodide-{request.param}", wheel, tmp_path / "pyodide")
    return tmp_path / "pyodide"


def test_the_lock_loads_our_wheel_under_node(staged: Path) -> None:
    """`loadPackage("kvhash-pure")` from a local directory; the digest with what it loaded."""
    found = json.loads(run("node", HERE / "load.mjs", staged, "lock", cwd=HERE).splitlines()[-1])
    assert found["file"].endswith("/site-packages/kvhash_pure/__init__.py")
    assert found["version"] == kvhash_pure.__version__
    assert found["digest"] == digest.PINNED


@pytest.mark.parametrize("version", VERSIONS)
def test_micropip_installs_our_wheel_from_a_file(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    """The three lines of README, offline, with micropip of the version in Pyodide's lock."""
    (lines,) = (
        block.partition("```")[0]
        for block in README.read_text("utf-8").split("```python\n")[1:]
        if "micropip.install" in block
    )
    assert f"emfs:/wheels/{wheel.name}" in lines
    lock = json.loads((PYODIDES / f"pyodide-{version}" / "pyodide-lock.json").read_text("utf-8"))
    micropip = f"micropip=={lock['packages']['micropip']['version']}"
    install = ("uv", "pip", "install", "--quiet", "--no-deps", "--target", "site")
    run(*install, micropip, cwd=tmp_path)
    arguments = [PYODIDES / f"pyodide-{version}", "micropip", wheel, tmp_path / "site", lines]
    found = json.loads(run("node", HERE / "load.mjs", *arguments, cwd=HERE).splitlines()[-1])
    assert found["version"] == kvhash_pure.__version__
    assert found["digest"] == digest.PINNED


def test_the_lock_is_one_that_pyodide_lock_would_write(staged: Path, tmp_path: Path) -> None:
    """pyodide-lock reads ours, and its own `add-wheels` has the same to say about our wheel."""
    pyodide_lock = pytest.importorskip("pyodide_lock", reason="pyodide-lock is not installed")
    ours = pyodide_lock.PyodideLockSpec.from_json(staged / "pyodide-lock.json")
    ours.check_wheel_filenames()
    empty = tmp_path / "empty.json"
    bare = json.loads((staged / "pyodide-lock.json").read_text("utf-8"))
    empty.write_text(json.dumps({**bare, "packages": {}}), "utf-8")
    wheels = [str(path) for path in staged.glob("*.whl")]
    run(
        *("pyodide", "lockfile", "add-wheels", "--input", empty, "--output", "new.json"),
        *("--base-path", staged, *wheels),
        cwd=tmp_path,
    )
    theirs = pyodide_lock.PyodideLockSpec.from_json(tmp_path / "new.json")
    assert theirs.packages["kvhash-pure"].sha256 == ours.packages["kvhash-pure"].sha256
    assert theirs.packages["kvhash-pure"].imports == ours.packages["kvhash-pure"].imports
    assert theirs.packages == ours.packages


def in_chromium(staged: Path) -> dict[str, str]:
    """What the page of load.html reports when it is served `staged`."""
    said: dict[str, str] = {}

    def answer(path: str, text: str) -> bool:
        said[path] = text
        return True

    served = {
        "/": HERE / "load.html",
        "/pyodide/": staged,
        "/digest.py": CHECKOUT / "tests" / "digest.py",
    }
    assert chromium.open_page(served, answer, timeout=180), "the page did not answer"
    return said


@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not on this machine")
class TestChromium:
    def test_the_lock_loads_our_wheel(self, staged: Path) -> None:
        """`loadPackage("kvhash-pure")` in the browser; the digest with what it loaded."""
        assert in_chromium(staged) == {"/digest": digest.PINNED}

    def test_a_wheel_that_is_not_the_locked_one_is_refused(self, staged: Path) -> None:
        """The checksum is a real one: with a wheel changed afterwards nothing is loaded."""
        (wheel,) = staged.glob("*.whl")
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("kvhash_pure/added.py", "")
        assert "/digest" not in in_chromium(staged)
