"""What a session may be called, as one line: kept with the bookkeeping records, of which the view `session_titles`
chooses (D22)."""

from __future__ import annotations

from crusts_index.plain import line
from crusts_index.transcript.rows import RECORD_BITS, Row
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Step
from crusts_index.transcript.wrappers import command_of, split

PROMPT, COMMAND = "prompt", "command"
"""Keys beside the bookkeeping records': the first human prompt, and the first slash command, by time."""

LONGEST_TITLE = 200
"""Characters kept of a title."""
_READ = 8_000  # characters of a text that are looked at for its title
_NEVER = 1 << 62


class Titles:
    """The first prompt and the first command of a transcript's main thread."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.rows: list[Row] = []

    def take_prompt(self, step: Step, words: list[str]) -> None:
        """A human prompt's own words."""
        self._take(step, PROMPT, " ".join(words))

    def take_command(self, step: Step, texts: list[str]) -> None:
        """Texts that may log a slash command."""
        command = next(filter(None, map(command_of, texts)), None)
        if command:
            self._take(step, COMMAND, command)

    def _take(self, step: Step, key: str, text: str) -> None:
        firsts, time = self._state.firsts, _NEVER if step.time_ms is None else step.time_ms
        if step.thread == 0 and time < firsts.get(key, _NEVER + 1) and (title := one_line(text)):
            firsts[key] = time
            self.rows.append((step.id >> RECORD_BITS, key, step.id, title))


def title_of(text: str) -> str:
    """A title as logged, as one line; empty where it says nothing, or is what Claude Code wrapped."""
    return one_line(split(text[:_READ]).words)


def one_line(text: str) -> str:
    """The beginning of a text on one line, without escape sequences and control characters."""
    return " ".join(line(text[:_READ]).split())[:LONGEST_TITLE].rstrip()
