// @ts-check
// A hash from a log: where it occurs here, or what it would be under other rules.

import { h, patch } from "../dom.js";
import { count } from "../format.js";
import { keyGlyph } from "../glyph.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderFind(state, element, act) {
  const { text, answer, fault, busy } = state.find;
  patch(element, [
    h("div", { key: "head", class: "head" }, h("h2", null, "Find a hash"), h("span", { class: "dim" }, "from a log, in any notation")),
    h("form", { key: "form", class: "findform", onsubmit: (/** @type {Event} */ e) => { e.preventDefault(); act.find(); } },
      h("input", {
        type: "search", value: text, "data-testid": "find", "aria-label": "A hash in any notation", autocomplete: "off", spellcheck: "false",
        placeholder: "0x…, decimal, signed decimal, base58, or 3:b58:b58", "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? "fault-find" : null,
        oninput: (/** @type {any} */ e) => act.setFind(e.target.value),
      }),
      h("button", { type: "submit", "data-testid": "find-go", disabled: !text.trim() }, "Find")),
    fault && h("p", { key: "fault", class: "fault", id: "fault-find", role: "alert", "data-testid": "fault-find" }, "⚠ " + fault.message),
    h("div", { key: "answer", "aria-live": "polite", "data-testid": "find-answer", "data-value": answer ? String(answer.matches.length) : "" },
      busy ? h("p", { class: "dim" }, "Looking …") : answer && results(answer, act)),
  ]);
}

/** @param {any} answer @param {Actions} act */
function results(answer, act) {
  return [
    h("p", { class: "lead", "data-testid": "find-sentence" }, answer.sentence),
    answer.matches.length > 0 && h("table", { class: "matches" },
      h("thead", null, h("tr", null, ["request", "block", "what it is", "contract", "block size", "where"].map((name) => h("th", { key: name, scope: "col" }, name)))),
      h("tbody", null, answer.matches.map((/** @type {any} */ m, /** @type {number} */ i) => h("tr", { key: i, class: m.here ? "here" : "", "data-testid": `match-${i}`, "data-value": `${m.id}:${m.position}:${m.kind}:${m.contract}:${m.block_size}` },
        h("td", null, m.id), h("td", { class: "num" }, m.position === null ? "–" : count(m.position)), h("td", null, m.kind_text), h("td", null, m.contract), h("td", { class: "num" }, m.block_size === null ? "–" : count(m.block_size)),
        h("td", null, m.here && m.position !== null ? h("button", { type: "button", class: "quiet", "data-testid": `match-${i}-go`, onclick: () => act.goTo(m.id, m.position, m.kind) }, "Show") : m.note))))),
    answer.decoded && h("div", { class: "decoded", "data-testid": "decoded", "data-value": answer.decoded.plh },
      h("div", { class: "bigkey" }, keyGlyph(answer.decoded.plh)),
      h("p", null, "As a PLH: ", h("code", null, answer.decoded.plh_text)),
      h("table", { class: "fields" }, h("thead", null, h("tr", null, ["field", "bits", "hex", "value"].map((name) => h("th", { key: name, scope: "col" }, name)))),
        h("tbody", null, answer.decoded.fields.map((/** @type {any} */ f) => h("tr", { key: f.name, class: `f-${f.name}`, "data-testid": `decoded-${f.name}`, "data-value": f.hex },
          h("th", { scope: "row" }, h("i", { class: "swatch" }), f.name.replace("_", " ")), h("td", { class: "num" }, f.width), h("td", null, h("code", null, f.hex)), h("td", null, h("code", null, f.value))))))),
  ];
}
