"""Gets the oracles and talks to them: Dynamo's binding from PyPI, its crates through cargo."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
BUILD = CHECKOUT / "build" / "oracle"
RUST = Path(__file__).with_name("rust")
PACKAGE = "ai-dynamo-runtime"
CRATES = "dynamo-kv-hashing 1.4.0 and dynamo-tokens 1.4.0 (crates.io)"


class Unavailable(Exception):
    """The oracle cannot be had here; the text says why."""


def run(*command: str, seconds: int, **environment: str) -> None:
    try:
        subprocess.run(
            command,
            env={**os.environ, **environment},
            check=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    except subprocess.SubprocessError as error:
        output = getattr(error, "output", None) or b""
        last = output.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise Unavailable(f"{' '.join(command[:3])} failed: {' / '.join(last) or error}") from None


class Binding:
    """One version of the binding, in a process of its own. `version` None: the newest there is."""

    def __init__(self, version: str | None) -> None:
        if sys.implementation.name != "cpython" or sys.hexversion < 0x030A0000:
            raise Unavailable(f"{PACKAGE} is for CPython 3.10 or newer")
        site = BUILD / f"{PACKAGE}-{version or 'newest'}"
        if not site.is_dir():
            self._install(site, PACKAGE if version is None else f"{PACKAGE}=={version}")
        self.version = next(site.glob("*.dist-info")).stem.split("-")[1]
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("serve_binding.py"))],
            env={**os.environ, "PYTHONPATH": str(site), "DYN_LOG": "off"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _install(self, site: Path, requirement: str) -> None:
        """Without its dependencies: the two functions need none. All or nothing."""
        fresh = site.with_suffix(".part")
        shutil.rmtree(fresh, ignore_errors=True)
        if shutil.which("uv"):
            installer = ["uv", "pip", "install", "--python", sys.executable]
        else:
            installer = [sys.executable, "-m", "pip", "install"]
        run(*installer, "--no-deps", "--target", str(fresh), requirement, seconds=600)
        fresh.rename(site)

    def ask(self, questions: list[tuple[str, Any]]) -> list[Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(questions, self._process.stdin)
        self._process.stdin.flush()
        answers: list[Any] = pickle.load(self._process.stdout)
        assert len(answers) == len(questions)
        return answers

    def close(self) -> None:
        self._process.communicate()


class Crates:
    """The Rust program of `rust/`, built on first use."""

    def __init__(self) -> None:
        target = BUILD / "rust"
        manifest = str(RUST / "Cargo.toml")
        path = f"{os.environ.get('PATH', '')}{os.pathsep}{Path.home() / '.cargo' / 'bin'}"
        cargo = shutil.which("cargo", path=path) or "cargo"
        run(
            *(cargo, "build", "--locked", "--quiet", "--manifest-path", manifest),
            seconds=900,
            CARGO_TARGET_DIR=str(target),
            PATH=path,
        )
        self._program = str(target / "debug" / "kvhash-oracle")

    def ask(self, questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        lines = [json.dumps(question) for question in questions]
        done = subprocess.run(
            [self._program],
            input="\n".join(lines) + "\n",
            stdout=subprocess.PIPE,
            check=True,
            encoding="utf-8",
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(lines)
        return answers
