// @ts-check
/// <reference lib="webworker" />
// The one worker that owns Python. It boots Pyodide from our own files, loads the unchanged wheel
// and bridge.py, then answers calls in order: JSON text in, JSON text out, tokens as packed bytes.
// It says hello before anything else, because a worker whose script is missing says nothing at all.
// Its name says how it may start: "kept" when the page comes from the service worker's cache,
// "recall" when Python may start from the memory of an earlier visit.

/** @typedef {{id: number, method: string, params: string, blob?: ArrayBuffer}} Call, or "keep": all is well */

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
scope.postMessage({ kind: "hello" });

/** Bytes that each big file will bring, by name; build.json is written by the build. */
/** @type {Record<string, number>} */
let sizes = {};
let loaded = 0;
let total = 0;
let stage = "Fetching Python";
let told = 0;

/** @param {boolean} [now] */
function progress(now = false) {
  if (!now && performance.now() - told < 50) return;
  told = performance.now();
  scope.postMessage({ kind: "progress", stage, loaded, total });
}

const plainFetch = scope.fetch.bind(scope);

/**
 * `fetch` that counts the bytes of the files in `sizes` as they arrive.
 * @param {RequestInfo | URL} input @param {RequestInit} [init]
 */
async function countingFetch(input, init) {
  const response = await plainFetch(input, init);
  const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
  const name = url.slice(url.lastIndexOf("/") + 1);
  if (!(name in sizes) || !response.body || !response.ok) return response;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      progress();
      controller.enqueue(chunk);
    },
  }));
  // The type must survive, or the wasm would not be compiled while it streams.
  return new Response(counted, { status: response.status, headers: response.headers });
}

/**
 * The cache of this origin that holds Python's memory as it is after Python's own start and before
 * anything of ours: that start is the same each time, and from there takes a sixth of the time.
 */
const MEMORY = "kvhash_pure: memory of Python";
/** Of Pyodide's files and of this one, filled in by the build. */
const VERSION = "VERSION";
// A memory has been in one browser, and knows what that could do.
const address = new URL(`../memory-of-python?${VERSION}&${encodeURIComponent(navigator.userAgent)}`, scope.location.href).href;
/** The memory of this start, until the page has found that all is well. @type {Uint8Array<ArrayBuffer> | null} */
let memory = null;

/** @returns {Promise<ArrayBuffer | undefined>} */
async function recall() {
  try {
    return await (await (await caches.open(MEMORY)).match(address))?.arrayBuffer();
  } catch {
    return undefined;
  }
}

/** Keep these bytes and none of other versions; without any, keep nothing. @param {Uint8Array<ArrayBuffer> | null} bytes */
async function keep(bytes) {
  try {
    const cache = await caches.open(MEMORY);
    for (const { url } of await cache.keys()) if (url !== address || !bytes) await cache.delete(url);
    if (bytes) await cache.put(address, new Response(bytes));
  } catch {
    // No place, or none for a private window: the next start will take as long as this one.
  }
}

/** @type {any} */
let call = null;

/**
 * Python with our package and bridge.py; sets `call`. From a memory, or else leaving one.
 * @param {URL} base @param {string} packageName @param {Promise<string>} source of bridge.py @param {ArrayBuffer} [recalled]
 * @returns {Promise<string>} Pyodide's version
 */
async function start(base, packageName, source, recalled) {
  const indexURL = new URL("pyodide/", base).href;
  const { loadPyodide } = await import(indexURL + "pyodide.mjs");
  const pyodide = await loadPyodide({
    indexURL,
    stdout: () => {},
    checkIntegrity: true,
    // Nothing is imported twice, so compiled files would be written for nobody.
    env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" },
    ...(recalled ? { _loadSnapshot: recalled } : { _makeSnapshot: true }),
  });
  if (!recalled) {
    try {
      // What loading a package imports belongs to it as well.
      pyodide.runPython("import array, encodings.cp437, importlib.metadata, tarfile");
      memory = pyodide.makeMemorySnapshot();
    } catch {
      memory = null; // no room for twice as much
    }
  }
  /** @type {string[]} */
  const problems = [];
  const errorCallback = (/** @type {string} */ message) => problems.push(message);
  await pyodide.loadPackage(packageName, { checkIntegrity: true, messageCallback: () => {}, errorCallback });
  if (problems.length) throw new Error(problems.join(" "));
  loaded = total;
  stage = "Starting Python";
  progress(true);
  pyodide.FS.writeFile("/home/pyodide/bridge.py", await source);
  call = pyodide.runPython(`
import sys
sys.path.insert(0, "/home/pyodide")
import bridge
_bridge = bridge.Bridge()
def _call(method, params, blob):
    return _bridge.call(method, params, None if blob is None else blob.to_bytes())
_call
`);
  return pyodide.version;
}

async function boot() {
  const base = new URL("../", scope.location.href);
  const recalling = scope.name.includes("recall") ? recall() : undefined;
  const build = await (await plainFetch(new URL("build.json", base))).json();
  sizes = build.sizes;
  total = scope.name.includes("kept") ? 0 : Object.values(sizes).reduce((sum, n) => sum + n, 0);
  // From the service worker's cache all comes at once, and the browser may keep the compiled code
  // of a response that nobody touched: count only what really travels.
  if (!scope.name.includes("kept")) scope.fetch = countingFetch;
  else stage = "Starting Python";
  progress(true);
  const source = plainFetch(new URL("bridge.py", base)).then((r) => r.text());
  const recalled = await recalling;
  let version = "";
  if (recalled) {
    try {
      version = await start(base, build.package, source, recalled);
    } catch {
      await keep(null);
      loaded = 0;
    }
  }
  const isRecalled = version !== "";
  if (!isRecalled) version = await start(base, build.package, source);
  scope.postMessage({ kind: "ready", pyodide: version, recalled: isRecalled });
}

const booted = boot().catch((/** @type {any} */ error) => {
  scope.postMessage({ kind: "failed", message: String(error?.message ?? error) });
});

scope.onmessage = async (/** @type {MessageEvent<Call | "keep">} */ event) => {
  if (event.data === "keep") {
    if (memory) void keep(memory);
    memory = null;
    return;
  }
  const { id, method, params, blob } = event.data;
  await booted;
  if (!call) return;
  const started = performance.now();
  try {
    const answer = call(method, params, blob ? new Uint8Array(blob) : undefined);
    const text = answer.get(0);
    const packed = answer.get(1);
    answer.destroy();
    /** @type {ArrayBuffer | null} */
    let bytes = null;
    if (packed) {
      const view = packed.getBuffer("u8");
      bytes = view.data.slice().buffer;
      view.release();
      packed.destroy();
    }
    const ms = performance.now() - started;
    scope.postMessage({ kind: "answer", id, text, bytes, ms }, bytes ? [bytes] : []);
  } catch (error) {
    // Not one of ours: a bug. The page shows it and goes on.
    scope.postMessage({ kind: "crash", id, message: String(/** @type {any} */ (error)?.message ?? error) });
  }
};
