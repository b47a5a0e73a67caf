"""A cross-build environment for pyodide-build, made from the files of npm's `pyodide` package.

pyodide-build fetches Pyodide's own cross-build environment, with its sysroot and Emscripten, from
the network. Where that is closed, this much is enough for pure-Python wheels: no compiler is in
it and none is called. `make(pyodide, directory)` writes an archive that `pyodide build` and
`pyodide venv` take through the variables that `variables()` returns.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile
from pathlib import Path

# What pyodide-build asks a Makefile of Pyodide's for. Its compiler flags are never used here.
MAKEFILE = """\
export PYODIDE_VERSION = {pyodide}
export PYODIDE_ABI_VERSION = {abi_version}
export PYODIDE_EMSCRIPTEN_VERSION = {emscripten}
export PYVERSION = {python}
export PYMAJOR = {major}
export PYMINOR = {minor}
export PYMICRO = {micro}
export PLATFORM_TRIPLET = wasm32-emscripten
export SYSCONFIG_NAME = _sysconfigdata__emscripten_wasm32-emscripten
export CPYTHONINSTALL = $(PYODIDE_ROOT)/cpython/installs/python-$(PYVERSION)
export TARGETINSTALLDIR = $(CPYTHONINSTALL)
export SYSCONFIGDATA_DIR = $(TARGETINSTALLDIR)/sysconfigdata
export HOSTINSTALLDIR = $(PYODIDE_ROOT)/packages/.artifacts
export HOSTSITEPACKAGES = $(HOSTINSTALLDIR)/lib/python$(PYMAJOR).$(PYMINOR)/site-packages
export PYTHONINCLUDE = $(CPYTHONINSTALL)/include/python$(PYMAJOR).$(PYMINOR)
export PYODIDE_INTERPRETER = $(PYODIDE_ROOT)/dist/python
export SIDE_MODULE_CFLAGS =
export SIDE_MODULE_CXXFLAGS =
export SIDE_MODULE_LDFLAGS =
export CFLAGS_BASE =
export CXXFLAGS_BASE =
export LDFLAGS_BASE =
.output_vars:
\t@env
"""
# `python` as a program: the whole file system but what the interpreter has itself, node's own
# arguments and environment.
PYTHON = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec node --no-warnings "$here/python.mjs" "$0" "$@"
"""
PYTHON_MJS = """\
import { readdirSync } from "node:fs";
import { loadPyodide } from "./pyodide.mjs";

const [executable, ...args] = process.argv.slice(2);
const own = new Set(["dev", "lib", "proc"]);
const pyodide = await loadPyodide({
  args,
  _sysExecutable: executable,
  env: { ...process.env, HOME: process.cwd(), PYTHONINSPECT: "" },
  fsInit: (FS) => {
    for (const name of readdirSync("/").filter((name) => !own.has(name))) {
      FS.mkdirTree(`/${name}`);
      FS.mount(FS.filesystems.NODEFS, { root: `/${name}` }, `/${name}`);
    }
    FS.chdir(process.cwd());
  },
}).catch((error) => {
  if (error?.constructor?.name !== "ExitStatus") throw error;
  process.exit(error.status); // --version, or arguments that are none
});
pyodide.setStdout();
pyodide.setStderr();
let status = 0;
try {
  status = pyodide._module._run_main();
} catch (error) {
  if (error?.constructor?.name !== "ExitStatus") throw error;
  status = error.status;
}
process.exit(status);
"""


def make(pyodide: Path, directory: Path) -> Path:
    """Write `directory/xbuildenv.tar.gz` from the npm package in `pyodide`, and return its path."""
    info = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["info"]
    version = json.loads((pyodide / "package.json").read_text("utf-8"))["version"]
    major, minor, micro = info["python"].split(".")
    top = directory / "xbuildenv"
    root = top / "pyodide-root"
    shutil.copytree(pyodide, root / "dist", ignore=shutil.ignore_patterns("*.map", "*.ts"))
    (root / "dist" / "python.mjs").write_text(PYTHON_MJS, "utf-8")
    python = root / "dist" / "python"
    python.write_text(PYTHON, "utf-8")
    python.chmod(0o755)
    (root / "package_index").mkdir()
    (top / "requirements.txt").write_text("", "utf-8")
    makefile = MAKEFILE.format(
        pyodide=version,
        abi_version=info["abi_version"],
        emscripten=info["platform"].partition("_")[2].replace("_", "."),
        python=info["python"],
        major=major,
        minor=minor,
        micro=micro,
    )
    (root / "Makefile.envs").write_text(makefile, "utf-8")
    sysconfigdata = root / "cpython" / "installs" / f"python-{info['python']}" / "sysconfigdata"
    with zipfile.ZipFile(pyodide / "python_stdlib.zip") as stdlib:
        for name in stdlib.namelist():
            if name.startswith("_sysconfigdata_"):
                stdlib.extract(name, sysconfigdata)
    archive = directory / "xbuildenv.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(top, "xbuildenv")
    return archive


def variables(archive: Path) -> dict[str, str]:
    """What `pyodide` commands need in their environment to use the archive, and only it."""
    return {
        "DEFAULT_CROSS_BUILD_ENV_URL": archive.as_uri(),
        "PYODIDE_XBUILDENV_PATH": str(archive.parent / "installed"),
        "SKIP_EMSCRIPTEN_VERSION_CHECK": "1",
        "PYODIDE_SKIP_EMSCRIPTEN_INSTALL": "1",
    }
