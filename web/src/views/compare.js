// @ts-check
// The answer: do the two share a prefix, where do they part, and why. The sentence is the package's.

import { h, patch } from "../dom.js";
import { count } from "../format.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderCompare(state, element, act) {
  const ids = state.requests.map((r) => r.id);
  const c = state.compare;
  const pick = (/** @type {string} */ name, /** @type {string | null} */ chosen, /** @type {string} */ label, /** @type {(id: string | null) => void} */ choose, /** @type {boolean} */ none) => h("select", {
    key: name, class: "letter", "aria-label": label, value: chosen ?? "", "data-testid": name,
    onchange: (/** @type {any} */ e) => choose(e.target.value || null),
  }, none && h("option", { value: "" }, "–"), ids.map((id) => h("option", { key: id, value: id }, id)));
  const current = c && c.base === state.base && c.against === state.against ? c : null;
  // With two, room is kept for an answer, so that nothing below jumps while it is on its way.
  element.classList.toggle("two", state.against !== null);
  patch(element, [
    h("div", { key: "pair", class: "pairing" },
      pick("base", state.base, "The request to compare", (id) => act.setPair(id ?? ids[0], state.against), false),
      h("span", { class: "dim" }, "against"),
      pick("against", state.against, "The request to compare it with", (id) => act.setPair(state.base, id), true),
      state.against && h("button", { type: "button", class: "icon quiet", "aria-label": "Swap the two", title: "Swap (w)", "data-testid": "swap", onclick: () => act.setPair(/** @type {string} */ (state.against), state.base) }, "⇄")),
    h("h1", { key: "h", class: "sentence", "data-testid": "sentence", "aria-live": "polite", "data-value": current?.cause ?? "" },
      current ? rich(current.sentence) : sentenceWithout(state)),
    current && h("div", { key: "facts", class: "facts" },
      fact("shared-blocks", count(current.shared_blocks), current.shared_blocks === 1 ? "block shared" : "blocks shared", current.shared_blocks),
      fact("shared-tokens", count(current.shared_tokens), "tokens reused", current.shared_tokens),
      (current.same_content?.length ?? 0) > 0 && fact("same-content", count(current.same_content.length), "of equal content, not reusable", current.same_content.length),
      current.position !== null && h("button", { key: "go", type: "button", "data-testid": "to-difference", title: "D", onclick: act.toDifference }, "Go to the difference"),
      instead(current)),
  ]);
}

/** @param {string} id @param {string} number @param {string} label @param {number} value */
function fact(id, number, label, value) {
  return h("span", { key: id, class: "fact", "data-testid": id, "data-value": value }, h("b", null, number), " ", label);
}

/** @param {any} c */
function instead(c) {
  return c.would_share.length > 0 && h("ul", { key: "instead", class: "instead", "data-testid": "would-share" }, c.would_share.map((/** @type {any} */ row) => h("li", {
    key: row.change, "data-value": row.shared_blocks,
  }, rich(row.sentence))));
}

/** Numbers and quoted values set apart. @param {string} text */
function rich(text) {
  return text.split(/(\b0x[0-9a-f]+\b|\b\d+\b|'[^']*'|"[^"]*")/).map((part, i) => (i % 2 ? h("b", { key: i }, part) : part));
}

/** @param {State} state */
function sentenceWithout(state) {
  if (state.requests.length < 2) return "Add a second request, and see where the keys part.";
  if (state.against === null) return "Choose a second request to compare with.";
  const bad = [state.base, state.against].find((id) => state.requests.find((r) => r.id === id)?.fault);
  if (bad) return `Request ${bad} has an error, so there is nothing to compare yet.`;
  return state.status === "failed" ? "Python is not running." : "Comparing …";
}
