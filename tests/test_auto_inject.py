"""`crusts auto-inject`: advice when the window is nearly full, as Claude Code expects it, and never in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, ClaudeFolder, Transcript

CONFIG = {"autoInject": {"enabled": True, "coldUsd": 1000}}
"""Without a word about a cold cache, as every one is here."""


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home in which auto-inject is on."""
    made = ClaudeFolder(tmp_path)
    configure(made, CONFIG)
    return made


def configure(folder: ClaudeFolder, config: dict[str, Any]) -> None:
    """Put config.json in place."""
    home = folder.home / ".claude-crusts"
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps(config))


def session(folder: ClaudeFolder, size: int, name: str = SESSION) -> Transcript:
    """A session whose window is of that size, with reads in it that were repeated."""
    t = folder.main(name)
    t.prompt("begin")
    for step in (3, 2, 1, 0):
        t.read("/x/big.py", "z = 1\n" * 900, context=size - 100 - step * 3_000, output=100)
    t.write()
    return t


def payload(t: Transcript, **more: Any) -> str:
    """What Claude Code says when a prompt is submitted."""
    return json.dumps(
        {
            "session_id": t.session,
            "transcript_path": str(t.path),
            "cwd": t.cwd,
            "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit",
            "prompt": "go on",
            **more,
        }
    )


def said(folder: ClaudeFolder, stdin: str | bytes, *args: str, **env: str) -> str:
    """What it printed: nothing, or the advice. Nothing else, whatever happens."""
    done = folder.crusts("auto-inject", *args, stdin=stdin, **env)
    assert (0, "") == (done.code, done.err)
    if not done.out:
        return ""
    answer = json.loads(done.out)
    assert ["hookSpecificOutput"] == list(answer)
    assert ["hookEventName", "additionalContext"] == list(answer["hookSpecificOutput"])
    assert "UserPromptSubmit" == answer["hookSpecificOutput"]["hookEventName"]
    return str(answer["hookSpecificOutput"]["additionalContext"])


def log(folder: ClaudeFolder) -> list[dict[str, Any]]:
    """The entries of the log, newest first."""
    return list(folder.crusts("hooks", "auto-inject", "log", "--json").json()["entries"])


@pytest.mark.parametrize(
    ("more", "size", "is_open"),
    [
        ({}, 146_999, False),
        ({}, 147_000, True),  # 167,000 - max(20,000, a tenth of 200,000)
        ({"threshold": 50}, 99_999, False),
        ({"threshold": 50}, 100_000, True),
        ({"threshold": 95}, 150_000, False),
        ({"threshold": 0}, 146_999, False),  # no per cent: as without
        ({"threshold": "50"}, 100_000, False),
        ({"enabled": False}, 150_000, False),
        ({"enabled": "yes"}, 150_000, False),
        # Defaults that an older tool wrote back are nobody's choice.
        ({"threshold": 70, "minGapMs": 300_000, "lastInjectionAt": 1}, 146_999, False),
        ({"threshold": 70, "minGapMs": 300_000}, 140_000, True),
    ],
)
def test_the_gate(folder: ClaudeFolder, more: dict[str, Any], size: int, is_open: bool) -> None:
    """By headroom, unless the user set a threshold; a value that makes no sense is none."""
    configure(folder, {"autoInject": {"enabled": True, **more}})
    assert is_open == bool(said(folder, payload(session(folder, size))))


def test_a_large_window_has_more_headroom(folder: ClaudeFolder) -> None:
    """Of a million tokens, from 867,000 on."""
    configure(folder, CONFIG | {"contextWindows": {"opus": 1_000_000}})
    assert "" == said(folder, payload(session(folder, 866_999)))
    assert "867,000 of 1,000,000" in said(folder, payload(session(folder, 867_000)))


def test_the_advice(folder: ClaudeFolder) -> None:
    """It names the window, the command that `fix` gives, why now, and that files stay; the log keeps it, 0600."""
    t = session(folder, 150_000)
    folder.crusts("index")
    text = said(folder, payload(t))
    assert text.startswith("[crusts] The context window is 75% full: 150,000 of 200,000 (assumed) tokens.")
    command = folder.crusts("fix", SESSION, "--json").json()["compactCommand"]
    assert command.startswith("/compact focus ")
    assert f"\n    {command}\n" in text
    assert "167,000" in text
    assert "stay on disk" in text
    (entry,) = log(folder)
    assert (SESSION, 75.0, text) == (entry["sessionId"], entry["usagePercent"], entry["advisoryText"])
    assert entry["reclaimableTokens"] > 0
    path = folder.home / ".claude-crusts" / "auto-inject.log"
    assert 0o600 == path.stat().st_mode & 0o777
    shown = folder.crusts("hooks", "auto-inject", "log").out
    assert "75.0% full" in shown
    assert command not in shown
    assert command in folder.crusts("hooks", "auto-inject", "log", "--verbose").out


def test_without_a_store_the_same_is_advised(folder: ClaudeFolder) -> None:
    """The transcript is read apart, and no store is made of it."""
    text = said(folder, payload(session(folder, 150_000)))
    assert not (folder.home / ".claude-crusts" / "index.db").exists()
    command = folder.crusts("fix", SESSION, "--json").json()["compactCommand"]
    assert f"\n    {command}\n" in text


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_low_threshold_holds_for_every_command(folder: ClaudeFolder, is_stored: bool) -> None:
    """Whoever wants to be told from 30 per cent on is told the same by hand."""
    configure(folder, {"autoInject": {"enabled": True, "threshold": 30}})
    t = folder.main()
    t.prompt("begin")
    t.response("All right, let us begin with the first of these things.", context=69_900, output=100)
    t.write()
    if is_stored:
        assert ["compact"] == [one["id"] for one in folder.crusts("analyze", "--json").json()["actions"]]
    assert "\n    /compact\n" in said(folder, payload(t))


def test_where_there_is_nothing_to_do_nothing_is_said(folder: ClaudeFolder) -> None:
    """With auto-inject off a window of 35 per cent is no reason to compact."""
    configure(folder, {"autoInject": {"enabled": False, "threshold": 30}})
    t = folder.main()
    t.prompt("begin")
    t.response("All right.", context=69_900, output=100)
    t.write()
    assert [] == folder.crusts("analyze", "--json").json()["actions"]


def test_the_gap_is_per_session(folder: ClaudeFolder) -> None:
    """Once in five minutes a session, whatever others are told; then again. A broken log line is skipped."""
    first, second = session(folder, 150_000), session(folder, 150_000, SESSION[:-1] + "2")
    assert said(folder, payload(first))
    assert said(folder, payload(second))
    assert "" == said(folder, payload(first))
    assert "" == said(folder, payload(second))
    path = folder.home / ".claude-crusts" / "auto-inject.log"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["ts"] = "2026-01-01T00:00:00.000Z"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + f'{{"sessionId": "{SESSION}"\n[]\n')
    assert said(folder, payload(first))
    assert "" == said(folder, payload(second))
    assert 3 == len(log(folder))
    assert 1 == len(folder.crusts("hooks", "auto-inject", "log", "--json", "--limit", "1").json()["entries"])
    configure(folder, {"autoInject": {"enabled": True, "minGapMs": 0}})
    assert said(folder, payload(first))
    assert said(folder, payload(first))


def test_our_writes_are_not_the_users(folder: ClaudeFolder) -> None:
    """Enabling and speaking never make a threshold; only `--threshold` does, and `--headroom` takes it back."""
    folder.crusts("hooks", "auto-inject", "enable")
    said(folder, payload(session(folder, 150_000)))
    folder.crusts("hooks", "auto-inject", "disable")
    folder.crusts("hooks", "auto-inject", "enable")
    told = folder.crusts("hooks", "auto-inject", "status", "--json").json()
    assert (True, None, 300) == (told["enabled"], told["threshold"], told["minGapSeconds"])
    folder.crusts("hooks", "auto-inject", "enable", "--threshold", "80", "--min-gap", "60")
    told = folder.crusts("hooks", "auto-inject", "status", "--json").json()
    assert (80, 60) == (told["threshold"], told["minGapSeconds"])
    folder.crusts("hooks", "auto-inject", "enable", "--headroom")
    assert folder.crusts("hooks", "auto-inject", "status", "--json").json()["threshold"] is None
    assert "near the point of compaction" in folder.crusts("hooks", "auto-inject", "status").out


def test_no_text_is_logged_where_none_may_be_kept(folder: ClaudeFolder) -> None:
    """With keepText off the log says when and how full, not what."""
    configure(folder, CONFIG | {"keepText": False})
    assert said(folder, payload(session(folder, 150_000)))
    assert [None] == [entry["advisoryText"] for entry in log(folder)]


@pytest.mark.parametrize("stdin", [b"", b"{", b"[]", b"\xff", b'{"session_id": 1}', b'{"session_id": "s"}'])
def test_any_stdin_is_answered_with_silence(folder: ClaudeFolder, stdin: bytes) -> None:
    """No payload, a broken one, one without a transcript."""
    assert "" == said(folder, stdin)


def test_nothing_ever_stops_a_prompt(folder: ClaudeFolder) -> None:
    """Odd options, a missing transcript, a home, a log or a store that is broken: exit 0 and not a word."""
    t = session(folder, 150_000)
    for args in (("--bogus",), ("extra",), ("--db",), ("--timezone", "Nowhere"), ("--format=x",)):
        assert 0 == folder.crusts("auto-inject", *args, stdin=payload(t)).code
        (folder.home / ".claude-crusts" / "auto-inject.log").unlink(missing_ok=True)
    assert "" == said(folder, payload(t, session_id=SESSION[:-1] + "9", transcript_path="/nonexistent/x.jsonl"))
    assert "" == said(folder, payload(t), CRUSTS_HOME="/nonexistent/home")
    (folder.home / ".claude-crusts" / "config.json").write_text("{")
    done = folder.crusts("auto-inject", stdin=payload(t))
    assert (0, "") == (done.code, done.out)
    configure(folder, CONFIG)
    (folder.home / ".claude-crusts" / "auto-inject.log").mkdir()
    assert "" == said(folder, payload(t))
    (folder.home / ".claude-crusts" / "auto-inject.log").rmdir()
    (folder.home / ".claude-crusts" / "index.db").write_bytes(b"no store at all" * 99)
    assert "/compact" in said(folder, payload(t))
