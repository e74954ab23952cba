"""What `waste`, `fix` and `optimize` have in common: a session with its window, its waste and what to do."""

from __future__ import annotations

from crusts_index.cli.session import Store
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.actions import Action
from crusts_index.insight.waste.item import WasteItem
from crusts_index.insight.waste.thresholds import overrides_of, thresholds_of
from crusts_index.insight.window.judge import Window
from crusts_index.render import console
from crusts_index.store.settings import Settings
from crusts_index.tuples import NamedTuple


class Judged(NamedTuple):
    """A session and all that is judged of it."""

    facts: Facts
    window: Window
    waste: list[WasteItem]
    actions: list[Action]


def judge(store: Store, settings: Settings, session_id: str, until: int | None = None) -> Judged:
    """Load a session up to a message and judge it; says with --verbose which thresholds are the user's own."""
    facts, window = store.look(session_id, until)
    waste = store.waste(facts, window)
    if settings.verbose:
        for line in overrides_of(thresholds_of(settings.config)):
            console.note(f"from config.json: {line}")
    return Judged(facts, window, waste, store.actions(facts, window, waste))
