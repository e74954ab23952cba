"""The views and queries as people read them: in the sqlite3 shell, with the same answers as the commands."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pytest

from crusts_index.store import query
from tests.conftest import Demo
from tests.kinds import kinds

VIEWS = dict(query.view_scripts())
REPORTS = [name for name in query.names() if name.partition("_")[0] in ("list", "models", "readout", "usage")]
NARROW = frozenset(
    "api_calls blocks call_members call_sums curve_models curves missing_outputs priced_calls priced_sums rebuilds"
    " records requests response_facts responses sent_calls sent_parts tool_sums tool_uses transcript_projects"
    " version_starts window_sums".split()
)
"""Views that show what is stored narrowly, for joins: their ids and bytes are those of the store."""
NOT_IN_DEMO = frozenset("missing_outputs requests response_facts sent_parts".split())
"""Views of what only the newest versions of Claude Code log, or only older ones."""
SHELL = shutil.which("sqlite3")
shell_needed = pytest.mark.skipif(SHELL is None, reason="no sqlite3 shell here")


def shell(demo: Demo, text: str) -> list[dict[str, Any]]:
    """What the sqlite3 shell prints, as objects."""
    done = subprocess.run(
        [str(SHELL), "-bail", "-readonly", "-json", str(demo.db)],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin"},
    )
    assert (0, "") == (done.returncode, done.stderr)
    return list(json.loads(done.stdout)) if done.stdout.strip() else []


@shell_needed
@pytest.mark.parametrize("name", sorted(VIEWS.keys() - NARROW))
def test_a_view_reads_in_the_shell(demo: Demo, name: str) -> None:
    """Rows come out of the demo's store, each view's."""
    assert shell(demo, f"select * from {name} limit 3;")


@pytest.mark.parametrize("name", sorted(NARROW - NOT_IN_DEMO))
def test_what_is_stored_narrowly_is_shown(demo: Demo, name: str) -> None:
    """Each has rows, and no word of them is left out."""
    with closing(sqlite3.connect(demo.db)) as store:
        assert store.execute(f"select * from {name} limit 3").fetchall()
        words = [column for column in ("type", "kind", "category", "tool") if column in _columns(store, name)]
        for column in words:
            assert store.execute(f"select 1 from {name} where {column} is not null limit 1").fetchone()


@shell_needed
@pytest.mark.parametrize("name", REPORTS)
def test_a_query_runs_in_the_shell_as_it_stands(demo: Demo, name: str) -> None:
    """Without parameters set it gives what it gives the program when all are None."""
    with closing(sqlite3.connect(demo.db)) as store:
        rows = query.rows(store, kinds()[name], name, **dict.fromkeys(query.parameters(name)))
    assert [row._asdict() for row in rows] == shell(demo, query.sql(name))


@shell_needed
def test_the_shell_and_the_command_say_the_same(demo: Demo) -> None:
    """usage: the rows of the SQL are the rows of the JSON."""
    rows = demo.crusts("usage", "--json").json()["rows"]
    found = [row for row in shell(demo, f".parameter set :apart 1\n{query.sql('usage')}") if not row["is_total"]]
    assert rows == [
        {"model": row["key"]} | {name: row[name] for name in row if name not in ("key", "is_total")} for row in found
    ]


def _columns(store: sqlite3.Connection, name: str) -> list[str]:
    return [column[0] for column in store.execute(f"select * from {name} limit 0").description]


@pytest.mark.parametrize("name", sorted(VIEWS.keys() - NARROW))
def test_a_view_shows_no_bytes_and_names_its_surrogates(demo: Demo, name: str) -> None:
    """uuids are text and times ISO 8601; ids that mean nothing outside the store end in _key."""
    with closing(sqlite3.connect(demo.db)) as store:
        store.row_factory = sqlite3.Row
        for row in store.execute(f"select * from {name} limit 500"):
            for column in row.keys():  # noqa: SIM118 - a Row iterates over its values
                value = row[column]
                assert not isinstance(value, bytes), column
                if column.endswith("timestamp") and value is not None:
                    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value), column
                if isinstance(value, int) and value > 1 << 40:
                    assert column.endswith(("_key", "_ms")), column


def test_views_and_reports_agree(demo: Demo) -> None:
    """Calls, days, sessions and the curve are the same numbers, whichever way they are asked for."""
    with closing(sqlite3.connect(demo.db)) as store:

        def one(text: str) -> Any:
            return store.execute(text).fetchone()

        total = demo.crusts("usage", "--json").json()["total"]
        assert (total["calls"], total["output"]) == one("select count(*), sum(output_tokens) from calls")
        assert (total["calls"], total["output"]) == one("select sum(calls), sum(output_tokens) from cost_by_day")
        assert (total["calls"],) == one("select sum(calls) from sessions_overview")
        assert (total["calls"],) == one("select sum(owned_calls) from threads_overview")
        costs = (one(f"select sum(cost_usd) from {v}")[0] for v in ("calls", "cost_by_day", "sessions_overview"))
        assert all(cost == pytest.approx(total["cost_usd"], abs=1e-4) for cost in costs)
        peaks = "select session_id, max(context_tokens) from context_curve group by 1 order by 1"
        overview = "select session_id, peak_ctx from sessions_overview where peak_ctx is not null order by 1"
        assert store.execute(peaks).fetchall() == store.execute(overview).fetchall()
        numbers = "select count(*), max(number) from messages where in_view and thread_kind = 'main' group by path"
        assert all(count == highest for count, highest in store.execute(numbers))
        messages = "select sum(messages) from threads_overview where kind = 'main' and in_view"
        assert one(messages) == one("select sum(messages) from sessions_overview")
        told = demo.crusts("readout", "--full", "--since", "2026-01-01").json()
        assert (told["rereads"]["count"], told["rereads"]["tokens"]) == one(
            "select count(*), sum(result_tokens) from rereads where is_owner"
        )
        assert (told["compactions"],) == one("select count(*) from compactions_overview where is_owner")
        assert (sum(tool["tokens"] for tool in told["tools"]),) == one(
            "select sum(result_tokens) from tool_results where is_result_owner"
        )


def plan(store: sqlite3.Connection, text: str, **given: object) -> list[str]:
    """How SQLite goes about a statement."""
    found = dict.fromkeys(query.find_parameters(text)) | given
    return [row[3] for row in store.execute(f"explain query plan {text}", found)]


@pytest.mark.parametrize(
    "text",
    [
        "select * from context_curve where session_id = 'x'",
        "select * from sessions_overview where session_id = 'x'",
        "select * from session_calls where session_id = 'x'",
        "select * from session_threads where session_id = 'x'",
        "select * from messages where session_id = 'x'",
        query.sql("models").replace(":session is null or ", ""),
        query.sql("session_threads"),
        query.sql("session_record"),
        query.sql("session_other_reads"),
    ],
)
def test_one_session_is_found_without_reading_all(demo: Demo, text: str) -> None:
    """Asking for one session scans none of the big tables."""
    with closing(sqlite3.connect(demo.db)) as store:
        aliases = {"r", "c", "b", "u", "x", "q", "k", "responses", "records", "blocks", "api_calls", "tool_uses"}
        scanned = {step.split()[1] for step in plan(store, text) if step.startswith("SCAN")}
        assert set() == aliases & scanned


def test_prompts_of_the_ledger_meet_their_own_spans_alone(demo: Demo) -> None:
    """A prompt is not held against the calls of every thread: those of its branch are looked up."""
    with closing(sqlite3.connect(demo.db)) as store:
        steps = plan(store, "select * from ledger_spans")
        behind = steps[steps.index("SCAN p") + 1]
        assert "SEARCH g USING AUTOMATIC" in behind, steps


def test_the_readouts_curve_needs_no_sort(demo: Demo) -> None:
    """Rows come in log order out of the indexes: nothing of it is sorted but a session's few transcripts."""
    with closing(sqlite3.connect(demo.db)) as store:
        steps = plan(store, query.sql("readout_curve"), since=1)
        assert not [step for step in steps if step == "USE TEMP B-TREE FOR ORDER BY"], steps
