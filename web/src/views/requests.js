// @ts-check
// The requests A … H as a row of cards, and the editor of the chosen one.

import { h, patch } from "../dom.js";
import { plural } from "../format.js";

/** @typedef {import("../store.js").State} State */
/** @typedef {import("../types.js").Req} Req */
/** @typedef {import("../actions/actions.js").Actions} Actions */

/** Above this many tokens the ids are not put into a text box: the strip edits them slot by slot. */
export const TEXT_LIMIT = 8192;

/** What the text box of ids holds; null: too much for one. @param {Uint32Array} tokens */
export const idsText = (tokens) => (tokens.length > TEXT_LIMIT ? null : tokens.join(", "));

/** @param {State} state @param {Element} element @param {Actions} act */
export function renderRequests(state, element, act) {
  const chosen = state.requests.find((r) => r.id === state.sel.request) ?? state.requests[0];
  patch(element, [
    h("div", { class: "cards" },
      h("div", { key: "tabs", class: "tabs", role: "tablist", "aria-label": "Requests", onkeydown: (/** @type {KeyboardEvent} */ e) => act.tabKey(e) }, state.requests.map((r) => card(state, r, act))),
      h("button", {
        key: "+", type: "button", class: "card add", "data-testid": "add-request", disabled: state.requests.length >= 8,
        title: "Add a request (n)", onclick: () => act.addRequest(),
      }, h("span", { class: "letter", "aria-hidden": "true" }, "+"), h("span", { class: "facts" }, "Add a request"))),
    editor(state, chosen, act),
  ]);
}

/** @param {State} state @param {Req} r @param {Actions} act */
function card(state, r, act) {
  const result = state.results[r.id];
  const on = r.id === state.sel.request;
  const extras = [r.salt && "salt", r.lora && "LoRA", r.runs.length && plural(r.runs.length, "run")].filter(Boolean);
  const role = on ? "shown" : r.id === state.against ? "against" : "";
  return h("button", {
    key: r.id, type: "button", class: `card ${on ? "on" : ""} ${r.id === state.against ? "against" : ""}`, role: "tab",
    id: `tab-${r.id}`, "aria-selected": String(on), "aria-controls": "editor", "data-testid": `request-${r.id}`,
    title: `Show request ${r.id} (${r.id.charCodeAt(0) - 64})`, onclick: () => act.selectRequest(r.id),
  },
  h("span", { class: "letter" }, r.id),
  h("span", { class: "facts" },
    h("span", { class: "main" }, r.fault ? h("em", { class: "bad" }, "⚠ not hashed") : result
      ? [plural(result.tokens, "token"), h("span", { class: "dim" }, ` · ${plural(result.blocks, "block")}`)]
      : r.busy ?? "…"),
    h("span", { class: "dim sub" }, role && h("b", null, role), role && extras.length ? " · " : "", extras.join(" · "))));
}

/** @param {State} state @param {Req} r @param {Actions} act */
function editor(state, r, act) {
  const fault = r.fault;
  const at = fault?.field ?? "";
  const tokensFault = fault && !/^(salt|lora_name|mm_info)/.test(at) ? fault : null;
  return h("div", {
    key: "editor-" + r.id, class: "editor", id: "editor", role: "tabpanel", "aria-labelledby": `tab-${r.id}`, "data-testid": "editor",
  },
  h("div", { class: "tokens" },
    h("div", { class: "bar" },
      h("div", { class: "modes", role: "radiogroup", "aria-label": "What is typed" },
        [["ids", "Token ids"], ["text", "Text"]].map(([mode, label]) => h("label", { key: mode, class: r.mode === mode ? "on" : "" },
          h("input", {
            type: "radio", name: "mode-" + r.id, checked: r.mode === mode, "data-testid": `mode-${mode}`,
            onchange: () => act.setMode(r.id, /** @type {"ids" | "text"} */ (mode)),
          }), label))),
      h("span", { class: "spacer" }),
      r.busy && h("span", { class: "busy", role: "status" }, r.busy),
      h("label", { class: "button quiet" }, "Open a file",
        h("input", { type: "file", class: "sr", "data-testid": "file", onchange: (/** @type {any} */ e) => act.openFiles(e.target.files, e.target) })),
      h("button", { type: "button", class: "quiet", "data-testid": "copy-request", disabled: state.requests.length >= 8, title: "Add a request that is a copy of this one", onclick: () => act.addRequest(r.id) }, "Duplicate"),
      h("button", { type: "button", class: "quiet", "data-testid": "remove-request", disabled: state.requests.length < 2, onclick: () => act.removeRequest(r.id) }, "Remove")),
    r.mode === "text" ? textInput(r, act, tokensFault, state.tokenizers) : idsInput(r, act, tokensFault),
    tokensFault && faultLine(tokensFault, "tokens", r, act)),
  h("div", { class: "names" },
    named(r, "salt", "Salt", r.salt, "none", (v) => act.setName(r.id, "salt", v)),
    named(r, "lora_name", "LoRA name", r.lora, "none", (v) => act.setName(r.id, "lora", v)),
    h("p", { class: "pair" }, h("span", { class: "dim" }, "salt hash "),
      h("code", { "data-testid": "salt-hash", "data-value": state.results[r.id]?.salt_hash ?? "" }, state.results[r.id]?.salt_hash ?? "…"))),
  runsTable(r, act));
}

/** @param {import("../types.js").Fault} fault @param {string} name @param {Req} r @param {Actions} act */
function faultLine(fault, name, r, act) {
  const slot = fault.field === "tokens" && fault.index !== null ? fault.index : null;
  return h("p", { class: "fault", id: `fault-${name}`, role: "alert", "data-testid": `fault-${name}`, "data-index": slot },
    "⚠ ", fault.message, fault.start !== undefined && r.text !== null
      ? h("button", { type: "button", class: "quiet inline", onclick: () => act.showFault(r.id) }, "show it") : null);
}

/** @param {Req} r @param {Actions} act @param {any} fault */
function idsInput(r, act, fault) {
  if (r.text === null) {
    return h("div", { class: "summary", "data-testid": "tokens-summary" },
      h("p", null, h("strong", null, plural(r.tokens.length, "token")), ": too many for a text box. Edit one where it stands: choose a slot in the strip and press Enter. Or replace them all:"),
      h("textarea", {
        class: "ids", rows: 2, value: "", placeholder: "paste other ids here", spellcheck: "false", "aria-label": `Other token ids for request ${r.id}`,
        "data-testid": "tokens", onpaste: (/** @type {ClipboardEvent} */ e) => act.paste(r.id, e), oninput: (/** @type {any} */ e) => act.setText(r.id, e.target.value),
        "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? "fault-tokens" : null,
      }));
  }
  return h("textarea", {
    class: "ids", rows: 5, value: r.text, spellcheck: "false", autocomplete: "off", "aria-label": `Token ids of request ${r.id}`,
    placeholder: "Paste token ids (JSON, commas or spaces) or a whole request as JSON. Files can be dropped anywhere.",
    "data-testid": "tokens", "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? "fault-tokens" : null,
    onpaste: (/** @type {ClipboardEvent} */ e) => act.paste(r.id, e),
    oninput: (/** @type {any} */ e) => act.setText(r.id, e.target.value),
  });
}

/** @param {Req} r @param {Actions} act @param {any} fault @param {string[]} tokenizers */
function textInput(r, act, fault, tokenizers) {
  return [
    h("textarea", {
      class: "prose", rows: 5, value: r.prose, spellcheck: "false", "aria-label": `Text of request ${r.id}`,
      placeholder: "Type or paste the prompt, special tokens included. It is tokenized in this browser.",
      "data-testid": "prose", "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? "fault-tokens" : null,
      onpaste: (/** @type {ClipboardEvent} */ e) => act.paste(r.id, e),
      oninput: (/** @type {any} */ e) => act.setProse(r.id, e.target.value),
    }),
    h("p", { class: "dim small" }, h("label", null, "Tokenizer ", h("select", {
      value: r.tokenizer, "data-testid": "tokenizer", onchange: (/** @type {any} */ e) => act.setTokenizer(r.id, e.target.value),
    }, tokenizers.map((name) => h("option", { key: name, value: name }, name === "llama3" ? "Llama 3" : name)))),
    " For another, drop the model’s ", h("code", null, "tokenizer.json"), " on the page."),
  ];
}

/** @param {Req} r @param {string} field @param {string} label @param {string} value @param {string} hint @param {(v: string) => void} change */
function named(r, field, label, value, hint, change) {
  const fault = r.fault?.field === field ? r.fault : null;
  return h("label", { class: "field", key: field }, h("span", null, label),
    h("input", {
      type: "text", value, placeholder: hint, autocomplete: "off", spellcheck: "false", "data-testid": field,
      "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? `fault-${field}` : null,
      oninput: (/** @type {any} */ e) => change(e.target.value),
    }),
    fault && h("span", { class: "fault", id: `fault-${field}`, role: "alert", "data-testid": `fault-${field}` }, "⚠ " + fault.message));
}

/** @param {Req} r @param {Actions} act */
function runsTable(r, act) {
  const keys = /** @type {const} */ (["mm_hash", "offset", "length"]);
  const bad = r.fault?.field.startsWith("mm_info") ? r.fault : null;
  return h("div", { class: "runs" },
    h("table", { "data-testid": "runs" },
      h("caption", null, "Multimodal runs ", h("span", { class: "dim" }, r.runs.length ? "slots filled by an image, audio or video" : "none: every slot is a token")),
      r.runs.length > 0 && h("thead", null, h("tr", null, h("th", { scope: "col" }, "mm_hash"),
        h("th", { scope: "col", title: "counts tokens of the request, not blocks" }, "offset"), h("th", { scope: "col" }, "length"), h("td", null))),
      h("tbody", null, r.runs.map((run, i) => h("tr", { key: i },
        keys.map((key) => h("td", { key, class: key }, h("input", {
          type: "text", value: run[key], spellcheck: "false", autocomplete: "off", "aria-label": `${key} of run ${i + 1}`,
          "data-testid": `run-${i}-${key}`,
          "aria-invalid": bad && bad.index === i && bad.field === `mm_info.${key}` ? "true" : null,
          "aria-describedby": bad && bad.index === i ? "fault-mm_info" : null,
          oninput: (/** @type {any} */ e) => act.setRun(r.id, i, key, e.target.value),
        }))),
        h("td", { key: "x" }, h("button", { type: "button", class: "quiet icon", "aria-label": `Remove run ${i + 1}`, "data-testid": `run-${i}-remove`, onclick: () => act.removeRun(r.id, i) }, "×")))))),
    bad && h("p", { class: "fault", id: "fault-mm_info", role: "alert", "data-testid": "fault-mm_info", "data-index": bad.index }, "⚠ " + bad.message),
    h("button", { type: "button", class: "quiet", "data-testid": "add-run", disabled: r.tokens.length === 0, onclick: () => act.addRun(r.id) }, "+ Add a run"));
}
