// @ts-check
// The page's one picture: a key is cut. The 32 nibbles of a PLH as the cuts of a key's blade, so
// that equal keys look equal and others do not, with no colour needed.

import { h } from "./dom.js";

const STEP = 2.75;
const LOW = 3;
const HIGH = 18;

/**
 * The blade as a path: one flat back, 32 cuts.
 * @param {string} hex `0x` and 32 digits @param {number} from first nibble @param {number} to
 */
function cuts(hex, from, to) {
  let d = `M${from * STEP} ${HIGH}`;
  for (let i = from; i < to; i += 1) {
    const y = HIGH - LOW - (parseInt(hex[2 + i], 16) / 15) * (HIGH - LOW - 1);
    d += `V${y.toFixed(1)}H${(i + 1) * STEP}`;
  }
  return d + `V${HIGH}Z`;
}

/**
 * @param {string} plh hex @param {string} [label]
 */
export function keyGlyph(plh, label) {
  return h("svg", {
    class: "glyph", viewBox: `0 0 ${32 * STEP} ${HIGH}`, role: label ? "img" : null,
    "aria-label": label ?? null, "aria-hidden": label ? null : "true", preserveAspectRatio: "none",
  },
  h("path", { class: "g-pos", d: cuts(plh, 0, 3) }),
  h("path", { class: "g-seq", d: cuts(plh, 3, 19) }),
  h("path", { class: "g-par", d: cuts(plh, 19, 32) }));
}

/** A 64-bit hash as half a blade. @param {string} hex `0x` and 16 digits @param {string} kind block or sequence */
export function hashCuts(hex, kind) {
  return h("path", { class: kind === "block" ? "g-blk" : "g-seq", d: cuts(hex, 0, 16) });
}
