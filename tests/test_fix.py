"""The three blocks to paste."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.builders import CWD, ClaudeFolder
from tests.conftest import Demo
from tests.wasteful import LONG, PAGE, chat, three_kinds


def test_the_session_prompt_names_the_files_with_their_messages(folder: ClaudeFolder) -> None:
    """One bullet a file, numbers from 1."""
    three_kinds(folder).write()
    found = folder.crusts("fix", "--json").json()
    prompt = found["sessionPrompt"]
    assert prompt.startswith("Do not read these files again unless they were changed")
    assert "- kept.py (read again without need at #24)" in prompt.splitlines()
    assert {"schema_version", "sessionId", "sessionPrompt", "claudeMdSnippet", "compactCommand"} == found.keys()


def test_the_session_prompt_warns_when_the_window_is_about_full(folder: ClaudeFolder) -> None:
    """Below 20 calls, naming the unit."""
    t = folder.main()
    t.prompt("go on")
    for context in range(155_000, 165_001, 2_000):
        t.response(LONG, context=context, output=60)
    t.write()
    prompt = folder.crusts("fix", "--json").json()["sessionPrompt"]
    assert "about 2 calls (1 to 9) until it is compacted" in prompt


def test_the_snippet_for_claude_md(folder: ClaudeFolder) -> None:
    """Two files read again, and two compactions."""
    t = folder.main()
    t.prompt("look")
    t.response(LONG, context=30_000)
    for _ in range(2):
        t.boundary("auto", 31_000, 900)
        t.summary()
        t.response(LONG, context=30_000)
    for name in ("a.py", "b.py"):
        t.read(f"{CWD}/{name}", PAGE, context=40_000)
        t.read(f"{CWD}/{name}", PAGE, context=42_000)
    t.response(LONG + "a.py b.py", context=44_000)
    t.write()
    snippet = folder.crusts("fix", "--json").json()["claudeMdSnippet"]
    assert "- a.py: [describe what it holds]" in snippet.splitlines()
    assert ["## Key files", "## Sessions"] == [line for line in snippet.splitlines() if line.startswith("## ")]


@pytest.mark.parametrize(("context", "command"), [(90_000, None), (120_000, None), (150_000, "/compact")])
def test_the_command_without_anything_to_name(folder: ClaudeFolder, context: int, command: str | None) -> None:
    """None below 70 per cent, plain from there on."""
    t = folder.main()
    t.prompt("go on")
    t.response(LONG, context=context)
    t.write()
    assert command == folder.crusts("fix", "--json").json()["compactCommand"]


def test_no_command_below_half_of_the_limit(folder: ClaudeFolder) -> None:
    """Whatever there is to name."""
    three_kinds(folder, context=90_000).write()
    assert folder.crusts("fix", "--json").json()["compactCommand"] is None


def test_nothing_to_fix(folder: ClaudeFolder) -> None:
    """One line that says so, and null three times."""
    t = folder.main()
    chat(t, 1)
    t.write()
    assert "Nothing to fix: the window is healthy, at 15% of its limit.\n" == folder.crusts("fix").out
    found = folder.crusts("fix", "--json").json()
    assert [None, None, None] == [found[key] for key in ("sessionPrompt", "claudeMdSnippet", "compactCommand")]


def test_until(folder: ClaudeFolder) -> None:
    """The blocks of the session as it stood at a message."""
    three_kinds(folder).write()
    assert folder.crusts("fix", "--json", "--until", "20").json()["sessionPrompt"] is None


def test_golden(demo: Demo, folder: ClaudeFolder, golden: Callable[[str, str], None]) -> None:
    """What a person reads."""
    three_kinds(folder).write()
    golden("fix.txt", folder.crusts("fix", COLUMNS="100").out)
    found = demo.crusts("fix", "--no-index", "d3300008", "--json").json()
    golden("fix.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")
