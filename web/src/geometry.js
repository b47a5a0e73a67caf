// @ts-check
// Where the strip's lines stand: arithmetic only, so that a million slots need no list of lines.
//
// A line is a part of a block that fits the width. With two requests: shared blocks once (they are
// one key), a line that says where the keys part, then the blocks of both in turn, then what is
// left of the longer one, then the tails.

import { hasPieces } from "./store.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Result} Result */

/**
 * @typedef {{kind: "slots" | "head" | "part" | "tail", request: string, block: number, part: number, zone: "shared" | "pair" | "rest" | "tail" | "part"}} Line
 * @typedef {{
 *   base: string, against: string | null, blockSize: number, perLine: number, cell: number, head: number,
 *   perBlock: number, lineHeight: number, twoLines: boolean, tight: boolean, lines: number, shared: number, pairs: number,
 *   rest: number, restOwner: string, parts: number, tails: {request: string, lines: number}[], width: number,
 *   baseBlocks: number, againstBlocks: number,
 * }} Geometry
 */

const MOST = 64;

/**
 * @param {State} state @param {number} width of the scrolling box, in pixels @param {number} unit pixels of 1 rem
 * @returns {Geometry | null}
 */
export function geometry(state, width, unit) {
  // A request with an error has no result; the other of the two is shown alone.
  const base = state.results[state.base] ? state.base : state.against ?? state.base;
  const a = state.results[base];
  if (!a) return null;
  const against = state.against !== null && state.results[state.against] && state.against !== base ? state.against : null;
  const b = against ? state.results[against] : null;
  const compared = against && state.compare?.base === base && state.compare?.against === against ? state.compare : null;
  const narrow = width < 34 * unit;
  const tight = !narrow && width < 50.5 * unit;
  const gutter = (narrow ? 0.25 : 3.9) * unit;
  const keys = narrow ? 0 : (tight ? 4.9 : 6.4) * unit;
  const room = width - gutter - keys - 0.25 * unit;
  const least = (tight ? 2.15 : 2.4) * unit;
  let perLine = MOST;
  while (perLine > 1 && perLine * least > room) perLine /= 2;
  perLine = Math.min(perLine, state.blockSize);
  const cell = Math.min(Math.max(Math.floor(room / perLine), Math.floor(least)), 4.4 * unit);
  const head = narrow ? 1 : 0;
  const perBlock = head + Math.ceil(state.blockSize / perLine);
  const twoLines = state.cells === "text" && hasPieces(state);
  const lineHeight = Math.round((twoLines ? 2.375 : 1.75) * unit);
  const shared = b ? compared?.shared_blocks ?? 0 : 0;
  const pairs = b ? Math.min(a.blocks, b.blocks) - shared : 0;
  const restOwner = b && b.blocks > a.blocks ? /** @type {string} */ (against) : base;
  const rest = b ? Math.abs(a.blocks - b.blocks) : a.blocks;
  const tails = [];
  for (const [request, result] of /** @type {[string, Result | null][]} */ ([[base, a], [against, b]])) {
    if (request && result?.tail) tails.push({ request, lines: head + Math.ceil(result.tail / perLine) });
  }
  const parts = b && compared && (pairs > 0 || rest > 0 || compared.cause !== "none") ? 1 : 0;
  const lines = (shared + pairs * 2 + rest) * perBlock + parts + tails.reduce((sum, t) => sum + t.lines, 0);
  return {
    base, against, blockSize: state.blockSize, perLine, cell, head, perBlock, lineHeight, twoLines, tight, lines, shared,
    pairs, rest, restOwner, parts, tails, width, baseBlocks: a.blocks, againstBlocks: b?.blocks ?? 0,
  };
}

/** What line `n` shows. @param {Geometry} g @param {number} n @returns {Line} */
export function lineAt(g, n) {
  const at = (/** @type {string} */ request, /** @type {number} */ block, /** @type {number} */ part, /** @type {any} */ zone) => (
    /** @type {Line} */ ({ kind: part < g.head ? "head" : "slots", request, block, part: part - g.head, zone }));
  let rest = n;
  if (rest < g.shared * g.perBlock) return at(g.base, Math.floor(rest / g.perBlock), rest % g.perBlock, "shared");
  rest -= g.shared * g.perBlock;
  if (rest < g.parts) return { kind: "part", request: g.base, block: g.shared, part: 0, zone: "part" };
  rest -= g.parts;
  if (rest < g.pairs * 2 * g.perBlock) {
    const row = Math.floor(rest / g.perBlock);
    const request = row % 2 ? /** @type {string} */ (g.against) : g.base;
    return at(request, g.shared + (row >> 1), rest % g.perBlock, "pair");
  }
  rest -= g.pairs * 2 * g.perBlock;
  if (rest < g.rest * g.perBlock) {
    return at(g.restOwner, g.shared + g.pairs + Math.floor(rest / g.perBlock), rest % g.perBlock, "rest");
  }
  rest -= g.rest * g.perBlock;
  for (const tail of g.tails) {
    if (rest < tail.lines) {
      const block = tail.request === g.base ? g.baseBlocks : g.againstBlocks;
      return { kind: rest < g.head ? "head" : "tail", request: tail.request, block, part: rest - g.head, zone: "tail" };
    }
    rest -= tail.lines;
  }
  return { kind: "part", request: g.base, block: g.shared, part: 0, zone: "part" };
}

/** The first line of a block (or of the tail). @param {Geometry} g @param {string} request @param {number} block */
export function lineOf(g, request, block) {
  const blocks = request === g.against ? g.againstBlocks : g.baseBlocks;
  const hashed = (g.shared + g.pairs * 2 + g.rest) * g.perBlock + g.parts;
  if (block >= blocks) {
    return request === g.against && g.tails.length > 1 ? hashed + g.tails[0].lines : hashed;
  }
  if (block < g.shared) return block * g.perBlock;
  const after = g.shared * g.perBlock + g.parts;
  const row = block - g.shared;
  if (row < g.pairs) return after + (row * 2 + (request === g.against ? 1 : 0)) * g.perBlock;
  return after + (g.pairs * 2 + row - g.pairs) * g.perBlock;
}

/** The line that a slot stands on. @param {Geometry} g @param {string} request @param {number} slot */
export function lineOfSlot(g, request, slot) {
  const block = Math.floor(slot / g.blockSize);
  return lineOf(g, request, block) + g.head + Math.floor((slot - block * g.blockSize) / g.perLine);
}

/** Index of the run over a slot, or -1. Runs are sorted. @param {import("./types.js").Run[]} runs @param {number} slot */
export function runAt(runs, slot) {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle].offset + runs[middle].length <= slot) low = middle + 1;
    else high = middle;
  }
  return low < runs.length && runs[low].offset <= slot ? low : -1;
}
