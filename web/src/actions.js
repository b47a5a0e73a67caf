// @ts-check
// What a person can do, and what follows from it: the only module that changes the state, calls
// Python and writes the address bar. Views get one of these and call it.

import { first } from "./boot.js";
import { Client, InputError, Restarted } from "./client.js";
import { download, picture, textFile } from "./files.js";
import { NOTATIONS } from "./format.js";
import { lineAt, runAt } from "./geometry.js";
import * as link from "./link.js";
import { hasPieces, newRequest, pieceOf, resultOf } from "./store.js";
import { Tokenizers } from "./tokenize.js";
import { mapLine } from "./views/minimap.js";
import { FRAME_PAGE } from "./views/block.js";
import { TEXT_LIMIT } from "./views/requests.js";
import { lineForSlot, reveal, scrollToPixel, view } from "./views/strip.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Req} Req */
/** @typedef {import("./types.js").Fault} Fault */

/** A text longer than this goes past the text box, straight to Python. */
const BIG_TEXT = 64 * 1024;
/** 1 M tokens of ten digits, two separators each, and room for the rest of a request. */
const MOST_TEXT = 16 * 1024 * 1024;
const CHUNK = 64;
const IDS = "ABCDEFGH";

/** @param {Uint32Array} tokens */
const idsText = (tokens) => (tokens.length > TEXT_LIMIT ? null : tokens.join(", "));

/** @param {string} message @param {string} [field] @returns {Fault} */
const faultOf = (message, field = "tokens") => ({ message, kind: "page", field, index: null, value: "", expected: "" });

export class Actions {
  /** @param {Store} store @param {{answers: [string, any, string][]} | null} baked */
  constructor(store, baked) {
    this.store = store;
    this.baked = baked;
    /** The requests as the page was built with them. */
    this.example = new Map(baked ? store.state.requests.map((r) => [r.id, r]) : []);
    this.tokenizers = new Tokenizers(new URL("tokenizer-worker.js", import.meta.url));
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
    this.history = 0;
    /** @type {"push" | "replace" | null} */
    this.historyKind = null;
    this.lastPush = 0;
    this.saidTooBig = false;
    /** @type {Record<string, number>} */
    this.timers = {};
    for (const name of Object.getOwnPropertyNames(Actions.prototype)) {
      const own = /** @type {any} */ (this)[name];
      if (name !== "constructor" && typeof own === "function") /** @type {any} */ (this)[name] = own.bind(this);
    }
    this.client = new Client(new URL("worker.js", import.meta.url), {
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
    }, first);
  }

  get state() { return this.store.state; }

  /** @param {Partial<State>} change */
  set(change) { this.store.set(change); }

  // ---- Python

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
        this.notice("error", `The self-test failed: ${selftest.passed} of ${selftest.total} known answers are right. Do not trust the hashes shown here.`);
      }
    } catch (error) {
      if (error instanceof Restarted) return;
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
      if (!equal) this.notice("error", "Python computed other hashes than those that this page was built with. Do not trust either.");
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

  // ---- Notices

  /** @param {"error" | "note"} tone @param {string} text @param {{label: string, run: () => void}} [action] */
  notice(tone, text, action) {
    const same = this.state.notices.filter((n) => n.text !== text);
    this.store.set({ notices: [...same.slice(-3), { id: this.nextNotice++, tone, text, action }] });
  }

  /** @param {number} id */
  dismiss(id) { this.store.set({ notices: this.state.notices.filter((n) => n.id !== id) }); }

  // ---- The top bar

  /** @param {string} contract */
  setContract(contract) {
    this.store.set({ contract });
    this.changed(null);
  }

  /** @param {string} text */
  setBlockSize(text) {
    const size = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : NaN;
    if (!(size >= 1 && size < 2 ** 32)) {
      this.store.set({ blockSizeText: text, blockSizeFault: `⚠ “${text.slice(0, 20)}” is not a block size: 1 to 4294967295 slots. Still ${this.state.blockSize}.` });
      return;
    }
    this.store.set({ blockSizeText: text, blockSizeFault: "" });
    if (size === this.state.blockSize) return;
    const block = Math.floor(this.state.sel.slot / size);
    this.store.set({ blockSize: size, results: {}, compare: null, frameStart: this.frameStartFor(this.state.sel.slot, size), sel: { ...this.state.sel, block } });
    this.changed(null);
  }

  /** @param {import("./format.js").Notation} notation */
  setNotation(notation) {
    this.store.set({ notation });
    this.remember("replace");
  }

  nextNotation() {
    this.setNotation(NOTATIONS[(NOTATIONS.indexOf(this.state.notation) + 1) % NOTATIONS.length]);
  }

  nextTheme() {
    const theme = /** @type {const} */ ({ auto: "light", light: "dark", dark: "auto" })[this.state.theme];
    this.store.set({ theme });
    try { localStorage.setItem("kvhash-theme", theme); } catch { /* private windows may refuse */ }
  }

  /** @param {State["dialog"]} dialog */
  open(dialog) { this.store.set({ dialog }); }

  close() { this.store.set({ dialog: null }); }

  // ---- Requests

  /** @param {string} id */
  selectRequest(id) {
    const { base, against, sel } = this.state;
    const change = id === base || id === against ? {} : { against: id };
    this.store.set({ ...change, sel: { ...sel, request: id }, editing: null });
    this.clampSelection();
    this.remember("replace");
    void this.pump();
  }

  /** Arrow keys among the cards. @param {KeyboardEvent} event */
  tabKey(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const ids = this.state.requests.map((r) => r.id);
    const id = ids[(ids.indexOf(this.state.sel.request) + by + ids.length) % ids.length];
    this.selectRequest(id);
    document.getElementById(`tab-${id}`)?.focus();
  }

  /** @param {string} [copyOf] @param {Partial<Req>} [given] @returns {string | null} the new letter */
  addRequest(copyOf, given = {}) {
    const used = new Set(this.state.requests.map((r) => r.id));
    const id = [...IDS].find((x) => !used.has(x));
    if (!id) {
      this.notice("note", "There is room for eight requests, A to H.");
      return null;
    }
    const from = copyOf ? this.store.request(copyOf) : undefined;
    const r = newRequest(id, { ...(from ?? {}), id, rev: 1, fault: null, busy: null, ...given });
    const requests = [...this.state.requests, r].sort((a, b) => a.id.localeCompare(b.id));
    const base = this.state.base;
    this.store.set({ requests, against: id === base ? this.state.against : id, sel: { ...this.state.sel, request: id }, editing: null });
    this.dirty.add(id);
    this.clampSelection();
    this.remember("push");
    void this.pump();
    return id;
  }

  /** @param {string} id */
  removeRequest(id) {
    const requests = this.state.requests.filter((r) => r.id !== id);
    if (!requests.length) return;
    const results = { ...this.state.results };
    delete results[id];
    const left = requests.map((r) => r.id);
    const base = id === this.state.base ? left[0] : this.state.base;
    const against = this.state.against !== null && left.includes(this.state.against) && this.state.against !== base ? this.state.against : left.find((x) => x !== base) ?? null;
    this.dirty.delete(id);
    this.unread.delete(id);
    this.sent.delete(id);
    this.store.set({ requests, results, base, against, sel: { ...this.state.sel, request: id === this.state.sel.request ? base : this.state.sel.request } });
    if (this.client.isReady) this.client.call("drop", { id }).catch(() => {});
    this.clampSelection();
    this.remember("push");
    void this.pump();
  }

  /** @param {string} id @param {"ids" | "text"} mode */
  setMode(id, mode) {
    const r = this.store.request(id);
    if (!r) return;
    this.store.setRequest(id, { mode, text: mode === "ids" && !r.fault ? idsText(r.tokens) : r.text });
  }

  /** @param {string} id @param {"salt" | "lora"} name @param {string} text */
  setName(id, name, text) { this.changed(id, { [name]: text }); }

  /** @param {string} id @param {number} i @param {"mm_hash" | "offset" | "length"} key @param {string} text */
  setRun(id, i, key, text) {
    const r = this.store.request(id);
    if (r) this.changed(id, { runs: r.runs.map((run, j) => (j === i ? { ...run, [key]: text } : run)) });
  }

  /** @param {string} id */
  addRun(id) {
    const r = this.store.request(id);
    if (!r) return;
    const end = r.runs.reduce((most, run) => Math.max(most, (Number(run.offset) || 0) + (Number(run.length) || 0)), 0);
    const offset = Math.min(end, Math.max(0, r.tokens.length - 1));
    this.changed(id, { runs: [...r.runs, { mm_hash: "0x1", offset: String(offset), length: String(Math.max(1, Math.min(4, r.tokens.length - offset))) }] });
  }

  /** @param {string} id @param {number} i */
  removeRun(id, i) {
    const r = this.store.request(id);
    if (r) this.changed(id, { runs: r.runs.filter((_, j) => j !== i) });
  }

  /** The token ids were typed. @param {string} id @param {string} text */
  setText(id, text) {
    const r = this.store.request(id);
    if (!r) return;
    if (r.text !== null) this.store.setRequest(id, { text });
    else if (!text.trim()) return;
    this.later("text-" + id, text.length > 4000 ? 200 : 60, () => this.unreadText(id, text));
  }

  /** @param {string} id @param {string} text */
  unreadText(id, text) {
    if (text.length > MOST_TEXT) {
      this.refuse(id, `The text has ${(text.length / 1e6).toFixed(0)} million characters. This page takes at most 1 000 000 tokens, about 16 million characters. The request is as it was.`);
      return;
    }
    this.unread.set(id, text);
    if (this.state.status === "loading") this.store.setRequest(id, { busy: "waiting for Python …" });
    void this.pump();
  }

  /** Say why an input was not taken, and keep what was there. @param {string} id @param {string} message */
  refuse(id, message) {
    this.store.setRequest(id, { busy: null });
    this.notice("error", `${id}: ${message}`);
  }

  /** A paste too long for a text box goes past it. @param {string} id @param {ClipboardEvent} event */
  paste(id, event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const box = /** @type {HTMLTextAreaElement} */ (event.target);
    const r = this.store.request(id);
    if (!r || text.length <= BIG_TEXT) return;
    event.preventDefault();
    const all = r.text === null || box.selectionEnd - box.selectionStart >= box.value.trim().length;
    if (r.mode === "text") {
      if (text.length > MOST_TEXT / 4) this.refuse(id, "The text is longer than this page tokenizes (4 MB). The request is as it was.");
      else this.setProse(id, all ? text : box.value.slice(0, box.selectionStart) + text + box.value.slice(box.selectionEnd));
      return;
    }
    const whole = all ? text : box.value.slice(0, box.selectionStart) + text + box.value.slice(box.selectionEnd);
    this.store.setRequest(id, { busy: `reading ${(whole.length / 1e6).toFixed(1)} MB …` });
    this.unreadText(id, whole);
  }

  /** Python reads a text: ids, a request, or several. @param {string} id @param {string} text */
  async read(id, text) {
    const r = this.store.request(id);
    if (!r) return;
    let answer;
    try {
      answer = await this.client.call("parse", { text }, null, 60_000);
    } catch (error) {
      if (!(error instanceof InputError)) {
        this.unread.set(id, text);
        throw error;
      }
      if (this.unread.has(id)) return;
      if (r.text === null || text.length > BIG_TEXT) {
        // Nothing of it is on the page, so what was there stays.
        this.refuse(id, error.fault.message + ". The request is as it was.");
        return;
      }
      const results = { ...this.state.results };
      delete results[id];
      this.store.set({ results });
      this.store.setRequest(id, { fault: { ...error.fault, kind: "unread" }, busy: null, rev: r.rev + 1 });
      return;
    }
    if (this.unread.has(id)) return; // a newer text is waiting
    this.take(id, answer, text);
  }

  /** @param {string} id @param {any} answer of bridge.parse @param {string} text */
  take(id, answer, text) {
    const packed = new Uint32Array(answer.bytes ?? new ArrayBuffer(0));
    let at = 0;
    /** @type {string | null} */
    let target = id;
    answer.requests.forEach((/** @type {any} */ one, /** @type {number} */ i) => {
      const tokens = packed.slice(at, at + one.count);
      at += one.count;
      const whole = one.given.length > 1 || one.contract !== undefined;
      /** @type {Partial<Req>} */
      const change = { tokens, busy: null, fault: null, vocab: null, prose: "", mode: "ids", text: whole || text.length > BIG_TEXT ? idsText(tokens) : this.store.request(id)?.text ?? idsText(tokens) };
      if (tokens.length > TEXT_LIMIT) change.text = null;
      if (whole) {
        Object.assign(change, { salt: one.salt, lora: one.lora_name, runs: one.mm_info });
        this.adopt(one);
      }
      const before = i === 0 ? this.store.request(id) : undefined;
      if (before && !whole && akin(before.tokens, tokens)) change.vocab = before.vocab;
      if (before && !whole && sameTokens(before.tokens, tokens)) Object.assign(change, { tokens: before.tokens, prose: before.prose });
      if (i === 0) this.changed(id, change);
      else if (target) target = this.addRequest(undefined, { ...change, text: idsText(tokens) });
    });
  }

  /** A request's own contract and block size become the page's, and the page says so. @param {any} one */
  adopt(one) {
    const { contract, blockSize } = this.state;
    /** @type {string[]} */
    const said = [];
    if (one.given.includes("contract") && one.contract !== contract) {
      said.push(`contract ${one.contract}`);
      this.setContract(one.contract);
    }
    if (one.block_size && one.block_size !== blockSize) {
      said.push(`block size ${one.block_size}`);
      this.setBlockSize(String(one.block_size));
    }
    if (said.length) {
      this.notice("note", `The request asks for ${said.join(" and ")}, so the page changed to it.`, {
        label: "Change back", run: () => { this.setContract(contract); this.setBlockSize(String(blockSize)); },
      });
    }
  }

  /** @param {string} id */
  showFault(id) {
    const fault = this.store.request(id)?.fault;
    const box = /** @type {HTMLTextAreaElement | null} */ (document.querySelector("textarea.ids"));
    if (!box || fault?.start === undefined) return;
    box.focus();
    box.setSelectionRange(fault.start, fault.stop ?? fault.start + 1);
    box.scrollTop = (fault.start / Math.max(1, box.value.length)) * box.scrollHeight - box.clientHeight / 2;
  }

  /** @param {string} id @param {string} prose */
  setProse(id, prose) {
    if (prose.length > MOST_TEXT / 4) {
      this.refuse(id, "The text is longer than this page tokenizes (4 MB). The request is as it was.");
      return;
    }
    this.store.setRequest(id, { prose });
    this.later("prose-" + id, 150, () => void this.tokenize(id));
  }

  /** @param {string} id @param {string} name */
  setTokenizer(id, name) {
    this.store.setRequest(id, { tokenizer: name });
    void this.tokenize(id);
  }

  /** @param {string} id */
  async tokenize(id) {
    const r = this.store.request(id);
    if (!r) return;
    const { prose, tokenizer } = r;
    const busy = setTimeout(() => this.store.setRequest(id, { busy: "loading the tokenizer …" }), 150);
    try {
      const { tokens, pieces } = await this.tokenizers.ask({ name: tokenizer, text: prose });
      const map = this.state.pieces[tokenizer] ?? new Map();
      for (const [token, piece] of pieces) map.set(token, piece);
      this.store.set({ pieces: { ...this.state.pieces, [tokenizer]: map } });
      const now = this.store.request(id);
      if (now?.prose === prose && now.tokenizer === tokenizer) {
        this.changed(id, { tokens, text: idsText(tokens), vocab: tokenizer, fault: null });
      }
    } catch (error) {
      this.store.setRequest(id, { fault: faultOf(`The text was not tokenized: ${/** @type {Error} */ (error).message}`) });
    } finally {
      clearTimeout(busy);
      this.store.setRequest(id, { busy: null });
    }
  }

  /** @param {FileList | File[]} files @param {HTMLInputElement} [input] */
  async openFiles(files, input) {
    for (const file of [...files]) await this.openFile(file);
    if (input) input.value = "";
  }

  /** @param {File} file */
  async openFile(file) {
    const id = this.state.sel.request;
    const head = await file.slice(0, 4096).text();
    if (/tokenizer.*\.json$/i.test(file.name) || /"added_tokens"|"truncation"\s*:/.test(head)) {
      await this.openTokenizer(id, file);
      return;
    }
    if (file.size > MOST_TEXT) {
      this.refuse(id, `${file.name} has ${(file.size / 1e6).toFixed(0)} MB. This page takes at most 1 000 000 tokens, about 16 MB. The request is as it was.`);
      return;
    }
    const text = await file.text();
    if (/^\s*\{\s*"v"\s*:/.test(head)) {
      try {
        this.apply(link.checked(JSON.parse(text)));
        this.remember("push");
      } catch (error) {
        this.notice("error", `${file.name} was not opened: ${/** @type {Error} */ (error).message}. Nothing was changed.`);
      }
      return;
    }
    this.store.setRequest(id, { busy: `reading ${file.name} …`, mode: "ids" });
    const r = this.store.request(id);
    if (r && r.text !== null && text.length <= BIG_TEXT) this.store.setRequest(id, { text });
    this.unreadText(id, text);
  }

  /** @param {string} id @param {File} file */
  async openTokenizer(id, file) {
    this.store.setRequest(id, { busy: `reading ${file.name} …` });
    const taken = this.state.tokenizers;
    let name = file.name;
    for (let i = 2; taken.includes(name); i += 1) name = `${file.name} (${i})`;
    try {
      await this.tokenizers.ask({ name, file });
      this.store.set({ tokenizers: [...taken, name] });
      this.store.setRequest(id, { tokenizer: name, mode: "text" });
      const r = this.store.request(id);
      if (r?.prose) await this.tokenize(id);
    } catch (error) {
      this.notice("error", `This tokenizer was not taken: ${/** @type {Error} */ (error).message}. Nothing was changed.`);
    } finally {
      this.store.setRequest(id, { busy: null });
    }
  }

  // ---- The pair and the selection

  /** @param {string} base @param {string | null} against */
  setPair(base, against) {
    const other = against === base ? this.state.requests.map((r) => r.id).find((x) => x !== base) ?? null : against;
    const request = this.state.sel.request === base || this.state.sel.request === other ? this.state.sel.request : base;
    this.store.set({ base, against: other, sel: { ...this.state.sel, request } });
    this.clampSelection();
    this.remember("replace");
    void this.pump();
  }

  /** @param {number} slot @param {number} size */
  frameStartFor(slot, size) { return Math.floor((slot % size) / FRAME_PAGE) * FRAME_PAGE; }

  /** @param {string} request @param {number} slot @param {boolean} [centre] */
  selectSlot(request, slot, centre = false) {
    const result = this.state.results[request];
    const tokens = result?.tokens ?? this.store.request(request)?.tokens.length ?? 0;
    const at = Math.max(0, Math.min(slot, tokens - 1));
    const size = this.state.blockSize;
    const { base, against } = this.state;
    const pair = request === base || request === against ? {} : { against: request };
    this.store.set({ ...pair, sel: { ...this.state.sel, request, slot: at, block: Math.floor(at / size) }, frameStart: this.frameStartFor(at, size), editing: null });
    requestAnimationFrame(() => reveal(lineForSlot(request, at), centre));
    this.remember("replace");
    void this.pump();
  }

  /** @param {string} request @param {number} block */
  selectBlock(request, block) { this.selectSlot(request, block * this.state.blockSize, true); }

  /** @param {string} field */
  selectField(field) { this.store.set({ sel: { ...this.state.sel, field: this.state.sel.field === field ? "" : field } }); }

  /** @param {number} by blocks */
  step(by) {
    const { sel, results } = this.state;
    const blocks = results[sel.request]?.blocks ?? 0;
    this.selectSlot(sel.request, Math.max(0, Math.min(blocks - 1, sel.block + by)) * this.state.blockSize);
  }

  /** @param {number} start */
  frames(start) {
    this.store.set({ frameStart: Math.max(0, start) });
    void this.pump();
  }

  toDifference() {
    const c = this.state.compare;
    if (!c || c.position === null) return;
    const size = this.state.blockSize;
    const { base, against, results } = this.state;
    const longer = c.position < (results[base]?.blocks ?? 0) ? base : /** @type {string} */ (against);
    const index = longer === base ? c.token_index : c.causes[0]?.token_index_b ?? c.token_index;
    const slot = index ?? c.position * size;
    this.selectSlot(longer, Math.floor(slot / size) === c.position ? slot : c.position * size, true);
  }

  /** @param {string} id @param {number} position @param {string} field */
  goTo(id, position, field) {
    this.selectBlock(id, position);
    this.store.set({ sel: { ...this.state.sel, field } });
    document.getElementById("strip")?.scrollIntoView({ block: "nearest" });
  }

  // ---- The strip

  /** Draw the strip again: it was scrolled, or rows came. */
  scrolled() { this.store.set({ tick: this.state.tick + 1 }); }

  resized() {
    view.unit = 0;
    this.scrolled();
  }

  /** The slot of an element of the grid. @param {Element} target @returns {{request: string, slot: number, cell: HTMLElement} | null} */
  slotAt(target) {
    const cell = /** @type {HTMLElement | null} */ (target.closest(".slot, .key"));
    const line = /** @type {HTMLElement | null} */ (target.closest(".line"));
    if (!cell || !line || cell.classList.contains("pending")) return null;
    const slot = Number(cell.dataset.slot ?? cell.dataset.testid?.split("-")[2]);
    return { request: line.dataset.request ?? this.state.base, slot, cell };
  }

  /** Say what is under the pointer; a title on each of a thousand cells would cost more. @param {Element} target */
  gridHover(target) {
    const found = this.slotAt(target);
    const result = found && this.state.results[found.request];
    if (!found || !result || found.cell.classList.contains("key")) return;
    const { request, slot, cell } = found;
    const run = result.runs[runAt(result.runs, slot)];
    const token = result.tokensArray[slot];
    const piece = pieceOf(this.state, request, token);
    cell.title = run ? `slot ${slot}: placeholder ${slot - run.offset} of ${run.length}, ${run.mm_hash}`
      : `slot ${slot}: token ${token}${piece !== undefined ? ` ${JSON.stringify(piece)}` : ""}`;
  }

  /** @param {Element} target @param {boolean} [twice] */
  gridClick(target, twice = false) {
    const found = target.closest("input") ? null : this.slotAt(target);
    if (!found) return;
    this.selectSlot(found.request, found.slot);
    if (twice && !found.cell.classList.contains("ph")) this.edit();
  }

  /** @param {KeyboardEvent} event */
  gridKey(event) {
    const { g } = view;
    if (!g) return;
    const { sel, editing } = this.state;
    if (editing) {
      const box = /** @type {HTMLInputElement} */ (event.target);
      if (event.key === "Enter") this.commit(box.value);
      else if (event.key === "Escape") this.stopEditing();
      else return;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (!event.ctrlKey || (event.key !== "Home" && event.key !== "End")) return;
    }
    const tokens = this.state.results[sel.request]?.tokens ?? 0;
    const start = sel.block * g.blockSize;
    const page = Math.max(1, Math.floor((view.scroller?.clientHeight ?? 0) / g.lineHeight / g.perBlock) - 1) * g.blockSize;
    /** @type {Record<string, () => number>} */
    const moves = {
      ArrowRight: () => sel.slot + 1,
      ArrowLeft: () => sel.slot - 1,
      ArrowDown: () => sel.slot + Math.min(g.perLine, g.blockSize),
      ArrowUp: () => sel.slot - Math.min(g.perLine, g.blockSize),
      PageDown: () => sel.slot + page,
      PageUp: () => sel.slot - page,
      Home: () => (event.ctrlKey ? 0 : start),
      End: () => (event.ctrlKey ? tokens - 1 : Math.min(tokens, start + g.blockSize) - 1),
    };
    if (event.key in moves) {
      const to = moves[event.key]();
      if (to >= 0 || event.key.startsWith("Page")) this.selectSlot(sel.request, to);
    } else if (event.key === "Enter" || event.key === "F2") this.edit();
    else return;
    event.preventDefault();
  }

  /** Edit the chosen slot's token where it stands. */
  edit() {
    const { sel } = this.state;
    const r = this.store.request(sel.request);
    if (!r || sel.slot >= r.tokens.length || r.fault) return;
    this.store.set({ editing: { text: String(r.tokens[sel.slot]), fault: "" } });
    reveal(lineForSlot(sel.request, sel.slot));
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const box = /** @type {HTMLInputElement | null} */ (document.querySelector(".slot input.edit"));
      box?.focus();
      box?.select();
      if (box) box.onblur = () => { if (this.state.editing) this.stopEditing(); };
    }));
  }

  stopEditing() {
    this.store.set({ editing: null });
    view.scroller?.focus({ preventScroll: true });
  }

  /** @param {string} text */
  commit(text) {
    const { sel } = this.state;
    const r = this.store.request(sel.request);
    if (!r) return;
    const token = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : NaN;
    if (!(token >= 0 && token < 2 ** 32)) {
      this.store.set({ editing: { text, fault: "a token: an integer, 0 to 4294967295" } });
      this.notice("error", `Slot ${sel.slot} of ${r.id}: “${text.slice(0, 20)}” is not a token, an integer from 0 to 4294967295. It stays ${r.tokens[sel.slot]}.`);
      return;
    }
    const tokens = r.tokens.slice();
    tokens[sel.slot] = token;
    this.stopEditing();
    this.changed(r.id, { tokens, text: idsText(tokens), prose: "", mode: "ids" });
  }

  /** @param {PointerEvent} event */
  mapPointer(event) {
    const { g, scroller } = view;
    if (!g || !scroller || !(event.buttons & 1)) return;
    const canvas = /** @type {HTMLCanvasElement} */ (event.currentTarget);
    if (event.type === "pointerdown") canvas.setPointerCapture(event.pointerId);
    const line = mapLine(g, canvas, event.clientY - canvas.getBoundingClientRect().top);
    scrollToPixel(line * g.lineHeight - scroller.clientHeight / 2);
  }

  // ---- Find

  /** @param {string} text */
  setFind(text) { this.store.set({ find: { text, answer: null, fault: null, busy: false } }); }

  find() {
    if (!this.state.find.text.trim()) return;
    this.findPending = true;
    this.store.set({ find: { ...this.state.find, busy: true } });
    void this.pump();
  }

  // ---- State as text

  /** @returns {link.Packed} */
  packed() {
    const s = this.state;
    return {
      v: link.VERSION, c: s.contract, b: s.blockSize, n: s.notation, a: s.base, o: s.against, d: s.cells,
      s: [s.sel.request, s.sel.block, s.sel.slot],
      r: s.requests.map((r) => ({
        i: r.id, t: link.packTokens(r.tokens), ...(r.salt && { s: r.salt }), ...(r.lora && { l: r.lora }),
        ...(r.runs.length && { m: r.runs.map((run) => /** @type {[string, string, string]} */ ([run.mm_hash, run.offset, run.length])) }),
        ...(r.prose && { p: r.prose }), ...(r.vocab && { k: r.vocab }),
      })),
    };
  }

  /** Make the page show a state. @param {link.Packed} packed */
  apply(packed) {
    const requests = packed.r.map((r) => {
      const tokens = link.unpackTokens(r.t);
      return newRequest(r.i, {
        tokens, text: idsText(tokens), salt: r.s ?? "", lora: r.l ?? "", prose: r.p ?? "", vocab: r.k ?? null,
        mode: r.p ? "text" : "ids", tokenizer: r.k && this.state.tokenizers.includes(r.k) ? r.k : "llama3",
        runs: (r.m ?? []).map(([mm_hash, offset, length]) => ({ mm_hash, offset, length })),
      });
    });
    const ids = requests.map((r) => r.id);
    const base = ids.includes(packed.a) ? packed.a : ids[0];
    const against = packed.o !== null && ids.includes(packed.o) && packed.o !== base ? packed.o : null;
    const [request, , slot] = packed.s ?? [base, 0, 0];
    const contracts = (this.state.hello?.contracts ?? []).map((/** @type {any} */ c) => c.name);
    if (contracts.length && !contracts.includes(packed.c)) throw new link.LinkError(`the contract ${packed.c} is not known here`);
    const at = Number.isInteger(slot) && slot >= 0 ? slot : 0;
    this.baked = null;
    this.store.set({
      contract: packed.c, blockSize: packed.b, blockSizeText: String(packed.b), blockSizeFault: "",
      notation: NOTATIONS.find((n) => n === packed.n) ?? "hex", cells: packed.d === "ids" ? "ids" : "text",
      requests, results: {}, compare: null, tree: null, block: null, base, against, editing: null,
      sel: { request: ids.includes(request) ? request : base, block: Math.floor(at / packed.b), slot: at, field: "" },
      frameStart: this.frameStartFor(at, packed.b), baked: this.state.baked === "reproduced" ? "reproduced" : "gone",
    });
    this.sent.clear();
    this.unread.clear();
    this.dirty = new Set(ids);
    this.keys = { compare: "", tree: "", block: "" };
    void this.pump();
  }

  /** Write the state into the address bar, soon. @param {"push" | "replace"} kind */
  remember(kind) {
    if (this.historyKind !== "push") this.historyKind = kind;
    this.later("history", 350, () => void this.write());
  }

  async write() {
    let kind = this.historyKind;
    this.historyKind = null;
    const slots = this.state.requests.reduce((sum, r) => sum + r.tokens.length, 0);
    const fragment = slots > 40_000 ? null : await link.encode(this.packed());
    if (fragment === null || fragment.length > link.LINK_LIMIT) {
      // An address that shows an older state would be worse than one that shows none.
      if (location.hash) history.pushState(null, "", location.pathname + location.search);
      if (!this.saidTooBig) this.notice("note", "These requests are too long for the address bar. Share saves them as a file.");
      this.saidTooBig = true;
      return;
    }
    if ("#" + fragment === location.hash) return;
    // Typing is one step back, not one a key.
    if (kind === "push" && performance.now() - this.lastPush < 1500) kind = "replace";
    if (kind === "push") this.lastPush = performance.now();
    history[kind === "push" ? "pushState" : "replaceState"](null, "", "#" + fragment);
  }

  /** Read the address bar. @param {() => void} example what an empty one means */
  async fromAddress(example) {
    const fragment = location.hash.slice(1);
    if (!fragment) {
      example();
      return;
    }
    try {
      this.apply(await link.decode(fragment));
    } catch (error) {
      this.notice("error", `The link was not opened: ${/** @type {Error} */ (error).message}. It is still in the address bar.`);
    }
  }

  async share() {
    const url = new URL(location.href);
    url.hash = await link.encode(this.packed());
    const size = url.hash.length - 1;
    this.store.set({ dialog: "share", share: { url: url.href, size, copied: false } });
  }

  /** @param {string} text */
  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      if (this.state.share && text === this.state.share.url) this.store.set({ share: { ...this.state.share, copied: true } });
      else this.notice("note", `Copied ${text.length > 60 ? text.slice(0, 57) + "…" : text}`);
    } catch {
      this.notice("error", "The browser did not allow copying. Select the text and copy it yourself.");
    }
  }

  // ---- Files out

  /** @param {"request" | "results" | "csv" | "python"} kind */
  async exportText(kind) {
    const id = this.state.sel.request;
    if (!this.state.results[id]) {
      this.notice("error", `Request ${id} is not hashed, so there is nothing to export.`);
      return;
    }
    try {
      const answer = await this.client.call("export", { id, kind }, null, 60_000);
      const ending = { request: "request.json", results: "results.json", csv: "csv", python: "py" }[kind];
      textFile(`${answer.name}.${ending}`, answer.text, { csv: "text/csv", python: "text/x-python" }[/** @type {string} */ (kind)] ?? "application/json");
    } catch (error) {
      this.notice("error", `The export failed: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @param {"strip" | "key" | "chain" | "tree"} which */
  exportPicture(which) {
    const { contract, blockSize, sel } = this.state;
    const svg = picture(which, this.state);
    if (!svg) {
      this.notice("error", `There is no picture of the ${which} yet.`);
      return;
    }
    const name = which === "tree" ? "tree" : which === "strip" ? `strip-${this.state.base}${this.state.against ?? ""}` : `${which}-${sel.request}${sel.block}`;
    download(`kvhash-${name}-${contract}-bs${blockSize}.svg`, new Blob([svg], { type: "image/svg+xml" }));
  }

  exportState() {
    textFile(`kvhash-state-${this.state.contract}-bs${this.state.blockSize}.json`, JSON.stringify(this.packed()), "application/json");
  }

  // ---- Keys

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && typing && !this.state.editing) {
      /** @type {HTMLElement} */ (typing).blur();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || this.state.dialog) return;
    if (!this.state.singleKeys && event.key !== "?") return;
    /** @type {Record<string, () => void>} */
    const keys = {
      "?": () => this.open("help"),
      "/": () => this.focus("[data-testid=find]"),
      "g": () => this.focus("#grid"),
      "b": () => this.focus("[data-testid=block-size]"),
      "i": () => this.focus("[data-testid=tokens], [data-testid=prose]"),
      "n": () => { if (this.addRequest()) requestAnimationFrame(() => this.focus("[data-testid=tokens]")); },
      "j": () => this.step(1),
      "k": () => this.step(-1),
      "p": () => this.step(-1),
      "d": () => this.toDifference(),
      "w": () => { if (this.state.against) this.setPair(this.state.against, this.state.base); },
      "v": () => this.nextNotation(),
      "c": () => {
        const names = (this.state.hello?.contracts ?? []).map((/** @type {any} */ c) => c.name);
        if (names.length) this.setContract(names[(names.indexOf(this.state.contract) + 1) % names.length]);
      },
      "x": () => { if (hasPieces(this.state)) this.store.set({ cells: this.state.cells === "text" ? "ids" : "text" }); },
      "t": () => this.nextTheme(),
      "s": () => void this.share(),
      "e": () => this.open("export"),
    };
    const digit = Number(event.key);
    if (digit >= 1 && digit <= 8 && this.store.request(IDS[digit - 1])) this.selectRequest(IDS[digit - 1]);
    else if (event.key in keys) keys[event.key]();
    else return;
    event.preventDefault();
  }

  /** @param {string} selector */
  focus(selector) {
    const element = /** @type {HTMLElement | null} */ (document.querySelector(selector));
    element?.focus();
    element?.scrollIntoView({ block: "nearest" });
  }

  /** Run something once the calls for it stop. @param {string} name @param {number} ms @param {() => void} run */
  later(name, ms, run) {
    clearTimeout(this.timers[name]);
    this.timers[name] = window.setTimeout(() => {
      delete this.timers[name];
      run();
    }, ms);
  }
}

/** @param {Uint32Array} a @param {Uint32Array} b */
function sameTokens(a, b) {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}

/** Whether one list is an edit of the other: most of it stands at its beginning or end. @param {Uint32Array} a @param {Uint32Array} b */
function akin(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return start + end >= Math.max(a.length, b.length) / 2;
}

/** @param {string} text a Python traceback */
function lastLine(text) {
  return text.trim().split("\n").pop() ?? text;
}
