"""Two visits to the built page in Debian's Firefox."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import reference

from .conftest import WEB


def test_the_page_works_in_firefox(site: str) -> None:
    """Ready, the example reproduced bit for bit, an edit right, no error on the console."""
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        pytest.skip("no Firefox here")
    script = Path(__file__).with_name("firefox.mjs")
    done = subprocess.run(
        ["node", "--no-warnings", str(script), site, firefox],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["errors"] == []
    assert (seen["state"], seen["baked"]) == ("ready", "reproduced")
    example = json.loads((WEB / "tools" / "example.json").read_text("utf-8"))["requests"]["A"]
    for salt, shown in ((None, seen["before"]), ("fox", seen["after"])):
        runs = [{key: int(text, 0) for key, text in run.items()} for run in example["mm_info"]]
        request = {"tokens": example["tokens"], "mm_info": runs, "salt": salt}
        assert reference.hash_request(request)["blocks"][0]["plh"] == shown
    assert seen["sentence"] == "salt"
    assert seen["hash"] == "#v1."
    assert (seen["again"], seen["recalled"]) == (["ready", "reproduced"], True)
