"""What a session is called, by one ladder, and what of a text are the person's own words (D8, D22)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crusts_index.transcript.titles import one_line
from crusts_index.transcript.wrappers import command_of, split
from tests.builders import START, ClaudeFolder, image_block, text_block
from tests.conftest import IndexedFolder
from tests.picture import ask, index, new_store, one, read

REMINDER = "<system-reminder>\nuse CLAUDE.md\n</system-reminder>"
IDE = "<ide_opened_file>The user opened x</ide_opened_file>"
TEAMMATE = '<teammate-message teammate_id="ada" color="blue" summary="a > b">\nall green\n</teammate-message>'
SAYS = "Another Claude session sent a message:"

WORDS = {  # a text -> its own words
    "mend the roof": "mend the roof",
    REMINDER: "",
    f"{REMINDER}\n\nmend the roof": "mend the roof",
    f"mend the roof\n\n{REMINDER}": "mend the roof",
    f"mend the roof {REMINDER}": "mend the roof",
    f"{IDE}{IDE}mend the roof": "mend the roof",
    f"mend\n{REMINDER}\nthe roof": "mend\nthe roof",
    f"{TEAMMATE}\n\n{TEAMMATE}": "",
    f"{TEAMMATE}\nmend the roof": "mend the roof",
    f"{SAYS}\nall green": "",
    f"{SAYS}\n{TEAMMATE}\n\nmend the roof": "mend the roof",
    "<IDE_Selection lines='3'>x</ide_selection >\nmend the roof": "mend the roof",
    "<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>mend": "mend",
    "<system-reminder>names <system-reminder> once</system-reminder>\nmend": "mend",
    "<system-reminder>never closed, mend": "",
    "mend\n<system-reminder>never closed": "mend",
    "<command-name>/x</command-name>\n<command-args>y</command-args>": "",
    "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>": "",
    "<task-notification>done</task-notification>\nRead the output file": "",
    "[Request interrupted by user for tool use]": "",
    "[Request interrupted by user]\nno, mend": "no, mend",
    "what is <system-reminder> for?": "what is <system-reminder> for?",
    "explain <ide_selection>x</ide_selection> please": "explain <ide_selection>x</ide_selection> please",
    "the tag `<command-name>` twice, `<command-name>`": "the tag `<command-name>` twice, `<command-name>`",
    "<html> and </system-reminder>": "<html> and </system-reminder>",
}


@pytest.mark.parametrize(("text", "words"), WORDS.items())
def test_wrappers_are_cut_away_around_words(text: str, words: str) -> None:
    """Nested, never closed, in any case and with attributes; a tag that a sentence names is none."""
    assert words == split(text).words
    assert (words == text) == (split(text).wrapper is None)


@pytest.mark.parametrize(
    ("content", "is_prompt", "found"),
    [
        ([text_block(IDE), image_block(), text_block("mend")], 1, ["system", "conversation", "conversation"]),
        (f"{REMINDER}\nmend", 1, ["conversation"]),
        ([text_block("[Request interrupted by user]"), text_block("no, mend")], 1, ["conversation", "conversation"]),
        ([text_block(TEAMMATE), text_block("mend")], 1, ["state", "conversation"]),
        ([text_block(IDE), text_block(TEAMMATE)], 0, ["system", "state"]),
        (TEAMMATE, 0, ["state"]),
        (f"{SAYS}\nall green", 0, ["state"]),
        ([text_block(REMINDER)], 0, ["system"]),
    ],
)
def test_wrappers_alone_are_no_prompt(tmp_path: Path, content: Any, is_prompt: int, found: list[str]) -> None:
    """Nor beside a prompt part of it; what another session says is state."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt(content)
    db = read(folder, t)
    assert is_prompt == one(db, "select is_prompt from records")
    assert found == [row[0] for row in ask(db, "select category from blocks order by id")]


def test_a_teammates_message_is_state_however_it_comes(tmp_path: Path) -> None:
    """As a queued command, as a record of Claude Code's own, under an origin of its own."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.attachment("queued_command", prompt=TEAMMATE, commandMode="prompt")
    t.prompt(TEAMMATE, isMeta=True)
    t.prompt(TEAMMATE, origin={"kind": "peer"})
    db = read(folder, t)
    assert {(0,)} == set(ask(db, "select is_prompt from records"))
    assert {("state",)} == set(ask(db, "select category from blocks"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n\n  mend\n\tthe \x1b[31mroof\x1b[0m", "mend the roof"),
        ("\x1b]0;evil\x07mend\x00 the\u202e roof\u2028now", "mend the roof now"),
        ("na\u00efve \u65e5\u672c \U0001f468\u200d\U0001f469", "na\u00efve \u65e5\u672c \U0001f468\u200d\U0001f469"),
        ("x" * 900, "x" * 200),
        ("\x1b\x9b\x1b[", ""),
    ],
)
def test_a_title_is_one_line_without_controls(text: str, line: str) -> None:
    """Whole escape sequences go, not their first character alone."""
    assert line == one_line(text)


def test_a_command_is_named_with_its_arguments() -> None:
    """In whatever order the tags stand; other texts log none."""
    said = "<command-message>fix is running</command-message>\n<command-name>/fix</command-name>"
    assert "/fix" == command_of(said)
    assert "/fix the roof" == command_of(f"<command-args>the roof</command-args>{said}")
    assert "/fix" == command_of("<command-name>fix</command-name><command-args></command-args>")
    assert command_of("<command-name></command-name>") is None
    assert command_of("words") is None


LADDER: list[tuple[str, dict[str, Any] | str]] = [
    ("a summary", {"type": "summary", "summary": "a summary"}),
    ("/fix it now", "<command-name>/fix</command-name><command-args>it\nnow</command-args>"),
    ("mend the roof", f"{IDE}\nmend\nthe roof"),
    ("qa", {"type": "agent-name", "agentName": "qa"}),
    ("Roof", {"type": "ai-title", "aiTitle": " Roof\n"}),
    ("mine", {"type": "custom-title", "customTitle": "\x1b[1mmine"}),
]
NOTHING = (None, "", "  \n", REMINDER, "\x1b[31m", 7, {})


def test_each_rung_stands_before_those_below(tmp_path: Path) -> None:
    """Custom title, AI title, agent name, first prompt, slash command, summary; nothing said is passed over."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    db = new_store(tmp_path / "store")
    for title, said in LADDER:
        t.meta("last-prompt", lastPrompt="the last one")
        if isinstance(said, str):
            t.prompt(said)
        else:
            t.meta(**said)
            for name in set(said) - {"type"}:
                for nothing in NOTHING:
                    t.meta(said["type"], **{name: nothing})
        t.append()
        index(db, folder.config)
        assert title == one(db, "select title from session_titles")
        assert title == one(db, "select title from sessions_overview")


def test_the_first_prompt_is_the_first_by_time(tmp_path: Path) -> None:
    """Over all parts of a session, in whatever order they are read; not the last one, nor one of a subagent."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("second", timestamp="2026-10-05T10:00:00.000Z")
    t.prompt("first", timestamp="2026-10-05T09:00:00.000Z")
    t.prompt("third", timestamp="2026-10-05T11:00:00.000Z")
    t.meta("last-prompt", lastPrompt="third")
    t.write()
    agent = folder.subagent(agent="a1")
    agent.prompt("of an agent", timestamp="2026-10-05T08:00:00.000Z")
    agent.write()
    for place, (name, words, time) in enumerate((("z", "zeroth", "08:30"), ("b", "fourth", "12:00"))):
        part = folder.main(project=f"/home/ada/{name}", start=START)
        part.prompt(words, timestamp=f"2026-10-05T{time}:00.000Z", uuid=f"5e551001-0000-4000-8000-0000000000{place}1")
        part.write()
    paths = sorted((folder.config / "projects").rglob("*.jsonl"))
    for order in (paths, paths[::-1]):
        db = new_store(tmp_path / order[0].parent.name)
        for path in order:
            hidden = [one for one in paths if one not in order[: order.index(path) + 1]]
            for other in hidden:
                other.rename(f"{other}.hidden")
            index(db, folder.config)
            for other in hidden:
                Path(f"{other}.hidden").rename(other)
        assert "zeroth" == one(db, "select title from session_titles")


def test_no_text_no_title_from_text(tmp_path: Path) -> None:
    """With keepText false a session has no title."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    for _, said in LADDER:
        t.prompt(said) if isinstance(said, str) else t.meta(**said)
    t.write()
    db = new_store(tmp_path / "store")
    index(db, folder.config, keep_text=False)
    assert one(db, "select title from session_titles") is None
    assert [] == ask(db, "select * from meta_records")


def test_every_command_calls_a_session_the_same(tmp_path: Path) -> None:
    """Whatever names a session names it by the first prompt, not by the last, as text and as JSON."""
    folder = IndexedFolder(tmp_path)
    for number in (1, 2):
        t = folder.main(f"5e551001-0000-4000-8000-00000000000{number}")
        t.prompt([text_block(REMINDER), text_block("mend the roof")])
        t.meta("last-prompt", lastPrompt="and the gutter")
        t.response("x", context=50_000)
        t.prompt("and the gutter")
        t.response("y", context=60_000)
        t.boundary()
        t.summary()
        t.response("z", context=30_000)
        t.write()
    compared = f"compare {t.session} {t.session[:-1]}1"
    page = "--format md -o -"
    for command in (
        "list",
        "analyze",
        "waste",
        "lost",
        "overview",
        compared,
        f"report {page}",
        f"report {page} --since 9000d",
    ):
        assert "mend the roof" in folder.crusts(*command.split()).out, command
    for command in ("list", "analyze", compared):
        titles = set(_values(folder.crusts(*command.split(), "--json").json(), "title", "titleA", "titleB"))
        assert {"mend the roof"} == titles, command
    assert "mend the roof" in folder.crusts("sql", "select title from sessions_overview").out


def _values(document: Any, *names: str) -> Iterator[Any]:
    """Every value of a JSON document that goes by one of these names."""
    if isinstance(document, dict):
        yield from (document[name] for name in names if name in document)
    inner = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for value in inner:
        yield from _values(value, *names)


@pytest.mark.parametrize("told", ["/home/ada/.claude/projects/-gone/x.jsonl", None])
def test_a_payload_names_a_session_by_its_id_where_its_path_is_not_there(tmp_path: Path, told: str | None) -> None:
    """As after a move into a worktree: the hook reads it, and the status line is about it, not about the newest."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(project="/home/ada/moved")
    t.prompt("mend the roof")
    t.response("x", context=50_000)
    t.write()
    other = folder.main("5e551001-0000-4000-8000-000000000009")
    other.response("y", context=150_000)
    other.write()
    payload = json.dumps({"session_id": t.session, "transcript_path": told, "hook_event_name": "Stop", "cwd": t.cwd})
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    listed = folder.crusts("list", "--no-index", "--json").json()["sessions"]
    assert [(t.session, "mend the roof")] == [(row["session"], row["title"]) for row in listed]
    assert t.session == folder.crusts("status", "--json", stdin=payload).json()["sessionId"]
    assert "○ 25%" in folder.crusts("statusline", stdin=payload).out
