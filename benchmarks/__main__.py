"""`python3 -m benchmarks`: the tables of speed, as ratios, on every interpreter there is.

Each interpreter is a process that works when told to, one at a time, so all of them and the C
library see the same moments of a busy machine. A ratio is to the loop around C `xxhash` on the
CPython that runs this: minimum by minimum, and in brackets the median of the rounds' ratios. Time
is CPU time. What is needed is installed under `build/benchmarks` (pip, npm) the first time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any, Optional

CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = CHECKOUT / "build" / "benchmarks"
PYODIDE = "pyodide-0.29.5"
BASELINE = ("CPython", "xxhash", "")

# Work, its meaning, and the ratio to reach on CPython, PyPy and Pyodide (there: to our CPython).
Reach = tuple[Optional[float], Optional[float], Optional[float]]
WORKS: dict[str, tuple[str, Reach]] = {
    "a": ("8 192 tokens, blocks of 16", (4.5, 0.4, 3.5)),
    "b": ("the same with one run of 32 slots", (4.2, 0.35, 3.5)),
    "c": ("131 072 tokens, blocks of 128", (6.8, 0.25, 3.5)),
    "d 32": ("8 192 tokens, blocks of 32", (None, None, 3.5)),
    "d 64": ("8 192 tokens, blocks of 64", (None, None, 3.5)),
    "f": ("1 000 requests of 200 tokens, blocks of 16", (None, None, 3.5)),
    "g": ("8 192 tokens appended one by one, blocks of 16", (None, None, 3.5)),
    "a blocks": ("a, `into_blocks` instead of `sequence_hashes`", (None, None, 3.5)),
    "b blocks": ("b, `into_blocks`", (None, None, 3.5)),
    "c blocks": ("c, `into_blocks`", (None, None, 3.5)),
    "f blocks": ("f, `into_blocks`", (None, None, 3.5)),
    "e 16": ("`xxh3_64` of 16 bytes, any seed", (None, None, 3.5)),
    "e 64": ("of 64 bytes", (30, 1.5, 3.5)),
    "e 128": ("of 128 bytes", (None, None, 3.5)),
    "e 208": ("of 208 bytes", (None, None, 3.5)),
    "e 256": ("of 256 bytes", (None, None, 3.5)),
    "e 512": ("of 512 bytes", (None, None, 3.5)),
    "e 1024": ("of 1 024 bytes", (None, None, 3.5)),
    "e 4096": ("of 4 096 bytes", (None, None, 3.5)),
}
GROWTH = ("100 k", "1 M")


class Worker:
    """One interpreter with our code and what it can import of the others."""

    def __init__(self, name: str, command: list[str], path: Iterable[Path] = ()) -> None:
        self.name = name
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, path)))
        self._process = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        hello = self._answer()
        self.version: str = hello["version"]
        self.contestants: list[str] = hello["contestants"]
        self.xxhash: str = hello["xxhash"]
        self.calls: dict[tuple[str, str], int] = {}

    def tell(self, run: object, calls: int = 1) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"run": run, "calls": calls}) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def seconds(self, contestant: str, work: str) -> float:
        """One measurement of some 20 ms, the same for all: the others' turns have emptied the
        caches and predictors. The first time after a warm-up, longer for compilers.
        """
        key = contestant, work
        if key not in self.calls:
            warm, once = 0.0, self.tell(key)
            while warm < (0.5 if self.name != "CPython" and contestant == "ours" else 0.02):
                calls = max(1, int(0.05 / max(once, 1e-4)))
                once = self.tell(key, calls)
                warm += calls * max(once, 1e-4)
            self.calls[key] = max(1, int(0.02 / max(once, 1e-6)))
        return self.tell(key, self.calls[key])

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended early")
        return json.loads(line)


def installed(directory: str, *packages: str) -> Path:
    """A directory of the cache with these packages in it."""
    target = CACHE / directory
    if not target.is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--target"]
        subprocess.run([*pip, str(target), *packages], check=True)
    return target


def workers(only: list[str]) -> list[Worker]:
    """CPython first; what is not there is said and left out."""
    pure = installed("pure", "ppxxh==1.0.0")
    native = installed(f"native-{sys.implementation.cache_tag}", "xxhash")
    found = [Worker("CPython", [sys.executable, "-m", "benchmarks.work"], [native, pure])]
    pypy = shutil.which("pypy3")
    if "pypy" in only and pypy:
        found.append(Worker("PyPy", [pypy, "-m", "benchmarks.work"], [pure]))
    node, npm = shutil.which("node"), shutil.which("npm")
    if "pyodide" in only and node and npm:
        here = CHECKOUT / "tests" / "pyodide"
        modules = here / "node_modules"
        if not (modules / PYODIDE).is_dir():
            subprocess.run(
                [npm, "--prefix", str(here), "ci", "--no-audit", "--no-fund"], check=True
            )
        run = [str(here / "run.mjs"), str(modules / PYODIDE), str(pure), "benchmarks.work"]
        found.append(Worker("Pyodide", [node, *run]))
    missing = {"pypy", "pyodide"} & set(only) - {worker.name.lower() for worker in found}
    print(*(f"not here, so left out: {name}" for name in sorted(missing)), sep="\n", end="")
    return found


Measured = dict[tuple[str, str, str], list[float]]


def measure(found: list[Worker], works: tuple[str, ...], rounds: int) -> Measured:
    """Seconds by (interpreter, contestant, work), a list with one for each round.

    A round has all works, so a slow minute of the machine is one of all of them.
    """
    measured: Measured = {}
    for i in range(rounds):
        for work in works:
            for worker in found:
                for contestant in worker.contestants:
                    if contestant == "ppxxh" and "blocks" in work:
                        continue  # the same as without
                    if contestant != "ours" and work in GROWTH:
                        continue
                    seconds = worker.seconds(contestant, work)
                    measured.setdefault((worker.name, contestant, work), []).append(seconds)
        print(f"{i + 1} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return measured


def ratio(ours: list[float], other: list[float]) -> tuple[float, float]:
    return min(ours) / min(other), median(a / b for a, b in zip(ours, other))


def shown(pair: tuple[float, float], reach: float | None = None) -> str:
    digits = 2 if pair[0] < 10 else 1
    text = f"{pair[0]:.{digits}f} ({pair[1]:.{digits}f})"
    return text if reach is None else f"{text} {'≤' if pair[0] <= reach else '**>**'} {reach:g}"


def report(found: list[Worker], measured: Measured) -> Iterable[str]:
    names = [worker.name for worker in found]

    def of(name: str, contestant: str, work: str) -> list[float]:
        return measured[name, contestant, work]

    yield "Ratio to a loop around C `xxhash` on CPython: minimum (median), and what to reach."
    yield ""
    yield f"| | work | {' | '.join(names)} | C, µs |"
    yield "|---|---|" + "---:|" * (len(names) + 1)
    for work, (meaning, reach) in WORKS.items():
        base = of("CPython", "xxhash", work)
        cells = [
            shown(ratio(of(name, "ours", work), base), reach[i] if name != "Pyodide" else None)
            for i, name in enumerate(names)
        ]
        scale = 200 if work.startswith("e ") else 1
        yield f"| {work} | {meaning} | {' | '.join(cells)} | {min(base) / scale * 1e6:.3g} |"
    yield ""
    yield "`ppxxh` to ours on the same interpreter: how many times faster ours is."
    yield ""
    yield f"| | {' | '.join(f'ppxxh, {name}' for name in names)} | ours, Pyodide to CPython |"
    yield "|---|" + "---:|" * (len(names) + 1)
    for work, (_, reach) in WORKS.items():
        cells = [
            shown(ratio(of(name, "ppxxh", work), of(name, "ours", work)))
            if (name, "ppxxh", work) in measured
            else ""
            for name in names
        ]
        last = ""
        if "Pyodide" in names:
            last = shown(ratio(of("Pyodide", "ours", work), of("CPython", "ours", work)), reach[2])
        yield f"| {work} | {' | '.join(cells)} | {last} |"
    yield ""
    yield "Other ratios of ours."
    yield ""
    yield f"| | {' | '.join(names)} |"
    yield "|---|" + "---:|" * len(names)
    rows: tuple[tuple[str, str, str, float, float], ...] = (
        ("`into_blocks` to `sequence_hashes`, a", "a blocks", "a", 1.0, 1.6),
        ("`into_blocks` to `sequence_hashes`, b", "b blocks", "b", 1.0, 1.6),
        ("`into_blocks` to `sequence_hashes`, c", "c blocks", "c", 1.0, 1.6),
        ("a token of f to a token of a", "f", "a", 8192 / 200_000, 1.3),
        ("a token of 1 M to a token of 100 k", "1 M", "100 k", 0.1, 1.15),
    )
    for title, over, under, factor, limit in rows:
        cells = []
        for name in names:
            low, middle = ratio(of(name, "ours", over), of(name, "ours", under))
            cells.append(shown((low * factor, middle * factor), limit))
        yield f"| {title} | {' | '.join(cells)} |"


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    release = platform.release().partition("-")[0]
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()} {release}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=25, help="measurements of each (25)")
    parser.add_argument("--only", nargs="*", default=["pypy", "pyodide"], help="beside CPython")
    parser.add_argument("--write", type=Path, help="a file for the tables as well")
    arguments = parser.parse_args()
    found = workers(arguments.only)
    measured = measure(found, (*WORKS, *GROWTH), arguments.rounds)
    lines = [f"Machine: {machine()}.", ""]
    lines += [f"- {worker.name}: {' '.join(worker.version.split())}" for worker in found]
    lines += [f"- `xxhash` {found[0].xxhash} (3.6 takes 1.8 times as long for a call: ratios fall)"]
    lines += ["", *report(found, measured), ""]
    memory = found[0].tell("memory")
    lines += [f"Peak extra memory of c on CPython: {memory:.1f} bytes a token (reach: ≤ 24)."]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.write:
        heading = "# Speed\n\nMade by `python3 -m benchmarks --write benchmarks/RESULTS.md`.\n\n"
        arguments.write.write_text(heading + text, encoding="utf-8")


if __name__ == "__main__":
    main()
