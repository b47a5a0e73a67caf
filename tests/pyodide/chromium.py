"""The suite in Pyodide inside Chromium: serve a page, open it headless, wait for its report.

    python3 -m tests.pyodide.chromium PYODIDE_DIRECTORY SITE_PACKAGES REPORT [PYTEST_ARGUMENT …]

Standard library only. Exit status: pytest's, or 1 if the page has not answered in time.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
TIMEOUT = 1200  # seconds for the whole suite
TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".html": "text/html"}
TYPES.update({".json": "application/json", ".wasm": "application/wasm"})
# No window, no sandbox (root), and none of the traffic of its own that a browser likes.
CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
)
# What tests read. Built and installed things stay outside.
SUITE = ("kvhash_pure", "tests", "docs", "examples", "benchmarks", "web")
SKIPPED = {"node_modules", "__pycache__", "dist", "target"}


def zipped(files: Iterable[tuple[Path, str]]) -> bytes:
    """A zip file, stored, of `(path, name)`."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, name in files:
            archive.write(path, name)
    return data.getvalue()


def tree(top: Path, *parts: str) -> Iterable[tuple[Path, str]]:
    """The files below `top` (or its `parts`), by name relative to `top`."""
    for part in parts or (".",):
        for path in sorted((top / part).rglob("*")):
            name = path.relative_to(top)
            if path.is_file() and not SKIPPED & set(name.parts):
                yield path, name.as_posix()


def open_page(
    served: Mapping[str, bytes | Path], answer: Callable[[str, str], bool], timeout: float
) -> bool:
    """Serve `served` on the loopback interface and open "/" in Chromium.

    A path that ends in "/" is a directory. Each POST goes to `answer(path, text)` until that
    returns True; False is returned if `timeout` seconds pass before.
    """
    done = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            found = served.get(path)
            if found is None:
                directory = served.get(path[: path.rfind("/") + 1])
                found = directory / path.rsplit("/", 1)[1] if isinstance(directory, Path) else None
            if isinstance(found, Path):
                body = found.read_bytes() if found.is_file() else None
            else:
                body = found
            kind = TYPES.get(Path(path).suffix, "text/html" if path == "/" else "")
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", kind or "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
            self.send_response(204)
            self.end_headers()
            if answer(self.path, text):
                done.set()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: what the page says is what counts."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [*CHROMIUM, f"--user-data-dir={profile}", url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return done.wait(timeout)
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
            server.server_close()


def main(pyodide: str, site: str, report: str, *arguments: str) -> int:
    """Run pytest with `arguments` in the page; write the JUnit file; return pytest's status."""
    status = 1

    def answer(path: str, text: str) -> bool:
        nonlocal status
        if path == "/line":
            print(text, flush=True)
        elif path == "/report":
            Path(report).parent.mkdir(parents=True, exist_ok=True)
            Path(report).write_text(text, "utf-8")
        elif path == "/exit":
            status = int(text)
        return path == "/exit"

    pytest = ["-q", "-p", "no:cacheprovider", "--junitxml=/tmp/report.xml", *arguments]
    files = [*tree(CHECKOUT, *SUITE), *((p, p.name) for p in CHECKOUT.iterdir() if p.is_file())]
    in_time = open_page(
        {
            "/": Path(__file__).with_name("page.html"),
            "/pyodide/": Path(pyodide),
            "/checkout.zip": zipped(files),
            "/site.zip": zipped(tree(Path(site))),
            "/argv.json": json.dumps(pytest).encode(),
        },
        answer,
        TIMEOUT,
    )
    if not in_time:
        print(f"no answer from the page within {TIMEOUT} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
