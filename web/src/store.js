// @ts-check
// The page's state, in one object; views read it, the controller changes it.

/** @typedef {import("./types.js").Req} Req */
/** @typedef {import("./types.js").Result} Result */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Block} Block */
/** @typedef {import("./types.js").Fault} Fault */
/** @typedef {import("./types.js").Selection} Selection */

/**
 * @typedef {{id: number, tone: "error" | "note", text: string, action?: {label: string, run: () => void}}} Notice
 * @typedef {{
 *   status: "loading" | "ready" | "failed",
 *   progress: {stage: string, loaded: number, total: number},
 *   baked: "shown" | "reproduced" | "differs" | "gone",
 *   notices: Notice[],
 *   contract: string, blockSize: number, blockSizeText: string, blockSizeFault: string,
 *   notation: import("./format.js").Notation,
 *   theme: "auto" | "light" | "dark", singleKeys: boolean,
 *   requests: Req[], results: Record<string, Result>, pieces: Record<string, Map<number, string>>, tokenizers: string[],
 *   base: string, against: string | null, cells: "text" | "ids", sel: Selection, editing: {text: string, fault: string} | null,
 *   block: Block | null, frameStart: number,
 *   compare: any, tree: any,
 *   find: {text: string, answer: any, fault: Fault | null, busy: boolean},
 *   hello: any, pyodide: string, selftest: {passed: number, total: number} | null, lastMs: number | null,
 *   tick: number, dialog: null | "help" | "export" | "share", share: {url: string, size: number, copied: boolean} | null,
 * }} State
 */

/** @param {string} id @param {Partial<Req>} [given] @returns {Req} */
export function newRequest(id, given = {}) {
  return {
    id, tokens: new Uint32Array(0), mode: "ids", text: "", prose: "", tokenizer: "llama3", salt: "", lora: "",
    runs: [], rev: 1, fault: null, busy: null, vocab: null, ...given,
  };
}

let epochs = 0;

/** @param {string} id @param {any} answer of bridge.put @param {Uint32Array} tokens @param {Result} [old] @returns {Result} */
export function resultOf(id, answer, tokens, old) {
  /** @type {Map<number, Row>} */
  const rows = new Map();
  if (old) for (const [position, row] of old.rows) if (position < answer.kept) rows.set(position, row);
  for (const row of answer.rows) rows.set(row.position, row);
  return {
    tokens: answer.tokens, blocks: answer.blocks, tail: answer.tail, salt_hash: answer.salt_hash,
    runs: answer.mm_info, rows, tokensArray: tokens, epoch: (epochs += 1),
  };
}

export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {((state: State) => void)[]} */
    this.listeners = [];
    this.scheduled = false;
  }

  /** Change some of the state; the views are drawn in the next frame. @param {Partial<State>} change */
  set(change) {
    Object.assign(this.state, change);
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.draw());
    // A tab in the background has no frames, but its state must still reach the page.
    setTimeout(() => this.draw(), 100);
  }

  /** Draw what has changed now, for those who need the new elements at once. */
  draw() {
    if (!this.scheduled) return;
    this.scheduled = false;
    for (const listener of this.listeners) listener(this.state);
  }

  /** @param {string} id @param {Partial<Req>} change */
  setRequest(id, change) {
    this.set({ requests: this.state.requests.map((r) => (r.id === id ? { ...r, ...change } : r)) });
  }

  /** @param {string} id @returns {Req | undefined} */
  request(id) {
    return this.state.requests.find((r) => r.id === id);
  }
}

/** The text of a token, where the request's tokenizer is known. @param {State} state @param {string} request @param {number} token */
export function pieceOf(state, request, token) {
  const vocab = state.requests.find((r) => r.id === request)?.vocab;
  return vocab ? state.pieces[vocab]?.get(token) : undefined;
}

/** Whether a request shown in the strip has token texts. @param {State} state */
export function hasPieces(state) {
  return state.requests.some((r) => (r.id === state.base || r.id === state.against) && r.vocab !== null && (state.pieces[r.vocab]?.size ?? 0) > 0);
}
