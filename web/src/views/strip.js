// @ts-check
// The token strip: a row a block, its slots, and the key that they cut. Only the lines in view (and
// a few around) are nodes; one grid has the focus and points at the active cell.

import { h, patch } from "../dom.js";
import { count, hash, visible } from "../format.js";
import { geometry, lineAt, lineOfSlot, runAt } from "../geometry.js";
import { keyGlyph } from "../glyph.js";
import { hasPieces, pieceOf } from "../store.js";
import { drawMap } from "./minimap.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../geometry.js").Geometry} Geometry */
/** @typedef {import("../geometry.js").Line} Line */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** Browsers lose precision above some height; beyond it scrolling is scaled. */
const MOST_PIXELS = 8e6;
const AROUND = 4;
/** More lines than any screen has: a limit for boxes whose height is not what it should be. */
const MOST_LINES = 250;

/** @returns {number} pixels of 1 rem */
const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

/** What the last drawing knew; the element is ours alone. @type {{g: Geometry | null, scroller: HTMLElement | null, unit: number}} */
export const view = { g: null, scroller: null, unit: 0 };

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderStrip(state, element, act) {
  // Sizes are read before anything is written: asking in between would lay the page out twice.
  let box = measured(view.scroller);
  patch(element, [
    h("div", { key: "head", class: "head" },
      h("h2", null, "Token strip"),
      legend(state),
      hasPieces(state) && h("div", { class: "modes", role: "radiogroup", "aria-label": "What a slot shows" },
        /** @type {const} */ (["text", "ids"]).map((cells) => h("label", { key: cells, class: state.cells === cells ? "on" : "" },
          h("input", { type: "radio", name: "cells", checked: state.cells === cells, "data-testid": `cells-${cells}`, onchange: () => act.set({ cells }) }), cells === "text" ? "Text" : "Ids")))),
    h("div", { key: "body", class: "strip-body" },
      h("div", {
        class: "scroller", role: "grid", tabindex: "0", id: "grid", "aria-label": "Token strip: one row a block",
        "aria-describedby": "grid-keys", "data-testid": "strip",
        onscroll: act.scrolled, onpointerover: (/** @type {any} */ e) => act.gridHover(e.target), onkeydown: act.gridKey,
        onclick: (/** @type {any} */ e) => act.gridClick(e.target), ondblclick: (/** @type {any} */ e) => act.gridClick(e.target, true),
      }, h("div", { class: "space", role: "presentation", foreign: true })),
      h("div", { class: "mapbox" }, h("canvas", { class: "minimap", "data-testid": "minimap", "aria-hidden": "true", onpointerdown: act.mapPointer, onpointermove: act.mapPointer }))),
    h("p", { key: "keys", id: "grid-keys", class: "sr" }, "Arrow keys move by slot and block, Enter edits a token, D goes to the first difference, P to the parent block."),
  ]);
  const scroller = /** @type {HTMLElement} */ (element.querySelector(".scroller"));
  const space = /** @type {HTMLElement} */ (scroller.firstElementChild);
  if (view.scroller !== scroller) box = measured(scroller);
  view.scroller = scroller;
  view.unit ||= rem();
  const g = geometry(state, box.width, view.unit);
  view.g = g;
  if (!g) {
    patch(space, h("div", { key: "none", class: "empty", role: "row" }, h("div", { role: "gridcell" }, emptyText(state))));
    for (const name of ["aria-activedescendant", "aria-rowcount", "aria-colcount"]) scroller.removeAttribute(name);
    space.style.height = "auto";
    drawMap(state, null, element, 0, 1, box);
    return;
  }
  const total = g.lines * g.lineHeight;
  const height = Math.min(total, MOST_PIXELS);
  const before = [space.style.height, space.style.getPropertyValue("--row")].join();
  space.style.height = `${height}px`;
  space.style.setProperty("--cell", `${g.cell}px`);
  space.style.setProperty("--row", `${g.lineHeight}px`);
  // Another number of lines may have made the box itself higher or lower, and moved the view.
  if (before !== [space.style.height, space.style.getPropertyValue("--row")].join()) box = measured(scroller);
  setOnce(scroller, "aria-rowcount", String(g.lines));
  setOnce(scroller, "aria-colcount", String(g.perLine + 2));
  const top = topOf(g, box);
  const first = Math.max(0, Math.floor(top / g.lineHeight) - AROUND);
  const last = Math.min(g.lines, Math.ceil((top + box.height) / g.lineHeight) + AROUND, first + MOST_LINES);
  const shift = box.top - top;
  // Lines take turns with a fixed set of nodes, so that scrolling makes none.
  const pool = Math.ceil(box.height / g.lineHeight) + 2 * AROUND + 2;
  const lines = [];
  /** @type {Record<string, [number, number]>} */
  const wanted = {};
  const same = sameContent(state);
  for (let n = first; n < last; n += 1) {
    const line = lineAt(g, n);
    lines.push(drawLine(state, g, line, n, n * g.lineHeight + shift, same, n % pool));
    if (line.kind !== "part" && line.zone !== "tail") {
      const range = (wanted[line.request] ??= [line.block, line.block + 1]);
      range[0] = Math.min(range[0], line.block);
      range[1] = Math.max(range[1], line.block + 1);
    }
  }
  if (g.lines === 0) lines.push(h("div", { key: "none", class: "empty", role: "row" }, h("span", { role: "gridcell" }, "No tokens yet.")));
  patch(space, lines);
  for (const request in wanted) act.wantRows(request, wanted[request][0], wanted[request][1]);
  const active = document.getElementById(cellId(state.sel.request, state.sel.slot)) ?? document.getElementById(cellId(g.base, state.sel.slot));
  if (active) setOnce(scroller, "aria-activedescendant", active.id);
  else scroller.removeAttribute("aria-activedescendant");
  drawMap(state, g, element, top / g.lineHeight, (top + box.height) / g.lineHeight, box);
}

/** @typedef {{width: number, height: number, top: number, mapWidth: number, mapHeight: number}} Box */

/** @param {HTMLElement | null} scroller @returns {Box} */
function measured(scroller) {
  if (!scroller) return { width: 0, height: 0, top: 0, mapWidth: 0, mapHeight: 0 };
  const map = /** @type {HTMLElement} */ (scroller.nextElementSibling);
  return { width: scroller.clientWidth, height: scroller.clientHeight, top: scroller.scrollTop, mapWidth: map.clientWidth, mapHeight: map.clientHeight };
}

/** @param {Element} element @param {string} name @param {string} value */
function setOnce(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** @param {State} state */
function emptyText(state) {
  const r = state.requests.find((x) => x.id === state.base);
  return r?.fault ? `Request ${r.id} is not hashed: ${r.fault.message}` : r && r.tokens.length ? "Waiting for Python …" : "No tokens yet: paste some above.";
}

/** Pixels above the view, in the unscaled strip. @param {Geometry} g @param {Box} box */
function topOf(g, box) {
  const total = g.lines * g.lineHeight;
  return total <= MOST_PIXELS ? box.top : (box.top / (MOST_PIXELS - box.height)) * (total - box.height);
}

/** Scroll so that a line is in view. @param {number} line @param {boolean} [centre] */
export function reveal(line, centre = false) {
  const { g, scroller } = view;
  if (!g || !scroller) return;
  const box = measured(scroller);
  const top = topOf(g, box);
  const y = line * g.lineHeight;
  const low = y - (box.height - g.lineHeight * 2);
  let want = top;
  if (centre && (y < top || y + g.lineHeight > top + box.height)) want = y - box.height / 3;
  else if (y < top) want = y;
  else if (low > top) want = low;
  scrollToPixel(want);
}

/** @param {number} pixel of the unscaled strip */
export function scrollToPixel(pixel) {
  const { g, scroller } = view;
  if (!g || !scroller) return;
  const total = g.lines * g.lineHeight;
  const target = Math.max(0, Math.min(pixel, total - scroller.clientHeight));
  scroller.scrollTop = total <= MOST_PIXELS ? target
    : (target / (total - scroller.clientHeight)) * (MOST_PIXELS - scroller.clientHeight);
}

/** @param {string} request @param {number} slot */
export const cellId = (request, slot) => `c-${request}-${slot}`;

/** @type {{of: any, base: Set<number>, against: Set<number>}} */
let sameCache = { of: null, base: new Set(), against: new Set() };

/** Positions, in each of the two, of blocks whose content the other has under another lineage. @param {State} state */
export function sameContent(state) {
  if (sameCache.of !== state.compare) {
    sameCache = { of: state.compare, base: new Set(state.compare?.same_content_in_a ?? []), against: new Set(state.compare?.same_content ?? []) };
  }
  return sameCache;
}

/** @param {State} state */
function legend(state) {
  const two = state.against !== null && state.compare;
  const result = state.results[state.base];
  return h("ul", { class: "legend", "aria-label": "Legend" },
    two && h("li", null, h("b", { class: "mark shared" }, "="), "shared"),
    two && h("li", null, h("b", { class: "mark parted" }, "≠"), "another key"),
    two && (state.compare.same_content?.length ?? 0) > 0 && h("li", null, h("b", { class: "mark same" }, "≈"), "same content, not reusable"),
    (result?.runs.length ?? 0) > 0 && h("li", null, h("b", { class: "mark run" }, ""), "placeholder"),
    (result?.tail ?? 0) > 0 && h("li", null, h("b", { class: "mark tail" }, ""), "tail, not hashed"));
}

/** @param {Line} line @param {{base: Set<number>, against: Set<number>}} same @param {Geometry} g @returns {"shared" | "parted" | "same" | "plain" | "tail"} */
function standing(line, same, g) {
  if (line.zone === "tail") return "tail";
  if (line.zone === "shared") return "shared";
  if (g.against && (line.request === g.base ? same.base : same.against).has(line.block)) return "same";
  return line.zone === "pair" ? "parted" : "plain";
}

const SIGNS = { shared: "=", parted: "≠", same: "≈", plain: "", tail: "" };
const WORDS = { shared: "shared", parted: "another key", same: "same content, not reusable", plain: "", tail: "tail, not hashed" };

/**
 * @param {State} state @param {Geometry} g @param {Line} line @param {number} n @param {number} y @param {{base: Set<number>, against: Set<number>}} same
 * @param {number} key
 */
function drawLine(state, g, line, n, y, same, key) {
  const style = { transform: `translateY(${y}px)` };
  if (line.kind === "part") return partLine(state, g, n, style, key);
  const result = state.results[line.request];
  const how = standing(line, same, g);
  const chosen = line.request === state.sel.request && line.block === state.sel.block
    || line.zone === "shared" && line.block === state.sel.block;
  const start = line.part <= 0;
  const attributes = {
    key, role: "row", "aria-rowindex": n + 1, style, "data-request": line.request,
    class: `line ${line.kind} ${how} ${chosen ? "chosen" : ""} ${start ? "start" : ""} ${line.zone === "pair" && line.request === g.base ? "upper" : ""} ${g.head ? "narrow" : g.tight ? "tight" : ""}`,
  };
  const label = rowLabel(state, g, line, how);
  if (line.kind === "head") {
    return h("div", attributes, label, line.zone === "tail" ? null : keyCell(state, line, g));
  }
  const from = line.block * g.blockSize + line.part * g.perLine;
  const blockEnd = line.zone === "tail" ? result.tokens : (line.block + 1) * g.blockSize;
  const cells = [];
  const other = line.zone === "pair" && line.block === state.compare?.position
    ? state.results[line.request === g.base ? /** @type {string} */ (g.against) : g.base] : null;
  for (let slot = from; slot < Math.min(from + g.perLine, blockEnd); slot += 1) {
    cells.push(cell(state, g, line, slot, result, other));
  }
  const showKey = line.part === 0 && !g.head && line.zone !== "tail";
  return h("div", attributes,
    g.head ? null : line.part === 0 ? label : h("div", { key: "g", class: "gutter", role: "rowheader" }, h("span", { class: "dim" }, `+${line.part * g.perLine}`)),
    h("div", { key: "c", class: "cells", role: "presentation" }, cells),
    showKey ? keyCell(state, line, g) : null,
    line.zone === "tail" && line.part === 0 ? h("div", { key: "k", class: "note", role: "gridcell" }, "not hashed") : null);
}

/** @param {State} state @param {Geometry} g @param {Line} line @param {keyof typeof SIGNS} how */
function rowLabel(state, g, line, how) {
  const both = line.zone === "shared" && g.against;
  const who = g.against ? both ? `${g.base}\u2009${g.against}` : line.request : "";
  return h("div", {
    key: "g", class: "gutter", role: "rowheader", "data-testid": `row-${line.request}-${line.block}`,
    "data-also": both ? g.against : null, "data-standing": how,
    "aria-label": `${who ? `Request ${both ? `${g.base} and ${g.against}` : who}, ` : ""}${line.zone === "tail" ? "tail" : `block ${line.block}`}${WORDS[how] ? ", " + WORDS[how] : ""}`,
  },
  h("span", { class: "who" }, who),
  h("span", { class: "pos" }, line.zone === "tail" ? "tail" : count(line.block)),
  h("b", { class: `mark ${how}`, title: WORDS[how] || null }, SIGNS[how]));
}

/** @param {State} state @param {Line} line @param {Geometry} g */
function keyCell(state, line, g) {
  const row = state.results[line.request].rows.get(line.block);
  if (!row) return h("div", { key: "k", class: "key pending", role: "gridcell" }, h("span", { class: "sr" }, "not hashed yet"));
  const text = hash(row.sequence_hash, state.notation);
  return h("div", {
    key: "k", class: "key", role: "gridcell", "data-slot": line.block * g.blockSize,
    "data-testid": `row-${line.request}-${line.block}-plh`, "data-value": row.plh, title: `PLH ${row.plh}\n${row.plh_text}`,
  }, keyGlyph(row.plh),
  h("code", { "data-testid": `row-${line.request}-${line.block}-sequence_hash`, "data-value": row.sequence_hash }, text));
}

/**
 * @param {State} state @param {Geometry} g @param {Line} line @param {number} slot
 * @param {import("../types.js").Result} result @param {import("../types.js").Result | null} other
 */
function cell(state, g, line, slot, result, other) {
  const token = result.tokensArray[slot];
  const at = result.runs.length ? runAt(result.runs, slot) : -1;
  const run = at >= 0 ? result.runs[at] : null;
  const sel = state.sel;
  const on = slot === sel.slot && (line.request === sel.request || line.zone === "shared");
  let name = on ? "slot on" : "slot";
  if (run) {
    name += " ph";
    if (slot === run.offset) name += " first";
    if (slot === run.offset + run.length - 1) name += " last";
  }
  if (other && (slot >= other.tokens || !sameSlot(result, other, slot, run))) {
    name += slot === (line.request === g.base ? state.compare.token_index : state.compare.causes[0]?.token_index_b) ? " diff here" : " diff";
  }
  const piece = g.twoLines && !run ? pieceOf(state, line.request, token) : undefined;
  /** @type {import("../dom.js").Loose} */
  let inside;
  if (on && state.editing && line.request === sel.request) {
    inside = h("input", {
      key: "edit", class: "edit", type: "text", inputmode: "numeric", value: state.editing.text, "aria-label": `Token of slot ${slot}`,
      "data-testid": "slot-edit", "aria-invalid": state.editing.fault ? "true" : null, title: state.editing.fault || null,
    });
  } else if (run) inside = `+${count(slot - run.offset)}`;
  else {
    const digits = String(token);
    inside = digits.length > 7 ? "…" + digits.slice(-6) : digits;
    if (piece !== undefined) {
      name += " two";
      inside = [h("span", { class: piece.startsWith("<|") ? "piece special" : "piece" }, visible(piece)), h("span", { class: "id" }, inside)];
    }
  }
  return h("div", {
    role: "gridcell", class: name, id: on ? cellId(line.request, slot) : null, "aria-selected": on ? "true" : null,
    "data-testid": `slot-${line.request}-${slot}`, "data-value": run ? run.mm_hash : token, title: null,
  }, inside);
}

/** @param {import("../types.js").Result} a @param {import("../types.js").Result} b @param {number} slot @param {import("../types.js").Run | null} run */
function sameSlot(a, b, slot, run) {
  const at = b.runs.length ? runAt(b.runs, slot) : -1;
  const theirs = at >= 0 ? b.runs[at] : null;
  if (!run && !theirs) return a.tokensArray[slot] === b.tokensArray[slot];
  return !!run && !!theirs && run.mm_hash === theirs.mm_hash && run.offset === theirs.offset;
}

/** @param {State} state @param {Geometry} g @param {number} n @param {Record<string, string>} style @param {number} key */
function partLine(state, g, n, style, key) {
  const c = state.compare;
  const text = c.cause === "none" || c.position === null ? "the same keys up to here"
    : c.cause === "length" ? `${g.shared ? "shared up to here" : "nothing shared"}: one request ends`
      : g.shared === 0 ? `nothing shared: ${CAUSES[c.cause] ?? c.cause}` : `the keys part here: ${CAUSES[c.cause] ?? c.cause}`;
  return h("div", { key, class: `line part ${c.cause === "none" ? "same" : ""}`, role: "row", "aria-rowindex": n + 1, style, "data-testid": "part-line" },
    h("div", { role: "gridcell" }, h("span", null, text)));
}

/** @type {Record<string, string>} */
export const CAUSES = {
  contract: "another contract", block_size: "another block size", salt: "another salt", lora_name: "another LoRA",
  token: "another token", mm_hash: "another object in the same place", mm_offset: "the same object, moved",
  mm_length: "the same object, another length", mm_coverage: "a run on one side only", length: "one ends first", none: "no difference",
};

/** For other modules: where a slot stands. */
export const lineForSlot = (/** @type {string} */ request, /** @type {number} */ slot) => (view.g ? lineOfSlot(view.g, request, slot) : 0);
