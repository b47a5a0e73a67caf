// @ts-check
// The shapes that modules share; types only, no code. JSON shapes are those of bridge.py.

/**
 * @typedef {{message: string, kind: string, field: string, index: number | null, value: string, expected: string, start?: number, stop?: number}} Fault
 * @typedef {{mm_hash: string, offset: string, length: string}} RunText
 * @typedef {{mm_hash: string, offset: number, length: number}} Run
 * @typedef {{id: string, tokens: Uint32Array, mode: "ids" | "text" | "messages", text: string | null, prose: string,
 *   tokenizer: string, salt: string, lora: string, runs: RunText[], rev: number, fault: Fault | null, busy: string | null, vocab: string | null}} Req
 * @typedef {{position: number, block_hash: string, sequence_hash: string, plh: string, plh_text: string}} Row
 * @typedef {{tokens: number, blocks: number, tail: number, salt_hash: string, runs: Run[], rows: Map<number, Row>, tokensArray: Uint32Array, epoch: number}} Result
 * @typedef {{slot: number, start: number, kind: string, fields: {name: string, hex: string, value: string}[]}} Frame
 * @typedef {{name: string, high: number, low: number, width: number, hex: string, value: string, bits: string}} Field
 * @typedef {{mode: number, first: number, last: number, position_bits: number, fragment_bits: number}} Mode
 * @typedef {{id: string, position: number, block_hash: string, sequence_hash: string, plh: string, plh_text: string,
 *   slot_bytes: number, byte_count: number, frames: Frame[], first_slot: number,
 *   parent: string | null, chain_seed: string, chain_bytes: string | null, salt_hash: string,
 *   mode: number, fields: Field[], lineage: (Row & {fragment: string | null, fragment_bits: number})[]}} Block
 * @typedef {{name: string, chain_seed: string, matches: string}} ContractRow
 * @typedef {{request: string, block: number, slot: number, field: string}} Selection
 */

export {};
