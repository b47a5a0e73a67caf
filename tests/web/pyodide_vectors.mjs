// The bridge and the wheel of the built page, in Pyodide under node.
//   node pyodide_vectors.mjs DIST calls.json answers.json
// `calls` is a list of [method, params, tokens or null]; an answer is the text that the page would get.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const dist = path.resolve(process.argv[2]);
const indexURL = path.join(dist, "pyodide") + path.sep;
const build = JSON.parse(fs.readFileSync(path.join(dist, "build.json"), "utf8"));
const { loadPyodide } = await import(pathToFileURL(path.join(indexURL, "pyodide.mjs")).href);
const pyodide = await loadPyodide({ indexURL, packages: [build.package], stdout: () => {} });
pyodide.FS.writeFile("/home/pyodide/bridge.py", fs.readFileSync(path.join(dist, "bridge.py"), "utf8"));
const call = pyodide.runPython(`
import sys
sys.path.insert(0, "/home/pyodide")
import bridge
_bridge = bridge.Bridge()
def _call(method, params, blob):
    return _bridge.call(method, params, None if blob is None else blob.to_bytes())[0]
_call
`);
const calls = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const answers = calls.map(([method, params, tokens]) => call(method, JSON.stringify(params),
  tokens ? new Uint8Array(Uint32Array.from(tokens).buffer) : undefined));
fs.writeFileSync(process.argv[4], JSON.stringify(answers));
