// Two visits in Firefox: the page becomes ready, an edit gives other keys, a link is written; and it
// becomes ready again, from the memory of the first.
//   node firefox.mjs URL   prints what it saw as JSON
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../web");
const require = createRequire(path.join(web, "package.json"));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: process.argv[3] ?? "/usr/bin/firefox-esr", headless: true, protocolTimeout: 180_000,
});
const seen = { errors: [] };
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 1000 });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") seen.errors.push(message.text()); });
  await page.goto(process.argv[2]);
  await page.waitForSelector("body[data-state=ready], body[data-state=failed]", { timeout: 150_000 });
  const get = (id, name = "data-value") => page.$eval(`[data-testid="${id}"]`, (e, n) => e.getAttribute(n), name);
  seen.state = await page.$eval("body", (e) => e.dataset.state);
  seen.baked = await page.$eval("body", (e) => e.dataset.baked);
  seen.selftest = await get("selftest");
  seen.before = await get("row-A-0-plh");
  await page.type('[data-testid="salt"]', "fox");
  for (let i = 0; i < 300 && (await get("row-A-0-plh").catch(() => seen.before)) === seen.before; i += 1) {
    await new Promise((done) => setTimeout(done, 100));
  }
  await new Promise((done) => setTimeout(done, 1500));
  seen.after = await get("row-A-0-plh");
  seen.hash = await page.evaluate("location.hash.slice(0, 4)");
  seen.sentence = await get("sentence");
  await page.evaluate("history.replaceState(null, '', location.pathname)");
  await page.reload();
  await page.waitForSelector("body[data-state=ready], body[data-state=failed]", { timeout: 150_000 });
  seen.again = await page.$eval("body", (e) => [e.dataset.state, e.dataset.baked]);
  seen.recalled = await page.evaluate("window.kvhash.act.client.recalled");
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
