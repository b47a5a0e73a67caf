// @ts-check
// What happened (notices), how far loading is, and what this page is made of.

import { h, patch } from "../dom.js";
import { bytes } from "../format.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderNotices(state, element, act) {
  patch(element, state.notices.map((n) => h("div", { key: n.id, class: `notice ${n.tone}`, role: n.tone === "error" ? "alert" : "status", "data-testid": `notice-${n.tone}` },
    h("p", null, h("b", { "aria-hidden": "true" }, n.tone === "error" ? "⚠ " : "· "), n.text),
    n.action && h("button", { type: "button", onclick: () => { act.dismiss(n.id); n.action?.run(); } }, n.action.label),
    h("button", { type: "button", class: "icon quiet", "aria-label": "Dismiss", onclick: () => act.dismiss(n.id) }, "×"))));
}

const BAKED = {
  shown: "the example is as computed when the page was built",
  reproduced: "the built-in example was reproduced bit for bit",
  differs: "the built-in example was NOT reproduced",
  gone: "",
};

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderFoot(state, element, act) {
  const { progress: p, selftest } = state;
  patch(element, [
    h("div", { key: "state", class: "state", "data-testid": "state", "data-value": state.status, role: "status" },
      state.status === "loading" ? [
        h("span", null, p.stage, p.total ? [" ", h("span", { class: "num", "data-testid": "progress", "data-value": p.loaded }, `${bytes(p.loaded)} of ${bytes(p.total)}`)] : ""),
      ] : state.status === "failed" ? h("b", { class: "bad" }, "⚠ Python is not running")
        : [h("b", { class: "good" }, "✓ "), "ready", BAKED[state.baked] ? h("span", { class: "dim", "data-testid": "baked", "data-value": state.baked }, `: ${BAKED[state.baked]}`) : null]),
    h("dl", { key: "facts" },
      [["kvhash_pure", "version", state.hello?.kvhash ?? "…"],
        ["Pyodide", "pyodide", state.pyodide || "…"],
        ["Python", "python", state.hello?.python ?? "…"],
        ["self-test", "selftest", selftest ? `${selftest.passed}/${selftest.total}` : "…"],
        ["last hash", "last-hash", state.lastMs === null ? "…" : state.lastMs < 10 ? `${state.lastMs.toFixed(1)} ms` : `${Math.round(state.lastMs)} ms`],
        ["contract", "foot-contract", state.contract]].map(([name, id, text]) => h("div", { key: id }, h("dt", null, name), h("dd", { "data-testid": id, "data-value": text }, text)))),
    h("p", { key: "promise", class: "promise" }, "Nothing leaves this page.",
      h("span", { class: "dim" }, " Python runs in your browser. ", h("a", { href: "LICENSES.txt" }, "Licences"))),
  ]);
}
