"""The page's times, measured in Debian's Chromium against a served `dist/`.

    python3 web/tools/measure.py http://localhost:8008/ [RUNS]

Cold: a new profile, nothing cached. Warm: the same profile again, from the service worker.
Prints one line a figure, the median and all values; nothing is asserted here.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOKENS = 131_072

WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration));
}).observe({ type: "longtask", buffered: true });
"""
EDIT = """async ([slot, token]) => {
  const row = `row-A-${Math.floor(slot / 16)}-plh`;
  const get = (id) => document.querySelector(`[data-testid="${id}"]`);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const { act, store } = window.kvhash;
  act.selectSlot("A", slot, true);
  for (let i = 0; i < 600 && !get(row); i += 1) await frame();
  act.edit();
  for (let i = 0; i < 60 && !get("slot-edit"); i += 1) await frame();
  const before = get(row).dataset.value;
  window.longTasks.length = 0;
  const box = get("slot-edit");
  box.value = String(token);
  const start = performance.now();
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  while (performance.now() - start < 20000) {
    const now = get(row);
    if (now && now.dataset.value !== before) break;
    await frame();
  }
  const shown = performance.now() - start;
  while (act.running && performance.now() - start < 20000) await frame();
  await new Promise((done) => setTimeout(done, 300));
  const all = performance.now() - start - 300;
  return { shown, all, long: [...window.longTasks], python: store.state.lastMs };
}"""
# As with a wheel turned fast: 90 pixels a frame, 240 frames.
SCROLL = """async () => {
  const grid = document.querySelector("[data-testid=strip]");
  window.longTasks.length = 0;
  const frames = [];
  let last = performance.now();
  grid.scrollTop = grid.scrollHeight / 3;
  await new Promise((done) => setTimeout(done, 500));
  for (let i = 0; i < 240; i += 1) {
    grid.scrollTop += 90;
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  frames.sort((a, b) => a - b);
  const nodes = grid.querySelectorAll("*").length;
  return { median: frames[120], p95: frames[228], nodes, long: [...window.longTasks] };
}"""


def ready(page: Page, url: str) -> tuple[float, dict[str, Any]]:
    """Seconds until Python is ready and self-tested; what the browser says of its painting."""
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("body[data-state=ready]", timeout=120_000)
    seconds = time.perf_counter() - start
    paint = page.evaluate(
        """() => Object.fromEntries(performance.getEntriesByType("paint")
          .map((entry) => [entry.name, entry.startTime]))"""
    )
    return seconds, paint


def loads(open_profile: Any, url: str) -> tuple[float, float, float]:
    """Cold and warm seconds to ready, and milliseconds to the first paint of the example."""
    with tempfile.TemporaryDirectory() as profile:
        context: BrowserContext = open_profile(profile)
        page = context.new_page()
        cold, paint = ready(page, url)
        page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        page.wait_for_timeout(2500)
        page.close()
        page = context.new_page()
        warm, _ = ready(page, url)
        context.close()
    return cold, warm, paint["first-contentful-paint"]


def big(open_profile: Any, url: str) -> dict[str, Any]:
    """Edits and scrolling at 131 072 tokens, compared with a second request of the same length."""
    rng = random.Random(8)
    tokens = [rng.randrange(128_000) for _ in range(TOKENS)]
    other = [*tokens]
    other[TOKENS // 2] ^= 1
    with tempfile.TemporaryDirectory() as profile:
        context: BrowserContext = open_profile(profile)
        context.add_init_script(WATCH)
        page = context.new_page()
        ready(page, url)
        for letter, ids in (("A", tokens), ("B", other)):
            page.get_by_test_id(f"request-{letter}").click()
            path = Path(profile) / f"{letter}.json"
            path.write_text(json.dumps({"tokens": ids}), "utf-8")
            page.evaluate("() => { window.longTasks.length = 0; }")
            start = time.perf_counter()
            page.get_by_test_id("file").set_input_files(str(path))
            page.get_by_test_id("tokens-summary").wait_for()
            page.get_by_test_id(f"request-{letter}").get_by_text("131").wait_for()
            opened = time.perf_counter() - start
        page.wait_for_timeout(4000)
        opening = page.evaluate("() => [...window.longTasks]")
        edits = [
            page.evaluate(EDIT, [slot, rng.randrange(128_000)])
            for slot in (5, TOKENS // 2, TOKENS - 20, 40_000, 3, 100_000)
        ]
        scroll = page.evaluate(SCROLL)
        context.close()
    return {"opened": opened, "opening_long": opening, "edits": edits, "scroll": scroll}


def main() -> None:
    """Measure and print."""
    url = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with sync_playwright() as playwright:

        def open_profile(directory: str) -> BrowserContext:
            return playwright.chromium.launch_persistent_context(
                directory, executable_path=CHROMIUM, args=FLAGS, headless=True
            )

        rows = [loads(open_profile, url) for _ in range(runs)]
        for name, values, unit in zip(
            ("ready, cold", "ready, warm", "first paint"), zip(*rows), ("s", "s", "ms")
        ):
            print(f"{name}: {statistics.median(values):.2f} {unit}", [round(v, 2) for v in values])
        result = big(open_profile, url)
        edits = result["edits"]
        print(
            "open a file of 131072 tokens:",
            round(result["opened"], 2),
            "s; long tasks",
            result["opening_long"],
        )
        print(
            "edit to redraw, ms:",
            [round(e["shown"]) for e in edits],
            "python",
            [round(e["python"]) for e in edits],
        )
        print("edit to all panels, ms:", [round(e["all"]) for e in edits])
        print("long tasks during edits, ms:", [e["long"] for e in edits])
        print(
            "scrolling:",
            {k: round(v, 1) if isinstance(v, float) else v for k, v in result["scroll"].items()},
        )


if __name__ == "__main__":
    main()
