"""Sessions with waste in them, and what is found in them, for the tests of waste, advice and fixes."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from crusts_index.index.recorded import reader_of
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.loading import load
from crusts_index.insight.waste.actions import Action
from crusts_index.insight.waste.find import WasteItem, find_waste
from crusts_index.insight.waste.thresholds import Thresholds
from crusts_index.insight.waste.ways import NOWHERE
from crusts_index.insight.window.judge import Window, window_of
from crusts_index.quick.advised import advised
from crusts_index.rows.session import SessionOtherRead
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.settings import Flags, resolve_settings
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript
from tests.picture import read

NO_CONFIG = resolve_settings(Flags(), {})
"""Settings without anything set."""
PAGE = "one line of code = 1\n" * 200
"""A file of about 1,270 tokens."""
LONG = "The long answer goes on and on, as answers to hard questions do. " * 3
"""What the model says where it says something: above 50 characters."""


class Wasteful:
    """What is judged of a session up to a message."""

    def __init__(
        self, db: Path, session: str = SESSION, until: int | None = None, thresholds: Thresholds | None = None
    ) -> None:
        with closing(open_store(db)) as store:
            fetch = partial(query.rows, store)
            self.facts: Facts = load(fetch, session, until)
            self.window: Window = window_of(self.facts)
            elsewhere = fetch(SessionOtherRead, session=session)
            recorded = reader_of(fetch, session)
            self.waste: list[WasteItem] = find_waste(self.facts, self.window, thresholds, elsewhere, recorded)
            self.actions: list[Action] = advised(fetch, NO_CONFIG, self.facts, self.window, self.waste, NOWHERE)

    def of(self, type: str) -> list[WasteItem]:
        """The items of a type that have no excuse."""
        return [item for item in self.waste if item.type == type and item.is_counted]

    def excuses(self) -> list[tuple[str | None, int, tuple[int, ...]]]:
        """Excuse, excused tokens and messages of the re-reads that have one."""
        return [(item.excuse, item.excused_tokens, item.messages) for item in self.waste if item.excuse is not None]

    def tokens(self, *messages: int) -> int:
        """What the blocks of messages take in the window."""
        return sum(block.tokens for block in self.facts.blocks if block.message in messages and block.in_window)


def wasteful(folder: ClaudeFolder, *transcripts: Transcript, **options: Any) -> Wasteful:
    """Write and index transcripts, and judge the session."""
    return Wasteful(read(folder, *transcripts), **options)


def chat(t: Transcript, turns: int, said: str = LONG, context: int = 30_000) -> None:
    """Turns of prompt and answer, two messages each, that speak of nothing in particular."""
    for turn in range(turns):
        t.prompt("And what comes after that, in your view of things, if nothing else happens in between?")
        t.response(said, context=context + turn * 100)


def three_kinds(folder: ClaudeFolder, *, context: int = 150_000) -> Transcript:
    """A session with a stale read, a re-read and a settled exchange, its window filled to three quarters."""
    t = folder.main()
    t.prompt("Look at the parser and at the writer, then tell me what they have in common.")
    t.read(f"{CWD}/old.py", PAGE, context=20_000)
    t.response(LONG, context=22_000)
    t.read(f"{CWD}/kept.py", PAGE, context=23_000)
    chat(t, 8)
    t.read(f"{CWD}/kept.py", PAGE, context=60_000)
    t.response("kept.py is as it was. " + LONG, context=62_000)
    chat(t, 4, context=62_500)
    t.prompt("why does the build fail?")
    t.bash("make", "error: no rule to make target\n" * 300, context=64_000)
    t.response("kept.py lacks a rule. " + LONG, context=context - 1_000)
    t.prompt("that works, thanks")
    t.response("Good.", context=context, output=40)
    return t
