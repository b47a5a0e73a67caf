// The page's first requests: a prompt of our own in Llama 3's chat template, by its real tokenizer.
//   node web/tools/make_example.mjs > web/tools/example.json
// A and B differ in a date, C continues A, D is A with another picture.
import tokenizer from "llama3-tokenizer-js";

const SYSTEM =
  "You keep the night log of a small observatory. Answer in at most three sentences, name the instrument " +
  "that was used, and give positions in degrees. Never guess: if the plate does not show it, say so. " +
  "The dome opens at dusk and closes at the first sign of rain.\n\n";
const QUESTION = "\nWhich star is the bright one left of the dome, and is the faint trail below it a meteor?";
const REPLY =
  "The bright one is Capella, seen in the guide telescope at 79 degrees. The trail has two even gaps, " +
  "so it is a satellite and not a meteor.";
const MORE = "Good. Log it, and tell me when Capella sets behind the ridge.";
const IMAGE_TOKEN = 128256;
const IMAGE_SLOTS = 40;

const enc = (text) => tokenizer.encode(text, { bos: false, eos: false });
const special = (text) => enc(text);
const turn = (role, body) => [
  ...special("<|start_header_id|>"), ...enc(role), ...special("<|end_header_id|>"), ...enc("\n\n"), ...body,
  ...special("<|eot_id|>"),
];
const opening = [...special("<|start_header_id|>"), ...enc("assistant"), ...special("<|end_header_id|>"), ...enc("\n\n")];

function build(date, hash, more) {
  const head = [...special("<|begin_of_text|>"), ...turn("system", enc(SYSTEM + "Tonight is " + date + "."))];
  const user = turn("user", [...Array(IMAGE_SLOTS).fill(IMAGE_TOKEN), ...enc(QUESTION)]);
  const offset = head.length + user.indexOf(IMAGE_TOKEN);
  const tail = more ? [...turn("assistant", enc(REPLY)), ...turn("user", enc(MORE)), ...opening] : opening;
  return {
    tokens: [...head, ...user, ...(more ? [...opening.slice(0, 0), ...tail] : tail)],
    mm_info: [{ mm_hash: hash, offset: String(offset), length: String(IMAGE_SLOTS) }],
  };
}

const plates = ["0x8f14e45fceea167a", "0x1679091c5a880faf"];
const requests = {
  A: build("29 November 2026", plates[0], false),
  B: build("30 November 2026", plates[0], false),
  C: build("29 November 2026", plates[0], true),
  D: build("29 November 2026", plates[1], false),
};
const pieces = { [IMAGE_TOKEN]: "<|image|>" };
for (const { tokens } of Object.values(requests)) {
  for (const id of tokens) if (id !== IMAGE_TOKEN) pieces[id] ??= tokenizer.decode([id]);
}
console.log(JSON.stringify({ requests, pieces }));
