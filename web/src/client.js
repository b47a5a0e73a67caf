// @ts-check
// The page's end of the worker: calls with time limits, and a new worker when the old one hangs.

/** @typedef {import("./types.js").Fault} Fault */

/** An answer of bridge.py that says what was wrong with the input. */
export class InputError extends Error {
  /** @param {Fault} fault */
  constructor(fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The worker was replaced before it answered; the caller asks again if it still wants to know. */
export class Restarted extends Error {}

/** The cache in which worker.js keeps Python's memory between visits. */
const MEMORY = "kvhash_pure: memory of Python";
const HELLO_MS = 20_000;
const STALL_MS = 60_000;
const CALL_MS = 30_000;

/**
 * @typedef {{
 *   progress: (stage: string, loaded: number, total: number) => void,
 *   ready: (pyodide: string) => void,
 *   failed: (message: string) => void,
 *   restarted: (why: string) => void,
 * }} Events
 */

export class Client {
  /** Nothing runs before `start`. @param {URL} url of worker.js @param {Events} events */
  constructor(url, events) {
    this.url = url;
    this.events = events;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void, timer: number, limit: number}>} */
    this.waiting = new Map();
    this.next = 1;
    this.isReady = false;
    this.attempts = 0;
    /** @type {Worker | null} */
    this.worker = null;
    this.watch = 0;
    this.isFirst = true;
    /** Whether the last start was from the memory of an earlier one. */
    this.recalled = false;
  }

  start() {
    this.isReady = false;
    this.attempts += 1;
    // When a start went wrong, the next is one as on a first visit.
    const name = ["python", this.isFirst && navigator.serviceWorker?.controller && "kept", this.isFirst && "recall"].filter(Boolean).join(", ");
    this.isFirst = false;
    const worker = new Worker(this.url, { type: "module", name });
    this.worker = worker;
    worker.onmessage = (event) => { if (worker === this.worker) this.heard(event.data); };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === this.worker && !this.isReady) this.fail(event.message || "the worker did not start");
    };
    this.watchFor(HELLO_MS, "the worker did not say hello");
  }

  /** @param {number} ms @param {string} why */
  watchFor(ms, why) {
    clearTimeout(this.watch);
    this.watch = window.setTimeout(() => {
      if (this.attempts < 3) this.restart(why);
      else this.fail(why);
    }, ms);
  }

  /** @param {any} message */
  heard(message) {
    if (message.kind === "hello") this.watchFor(STALL_MS, "loading Python stalled");
    else if (message.kind === "progress") {
      this.watchFor(STALL_MS, "loading Python stalled");
      this.events.progress(message.stage, message.loaded, message.total);
    } else if (message.kind === "ready") {
      clearTimeout(this.watch);
      this.isReady = true;
      this.attempts = 0;
      this.recalled = message.recalled;
      for (const [id, call] of this.waiting) this.arm(id, call);
      this.events.ready(message.pyodide);
    } else if (message.kind === "failed") this.fail(message.message);
    else {
      const call = this.waiting.get(message.id);
      if (!call) return;
      this.waiting.delete(message.id);
      clearTimeout(call.timer);
      if (message.kind === "crash") return call.reject(new Error(message.message));
      const answer = JSON.parse(message.text);
      if (answer.error) call.reject(new InputError(answer.error));
      else call.resolve({ ...answer, raw: message.text, bytes: message.bytes, ms: message.ms });
    }
  }

  /** All is well: the next visit may start from the memory of this start. */
  keep() {
    this.worker?.postMessage("keep");
  }

  /** Something went wrong, which may be in the memory that Python started from: no other may. */
  forget() {
    try {
      caches.delete(MEMORY).catch(() => false);
    } catch {
      // No caches here, so no memory either.
    }
  }

  /** @param {string} message */
  fail(message) {
    clearTimeout(this.watch);
    this.forget();
    this.worker?.terminate();
    this.worker = null;
    this.drop(new Error(message));
    this.events.failed(message);
  }

  /** End this worker and begin another; what was asked of it is refused with `Restarted`. @param {string} why */
  restart(why) {
    clearTimeout(this.watch);
    this.forget();
    this.worker?.terminate();
    this.drop(new Restarted(why));
    this.events.restarted(why);
    this.start();
  }

  /** @param {Error} error */
  drop(error) {
    const calls = [...this.waiting.values()];
    this.waiting.clear();
    for (const call of calls) {
      clearTimeout(call.timer);
      call.reject(error);
    }
  }

  /** @param {number} id @param {{timer: number, limit: number}} call */
  arm(id, call) {
    // A call waits in the worker's queue behind others; only silence from the worker counts.
    call.timer = window.setTimeout(() => {
      if (this.waiting.has(id)) this.restart("Python did not answer for " + call.limit / 1000 + " s");
    }, call.limit);
  }

  /**
   * Call a method of bridge.py. Resolves to its answer, with the text that it came as (`raw`)
   * and `bytes` if it sent any.
   * @param {string} method @param {object} params @param {Uint8Array | Uint32Array | null} [blob] copied
   * @param {number} [limit] milliseconds
   * @returns {Promise<any>}
   */
  call(method, params, blob = null, limit = CALL_MS) {
    if (!this.worker) return Promise.reject(new Error("Python is not running"));
    const id = this.next++;
    const buffer = blob ? blob.slice().buffer : undefined;
    return new Promise((resolve, reject) => {
      const call = { resolve, reject, timer: 0, limit };
      this.waiting.set(id, call);
      if (this.isReady) this.arm(id, call);
      const message = { id, method, params: JSON.stringify(params), blob: buffer };
      /** @type {Worker} */ (this.worker).postMessage(message, buffer ? [buffer] : []);
    });
  }
}
