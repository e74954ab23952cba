"""What the tools of Claude Code do is said once, to Python and to SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from crusts_index import tools
from crusts_index.store import query

TRAITS = ("reads", "edits", "retrieves", "acts", "runs_commands", "starts_agents", "calls_skills", "retells")


def test_the_view_says_what_the_table_says() -> None:
    """`tool_traits` has a row a tool of the table, with a column for each trait that any has."""
    scripts = dict(query.view_scripts())
    with closing(sqlite3.connect(":memory:")) as store:
        store.execute(scripts["tool_traits"])
        cursor = store.execute("select * from tool_traits order by name")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    assert ["name", *TRAITS] == names
    assert set(TRAITS) == {trait for traits in tools.TRAITS.values() for trait in traits}
    told = {name: tuple(trait in traits for trait in TRAITS) for name, traits in tools.TRAITS.items()}
    assert told == {name: tuple(map(bool, flags)) for name, *flags in rows}


def test_the_traits_are_those_of_the_rules() -> None:
    """Edits as in D13 and X-reread, retrieval and agents as in D8, retelling as in D9; edits act."""
    assert {"Read"} == tools.READS
    assert {"Edit", "Write", "MultiEdit", "NotebookEdit"} == tools.EDITS
    assert {"Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "NotebookRead"} == tools.RETRIEVES
    assert {"Task", "Agent"} == tools.STARTS_AGENTS
    assert {"Task", "Agent", "WebFetch", "WebSearch"} == tools.RETELLS
    assert tools.EDITS < tools.ACTS
    assert set() == tools.ACTS & tools.RETRIEVES


def test_no_query_lists_tools_of_its_own() -> None:
    """But for Read, which X-reread names, a query asks the view which tools it means."""
    folder = Path(__file__).parent.parent / "queries"
    for path in folder.rglob("*.sql"):
        if path.stem != "tool_traits":
            text = path.read_text("utf-8")
            assert [] == [name for name in tools.TRAITS if name != "Read" and f"'{name}'" in text], path.name
