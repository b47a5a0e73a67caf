"""The page as built, served on this machine, in Debian's Chromium.

One browser and one loaded page serve most tests: `page` takes it back to the example first. A test
that needs a page of its own (a cold load, another theme, a phone) asks for `open_page`. Whatever a
page says on its console, and whatever it asks of another origin, fails the test that it was in.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

WEB = Path(__file__).resolve().parents[2] / "web"
DIST = WEB / "dist"
sys.path.insert(0, str(WEB))  # for bridge.py, which the page loads as a file
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
READY_MS = 120_000
STEP_MS = 30_000


@pytest.fixture(scope="session")
def dist() -> Path:
    """The built directory; building it is not the tests' business."""
    if not (DIST / "index.html").is_file():
        pytest.fail("no web/dist: run npm --prefix web ci && npm --prefix web run build")
    return DIST


@pytest.fixture(scope="session")
def site(dist: Path) -> Iterator[str]:
    """The address of the page, served with its policy as a header."""
    command = ["node", str(WEB / "tools" / "serve.mjs"), str(dist), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://localhost:"), address
        yield address
        server.kill()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Watch:
    """What a page did that it must not do."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.found: list[str] = []

    def __call__(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.found.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Service Worker" not in message.text:
            self.found.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.site, "blob:" + self.site)):
            self.found.append(f"foreign request: {request.url}")


@pytest.fixture(scope="session")
def watch(site: str) -> Watch:
    """Collects what pages did wrong, over the whole session."""
    return Watch(site)


@pytest.fixture(autouse=True)
def _nothing_wrong(request: pytest.FixtureRequest) -> Iterator[None]:
    if not {"page", "open_page"} & set(request.fixturenames):
        yield
        return
    watch: Watch = request.getfixturevalue("watch")
    watch.found.clear()
    yield
    assert not watch.found, watch.found


def until_ready(page: Page) -> None:
    """Wait for Python, and for the self-test that ends its start."""
    page.locator("body[data-state=ready]").wait_for(timeout=READY_MS)


@pytest.fixture
def open_page(chromium: Browser, site: str, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Open a page in a context of its own: `open_page(fragment, **context options)`."""
    contexts = []

    def opened(fragment: str = "", *, wait: bool = True, **options: Any) -> Page:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        options.setdefault("service_workers", "block")
        context = chromium.new_context(**options)
        context.set_default_timeout(STEP_MS)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(site + fragment)
        if wait:
            until_ready(page)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def _loaded(chromium: Browser, site: str, watch: Watch) -> Iterator[Page]:
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, service_workers="block", accept_downloads=True
    )
    context.set_default_timeout(STEP_MS)
    page = context.new_page()
    watch(page)
    page.goto(site)
    until_ready(page)
    yield page
    context.close()


@pytest.fixture
def page(_loaded: Page) -> Page:
    """The loaded page, back at the example."""
    _loaded.evaluate(
        """async () => {
          const { act, store } = window.kvhash;
          if (document.querySelector("dialog[open]")) document.querySelector("dialog").close();
          history.pushState(null, "", location.pathname);
          window.dispatchEvent(new PopStateEvent("popstate"));
          store.set({ notices: [], notation: "hex", cells: "text", theme: "light",
            find: { text: "", answer: null, fault: null, busy: false } });
          document.activeElement?.blur();
          await new Promise((done) => setTimeout(done, 0));
        }"""
    )
    settled(_loaded)
    return _loaded


def settled(page: Page) -> None:
    """Wait until Python has answered everything and the answers are drawn."""
    page.evaluate(
        """async () => {
          const { act, store } = window.kvhash;
          const end = performance.now() + 60000;
          let calm = 0;
          while (calm < 3 && performance.now() < end) {
            await new Promise((done) => setTimeout(done, 30));
            const busy = act.running || act.dirty.size || act.unread.size || act.findPending
              || store.state.requests.some((r) => r.busy) || store.scheduled
              || Object.keys(act.timers).length;
            calm = busy ? 0 : calm + 1;
          }
          if (calm < 3) throw new Error("the page did not settle");
        }"""
    )


def value(page: Page, testid: str) -> str:
    """The full value that an element shows."""
    found: str | None = page.get_by_test_id(testid).get_attribute("data-value")
    assert found is not None, testid
    return found
