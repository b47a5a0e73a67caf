// @ts-check
// The chain that a block stands in: each key carries a fragment of its parent's sequence hash.

import { h, patch } from "../dom.js";
import { count, plural } from "../format.js";
import { keyGlyph } from "../glyph.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderLineage(state, element, act) {
  const { sel, block: b } = state;
  const result = state.results[sel.request];
  if (!result || !b || b.id !== sel.request || b.position !== sel.block || sel.block >= result.blocks) {
    patch(element, null);
    return;
  }
  const before = b.lineage[0].position;
  const after = result.blocks - 1 - b.lineage[b.lineage.length - 1].position;
  patch(element, [
    h("div", { key: "head", class: "head" }, h("h2", null, "Lineage"), h("span", { class: "dim" }, "each key carries the low bits of its parent’s sequence hash"),
      h("span", { class: "spacer" }),
      b.position > 0 && h("button", { type: "button", "data-testid": "to-parent", title: "P", onclick: () => act.selectBlock(b.id, b.position - 1) }, "Go to the parent")),
    h("ol", { key: "chain", class: "lineage" },
      before > 0 && h("li", { key: "before", class: "more" }, h("button", { type: "button", class: "quiet", "data-testid": "to-root", onclick: () => act.selectBlock(b.id, 0) }, plural(before, "block"), h("br", null), "before")),
      b.lineage.map((row, i) => [
        h("li", { key: row.position, class: row.position === b.position ? "here" : "" }, h("button", {
          type: "button", class: "link", "aria-current": row.position === b.position ? "true" : null, "data-testid": `lineage-${row.position}`, "data-value": row.plh,
          title: row.plh_text, onclick: () => act.selectBlock(b.id, row.position),
        },
        h("span", { class: "pos" }, count(row.position), row.position === 0 ? " root" : row.position === b.position - 1 ? " parent" : ""),
        keyGlyph(row.plh), carried(row))),
        i + 1 < b.lineage.length && h("li", { key: `to${row.position}`, class: "tie", "aria-label": `the next carries ${row.fragment_bits} bits of it` }, h("span", { "aria-hidden": "true" }, `${row.fragment_bits}`)),
      ]),
      after > 0 && h("li", { key: "after", class: "more" }, h("button", { type: "button", class: "quiet", "data-testid": "to-last", onclick: () => act.selectBlock(b.id, result.blocks - 1) }, plural(after, "block"), h("br", null), "after"))),
  ]);
}

/** The sequence hash in hex, the part that the child carries set apart. @param {any} row */
function carried(row) {
  const hex = row.sequence_hash.slice(2);
  const kept = Math.floor(row.fragment_bits / 4);
  return h("code", { class: "sequence_hash", title: kept ? `the child carries the low ${row.fragment_bits} bits: ${row.fragment}` : null },
    h("span", { class: kept ? "dropped" : "" }, hex.slice(0, 16 - kept)), kept > 0 && h("span", { class: "kept" }, hex.slice(16 - kept)));
}
