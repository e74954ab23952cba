"""Every page for people: no wider than its terminal, and without a word that only its makers know."""

from __future__ import annotations

import re

import pytest

from crusts_index.cli.commands import COMMANDS
from tests.conftest import Demo

PAGES = (
    *("analyze", "analyze -v", "waste", "waste -v", "fix", "optimize", "timeline", "models", "lost", "lost -v"),
    *("why", "cache"),
    *("diff --from 1 --to 60", "compare d3300006 d3300008", "list", "trend", "trend --by week", "lost --all"),
    *(
        "waste --all",
        "accuracy",
        "accuracy -v",
        "accuracy --forecast",
        "verify",
        "doctor",
        "search the",
        "hooks status",
    ),
    *(f"usage --by {by}" for by in "model day block project session tool server agent category file".split()),
    *(f"{name} --help" for name in COMMANDS),
)
INTERNAL = re.compile(r"\bepochs?\b|\w+_delta\b|\bskill_listing\b|\bby signal\b|\buser  ")
LETTERS = re.compile(r"(?m)^ *[\d,]+ +(?:[\d.]+%|[\d,]+|–) +(?:[\d,]+|–)? *(?:C|R|U|Sys|T|St)  ")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_its_terminal_and_explains_its_words(demo: Demo, page: str) -> None:
    """80 columns hold it but for what is to be copied; letters of categories have their legend on the page."""
    done = demo.crusts(*page.split(), COLUMNS="80")
    assert done.out
    copied = re.compile(r"^ *(/compact |/clear|- )")
    wide = [line for line in done.out.splitlines() if len(line) > 80 and not copied.match(line)]
    assert not wide
    assert [] == INTERNAL.findall(done.out)
    said = " ".join(done.out.split())
    assert not LETTERS.search(done.out) or "C conversation, R looked up" in said or "Retrieved: looked up" in said
    if " cuts" in done.out:
        assert "cuts: compactions" in said


@pytest.mark.parametrize(
    ("session", "said"),
    [
        ("d3300008", "86 calls (81 main, 5 by subagents)"),
        ("d3300002", "4 calls (10 in its transcript, copies of another's included)"),
        ("d3300005", "8 calls"),
    ],
)
def test_a_session_has_as_many_calls_on_every_page(demo: Demo, session: str, said: str) -> None:
    """Calls are those billed to the session, as `list` counts them; what else there is stands behind it."""
    listed = next(row for row in demo.crusts("list").out.splitlines() if row.startswith(session)).split()
    assert said.split()[0] in listed
    assert f"messages · {said} · " in " ".join(demo.crusts("analyze", session).out.split())
