// @ts-check
/// <reference lib="webworker" />
// Keeps the whole page, Python included, so that it works offline once loaded. Names, version and
// file list are filled in by the build; a new version replaces the cache as a whole.

const scope = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const CACHE = "kvhash-" + "VERSION";
const FILES = ["FILES"];

scope.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES);
    await scope.skipWaiting();
  })());
});

scope.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("kvhash-") && name !== CACHE) await caches.delete(name);
    }
    await scope.clients.claim();
  })());
});

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== scope.location.origin) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    const page = request.mode === "navigate" && url.href.split(/[?#]/)[0].replace(/index\.html$/, "") === scope.registration.scope;
    const kept = await cache.match(page ? "./" : request);
    if (kept) return kept;
    const response = await fetch(request);
    // What is fetched later on demand, a tokenizer, is kept as well.
    if (response.ok && url.pathname.includes("/vendor/")) await cache.put(request, response.clone());
    return response;
  })());
});
