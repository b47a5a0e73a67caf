// Writes web/dist/, which any static host can serve: the page's own files as they are, Pyodide's
// files with a pruned lock and our wheel, the vendored fonts and tokenizers, and the list of all of
// them for the service worker. No bundler, no minifier.
//   node tools/build.mjs [--wheel FILE]
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const dist = path.join(web, "dist");
const modules = path.join(web, "node_modules");
const python = process.env.PYTHON ?? "python3";

fs.rmSync(dist, { recursive: true, force: true });
fs.mkdirSync(dist, { recursive: true });

const copy = (from, to) => {
  fs.mkdirSync(path.dirname(path.join(dist, to)), { recursive: true });
  fs.copyFileSync(from, path.join(dist, to));
};

// Python: Pyodide, the pruned lock, the wheel; and the answers for the example, made by CPython.
const wheel = process.argv.includes("--wheel") ? ["--wheel", process.argv[process.argv.indexOf("--wheel") + 1]] : [];
execFileSync(python, [path.join(web, "make_lock.py"), "--pyodide", path.join(modules, "pyodide"), "--out", path.join(dist, "pyodide"), ...wheel], { stdio: ["ignore", "ignore", "inherit"] });

// The page.
for (const name of fs.readdirSync(path.join(web, "src"), { recursive: true })) {
  if (name.endsWith(".js")) copy(path.join(web, "src", name), path.join("src", name));
}
execFileSync(python, [path.join(web, "tools/bake.py"), path.join(dist, "src/baked.js")], { stdio: "inherit" });
for (const name of ["style.css", "favicon.svg", "bridge.py"]) copy(path.join(web, name), name);

// Vendored: fonts, tokenizers.
const plex = (family, file) => path.join(modules, family, "files", file);
copy(plex("@fontsource-variable/ibm-plex-sans", "ibm-plex-sans-latin-wght-normal.woff2"), "fonts/plex-sans.woff2");
copy(plex("@fontsource/ibm-plex-mono", "ibm-plex-mono-latin-400-normal.woff2"), "fonts/plex-mono-400.woff2");
copy(plex("@fontsource/ibm-plex-mono", "ibm-plex-mono-latin-600-normal.woff2"), "fonts/plex-mono-600.woff2");
copy(path.join(modules, "llama3-tokenizer-js/bundle/llama3-tokenizer-with-baked-data.js"), "vendor/llama3-tokenizer.js");
copy(path.join(modules, "@huggingface/tokenizers/dist/tokenizers.min.mjs"), "vendor/tokenizers.js");
// Types that every host knows: some serve .mjs as plain text, which browsers refuse as a module.
const lockFile = path.join(dist, "pyodide/pyodide-lock.json");
const lock = JSON.parse(fs.readFileSync(lockFile, "utf8"));
const [wheelEntry] = Object.values(lock.packages);

// Licences.
const licence = (name) => {
  const directory = path.join(modules, name);
  const file = fs.readdirSync(directory).find((f) => /^licen[sc]e/i.test(f));
  return file ? fs.readFileSync(path.join(directory, file), "utf8") : "";
};
const facts = (name) => JSON.parse(fs.readFileSync(path.join(modules, name, "package.json"), "utf8"));
const parts = [
  "This page is part of kvhash_pure, Apache-2.0.\n" + fs.readFileSync(path.join(web, "../LICENSE"), "utf8"),
  `pyodide/ holds files of Pyodide ${facts("pyodide").version}, unchanged except for the lock file, which lists our package only.\n`
    + "They are under the Mozilla Public License 2.0, https://www.mozilla.org/MPL/2.0/.\n"
    + "Their source code: https://github.com/pyodide/pyodide, tag " + facts("pyodide").version + ".\n"
    + "python_stdlib.zip and the interpreter inside pyodide.asm.wasm: Python, under the PSF License Agreement, https://docs.python.org/3/license.html.\n",
  `vendor/llama3-tokenizer.js: llama3-tokenizer-js ${facts("llama3-tokenizer-js").version}.\n` + licence("llama3-tokenizer-js"),
  `vendor/tokenizers.js: @huggingface/tokenizers ${facts("@huggingface/tokenizers").version}, Apache-2.0 (text above).\n`,
  "fonts/plex-sans.woff2, fonts/plex-mono-400.woff2, fonts/plex-mono-600.woff2: IBM Plex.\n" + licence("@fontsource-variable/ibm-plex-sans"),
];
fs.writeFileSync(path.join(dist, "LICENSES.txt"), parts.join("\n" + "-".repeat(78) + "\n\n"));

// index.html, with every module named so that the browser need not discover them one by one.
const page = fs.readFileSync(path.join(web, "index.html"), "utf8");
const own = fs.readdirSync(path.join(dist, "src"), { recursive: true }).filter((n) => n.endsWith(".js") && !n.includes("worker")).sort();
const preload = [
  ...["plex-sans", "plex-mono-400"].map((f) => `<link rel="preload" href="fonts/${f}.woff2" as="font" type="font/woff2" crossorigin>`),
  ...own.map((name) => `<link rel="modulepreload" href="src/${name}">`),
];
fs.writeFileSync(path.join(dist, "index.html"), page.replace("<!-- preload -->", preload.join("\n")));

// For hosts that read it, the policy as a header too: workers do not get it from the page's meta tag.
const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)[1];
fs.writeFileSync(path.join(dist, "_headers"), `/*\n  Content-Security-Policy: ${policy}; frame-ancestors 'self'\n  X-Content-Type-Options: nosniff\n  Referrer-Policy: no-referrer\n`);

const size = (name) => fs.statSync(path.join(dist, name)).size;
const counted = ["pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", `pyodide/${wheelEntry.file_name}`];
// What Python's memory after its start depends on, beside the browser: its files, and how worker.js
// starts it.
const memory = createHash("sha256");
for (const name of ["pyodide/pyodide.asm.wasm", "pyodide/pyodide.asm.mjs", "pyodide/pyodide.mjs", "pyodide/python_stdlib.zip", "src/worker.js"]) {
  memory.update(fs.readFileSync(path.join(dist, name)));
}
fs.writeFileSync(path.join(dist, "src/worker.js"), fs.readFileSync(path.join(dist, "src/worker.js"), "utf8")
  .replace('"VERSION"', JSON.stringify(memory.digest("hex").slice(0, 16))));
fs.writeFileSync(path.join(dist, "build.json"), JSON.stringify({
  package: wheelEntry.name, version: wheelEntry.version, pyodide: facts("pyodide").version,
  sizes: Object.fromEntries(counted.map((name) => [path.basename(name), size(name)])),
}) + "\n");

// The service worker knows every file and a hash over all of them.
const files = fs.readdirSync(dist, { recursive: true, withFileTypes: true }).filter((d) => d.isFile())
  .map((d) => path.relative(dist, path.join(d.parentPath ?? d.path, d.name)).replaceAll("\\", "/")).sort();
const digest = createHash("sha256");
for (const name of files) digest.update(name).update(fs.readFileSync(path.join(dist, name)));
const lazy = files.filter((n) => n.startsWith("vendor/") || n === "_headers" || n === "LICENSES.txt");
const eager = files.filter((n) => !lazy.includes(n) && n !== "index.html");
const worker = fs.readFileSync(path.join(web, "sw.js"), "utf8")
  .replace('"VERSION"', JSON.stringify(digest.digest("hex").slice(0, 16)))
  .replace('["FILES"]', JSON.stringify(["./", ...eager]));
fs.writeFileSync(path.join(dist, "sw.js"), worker);
const total = files.reduce((sum, name) => sum + size(name), 0);
console.log(`dist/: ${files.length + 1} files, ${(total / 1e6).toFixed(1)} MB, ${wheelEntry.file_name}`);
