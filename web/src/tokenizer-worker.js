// @ts-check
/// <reference lib="webworker" />
// Turns text into token ids, in a worker of its own, with a tokenizer that is fetched the first time
// somebody asks: Llama 3's, or one that the user dropped as a tokenizer.json.

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** @typedef {{encode: (text: string) => ArrayLike<number>, decode: (id: number) => string}} Tokenizer */
/** @type {Map<string, Promise<Tokenizer>>} */
const known = new Map();
/** Ids whose text the page has, by tokenizer. @type {Map<string, Set<number>>} */
const told = new Map();

/** @returns {Promise<Tokenizer>} */
async function llama3() {
  const url = new URL("../vendor/llama3-tokenizer.js", scope.location.href).href;
  const tokenizer = (await import(url)).default;
  return {
    encode: (text) => tokenizer.encode(text, { bos: false, eos: false }),
    decode: (id) => tokenizer.decode([id]),
  };
}

/** @param {File} file @returns {Promise<Tokenizer>} */
async function dropped(file) {
  let json;
  try {
    json = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON`);
  }
  if (!json || typeof json !== "object" || typeof json.model !== "object" || !json.model || typeof json.model.vocab !== "object") {
    throw new Error(`${file.name} is not a tokenizer.json: it has no model with a vocabulary`);
  }
  const url = new URL("../vendor/tokenizers.js", scope.location.href).href;
  const { Tokenizer } = await import(url);
  const tokenizer = new Tokenizer(json, {});
  return {
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    decode: (id) => tokenizer.decode([id], { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
  };
}

scope.onmessage = async (/** @type {MessageEvent<{id: number, name: string, text?: string, file?: File}>} */ event) => {
  const { id, name, text, file } = event.data;
  try {
    if (file) {
      const made = dropped(file);
      await made;
      known.set(name, made);
      told.delete(name);
      scope.postMessage({ id, tokens: null, pieces: [] });
      return;
    }
    if (!known.has(name)) {
      if (name !== "llama3") throw new Error(`the tokenizer ${name} is gone; drop its tokenizer.json again`);
      known.set(name, llama3());
    }
    const tokenizer = await /** @type {Promise<Tokenizer>} */ (known.get(name));
    const tokens = Uint32Array.from(tokenizer.encode(text ?? ""));
    const seen = told.get(name) ?? new Set();
    told.set(name, seen);
    /** @type {[number, string][]} */
    const pieces = [];
    for (const token of new Set(tokens)) {
      if (seen.has(token)) continue;
      seen.add(token);
      pieces.push([token, tokenizer.decode(token)]);
    }
    scope.postMessage({ id, tokens, pieces }, [tokens.buffer]);
  } catch (error) {
    if (name === "llama3") known.delete(name);
    scope.postMessage({ id, error: String(/** @type {any} */ (error)?.message ?? error) });
  }
};
