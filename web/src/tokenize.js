// @ts-check
// The page's end of the tokenizer worker, which is started the first time somebody tokenizes.

/** @typedef {{tokens: Uint32Array, pieces: [number, string][]}} Tokenized */

export class Tokenizers {
  /** @param {URL} url of tokenizer-worker.js */
  constructor(url) {
    this.url = url;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.next = 1;
  }

  /** @param {{name: string, text?: string, file?: File}} message @returns {Promise<Tokenized>} */
  ask(message) {
    const id = this.next++;
    this.worker ??= this.start();
    const worker = this.worker;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...message });
    });
  }

  start() {
    const worker = new Worker(this.url, { type: "module", name: "tokenizer" });
    worker.onmessage = (event) => {
      const call = this.waiting.get(event.data.id);
      this.waiting.delete(event.data.id);
      if (event.data.error) call?.reject(new Error(event.data.error));
      else call?.resolve(event.data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      for (const call of this.waiting.values()) call.reject(new Error("the tokenizer did not start"));
      this.waiting.clear();
      worker.terminate();
      this.worker = null;
    };
    return worker;
  }
}
