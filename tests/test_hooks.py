"""`crusts hooks`: our hooks come into Claude Code's settings and go again, whatever kind of file that is."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import Any

import pytest

from tests.builders import SESSION, ClaudeFolder
from tests.picture import ask

FOREIGN = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done", "timeout": 5}]}],
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "crusts list > /tmp/x"}]}],
        "Notification": ["an old form", {"command": "notify-send"}, {"hooks": []}],
        "PreCompact": [],
    },
    "model": "opus[1m]",
    "unknown": {"z": 1, "a": [None, True, 1.50, "é"]},
}

# name -> what settings.json holds before; every one of them can be understood.
READABLE = {
    "absent": None,
    "empty": "",
    "blank": " \n\n",
    "object": "{}",
    "bom": "\ufeff" + json.dumps(FOREIGN, indent=2),
    "tabs": json.dumps(FOREIGN, indent="\t") + "\n",
    "one line": json.dumps(FOREIGN),
    "crlf": json.dumps(FOREIGN, indent=4).replace("\n", "\r\n"),
    "huge": json.dumps({**FOREIGN, "filler": ["x" * 1_000] * 5_000}),
    "deep": json.dumps({**FOREIGN, "deep": json.loads("[" * 200 + "]" * 200)}),
}
# name -> what is left alone, with an error that names the file.
REFUSED = {
    "comments": '{\n  // mine\n  "model": "opus"\n}',
    "corrupt": '{"model": "opus",',
    "list": "[]",
    "not text": b"\xff\xfe{\x00}\x00",
    "hooks no object": '{"hooks": ["mine"]}',
    "event no list": '{"hooks": {"Stop": {"command": "mine"}}}',
}


def settings(folder: ClaudeFolder) -> Any:
    """What the settings mean; None for no file."""
    path = folder.config / "settings.json"
    if not path.exists():
        return None
    text = path.read_text("utf-8-sig")
    return json.loads(text) if text.strip() else {}


def ours(folder: ClaudeFolder, *words: str) -> list[str]:
    """Events at which a hook of ours with these words stands."""
    found = []
    for event, entries in ((settings(folder) or {}).get("hooks") or {}).items():
        for entry in entries:
            hooks = entry.get("hooks", []) if isinstance(entry, dict) else []
            commands = [shlex.split(hook["command"]) for hook in hooks if "command" in hook]
            found += [event for command in commands if tuple(command[-len(words) :]) == words]
    return found


def meaning(found: Any) -> Any:
    """Settings without what says nothing: an event without entries, hooks without events."""
    found = dict(found or {})
    hooks = {event: entries for event, entries in found.pop("hooks", {}).items() if entries != []}
    return {**found, "hooks": hooks} if hooks else found


@pytest.mark.long
@pytest.mark.parametrize("kind", READABLE)
def test_all_of_ours_come_and_go(folder: ClaudeFolder, kind: str) -> None:
    """In every readable file: installed once, found, removed; the file then means what it did, order included."""
    path, before = folder.config / "settings.json", READABLE[kind]
    if before is not None:
        path.write_text(before, "utf-8", newline="")
        path.chmod(0o640)
    meant = settings(folder)
    for _ in range(2):
        assert folder.crusts("hooks", "enable").code == 0
        assert folder.crusts("hooks", "auto-inject", "enable").code == 0
    assert ["PreCompact", "SessionEnd", "Stop", "SubagentStop"] == sorted(ours(folder, "index", "--hook"))
    assert ["SessionStart", "UserPromptSubmit"] == sorted(ours(folder, "auto-inject"))
    assert [] == folder.crusts("hooks", "status", "--json").json()["dropped"]
    assert folder.crusts("hooks", "auto-inject", "disable").code == 0
    assert folder.crusts("hooks", "disable").code == 0
    assert list(meaning(meant)) == list(meaning(settings(folder)))
    assert json.dumps(meaning(meant)) == json.dumps(meaning(settings(folder)))
    if before:
        assert 0o640 == path.stat().st_mode & 0o777
        assert before.startswith("\ufeff") == path.read_text("utf-8").startswith("\ufeff")
        copies = sorted((folder.home / ".claude-crusts" / "backups").iterdir())
        assert before.encode() == copies[0].read_bytes()
        assert {0o600} == {copy.stat().st_mode & 0o777 for copy in copies}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_changed_safely_is_left_alone(folder: ClaudeFolder, kind: str) -> None:
    """Comments, damage and odd shapes: exit 1, one line that names the reason, not a byte changed, nothing noted."""
    path, before = folder.config / "settings.json", REFUSED[kind]
    before = before if isinstance(before, bytes) else before.encode()
    path.write_bytes(before)
    for args in (("hooks", "enable"), ("hooks", "auto-inject", "enable"), ("statusline", "install")):
        if kind.startswith(("hooks", "event")) and args != ("hooks", "enable"):
            continue
        done = folder.crusts(*args)
        assert (1, "", 1) == (done.code, done.out, done.err.count("\n"))
        assert "settings" in done.err
    assert before == path.read_bytes()
    assert not (folder.home / ".claude-crusts" / "config.json").exists()


def test_a_link_stays_a_link(folder: ClaudeFolder) -> None:
    """Settings kept elsewhere under version control are changed there."""
    real = folder.home / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text(json.dumps(FOREIGN))
    (folder.config / "settings.json").symlink_to(real)
    folder.crusts("hooks", "enable")
    assert (folder.config / "settings.json").is_symlink()
    assert "index --hook" in real.read_text()
    folder.crusts("hooks", "disable")
    assert meaning(FOREIGN) == meaning(json.loads(real.read_text()))


@pytest.mark.parametrize("what", ["settings", "home"])
def test_nothing_is_changed_where_something_is_read_only(folder: ClaudeFolder, what: str) -> None:
    """Read-only settings, or no place for a copy of them: exit 1, and all stays as it was."""
    path = folder.config / "settings.json"
    path.write_text("{}")
    env = {}
    if what == "settings":
        path.chmod(0o400)
    else:
        (folder.home / "file").write_text("")
        env["CRUSTS_HOME"] = str(folder.home / "file")
    for args in (("hooks", "enable"), ("statusline", "install")):
        done = folder.crusts(*args, **env)
        assert (1, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert "{}" == path.read_text()


def test_events_can_be_chosen(folder: ClaudeFolder) -> None:
    """Exactly those named are installed; some can be taken out again; a name that is none is wrong usage."""
    folder.crusts("hooks", "enable", "--event", "stop", "--event", "SessionEnd")
    assert ["SessionEnd", "Stop"] == sorted(ours(folder, "index", "--hook"))
    folder.crusts("hooks", "disable", "--event", "Stop")
    assert ["SessionEnd"] == ours(folder, "index", "--hook")
    assert [] == folder.crusts("hooks", "status", "--json").json()["dropped"]
    assert 2 == folder.crusts("hooks", "enable", "--event", "Whenever").code


def test_an_older_command_of_ours_is_replaced(folder: ClaudeFolder) -> None:
    """One by another path, or bare, is ours too: it does not run beside the new one."""
    old = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "uvx crusts index --hook"}]}]}}
    (folder.config / "settings.json").write_text(json.dumps(old))
    folder.crusts("hooks", "enable")
    assert 4 == len(ours(folder, "index", "--hook"))
    assert "uvx" not in (folder.config / "settings.json").read_text()


def test_status_notices_what_a_running_claude_code_dropped(folder: ClaudeFolder) -> None:
    """Settings written back from memory lack what was added: it is said, with what to do."""
    folder.crusts("hooks", "enable")
    folder.crusts("hooks", "auto-inject", "enable")
    path = folder.config / "settings.json"
    found = settings(folder)
    del found["hooks"]["Stop"], found["hooks"]["UserPromptSubmit"]
    path.write_text(json.dumps(found))
    told = folder.crusts("hooks", "status", "--json").json()
    assert ["Stop"] == told["dropped"]
    assert (True, False, True) == tuple(told["autoInject"][key] for key in ("enabled", "installed", "dropped"))
    assert "gone from the settings: Stop" in folder.crusts("hooks", "status").out
    path.write_text(json.dumps({**found, "disableAllHooks": True}))
    assert "disableAllHooks" in folder.crusts("hooks", "status").out


def test_the_config_dir_is_the_one_claude_code_uses(folder: ClaudeFolder) -> None:
    """CLAUDE_CONFIG_DIR decides, also where it does not exist yet."""
    other = folder.home / "elsewhere"
    assert folder.crusts("hooks", "enable", CLAUDE_CONFIG_DIR=str(other)).code == 0
    assert "index --hook" in (other / "settings.json").read_text()
    assert settings(folder) is None


def test_sibling_keys_of_the_config_survive(folder: ClaudeFolder) -> None:
    """Whatever else is in config.json stays: thresholds, windows, keys of others."""
    config = folder.home / ".claude-crusts" / "config.json"
    config.parent.mkdir()
    mine = {"wasteThresholds": {"staleReadThreshold": 30}, "autoInject": {"minGapMs": 5, "odd": 1}, "z": [1]}
    config.write_text(json.dumps(mine))
    for words in ("enable", "auto-inject enable", "auto-inject disable", "disable"):
        assert folder.crusts("hooks", *words.split()).code == 0
    left = json.loads(config.read_text())
    assert left.pop("hooksEnabled") is False
    assert left["autoInject"].pop("enabled") is False
    assert mine == left


def test_the_installed_hook_indexes_its_session_silently(folder: ClaudeFolder) -> None:
    """Run as Claude Code runs it, with a bare environment: the session is in the store, nothing is printed."""
    folder.crusts("hooks", "enable", "--event", "Stop")
    (entry,) = settings(folder)["hooks"]["Stop"]
    t, other = folder.main(), folder.main(SESSION[:-1] + "2")
    for transcript in (t, other):
        transcript.prompt("begin")
        transcript.response("on", context=20_000)
        transcript.write()
    payload = json.dumps({"session_id": SESSION, "transcript_path": str(t.path), "hook_event_name": "Stop"})
    environ = {key: value for key, value in folder.env().items() if key != "PATH"}
    done = subprocess.run(
        ["/bin/sh", "-c", entry["hooks"][0]["command"]],
        input=payload,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    db = folder.home / ".claude-crusts" / "index.db"
    assert [(SESSION,)] == ask(db, "select session_id from sessions")
    assert os.stat(db).st_mode & 0o077 == 0


def test_another_threshold_is_told(folder: ClaudeFolder) -> None:
    """Enabled a second time with another threshold, it changes and says so; with the same one it says that it is on."""
    folder.crusts("hooks", "auto-inject", "enable")
    changed, same = (folder.crusts("hooks", "auto-inject", "enable", "--threshold", "55").out for _ in range(2))
    assert ("Auto-inject is changed: it speaks from 55% of the limit on", True) == (
        changed.partition(",")[0],
        "is enabled already: it speaks from 55%" in same,
    )
