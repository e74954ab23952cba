"""`crusts compare`: two sessions side by side."""

from __future__ import annotations

from crusts_index.cli import show
from crusts_index.cli.declared import Annotated, Argument
from crusts_index.cli.session import opened
from crusts_index.insight.waste.comparison import compare as compare_sides
from crusts_index.insight.waste.comparison import side_of
from crusts_index.render import comparison
from crusts_index.store.settings import Settings

First = Annotated[str, Argument("A", "Start of a session's id.")]
Second = Annotated[str, Argument("B", "Start of another session's id.")]


def compare(settings: Settings, a: First, b: Second) -> None:
    """What differs between two sessions: windows by category, waste, compactions, cost and cache; B less A.

    Both windows are taken as they stand now and on the same basis, which is named: scaled to their exact size,
    or, where the estimates of one are too far from it, the tokens as counted.
    """
    sides = []
    with opened(settings) as store:
        for session in [store.choose(a), store.choose(b)]:
            facts, window = store.look(session)
            sides.append(side_of(store.fetch, facts, window, store.waste(facts, window)))
    found = compare_sides(*sides)
    show.answer(
        settings, lambda: comparison.comparison_json(found), lambda page: comparison.comparison_text(page, found)
    )
