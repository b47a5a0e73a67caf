// @ts-check
// The bar on top: contract, block size, notation, and the page's own buttons.

import { h, patch } from "../dom.js";
import { bytes, NOTATIONS } from "../format.js";
import { keyGlyph } from "../glyph.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/**
 * One choice of few, as real radio buttons.
 * @param {string} name @param {string} label @param {readonly string[]} options @param {string} value
 * @param {(value: string) => void} choose @param {Record<string, string>} [titles]
 */
function choice(name, label, options, value, choose, titles = {}) {
  return h("fieldset", { class: "choice", "data-testid": name, "data-value": value },
    h("legend", null, label),
    h("div", { class: "options" }, options.map((option) => h("label", {
      key: option, class: option === value ? "on" : "", title: titles[option] ?? null,
    },
    h("input", {
      type: "radio", name, value: option, checked: option === value, "data-testid": `${name}-${option}`,
      onchange: () => choose(option),
    }), option))));
}

const THEME_NAMES = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const THEME_SIGNS = { auto: "◐", light: "○", dark: "●" };

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderTop(state, element, act) {
  /** @type {{name: string, matches: string}[]} */
  const contracts = state.hello?.contracts ?? [];
  const titles = Object.fromEntries(contracts.map((c) => [c.name, "matches " + c.matches]));
  patch(element, [
    h("a", { class: "brand", href: "./", "aria-label": "kvhash: start again with the example" },
      h("span", { class: "mark" }, keyGlyph(state.block?.plh ?? "0x012d800a635b9208ad6c400b9102147f")),
      h("span", { class: "name" }, "kvhash")),
    state.status === "loading" && h("progress", { key: "progress", max: String(state.progress.total || 1), value: state.progress.loaded, "aria-label": "Loading Python" }),
    h("div", { class: "controls" },
      choice("contract", "Contract", contracts.map((c) => c.name), state.contract, act.setContract, titles),
      h("label", { class: "field size" }, h("span", null, "Block size"),
        h("input", {
          type: "text", inputmode: "numeric", autocomplete: "off", spellcheck: "false", value: state.blockSizeText,
          "data-testid": "block-size", "data-value": String(state.blockSize),
          "aria-invalid": state.blockSizeFault ? "true" : null,
          "aria-describedby": state.blockSizeFault ? "block-size-fault" : null,
          title: "Slots a block. SGLang calls it page size.",
          oninput: (/** @type {any} */ e) => act.setBlockSize(e.target.value),
          onkeydown: (/** @type {KeyboardEvent} */ e) => {
            const by = e.key === "ArrowUp" ? 2 : e.key === "ArrowDown" ? 0.5 : 0;
            if (by) {
              e.preventDefault();
              act.setBlockSize(String(Math.max(1, Math.min(2 ** 32 - 1, Math.floor(state.blockSize * by)))));
            }
          },
        }),
        state.blockSizeFault && h("span", { class: "fault pop", id: "block-size-fault", "data-testid": "fault-block_size", role: "alert" }, state.blockSizeFault)),
      choice("notation", "Notation", NOTATIONS, state.notation,
        (value) => act.setNotation(/** @type {import("../format.js").Notation} */ (value)),
        { u64: "unsigned decimal", i64: "signed decimal, as in Dynamo's events", base58: "as in the text of a PLH" })),
    h("div", { class: "buttons" },
      state.status === "loading" ? h("span", { key: "coming", class: "coming", "data-testid": "coming" }, state.progress.stage, state.progress.total ? ` ${bytes(state.progress.loaded)} of ${bytes(state.progress.total)}` : "")
        : state.status === "failed" && h("span", { key: "coming", class: "coming bad", "data-testid": "coming" }, "⚠ no Python"),
      h("button", { type: "button", "data-testid": "share", onclick: act.share }, "Share"),
      h("button", { type: "button", "data-testid": "export", onclick: () => act.open("export") }, "Export"),
      h("button", {
        type: "button", class: "icon", "data-testid": "theme", "data-value": state.theme, onclick: act.nextTheme,
        "aria-label": THEME_NAMES[state.theme], title: THEME_NAMES[state.theme],
      }, THEME_SIGNS[state.theme]),
      h("button", {
        type: "button", class: "icon", "data-testid": "help", "aria-label": "Help and keys", title: "Help and keys (?)",
        onclick: () => act.open("help"),
      }, "?")),
  ]);
}
