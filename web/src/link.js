// @ts-check
// The page's state as text: in the URL's fragment (never sent to a server) or in a file.
// `v1.` and base64url of deflate-raw of JSON; a version that is not known is refused, not guessed.

export const VERSION = 1;
export const LINK_LIMIT = 32 * 1024;

/**
 * @typedef {{i: string, t: string, s?: string, l?: string, m?: [string, string, string][], p?: string, k?: string}} PackedRequest
 *   tokens as base64 of their deltas, salt, lora_name, runs, prose and its tokenizer
 * @typedef {{v: number, c: string, b: number, n: string, r: PackedRequest[], a: string, o: string | null,
 *   s: [string, number, number], d: string}} Packed
 */

export class LinkError extends Error {}

/** @param {Uint8Array} data @param {string} format @param {"compress" | "decompress"} way */
async function squeeze(data, format, way) {
  const Kind = way === "compress" ? CompressionStream : DecompressionStream;
  const stream = new Blob([/** @type {any} */ (data)]).stream()
    .pipeThrough(new Kind(/** @type {CompressionFormat} */ (format)));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Uint8Array} data */
function toBase64(data) {
  let binary = "";
  for (let i = 0; i < data.length; i += 0x8000) {
    binary += String.fromCharCode(...data.subarray(i, i + 0x8000));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text */
function fromBase64(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

/** Token ids as unsigned LEB128, base64. @param {Uint32Array} tokens */
export function packTokens(tokens) {
  const out = new Uint8Array(tokens.length * 5);
  let at = 0;
  for (let token of tokens) {
    while (token >= 0x80) {
      out[at++] = (token & 0x7f) | 0x80;
      token >>>= 7;
    }
    out[at++] = token;
  }
  return toBase64(out.subarray(0, at));
}

/** @param {string} text @returns {Uint32Array} */
export function unpackTokens(text) {
  const data = fromBase64(text);
  const out = new Uint32Array(data.length);
  let count = 0;
  let value = 0;
  let shift = 0;
  for (const byte of data) {
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte & 0x80) continue;
    if (value > 0xffffffff) throw new LinkError("a token above 2^32");
    out[count++] = value;
    value = shift = 0;
  }
  if (shift) throw new LinkError("the tokens end in the middle of one");
  return out.slice(0, count);
}

/** @param {Packed} state @returns {Promise<string>} the fragment, without `#` */
export async function encode(state) {
  const data = new TextEncoder().encode(JSON.stringify(state));
  return `v${VERSION}.${toBase64(await squeeze(data, "deflate-raw", "compress"))}`;
}

/** @param {string} fragment without `#` @returns {Promise<Packed>} */
export async function decode(fragment) {
  const match = /^v(\d+)\.([\w-]*)$/.exec(fragment);
  if (!match) throw new LinkError("this link is not one of this page");
  if (Number(match[1]) !== VERSION) {
    throw new LinkError(`this link has version ${match[1]}, and this page reads version ${VERSION}`);
  }
  let state;
  try {
    state = JSON.parse(new TextDecoder().decode(await squeeze(fromBase64(match[2]), "deflate-raw", "decompress")));
  } catch {
    throw new LinkError("this link is damaged, probably cut off");
  }
  return checked(state);
}

/** A state as it comes from outside, or an error. @param {any} state @returns {Packed} */
export function checked(state) {
  if (state?.v !== VERSION) throw new LinkError(`version ${state?.v} is not ${VERSION}`);
  const isText = (/** @type {any} */ x) => typeof x === "string";
  const fine = isText(state.c) && Number.isInteger(state.b) && state.b >= 1 && state.b < 2 ** 32
    && Array.isArray(state.r) && state.r.length >= 1 && state.r.length <= 8
    && state.r.every((/** @type {any} */ r) => /^[A-H]$/.test(r?.i) && isText(r.t)
      && (r.m === undefined || (Array.isArray(r.m) && r.m.every((/** @type {any} */ m) => Array.isArray(m) && m.length === 3 && m.every(isText))))
      && [r.s, r.l, r.p, r.k].every((x) => x === undefined || isText(x)))
    && new Set(state.r.map((/** @type {any} */ r) => r.i)).size === state.r.length;
  if (!fine) throw new LinkError("it does not hold the state of this page");
  return state;
}
