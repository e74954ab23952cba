"""One session's facts and judgements in tests, from real transcripts and a real store."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.loading import load
from crusts_index.insight.session.messages import messages_of
from crusts_index.insight.session.model_history import model_history
from crusts_index.insight.window.buckets import Buckets, buckets_of, lifetime_of
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.judge import Window, window_of
from crusts_index.insight.window.settings import WindowSettings
from crusts_index.insight.window.toolset import toolset_of
from crusts_index.render.analysis_json import breakdown_json
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import read


class Analysed:
    """What is found out about a session up to a message."""

    def __init__(
        self,
        db: Path,
        session: str = SESSION,
        until: int | None = None,
        settings: WindowSettings | None = None,
        habits: Habits | None = None,
        *,
        trim: bool = True,
    ) -> None:
        with closing(open_store(db)) as store:
            self.facts: Facts = load(partial(query.rows, store), session, until, trim=trim)
            self.facts.texts()
            self.window: Window = window_of(self.facts, settings, habits)
            self.buckets: Buckets = buckets_of(self.facts, self.window)
            self.lifetime: Buckets = lifetime_of(self.facts, self.window)

    def json(self) -> dict[str, Any]:
        """All that `analyze` and `timeline` say in numbers."""
        facts = self.facts
        breakdown = breakdown_json(
            facts,
            self.window,
            self.buckets,
            self.lifetime,
            toolset_of(facts, self.window.fixed_context),
            model_history(facts),
        )
        return {"breakdown": breakdown, "messages": [message._asdict() for message in messages_of(facts)]}

    def in_window(self) -> list[int]:
        """Numbers of the messages of which the window holds something."""
        return sorted({block.message for block in self.facts.blocks if block.in_window})


def analysed(folder: ClaudeFolder, *transcripts: Transcript, **options: Any) -> Analysed:
    """Write and index transcripts, and analyse the session."""
    return Analysed(read(folder, *transcripts), **options)
