// @ts-check
// The prefix tree of all requests: an edge is a stretch of blocks that the same requests go through.
// Its thickness says how many they are, its length how many blocks (compressed, so the number is
// written), a letter stands where a request ends.

import { h, patch } from "../dom.js";
import { count, plural } from "../format.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

const ROW = 44;
const WIDTH = 1120;
const LEFT = 14;
const RIGHT = 150;

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderTree(state, element, act) {
  const t = state.tree;
  patch(element, [
    h("div", { key: "head", class: "head" }, h("h2", null, "Prefix tree"), h("span", { class: "dim" }, "what all requests here share")),
    !t ? h("p", { key: "none", class: "dim" }, "…") : [
      h("p", { key: "say", class: "treesay", "data-testid": "tree-sentence", "data-value": t.tokens_saved },
        h("b", null, count(t.blocks_stored)), ` of ${plural(t.blocks_without_sharing, "block")} need to be stored. Sharing saves `,
        h("b", null, plural(t.tokens_saved, "token")), t.blocks_without_sharing ? ` (${Math.round((1 - t.blocks_stored / t.blocks_without_sharing) * 100)}\u202f%).` : ".",
        t.without_blocks.length > 0 && ` ${t.without_blocks.join(", ")}: shorter than a block.`),
      t.edges.length > 0 && h("div", { key: "scroll", class: "treescroll", role: "region", "aria-label": "Picture of the prefix tree", tabindex: "0" }, drawing(state, t, act)),
      t.edges.length > 0 && table(t, act),
    ],
  ]);
}

/** @typedef {{parent: number | null, position: number, blocks: number, tokens: number, requests: string[], ends: string[], saved_tokens: number, last_plh: string}} Edge */

/** Rows of the leaves, columns of the ends. @param {Edge[]} edges */
function layout(edges) {
  /** @type {number[][]} */
  const children = edges.map(() => []);
  /** @type {number[]} */
  const roots = [];
  edges.forEach((e, i) => (e.parent === null ? roots : children[e.parent]).push(i));
  const first = (/** @type {number} */ i) => edges[i].requests[0];
  const order = (/** @type {number[]} */ list) => list.sort((a, b) => first(a).localeCompare(first(b)));
  const y = new Array(edges.length).fill(0);
  let row = 0;
  const place = (/** @type {number} */ i) => {
    const below = order(children[i]);
    if (!below.length) {
      y[i] = row;
      row += 1;
      return;
    }
    below.forEach(place);
    y[i] = (y[below[0]] + y[below[below.length - 1]]) / 2;
  };
  order(roots).forEach(place);
  // Long stretches are compressed: length grows with the root of the number of blocks, and no edge
  // is too short for its label.
  const length = edges.map((e) => 1.6 + Math.sqrt(e.blocks));
  const end = edges.map(() => 0);
  edges.forEach((e, i) => { end[i] = (e.parent === null ? 0 : end[e.parent]) + length[i]; });
  const most = Math.max(...end);
  return { y, rows: row, x: end.map((v) => v / most), from: edges.map((e, i) => (end[i] - length[i]) / most) };
}

/** @param {State} state @param {any} t @param {Actions} act */
function drawing(state, t, act) {
  /** @type {Edge[]} */
  const edges = t.edges;
  const { y, rows, x, from } = layout(edges);
  const below = new Set(edges.map((e) => e.parent));
  const height = rows * ROW + 16;
  const px = (/** @type {number} */ v) => LEFT + v * (WIDTH - LEFT - RIGHT);
  const py = (/** @type {number} */ v) => v * ROW + ROW / 2 + 12;
  return h("svg", { class: "treepic", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "data-picture": "tree", "aria-label": t.sentence }, edges.map((e, i) => {
    const thick = 2 + e.requests.length * 2;
    const up = e.parent === null ? py(y[i]) : py(y[e.parent]);
    const x0 = px(from[i]);
    const x1 = px(x[i]);
    const on = e.requests.includes(state.sel.request) && state.sel.block >= e.position && state.sel.block < e.position + e.blocks;
    return h("g", {
      key: i, class: `edge ${e.requests.length > 1 ? "many" : "one"} ${on ? "on" : ""}`, "data-testid": `edge-${i}`, "data-value": e.last_plh,
      onclick: () => act.selectBlock(e.requests.includes(state.sel.request) ? state.sel.request : e.requests[0], e.position),
    },
    h("title", null, `blocks ${e.position} to ${e.position + e.blocks - 1} of ${e.requests.join(", ")}\nlast key ${e.last_plh}`),
    h("path", { class: "stroke", d: up === py(y[i]) ? `M${x0} ${up}H${x1}` : `M${x0} ${up}C${x0 + 26} ${up} ${x0 + 6} ${py(y[i])} ${x0 + 34} ${py(y[i])}H${x1}`, "stroke-width": thick, fill: "none" }),
    h("text", { class: "blocks", x: x0 + (e.parent === null ? 2 : 40), y: py(y[i]) - thick / 2 - 5 }, plural(e.blocks, "block"),
      h("tspan", { class: "tokens" }, ` ${count(e.tokens)} tokens`)),
    h("circle", { class: "node", cx: x1, cy: py(y[i]), r: 4 }),
    e.ends.length > 0 && h("text", { class: "ends", x: below.has(i) ? x1 - 4 : x1 + 12, y: py(y[i]) + (below.has(i) ? -12 : 6), "text-anchor": below.has(i) ? "end" : "start" }, e.ends.join("\u2009")));
  }));
}

/** The same as a table. @param {any} t @param {Actions} act */
function table(t, act) {
  return h("details", { key: "table", class: "treetable" }, h("summary", null, "As a table"),
    h("table", { class: "matches", "data-testid": "tree-table" },
      h("thead", null, h("tr", null, ["requests", "from block", "blocks", "tokens", "saved tokens", "ends here", "last key"].map((name) => h("th", { key: name, scope: "col" }, name)))),
      h("tbody", null, t.edges.map((/** @type {Edge} */ e, /** @type {number} */ i) => h("tr", { key: i },
        h("td", null, e.requests.join(" ")), h("td", { class: "num" }, count(e.position)), h("td", { class: "num" }, count(e.blocks)), h("td", { class: "num" }, count(e.tokens)),
        h("td", { class: "num" }, count(e.saved_tokens)), h("td", null, e.ends.join(" ")), h("td", null, h("button", { type: "button", class: "plain", onclick: () => act.selectBlock(e.requests[0], e.position + e.blocks - 1) }, h("code", null, e.last_plh))))))));
}
