"""Take the screenshots of the README, in Debian's Chromium, of a served `dist/`.

python3 web/tools/screenshots.py http://localhost:8008/ [DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import CHROMIUM, FLAGS, ready
from playwright.sync_api import Browser, Page, sync_playwright

SETTLE = """async () => {
  const { act, store } = window.kvhash;
  for (let calm = 0; calm < 4;) {
    await new Promise((done) => setTimeout(done, 50));
    const busy = act.running || act.dirty.size || store.scheduled;
    calm = busy || Object.keys(act.timers).length ? 0 : calm + 1;
  }
}"""
DESKTOP = (1440, 980)


def opened(browser: Browser, url: str, size: tuple[int, int], scheme: str) -> Page:
    """A ready page of that size and theme."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        service_workers="block",
    )
    page = context.new_page()
    ready(page, url)
    page.evaluate(SETTLE)
    return page


def main() -> None:
    """Five pictures: light, dark, phone, compare, tree."""
    url = sys.argv[1]
    out = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parents[1] / "screenshots")
    out.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme in ("light", "dark"):
            page = opened(browser, url, DESKTOP, scheme)
            page.screenshot(path=out / f"{scheme}.png")
        page = opened(browser, url, (390, 844), "light")
        page.screenshot(path=out / "phone.png")
        page = opened(browser, url, DESKTOP, "light")
        page.get_by_test_id("against").select_option("D")
        page.evaluate(SETTLE)
        page.get_by_test_id("to-difference").click()
        page.evaluate(SETTLE)
        page.mouse.move(0, 0)
        bench = page.locator(".bench").bounding_box()
        assert bench is not None
        page.evaluate(f"() => scrollTo(0, {bench['y'] - 64})")
        page.evaluate(SETTLE)
        page.screenshot(path=out / "compare.png")
        page.get_by_test_id("find").fill("0x6cec400b9102147f")
        page.get_by_test_id("find-go").click()
        page.evaluate(SETTLE)
        tree = page.locator("#tree").bounding_box()
        assert tree is not None
        page.set_viewport_size({"width": DESKTOP[0], "height": 860})
        page.evaluate("() => document.getElementById('tree').scrollIntoView()")
        page.evaluate("() => scrollBy(0, -70)")
        page.evaluate(SETTLE)
        page.screenshot(path=out / "tree.png")
        browser.close()
    for path in sorted(out.glob("*.png")):
        print(path.name, path.stat().st_size // 1024, "KiB")


if __name__ == "__main__":
    main()
