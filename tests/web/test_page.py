"""What a person does with the page, in Chromium, on the page as built."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import reference

from .conftest import WEB, Watch, settled, until_ready, value
from .test_bridge import random_request

Open = Callable[..., Page]
Json = dict[str, Any]


def type_ids(page: Page, text: str, request: str = "A") -> None:
    """Put a text into a request's box."""
    page.get_by_test_id(f"request-{request}").click()
    settled(page)
    page.get_by_test_id("mode-ids").check(force=True)
    page.get_by_test_id("tokens").fill(text)
    settled(page)


def shown_rows(page: Page, request: str) -> dict[int, tuple[str, str]]:
    """PLH and sequence hash of each row of a request that is in view."""
    rows: list[list[str]] = page.evaluate(
        """(request) => {
          const keys = `[data-testid^="row-${request}-"][data-testid$="-plh"]`;
          return [...document.querySelectorAll(keys)].map((e) => [
            e.dataset.testid.split("-")[2], e.dataset.value, e.querySelector("code").dataset.value,
          ]);
        }""",
        request,
    )
    return {int(position): (plh, sequence) for position, plh, sequence in rows}


def saved(page: Page, testid: str) -> tuple[str, str]:
    """Name and text of what an item of the export list saves."""
    page.get_by_test_id("export").click()
    with page.expect_download() as download:
        page.get_by_test_id(testid).click()
    path = download.value.path()
    name = download.value.suggested_filename
    page.get_by_test_id("dialog-close").click()
    return name, Path(path).read_text("utf-8")


def assert_right(page: Page, request: Json, letter: str = "A") -> None:
    """Everything shown of a request is what the reference computes."""
    right = reference.hash_request(request)
    assert value(page, "salt-hash") == right["salt_hash"]
    rows = shown_rows(page, letter)
    assert len(rows) >= min(len(right["blocks"]), 3)
    for position, shown in rows.items():
        block = right["blocks"][position]
        assert shown == (block["plh"], block["sequence_hash"])
    if page.get_by_test_id("block-title").count():  # the tail has none
        position = int(value(page, "block-title").split(":")[1])
        block = right["blocks"][position]
        for name in ("plh", "sequence_hash", "block_hash"):
            assert value(page, name) == block[name]


def example(letter: str) -> Json:
    """A request of the example, as JSON has it."""
    file = WEB / "tools" / "example.json"
    request: Json = json.loads(file.read_text("utf-8"))["requests"][letter]
    runs = [{key: int(text, 0) for key, text in run.items()} for run in request["mm_info"]]
    return {**request, "mm_info": runs}


# ---- Loading


def test_the_example_is_reproduced_bit_for_bit(page: Page) -> None:
    """Python gives the very text that CPython gave when the page was built."""
    assert page.locator("body").get_attribute("data-baked") == "reproduced"
    assert value(page, "selftest").split("/")[0] == value(page, "selftest").split("/")[1]
    assert value(page, "pyodide") == "314.0.7"
    expect(page.get_by_test_id("foot")).to_contain_text("Nothing leaves this page")


def test_the_example_is_right(page: Page) -> None:
    """The example's rows are those of the reference."""
    assert_right(page, example("A"))


def test_it_paints_before_python(chromium: Browser, site: str) -> None:
    """With Python kept away the example, its sentence and its keys are there all the same."""
    context = chromium.new_context(service_workers="block")
    page = context.new_page()
    page.route("**/pyodide/*", lambda route: route.abort())
    page.goto(site)
    expect(page.get_by_test_id("sentence")).to_contain_text("token 67")
    assert len(shown_rows(page, "A")) >= 3
    expect(page.locator("body")).to_have_attribute("data-state", "failed")
    expect(page.get_by_test_id("notice-error")).to_contain_text("Python did not start")
    page.unroute("**/pyodide/*")
    page.get_by_test_id("notice-error").get_by_role("button", name="Try again").click()
    until_ready(page)
    context.close()


def test_an_edit_before_python_is_there(open_page: Open) -> None:
    """The example is still reproduced, and then the edit is hashed."""
    page = open_page(wait=False)
    page.get_by_test_id("salt").fill("early")
    page.get_by_test_id("request-B").click()
    page.get_by_test_id("tokens").fill("1, 2, 3")
    until_ready(page)
    settled(page)
    assert page.locator("body").get_attribute("data-baked") == "reproduced"
    expect(page.get_by_test_id("notice-error")).to_have_count(0)
    page.get_by_test_id("request-A").click()
    settled(page)
    assert_right(page, {**example("A"), "salt": "early"})


def test_the_policy_is_strict_and_kept(open_page: Open, site: str, watch: Watch) -> None:
    """Own origin and wasm only, as a meta tag and as a header, workers included."""
    page = open_page(wait=False)
    responses: dict[str, str] = {}
    page.on(
        "response",
        lambda r: responses.update({r.url: r.headers.get("content-security-policy", "")}),
    )
    page.reload()
    until_ready(page)
    for name in ("", "src/worker.js"):
        policy = responses[site + name]
        assert "default-src 'none'" in policy
        assert "script-src 'self' 'wasm-unsafe-eval'" in policy
        assert "unsafe-inline" not in policy
        assert "'unsafe-eval'" not in policy
    blocked = page.evaluate("() => fetch('http://localhost:1/').then(() => 'went out', () => 'no')")
    assert blocked == "no"
    page.wait_for_timeout(200)
    assert any("Content Security Policy" in line for line in watch.found)
    watch.found.clear()  # that was asked for


# ---- Requests and errors


def test_random_requests_are_right(page: Page) -> None:
    """Whole requests, pasted as JSON: rows, block and the saved results equal the reference."""
    rng = random.Random(20)
    for _ in range(12):
        request = random_request(rng, rng.choice(("documented", "dynamo-1.3")))
        type_ids(page, json.dumps(request))
        assert value(page, "contract") == request["contract"]
        assert value(page, "block-size") == str(request["block_size"])
        assert_right(page, request)
    name, text = saved(page, "export-results")
    assert json.loads(text) == reference.hash_request(request)
    assert request["contract"] in name
    assert f"bs{request['block_size']}" in name


def test_edits_are_right(page: Page) -> None:
    """Salt, LoRA name, block size, contract and runs, each typed, give the right keys."""
    tokens = list(range(100, 164))
    request: Json = {"tokens": tokens, "block_size": 16}
    type_ids(page, json.dumps(request))
    for testid, text, change in (
        ("salt", "tenant ü", {"salt": "tenant ü"}),
        ("lora_name", "adapter", {"lora_name": "adapter"}),
        ("block-size", "8", {"block_size": 8}),
        ("salt", "", {"salt": None}),
    ):
        page.get_by_test_id(testid).fill(text)
        settled(page)
        request.update(change)
        assert_right(page, request)
    page.get_by_test_id("contract-dynamo-1.3").check(force=True)
    settled(page)
    request["contract"] = "dynamo-1.3"
    assert_right(page, request)
    page.get_by_test_id("add-run").click()
    page.get_by_test_id("run-0-mm_hash").fill("18446744073709551615")
    page.get_by_test_id("run-0-offset").fill("9")
    page.get_by_test_id("run-0-length").fill("0x14")
    settled(page)
    request["mm_info"] = [{"mm_hash": "0xffffffffffffffff", "offset": 9, "length": 20}]
    assert_right(page, request)
    page.get_by_test_id("run-0-remove").click()
    settled(page)
    request["mm_info"] = []
    assert_right(page, request)


def test_an_error_stands_where_it_was_made(page: Page) -> None:
    """One message at the field, with the token's index; the other requests stay."""
    type_ids(page, "1, 2, 18446744073709551617, 4")
    fault = page.get_by_test_id("fault-tokens")
    expect(fault).to_contain_text("18446744073709551617")
    assert fault.get_attribute("data-index") == "2"
    assert page.get_by_test_id("tokens").get_attribute("aria-invalid") == "true"
    fault.get_by_role("button").click()
    chosen = page.evaluate(
        """() => {
          const box = document.querySelector("textarea.ids");
          return box.value.slice(box.selectionStart, box.selectionEnd);
        }"""
    )
    assert chosen == "18446744073709551617"
    expect(page.get_by_test_id("request-A")).to_contain_text("not hashed")
    expect(page.get_by_test_id("request-B")).to_contain_text("145 tokens")
    assert shown_rows(page, "A") == {}
    page.get_by_test_id("request-B").click()
    settled(page)
    assert value(page, "block-title").startswith("B:")
    assert value(page, "plh").startswith("0x")
    type_ids(page, '{"tokens": [1, 2, 3, 4]}')
    expect(fault).to_have_count(0)
    expect(page.get_by_test_id("request-A")).to_contain_text("4 tokens")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"tokens": [1, 2', "JSON is broken"),
        ('{"tokens": [1], "tocens": 2}', "tocens"),
        ('{"salt": "x"}', "tokens"),
        ('{"tokens": [1, 2], "mm_info": [{"mm_hash": 1, "offset": 1, "length": 9}]}', "offset"),
        ("12 apples", "apples"),
        ("[1.5]", "1.5"),
        ("-1", "-1"),
    ],
)
def test_bad_texts_are_refused_with_one_message(page: Page, text: str, said: str) -> None:
    """Broken JSON, unknown keys, no integers: said once, the text stays as typed."""
    type_ids(page, text)
    expect(page.locator(".fault")).to_have_count(1)
    expect(page.locator(".fault")).to_contain_text(said)
    assert page.get_by_test_id("tokens").input_value() == text


def test_a_bad_run_is_marked_at_its_field(page: Page) -> None:
    """The message is the package's, the field that is marked the one that is wrong."""
    page.get_by_test_id("run-0-length").fill("4000")
    settled(page)
    expect(page.get_by_test_id("fault-mm_info")).to_contain_text("145 tokens")
    assert page.get_by_test_id("run-0-offset").get_attribute("aria-invalid") == "true"
    page.get_by_test_id("run-0-length").fill("ten")
    settled(page)
    assert page.get_by_test_id("run-0-length").get_attribute("aria-invalid") == "true"
    page.get_by_test_id("run-0-length").fill("40")
    settled(page)
    expect(page.get_by_test_id("fault-mm_info")).to_have_count(0)


def test_a_bad_block_size_keeps_the_good_one(page: Page) -> None:
    """Zero, words and 2^32 are refused where they are typed."""
    before = shown_rows(page, "A")
    for text in ("0", "sixteen", "4294967296", "-4", ""):
        page.get_by_test_id("block-size").fill(text)
        expect(page.get_by_test_id("fault-block_size")).to_be_visible()
        assert value(page, "block-size") == "16"
    assert shown_rows(page, "A") == before
    page.get_by_test_id("block-size").fill("16")
    expect(page.get_by_test_id("fault-block_size")).to_have_count(0)


def test_too_much_is_refused_and_nothing_lost(page: Page, tmp_path: Path) -> None:
    """More than a million tokens, or a file of many megabytes: one message, the request stays."""
    before = shown_rows(page, "A")
    many = tmp_path / "many.json"
    many.write_text("[" + "1," * 1_000_000 + "1]")
    page.get_by_test_id("file").set_input_files(many)
    expect(page.get_by_test_id("notice-error")).to_contain_text("1000001 tokens", timeout=60_000)
    huge = tmp_path / "huge.json"
    huge.write_bytes(b" " * 17_000_000)
    page.get_by_test_id("file").set_input_files(huge)
    expect(page.get_by_test_id("notice-error").last).to_contain_text("17 MB")
    settled(page)
    assert shown_rows(page, "A") == before


def test_a_long_paste_goes_past_the_box(page: Page) -> None:
    """A pasted text that a text box cannot hold is read all the same; 200 MB are refused."""
    paste = """([size, token]) => {
      const text = token.repeat(size);
      const data = new DataTransfer();
      data.setData("text/plain", text);
      const box = document.querySelector("[data-testid=tokens]");
      box.focus();
      box.select();
      const event = { clipboardData: data, bubbles: true, cancelable: true };
      box.dispatchEvent(new ClipboardEvent("paste", event));
    }"""
    page.evaluate(paste, [50_000_000, "11, "])
    expect(page.get_by_test_id("notice-error")).to_contain_text("200 million characters")
    expect(page.get_by_test_id("request-A")).to_contain_text("145 tokens")
    page.evaluate(paste, [20_000, "11, "])
    expect(page.get_by_test_id("request-A")).to_contain_text("20\u202f000 tokens")
    settled(page)
    right = reference.hash_request({"tokens": [11] * 32})["blocks"]
    assert shown_rows(page, "A")[1] == (right[1]["plh"], right[1]["sequence_hash"])


def test_several_requests_in_one_file(page: Page, tmp_path: Path) -> None:
    """JSON lines fill the letters that are free."""
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"tokens": [i] * 20}) + "\n" for i in range(3)))
    page.get_by_test_id("request-D").click()
    page.get_by_test_id("file").set_input_files(path)
    for letter in "DEF":
        expect(page.get_by_test_id(f"request-{letter}")).to_contain_text("20 tokens")


# ---- Text


def test_text_is_tokenized_by_a_real_tokenizer(page: Page) -> None:
    """Llama 3's tokenizer, fetched when text is typed, gives its known ids."""
    page.get_by_test_id("add-request").click()
    settled(page)
    page.get_by_test_id("mode-text").check(force=True)
    page.get_by_test_id("prose").fill("<|begin_of_text|>You keep the night log.")
    expect(page.get_by_test_id("request-E")).to_contain_text("7 tokens", timeout=60_000)
    settled(page)
    page.get_by_test_id("mode-ids").check(force=True)
    expect(page.get_by_test_id("tokens")).to_have_value("128000, 2675, 2567, 279, 3814, 1515, 13")


TOKENIZER: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordLevel",
        "vocab": {"the": 5, "night": 6, "log": 7, "[UNK]": 0},
        "unk_token": "[UNK]",
    },
}


def test_a_tokenizer_json_of_ones_own(page: Page, tmp_path: Path) -> None:
    """A dropped tokenizer.json tokenizes; one that is none is refused and nothing changes."""
    page.get_by_test_id("add-request").click()
    settled(page)
    bad = tmp_path / "bad" / "tokenizer.json"
    bad.parent.mkdir()
    bad.write_text('{"added_tokens": []}')
    page.get_by_test_id("file").set_input_files(bad)
    expect(page.get_by_test_id("notice-error")).to_contain_text("not a tokenizer.json")
    good = tmp_path / "tokenizer.json"
    good.write_text(json.dumps(TOKENIZER))
    page.get_by_test_id("file").set_input_files(good)
    expect(page.get_by_test_id("tokenizer")).to_have_value("tokenizer.json")
    page.get_by_test_id("prose").fill("the night the log")
    expect(page.get_by_test_id("request-E")).to_contain_text("4 tokens", timeout=60_000)
    settled(page)
    page.get_by_test_id("mode-ids").check(force=True)
    expect(page.get_by_test_id("tokens")).to_have_value("5, 6, 5, 7")


# ---- Compare, tree, find


def test_compare_says_where_and_why(page: Page) -> None:
    """The sentence, the first differing block and slot, and what has equal content only."""
    expect(page.get_by_test_id("sentence")).to_contain_text("token 67")
    assert value(page, "sentence") == "token"
    assert value(page, "shared-blocks") == "4"
    assert value(page, "same-content") == "4"
    page.get_by_test_id("to-difference").click()
    settled(page)
    for letter in "AB":
        expect(page.get_by_test_id(f"slot-{letter}-67")).to_have_class(has_class("here"))
    assert page.get_by_test_id("row-A-0").get_attribute("data-also") == "B"
    assert page.get_by_test_id("row-A-4").get_attribute("data-standing") == "parted"
    assert page.get_by_test_id("row-B-6").get_attribute("data-standing") == "same"
    page.get_by_test_id("against").select_option("C")
    settled(page)
    assert value(page, "shared-blocks") == "9"
    assert value(page, "sentence") == "length"
    page.get_by_test_id("against").select_option("D")
    settled(page)
    assert value(page, "sentence") == "mm_hash"
    page.get_by_test_id("salt").fill("other")
    settled(page)
    assert value(page, "sentence") == "salt"
    assert value(page, "shared-blocks") == "0"
    expect(page.get_by_test_id("would-share")).to_contain_text("salt")


def has_class(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{name}\b")


def test_the_tree_counts_what_sharing_saves(page: Page) -> None:
    """22 of 39 blocks; an edge leads to its block; the same as a table."""
    assert value(page, "tree-sentence") == "272"
    expect(page.get_by_test_id("tree-sentence")).to_contain_text("22 of 39")
    page.get_by_test_id("edge-0").locator(".stroke").click(force=True)
    settled(page)
    assert value(page, "block-title").endswith(":0")


def test_find_leads_to_the_block(page: Page) -> None:
    """A hash in another notation is found and shown; a PLH is decoded even if nothing matches."""
    block = reference.hash_request({"tokens": list(range(64))})["blocks"][3]
    type_ids(page, json.dumps({"tokens": list(range(64))}), "C")
    number = int(block["sequence_hash"], 16)
    page.get_by_test_id("find").fill(str(number - (1 << 64) if number >> 63 else number))
    page.get_by_test_id("find-go").click()
    settled(page)
    expect(page.get_by_test_id("find-sentence")).to_contain_text("block 3 in C")
    page.get_by_test_id("match-0-go").click()
    settled(page)
    assert value(page, "block-title") == "C:3"
    page.get_by_test_id("find").fill("300:43c9JGph3DZ:11WBNjiWpo")
    page.get_by_test_id("find-go").click()
    settled(page)
    assert value(page, "find-answer") == "0"
    assert value(page, "decoded-sequence_hash") == f"0x{0x123456789ABCDEF0:016x}"
    assert value(page, "decoded-position") == f"0x{300:04x}"
    page.get_by_test_id("find").fill("what is this?")
    page.get_by_test_id("find-go").click()
    settled(page)
    expect(page.get_by_test_id("fault-find")).to_be_visible()


# ---- One selection


def test_a_slot_its_bytes_and_its_block_are_one_selection(page: Page) -> None:
    """A cell chooses its frame, a frame its cell, a field of the key its box in the chain step."""
    page.get_by_test_id("slot-A-40").click()
    settled(page)
    assert value(page, "block-title") == "A:2"
    assert page.get_by_test_id("frame-8").get_attribute("aria-pressed") == "true"
    token = int(value(page, "slot-A-40"))
    assert value(page, "frame-8") == token.to_bytes(4, "little").hex()
    page.get_by_test_id("frame-3").click()
    settled(page)
    assert page.get_by_test_id("slot-A-35").get_attribute("aria-selected") == "true"
    page.get_by_test_id("field-sequence_hash").get_by_role("button").click()
    expect(page.get_by_test_id("chain-sequence_hash")).to_have_class(has_class("linked"))
    page.get_by_test_id("to-parent").click()
    settled(page)
    assert value(page, "block-title") == "A:1"
    page.get_by_test_id("slot-A-80").click()
    settled(page)
    assert value(page, "frame-0").startswith("01")
    assert len(value(page, "frame-0")) == 26
    page.get_by_test_id("slot-A-144").click()
    expect(page.get_by_test_id("no-block")).to_contain_text("never hashed")


def test_notations(page: Page) -> None:
    """What is shown changes its spelling, never its value."""
    row = value(page, "sequence_hash")
    number = int(row, 16)
    shown = {
        "hex": row,
        "u64": str(number),
        "i64": str(number - (1 << 64) if number >> 63 else number),
        "base58": reference.base58(number),
    }
    for notation, text in shown.items():
        page.get_by_test_id(f"notation-{notation}").check(force=True)
        expect(page.get_by_test_id("sequence_hash")).to_have_text(text)
        assert value(page, "sequence_hash") == row
    expect(page.get_by_test_id("plh")).to_contain_text("4:")


def test_base58_of_javascript_is_the_packages(page: Page) -> None:
    """The two places that write base58 agree, leading zeros included."""
    rng = random.Random(58)
    numbers = [0, 1, 57, 58, 255, 256, (1 << 64) - 1] + [
        rng.getrandbits(rng.randrange(1, 65)) for _ in range(200)
    ]
    written = page.evaluate(
        "async (list) => list.map((await import('./src/format.js')).base58)",
        [f"0x{number:016x}" for number in numbers],
    )
    assert written == [reference.base58(number) for number in numbers]


# ---- Links and files


def test_share_and_open_again(page: Page, open_page: Open, site: str) -> None:
    """The link brings all back: requests, names, runs, contract, block size, selection."""
    request = {
        "tokens": [*range(60), 4294967295],
        "salt": "ü",
        "lora_name": "L",
        "mm_info": [{"mm_hash": "0xffffffffffffffff", "offset": 20, "length": 5}],
        "contract": "dynamo-1.3",
        "block_size": 8,
    }
    type_ids(page, json.dumps(request))
    page.get_by_test_id("slot-A-42").click()
    settled(page)
    page.get_by_test_id("share").click()
    url = page.get_by_test_id("share-url").input_value()
    page.get_by_test_id("dialog-close").click()
    assert url.startswith(site + "#v1.")
    before = shown_rows(page, "A")
    other = open_page(url.removeprefix(site))
    settled(other)
    assert shown_rows(other, "A") == before
    assert_right(other, request)
    assert value(other, "block-title") == "A:5"
    assert other.get_by_test_id("slot-A-42").get_attribute("aria-selected") == "true"
    assert value(other, "contract") == "dynamo-1.3"


def test_the_back_button_undoes(page: Page) -> None:
    """A change of the requests is a step of the history; selections are not."""
    page.get_by_test_id("block-size").fill("32")
    settled(page)
    page.wait_for_timeout(1600)
    page.get_by_test_id("add-request").click()
    settled(page)
    expect(page.get_by_test_id("request-E")).to_be_visible()
    page.go_back()
    settled(page)
    expect(page.get_by_test_id("request-E")).to_have_count(0)
    assert value(page, "block-size") == "32"
    page.go_forward()
    settled(page)
    expect(page.get_by_test_id("request-E")).to_be_visible()


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("#v9.abc", "version 9"),
        ("#v1.q1YqU7Iy", "damaged"),
        ("#v1.", "damaged"),
        ("#nonsense", "not one of this page"),
        (
            "#v1."
            + base64.urlsafe_b64encode(zlib.compress(b'{"v":1,"r":[]}', 9)[2:-4])
            .decode()
            .rstrip("="),
            "does not hold",
        ),
    ],
)
def test_a_bad_link_is_said_and_kept(page: Page, fragment: str, said: str) -> None:
    """Unknown versions and truncated links: one message, the page shows what it had."""
    before = shown_rows(page, "A")
    page.evaluate(
        "(f) => { history.pushState(null, '', f); dispatchEvent(new PopStateEvent('popstate')); }",
        fragment,
    )
    expect(page.get_by_test_id("notice-error")).to_contain_text(said)
    assert page.evaluate("() => location.hash") == fragment
    assert shown_rows(page, "A") == before


def test_what_is_too_big_for_a_link_is_a_file(page: Page, tmp_path: Path) -> None:
    """Above 32 KB the share dialog offers a file, and the file opens again."""
    rng = random.Random(32)
    tokens = [rng.randrange(1 << 32) for _ in range(9000)]
    path = tmp_path / "big.json"
    path.write_text(json.dumps(tokens))
    page.get_by_test_id("file").set_input_files(path)
    settled(page)
    page.get_by_test_id("share").click()
    expect(page.get_by_test_id("share-too-big")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_test_id("share-file").click()
    page.get_by_test_id("dialog-close").click()
    state = tmp_path / download.value.suggested_filename
    download.value.save_as(state)
    before = shown_rows(page, "A")
    page.get_by_test_id("salt").fill("gone")
    settled(page)
    assert shown_rows(page, "A") != before
    page.get_by_test_id("file").set_input_files(state)
    settled(page)
    assert shown_rows(page, "A") == before


def test_exports_name_their_contract(page: Page) -> None:
    """Five texts and four pictures, each with contract and block size in its name."""
    for testid in (
        *("export-request", "export-results", "export-csv", "export-python"),
        *("export-strip", "export-key", "export-chain", "export-tree", "export-state"),
    ):
        name, text = saved(page, testid)
        assert "documented" in name
        assert "bs16" in name
        assert len(text) > 200
        if name.endswith(".svg"):
            assert text.startswith("<svg")
            assert "contract documented" in text
            assert "class=" not in text


# ---- Keyboard, themes, sizes


def test_all_by_keyboard(page: Page) -> None:
    """Strip, edit, compare, find, help: no pointer needed."""
    page.keyboard.press("g")
    expect(page.get_by_test_id("strip")).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert value(page, "block-title") == "A:1"
    active = page.get_by_test_id("strip").get_attribute("aria-activedescendant")
    assert active == "c-A-17"
    pressed = """() => {
      const key = { key: "Enter", bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
      return document.activeElement.dataset.testid;
    }"""
    assert page.evaluate(pressed) == "slot-edit"  # at once: what follows must not be lost
    page.keyboard.type("77")
    page.keyboard.press("Enter")
    settled(page)
    assert value(page, "slot-A-17") == "77"
    expect(page.get_by_test_id("strip")).to_be_focused()
    assert value(page, "shared-blocks") == "1"
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("slot-edit")).to_be_focused()
    page.keyboard.type("x1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice-error")).to_contain_text("not a token")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    page.keyboard.press("d")
    settled(page)
    assert page.get_by_test_id("slot-A-17").get_attribute("aria-selected") == "true"
    page.keyboard.press("p")
    settled(page)
    assert value(page, "block-title") == "A:0"
    page.keyboard.press("v")
    expect(page.get_by_test_id("notation")).to_have_attribute("data-value", "u64")
    page.keyboard.press("c")
    settled(page)
    assert value(page, "contract") == "dynamo-1.3"
    page.keyboard.press("2")
    settled(page)
    assert value(page, "block-title").startswith("B:")
    page.keyboard.press("/")
    expect(page.get_by_test_id("find")).to_be_focused()
    page.keyboard.type(value(page, "block_hash"))
    page.keyboard.press("Enter")
    settled(page)
    assert value(page, "find-answer") != "0"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_test_id("dialog-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dialog-help")).not_to_be_visible()


def test_everything_can_be_reached_by_tab(page: Page) -> None:
    """Tab alone passes every control that is enabled, each with a visible focus."""
    seen: set[str] = set()
    for _ in range(140):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                "() => document.activeElement.dataset.testid ?? document.activeElement.tagName"
            )
        )
    for testid in (
        *("block-size", "share", "export", "theme", "help", "base", "against", "request-C"),
        *("tokens", "salt", "lora_name", "run-0-offset", "strip", "block-next", "frame-0", "find"),
    ):
        assert testid in seen, testid


@pytest.mark.parametrize(
    ("width", "height", "scheme"),
    [(360, 740, "light"), (360, 740, "dark"), (1440, 900, "dark"), (3840, 2160, "light")],
)
def test_nothing_sticks_out(page: Page, width: int, height: int, scheme: str) -> None:
    """From a phone to 4K, in both themes: no sideways scrolling, and the strip shows rows."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.evaluate(f"() => window.kvhash.store.set({{ theme: '{scheme}' }})")
    try:
        settled(page)
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= width
        assert len(shown_rows(page, "A")) >= 3
        paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        dark = sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(","))) < 300
        assert dark == (scheme == "dark")
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme="light")


def test_without_motion_nothing_moves(open_page: Open) -> None:
    """With reduced motion there are no transitions."""
    page = open_page(wait=False, reduced_motion="reduce")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((e) => {
          const css = getComputedStyle(e);
          const takes = css.transitionDuration.split(",").some((d) => parseFloat(d) > 0);
          return takes || css.animationName !== "none";
        }).length"""
    )
    assert moving == 0


AXE = (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def axe(page: Page) -> list[str]:
    """What axe-core finds wrong, as lines."""
    page.evaluate(AXE)
    found = page.evaluate(
        """async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
          .map((v) => `${v.id}: ${v.nodes.slice(0, 3)
            .map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join(" | ")}`)"""
    )
    return list(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_is_clean(page: Page, scheme: str) -> None:
    """The page, an error, a search with results and each dialog, in both themes."""
    page.evaluate(f"() => window.kvhash.store.set({{ theme: '{scheme}' }})")
    settled(page)
    assert axe(page) == []
    page.get_by_test_id("find").fill(value(page, "plh"))
    page.get_by_test_id("find-go").click()
    settled(page)
    page.get_by_test_id("run-0-length").fill("4000")
    page.get_by_test_id("block-size").fill("0")
    settled(page)
    assert axe(page) == []
    for dialog in ("help", "export", "share"):
        page.get_by_test_id(dialog).click()
        page.get_by_test_id(f"dialog-{dialog}").wait_for()
        assert axe(page) == []
        page.get_by_test_id("dialog-close").click()
    page.get_by_test_id("block-size").fill("16")


def test_testids_are_in_the_table(page: Page) -> None:
    """web/README.md lists every test id that the page has, by its pattern."""
    readme = (WEB / "README.md").read_text("utf-8")
    table = re.findall(r"^\| `([^`]+)` \|", readme, re.M)
    patterns = [re.compile(re.sub(r"<\w+>", r"[\\w.-]+?", re.escape(row)) + r"\Z") for row in table]
    found = page.evaluate(
        "() => [...document.querySelectorAll('[data-testid]')].map((e) => e.dataset.testid)"
    )
    missing = sorted({one for one in found if not any(p.match(one) for p in patterns)})
    assert missing == []


# ---- Big requests, and when things break


def test_131072_tokens(page: Page, tmp_path: Path) -> None:
    """A long request is scrolled with few nodes, edited in place, and right at its far end."""
    rng = random.Random(131072)
    tokens = [rng.randrange(128_000) for _ in range(131_072)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"tokens": tokens}))
    page.get_by_test_id("file").set_input_files(path)
    expect(page.get_by_test_id("request-A")).to_contain_text("131\u202f072 tokens", timeout=60_000)
    settled(page)
    page.get_by_test_id("strip").focus()
    page.keyboard.press("Control+End")
    settled(page)
    assert value(page, "block-title") == "A:8191"
    grid = page.get_by_test_id("strip")
    assert int(grid.get_attribute("aria-rowcount") or 0) > 8192
    assert grid.locator("*").count() < 1500
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("slot-edit")).to_be_focused()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    settled(page)
    tokens[-1] = 5
    right = reference.hash_request({"tokens": tokens})["blocks"]
    shown = shown_rows(page, "A")
    assert 8191 in shown
    for position, row in shown.items():
        assert row == (right[position]["plh"], right[position]["sequence_hash"])
    page.evaluate("() => { document.querySelector('[data-testid=strip]').scrollTop = 100000; }")
    settled(page)
    page.wait_for_timeout(300)
    kept = page.evaluate(
        """async () => {
          const grid = document.querySelector("[data-testid=strip]");
          const before = new Set(grid.querySelectorAll("[role=row]"));
          grid.scrollTop += 90;
          await new Promise((done) => setTimeout(done, 300));
          const after = [...grid.querySelectorAll("[role=row]")];
          return after.filter((row) => before.has(row)).length / after.length;
        }"""
    )
    assert kept > 0.9  # lines take turns with the nodes that are there
    settled(page)
    shown = shown_rows(page, "A")
    assert len(shown) > 5
    assert all(row[0] == right[position]["plh"] for position, row in shown.items())


def test_a_worker_that_hangs_is_replaced(page: Page) -> None:
    """The worker is ended and started again with a message, and nothing is lost."""
    type_ids(page, json.dumps({"tokens": list(range(1, 17))}))
    before = shown_rows(page, "A")
    page.evaluate("() => window.kvhash.act.client.restart('Python did not answer for 30 s')")
    expect(page.locator("body")).to_have_attribute("data-state", "loading")
    expect(page.get_by_test_id("notice-note")).to_contain_text("started again")
    page.get_by_test_id("salt").fill("while it is away")
    until_ready(page)
    settled(page)
    assert_right(page, {"tokens": list(range(1, 17)), "salt": "while it is away"})
    page.get_by_test_id("salt").fill("")
    settled(page)
    assert shown_rows(page, "A") == before


def test_a_silent_worker_is_noticed(open_page: Open) -> None:
    """A worker that says nothing ends in a message and a way to try again, not in waiting."""
    page = open_page(wait=False)
    until_ready(page)
    page.evaluate(
        """() => {
          const { act } = window.kvhash;
          act.client.call("rows", { id: "A", start: 0, stop: 1 }, null, 1).catch(() => {});
          act.client.worker.onmessage = null;
        }"""
    )
    expect(page.get_by_test_id("notice-note")).to_contain_text("started again")
    until_ready(page)


# What is kept for the next start: its addresses and a digest of its bytes; or the bytes spoilt.
MEMORY = """async (spoil) => {
  const cache = await caches.open("kvhash_pure: memory of Python");
  const requests = await cache.keys();
  const [request] = requests.filter(({ url }) => !url.endsWith("?old"));
  if (!request) return null;
  let kept = new Uint8Array(await (await cache.match(request)).arrayBuffer());
  if (spoil) {
    if (spoil === "short") kept = kept.slice(0, 64);
    if (spoil === "blank") kept.fill(0, 4096);
    if (spoil === "package") {
      const name = new TextEncoder().encode("unpack_buffer");
      for (let i = kept.indexOf(name[0]); i >= 0; i = kept.indexOf(name[0], i + 1)) {
        if (name.every((byte, j) => kept[i + j] === byte)) kept.fill(88, i, i + name.length);
      }
    }
    await cache.put(request, new Response(kept));
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", kept));
  return { urls: requests.map(({ url }) => url), digest: digest.join(" ") };
}"""
RECALLED = "() => window.kvhash.act.client.recalled"


def memory_of_python(page: Page, spoil: str = "") -> dict[str, Any]:
    """What the page keeps for its next start, once it does."""
    for _ in range(200):
        if kept := page.evaluate(MEMORY, spoil):
            return dict(kept)
        page.wait_for_timeout(50)
    raise AssertionError("no memory was kept")


def test_the_second_visit_starts_from_the_memory_of_the_first(open_page: Open) -> None:
    """Python's own start is skipped then; all else is done again, and hashes as before."""
    page = open_page(wait=False)
    page.evaluate(
        """async () => {
          const cache = await caches.open("kvhash_pure: memory of Python");
          await cache.put("memory-of-python?old", new Response("of another version"));
        }"""
    )
    until_ready(page)
    assert page.evaluate(RECALLED) is False
    page.wait_for_timeout(500)
    assert len(memory_of_python(page)["urls"]) == 1
    page.reload()
    until_ready(page)
    assert page.evaluate(RECALLED) is True
    assert page.locator("body").get_attribute("data-baked") == "reproduced"
    assert value(page, "selftest").split("/")[0] == value(page, "selftest").split("/")[1]
    request = {"tokens": list(range(7, 60)), "salt": "again"}
    type_ids(page, json.dumps(request))
    assert_right(page, request)
    page.evaluate("() => window.kvhash.act.client.restart('Python did not answer for 30 s')")
    until_ready(page)
    assert page.evaluate(RECALLED) is False  # what hung is not tried again
    assert_right(page, request)


@pytest.mark.parametrize("how", ["short", "blank", "package"])
def test_a_spoilt_memory_is_replaced(open_page: Open, how: str) -> None:
    """The page starts as on a first visit, be it no memory at all or one that cannot load ours."""
    page = open_page()
    memory_of_python(page)
    spoilt = memory_of_python(page, how)
    page.reload()
    until_ready(page)
    assert page.evaluate(RECALLED) is False
    assert page.locator("body").get_attribute("data-baked") == "reproduced"
    for _ in range(100):
        if memory_of_python(page)["digest"] != spoilt["digest"]:
            break
        page.wait_for_timeout(50)
    assert memory_of_python(page)["digest"] != spoilt["digest"]


def test_a_memory_with_other_hashes_is_thrown_away(open_page: Open, dist: Path) -> None:
    """A start that does not reproduce the example says so, and keeps no memory."""
    page = open_page()
    memory_of_python(page)
    baked = (dist / "src" / "baked.js").read_text("utf-8")
    row = re.search(r'sequence_hash\\":\\"0x([0-9a-f]{16})', baked)
    assert row
    other = baked.replace(row[1], row[1][::-1])
    page.route("**/src/baked.js", lambda r: r.fulfill(body=other, content_type="text/javascript"))
    for recalled in (True, False):
        page.reload()
        until_ready(page)
        assert page.evaluate(RECALLED) is recalled
        assert page.locator("body").get_attribute("data-baked") == "differs"
        expect(page.get_by_test_id("notice-error")).to_contain_text("Do not trust either")
        page.wait_for_timeout(500)
        assert page.evaluate("async () => await caches.keys()") == []


def test_works_offline_once_loaded(chromium: Browser, site: str) -> None:
    """After one visit the server may go: the page comes from its cache, Python included."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(site)
    until_ready(page)
    page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    for _ in range(200):
        if page.evaluate(
            """async () => {
              const names = (await caches.keys()).map((name) => name.split(/[:-]/)[0]);
              const all = names.includes("kvhash") && names.includes("kvhash_pure");
              return all && !!navigator.serviceWorker.controller;
            }"""
        ):
            break
        page.wait_for_timeout(100)
    context.set_offline(True)
    page.reload()
    until_ready(page)
    assert page.locator("body").get_attribute("data-baked") == "reproduced"
    assert page.evaluate(RECALLED) is True
    context.close()
