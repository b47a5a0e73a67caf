"""Bake the page's first requests: what bridge.py answers for them on CPython, as a JS module.

    python3 web/tools/bake.py web/dist/src/baked.js

The page paints from it before Pyodide is there, and Pyodide must then give the same text, byte
for byte. `example.json` beside this file was made by make_example.mjs.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from bridge import Bridge  # noqa: E402

CONTRACT = "documented"
BLOCK_SIZE = 16
SELECTION = {"base": "A", "against": "B", "slot": 67}
FRAMES = 64


def baked() -> str:
    """The text of the module."""
    example: dict[str, Any] = json.loads((HERE / "example.json").read_text("utf-8"))
    bridge = Bridge()
    answers: list[tuple[str, dict[str, Any], str]] = []

    def ask(method: str, params: dict[str, Any], blob: bytes | None = None) -> None:
        text, _ = bridge.call(method, json.dumps(params), blob)
        assert '"error"' not in text[:9], text
        answers.append((method, params, text))

    for name, request in example["requests"].items():
        tokens = request["tokens"]
        params = {
            "id": name,
            "lora_name": None,
            "salt": None,
            "mm_info": request["mm_info"],
            "contract": CONTRACT,
            "block_size": BLOCK_SIZE,
            "window": [0, 64],
        }
        ask("put", params, struct.pack(f"<{len(tokens)}I", *tokens))
    position = SELECTION["slot"] // BLOCK_SIZE  # type: ignore[operator]
    ask("block", {"id": "A", "position": position, "first_slot": 0, "slots": FRAMES})
    ask("compare", {"base": SELECTION["base"], "against": SELECTION["against"]})
    ask("tree", {"ids": list(example["requests"])})
    hello = bridge.hello({})
    hello["python"] = "…"  # the page has its own Python
    value = {
        "contract": CONTRACT,
        "block_size": BLOCK_SIZE,
        "selection": SELECTION,
        "requests": [{"id": name, **request} for name, request in example["requests"].items()],
        "pieces": example["pieces"],
        "hello": hello,
        "answers": answers,
    }
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (
        "// Written by tools/bake.py from the package's answers on CPython. Do not edit.\n"
        f"/** @type {{any}} */\nexport const baked = {text};\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(baked(), "utf-8")
