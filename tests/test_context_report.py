"""The output of /context is read in each of its forms, and only where it is one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crusts_index.claude.context_report import looks_like_context, parse_context, parse_tokens

TABLE = """## Context Usage

**Model:** claude-opus-5
**Tokens:** 58.1k / 1m (6%)

### Estimated usage by category

| Category | Tokens | Percentage |
|----------|--------|------------|
| System prompt | 10.7k | 1.1% |
| System tools | 25.6k | 2.6% |
| MCP tools (deferred) | 9.7k | 1.0% |
| System tools (deferred) | 17.1k | 1.7% |
| Custom agents | 350 | 0.0% |
| Memory files | 1.2k | 0.1% |
| Skills | 2.8k | 0.3% |
| Messages | 17.4k | 1.7% |
| Free space | 908.9k | 90.9% |
| Autocompact buffer | 33k | 3.3% |

### MCP Tools

| Tool | Server | Tokens |
|------|--------|--------|
| mcp__x__y | x | 5.5k |
"""

GLYPHS = """ Context Usage
⛁ ⛀ ⛁ ⛁ ⛁   claude-opus-4-6 · 21k/200k tokens (11%)
⛀ ⛁ ⛁ ⛁ ⛁
⛁ ⛁ ⛁ ⛁ ⛁   ⛁ System prompt: 3.2k tokens (1.6%)
⛁ ⛁ ⛁ ⛁ ⛁   ⛁ System tools: 14.6k tokens (7.3%)
⛶ ⛶ ⛶ ⛶ ⛶   ⛁ MCP tools: 769 tokens (0.4%)
⛶ ⛶ ⛶ ⛶ ⛶   ⛁ Messages: 8 tokens (0.0%)
⛶ ⛶ ⛶ ⛝ ⛝   ⛶ Free space: 146k (73.0%)
⛝ ⛝ ⛝ ⛝ ⛝   ⛝ Autocompact buffer: 33.0k tokens (16.5%)

MCP tools · /mcp
└ mcp__x__y (x): 769 tokens
"""

NEW_GLYPHS = """❯ /context
  ⎿  Context Usage
     ⛀ ⛁ ⛁ ⛶   Fable 5
     ⛶ ⛶ ⛶ ⛶   claude-fable-5[1m]
     ⛶ ⛶ ⛶ ⛶   27.6k/1m tokens (3%)
     ⛶ ⛶ ⛶ ⛶   Estimated usage by category
     ⛶ ⛶ ⛶ ⛶   ⛁ System prompt: 3.1k tokens (0.3%)
               ⛁ Messages: 24.5k tokens (2.5%)
               ⛁ Compact buffer: 3k tokens (0.3%)
               ⛶ Free space: 969.4k (96.9%)
"""

LINES = """System prompt: 3,200 tokens
System tools: 11,500 tokens
Custom agents: 0
Memory files: 900 tokens
MCP tools: 1,000
Messages: 8,400 tokens
Free space: 175,000 tokens
"""


def test_markdown_table() -> None:
    """Heading and rows of the category table; deferred rows, free space and buffer are not in use."""
    report = parse_context(TABLE)
    assert report is not None
    assert (report.model, report.used_tokens, report.window_tokens) == ("claude-opus-5", 58_100, 1_000_000)
    assert report.buckets == {
        "system_prompt": 10_700,
        "system_tools": 25_600,
        "mcp_tools": 0,
        "custom_agents": 350,
        "memory_files": 1_200,
        "skills": 2_800,
        "messages": 17_400,
        "other": 0,
        "free_space": 908_900,
    }
    assert report.total_used == 58_050
    assert report.autocompact_buffer == 33_000
    assert report.core_schema_tokens == 25_600
    assert [(row.label, row.tokens) for row in report.rows if row.deferred] == [
        ("MCP tools (deferred)", 9_700),
        ("System tools (deferred)", 17_100),
    ]
    assert len(report.rows) == 10  # no row of the tables that follow


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_terminal_glyphs(newline: str) -> None:
    """The rows beside the grid, with the heading's model and numbers; lists of single tools are not rows."""
    report = parse_context(GLYPHS.replace("\n", newline))
    assert report is not None
    assert (report.model, report.used_tokens, report.window_tokens) == ("claude-opus-4-6", 21_000, 200_000)
    assert report.buckets["mcp_tools"] == 769
    assert report.buckets["free_space"] == 146_000
    assert report.total_used == 3_200 + 14_600 + 769 + 8
    assert report.autocompact_buffer == 33_000


def test_terminal_heading_on_three_lines() -> None:
    """Newer versions put the model's name, its id and the numbers on lines of their own."""
    report = parse_context(NEW_GLYPHS)
    assert report is not None
    assert (report.model, report.used_tokens, report.window_tokens) == (
        "claude-fable-5[1m]",
        27_600,
        1_000_000,
    )
    assert (report.total_used, report.autocompact_buffer) == (27_600, 3_000)


def test_pasted_rows_without_heading() -> None:
    """A paste of the rows alone is read; the window is then what is used and free."""
    rows = "⛁ System prompt: 3.1k (1.6%)\n⛁ Messages: 7k (3.5%)\n⛶ Free space: 189.9k (94.9%)\n"
    report = parse_context(rows)
    assert report is not None
    assert (report.model, report.used_tokens, report.window_tokens) == (None, 10_100, 200_000)


def test_colon_lines() -> None:
    """The oldest form; used is the sum of its rows, the window used and free, or what a line says."""
    report = parse_context(LINES)
    assert report is not None
    assert (report.used_tokens, report.window_tokens) == (25_000, 200_000)
    assert report.buckets["mcp_tools"] == 1_000
    report = parse_context(LINES + "Total capacity: 210,000 tokens\n")
    assert report is not None
    assert report.window_tokens == 210_000


def test_escape_sequences_are_passed_over() -> None:
    """Colours change nothing, and none reaches a label."""
    coloured = GLYPHS.replace("⛁", "\x1b[38;2;1;2;3m⛁\x1b[39m").replace("Messages", "\x1b[1mMessages\x1b[22m\x07")
    assert parse_context(coloured) == parse_context(GLYPHS)


def test_of_several_the_last_is_read() -> None:
    """A paste of the scrollback may hold an older output above the one that was meant."""
    report = parse_context(TABLE + TABLE.replace("58.1k / 1m", "60k / 500k"))
    assert report is not None
    assert (report.used_tokens, report.window_tokens) == (60_000, 500_000)


@pytest.mark.parametrize("text", ["", "hello", "a: b", "Price: 5", "## Context Usage", "| a | b |", "Messages: many"])
def test_anything_else_is_none(text: str) -> None:
    """Text without a number of tokens in a known place is no report."""
    assert parse_context(text) is None


def test_looks_like_context_is_strict() -> None:
    """A record's text counts only if it is an output itself: neither a quote nor a mere heading."""
    assert looks_like_context(TABLE)
    assert looks_like_context(f"<local-command-stdout>{TABLE}</local-command-stdout>")
    assert looks_like_context(f"<local-command-stdout>\x1b[?2026h\n {GLYPHS}</local-command-stdout>")
    assert not looks_like_context(GLYPHS)
    assert not looks_like_context(f"Look at this:\n{TABLE}")
    assert not looks_like_context("## Context Usage\n\nsome notes, **Tokens:** 5 / 10")
    assert not looks_like_context("## Context Usage of 2026\n\n**Tokens:** 5k / 10k (50%)\n")
    assert not looks_like_context(LINES)
    assert not looks_like_context("")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("21.1k", 21_100),
        ("1m", 1_000_000),
        ("1.25M", 1_250_000),
        ("0.0005k", 0),
        ("~90", 90),
        ("12,345 tokens", 12_345),
        ("3.2k tokens (1.6%)", 3_200),
        ("8 tokens (<0.1%)", 8),
        ("5 files", None),
        ("9" * 30, None),
        ("-5", None),
        ("", None),
    ],
)
def test_numbers(text: str, tokens: int | None) -> None:
    """Printed numbers are read exactly, without floating point."""
    assert parse_tokens(text) == tokens


@settings(deadline=None)
@given(st.text() | st.lists(st.sampled_from([*TABLE, *GLYPHS, "\x1b[", "## Context Usage\n"])).map("".join))
def test_no_text_makes_it_fail(text: str) -> None:
    """Whatever the text, reading it ends without an error."""
    parse_context(text)
    looks_like_context(text)


def test_long_text_is_read_in_bounded_time() -> None:
    """Only the first part of a long text is looked at, and no line makes the search go wild."""
    for filler in ("⛁ " * 500_000, "1" * 1_000_000, "\x1b]" * 500_000, "| " * 500_000, "1,1 / " * 200_000):
        parse_context("## Context Usage\n" + filler)
        assert not looks_like_context("## Context Usage\n" + filler)
