"""Why the cache did not hold: planted causes are named, with the call where they show (D21)."""

from __future__ import annotations

import pytest

from tests.builders import ClaudeFolder
from tests.picture import ask, read
from tests.planted import PLANTED, PLANTS, plant


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_cause_is_named(folder: ClaudeFolder, name: str) -> None:
    """One break or none, its reason, how that is known, and the message at which it shows."""
    _, reason, certainty = plant(folder, name)
    db = read(folder)
    (place,) = ask(db, f"select number from messages where preview = '{PLANTED}'") or [(None,)]
    told = ask(db, "select reason, certainty, message from cache_breaks")
    assert ([] if reason is None else [(reason, certainty, *place)]) == told
