// @ts-check
// Help, export and share: one <dialog>, so that Escape and the focus work as everywhere.

import { h, patch } from "../dom.js";
import { bytes } from "../format.js";
import { LINK_LIMIT } from "../link.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** @param {State} state @param {HTMLDialogElement} element @param {Actions} act */
export function renderDialog(state, element, act) {
  element.onclose = act.close;
  element.onclick = (event) => { if (event.target === element) element.close(); };
  if (!state.dialog) {
    if (element.open) element.close();
    return;
  }
  const [title, body] = { help: help, export: exports_, share: share }[state.dialog](state, act);
  element.setAttribute("aria-label", title);
  patch(element, h("div", { key: state.dialog, class: "inside", "data-testid": `dialog-${state.dialog}` },
    h("div", { class: "head" }, h("h2", null, title), h("span", { class: "spacer" }),
      h("button", { type: "button", class: "icon quiet", "aria-label": "Close", "data-testid": "dialog-close", onclick: () => element.close() }, "×")),
    body));
  if (!element.open) element.showModal();
}

/** @type {[string, string][]} */
const KEYS = [
  ["?", "this list"], ["1 … 8", "request A … H"], ["n", "add a request"], ["i", "to the request’s input"], ["g", "to the token strip"],
  ["← ↑ ↓ →", "in the strip: slot and line"], ["Home End", "first and last slot of the block; with Ctrl of the request"], ["PgUp PgDn", "a screen of blocks"],
  ["Enter", "in the strip: edit the token; Escape leaves it"], ["j k", "next block, block before"], ["p", "to the parent block"], ["d", "to the first difference"],
  ["w", "swap the two that are compared"], ["/", "find a hash"], ["b", "block size"], ["c", "other contract"], ["v", "other notation"], ["x", "slots as text or ids"],
  ["s", "share"], ["e", "export"], ["t", "theme"],
];

/** @param {State} state @param {Actions} act @returns {[string, import("../dom.js").Loose]} */
function help(state, act) {
  return ["Help", [
    h("section", null, h("h3", null, "What you see"),
      h("p", null, "A request becomes blocks of ", h("b", null, String(state.blockSize)), " slots, and each full block has a key of 128 bits, the PositionalLineageHash (PLH). Two requests reuse each other’s cache exactly as far as their keys are equal. The jagged shape in each row is the key itself: its 32 hex digits as the cuts of a blade. Equal keys look equal."),
      h("p", null, "The keys are computed by the Python package ", h("code", null, "kvhash_pure"), ", unchanged, in this browser. Nothing leaves this page.")),
    h("section", null, h("h3", null, "Names that trap people"),
      h("dl", { class: "traps" },
        h("dt", null, "block hash"), h("dd", null, "content only. vLLM’s BlockHash is chained, so it corresponds to the sequence hash here."),
        h("dt", null, "SequenceHash"), h("dd", null, "in kvbm_common it is a PLH."),
        h("dt", null, "position, offset"), h("dd", null, "position counts blocks, offset counts tokens."),
        h("dt", null, "negative hashes"), h("dd", null, "Dynamo’s events carry hashes as signed 64-bit integers: notation i64."),
        h("dt", null, "page size"), h("dd", null, "SGLang’s name for the block size."))),
    h("section", null, h("h3", null, "Contracts"),
      h("dl", { class: "traps" }, (state.hello?.contracts ?? []).map((/** @type {any} */ c) => [h("dt", null, c.name), h("dd", null, c.matches, `; chain seed ${Number(c.chain_seed)}`)])),
      h("p", { class: "dim" }, "Keys of two contracts never compare.")),
    h("section", null, h("h3", null, "Keys"),
      h("table", { class: "keys", "data-testid": "keys" }, h("tbody", null, KEYS.map(([key, what]) => h("tr", { key }, h("th", { scope: "row" }, key.split(" ").map((k) => (k === "…" ? " … " : h("kbd", null, k)))), h("td", null, what))))),
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: state.singleKeys, "data-testid": "single-keys", onchange: (/** @type {any} */ e) => act.set({ singleKeys: e.target.checked }) }), " Single-key shortcuts")),
  ]];
}

/** @param {State} state @param {Actions} act @returns {[string, import("../dom.js").Loose]} */
function exports_(state, act) {
  const id = state.sel.request;
  const item = (/** @type {string} */ testid, /** @type {string} */ name, /** @type {string} */ what, /** @type {() => void} */ run) => h("li", { key: testid },
    h("button", { type: "button", class: "plain", "data-testid": testid, onclick: run }, h("b", null, name), h("span", { class: "dim" }, what)));
  return ["Export", [
    h("p", { class: "dim" }, "Each file says in its name which contract and block size made it: ", h("b", null, state.contract), ", ", h("b", null, String(state.blockSize)), "."),
    h("h3", null, `Request ${id}`),
    h("ul", { class: "exports" },
      item("export-request", "Request", "JSON, as the command line takes it", () => act.exportText("request")),
      item("export-results", "Results", "JSON: salt hash and all blocks", () => act.exportText("results")),
      item("export-csv", "Results", "CSV: one line a block", () => act.exportText("csv")),
      item("export-python", "Python", "a script that reproduces the result and checks it", () => act.exportText("python"))),
    h("h3", null, "Pictures"),
    h("ul", { class: "exports" },
      item("export-strip", "Token strip", "SVG", () => act.exportPicture("strip")),
      item("export-key", "Key", "SVG: the 128 bits", () => act.exportPicture("key")),
      item("export-chain", "Chain step", "SVG", () => act.exportPicture("chain")),
      item("export-tree", "Prefix tree", "SVG", () => act.exportPicture("tree"))),
    h("h3", null, "Everything"),
    h("ul", { class: "exports" }, item("export-state", "State of the page", "JSON, to be dropped here again", act.exportState)),
  ]];
}

/** @param {State} state @param {Actions} act @returns {[string, import("../dom.js").Loose]} */
function share(state, act) {
  const s = state.share;
  if (!s) return ["Share", null];
  const big = s.size > LINK_LIMIT;
  return ["Share", big ? [
    h("p", { "data-testid": "share-too-big" }, `As a link this would have ${bytes(s.size)}, more than many programs let through (${bytes(LINK_LIMIT)}). Save it as a file and send that: whoever drops it on this page sees what you see.`),
    h("p", null, h("button", { type: "button", "data-testid": "share-file", onclick: act.exportState }, "Save a file")),
  ] : [
    h("p", null, "Everything is in the link, after the #: browsers never send that part to a server."),
    h("p", { class: "row" }, h("input", { type: "text", readonly: true, value: s.url, "aria-label": "Link to this state", "data-testid": "share-url", onfocus: (/** @type {any} */ e) => e.target.select() }),
      h("button", { type: "button", "data-testid": "share-copy", onclick: () => act.copy(s.url) }, s.copied ? "Copied" : "Copy")),
    h("p", { class: "dim" }, `${bytes(s.size)} · contract ${state.contract} · block size ${state.blockSize}`),
  ]];
}
