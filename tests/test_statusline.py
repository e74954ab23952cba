"""`crusts statusline`: one line whatever it is given, the right number, and another's status line kept."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crusts_index.quick.statusline import DEFAULT_FORMAT, FIELDS, render, short, unknown_fields
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask
from tests.program import Program

OTHER = "printf 'theirs %s' \"$(wc -c)\""


def talk(folder: ClaudeFolder, *contexts: int, **options: Any) -> Transcript:
    """A transcript with a prompt and one call a context."""
    t = folder.main(**options)
    t.prompt("begin")
    for context in contexts:
        t.response("on", context=context, output=100)
    t.write()
    return t


def payload(t: Transcript, **more: Any) -> str:
    """What Claude Code says of the session."""
    return json.dumps(
        {
            "session_id": t.session,
            "transcript_path": str(t.path),
            "cwd": t.cwd,
            "model": {"id": t.model, "display_name": "Opus"},
            "workspace": {"current_dir": t.cwd, "project_dir": t.cwd},
            "version": t.version,
            **more,
        }
    )


def window(size: int | None, context: int | None, output: int = 100) -> dict[str, Any]:
    """The payload's `context_window`."""
    used = None if context is None else {"input_tokens": 5, "cache_read_input_tokens": context - 5}
    return {
        "context_window": {
            "context_window_size": size,
            "current_usage": used if used is None else {**used, "output_tokens": output},
        }
    }


def shown(folder: ClaudeFolder, stdin: str | bytes, *args: str, **env: str) -> str:
    """The line; whatever happened, it is there and the exit code is 0."""
    done = folder.crusts("statusline", *args, stdin=stdin, **env)
    assert 0 == done.code
    assert done.out.strip()
    return done.out.removesuffix("\n")


def test_store_transcript_and_payload_say_the_same(tmp_path: Path) -> None:
    """Without a store, with one, and with one that is behind: percent of the right limit, and calls left. Only a store
    has prices."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 22_000, 24_000, 26_000)
    line = "○ 13% · 157 calls left · cache cold"
    assert line == shown(folder, payload(t))
    folder.crusts("index")
    assert line + ", next $0.16" == shown(folder, payload(t))
    t.response("on", context=28_000, output=100)
    t.append()
    line = "○ 14% · 154 calls left · cache cold, next $0.18"
    assert line == shown(folder, payload(t))
    assert line.replace("14% · 154", "3% · 1,043") == shown(folder, payload(t, **window(1_000_000, 28_000)))
    # The payload is ahead of the transcript, then behind it.
    assert "○ 15% · 151 calls left" == shown(folder, payload(t, **window(200_000, 30_000)))
    assert line == shown(folder, payload(t, **window(200_000, 26_000)))


def compacted(t: Transcript) -> None:
    """`/compact`: Claude Code sends the numbers of the call before until the next one."""
    t.boundary("manual", pre=90_000, post=5_000)
    t.summary()


def rewound(t: Transcript) -> None:
    """Back to where the second prompt stood, and otherwise."""
    t.parent = json.loads(t.lines()[1])["uuid"]
    t.prompt("otherwise")


def gone_back(t: Transcript) -> None:
    """The same, before anything is typed: only a leaf is named."""
    t.meta("last-prompt", lastPrompt="begin", leafUuid=json.loads(t.lines()[1])["uuid"])


def gone_on(t: Transcript) -> None:
    """Two calls later."""
    t.response("on", context=92_000, output=100)
    t.response("and on", context=94_000, output=100)


def cleared(t: Transcript) -> None:
    """A microcompaction, and the call after it, which is smaller."""
    cut = {"trigger": "auto", "preTokens": 90_000, "tokensSaved": 9_000, "compactedToolIds": []}
    t.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata=cut)
    t.response("on", context=70_000, output=100)


@pytest.mark.parametrize("change", [compacted, rewound, gone_back, gone_on, cleared], ids=lambda one: one.__name__)
def test_a_stale_payload_is_not_believed(tmp_path: Path, change: Callable[[Transcript], None]) -> None:
    """Of a call that is no longer the last one, which the store does not know yet: the line says what `status` says."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000)
    t.prompt("and then?")
    t.response("this", context=60_000, output=100)
    t.response("and that", context=90_000, output=100)
    t.append()
    old = payload(t, **window(200_000, 90_000))
    folder.crusts("index")
    form = ("--format", "{tokens} of {limit}, {calls} left")
    assert "90k of 200k, 58 left" == shown(folder, old, *form)
    change(t)
    t.append()
    line = shown(folder, old, *form)
    assert line == shown(folder, old, *form)
    status = folder.crusts("status", SESSION, "--json").json()
    left = f"{status['window']['calls_left']:,}"
    assert f"{short(status['total_tokens'])} of 200k, {left} left" == line
    assert status["total_tokens"] != 90_100


def test_what_is_forgotten_is_shown_and_not_kept(tmp_path: Path) -> None:
    """A session that goes on after the user had it forgotten is read apart: the store knows nothing of it again."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 26_000)
    folder.crusts("index")
    assert 0 == folder.crusts("forget", SESSION, "--yes").code
    t.response("on", context=40_000, output=100)
    t.append()
    assert "○ 20%" in shown(folder, payload(t))
    assert [] == ask(tmp_path / ".claude-crusts" / "index.db", "select * from transcripts")


def test_a_smaller_window_that_is_set_colours_the_line(tmp_path: Path) -> None:
    """17 % of the limit, but compacted next: not green, and no number of calls; one call is one."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 160_000)
    settings = folder.config / "settings.json"
    settings.write_text('{"autoCompactWindow": 200000}')
    assert folder.crusts("index").code == 0
    seen = {context: shown(folder, payload(t, **window(1_000_000, context))) for context in (80_000, 166_500, 168_000)}
    assert seen[80_000].startswith("○ 8% · ")
    assert "◕ 17% · 1 call left" == seen[166_500].partition(" · cache")[0]
    assert "◕ 17% · compacts next" == seen[168_000].partition(" · cache")[0]
    told = folder.crusts("status", "--json", stdin=payload(t, **window(1_000_000, 168_000))).json()
    assert "hot" == told["context_health"]


def test_the_payload_alone_is_enough(tmp_path: Path) -> None:
    """No transcript and no store: the payload's own numbers; a distrusted size gives way."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    assert "◔ 60% · 53 calls left" == shown(folder, payload(t, **window(200_000, 120_000)))
    assert "◔ 50% · 536 calls left" == shown(folder, payload(t, **window(200_000, 500_000)))
    assert "○ crusts: nothing yet" == shown(folder, payload(t, **window(200_000, None)))
    assert "○ crusts: nothing yet" == shown(folder, payload(t))


def test_what_is_new_is_taken_in(tmp_path: Path) -> None:
    """The whole lines behind the store's offset; a half line waits. With --no-index they are read apart from it."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 22_000, 24_000)
    folder.crusts("index")
    assert t.path is not None
    t.response("on", context=26_000, output=100)
    last = t.pieces[-1]
    with t.path.open("ab") as file:
        file.write(last + last[: len(last) // 2])
    db = tmp_path / ".claude-crusts" / "index.db"
    before = ask(db, "select * from transcripts")
    assert "○ 13%" in folder.crusts("statusline", "--no-index", stdin=payload(t)).out
    assert before == ask(db, "select * from transcripts")
    assert "○ 13% · 157 calls left · cache cold, next $0.16" == shown(folder, payload(t))
    whole = t.path.stat().st_size - len(last) // 2
    assert [(whole,)] == ask(db, "select offset from transcripts")


def test_marks_and_cache(tmp_path: Path) -> None:
    """A re-read or an oversized result of the last step is marked, older ones are not; a fresh cache has minutes."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(start=datetime.now(UTC) - timedelta(seconds=60))
    t.prompt("begin")
    t.read("/x/a.py", "y = 1\n" * 2_000, context=20_000)
    t.read("/x/a.py", "y = 1\n" * 2_000, context=23_000)
    t.write()
    assert "↻ a.py 3.0k re-read" in shown(folder, payload(t))
    assert shown(folder, payload(t)).endswith(("cache 4m", "cache 3m"))
    folder.crusts("index")
    assert "↻ a.py 3.0k re-read" in shown(folder, payload(t))
    t.edit("/x/a.py", context=26_000)
    t.read("/x/a.py", "y = 1\n" * 2_000, context=27_000)
    t.append()
    assert "a.py" not in shown(folder, payload(t))
    t.bash("cat big", "word " * 12_000, context=30_000)
    t.append()
    assert "▲ Bash 15k" in shown(folder, payload(t))


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{",
        b"\xff\xfe\x00garbage",
        b"[]",
        b"null",
        b'"text"',
        b'{"a": 1}',
        b'{"session_id": 7, "model": [], "context_window": {"current_usage": "many"}, "transcript_path": {}}',
        b'{"session_id": "x", "transcript_path": "/nonexistent/x.jsonl"}',
        b'{"session_id": "../../etc", "transcript_path": "/etc/passwd"}',
        b"[" * 100_000,
        b'{"session_id": "' + b"x" * 3_000_000 + b'"}',
        b'{"session_id":"s","context_window":{"context_window_size":-5,"current_usage":{"input_tokens":1e300}}}',
    ],
)
def test_any_stdin_gives_a_line(tmp_path: Path, stdin: bytes) -> None:
    """Empty, broken and alien payloads: a short line, exit 0."""
    folder = ClaudeFolder(tmp_path)
    assert shown(folder, stdin).startswith("○ crusts")


def test_a_damaged_transcript_gives_a_line(tmp_path: Path) -> None:
    """Cut, glued and odd records cost themselves; a transcript path that is a folder or a pipe costs nothing."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000)
    assert t.path is not None
    with t.path.open("ab") as file:
        file.write(
            b'\n\x00{"type":"assistant","message":7}\n[1]\n{"type":"user","message":{"content":{"a":1}}}\n{"ty\n'
        )
        file.write(
            b'{"type":"assistant","message":{"content":[7,{"type":"tool_use","input":[1]}],"usage":{"input_tokens":-1}}}\n'
        )
    assert shown(folder, payload(t)).startswith("○ 10%")
    assert shown(folder, json.dumps({"transcript_path": str(tmp_path), "session_id": "s"}))
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert shown(folder, json.dumps({"transcript_path": str(tmp_path / "pipe.jsonl"), "session_id": "s"}))


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("trouble", ["locked", "absent", "older", "newer", "foreign", "empty", "damaged"])
def test_a_store_in_trouble_is_done_without(tmp_path: Path, trouble: str) -> None:
    """Locked for good, absent, of an older or a newer revision, not ours: the transcript's end says enough."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 22_000, 24_000, 26_000)
    folder.crusts("index")
    db = tmp_path / ".claude-crusts" / "index.db"
    with closing(sqlite3.connect(db, isolation_level=None)) as store:
        if trouble in ("older", "newer"):
            store.execute("update alembic_version set version_num = ?", ("0000" if trouble == "older" else "9999",))
        elif trouble == "locked":
            store.execute("pragma locking_mode = exclusive")
            store.execute("begin exclusive")
            store.execute("create table held (x)")
        elif trouble == "foreign":
            store.execute("drop table alembic_version")
        elif trouble == "damaged":
            store.execute("drop table stored_responses")
        if trouble in ("absent", "empty"):
            store.close()
            db.unlink()
            if trouble == "empty":
                db.touch()
        line = shown(folder, payload(t))
    assert line.startswith("○ crusts" if trouble == "damaged" else "○ 13% · 157 calls left")


def test_homes_in_trouble(tmp_path: Path) -> None:
    """No home at all, a home that is a file, one that cannot be written: still a line."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000)
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "none")
    for home in (nowhere, str(tmp_path / "file"), ""):
        env = {"HOME": home, "CRUSTS_HOME": home or nowhere}  # never the store of who runs this
        assert shown(folder, payload(t), **env, CLAUDE_CONFIG_DIR=str(folder.config)).startswith("○ 10%")
        assert shown(folder, payload(t), **env, CLAUDE_CONFIG_DIR="").startswith("○ crusts")
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o500)
    assert shown(folder, payload(t), CRUSTS_HOME=str(sealed)).startswith("○ 10%")
    assert [] == os.listdir(sealed)


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_any_locale_gives_a_line(tmp_path: Path, locale: str) -> None:
    """Where the dots cannot be written, plain characters stand for them."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000)
    assert "10%" in shown(folder, payload(t), LC_ALL=locale, LANG=locale)
    plain = shown(folder, payload(t), PYTHONIOENCODING="ascii")
    assert "o 10% - 168 calls left - cache cold" == plain


def test_forty_columns(tmp_path: Path) -> None:
    """In a narrow terminal the parts in brackets go, the last one first; nothing is ever wider."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 22_000, 24_000, 26_000)
    assert "○ 13% · 157 calls left" == shown(folder, payload(t), COLUMNS="30")
    assert "○ 13% · 157 calls left · cache cold" == shown(folder, payload(t), COLUMNS="40")
    assert "○ 13%" == shown(folder, payload(t, columns=8))
    assert "○ …" == shown(folder, payload(t), COLUMNS="3")


def test_colours_are_those_of_health(tmp_path: Path) -> None:
    """Green, yellow, red, white on red; none where the user wants none."""
    folder = ClaudeFolder(tmp_path)
    for percent, colour in ((10, "32"), (60, "33"), (80, "31"), (90, "97;41")):
        t = folder.main()
        given = payload(t, **window(200_000, percent * 2_000, output=0))
        assert f"\x1b[{colour}m" in shown(folder, given, NO_COLOR="")
        assert "\x1b" not in shown(folder, given, "--no-color", NO_COLOR="")


def test_templates() -> None:
    """Fields in braces, parts in brackets that go when a field in them is empty; what is no field stays."""
    values = dict.fromkeys(FIELDS, "") | {"percent": "42", "calls": "7"}
    assert "42% 7" == render("{percent}%[ {calls}][ {mark}]", values)
    assert "42 {odd} []" == render("{percent} {odd} []"[:-2] + "[]", values) + "[]"
    assert "a [b 42" == render("a [b {percent}", values)
    assert [] == unknown_fields(DEFAULT_FORMAT)
    assert ["odd"] == unknown_fields("{percent} {odd}")
    assert ["999", "1.0k", "42k", "999k", "1M", "1.2M"] == [
        short(count) for count in (999, 1_000, 42_400, 999_400, 1_000_000, 1_234_000)
    ]


def test_text_from_a_transcript_steers_no_terminal(tmp_path: Path) -> None:
    """Escape sequences in a file's name do not reach the terminal."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(start=datetime.now(UTC))
    t.prompt("begin")
    for context in (20_000, 30_000):
        t.read("/x/\x1b]0;owned\x07a\x1b[2J.py", "y = 1\n" * 2_000, context=context)
    t.write()
    line = shown(folder, payload(t))
    assert "re-read" in line
    assert line.isprintable()


@pytest.mark.long
@pytest.mark.process
def test_twenty_at_once(tmp_path: Path) -> None:
    """Twenty status lines while the store is written to: all say the same."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, *range(20_000, 60_000, 500))
    folder.crusts("index")
    with ThreadPoolExecutor(20) as pool:
        lines = pool.map(lambda _: shown(folder, payload(t)), range(20))
        other = folder.main(SESSION[:-1] + "2")
        other.prompt("begin")
        other.write()
        folder.crusts("index")
        assert {"○ 30% · 144 calls left · cache cold, next $0.37"} == set(lines)


# ---------------------------------------------------------------------- in Claude Code's settings


def run_shell(command: str, stdin: str, environ: dict[str, str]) -> str:
    """What a command of the settings prints, run as Claude Code does."""
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=stdin, env=environ, capture_output=True, text=True, check=True, cwd="/"
    )
    return done.stdout


def settings(folder: ClaudeFolder) -> dict[str, Any]:
    """What is in settings.json."""
    return json.loads((folder.config / "settings.json").read_text("utf-8-sig"))  # type: ignore[no-any-return]


def test_install_and_uninstall(tmp_path: Path) -> None:
    """The command names the program by its full path and works from a bare environment; removing it is complete."""
    folder = ClaudeFolder(tmp_path)
    assert "is installed." in folder.crusts("statusline", "install").out
    assert "installed already" in folder.crusts("statusline", "install").out
    entry = settings(folder)["statusLine"]
    assert {"type", "command", "padding"} == set(entry)
    words = shlex.split(entry["command"])
    assert ([True, True], ["-I", "-S"]) == ([os.path.isabs(words[0]), os.path.isabs(words[3])], words[1:3])
    t = talk(folder, 20_000)
    bare = {"NO_COLOR": "1", "CLAUDE_CONFIG_DIR": str(folder.config)}
    assert run_shell(entry["command"], payload(t), bare).startswith("○ 10%")
    told = folder.crusts("statusline", "status", "--json").json()
    assert (True, "ours", False) == (told["installed"], told["state"], told["dropped"])
    assert folder.crusts("statusline", "uninstall").code == 0
    assert {} == settings(folder)
    assert "not installed." in folder.crusts("statusline", "status").out


def test_it_is_told_when_what_it_runs_is_gone(tmp_path: Path) -> None:
    """As after Python was upgraded: by status and doctor; installing it again mends it, and keeps format and wrap."""
    folder = ClaudeFolder(tmp_path)
    before = {"statusLine": {"type": "command", "command": OTHER}}
    (folder.config / "settings.json").write_text(json.dumps(before))
    folder.crusts("statusline", "install", "--wrap", "--format", "{percent}")
    entry = settings(folder)["statusLine"]
    moved = entry["command"].replace("/crusts_index/entry.py", "/gone/crusts_index/entry.py")
    for command in (moved, moved.replace(sys.executable, "/gone/python", 1), "/gone/crusts statusline"):
        (folder.config / "settings.json").write_text(json.dumps({"statusLine": {**entry, "command": command}}))
        told = folder.crusts("statusline", "status", "--json").json()
        assert (True, True) == (told["installed"], "/gone/" in told["missing"])
        assert "statusline install" in told["message"]
        found = folder.crusts("doctor", "--json").json()["checks"]
        (verdict,) = [one for one in found if one["name"] == "Status line integration"]
        assert (told["message"], "warn") == (verdict["detail"], verdict["status"].lower())
    (folder.config / "settings.json").write_text(json.dumps({"statusLine": {**entry, "command": moved}}))
    assert 0 == folder.crusts("statusline", "install").code
    assert entry == settings(folder)["statusLine"]
    assert folder.crusts("statusline", "status", "--json").json()["missing"] is None


@pytest.mark.process
def test_it_runs_by_its_place_alone(tmp_path: Path) -> None:
    """A copy of the package is enough, whatever the locale and the environment say; the whole program is behind it."""
    (place := tmp_path / "my place").mkdir()
    Program(place)
    folder = ClaudeFolder(tmp_path / "home")
    given = payload(talk(folder, 20_000), **window(200_000, 20_000))
    command = [sys.executable, "-I", "-S", str(place / "crusts_index" / "entry.py"), "statusline"]
    for more in ({}, {"PYTHONHOME": "/nonexistent"}, {"PYTHONPATH": str(tmp_path)}, {"LC_ALL": "C"}, {"LANG": "de_DE"}):
        env = {"CLAUDE_CONFIG_DIR": str(folder.config), "CRUSTS_HOME": str(tmp_path), "NO_COLOR": "1", **more}
        done = subprocess.run(command, input=given, env=env, cwd="/", capture_output=True, text=True, check=True)
        assert ("○ 10% · 168 calls left · cache cold\n", "") == (done.stdout, done.stderr)
    said = subprocess.run([*command, "--help"], env=folder.env(), cwd="/", capture_output=True, text=True, check=True)
    assert "{calls}" in said.stdout


def test_another_status_line_is_kept(tmp_path: Path) -> None:
    """It is never overwritten; wrapped, both are printed, and uninstalling brings it back as it was."""
    folder = ClaudeFolder(tmp_path)
    before = {"statusLine": {"type": "command", "command": OTHER, "padding": 2, "odd": [1]}, "model": "opus"}
    (folder.config / "settings.json").write_text(json.dumps(before))
    refused = folder.crusts("statusline", "install")
    assert (1, "", before) == (refused.code, refused.out, settings(folder))
    assert folder.crusts("statusline", "install", "--wrap").code == 0
    assert folder.crusts("statusline", "install", "--format", "{percent}").code == 0
    command = settings(folder)["statusLine"]["command"]
    t = talk(folder, 20_000)
    given = payload(t)
    assert f"theirs {len(given)} │ 10\n" == run_shell(command, given, folder.env())
    assert "wrapped" == folder.crusts("statusline", "status", "--json").json()["state"]
    assert folder.crusts("statusline", "uninstall").code == 0
    assert before == settings(folder)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize(
    ("other", "start"),
    [("sleep 60", ""), ("exit 3", ""), ("nonesuch 2>/dev/null", ""), ("echo a; echo; echo b", "a\n\nb │ ")],
)
def test_a_wrapped_one_cannot_hold_ours_up(tmp_path: Path, other: str, start: str) -> None:
    """Slow, failing or absent: ours is printed; of several lines ours stands behind the last."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000)
    assert f"{start}○ 10% · 168 calls left · cache cold" == shown(folder, payload(t), "--wrap", other)


def test_status_tells_what_became_of_it(tmp_path: Path) -> None:
    """Gone from the settings, replaced, or turned off with all hooks: it is said."""
    folder = ClaudeFolder(tmp_path)
    folder.crusts("statusline", "install")
    path = folder.config / "settings.json"
    path.write_text(json.dumps({**settings(folder), "disableAllHooks": True}))
    assert "disableAllHooks" in folder.crusts("statusline", "status").out
    path.write_text("{}")
    assert "gone from the settings" in folder.crusts("statusline", "status").out
    path.write_text(json.dumps({"statusLine": {"type": "command", "command": "starship"}}))
    told = folder.crusts("statusline", "status", "--json").json()
    assert (True, "other") == (told["dropped"], told["state"])


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    """A field that is none is refused at install, with what there is."""
    folder = ClaudeFolder(tmp_path)
    done = folder.crusts("statusline", "install", "--format", "{bogus}")
    assert 2 == done.code
    assert "percent" in done.err
    assert not (folder.config / "settings.json").exists()
    assert "{calls}" in folder.crusts("statusline", "--help").out


def test_nothing_slow_is_imported(tmp_path: Path) -> None:
    """With a call that the store does not have, a run imports neither re nor json nor anything of ours that is slow."""
    folder = ClaudeFolder(tmp_path)
    t = talk(folder, 20_000, 22_000, 24_000)
    folder.crusts("index")
    folder.crusts("hooks", "enable")
    t.response("on", context=26_000, output=100)
    t.append()
    code = (
        "import sys\nfrom crusts_index.__main__ import main\nassert main(['statusline']) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input=payload(t, **window(200_000, 26_000)),
        env={**folder.env(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "○ 13% · 157 calls left · cache cold, next $0.16\n" == done.stdout
    slow = {"re", "json", "typing", "pathlib", "typer", "rich", "sqlalchemy", "pydantic", "msgspec", "subprocess"}
    assert set() == slow & set(done.stderr.split())
