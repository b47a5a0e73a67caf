// @ts-check
// The bar on top: contract, block size, notation, theme, dialogs.

import { NOTATIONS } from "../format.js";
import { Address } from "./address.js";

/** @typedef {import("../store.js").State} State */

export class Settings extends Address {
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

  /** @param {import("../format.js").Notation} notation */
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
}
