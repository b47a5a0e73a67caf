// `python -m MODULE ARGUMENTS` inside Pyodide under node, on the checkout this file lives in.
//
//   node tests/pyodide/run.mjs PYODIDE_DIRECTORY SITE_PACKAGES MODULE [ARGUMENT …]
//
// The checkout is mounted at /checkout, where the module runs; SITE_PACKAGES (pure Python, put
// there by a package manager of the host) at /site. The exit status is the module's.

import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [indexDirectory, sitePackages, module, ...argv] = process.argv.slice(2);
if (module === undefined) {
  console.error("usage: node run.mjs PYODIDE_DIRECTORY SITE_PACKAGES MODULE [ARGUMENT …]");
  process.exit(2);
}
const checkout = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const indexURL = path.resolve(indexDirectory) + path.sep;
const { loadPyodide } = await import(pathToFileURL(path.join(indexURL, "pyodide.mjs")).href);

// The names of the environment that change what a test run does; the host's HOME or PATH mean
// nothing in there.
const passed = Object.entries(process.env).filter(([name]) => /^(CI$|HYPOTHESIS_|KVHASH_)/.test(name));
const pyodide = await loadPyodide({
  indexURL,
  env: { HOME: "/home/pyodide", ...Object.fromEntries(passed) },
});
for (const [directory, mountPoint] of [[checkout, "/checkout"], [path.resolve(sitePackages), "/site"]]) {
  pyodide.FS.mkdirTree(mountPoint);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: directory }, mountPoint);
}
const inside = pyodide.FS.readFile("/checkout/tests/pyodide/inside.py", { encoding: "utf8" });
const globals = pyodide.toPy({ __name__: "inside" });
pyodide.runPython(inside, { globals });
process.exit(globals.get("run_module")(module, argv, ["/checkout", "/site"]));
