"""`crusts fix`: the list of what to do as texts to paste."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.builders import CWD, ClaudeFolder
from tests.conftest import Demo
from tests.wasteful import LONG, PAGE, chat, three_kinds


def test_the_three_texts_that_older_programs_know(folder: ClaudeFolder) -> None:
    """To say with files and their messages, numbers from 1; to type; beside the list itself."""
    three_kinds(folder).write()
    found = folder.crusts("fix", "--json").json()
    prompt = found["sessionPrompt"]
    assert prompt.startswith("Do not read these files again unless they were changed")
    assert "- kept.py (read again without need at #24)" in prompt.splitlines()
    assert found["compactCommand"] == next(one["do"] for one in found["actions"] if one["id"] == "compact-focus")
    said = {"sessionPrompt", "claudeMdSnippet", "compactCommand", "actions"}
    assert {"schema_version", "sessionId", "window"} | said == found.keys()


def test_the_snippet_for_claude_md(folder: ClaudeFolder, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What not to read, where such files were read and CLAUDE.md does not say so yet."""
    project = tmp_path_factory.mktemp("site")
    (project / "CLAUDE.md").write_text("# Site\n")
    t = folder.main(project=str(project))
    t.prompt("look")
    t.read(f"{project}/node_modules/x.js", PAGE, context=40_000)
    t.response(LONG + "x.js", context=44_000)
    t.write()
    assert "- node_modules/ folders" in folder.crusts("fix", "--json").json()["claudeMdSnippet"].splitlines()


@pytest.mark.parametrize(("context", "command"), [(90_000, None), (120_000, "/compact"), (150_000, "/compact")])
def test_the_command_without_anything_to_name(folder: ClaudeFolder, context: int, command: str | None) -> None:
    """From half of the limit on, as everywhere."""
    t = folder.main()
    t.prompt("go on")
    t.response(LONG, context=context)
    t.write()
    assert command == folder.crusts("fix", "--json").json()["compactCommand"]


def test_nothing_to_fix_is_said_only_where_the_list_is_empty(folder: ClaudeFolder) -> None:
    """One line that says so, and null three times."""
    t = folder.main()
    chat(t, 1)
    t.write()
    assert "Nothing to fix: the window is healthy, at 15% of its limit.\n" == folder.crusts("fix").out
    found = folder.crusts("fix", "--json").json()
    assert [None, None, None] == [found[key] for key in ("sessionPrompt", "claudeMdSnippet", "compactCommand")]
    assert [] == found["actions"]


def test_a_finding_of_weight_is_never_beside_nothing_to_fix(folder: ClaudeFolder) -> None:
    """However small the window: what a high or medium finding asks for is in the list."""
    t = folder.main()
    t.prompt("look")
    t.read(f"{CWD}/a.py", PAGE, context=20_000)
    t.read(f"{CWD}/a.py", PAGE, context=22_000)
    t.response(LONG + "a.py", context=24_000)
    t.write()
    assert ["medium"] == [item["severity"] for item in folder.crusts("waste", "--json").json()["waste"]]
    assert "Nothing to fix" not in folder.crusts("fix").out
    assert '/compact focus "keep only latest read of a.py"' in folder.crusts("fix").out.splitlines()


def test_golden(demo: Demo, folder: ClaudeFolder, golden: Callable[[str, str], None]) -> None:
    """What a person reads."""
    three_kinds(folder).write()
    golden("fix.txt", folder.crusts("fix", COLUMNS="100").out)
    found = demo.crusts("fix", "--no-index", "d3300008", "--json").json()
    golden("fix.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")
