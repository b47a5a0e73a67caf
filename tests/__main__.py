"""Run the suite in every ring and say, in one table, what ran where.

    python3 -m tests                      every ring, setting up what is missing
    python3 -m tests --ring pypy          one ring (repeatable; `--ring cpython-3.12`)
    python3 -m tests --list               the rings and what each needs

Needs nothing but Python 3.9: nox and uv come into `build/tools`, Debian packages by apt where this
is Debian and root, else the command to type is printed. The rings themselves are the sessions of
noxfile.py. Exit status: 0 all is well, 1 a ring failed or its digest differs or, under `CI`, could
not run (of the CPythons, three are enough).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
TOOLS = CHECKOUT / "build" / "tools"
REPORTS = CHECKOUT / "build" / "rings"
TIMEOUT = 1500  # seconds for one ring
LEAST_CPYTHONS = 3

# ring: the commands it needs, slowest ring first.
NODE = ("node", "npm")
RINGS = {
    "pyodide-0.29.5": NODE,
    "pyodide-314.0.7": NODE,
    "chromium": (*NODE, "chromium"),
    "web": (*NODE, "chromium", "firefox-esr"),
    "wheel": (*NODE, "chromium", "pypy3", "make"),
    "s390x": ("qemu-s390x-static", "apt-get", "dpkg"),
    "coverage": NODE,
    "cpython-3.9": ("python3.9",),
    "cpython-3.10": ("python3.10",),
    "cpython-3.11": ("python3.11",),
    "cpython-3.12": ("python3.12",),
    "cpython-3.13": ("python3.13",),
    "pypy": ("pypy3",),
    "oracle": (),
    "lint": (),
}
# These run other tests than the suite, so they have no digest to show.
NO_DIGEST = {"web", "wheel", "oracle", "lint"}
# command: the Debian packages that bring it.
DEBIAN = {
    "node": ("nodejs",),
    "npm": ("npm",),
    "chromium": ("chromium",),
    "firefox-esr": ("firefox-esr",),
    "pypy3": ("pypy3",),
    "make": ("make",),
    "qemu-s390x-static": ("qemu-user-static",),
}

RUNNING: dict[str, subprocess.Popen[bytes]] = {}


class Result(NamedTuple):
    """What one ring did. `problem` says why it did not run, or what failed beside its tests."""

    ring: str
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skips: tuple[str, ...] = ()
    interpreter: str = "-"
    digest: str = ""
    problem: str = ""
    ran: bool = True


def environment() -> dict[str, str]:
    """This environment, with nox, uv and every CPython of pyenv in front of the path."""
    # pyenv's own shims find a version only if PYENV_VERSION names it; the real ones need no help.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = sorted(pyenv.glob("versions/3.*/bin/python3"), key=lambda p: p.parent.parent.name)
    directories = [str(python.parent) for python in found]
    own = str(Path(sys.executable).resolve().parent)  # so `python3` stays the one that runs this
    path = [str(TOOLS / "bin"), own, *directories, os.environ.get("PATH", "")]
    return {**os.environ, "PATH": os.pathsep.join(path)}


def say(*words: object) -> None:
    """Print at once: the log of a long run must not lag behind it."""
    print(*words, flush=True)


def apt_install(packages: list[str]) -> bool:
    """Install Debian packages, or say which command would."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say("missing here; to get it:  sudo", " ".join(command))
        return False
    say("installing with apt:", *packages)
    lock = ["-o", "DPkg::Lock::Timeout=600"]
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in ([command[0], *lock, "update", "-qq"], [command[0], *lock, "-qq", *command[1:]]):
        done = subprocess.run(
            step, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
        )
    return done.returncode == 0


def set_up(wanted: list[str], env: dict[str, str]) -> None:
    """Bring in what the wanted rings need: Debian packages, then nox and uv."""
    missing = {c for ring in wanted for c in RINGS[ring] if not shutil.which(c, path=env["PATH"])}
    packages = [name for command in sorted(missing) for name in DEBIAN.get(command, ())]
    if packages:
        apt_install(packages)
    if (TOOLS / "bin" / "nox").exists() and (TOOLS / "bin" / "uv").exists():
        return
    say("installing nox and uv into", TOOLS.relative_to(CHECKOUT))
    make_venv = [sys.executable, "-m", "venv", "--clear", str(TOOLS)]
    if subprocess.run(make_venv, stdout=subprocess.DEVNULL, check=False).returncode:
        apt_install(["python3-venv"])
        subprocess.run(make_venv, check=True)
    pip = [str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "nox[uv]>=2025.5.1"], check=True, stdin=subprocess.DEVNULL)


def run_ring(ring: str, env: dict[str, str]) -> Result:
    """Run one nox session, its output into a log; count from pytest's report."""
    missing = [c for c in RINGS[ring] if not shutil.which(c, path=env["PATH"])]
    if missing:
        return Result(ring, problem="not found: " + ", ".join(missing), ran=False)
    report, log = REPORTS / f"{ring}.xml", REPORTS / f"{ring}.log"
    report.unlink(missing_ok=True)
    say(f"{ring}: started")
    start = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(TOOLS / "bin" / "nox"), "--non-interactive", "-s", ring],
            cwd=CHECKOUT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        RUNNING[ring] = process
        killer = threading.Timer(TIMEOUT, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        status = process.wait()
        killer.cancel()
        del RUNNING[ring]
    seconds = time.monotonic() - start
    result = read_report(ring, report, status, seconds)
    say(f"{ring}: {'FAILED' if result.failed or result.problem else 'ok'}, {seconds:.0f} s")
    if result.failed or result.problem:
        tail = log.read_text("utf-8", "replace").splitlines()[-50:]
        say("\n".join(f"  {ring} | {line[:200]}" for line in tail))
    return result


def read_report(ring: str, report: Path, status: int, seconds: float) -> Result:
    """Counts, skip reasons and facts from a JUnit file; the exit status has the last word."""
    interpreter = "-"
    venv = CHECKOUT / ".nox" / ring / "pyvenv.cfg"
    if venv.exists():
        interpreter = f"CPython {venv.read_text('utf-8').split('version_info = ')[1].split()[0]}"
    if not report.exists():
        if status == 0 and ring == "lint":  # ruff and mypy write no report
            return Result(ring, seconds, passed=1, interpreter=interpreter)
        problem = f"no report within {TIMEOUT} s" if status < 0 else "failed before or beside tests"
        problem += f"; exit status {status}"
        return Result(ring, seconds, failed=1, interpreter=interpreter, problem=problem)
    root = ElementTree.parse(report).getroot()
    cases = list(root.iter("testcase"))
    failed = sum(any(case.find(tag) is not None for tag in ("failure", "error")) for case in cases)
    skipped = [case.find("skipped") for case in cases]
    reasons = tuple(skip.get("message", "") for skip in skipped if skip is not None)
    facts = {p.get("name", ""): p.get("value", "") for p in root.iter("property")}
    problem = ""
    if status and not failed:
        problem = f"tests passed, yet exit status {status}"
    if not cases:
        problem = "no test ran"
    return Result(
        ring,
        seconds,
        passed=len(cases) - failed - len(reasons),
        failed=failed + bool(problem),
        skips=reasons,
        interpreter=facts.get("interpreter", interpreter),
        digest=facts.get("digest", ""),
        problem=problem,
    )


def print_table(results: list[Result]) -> None:
    """One line a ring, then the skips by reason, then the digests."""
    say(f"\n{'ring':16} {'interpreter':32}  passed  failed skipped  seconds")
    for r in results:
        counts = f"{r.passed:7} {r.failed:7} {len(r.skips):7} {r.seconds:8.1f}  "
        said = f"{r.interpreter:32} {counts}" if r.ran else f"{'*** DID NOT RUN ***':32}  "
        say(f"{r.ring:16} {said}{r.problem}".rstrip())
    skips = Counter((reason, r.ring) for r in results for reason in r.skips)
    if skips:
        say("\nskipped, and why:")
    for reason in sorted({reason for reason, _ in skips}):
        where = [f"{ring} {n}" for (why, ring), n in skips.items() if why == reason]
        say(f"  {reason or 'no reason given'}  ({', '.join(where)})")
    digests = {r.digest for r in results if r.digest}
    if digests:
        count = sum(bool(r.digest) for r in results)
        verdict = "the same in" if len(digests) == 1 else "NOT THE SAME IN"
        say(f"\ndigest {' '.join(sorted(digests))}: {verdict} {count} rings")


def verdict(results: list[Result]) -> list[str]:
    """Why the whole run fails; nothing if it does not."""
    wrong = [f"{r.ring} failed" for r in results if r.ran and r.failed]
    if len({r.digest for r in results if r.digest}) > 1:
        wrong.append("the digests differ")
    mute = (r for r in results if r.ran and not r.digest and r.ring not in NO_DIGEST)
    wrong += [f"{r.ring} has no digest" for r in mute]
    if os.environ.get("CI"):
        cpythons = [r for r in results if r.ring.startswith("cpython-")]
        ran = sum(r.ran for r in cpythons)
        enough = ran >= min(LEAST_CPYTHONS, len(cpythons))
        if not enough:
            wrong.append(f"only {ran} CPythons ran, of at least {LEAST_CPYTHONS}")
        wrong += [
            f"{r.ring} did not run" for r in results if not r.ran and r not in cpythons
        ]
    return wrong


def stop(signum: int, frame: object) -> None:
    """Leave nothing running: each ring is a process group of its own."""
    for ring, process in list(RUNNING.items()):
        say(f"{ring}: stopped")
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(128 + signum)


def main() -> int:
    """Set up, run two rings at a time, report."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--ring", action="append", choices=RINGS, help="run only this one")
    parser.add_argument("--list", action="store_true", help="list the rings and stop")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    arguments = parser.parse_args()
    if arguments.list:
        for ring, needs in RINGS.items():
            say(f"{ring:16} {' '.join(needs)}")
        return 0
    wanted = list(dict.fromkeys(arguments.ring or RINGS))
    env = environment()
    REPORTS.mkdir(parents=True, exist_ok=True)
    set_up(wanted, env)
    start = time.monotonic()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, stop)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda ring: run_ring(ring, env), wanted))
    results.sort(key=lambda r: [int(n) if n.isdigit() else n for n in re.split(r"(\d+)", r.ring)])
    print_table(results)
    wrong = verdict(results)
    for line in wrong:
        say("FAILED:", line)
    passed, failed = sum(r.passed for r in results), sum(r.failed for r in results)
    failed = max(failed, len(wrong))
    say(f"{len(wanted)} rings in {time.monotonic() - start:.0f} s; logs in {REPORTS}\n")
    say(f"{passed} passed, {failed} failed, {sum(len(r.skips) for r in results)} skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
