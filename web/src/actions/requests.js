// @ts-check
// What goes into the requests A … H: ids, text, files, names, runs.

import { InputError } from "../client.js";
import * as link from "../link.js";
import { newRequest } from "../store.js";
import { idsText, TEXT_LIMIT } from "../views/requests.js";
import { Settings } from "./settings.js";

/** @typedef {import("../types.js").Req} Req */
/** @typedef {import("../types.js").Fault} Fault */

/** A text longer than this goes past the text box, straight to Python. */
const BIG_TEXT = 64 * 1024;
/** 1 M tokens of ten digits, two separators each, and room for the rest of a request. */
const MOST_TEXT = 16 * 1024 * 1024;
export const IDS = "ABCDEFGH";

/** @param {string} message @param {string} [field] @returns {Fault} */
const faultOf = (message, field = "tokens") => ({ message, kind: "page", field, index: null, value: "", expected: "" });

export class Requests extends Settings {
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
