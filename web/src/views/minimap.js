// @ts-check
// The whole of both requests at a glance, as a canvas beside the strip. It repeats in small what the
// strip says in words, so it is hidden from screen readers.

import { lineAt, lineOf } from "../geometry.js";
import { sameContent } from "./strip.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../geometry.js").Geometry} Geometry */

/** The map as last drawn; scrolling moves only the frame on top of it. @type {{of: any[], canvas: HTMLCanvasElement, ink: string}} */
const kept = { of: [], canvas: document.createElement("canvas"), ink: "" };

/**
 * @param {State} state @param {Geometry | null} g @param {Element} element @param {number} first line in view @param {number} last
 * @param {import("./strip.js").Box} box
 */
export function drawMap(state, g, element, first, last, box) {
  const canvas = /** @type {HTMLCanvasElement} */ (element.querySelector("canvas.minimap"));
  const ratio = window.devicePixelRatio || 1;
  const { mapWidth: width, mapHeight: height } = box;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  if (!g || g.lines === 0) return;
  const now = [g.lines, g.shared, g.perBlock, g.base, g.against, state.compare, state.results, state.theme, width, height, ratio, matchMedia("(prefers-color-scheme: dark)").matches];
  if (!now.every((value, i) => value === kept.of[i])) {
    kept.of = now;
    kept.canvas.width = canvas.width;
    kept.canvas.height = canvas.height;
    const own = kept.canvas.getContext("2d");
    if (!own) return;
    own.setTransform(ratio, 0, 0, ratio, 0, 0);
    kept.ink = drawAll(state, g, canvas, own, width, height);
  }
  if (kept.canvas.width && kept.canvas.height) ctx.drawImage(kept.canvas, 0, 0, width, height);
  const scale = Math.min(6, height / g.lines);
  ctx.strokeStyle = kept.ink;
  ctx.lineWidth = 1;
  ctx.strokeRect(0.5, first * scale + 0.5, width - 1, Math.max(6, (last - first) * scale - 1));
}

/** The line that a point of the map stands for. @param {Geometry} g @param {HTMLElement} canvas @param {number} y */
export function mapLine(g, canvas, y) {
  const scale = Math.min(6, canvas.clientHeight / g.lines);
  return Math.max(0, Math.min(g.lines - 1, Math.floor(y / scale)));
}

/** Everything but the frame of the view. @returns {string} the colour of that frame
 * @param {State} state @param {Geometry} g @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
function drawAll(state, g, canvas, ctx, width, height) {
  const css = getComputedStyle(canvas);
  const colour = (/** @type {string} */ name) => css.getPropertyValue(name).trim();
  // Few lines: a line of the map is at most 6 pixels high, so that small requests stay small.
  const scale = Math.min(6, height / g.lines);
  const inner = width - 8;
  const half = g.against ? inner / 2 - 1 : inner;
  const same = sameContent(state);
  const rows = Math.ceil(g.lines * scale);
  for (let y = 0; y < rows; y += Math.max(1, Math.floor(scale))) {
    const line = lineAt(g, Math.min(g.lines - 1, Math.floor((y + 0.5) / scale)));
    const thick = Math.max(1, Math.floor(scale) - (scale >= 3 ? 1 : 0));
    if (line.zone === "part") {
      ctx.fillStyle = colour("--part");
      ctx.fillRect(0, y, width, 1.5);
      continue;
    }
    const left = 4 + (line.request === g.against ? half + 2 : 0);
    const wide = line.zone === "shared" ? inner : line.zone === "rest" && !g.against ? inner : half;
    ctx.fillStyle = colour(line.zone === "shared" ? "--shared" : line.zone === "tail" ? "--line2"
      : line.zone === "pair" ? ((line.request === g.base ? same.base : same.against).has(line.block) ? "--same" : "--part") : "--ink3");
    ctx.globalAlpha = line.zone === "shared" ? 0.75 : line.zone === "tail" ? 0.9 : 0.55;
    ctx.fillRect(left, y, wide, thick);
  }
  ctx.globalAlpha = 0.9;
  ctx.fillStyle = colour("--run");
  for (const id of [g.base, g.against]) {
    if (!id) continue;
    const runs = state.results[id].runs;
    const step = Math.max(1, Math.floor(runs.length / 512));
    for (let i = 0; i < runs.length; i += step) {
      const from = lineOf(g, id, Math.floor(runs[i].offset / g.blockSize));
      const to = lineOf(g, id, Math.floor((runs[i].offset + runs[i].length - 1) / g.blockSize)) + g.perBlock;
      const x = id === g.against ? width - 3 : 0;
      ctx.fillRect(x, from * scale, 3, Math.max(1.5, (to - from) * scale));
    }
  }
  ctx.globalAlpha = 1;
  return colour("--ink");
}
