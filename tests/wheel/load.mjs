// Our wheel in Pyodide under node, as its users load it; prints one line of JSON.
//
//   node load.mjs DIRECTORY lock                     loadPackage("kvhash-pure") from DIRECTORY
//   node load.mjs DIRECTORY micropip WHEEL SITE CODE micropip from SITE; WHEEL is in /wheels; CODE
//                                                    installs it
//
// DIRECTORY is where loadPyodide finds its files. The digest of tests/digest.py is computed with
// the package as it was loaded: this checkout's tests are mounted, its package is not.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [directory, mode, wheel, site, code] = process.argv.slice(2);
const tests = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
try {
  const indexURL = path.resolve(directory) + path.sep;
  const { loadPyodide } = await import(pathToFileURL(`${indexURL}pyodide.mjs`).href);
  const pyodide = await loadPyodide({ indexURL });
  const mount = (root, point) => {
    pyodide.FS.mkdirTree(point);
    pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root }, point);
  };
  mount(tests, "/suite/tests");
  if (mode === "lock") {
    await pyodide.loadPackage("kvhash-pure", { messageCallback: () => {} });
  } else {
    mount(path.resolve(site), "/site");
    pyodide.runPython("import sys; sys.path.append('/site')");
    pyodide.FS.mkdirTree("/wheels");
    pyodide.FS.writeFile(`/wheels/${path.basename(wheel)}`, new Uint8Array(fs.readFileSync(wheel)));
    await pyodide.runPythonAsync(code);
  }
  console.log(pyodide.runPython(`
import json, sys
from importlib.metadata import version
import kvhash_pure
sys.path.append("/suite")
from tests import digest
json.dumps({"file": kvhash_pure.__file__, "version": version("kvhash-pure"), "digest": digest.digest()})
`));
} catch (error) {
  console.error(String(error?.message ?? error)); // the stack would be Pyodide's, a megabyte of it
  process.exit(1);
}
