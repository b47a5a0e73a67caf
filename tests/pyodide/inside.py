"""Runs inside Pyodide: `python -m MODULE ARGUMENTS`, where there is no process to start.

`run.mjs` and `page.html` load this file from the mounted checkout and call `run_module`.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Iterable


def run_module(name: str, arguments: Iterable[str], directories: Iterable[str]) -> int:
    """Run a module as a program, `directories` first on the path, and return its exit status."""
    directories = list(directories)
    os.chdir(directories[0])
    sys.path[:0] = directories
    sys.argv = [name, *arguments]
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            return 1
        return stop.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
