// @ts-check
// What leaves the page: files that the person saves. Pictures are the page's own SVG with the
// colours of the moment written into it, so that they look the same anywhere.

import { geometry, lineAt, runAt } from "./geometry.js";
import { visible } from "./format.js";
import { pieceOf } from "./store.js";
import { view } from "./views/strip.js";

/** @typedef {import("./store.js").State} State */

/** @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} name @param {string} text @param {string} type */
export function textFile(name, text, type) {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "letter-spacing"];

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/**
 * @param {"strip" | "key" | "chain" | "tree"} which @param {State} state
 * @returns {string | null} an SVG document
 */
export function picture(which, state) {
  const title = `kvhash: ${which}, contract ${state.contract}, block size ${state.blockSize}`;
  if (which === "strip") return stripPicture(state, title);
  const svg = /** @type {SVGSVGElement | null} */ (document.querySelector(`svg[data-picture=${which}]`));
  if (!svg) return null;
  const box = svg.viewBox.baseVal;
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const css = getComputedStyle(originals[i]);
    for (const name of STYLES) element.setAttribute(name, css.getPropertyValue(name));
    for (const name of ["class", "data-testid", "tabindex", "role"]) element.removeAttribute(name);
  });
  return frame(title, box.width, box.height, copy.innerHTML);
}

/** @param {string} title @param {number} width @param {number} height @param {string} inside */
function frame(title, width, height, inside) {
  const paper = getComputedStyle(document.body).backgroundColor;
  const ink = getComputedStyle(document.body).color;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -16 ${width + 32} ${height + 56}" width="${width + 32}" height="${height + 56}">`
    + `<title>${escaped(title)}</title><rect x="-16" y="-16" width="${width + 32}" height="${height + 56}" fill="${paper}"/>${inside}`
    + `<text x="0" y="${height + 26}" font-family="IBM Plex Sans, sans-serif" font-size="11" fill="${ink}">${escaped(title)}</text></svg>\n`;
}

const MOST_ROWS = 400;

/** The strip's lines, at most 400 from the first in view. @param {State} state @param {string} title */
function stripPicture(state, title) {
  const g = geometry(state, 1000, 16);
  if (!g || !view.scroller) return null;
  const css = getComputedStyle(view.scroller);
  const colour = (/** @type {string} */ name) => css.getPropertyValue(name).trim();
  const first = g.lines > MOST_ROWS ? Math.floor(view.scroller.scrollTop / (view.g?.lineHeight ?? 1)) : 0;
  const count = Math.min(MOST_ROWS, g.lines - first);
  const font = `font-family="IBM Plex Mono, monospace" font-size="10"`;
  let out = "";
  for (let n = 0; n < count; n += 1) {
    const line = lineAt(g, first + n);
    const y = n * 22;
    if (line.kind === "part") {
      out += `<path d="M0 ${y + 11}H${g.perLine * 44 + 60}" stroke="${colour("--part")}" stroke-width="1.5"/>`;
      continue;
    }
    const result = state.results[line.request];
    const label = `${line.zone === "shared" && g.against ? g.base + g.against : line.request} ${line.zone === "tail" ? "tail" : line.block}`;
    if (line.part === 0) out += `<text x="0" y="${y + 15}" ${font} fill="${colour(line.zone === "shared" ? "--shared" : "--ink")}" font-weight="600">${label}</text>`;
    const from = line.block * g.blockSize + line.part * g.perLine;
    const end = Math.min(from + g.perLine, line.zone === "tail" ? result.tokens : (line.block + 1) * g.blockSize);
    for (let slot = from; slot < end; slot += 1) {
      const x = 56 + (slot - from) * 44;
      const run = runAt(result.runs, slot);
      const token = result.tokensArray[slot];
      const piece = state.cells === "text" ? pieceOf(state, line.request, token) : undefined;
      const text = run >= 0 ? `+${slot - result.runs[run].offset}` : piece !== undefined ? visible(piece).slice(0, 6) : String(token).slice(-6);
      out += `<rect x="${x}" y="${y + 2}" width="42" height="18" fill="none" stroke="${colour(run >= 0 ? "--run" : "--line2")}"${line.zone === "tail" ? ' stroke-dasharray="3 2"' : ""}/>`
        + `<text x="${x + 21}" y="${y + 15}" text-anchor="middle" ${font} fill="${colour(run >= 0 ? "--run" : "--ink")}">${escaped(text)}</text>`;
    }
  }
  return frame(title, g.perLine * 44 + 60, count * 22, out);
}
