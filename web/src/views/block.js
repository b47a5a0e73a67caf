// @ts-check
// One block, from its key to its bytes: the 128 bits, the chain step, frames tied to slots. Layouts are drawn from the package's own tables, which came over the bridge.

import { h, patch } from "../dom.js";
import { count, hash, plh, plural, visible } from "../format.js";
import { hashCuts, keyGlyph } from "../glyph.js";
import { pieceOf } from "../store.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../types.js").Block} Block */
/** @typedef {import("../types.js").Frame} Frame */
/** @typedef {import("../types.js").Field} Field */
/** @typedef {import("../actions/actions.js").Actions} Actions */

export const FRAME_PAGE = 64;

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderBlock(state, element, act) {
  const { sel, block } = state;
  const result = state.results[sel.request];
  if (!result || sel.block >= result.blocks) {
    patch(element, [
      h("div", { key: "head", class: "head" }, h("h2", null, result && result.tail && sel.block >= result.blocks ? `Tail of ${sel.request}` : "Block")),
      h("p", { key: "none", class: "lead", "data-testid": "no-block" }, !result ? "The chosen request is not hashed."
        : result.tail ? [h("strong", null, plural(result.tail, "slot")), " after the last full block. The tail is never hashed and has no key: it becomes a block when it is full."]
          : "No block: the request is shorter than one block."),
    ]);
    return;
  }
  const shown = block && block.id === sel.request && block.position === sel.block ? block : null;
  patch(element, [
    h("div", { key: "head", class: "head" },
      h("h2", { "data-testid": "block-title", "data-value": `${sel.request}:${sel.block}` }, `Block ${count(sel.block)} of ${sel.request}`),
      h("span", { class: "dim" }, `slots ${count(sel.block * state.blockSize)} – ${count((sel.block + 1) * state.blockSize - 1)}`),
      h("span", { class: "spacer" }),
      h("div", { class: "steps" },
        h("button", { type: "button", class: "icon quiet", "aria-label": "Block before", title: "Block before (k)", disabled: sel.block === 0, "data-testid": "block-before", onclick: () => act.step(-1) }, "↑"),
        h("button", { type: "button", class: "icon quiet", "aria-label": "Next block", title: "Next block (j)", disabled: sel.block + 1 >= result.blocks, "data-testid": "block-next", onclick: () => act.step(1) }, "↓"))),
    shown ? [
      h("div", { key: "key", class: "bigkey" }, keyGlyph(shown.plh, `Key of block ${shown.position}: ${shown.plh}`)),
      hashes(state, shown, act), bits(state, shown, act), chain(state, shown, act), bytes(state, shown, act),
    ] : h("p", { key: "wait", class: "dim" }, state.status === "failed" ? "Python is not running." : "…"),
  ]);
}

const copySign = () => h("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, h("path", { d: "M4 3V1h7v7H9M1 4h7v7H1Z", fill: "none", stroke: "currentColor" }));

/** @param {string} text @param {string} testid @param {string} value @param {string} [name] @param {Actions} [act] */
function value(text, testid, value, name = "", act = undefined) {
  return [h("code", { class: `hash ${name}`, "data-testid": testid, "data-value": value }, text),
    act && h("button", { type: "button", class: "copy quiet", "aria-label": `Copy ${testid.replaceAll("_", " ")}`, title: "Copy", onclick: () => act.copy(text) }, copySign())];
}

/** @param {State} state @param {Block} b @param {Actions} act */
function hashes(state, b, act) {
  /** @type {[string, string, string, string, string][]} */
  const rows = [
    ["plh", "PLH", plh(b, state.notation), b.plh, "the block’s key: position, lineage and parent"],
    ["sequence_hash", "sequence hash", hash(b.sequence_hash, state.notation), b.sequence_hash, "lineage: this block and all before it"],
    ["block_hash", "block hash", hash(b.block_hash, state.notation), b.block_hash, "content only: not vLLM’s BlockHash, which is chained"],
  ];
  return h("table", { key: "hashes", class: "hashes" }, h("caption", { class: "sr" }, "Hashes of the block"), h("tbody", null, rows.map(([id, name, text, full, hint]) => h("tr", {
    key: id, class: linked(state, id),
  }, h("th", { scope: "row", title: hint }, name), h("td", null, value(text, id, full, id, act))))));
}

/** A fragment is a part of the parent's hash, so choosing one marks the other. @param {string} field */
const root = (field) => (field === "parent_fragment" ? "parent" : field);

/** @param {State} state @param {string} field */
const linked = (state, field) => (state.sel.field && root(state.sel.field) === root(field) ? "linked" : "");

const FIELD_NAMES = /** @type {Record<string, string>} */ ({ mode: "mode", position: "position", sequence_hash: "sequence hash", parent_fragment: "parent fragment" });

/** @param {State} state @param {Block} b @param {Actions} act */
function bits(state, b, act) {
  return h("section", { key: "bits", class: "panel", "data-testid": "plh-bits", "aria-label": "The 128 bits of the key" },
    h("h3", null, "The key, bit by bit ", h("span", { class: "dim" }, "128 bits, from the top")),
    barcode(b),
    h("table", { class: "fields" },
      h("thead", null, h("tr", null, ["field", "bits", "hex", "value"].map((name) => h("th", { key: name, scope: "col" }, name)))),
      h("tbody", null, b.fields.map((f) => h("tr", {
        key: f.name, class: `f-${f.name} ${linked(state, f.name)}`, "data-testid": `field-${f.name}`, "data-value": f.hex,
      },
      h("th", { scope: "row" }, h("button", { type: "button", class: "plain", "aria-pressed": String(state.sel.field === f.name), onclick: () => act.selectField(f.name) }, h("i", { class: "swatch" }), FIELD_NAMES[f.name])),
      h("td", { class: "num", title: `bits ${f.high} to ${f.low}` }, f.width),
      h("td", null, h("code", null, f.hex)),
      h("td", null, f.name === "sequence_hash" ? h("code", null, hash(f.hex, state.notation === "hex" ? "u64" : state.notation)) : h("code", null, f.value)))))),
    layouts(state, b));
}

/** @param {Block} b */
function barcode(b) {
  const ticks = [];
  let x = 0;
  for (const f of b.fields) {
    let d = "";
    let zeros = "";
    for (let i = 0; i < f.width; i += 1) {
      const at = (x + i) * 4 + 1;
      if (f.bits[i] === "1") d += `M${at} 2V30`;
      else zeros += `M${at} 24V30`;
    }
    const from = x * 4;
    const to = (x + f.width) * 4;
    ticks.push(h("g", { key: f.name, class: `f-${f.name}` },
      h("path", { class: "one", d }), h("path", { class: "zero", d: zeros }),
      h("path", { class: "brace", d: `M${from + 0.75} 35V39H${to - 2.25}V35` }),
      f.width > 4 && h("text", { x: (from + to) / 2 - 1, y: 52, "text-anchor": "middle" }, `${f.width}`)));
    x += f.width;
  }
  return h("svg", { class: "barcode", viewBox: "0 0 512 56", role: "img", "data-picture": "key", "aria-label": b.fields.map((f) => `${FIELD_NAMES[f.name]}: ${f.width} bits, ${f.hex}`).join("; ") }, ticks);
}

/** What changes at positions 256 and 65 536. @param {State} state @param {Block} b */
function layouts(state, b) {
  /** @type {import("../types.js").Mode[]} */
  const modes = state.hello?.modes ?? [];
  return h("figure", { class: "layouts", "data-testid": "plh-modes" },
    h("figcaption", null, "A longer request has wider positions and narrower fragments:"),
    modes.map((m) => {
      const widths = [["mode", state.hello.mode_bits], ["position", m.position_bits], ["sequence_hash", state.hello.hash_bits], ["parent_fragment", m.fragment_bits]];
      return h("div", {
        key: m.mode, class: `layout ${m.mode === b.mode ? "now" : ""}`, "data-testid": `mode-row-${m.mode}`, "aria-current": m.mode === b.mode ? "true" : null,
      },
      h("span", { class: "where" }, m.mode === b.mode ? h("b", null, "▸ ") : null, m.mode === 0 ? `up to ${count(m.last)}` : `from ${count(m.first)}`),
      h("span", { class: "bars" }, widths.map(([name, width]) => h("span", {
        key: name, class: `f-${name}`, style: { "flex-grow": String(width), "flex-basis": "0" }, title: `${FIELD_NAMES[name]}: ${width} bits`,
      }, name === "mode" ? "" : String(width)))));
    }));
}

/** The chain step as a picture. @param {State} state @param {Block} b @param {Actions} act */
function chain(state, b, act) {
  const first = b.parent === null;
  const box = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ hex, /** @type {string} */ kind, /** @type {number} */ x, /** @type {number} */ y) => h("g", {
    key: id, class: `box ${kind} ${linked(state, id)}`, transform: `translate(${x} ${y})`, "data-testid": `chain-${id}`, "data-value": hex,
    onclick: () => act.selectField(id),
  },
  h("rect", { width: 148, height: 58, rx: 3 }),
  h("text", { class: "label", x: 10, y: 16 }, label),
  h("g", { transform: "translate(10 20) scale(2.9 0.95)" }, hashCuts(hex, kind)),
  h("text", { class: "value", x: 10, y: 50 }, short(hash(hex, state.notation))));
  return h("section", { key: "chain", class: "panel", "data-testid": "chain", "aria-label": "The chain step" },
    h("h3", null, "The chain step ", h("span", { class: "dim" }, first ? "the first block has no parent: both hashes are the same" : `16 bytes, seed ${state.notation === "hex" ? Number(b.chain_seed) : hash(b.chain_seed, state.notation)}`)),
    h("svg", { class: "chainstep", viewBox: "0 0 512 152", role: "img", "data-picture": "chain", "aria-label": first ? `The sequence hash of the first block is its block hash, ${b.block_hash}` : `Parent sequence hash ${b.parent} and block hash ${b.block_hash} give sequence hash ${b.sequence_hash}, with chain seed ${b.chain_seed}` },
      first ? [
        box("block_hash", "block hash", b.block_hash, "block", 1, 47),
        h("path", { key: "w", class: "wire", d: "M149 76H363" }),
        h("path", { key: "a", class: "head", d: "M357 72l6 4-6 4" }),
        h("text", { key: "t", class: "label", x: 256, y: 69, "text-anchor": "middle" }, "taken as it is"),
      ] : [
        box("parent", `sequence hash of ${b.position - 1}`, /** @type {string} */ (b.parent), "sequence", 1, 1),
        box("block_hash", `block hash of ${b.position}`, b.block_hash, "block", 1, 93),
        h("path", { key: "w", class: "wire", d: "M149 30C190 30 180 76 214 76M149 122C190 122 180 76 214 76M298 76H363" }),
        h("path", { key: "a", class: "head", d: "M357 72l6 4-6 4" }),
        h("g", { key: "x", class: "fn" }, h("rect", { x: 214, y: 56, width: 84, height: 40, rx: 20 }), h("text", { x: 256, y: 80, "text-anchor": "middle" }, "XXH3-64")),
      ],
      box("sequence_hash", `sequence hash of ${b.position}`, b.sequence_hash, "sequence", 363, 47)),
    b.chain_bytes && h("p", { class: "bytesline", "data-testid": "chain-bytes", "data-value": b.chain_bytes },
      h("code", { class: "sequence_hash" }, spaced(b.chain_bytes.slice(0, 16))), " ", h("code", { class: "block_hash" }, spaced(b.chain_bytes.slice(16)))));
}

/** @param {string} text */
const short = (text) => (text.length > 20 ? text.slice(0, 19) + "…" : text);

/** @param {string} hex */
const spaced = (hex) => hex.replace(/(..)(?=.)/g, "$1 ");

/** The bytes that are hashed, frame by frame. @param {State} state @param {Block} b @param {Actions} act */
function bytes(state, b, act) {
  const framed = b.slot_bytes !== 4;
  const first = sel(state) - b.position * state.blockSize;
  const pages = Math.ceil(state.blockSize / FRAME_PAGE);
  return h("section", { key: "bytes", class: "panel", "data-testid": "bytes", "aria-label": "The bytes of the block" },
    h("h3", null, "The bytes ", h("span", { class: "dim" }, `${plural(b.byte_count, "byte")}, ${b.slot_bytes} a slot, hashed with the salt hash as seed`)),
    h("p", { class: "dim small" }, framed ? "A run touches this block, so every slot is a 13-byte frame: a tag, then a token, or an offset in the run and the object’s hash."
      : "No run touches this block: each slot is its token, little-endian."),
    h("ol", { class: `frames ${framed ? "framed" : "plain"}`, start: b.first_slot }, b.frames.map((f) => frame(state, b, f, first, act))),
    pages > 1 && h("p", { class: "pager" },
      h("button", { type: "button", class: "quiet", disabled: b.first_slot === 0, "data-testid": "frames-before", onclick: () => act.frames(b.first_slot - FRAME_PAGE) }, "↑ slots before"),
      h("span", { class: "dim" }, `${count(b.first_slot)} – ${count(b.first_slot + b.frames.length - 1)} of ${count(state.blockSize)}`),
      h("button", { type: "button", class: "quiet", disabled: b.first_slot + FRAME_PAGE >= state.blockSize, "data-testid": "frames-next", onclick: () => act.frames(b.first_slot + FRAME_PAGE) }, "next slots ↓")));
}

/** @param {State} state */
const sel = (state) => state.sel.slot;

/** @param {State} state @param {Block} b @param {Frame} f @param {number} chosen @param {Actions} act */
function frame(state, b, f, chosen, act) {
  const slot = b.position * state.blockSize + f.slot;
  const whole = f.fields.map((x) => x.hex).join("");
  const piece = f.kind === "placeholder" ? undefined : pieceOf(state, b.id, Number(f.fields.find((x) => x.name === "token")?.value));
  const told = f.kind === "placeholder" ? `+${f.fields[1].value}` : f.fields.find((x) => x.name === "token")?.value ?? "";
  return h("li", { key: f.slot }, h("button", {
    type: "button", class: `frame ${f.kind === "placeholder" ? "ph" : ""} ${f.slot === chosen ? "on" : ""}`, "aria-pressed": String(f.slot === chosen),
    "data-testid": `frame-${f.slot}`, "data-value": whole, title: `slot ${slot}: bytes ${f.start} to ${f.start + b.slot_bytes - 1}\n${f.fields.map((x) => `${x.name} ${x.value}`).join("\n")}`,
    onclick: () => act.selectSlot(state.sel.request, slot),
  },
  h("span", { class: "hex" }, f.fields.map((x) => h("span", { key: x.name, class: `b-${x.name}` }, spaced(x.hex)))),
  h("span", { class: "told" }, told, piece !== undefined && h("span", { class: "dim" }, " " + visible(piece)))));
}

