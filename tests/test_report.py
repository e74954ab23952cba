"""`crusts report`: the page in a real browser, hostile text in it, Markdown, and which file is written."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crusts_index.render.contents import category_name
from crusts_index.render.report_pages import escape_markdown, fenced
from tests.browser import Browser, Page, find_browser
from tests.builders import CWD, SESSION, ClaudeFolder
from tests.conftest import Demo, IndexedFolder
from tests.wasteful import three_kinds

OTHER = "6e551001-0000-4000-8000-000000000002"
HURT = "window.hurt=(window.hurt||0)+1;alert(1)"
EVIL = (
    f"</script><script>{HURT}</script></style></title><img src=x onerror=\"{HURT}\"><svg onload='{HURT}'><!-- "
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u2066 a\u2028b \"double\" 'single' {{ 7*7 }} {% raw %} `tick` | pipe "
    "$x$ **bold** [link](javascript:alert(1)) ![image](http://example.invalid/x.png) <b>&lt;"
)
"""What a transcript may hold: markup that would run, escape sequences, bidi controls, template and Markdown syntax."""
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Reading(html.parser.HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.blocks: dict[str, list[str]] = {"style": [], "script": [], "script application/json": []}
        self.policy = ""
        self._into: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if tag in ("style", "script"):
            self._into = self.blocks[f"{tag} {given.get('type', '')}".strip()]
            self._into.append("")
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data


def hostile(folder: ClaudeFolder) -> None:
    """A session with EVIL wherever a transcript has text, compacted, and three quarters full."""
    t = folder.main(cwd=f"/home/ada/{EVIL}", version=f"2.1.220{EVIL}", model=f"model{EVIL}", branch=EVIL)
    t.meta("custom-title", customTitle=EVIL)
    t.prompt(EVIL)
    t.read(f"/home/ada/{EVIL}", "x = 1\n" * 400, context=60_000)
    t.call(f"mcp__{EVIL}__{EVIL}", {"q": EVIL}, EVIL * 9, context=62_000)
    t.bash(EVIL, EVIL * 20, context=65_000)
    t.response(f"We decided to use {EVIL}. " * 30, context=66_000)
    t.boundary(pre=66_000, post=900, userContext=EVIL)
    t.summary(EVIL)
    for _ in range(2):
        t.read(f"/home/ada/{EVIL}.py", "y = 2\n" * 900, context=140_000)
    t.prompt(f"that works, thanks {EVIL}"[:90])
    t.response(EVIL, context=150_000)
    t.write()
    agent = folder.subagent(meta={"agentType": EVIL, "description": EVIL}, model=EVIL)
    agent.prompt(EVIL)
    agent.response(EVIL, context=9_000)
    agent.write()
    other = folder.main(OTHER, cwd=f"/home/ada/{EVIL}")
    other.meta("custom-title", customTitle=f"b{EVIL}")
    other.prompt(EVIL)
    other.response("hi", context=20_000)
    other.write()


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """An empty config folder."""
    return IndexedFolder(tmp_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium; a machine without one must have one where CI says so."""
    if find_browser() is None and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine")
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, demo: Demo) -> dict[str, Path]:
    """Reports of every kind: of the demo, of a session with texts to paste, and of hostile ones."""
    base = tmp_path_factory.mktemp("pages")
    made: dict[str, Path] = {}

    def make(name: str, crusts: Any, *args: str) -> None:
        made[name] = base / f"{name}.html"
        done = crusts("report", *args, "--output", str(made[name]))
        assert (0, f"{made[name]}\n") == (done.code, done.out), done.err

    make("session", demo.crusts, "d3300008")
    make("compare", demo.crusts, "d3300006", "--compare", "d3300008")
    make("project", demo.crusts, "--project", "orchard")
    wasteful = IndexedFolder(base / "wasteful")
    three_kinds(wasteful).write()
    make("paste", wasteful.crusts, SESSION)
    evil = IndexedFolder(base / "evil")
    hostile(evil)
    make("evil-session", evil.crusts, SESSION)
    make("evil-compare", evil.crusts, SESSION, "--compare", OTHER)
    make("evil-project", evil.crusts, "--project", "home")
    return made


KINDS = ("session", "compare", "project", "paste", "evil-session", "evil-compare", "evil-project")


# ------------------------------------------------------------------ in the browser


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (1100, "dark"), (360, "light"), (360, "dark")])
def test_a_page_is_quiet_and_fits(browser: Browser, pages: dict[str, Path], kind: str, width: int, scheme: str) -> None:
    """No error, warning or dialog, no request but for the page itself, nothing run, nothing wider than the screen."""
    page = browser.open(pages[kind], width=width, scheme=scheme)
    assert width == page.ask("document.documentElement.scrollWidth")
    wide = page.ask(
        "[...document.querySelectorAll('main *, footer *')].filter(one => !one.closest('.scroll, svg') && "
        f"one.getBoundingClientRect().right > {width}).map(one => one.outerHTML.slice(0, 200))"
    )
    assert [] == wide
    ground, ink = page.ask("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
    bright, dark = (ink, ground) if scheme == "dark" else (ground, ink)
    assert brightness(bright) > 200
    assert brightness(dark) < 60
    assert page.ask("typeof window.hurt") == "undefined"
    assert [] == page.complaints
    assert [pages[kind].resolve().as_uri()] == page.requests
    page.close()


def brightness(colour: str) -> float:
    """The mean of the parts of an rgb() colour."""
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(parts) / 3


@pytest.mark.long
def test_hostile_text_is_shown_as_it_is(browser: Browser, pages: dict[str, Path]) -> None:
    """What looks like markup or a template stands there to be read; control characters are gone."""
    for kind in ("evil-session", "evil-compare", "evil-project"):
        page = browser.open(pages[kind])
        said = page.ask("document.querySelector('h1').innerText + document.querySelector('main').innerText")
        assert f"<script>{HURT}</script>" in said
        assert "{{ 7*7 }} {% raw %} `tick` | pipe" in said
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", said)
        assert "gnp.exe" in said
        assert "[31m" not in said
        assert 0 == page.ask("document.querySelectorAll('img, b:not(.legend b), main script:not([type])').length")
        page.close()


def test_the_policy_stops_what_gets_in_all_the_same(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    """Were a script, a handler, a picture or a style to get into the page, none of them would load or run."""
    text = pages["session"].read_text()
    bad = f"<script>{HURT}</script><img src='http://127.0.0.1:9/x.png' onerror='{HURT}'><p style='color:red'>x</p>"
    broken = tmp_path / "broken.html"
    broken.write_text(text.replace("<main>", f"<main>{bad}", 1))
    page = browser.open(broken)
    assert page.ask("typeof window.hurt") == "undefined"
    assert page.ask("getComputedStyle(document.querySelector('main > p[style]')).color") != "rgb(255, 0, 0)"
    assert len(page.complaints) >= 3
    assert all("Content Security Policy" in said for said in page.complaints), page.complaints
    page.close()


def readout(page: Page, chart: str) -> tuple[str, list[str]]:
    """What a chart says of the place that is chosen."""
    said = page.ask(
        f"(c => [c.querySelector('.head').textContent, [...c.querySelectorAll('dd span[data-form]')]"
        f".map(one => one.textContent)])(document.querySelector('{chart}'))"
    )
    return said[0], said[1]


def focus(page: Page, selector: str) -> None:
    """Go to an element by the Tab key alone."""
    for _ in range(200):
        page.press("Tab")
        if page.ask(f"document.activeElement.matches('{selector}')"):
            return
    pytest.fail(f"the Tab key does not lead to {selector}")


@pytest.mark.long
def test_the_chart_goes_from_call_to_call_by_key(browser: Browser, pages: dict[str, Path]) -> None:
    """The arrow keys, Home and End choose a call; a screen reader hears it."""
    page = browser.open(pages["session"])
    head, last = readout(page, "#curve")
    assert re.match(r"Call 81 of 81 · 2026-11-\d\d \d\d:\d\d · message 174 · claude-opus-4-8$", head)
    focus(page, "#curve .plot")
    assert (head, last) == readout(page, "#curve")
    page.press("ArrowLeft")
    head, before = readout(page, "#curve")
    assert head.startswith("Call 80 of 81")
    assert number(last[1]) == number(last[0]) - number(before[0])
    page.press("Home")
    head, first = readout(page, "#curve")
    assert head.startswith("Call 1 of 81")
    assert first[1] == "–"
    assert "1" == page.ask("document.activeElement.getAttribute('aria-valuenow')")
    assert f"{head}, context {first[0]}" in page.ask("document.activeElement.getAttribute('aria-valuetext')")
    page.press("ArrowRight")
    page.press("End")
    assert readout(page, "#curve")[0].startswith("Call 81 of 81")
    assert [] == page.complaints
    page.close()


@pytest.mark.long
def test_the_chart_goes_from_call_to_call_by_mouse(browser: Browser, pages: dict[str, Path]) -> None:
    """Pointing at the left end shows the first call, at the middle one in the middle, with a line where it is."""
    page = browser.open(pages["session"], width=360)
    x, y = page.middle("#curve .plot")
    wide = page.ask("document.querySelector('#curve .plot').getBoundingClientRect().width")
    assert page.ask("document.querySelector('#curve .cursor').getBoundingClientRect().height") == 0
    page.move(x, y)
    assert readout(page, "#curve")[0].startswith("Call 41 of 81")
    page.move(x - wide / 2 + 1, y)
    assert readout(page, "#curve")[0].startswith("Call 1 of 81")
    assert page.ask("document.querySelector('#curve .cursor').getBoundingClientRect().height") > 200
    page.close()


def test_every_call_shows_its_own_numbers(browser: Browser, pages: dict[str, Path], demo: Demo) -> None:
    """Context is as billed, the categories add up to it, the growth to the difference, and compactions are marked."""
    page = browser.open(pages["session"])
    values = page.ask("JSON.parse(document.querySelector('#curve script').textContent).values")
    assert 81 == len(values)
    segments = demo.crusts("models", "d3300008", "--json").json()["segments"]
    names = ("totalInputTokens", "cacheReadTokens", "cacheCreationTokens")
    billed = sum(one[name] for one in segments for name in names)
    assert billed == sum(context for context, *_ in values)
    for context, _, *bands in values:
        assert context == sum(bands)
    grown = [growth for _, growth, *_ in values]
    assert 2 == grown.count(None)  # the first call, and the first after the compaction
    for before, after in pairwise(values):
        assert after[1] is None or after[1] == after[0] - before[0]
    assert ["1"] == page.ask("[...document.querySelectorAll('#curve .cut-name')].map(one => one.textContent)")
    place = grown.index(None, 1)
    (lost,) = demo.crusts("lost", "d3300008", "--json").json()["events"]
    assert values[place][0] == lost["after"]
    said = f"Compaction 1, auto: {lost['before']:,} → {lost['after']:,} tokens"
    assert said == page.ask("document.querySelector('#curve g title').textContent")
    page.close()


def number(said: str) -> int:
    """`+1,234` as a number."""
    return int(said.replace(",", ""))


@pytest.mark.long
def test_the_columns_of_a_project_can_be_chosen(browser: Browser, pages: dict[str, Path], demo: Demo) -> None:
    """Sessions one by one, by key and by mouse."""
    window = demo.crusts("analyze", "d3300008", "--json").json()["breakdown"]
    page = browser.open(pages["project"])
    head, last = readout(page, "#sessions")
    assert "Move reports to the query layer · d3300008" in head
    assert [f"{window['total_tokens']:,}", f"{window['usage_percentage']:.1f}%"] == last[:2]
    assert "1" == last[4]
    focus(page, "#sessions .plot")
    page.press("ArrowLeft")
    assert "Settlement report times out" in readout(page, "#sessions")[0]
    assert [3] == page.ask(
        "[...document.querySelectorAll('#sessions .column')].flatMap((c, i) => c.matches('.on') ? [i + 1] : [])"
    )
    x, y = page.middle("#days .plot")
    page.move(x, y)
    assert readout(page, "#days")[0] != "Fri 20 Nov 2026"
    assert [] == page.complaints
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("clipboard", [True, False])
def test_texts_are_copied_by_mouse_and_by_key(browser: Browser, pages: dict[str, Path], clipboard: bool) -> None:
    """What lands in the clipboard is the text to the letter; also where the page has no clipboard of its own."""
    browser.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    hide = (
        "window.real = navigator.clipboard; Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        if not clipboard
        else "window.real = navigator.clipboard;"
    )
    page = browser.open(pages["paste"], before=hide)
    texts = page.ask("[...document.querySelectorAll('.paste pre')].map(one => one.textContent)")
    buttons = page.ask("[...document.querySelectorAll('button[data-copy]')].map(one => one.dataset.copy)")
    assert ["do-1", "do-2"] == buttons
    assert texts[0].startswith('/compact focus "')
    page.ask("window.real.writeText('nothing')")
    page.click(*page.middle("button[data-copy=do-1]"))
    assert "Copied" == said_by(page, "do-1")
    assert texts[0] == page.ask("window.real.readText()")
    for key, name, text in ((" ", "do-1", texts[0]), ("Enter", "do-2", texts[1])):
        page.ask("window.real.writeText('nothing')")
        page.ask("document.activeElement.blur()")
        focus(page, f"button[data-copy={name}]")
        page.press(key)
        assert "Copied" == said_by(page, name)
        assert text == page.ask("window.real.readText()")
        assert page.ask(f"document.activeElement.matches('button[data-copy={name}]')")
    assert [] == page.complaints
    page.close()


def said_by(page: Page, name: str) -> str:
    """What a button says once it was pressed."""
    return str(
        page.ask(
            f"new Promise(done => {{ const b = document.querySelector('button[data-copy={name}]'); const look = () => "
            "b.textContent === 'Copy' ? setTimeout(look, 10) : done(b.textContent); look(); })"
        )
    )


@pytest.mark.long
def test_without_a_clipboard_at_all_the_text_is_selected(browser: Browser, pages: dict[str, Path]) -> None:
    """Where nothing lets the page copy, the text is ready for the reader's own hands, and the button says so."""
    hide = "Object.defineProperty(navigator, 'clipboard', { value: undefined }); document.execCommand = () => false;"
    page = browser.open(pages["paste"], before=hide)
    page.click(*page.middle("button[data-copy=do-1]"))
    assert "Selected" == said_by(page, "do-1")
    assert page.ask("getSelection().toString()") == page.ask("document.querySelector('#do-1').textContent")
    page.close()


@pytest.mark.long
def test_a_page_without_scripts_says_the_same(browser: Browser, pages: dict[str, Path]) -> None:
    """Numbers, curve and tables are there before any script runs; buttons that could do nothing are not."""
    page = browser.open(pages["paste"])
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.loaded = False
    page.send("Page.reload")
    browser.wait(lambda: page.loaded)
    assert page.ask("document.querySelectorAll('#curve .band').length") >= 4
    assert page.ask("document.querySelector('#curve .head').textContent").startswith("Call ")
    assert 0 == page.ask("[...document.querySelectorAll('button')].filter(one => one.offsetParent).length")
    page.close()


@pytest.mark.long
def test_on_paper(browser: Browser, pages: dict[str, Path]) -> None:
    """Printed from a dark screen it is dark on white, without buttons, and nothing is cut off at the side."""
    page = browser.open(pages["paste"], width=794, scheme="dark")
    page.media("dark", "print")
    ground, ink = page.ask("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
    assert ("rgb(255, 255, 255)", "rgb(0, 0, 0)") == (ground, ink)
    assert 0 == page.ask("[...document.querySelectorAll('button, nav')].filter(one => one.offsetParent).length")
    assert page.pdf().startswith(b"%PDF-")
    page.close()


# ------------------------------------------------------------------ the file itself


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_stands_by_itself(pages: dict[str, Path], kind: str) -> None:
    """Tags are balanced; nothing is loaded, nothing runs inline; the policy names the hashes of what is in it."""
    text = pages[kind].read_text(encoding="utf-8")
    found = Reading(text)
    assert [] == found.open
    assert [] == [one for one in found.attributes if one[1].startswith("on") or one[1] in ("style", "src", "srcset")]
    links = [value for _, name, value in found.attributes if name in ("href", "xlink:href", "action", "data")]
    assert all(value.startswith("#") or value == "data:," for value in links), links
    (style,), (script,) = found.blocks["style"], found.blocks["script"]
    digests = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in (style, script)]
    assert (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'" == found.policy
    )
    assert "url(" not in style
    assert "@import" not in style
    for block in found.blocks["script application/json"]:
        assert not set("<>&\u2028\u2029") & set(block)
        json.loads(block)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_ids_are_there_once(pages: dict[str, Path]) -> None:
    """Links within the page and buttons find what they name."""
    for path in pages.values():
        found = Reading(path.read_text(encoding="utf-8"))
        ids = [value for _, name, value in found.attributes if name == "id"]
        assert len(ids) == len(set(ids))
        named = [value.removeprefix("#") for _, name, value in found.attributes if name in ("href", "data-copy")]
        assert set(named) - {"data:,"} <= set(ids)


def test_files_are_named_after_their_sessions(demo: Demo, tmp_path: Path) -> None:
    """In the folder where one is, and its name is all that is printed."""
    given = [
        (("d3300008",), "crusts-report-d3300008.html"),
        (("d3300008", "--format", "MD"), "crusts-report-d3300008.md"),
        (("d3300006", "--compare", "d3300008"), "crusts-compare-d3300006-d3300008.html"),
        (("--project", "lantern", "--since", "2026-11-01"), "crusts-report-lantern.html"),
        (("--since", "2026-11-01"), "crusts-report-all.html"),
    ]
    for args, name in given:
        done = demo.crusts("report", *args, cwd=tmp_path)
        assert (0, f"{name}\n") == (done.code, done.out), done.err
    assert sorted(name for _, name in given) == sorted(path.name for path in tmp_path.iterdir())


def test_json_is_that_of_analyze_and_compare(demo: Demo, tmp_path: Path) -> None:
    """And nothing is written."""
    same = [
        (("d3300008",), ("analyze", "d3300008")),
        (("d3300006", "--compare", "d3300008"), ("compare", "d3300006", "d3300008")),
    ]
    for report, other in same:
        one = demo.crusts("report", *report, "--json", cwd=tmp_path).json()
        assert demo.crusts(*other, "--json").json() == one
    found = demo.crusts("report", "--project", "orchard", "--json", cwd=tmp_path).json()
    assert 4 == len(found["sessions"])
    assert {"sessions", "usage", "days", "tools", "servers", "files", "categories", "waste"} <= set(found)
    assert [] == list(tmp_path.iterdir())


def test_the_numbers_are_those_of_the_other_commands(demo: Demo) -> None:
    """Window, categories, waste, losses and cost, whichever command says them."""
    page = re.sub(" +", " ", demo.crusts("report", "d3300008", "--format", "md", "--output", "-").out)
    analyzed = demo.crusts("analyze", "d3300008", "--json").json()
    breakdown = analyzed["breakdown"]
    assert f"**{breakdown['total_tokens']:,} of {breakdown['context_limit']:,} tokens**" in page
    for bucket in breakdown["currentContext"]["buckets"]:
        assert f"| {category_name(bucket['category'])} | {bucket['tokens']:,} |" in page
    for item in analyzed["waste"]:
        if item["estimated_tokens"] and not item["excuse"]:
            assert f"| {item['severity']} | {item['estimated_tokens']:,} | {item['accuracy']} |" in page
    lost = demo.crusts("lost", "d3300008", "--json").json()
    assert f"{lost['grandTotalLost']:,} tokens lost in all" in page
    cost = demo.crusts("compare", "d3300008", "d3300008", "--json").json()["cost"]
    assert f"| billed to the session | {cost['callsA']} |" in page
    assert f"${cost['usdA']:,.2f} |" in page


def test_a_period_takes_what_is_in_it(demo: Demo) -> None:
    """Sessions last active in it, calls made in it."""
    everything = demo.crusts("report", "--project", "orchard", "--json").json()
    one = demo.crusts("report", "--project", "orchard", "--since", "2026-11-19", "--json").json()
    assert ["d3300008"] == [session["sessionId"][:8] for session in one["sessions"]]
    assert sum(row["calls"] for row in one["days"]) < sum(row["calls"] for row in everything["days"])
    assert all(row["key"] >= "2026-11-19" for row in one["days"])
    none = demo.crusts("report", "--project", "no such project", "--format", "md", "--output", "-")
    assert "No session was active in this period." in none.out


@pytest.mark.parametrize(
    "args",
    [
        ("--format", "pdf"),
        ("d3300008", "--since", "7d"),
        ("--compare", "d3300008", "--since", "7d"),
        ("--since", "yesterday-ish"),
    ],
)
def test_wrong_usage(demo: Demo, args: tuple[str, ...]) -> None:
    """Exit 2, and no file."""
    done = demo.crusts("report", *args)
    assert (2, "") == (done.code, done.out)


def test_what_cannot_be_written(demo: Demo, tmp_path: Path) -> None:
    """One line saying so, exit 1, nothing left behind; a file that is there is replaced whole."""
    done = demo.crusts("report", "d3300008", "--output", str(tmp_path / "no" / "such.html"))
    assert (1, "", 1) == (done.code, done.out, len(done.err.strip().splitlines()))
    done = demo.crusts("report", "d3300008", "--output", str(tmp_path))
    assert (1, 1) == (done.code, len(done.err.strip().splitlines()))
    assert [] == list(tmp_path.iterdir())
    target = tmp_path / "old.html"
    target.write_text("old")
    assert 0 == demo.crusts("report", "d3300008", "--output", str(target)).code
    assert target.read_text().startswith("<!doctype html>")
    assert ["old.html"] == [path.name for path in tmp_path.iterdir()]
    done = demo.crusts("report", "ffff", cwd=tmp_path)
    assert (1, 1) == (done.code, len(done.err.strip().splitlines()))


def test_a_session_without_a_call(folder: ClaudeFolder) -> None:
    """A report all the same, in both forms; a comparison with it, too."""
    t = folder.main()
    t.prompt("hello there")
    t.write()
    u = folder.main(OTHER)
    u.prompt("hello")
    u.response("hi", context=20_000)
    u.write()
    assert "No API call yet." in folder.crusts("report", SESSION, "--output", "-").out
    assert "No call made it grow." in folder.crusts("report", SESSION, "--format", "md", "--output", "-").out
    for form in ("html", "md"):
        assert 0 == folder.crusts("report", SESSION, "--compare", OTHER, "--format", form, "--output", "-").code
    assert 0 == folder.crusts("report", "--since", "2020-01-01", "--output", "-").code


def test_an_id_is_no_path(folder: ClaudeFolder) -> None:
    """A session whose id is no UUID names a file in this folder, not elsewhere."""
    t = folder.main("../../up and away")
    t.path = folder.project_folder(CWD) / "odd.jsonl"
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.write()
    assert "crusts-report-upandawa.html\n" == folder.crusts("report", "--last", "1").out


# ------------------------------------------------------------------ Markdown


def test_markdown_keeps_hostile_text_in_its_place(tmp_path: Path) -> None:
    """No HTML, no cell too many, no link, no picture; fences end where the text does."""
    folder = IndexedFolder(tmp_path)
    hostile(folder)
    for args in ((SESSION,), (SESSION, "--compare", OTHER), ("--project", "home")):
        done = folder.crusts("report", *args, "--format", "md", "--output", "-")
        assert 0 == done.code, done.err
        outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", done.out.replace("`crusts timeline`", ""))
        assert "<" not in outside
        assert not re.search(r"(?<!\\)[\[`]", outside)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.out)
        columns = 0
        for line in outside.splitlines():
            bars = len(re.findall(r"(?<!\\)\|", line))
            columns = bars if not columns or not bars else columns
            assert columns == bars or not bars, line


@pytest.mark.parametrize(
    ("said", "escaped"),
    [
        ("plain_name.py costs $5 #3", "plain_name.py costs $5 #3"),
        ("a|b `c` *d* [e](f) ~g~ \\", "a\\|b \\`c\\` \\*d\\* \\[e\\](f) \\~g\\~ \\\\"),
        ("_x_ and $x$", "\\_x\\_ and \\$x\\$"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("-5", "-5"),
        ("12. twelve", "12\\. twelve"),
        ("12.5 of it", "12.5 of it"),
        ("===", "\\==="),
        ("two\nlines\x1b[31m", "two lines"),
    ],
)
def test_markdown_is_escaped_where_it_must_be(said: str, escaped: str) -> None:
    """And left readable where it need not be."""
    assert escaped == escape_markdown(said)


def test_a_fence_is_longer_than_any_in_it() -> None:
    """Backticks within the text do not end the block."""
    assert "````text\na ``` b\n````" == fenced("a ``` b")


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The Markdown of the demo's reports is in the golden files."""
    given = {
        "report.md": ("d3300008",),
        "report-compare.md": ("d3300006", "--compare", "d3300008"),
        "report-project.md": ("--project", "orchard", "--since", "2026-11-01", "--until", "2026-11-20"),
    }
    for name, args in given.items():
        out = demo.crusts("report", *args, "--format", "md", "--output", "-").out
        golden(name, re.sub(r"(?m)^Made by crusts .*$", "Made by crusts.", out))
