// @ts-check
// How numbers are written. Hashes arrive from Python as fixed-width hex and are only respelled here,
// never computed (base58's other home is the package; tests/web hold the two together).

/** @typedef {"hex" | "u64" | "i64" | "base58"} Notation */

export const NOTATIONS = /** @type {const} */ (["hex", "u64", "i64", "base58"]);
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Base58 over the big-endian bytes, a `1` for each leading zero byte. @param {string} hex digits, `0x` first */
export function base58(hex) {
  let number = BigInt(hex);
  let text = "";
  while (number > 0n) {
    text = BASE58[Number(number % 58n)] + text;
    number /= 58n;
  }
  const zeros = /^(?:00)*/.exec(hex.slice(2))?.[0].length ?? 0;
  return "1".repeat(zeros / 2) + text;
}

/**
 * A 64-bit hash in the notation asked for.
 * @param {string} hex `0x` and 16 digits @param {Notation} notation
 */
export function hash(hex, notation) {
  if (notation === "u64") return BigInt(hex).toString();
  if (notation === "i64") return BigInt.asIntN(64, BigInt(hex)).toString();
  return notation === "base58" ? base58(hex) : hex;
}

/**
 * A PLH: 128 bits as hex or decimal, or upstream's base58 text.
 * @param {{plh: string, plh_text: string}} row @param {Notation} notation
 */
export function plh(row, notation) {
  if (notation === "base58") return row.plh_text;
  if (notation === "u64") return BigInt(row.plh).toString();
  if (notation === "i64") return BigInt.asIntN(128, BigInt(row.plh)).toString();
  return row.plh;
}

/** 131072 → "131 072", with narrow no-break spaces. @param {number} n */
export function count(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** @param {number} n @param {string} one @param {string} [many] */
export function plural(n, one, many = one + "s") {
  return `${count(n)}\u00a0${n === 1 ? one : many}`;
}

/** @param {number} n bytes */
export function bytes(n) {
  return n < 1e6 ? `${(n / 1e3).toFixed(0)}\u00a0kB` : `${(n / 1e6).toFixed(1)}\u00a0MB`;
}

/** Make whitespace and control characters of a token's text visible. @param {string} text */
export function visible(text) {
  const special = /^<\|(.+)\|>$/.exec(text);
  if (special) return special[1];
  return text.replace(/ /g, "·").replace(/\r\n|\n/g, "↵").replace(/\t/g, "⇥").replace(/[\0-\x1f]/g, "¤");
}
