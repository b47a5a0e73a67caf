"""Make a directory that `loadPyodide({indexURL})` can be pointed at: Pyodide's files and our wheel.

    python3 web/make_lock.py --pyodide web/node_modules/pyodide --out DIRECTORY [--wheel WHEEL]

The lock is Pyodide's own, pruned to one package, ours, so `loadPackage("kvhash-pure")` works from
any static host and nothing else can be fetched. Without `--wheel` the wheel is built from this
checkout. The lock holds the wheel's SHA-256: run this again whenever the wheel changes.
Standard library only; prints the wheel's file name and its SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
# What a page fetches. Pyodide 314 calls its glue code `.mjs`, the versions before it `.js`.
FILES = ("pyodide.mjs", "python_stdlib.zip", "pyodide.asm.wasm")
GLUE = ("pyodide.asm.mjs", "pyodide.asm.js")


def build_wheel(directory: Path) -> Path:
    """Build this checkout's wheel into `directory` with pip or uv, and return its path."""
    if importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    elif shutil.which("uv"):
        command = ["uv", "build", "--quiet", "--wheel", "--out-dir"]
    else:
        raise SystemExit("neither pip nor uv here to build the wheel; on Debian: python3-pip")
    subprocess.run([*command, str(directory), str(CHECKOUT)], check=True, stdin=subprocess.DEVNULL)
    (wheel,) = directory.glob("kvhash_pure-*-py3-none-any.whl")
    return wheel


def lock_entry(wheel: Path) -> dict[str, Any]:
    """Return the lock's entry for our wheel, its SHA-256 read from the bytes as they are."""
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as archive:
        imports = sorted({n.split("/")[0] for n in archive.namelist() if n.endswith(".py")})
    return {
        "name": name.replace("_", "-"),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": imports,
        "depends": [],
        "unvendored_tests": False,
    }


def pruned_lock(lock: dict[str, Any], wheel: Path) -> dict[str, Any]:
    """Return Pyodide's `lock` with the interpreter's facts kept and `wheel` as the only package."""
    entry = lock_entry(wheel)
    return {**lock, "packages": {entry["name"]: entry}}


def stage(pyodide: Path, wheel: Path, out: Path) -> dict[str, Any]:
    """Fill `out` with Pyodide's files, `wheel` and the pruned lock; return the lock's entry."""
    out.mkdir(parents=True, exist_ok=True)
    glue = [name for name in GLUE if (pyodide / name).is_file()]
    for name in (*FILES, *glue):
        shutil.copy(pyodide / name, out / name)
    for stale in out.glob("kvhash_pure-*.whl"):
        if stale.resolve() != wheel.resolve():
            stale.unlink()
    if (out / wheel.name).resolve() != wheel.resolve():
        shutil.copy(wheel, out / wheel.name)
    lock = pruned_lock(json.loads((pyodide / "pyodide-lock.json").read_text("utf-8")), wheel)
    (out / "pyodide-lock.json").write_text(json.dumps(lock, indent=1) + "\n", "utf-8")
    (entry,) = lock["packages"].values()
    return dict(entry)


def main() -> None:
    """Read the arguments, build the wheel if none is given, stage."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pyodide", type=Path, required=True, help="npm's pyodide directory")
    parser.add_argument("--out", type=Path, required=True, help="the directory to fill")
    parser.add_argument("--wheel", type=Path, help="a wheel of ours; built if not given")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        wheel = arguments.wheel or build_wheel(Path(scratch))
        entry = stage(arguments.pyodide, wheel, arguments.out)
    print(entry["file_name"], entry["sha256"])


if __name__ == "__main__":
    main()
