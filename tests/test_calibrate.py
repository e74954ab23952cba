"""`crusts calibrate`: what is pasted is kept with its session and held against the estimates."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import SESSION, ClaudeFolder
from tests.conftest import Demo

TABLE = """## Context Usage

**Model:** claude-opus-4-8
**Tokens:** 21.0k / 200k (11%)

### Estimated usage by category

| Category | Tokens | Percentage |
|---|---|---|
| System prompt | 3.0k | 1.5% |
| System tools | 12.0k | 6.0% |
| MCP tools (deferred) | 4.0k | 2.0% |
| Messages | 6.0k | 3.0% |
| Free space | 146k | 73% |
| Autocompact buffer | 33k | 16.5% |
"""
GLYPHS = """ Context Usage
 ⛁ ⛁ ⛁   claude-opus-4-8 · 21k/200k tokens (11%)
 ⛁ System prompt: 3.0k tokens (1.5%)
 ⛁ System tools: 12.0k tokens (6.0%)
 ⛁ Messages: 6.0k tokens (3.0%)
 ⛶ Free space: 146k (73%)
"""
LINES = """System prompt: 3,000 tokens
System tools: 12,000 tokens
Messages: 6,000 tokens
Free space: 179,000 tokens
"""


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A config folder with one session of 20,000 tokens."""
    made = ClaudeFolder(tmp_path)
    t = made.main()
    t.prompt("look")
    t.response("a look", context=15_000, output=50)
    t.prompt("again")
    t.response("more " * 200, context=20_000, output=400)
    t.write()
    return made


@pytest.mark.parametrize("form", [TABLE, GLYPHS, LINES])
def test_every_form_is_kept_and_compared(folder: ClaudeFolder, form: str) -> None:
    """Table, terminal rows and plain lines say the same, and the window is held against their total."""
    shown = folder.crusts("calibrate", SESSION[:8], "--json", stdin=form).json()
    assert SESSION == shown["session"]
    assert 200_000 == shown["window"]
    parts = {one["category"]: one for one in shown["calibration"]}
    assert 20_400 == parts["total"]["crustsEstimate"]
    assert 21_000 == parts["total"]["contextActual"]
    assert -2.9 == parts["total"]["deltaPercent"]
    assert 6_000 == parts["messages"]["contextActual"]


def test_two_empty_lines_end_what_is_pasted(folder: ClaudeFolder) -> None:
    """A table may hold single empty lines; what follows two is not read."""
    folder.crusts("calibrate", SESSION, stdin=TABLE + "\n\nMessages: 9,999 tokens\n")
    rows = folder.crusts("sql", "select rows from context_reports", "--json").json()["rows"]
    assert "9999" not in str(rows)
    assert 1 == len(rows)


def test_what_is_no_context_output_is_refused(folder: ClaudeFolder) -> None:
    """One line says so, and nothing is kept."""
    refused = folder.crusts("calibrate", stdin="hello\nworld\n")
    assert 1 == refused.code
    assert 1 == len(refused.err.strip().splitlines())
    assert "Traceback" not in refused.err


def test_an_old_session_is_not_taken_for_the_one_pasted_from(folder: ClaudeFolder) -> None:
    """Nothing was active in the last hour, so the output is kept without a session."""
    shown = folder.crusts("calibrate", "--json", stdin=LINES).json()
    assert shown["session"] is None
    assert shown["calibration"] is None


def test_the_report_sums_up_recorded_and_pasted_outputs(folder: ClaudeFolder) -> None:
    """Errors by part and version, over both."""
    folder.crusts("calibrate", SESSION, stdin=LINES)
    rows = folder.crusts("calibrate", "--report", "--json").json()["rows"]
    total = next(row for row in rows if row["kind"] == "total")
    assert 1 == total["samples"]
    assert -2.9 == round(total["median_error_percent"], 1)


def test_a_rebuild_keeps_what_was_pasted(folder: ClaudeFolder) -> None:
    """It stands in no transcript, so it is carried over."""
    folder.crusts("calibrate", SESSION, stdin=LINES)
    rebuilt = folder.crusts("index", "--rebuild")
    assert 0 == rebuilt.code, rebuilt.err
    assert [[1]] == folder.crusts("sql", "select count(*) from context_reports where id < 0", "--json").json()["rows"]


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The /context output recorded in the demo against the estimates, in a terminal and as JSON."""
    golden("calibrate.txt", demo.crusts("calibrate", "--report", COLUMNS="80").out)
    golden("calibrate.json", demo.crusts("calibrate", "--report", "--json").out)


def test_the_tools_follow_what_was_pasted_of_the_session_itself(folder: ClaudeFolder) -> None:
    """`schemaTokens` are those of the fixed context; a later paste of another session does not outrank its own."""
    other = folder.main("5e551001-0000-4000-8000-000000000002")
    other.prompt("look")
    other.response("a look", context=15_000, output=50)
    other.write()
    folder.crusts("calibrate", SESSION, stdin=LINES)
    folder.crusts("calibrate", other.session, stdin=LINES.replace("12,000", "9,000"))
    for session, schemas in ((SESSION, 12_000), (other.session, 9_000)):
        assert f'"schemaTokens":{schemas}' in folder.crusts("analyze", session, "--json").out.replace(" ", "")


def test_the_answer_has_all_that_was_pasted(folder: ClaudeFolder) -> None:
    """Its model, the buffer, and the rows that are in no sum, marked."""
    told = folder.crusts("calibrate", SESSION[:8], "--json", stdin=TABLE).json()
    assert ("claude-opus-4-8", 33_000) == (told["model"], told["autocompactBuffer"])
    deferred = [(row["label"], row["tokens"]) for row in told["rows"] if row["deferred"]]
    assert [4_000] == [tokens for _, tokens in deferred]


def test_what_is_too_small_to_compare_has_no_per_cent(folder: ClaudeFolder) -> None:
    """A /context before the first answer says 8 tokens of messages: any estimate is off by hundreds of per cent."""
    early = TABLE.replace("| Messages | 6.0k |", "| Messages | 8 |")
    told = folder.crusts("calibrate", SESSION, "--json", stdin=early).json()["calibration"]
    assert [None] == [one["deltaPercent"] for one in told if one["category"] == "messages"]
