"""Text that steers a terminal, in every field that comes from outside: none of it is shown by any command."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from crusts_index import __main__, plain
from crusts_index.claude.demo import write_demo
from crusts_index.cli.usage import By
from crusts_index.cli.words import read_words
from crusts_index.render import console
from crusts_index.render.completion import Command
from tests.builders import ClaudeFolder, Outcome
from tests.conftest import DEMO_NOW
from tests.terminal import running

STEERS = (
    "\x1b]0;OWNED\x07\x1b[36;5mOWNED\x1b[0;7m\x9b35mOWNED\x1bPq#0\x1b\\\x90OWNED\x9c\x1b]52;c;T1dORUQ=\x1b\\\x1b]8;;x"
    "\u202eOWNED\u202d\u2066\u2069\u200e\u200f\u061c\ufeff\u200b\u2028FAKE\u2029FAKE\rFAKE\x0bFAKE\x85FAKE\b\x7f\nFAKE\tTAB"
)
"""Titles, colours, the clipboard, links, the cursor, other directions of writing, and lines that pass for ours."""
IN_A_NAME = "\x1b]0;N\x07\x1b[36;5m\x9b\u202e\u2028\r\b\nFAKE\t"
"""The same where names of files and folders have room for it."""
NOT_UTF8 = "\udcff"

# Fields that say what a record is: with these changed too nothing in it is understood any more.
STRUCTURE = frozenset(
    "type uuid parentUuid logicalParentUuid timestamp role sessionId id tool_use_id requestId subtype model name "
    "sourceToolUseID toolUseID parentToolUseID messageUuid agentId leafUuid signature media_type data "
    "stop_reason operation trigger origin kind".split()
)


def steered(value: Any, key: str = "", *, wholly: bool = False) -> Any:
    """A value of JSON with what steers behind the first letter of each text; structure is left unless `wholly`."""
    if isinstance(value, dict):
        return {name + (STEERS if wholly else ""): steered(one, name, wholly=wholly) for name, one in value.items()}
    if isinstance(value, list):
        return [steered(one, key, wholly=wholly) for one in value]
    if not isinstance(value, str) or (key in STRUCTURE and not wholly):
        return value
    return value[:1] + STEERS + value[1:]


def renamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record whose ids, models, tools, types and triggers steer too, but whose place in the tree is kept."""
    kept = {key: value for key, value in record.items() if key in ("type", "timestamp", "parentUuid", "uuid")}
    found: dict[str, Any] = {name: steered(value, "x", wholly=False) for name, value in record.items()}
    found |= kept
    message = record.get("message")
    if isinstance(message, dict):
        content = message.get("content")
        found["message"] |= {"role": message.get("role")}
        if isinstance(content, list):
            found["message"]["content"] = [
                {name: one if name == "type" else steered(one, "x") for name, one in block.items()}
                if isinstance(block, dict)
                else block
                for block in content
            ]
        for key in ("model", "id"):
            if key in message:
                found["message"][key] = steered(message[key], "x")
    return found


class HostileFolder(ClaudeFolder):
    """The demo with all of its texts steering, in folders, files and settings whose names do."""

    def __init__(self, base: Path) -> None:
        super().__init__(base / f"h{IN_A_NAME}")
        write_demo(base / "demo", DEMO_NOW)
        project = self.projects / f"-{IN_A_NAME}"
        self.sessions: list[str] = []
        self.wild = ""
        for number, path in enumerate(sorted((base / "demo" / "projects").glob("*/*.jsonl"))):
            records = [json.loads(line) for line in path.read_text().splitlines()]
            self.sessions.append(path.stem)
            self.put(project / path.name, [steered(record) for record in records])
            if number == 0:
                self.put(project / f"w{IN_A_NAME}.jsonl", [renamed(record) for record in records])
                self.put(project / f"a{IN_A_NAME}.jsonl", [steered(record, wholly=True) for record in records])
            for part in sorted(path.with_suffix("").rglob("*.jsonl")):
                place = project / path.stem / "subagents"
                told = [steered(json.loads(line)) for line in part.read_text().splitlines()]
                self.put(place / part.name, told)
                self.put(place / f"{part.stem}.meta.json", [{"agentType": f"a{STEERS}", "description": f"d{STEERS}"}])
        (self.projects / f"n{NOT_UTF8}{IN_A_NAME}").mkdir()
        (project / "bad.jsonl").write_bytes(b"garbage \x1b]0;OWNED\x07\n" * 3)
        self.put(self.config / "settings.json", [self.settings()])
        self.put(self.home / ".claude.json", [{"mcpServers": {f"m{STEERS}": {"command": f"c{STEERS}"}}}])
        (self.config / "CLAUDE.md").write_text(f"c{STEERS}", errors="replace")
        self.working = base / f"w{IN_A_NAME}"
        self.working.mkdir()
        self.put(self.working / ".mcp.json", [{"mcpServers": {f"n{STEERS}": {"command": "x"}}}])
        config = {"timezone": f"t{STEERS}", "autoInject": {"enabled": True, "threshold": 1}}
        self.put(self.home / ".claude-crusts" / "config.json", [config])

    def settings(self) -> dict[str, Any]:
        """Settings of Claude Code with hooks and a status line that look like ours."""
        command = f"crusts index --hook{STEERS}"
        return {
            "model": f"m{STEERS}",
            "mcpServers": {f"s{STEERS}": {"command": "x"}},
            "hooks": {f"Stop{STEERS}": [{"hooks": [{"type": "command", "command": command}]}]},
            "statusLine": {"type": "command", "command": f"other {STEERS}"},
        }

    @staticmethod
    def put(path: Path, records: list[Any]) -> None:
        """Write a JSON value a line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))

    def payload(self) -> bytes:
        """What Claude Code gives a status line and a hook."""
        told = {
            "session_id": self.sessions[0],
            "transcript_path": str(next(self.projects.rglob(f"{self.sessions[0]}.jsonl"))),
            "hook_event_name": f"h{STEERS}",
            "model": {"id": f"m{STEERS}", "display_name": f"d{STEERS}"},
            "workspace": {"project_dir": f"p{STEERS}", "current_dir": f"c{STEERS}"},
            "cwd": f"w{STEERS}",
            "version": f"v{STEERS}",
            "session_name": f"n{STEERS}",
        }
        return json.dumps(told).encode()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileFolder:
    """One folder for all commands, its store laid."""
    folder = HostileFolder(tmp_path_factory.mktemp("hostile"))
    assert 0 == folder.crusts("index").code
    with closing(sqlite3.connect(folder.home / ".claude-crusts" / "index.db")) as store:
        named = [row[0] for row in store.execute("select session_id from sessions order by 1")]
        assert store.execute("select count(*) from api_calls where model glob '*OWNED*'").fetchone()[0]
    folder.wild = next(name for name in named if name not in folder.sessions and "OWNED" in name)
    assert set(folder.sessions) <= set(named)
    return folder


class Stream(io.TextIOWrapper):
    """A stream in memory that may say that a person looks at it."""

    def __init__(self, data: bytes = b"", *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", newline="\n", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def said(self) -> str:
        """All that was written to it."""
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8")


def shown(
    folder: ClaudeFolder, *args: str, is_terminal: bool = False, stdin: bytes = b"", cwd: Path | None = None, **env: str
) -> Outcome:
    """Run the command inside this process, for a pipe or for a terminal."""
    out, err = Stream(is_terminal=is_terminal), Stream(is_terminal=is_terminal)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**folder.env(), "TERM": "xterm", **env}.items():
            patch.setenv(name, value)
        if is_terminal:
            patch.delenv("NO_COLOR")
        patch.chdir(cwd or folder.home)
        for stream, name in ((Stream(stdin), "stdin"), (out, "stdout"), (err, "stderr")):
            patch.setattr(sys, name, stream)
        code = __main__.main(list(args))
    time.tzset()
    return Outcome(code, out.said(), err.said())


def commands(command: Command) -> Iterator[str]:
    """The names of all commands, those of groups behind the group's."""
    for one in command.commands:
        yield from (f"{one.name} {inner}" for inner in commands(one))
        if not one.commands or one.name == "statusline":  # which does something by itself too
            yield one.name


# Each command -> its arguments, as often as it is run. {id} is a session, {wild} one whose id steers, {text} steers.
LINES: dict[str, list[str]] = {
    "overview": [""],
    "index": ["", "--verbose", "--hook", "--{text}"],
    "readout": ["", "--full", "--since {text}", "--detail /nonexistent/{text}"],
    "usage": [*(f"--by {by}" for by in By), "--by {text}", "--format csv --by project", "--project {text}"],
    "why": ["{id}", "{wild}", "--since 2020-01-01", "{text}"],
    "cache": ["", "--breaks", "--by project", "--by {text}"],
    "list": ["", "--format csv", "--limit {text}"],
    "models": ["{id}", "{wild}", "{text}"],
    "analyze": ["{id}", "{wild}", "{id} --verbose", "{text}"],
    "waste": ["{id} --verbose", "{wild}", "--all", "{text}"],
    "fix": ["{id}", "{wild}", "{text}"],
    "optimize": ["{id}", "{wild}", "{id} --apply", "{text}"],
    "timeline": ["{id} --all", "{wild}", "{text}"],
    "diff": ["{id} --from 1 --to 9", "{wild} --from 1 --to 9", "{id} --from {text} --to 2"],
    "compare": ["{id} {wild}", "{id} {text}"],
    "trend": ["", "--by week", "--format csv"],
    "lost": ["{id} --verbose", "{wild}", "--all", "{text}"],
    "calibrate": ["{id}", "{wild}", "{text}"],
    "accuracy": [""],
    "report": ["{id} -o -", "{wild} --format md -o -", "{id} --compare {wild} -o -", "--project h --format md -o -"],
    "status": ["", "{id}", "{wild}", "--hook", "--{text}"],
    "statusline": ["", "--format {text}{{model}}{{project}}{{session}}{{mark}}"],
    "statusline install": ["", "--wrap"],
    "statusline uninstall": [""],
    "statusline status": [""],
    "hooks enable": ["", "--event {text}"],
    "hooks disable": [""],
    "hooks status": [""],
    "hooks auto-inject enable": ["", "--threshold {text}"],
    "hooks auto-inject disable": [""],
    "hooks auto-inject status": [""],
    "hooks auto-inject log": ["--verbose"],
    "auto-inject": [""],
    "watch": ["{text}"],
    "tui": [""],
    "bench compact": ["--all", "{wild} --timeout 0"],
    "bench compare": ["{text} b"],
    "bench reextract": ["{text}"],
    "search": ["the", "{text}", "fix --tool {text}", "a* --limit 50"],
    "sql": [
        *(f"select+*+from+{name}+limit+40" for name in ("sessions_overview", "problems", "tool_uses", "texts")),
        *("select+*+from+transcripts --format csv", "select+{text}", "--report {text}", "--schema"),
    ],
    "doctor": [""],
    "verify": [""],
    "completion": ["bash", "{text}"],
    "install-command": ["", "--remove"],
    "demo": ["demo{text}"],
    "forget": ["{text}", "{wild}", "--before {text}", "--project h"],
}
TYPED = b"list\nanalyze\nselect\nselect \x1b]0;OWNED\x07\n\x1b]0;OWNED\x07\nfix\nhelp"
WITHOUT_JSON = ("completion", "report", "statusline", "auto-inject", "demo", "index", "watch", "tui", "forget")


def test_every_command_is_among_them() -> None:
    """A new command is tried as all others are."""
    assert sorted(commands(read_words())) == sorted(LINES)


def unsafe(said: str) -> list[str]:
    """What would steer a terminal, our own colours apart; and lines that pass for ours."""
    ours = "|".join(re.escape(f"\x1b[{hue}m") for hue in ("0", *console._HUES.values(), "97;41"))
    said = re.sub(ours, "", said)
    said = re.sub("\x1b\\]52;c;[A-Za-z0-9+/]*=*\x07", "", said)  # ours too: a command for the terminal's clipboard
    found = {repr(char) for char in said if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"'\\n'"}
    return sorted(found) + [line for line in said.split("\n") if line.startswith("FAKE")]


def words_of(name: str, arguments: str, hostile: HostileFolder) -> list[str]:
    """A line of the table as arguments."""
    values = {"id": hostile.sessions[0], "wild": hostile.wild, "text": STEERS.replace("\x00", "")}
    return [*name.split(), *(word.format(**values).replace("+", " ") for word in arguments.split())]


@pytest.mark.long
@pytest.mark.parametrize("is_terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("name", LINES)
def test_no_command_shows_what_steers(name: str, is_terminal: bool, hostile: HostileFolder) -> None:
    """Neither on stdout nor on stderr, as text or as JSON; nothing ends in a fault of ours."""
    for arguments in LINES[name]:
        for more in ([], ["--json"]) if name not in WITHOUT_JSON and "csv" not in arguments else ([],):
            stdin = TYPED if name == "tui" else hostile.payload()
            words = [*words_of(name, arguments, hostile), *more]
            done = shown(hostile, *words, is_terminal=is_terminal, stdin=stdin, cwd=hostile.working, COLUMNS="120")
            code, out, err = done.code, done.out, done.err
            told = (name, arguments, more)
            if "csv" in arguments:  # where a cell of several lines is quoted
                out = re.sub("[\n\t]", " ", "".join(cell for row in csv.reader(io.StringIO(out)) for cell in row))
            assert (told, []) == (told, unsafe(out))
            assert (told, []) == (told, unsafe(err))
            assert "a fault of crusts" not in err, told
            assert code in (0, 1, 2), told


WRITERS = {
    "plain.py": "stderr, cleaned",
    "render/console.py": "stdout, cleaned",
    "render/screen.py": "a terminal taken over: safe lines, and what moves its cursor",
    "render/clipboard.py": "the clipboard in base64",
    "quick/statusline.py": "a line, cleaned",
    "quick/status.py": "JSON, escaped",
    "quick/auto_inject.py": "JSON in ASCII",
    "quick/index.py": "numbers of ours",
    "regular.py": "a device that stands in the place of a file of ours: JSON, CSV and reports, each made safe",
}
"""The only modules that write to a terminal, and what."""


def test_nothing_else_writes_to_a_terminal() -> None:
    """Who wants to say something goes through a place that cleans it."""
    package = Path(plain.__file__).parent
    writes = re.compile(r"\bprint\(|typer\.(?:echo|secho)\(|(?:stdout|stderr|stream)\.(?:write|buffer)|Console\(")
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if writes.search(path.read_text("utf-8"))}
    assert set(WRITERS) == found - {"cli/progress.py"}  # a bar of ours, drawn by rich


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in LINES if name not in ("tui", "watch")])
def test_no_command_steers_a_real_terminal(name: str, hostile: HostileFolder) -> None:
    """The same in processes of their own, on a pseudo-terminal."""
    for arguments in LINES[name]:
        said = on_a_terminal(hostile, *words_of(name, arguments, hostile)).replace("\r\n", "\n")
        if "csv" in arguments:
            said = re.sub("[\n\t]", " ", said)
        assert (arguments, []) == (arguments, unsafe(said))


def on_a_terminal(hostile: HostileFolder, *args: str) -> str:
    """All that a command writes to a terminal on which nobody types."""
    environ = {name: value for name, value in hostile.env(TERM="xterm").items() if name != "NO_COLOR"}
    leader, follower = pty.openpty()
    said = b""
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "crusts_index", *args],
            cwd=hostile.working,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        with suppress(OSError):  # which tells that the other end is closed
            while data := os.read(leader, 1 << 16):
                said += data
        process.wait()
    finally:
        os.close(leader)
    return said.decode("utf-8")


@pytest.mark.long
def test_a_watched_session_steers_nothing(hostile: HostileFolder) -> None:
    """Line by line in a pipe."""
    for session in (hostile.wild, hostile.sessions[0]):
        with running(hostile, "watch", session) as watched:
            said = watched.line()
            assert ([], "") == (unsafe(said), watched.stop(signal.SIGINT)[1])
