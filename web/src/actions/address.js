// @ts-check
// The state as text: into the address bar and out of it, and as a file.

import { textFile } from "../files.js";
import { NOTATIONS } from "../format.js";
import * as link from "../link.js";
import { newRequest } from "../store.js";
import { idsText } from "../views/requests.js";
import { Sync } from "./sync.js";

export class Address extends Sync {
  /** How it is to be written next. @type {"push" | "replace" | null} */
  historyKind = null;
  lastPush = 0;
  saidTooBig = false;

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

  exportState() {
    textFile(`kvhash-state-${this.state.contract}-bs${this.state.blockSize}.json`, JSON.stringify(this.packed()), "application/json");
  }
}
