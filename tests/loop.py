"""A script that plays Claude Code: it logs line by line, and runs the hooks and the status line that are installed."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.builders import ClaudeFolder, Clock, Json, Transcript

LATELY = timedelta(seconds=100)


@dataclass
class Run:
    """How a command of the settings ended."""

    code: int
    out: str
    err: str


@dataclass
class ClaudeCode:
    """One Claude Code at work in a folder."""

    folder: ClaudeFolder
    window_size: int = 200_000
    runs: list[tuple[str, Run]] = field(default_factory=list)
    transcript: Transcript = field(init=False)
    usage: Json | None = None

    def begin(self, session: str) -> None:
        """A new session: its transcript is not there before the first line."""
        clock = Clock(datetime.now(UTC) - LATELY, timedelta(milliseconds=200))
        self.transcript = self.folder.main(session, project=str(self.folder.home / "site"), clock=clock)
        (self.folder.home / "site").mkdir(exist_ok=True)
        self.usage = None

    @property
    def settings(self) -> Json:
        """What is in settings.json now."""
        path = self.folder.config / "settings.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def prompt(self, text: str) -> list[Run]:
        """The user submits a prompt: hooks first, then it is logged."""
        runs = self.hooks("UserPromptSubmit", prompt=text)
        self.transcript.prompt(text)
        self.flush()
        return runs

    def answer(self, text: str, context: int, output: int = 400) -> None:
        """A response, and the usage that the status line is told."""
        self.transcript.response(text, context=context, output=output)
        self.told(context, output)

    def read(self, path: str, text: str, context: int, output: int = 90) -> None:
        """A response that reads a file, and the file."""
        self.transcript.read(path, text, context=context, output=output)
        self.told(context, output)

    def told(self, context: int, output: int) -> None:
        """Log, and remember the usage of the last call."""
        self.usage = {"input_tokens": 3, "cache_read_input_tokens": context - 3, "output_tokens": output}
        self.flush()

    def flush(self) -> None:
        """Write what is new, a line at a time, the last one in two halves."""
        path = self.transcript.path
        assert path is not None
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            for piece in self.transcript.pieces[self.transcript.written :]:
                file.write(piece[: len(piece) // 2])
                file.write(piece[len(piece) // 2 :])
        self.transcript.written = len(self.transcript.pieces)

    def compact(self, pre: int, post: int) -> None:
        """PreCompact, the boundary and the summary; the status line is told no usage until the next call."""
        self.hooks("PreCompact", trigger="auto", custom_instructions="")
        self.transcript.boundary(pre=pre, post=post)
        self.transcript.summary("This session is being continued: the parser is done, the tests are next. " * 20)
        self.usage = None
        self.flush()

    def subagent(self, agent: str, context: int) -> None:
        """A subagent reads something and stops."""
        thread = self.folder.subagent(
            self.transcript.session, agent, project=self.transcript.cwd, meta={"agentType": "Explore"}
        )
        thread.clock = self.transcript.clock
        thread.prompt("look around")
        thread.read("/x/y.py", "y = 1\n" * 50, context=context)
        thread.response("Found it.", context=context + 900)
        thread.write()
        self.hooks("SubagentStop", agent_id=agent, agent_type="Explore", agent_transcript_path=str(thread.path))

    def hooks(self, event: str, **more: Any) -> list[Run]:
        """Run what the settings have for an event, as Claude Code does: a shell, the payload on stdin."""
        payload = {
            "session_id": self.transcript.session,
            "transcript_path": str(self.transcript.path),
            "cwd": self.transcript.cwd,
            "permission_mode": "default",
            "hook_event_name": event,
            **more,
        }
        entries = self.settings.get("hooks", {}).get(event, [])
        commands = [hook["command"] for entry in entries for hook in entry.get("hooks", [])]
        done = [self._run(command, payload) for command in commands]
        self.runs += [(event, run) for run in done]
        return done

    def status_line(self, **more: Any) -> str:
        """What the installed status line shows now."""
        run = self._run(self.settings["statusLine"]["command"], self.payload(**more))
        assert (0, "") == (run.code, run.err)
        return run.out.rstrip("\n")

    def payload(self, **more: Any) -> Json:
        """What the status line is told."""
        model = {"id": self.transcript.model, "display_name": "Opus"}
        window: Json = {"context_window_size": self.window_size, "current_usage": self.usage}
        return {
            "session_id": self.transcript.session,
            "transcript_path": str(self.transcript.path),
            "cwd": self.transcript.cwd,
            "model": model,
            "workspace": {"current_dir": self.transcript.cwd, "project_dir": self.transcript.cwd, "added_dirs": []},
            "version": self.transcript.version,
            "output_style": {"name": "default"},
            "cost": {"total_cost_usd": 0.25, "total_duration_ms": 1, "total_api_duration_ms": 1},
            "context_window": window,
            "exceeds_200k_tokens": False,
            **more,
        }

    def _run(self, command: str, payload: Json) -> Run:
        done = subprocess.run(  # noqa: S602 - as Claude Code does
            command,
            shell=True,
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=self.transcript.cwd if os.path.isdir(self.transcript.cwd) else None,
            env=self.folder.env(),
            timeout=60,
            check=False,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())
