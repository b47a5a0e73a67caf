// @ts-check
// The one selection of request, block, slot and field; the two that are compared; the strip; find.

import { runAt } from "../geometry.js";
import { pieceOf } from "../store.js";
import { mapLine } from "../views/minimap.js";
import { idsText } from "../views/requests.js";
import { lineForSlot, reveal, scrollToPixel, view } from "../views/strip.js";
import { Requests } from "./requests.js";

export class Selection extends Requests {
  /** @param {string} base @param {string | null} against */
  setPair(base, against) {
    const other = against === base ? this.state.requests.map((r) => r.id).find((x) => x !== base) ?? null : against;
    const request = this.state.sel.request === base || this.state.sel.request === other ? this.state.sel.request : base;
    this.store.set({ base, against: other, sel: { ...this.state.sel, request } });
    this.clampSelection();
    this.remember("replace");
    void this.pump();
  }

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
    const focus = () => {
      const box = /** @type {HTMLInputElement | null} */ (document.querySelector(".slot input.edit"));
      if (!box || box === document.activeElement) return;
      box.focus();
      box.select();
      box.onblur = () => { if (this.state.editing) this.stopEditing(); };
    };
    this.store.draw();
    focus(); // what is typed next belongs to it; a slot out of sight is drawn after the scrolling
    requestAnimationFrame(() => requestAnimationFrame(focus));
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

  /** @param {string} text */
  setFind(text) { this.store.set({ find: { text, answer: null, fault: null, busy: false } }); }

  find() {
    if (!this.state.find.text.trim()) return;
    this.findPending = true;
    this.store.set({ find: { ...this.state.find, busy: true } });
    void this.pump();
  }
}
