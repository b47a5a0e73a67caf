// @ts-check
// Starts the worker before anything else of the page is there: Python takes longest to come.

const kept = !!navigator.serviceWorker?.controller;
/** The worker of the first start; client.js takes it over. What it says meanwhile waits in `said`. */
export const first = {
  worker: new Worker(new URL("worker.js", import.meta.url), { type: "module", name: kept ? "python, kept" : "python" }),
  /** @type {MessageEvent[]} */
  said: [],
};
first.worker.onmessage = (event) => first.said.push(event);
