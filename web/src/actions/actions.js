// @ts-check
// What a person can do, and what follows from it: the only classes that change the state, call
// Python and write the address bar. Views get one of these and call it. Here: exports and keys.

import { download, picture, textFile } from "../files.js";
import { hasPieces } from "../store.js";
import { IDS } from "./requests.js";
import { Selection } from "./selection.js";

export class Actions extends Selection {
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
}
