"""The /compact focus: one string for all commands, safe to paste."""

from __future__ import annotations

from pathlib import Path

import pytest

from crusts_index.insight.waste.actions import compact_focus
from crusts_index.insight.waste.find import WasteItem
from tests.builders import CWD, ClaudeFolder
from tests.wasteful import three_kinds, wasteful


def item(type: str, path: str | None = None, *, tokens: int = 1_000, messages: tuple[int, int] = (3, 5)) -> WasteItem:
    """A finding of high severity."""
    return WasteItem(
        *(type, "high", "", tokens, "", messages, messages),
        *(path, None, 0, None, None, 0, "estimated"),
    )


def test_every_command_says_the_same(tmp_path: Path) -> None:
    """fix, analyze and optimize give the same string, byte by byte; messages are numbered from 1."""
    folder = ClaudeFolder(tmp_path)
    three_kinds(folder).write()
    fixed = folder.crusts("fix", "--json").json()["compactCommand"]
    assert (
        '/compact focus "drop resolved exchange at messages #28-38; drop stale read of old.py; '
        'keep only latest read of kept.py"'
    ) == fixed
    said = folder.crusts("analyze", "--json").json()["recommendations"]["recommendations"]
    assert [fixed] == [one["action"] for one in said if one["action"].startswith("/compact")]
    fixes = folder.crusts("optimize", "--json").json()["fixes"]
    assert [fixed] == [one["action"] for one in fixes if one["kind"] == "compact-focus"]
    assert fixed in folder.crusts("fix", COLUMNS="40").out.splitlines()
    assert f"    {fixed}" in folder.crusts("optimize", COLUMNS="40").out.splitlines()


def test_it_names_the_worst(tmp_path: Path) -> None:
    """The findings behind the clauses, and no others."""
    found = wasteful(ClaudeFolder(tmp_path), three_kinds(ClaudeFolder(tmp_path)))
    focus = compact_focus(found.waste)
    assert focus is not None
    assert [one for one in found.waste if one.severity in ("high", "medium")] == focus[1]


def test_nothing_is_said_twice() -> None:
    """Three stale reads of one file are one clause, and leave room for others."""
    waste = [item("stale_read", f"{CWD}/a.py") for _ in range(3)]
    waste += [item("stale_read", f"{CWD}/{name}.py", tokens=10) for name in "bcd"]
    focus = compact_focus(waste)
    assert focus is not None
    assert '/compact focus "drop stale read of a.py; drop stale read of b.py; drop stale read of c.py"' == focus[0]
    assert waste[:5] == focus[1]


def test_files_of_the_same_name_are_told_apart() -> None:
    """By the folder before the name."""
    focus = compact_focus([item("stale_read", "/x/one/index.ts"), item("duplicate_read", "/x/two/index.ts")])
    assert focus is not None
    assert '/compact focus "drop stale read of one/index.ts; keep only latest read of two/index.ts"' == focus[0]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ('say "hi".txt', 'say \\"hi\\".txt'),
        ("two\nlines.txt", "two lines.txt"),
        ("\x1b[31mred\x07.txt", "[31mred .txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("naïve 文.txt", "naïve 文.txt"),
    ],
)
def test_names_are_safe_to_paste(name: str, shown: str) -> None:
    """Quotes are escaped, nothing invisible stays, the command is one line."""
    focus = compact_focus([item("stale_read", f"/x/{name}")])
    assert focus is not None
    assert f'/compact focus "drop stale read of {shown}"' == focus[0]
    assert focus[0].isprintable()


def test_what_cannot_be_named_says_nothing() -> None:
    """Instructions, unused results and low severities give no clause."""
    low = item("stale_read", "/x/a.py")._replace(severity="low")
    excused = item("duplicate_read", "/x/a.py")._replace(excuse="changed")
    assert compact_focus([item("oversized_system"), item("unused_result", "/x/a.py"), low, excused]) is None
    assert compact_focus([item("stale_read", "/x/\x00\x01")]) is None
    assert compact_focus([]) is None
