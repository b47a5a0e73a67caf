// @ts-check
// Keeping the page and Python in step: what changed is sent, what follows from it is asked for, one
// thing after another, the most urgent first. What people do is in the classes that extend this one.

import { Client, InputError, Restarted } from "../client.js";
import { lineAt } from "../geometry.js";
import { resultOf } from "../store.js";
import { Tokenizers } from "../tokenize.js";
import { FRAME_PAGE } from "../views/block.js";
import { view } from "../views/strip.js";

/** @typedef {import("../store.js").Store} Store */
/** @typedef {import("../store.js").State} State */
/** @typedef {import("../types.js").Req} Req */
/** @typedef {import("../types.js").Fault} Fault */

const CHUNK = 64;

export class Sync {
  /** @param {Store} store @param {{answers: [string, any, string][]} | null} baked */
  constructor(store, baked) {
    this.store = store;
    this.baked = baked;
    /** The requests as the page was built with them. */
    this.example = new Map(baked ? store.state.requests.map((r) => [r.id, r]) : []);
    this.tokenizers = new Tokenizers(new URL("../tokenizer-worker.js", import.meta.url));
    /** Requests that Python has not heard of in their present form. @type {Set<string>} */
    this.dirty = new Set();
    /** Tokens that Python holds, by request. @type {Map<string, Uint32Array>} */
    this.sent = new Map();
    /** Texts to be read by Python. @type {Map<string, string>} */
    this.unread = new Map();
    /** @type {Map<string, [number, number]>} */
    this.wanted = new Map();
    this.keys = { compare: "", tree: "", block: "" };
    this.findPending = false;
    this.running = false;
    this.nextNotice = 1;
    /** @type {Record<string, number>} */
    this.timers = {};
    bindAll(this);
    this.client = new Client(new URL("../worker.js", import.meta.url), {
      progress: (stage, loaded, total) => store.set({ progress: { stage, loaded, total } }),
      ready: (pyodide) => void this.ready(pyodide),
      failed: (message) => {
        store.set({ status: "failed" });
        this.notice("error", `Python did not start: ${message}.`, { label: "Try again", run: () => this.again() });
      },
      restarted: (why) => {
        this.forgetPython();
        store.set({ status: "loading" });
        this.notice("note", `${why}, so it was started again. Nothing was lost.`);
      },
    });
  }

  get state() { return this.store.state; }

  /** @param {Partial<State>} change */
  set(change) { this.store.set(change); }

  /** Read a text that was given for a request; requests.js does. @param {string} id @param {string} text @returns {Promise<void>} */
  read(id, text) { return Promise.reject(new Error(`nobody reads ${text.length} characters for ${id}`)); }

  /** Write the state into the address bar, soon; address.js does. @param {"push" | "replace"} kind */
  remember(kind) { void kind; }

  /** Draw the strip again: it was scrolled, or rows came. */
  scrolled() { this.store.set({ tick: this.state.tick + 1 }); }

  forgetPython() {
    this.sent.clear();
    this.wanted.clear();
    this.keys = { compare: "", tree: "", block: "" };
    for (const r of this.state.requests) this.dirty.add(r.id);
    this.baked = null;
  }

  again() {
    this.forgetPython();
    this.store.set({ status: "loading", notices: [] });
    this.client.attempts = 0;
    this.client.start();
  }

  /** @param {string} pyodide */
  async ready(pyodide) {
    try {
      const hello = await this.client.call("hello", {});
      if (this.baked) await this.reproduce(this.baked.answers);
      this.store.set({ hello, pyodide });
      await this.pump();
      const selftest = await this.client.call("selftest", {}, null, 60_000);
      this.store.set({ selftest, status: "ready" });
      if (selftest.passed !== selftest.total) {
        this.client.forget();
        this.notice("error", `The self-test failed: ${selftest.passed} of ${selftest.total} known answers are right. Do not trust the hashes shown here.`);
      } else if (this.state.baked !== "differs") this.client.keep();
    } catch (error) {
      if (error instanceof Restarted) return;
      this.client.forget();
      this.store.set({ status: "failed" });
      this.notice("error", `Python stopped: ${/** @type {Error} */ (error).message}`, { label: "Try again", run: () => this.again() });
    }
  }

  /**
   * Ask Python for everything that was baked into the page, and compare the texts. A person may
   * have edited meanwhile: what is asked for is the example as it was, what changed is hashed after.
   * @param {[string, any, string][]} answers
   */
  async reproduce(answers) {
    this.running = true;
    try {
      let equal = true;
      for (const [method, params, text] of answers) {
        const r = method === "put" ? this.example.get(params.id) : undefined;
        const answer = await this.client.call(method, params, r ? r.tokens : null);
        equal &&= answer.raw === text;
        if (r) {
          this.sent.set(r.id, r.tokens);
          this.store.set({ lastMs: answer.ms });
        }
      }
      this.store.set({ baked: equal ? "reproduced" : "differs" });
      if (!equal) {
        this.client.forget();
        this.notice("error", "Python computed other hashes than those that this page was built with. Do not trust either.");
      }
      for (const r of this.state.requests) if (!equal || r !== this.example.get(r.id)) this.dirty.add(r.id);
      this.baked = null;
    } finally {
      this.running = false;
    }
  }

  /** Ask Python, one thing after another, until the page is up to date. */
  async pump() {
    if (this.running) return;
    this.running = true;
    try {
      while (this.client.isReady && await this.next()) { /* again */ }
    } catch (error) {
      if (!(error instanceof Restarted)) {
        this.notice("error", `Something went wrong in Python: ${lastLine(/** @type {Error} */ (error).message)}`);
      }
    } finally {
      this.running = false;
    }
  }

  /** Do the most urgent thing; false if there is none. @returns {Promise<boolean>} */
  async next() {
    const state = this.state;
    for (const [id, text] of this.unread) {
      this.unread.delete(id);
      await this.read(id, text);
      return true;
    }
    const order = [state.sel.request, state.base, state.against, ...this.dirty];
    const id = order.find((x) => x !== null && this.dirty.has(x));
    if (id) {
      this.dirty.delete(id);
      await this.put(id);
      return true;
    }
    for (const [request, [start, stop]] of this.wanted) {
      this.wanted.delete(request);
      const result = state.results[request];
      if (!result) return true;
      const answer = await this.client.call("rows", { id: request, start, stop });
      if (this.state.results[request] === result) {
        if (result.rows.size > 4096) result.rows.clear();
        for (const row of answer.rows) result.rows.set(row.position, row);
        this.scrolled();
      }
      return true;
    }
    return await this.follow();
  }

  /** What is derived from several requests: the chosen block, the comparison, the tree, a search. */
  async follow() {
    const state = this.state;
    const { sel, results } = state;
    const chosen = results[sel.request];
    const blockKey = chosen && sel.block < chosen.blocks ? `${sel.request} ${chosen.epoch} ${sel.block} ${state.frameStart}` : "";
    if (blockKey !== this.keys.block) {
      this.keys.block = blockKey;
      const block = blockKey ? await this.client.call("block", { id: sel.request, position: sel.block, first_slot: state.frameStart, slots: FRAME_PAGE }) : null;
      if (this.keys.block === blockKey) this.store.set({ block });
      return true;
    }
    const a = results[state.base];
    const b = state.against !== null ? results[state.against] : undefined;
    const compareKey = a && b ? `${state.base} ${a.epoch} ${state.against} ${b.epoch}` : "";
    if (compareKey !== this.keys.compare) {
      this.keys.compare = compareKey;
      const compare = compareKey ? await this.client.call("compare", { base: state.base, against: state.against }, null, 60_000) : null;
      if (this.keys.compare === compareKey) this.store.set({ compare });
      return true;
    }
    if (this.findPending) {
      this.findPending = false;
      const text = state.find.text;
      try {
        const answer = await this.client.call("find", { text, ids: state.requests.map((r) => r.id).filter((x) => results[x]) }, null, 60_000);
        this.store.set({ find: { ...this.state.find, answer, fault: null, busy: false } });
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        this.store.set({ find: { ...this.state.find, answer: null, fault: error.fault, busy: false } });
      }
      return true;
    }
    const ids = state.requests.map((r) => r.id).filter((x) => results[x]);
    const treeKey = ids.map((x) => `${x} ${results[x].epoch}`).join();
    if (treeKey !== this.keys.tree) {
      this.keys.tree = treeKey;
      const tree = ids.length ? await this.client.call("tree", { ids }, null, 60_000) : null;
      if (this.keys.tree === treeKey) this.store.set({ tree });
      return true;
    }
    return false;
  }

  /** @param {string} id */
  async put(id) {
    const r = this.store.request(id);
    if (!r || (r.fault && r.fault.kind === "unread")) return;
    const rev = r.rev;
    const known = this.sent.get(id) === r.tokens;
    try {
      const answer = await this.client.call("put", {
        id, lora_name: r.lora || null, salt: r.salt || null, mm_info: r.runs, contract: this.state.contract,
        block_size: this.state.blockSize, window: this.windowOf(id),
      }, known ? null : r.tokens);
      this.sent.set(id, r.tokens);
      if (this.store.request(id)?.rev !== rev) return;
      const result = resultOf(id, answer, r.tokens, this.state.results[id]);
      this.store.set({ results: { ...this.state.results, [id]: result }, lastMs: answer.ms });
      this.store.setRequest(id, { fault: null });
      this.clampSelection();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const results = { ...this.state.results };
      delete results[id];
      this.store.set({ results });
      this.store.setRequest(id, { fault: error.fault });
    }
  }

  /** The blocks of a request that are in view, so that their rows come with the first answer. @param {string} id @returns {[number, number]} */
  windowOf(id) {
    const { g, scroller } = view;
    if (!g || !scroller || (id !== g.base && id !== g.against)) return [0, CHUNK];
    const top = Math.floor(scroller.scrollTop / g.lineHeight);
    const at = g.lines ? lineAt(g, Math.min(top, g.lines - 1)).block : 0;
    const first = Math.max(0, at - 8);
    return [first, first + CHUNK];
  }

  /** @param {string} id @param {number} start @param {number} stop */
  wantRows(id, start, stop) {
    const result = this.state.results[id];
    if (!result || this.dirty.has(id)) return;
    const end = Math.min(stop, result.blocks);
    let missing = false;
    for (let p = start; p < end && !missing; p += 1) missing = !result.rows.has(p);
    if (!missing) return;
    this.wanted.set(id, [Math.max(0, start - 16), Math.min(result.blocks, end + 16)]);
    void this.pump();
  }

  /** Hash again what changed, soon. @param {string | null} id null: all @param {Partial<Req>} [change] */
  changed(id, change = {}) {
    if (id === null) {
      for (const r of this.state.requests) this.touch(r.id, {});
    } else this.touch(id, change);
    this.remember("push");
    void this.pump();
  }

  /** @param {string} id @param {Partial<Req>} change */
  touch(id, change) {
    const r = this.store.request(id);
    if (!r) return;
    this.store.setRequest(id, { rev: r.rev + 1, ...change });
    this.dirty.add(id);
  }

  clampSelection() {
    const { sel, results, blockSize } = this.state;
    const result = results[sel.request];
    if (!result) return;
    const slot = Math.min(sel.slot, Math.max(0, result.tokens - 1));
    const block = Math.floor(slot / blockSize);
    if (slot !== sel.slot || block !== sel.block) this.store.set({ sel: { ...sel, slot, block } });
  }

  /** @param {"error" | "note"} tone @param {string} text @param {{label: string, run: () => void}} [action] */
  notice(tone, text, action) {
    const same = this.state.notices.filter((n) => n.text !== text);
    this.store.set({ notices: [...same.slice(-3), { id: this.nextNotice++, tone, text, action }] });
  }

  /** @param {number} id */
  dismiss(id) { this.store.set({ notices: this.state.notices.filter((n) => n.id !== id) }); }

  /** @param {number} slot @param {number} size */
  frameStartFor(slot, size) { return Math.floor((slot % size) / FRAME_PAGE) * FRAME_PAGE; }

  /** Run something once the calls for it stop. @param {string} name @param {number} ms @param {() => void} run */
  later(name, ms, run) {
    clearTimeout(this.timers[name]);
    this.timers[name] = window.setTimeout(() => {
      delete this.timers[name];
      run();
    }, ms);
  }
}

/** Let every method be handed on as it is. @param {any} object */
function bindAll(object) {
  for (let kind = Object.getPrototypeOf(object); kind !== Object.prototype; kind = Object.getPrototypeOf(kind)) {
    for (const [name, found] of Object.entries(Object.getOwnPropertyDescriptors(kind))) {
      if (name !== "constructor" && typeof found.value === "function" && !Object.hasOwn(object, name)) object[name] = found.value.bind(object);
    }
  }
}

/** @param {string} text a Python traceback */
function lastLine(text) {
  return text.trim().split("\n").pop() ?? text;
}
