"""The rings: each session runs the same suite somewhere else. `python3 -m tests` runs them all.

A session installs what it needs into a virtual environment of its own under `.nox`; pytest's
report goes to `build/rings/<ring>.xml`, where `python3 -m tests` reads it. Needs nox and uv.
"""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

import nox

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
CPYTHONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]
# The newest there is of these; tests/wheel wants the one that Pyodide 0.29.5 has.
MAIN_PYTHON = next((v for v in ("3.13", "3.12", "3.11") if shutil.which(f"python{v}")), "3.11")

# Python 3.11 of Debian 12 and what it loads.
S390X_PACKAGES = [
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6"),
    *("libgcc-s1", "zlib1g", "libexpat1", "libffi8", "libbz2-1.0", "liblzma5"),
]
# Emulation is some twenty times slower: where bytes are made, and the digest of everything.
S390X_TESTS = [
    "tests/test_digest.py::test_this_interpreter_gives_the_pinned_digest",
    "tests/test_encoding.py",
]

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = True
nox.options.reuse_existing_virtualenvs = True


def install_extra(session: nox.Session, extra: str, *more: str) -> None:
    """What pyproject.toml lists under `extra`; the package itself is the checkout's."""
    session.install("-r", "pyproject.toml", "--extra", extra, *more)


def run_pytest(session: nox.Session, *arguments: str) -> None:
    """The suite, or the tests named, with the checkout first on the path and a report."""
    report = BUILD / "rings" / f"{session.name}.xml"
    session.run(
        "python", "-m", "pytest", "-q", f"--junitxml={report}", *arguments, *session.posargs
    )


def npm_ci(session: nox.Session, directory: str) -> Path:
    """Install what `directory`'s lock file says, once, whoever comes first."""
    BUILD.mkdir(exist_ok=True)
    modules = HERE / directory / "node_modules"
    done = modules / ".package-lock.json"
    with (BUILD / "npm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = modules.with_name("package-lock.json").stat().st_mtime
        if not done.is_file() or done.stat().st_mtime < wanted:
            session.run(
                "npm", "--prefix", directory, "ci", "--no-audit", "--no-fund", external=True
            )
            done.touch()
    return modules


def pyodide_site(session: nox.Session) -> Path:
    """A directory with the suite's pure-Python tools, for mounting into Pyodide."""
    site = Path(session.create_tmp()) / "site"
    shutil.rmtree(site, ignore_errors=True)
    session.run(
        *("uv", "pip", "install", "--quiet", "--target", str(site), "--only-binary", ":all:"),
        *("--python-version", "3.13", "--python-platform", "wasm32-pyodide2024"),
        *("-r", "pyproject.toml", "--extra", "tests"),
        external=True,
    )
    return site


def big_endian_python(session: nox.Session) -> Path:
    """A `python3` for s390x below `.nox`: Debian's packages unpacked, this system left as it is."""
    top = Path(session.create_tmp()).resolve()
    python = top / "python3"
    if python.exists():
        return python
    for name in ("system", "lists/partial", "cache/archives/partial"):
        (top / name).mkdir(parents=True, exist_ok=True)
    (top / "status").touch()
    config = (
        'APT::Architecture "s390x"; APT::Architectures { "s390x"; }; APT::Sandbox::User "root"; '
        'Acquire::Retries "3"; '
        f'Dir::State "{top}"; Dir::State::status "{top}/status"; Dir::Cache "{top}/cache";'
    )
    (top / "apt.conf").write_text(config, "utf-8")
    env = {"APT_CONFIG": str(top / "apt.conf")}
    session.run("apt-get", "update", "-qq", env=env, external=True)
    with session.chdir(top):
        session.run("apt-get", "download", "-qq", *S390X_PACKAGES, env=env, external=True)
    for package in top.glob("*.deb"):
        session.run("dpkg", "-x", str(package), str(top / "system"), external=True, silent=True)
    emulated = f'qemu-s390x-static -0 "$0" -L {top}/system {top}/system/usr/bin/python3.11 "$@"'
    python.write_text(f"#!/bin/sh\nexec {emulated}\n", "utf-8")
    python.chmod(0o755)
    return python


@nox.session(python=MAIN_PYTHON)
def lint(session: nox.Session) -> None:
    """ruff and mypy --strict, tests included."""
    install_extra(session, "lint")
    session.run("ruff", "check", ".")
    session.run("mypy")


@nox.session(python=CPYTHONS)
def cpython(session: nox.Session) -> None:
    """The suite on one CPython."""
    install_extra(session, "tests")
    run_pytest(session)


@nox.session(python=MAIN_PYTHON)
def coverage(session: nox.Session) -> None:
    """The suite again, measured: every branch of the package or it fails."""
    npm_ci(session, "examples/tokenized")  # so that the tokenizers make the examples again
    install_extra(session, "tests", "pytest-cov>=6")
    run_pytest(session, "--cov", "--cov-report=term")


@nox.session(python="pypy3")
def pypy(session: nox.Session) -> None:
    """The suite on PyPy."""
    install_extra(session, "tests")
    run_pytest(session)


def pyodide(session: nox.Session, version: str) -> None:
    """The suite inside Pyodide under node, on this checkout."""
    modules = npm_ci(session, "tests/pyodide")
    session.run(
        *("node", "tests/pyodide/run.mjs", str(modules / f"pyodide-{version}")),
        *(str(pyodide_site(session)), "pytest", "-q", "-p", "no:cacheprovider"),
        f"--junitxml=build/rings/{session.name}.xml",
        *session.posargs,
        external=True,
    )


@nox.session(name="pyodide-0.29.5", python=False)
def pyodide_0_29(session: nox.Session) -> None:
    """The suite in Pyodide 0.29.5 (Python 3.13) under node."""
    pyodide(session, "0.29.5")


@nox.session(name="pyodide-314.0.7", python=False)
def pyodide_314(session: nox.Session) -> None:
    """The suite in Pyodide 314.0.7 (Python 3.14) under node."""
    pyodide(session, "314.0.7")


@nox.session(python=False)
def s390x(session: nox.Session) -> None:
    """A real big-endian machine, emulated: Debian's Python for IBM Z under qemu."""
    python = big_endian_python(session)
    site = pyodide_site(session)  # pure Python, so it runs there as well
    session.run(
        *(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        f"--junitxml=build/rings/{session.name}.xml",
        *(session.posargs or S390X_TESTS),
        env={"PYTHONPATH": str(site)},
        external=True,
    )


@nox.session(python=False)
def chromium(session: nox.Session) -> None:
    """The suite in Pyodide 314.0.7 inside Chromium."""
    modules = npm_ci(session, "tests/pyodide")
    session.run(
        *("python3", "-m", "tests.pyodide.chromium", str(modules / "pyodide-314.0.7")),
        *(str(pyodide_site(session)), f"build/rings/{session.name}.xml", *session.posargs),
        external=True,
    )


@nox.session(python=MAIN_PYTHON)
def wheel(session: nox.Session) -> None:
    """The wheel: built, rebuilt, installed everywhere, locked, loaded."""
    npm_ci(session, "tests/pyodide")
    install_extra(session, "wheel")
    run_pytest(session, "tests/wheel")


@nox.session(python=MAIN_PYTHON)
def oracle(session: nox.Session) -> None:
    """Dynamo's own binding and crates against ours."""
    install_extra(session, "oracle")
    run_pytest(session, "-s", "tests/oracle")  # the tests print what they compared


@nox.session(python=MAIN_PYTHON)
def web(session: nox.Session) -> None:
    """The page, as built, in Chromium and once in Firefox."""
    npm_ci(session, "web")
    session.run("npm", "--prefix", "web", "run", "build", external=True)
    install_extra(session, "web")
    # A browser on a busy machine may miss a moment: once more, and the summary says so.
    run_pytest(session, "tests/web", "--reruns", "1")
