// @ts-check
// Puts the page together: the baked example first, so that there is something to see before Python
// is there, then the views, then the worker.

import { Actions } from "./actions/actions.js";
import { baked } from "./baked.js";
import { newRequest, resultOf, Store } from "./store.js";
import { renderBlock } from "./views/block.js";
import { renderCompare } from "./views/compare.js";
import { renderDialog } from "./views/dialogs.js";
import { renderFind } from "./views/find.js";
import { renderFoot, renderNotices } from "./views/foot.js";
import { renderLineage } from "./views/lineage.js";
import { renderRequests } from "./views/requests.js";
import { renderStrip } from "./views/strip.js";
import { renderTop } from "./views/top.js";
import { renderTree } from "./views/tree.js";

/** @typedef {import("./store.js").State} State */

/** The state of the example, with every answer that Python will be asked to reproduce. @returns {Partial<State>} */
function example() {
  const requests = baked.requests.map((/** @type {any} */ r) => {
    const tokens = Uint32Array.from(r.tokens);
    return newRequest(r.id, { tokens, text: tokens.join(", "), runs: r.mm_info, vocab: "llama3" });
  });
  /** @type {Partial<State>} */
  const state = { requests, results: {}, contract: baked.contract, blockSize: baked.block_size, blockSizeText: String(baked.block_size), blockSizeFault: "" };
  for (const [method, params, text] of baked.answers) {
    const answer = JSON.parse(text);
    if (method === "put") /** @type {any} */ (state.results)[params.id] = resultOf(params.id, answer, requests.find((/** @type {any} */ r) => r.id === params.id).tokens);
    else if (method === "block") state.block = answer;
    else if (method === "compare") state.compare = answer;
    else if (method === "tree") state.tree = answer;
  }
  const { base, against, slot } = baked.selection;
  return {
    ...state, base, against, baked: "shown", frameStart: 0, editing: null,
    sel: { request: base, block: Math.floor(slot / baked.block_size), slot, field: "" },
  };
}

/** @returns {State["theme"]} */
function storedTheme() {
  try {
    const theme = localStorage.getItem("kvhash-theme");
    return theme === "light" || theme === "dark" ? theme : "auto";
  } catch {
    return "auto";
  }
}

const store = new Store(/** @type {State} */ ({
  status: "loading", progress: { stage: "Fetching Python", loaded: 0, total: 0 }, notices: [],
  notation: "hex", theme: storedTheme(), singleKeys: true, cells: "text",
  pieces: { llama3: new Map(Object.entries(baked.pieces).map(([id, text]) => [Number(id), text])) }, tokenizers: ["llama3"],
  find: { text: "", answer: null, fault: null, busy: false }, hello: baked.hello, pyodide: "", selftest: null, lastMs: null,
  dialog: null, share: null, tick: 0, tree: null, block: null, compare: null, ...example(),
}));

const inAddress = location.hash.length > 1;
const act = new Actions(store, inAddress ? null : baked);
if (inAddress) store.state.baked = "gone";

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * The views, each with what it reads: one whose inputs are the same objects as before is not drawn.
 * @type {[string, (state: State, element: any, act: Actions) => void, (state: State) => any[]][]}
 */
const VIEWS = [
  ["strip", renderStrip, (s) => [s.tick, s.requests, s.results, s.base, s.against, s.compare, s.cells, s.pieces, s.sel, s.editing, s.notation, s.blockSize, s.theme]],
  ["top", renderTop, (s) => [s.contract, s.blockSize, s.blockSizeText, s.blockSizeFault, s.notation, s.theme, s.hello, s.block, s.status, s.progress]],
  ["notices", renderNotices, (s) => [s.notices]],
  ["verdict", renderCompare, (s) => [s.requests, s.base, s.against, s.compare, s.status]],
  ["requests", renderRequests, (s) => [s.requests, s.results, s.sel.request, s.base, s.against, s.tokenizers]],
  ["block", renderBlock, (s) => [s.block, s.sel, s.results, s.notation, s.pieces, s.hello, s.status, s.blockSize]],
  ["lineage", renderLineage, (s) => [s.block, s.sel, s.results]],
  ["tree", renderTree, (s) => [s.tree, s.sel]],
  ["find", renderFind, (s) => [s.find]],
  ["foot", renderFoot, (s) => [s.status, s.progress, s.baked, s.hello, s.pyodide, s.selftest, s.lastMs, s.contract]],
  ["dialog", renderDialog, (s) => [s.dialog, s.share, s.sel.request, s.contract, s.blockSize, s.singleKeys, s.hello]],
];
/** Milliseconds after which the rest of the views waits for the next frame. */
const SLICE = 12;
/** Views that the first paint has in any case: the answer and what it is about. */
const AT_ONCE = 5;
let painted = false;

/** Run something when what was drawn is on the screen; a tab in the background has no frames. @param {() => void} run */
function afterFrame(run) {
  let ran = false;
  const once = () => {
    if (!ran) run();
    ran = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, 500);
}

/** @type {Map<string, any[]>} */
const drawn = new Map();

store.listeners.push((state) => {
  document.body.dataset.state = state.status;
  document.body.dataset.baked = state.baked;
  document.documentElement.dataset.theme = state.theme;
  const start = performance.now();
  for (const [id, render, reads] of VIEWS) {
    const now = reads(state);
    const before = drawn.get(id);
    if (before && now.every((value, i) => value === before[i])) continue;
    // The strip comes first; what would make this frame late is drawn in the next.
    if (before ? performance.now() - start > SLICE : drawn.size >= AT_ONCE && !painted) {
      afterFrame(() => store.set({}));
      return;
    }
    drawn.set(id, now);
    render(state, at(id), act);
  }
});

for (const listener of store.listeners) listener(store.state);
if (inAddress) void act.fromAddress(() => {});

// Python takes every core that there is: it starts when the first picture is on the screen.
afterFrame(() => {
  painted = true;
  store.set({});
  act.client.start();
});

window.addEventListener("popstate", () => void act.fromAddress(() => {
  store.set({ ...example(), results: {}, baked: store.state.baked === "reproduced" ? "reproduced" : "gone" });
  act.forgetPython();
  void act.pump();
}));
window.addEventListener("keydown", act.key);
new ResizeObserver(act.resized).observe(at("strip"));
document.fonts?.ready.then(act.scrolled);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act.scrolled);

window.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
window.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const files = event.dataTransfer?.files;
  if (files?.length) void act.openFiles([...files]);
});

if ("serviceWorker" in navigator) {
  window.addEventListener("load", () => {
    navigator.serviceWorker.register("sw.js").catch(() => { /* without it the page works, but not offline */ });
  });
}

// For the tests of the page: to end the worker as a hang would, and to see where it stands.
Object.defineProperty(window, "kvhash", { value: { store, act } });
