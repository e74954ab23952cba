"""`crusts models`: the models of a session, run by run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from crusts_index.insight.session.loading import load
from crusts_index.insight.session.model_history import model_history
from crusts_index.rows.reports import ModelRun
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import SESSION, ClaudeFolder, usage
from tests.conftest import Demo, IndexedFolder

OTHER = "5e551002-0000-4000-8000-000000000002"


@pytest.fixture
def switching(tmp_path: Path) -> ClaudeFolder:
    """A session that goes to another model and back, split responses and a synthetic line between."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("go")  # message 1
    t.response("a", "b", usage=usage(input=10, read=100, write=20, output=5))  # 2
    t.synthetic()
    t.response("c", usage=usage(input=1, read=200, output=6))  # 3
    t.prompt("on")  # 4
    t.response("d", usage=usage(input=2, read=300, output=7), model="claude-sonnet-5")  # 5
    t.response("e", usage=usage(input=3, read=400, output=8))  # 6
    t.write()
    return folder


def test_runs_of_one_model_are_segments(switching: ClaudeFolder) -> None:
    """A switch back opens a new segment; synthetic lines open none; a split response counts once."""
    told = switching.crusts("models", "--json").json()
    names = ("model", "firstMessageIndex", "lastMessageIndex", "assistantMessageCount")
    assert [
        ("claude-opus-4-6", 2, 3, 2),
        ("claude-sonnet-5", 5, 5, 1),
        ("claude-opus-4-6", 6, 6, 1),
    ] == [tuple(segment[name] for name in names) for segment in told["segments"]]
    first = told["segments"][0]
    assert (11, 11, 20, 300) == tuple(
        first[name] for name in ("totalInputTokens", "totalOutputTokens", "cacheCreationTokens", "cacheReadTokens")
    )
    assert first["firstSeenAt"] < first["lastSeenAt"] < told["segments"][1]["firstSeenAt"]
    assert (["claude-opus-4-6", "claude-sonnet-5"], "claude-opus-4-6", 2) == (
        told["uniqueModels"],
        told["current"],
        told["switchCount"],
    )


def test_the_query_and_the_insight_agree(switching: ClaudeFolder, demo: Demo) -> None:
    """queries/models.sql says what the history over a session's facts says."""
    for db in (switching.home / ".claude-crusts" / "index.db", demo.db):
        if not db.exists():
            assert switching.crusts("index").code == 0
        store = open_store(db)
        for (session,) in store.execute("select session_id from sessions").fetchall():
            facts = load(partial(query.rows, store), session, None)
            known = [
                (s.model, s.first_message, s.last_message, s.calls, s.input_tokens, s.output_tokens)
                for s in model_history(facts).segments
            ]
            rows = query.rows(store, ModelRun, session=session)
            assert known == [
                (r.model, r.first_message, r.last_message, r.calls, r.input_tokens, r.output_tokens) for r in rows
            ]
        store.close()


def test_a_session_by_prefix_place_or_none(tmp_path: Path) -> None:
    """Any unambiguous prefix; an ambiguous one is exit 1 with the candidates; --last N the Nth newest."""
    folder = IndexedFolder(tmp_path)
    for session, model in ((SESSION, "claude-opus-4-6"), (OTHER, "claude-sonnet-5")):
        t = folder.main(session)
        t.response("a", context=100, model=model)
        t.write()
    assert "claude-sonnet-5" == folder.crusts("models", "5e551002", "--json").json()["current"]
    assert OTHER == folder.crusts("models", OTHER, "--json").json()["session"]
    done = folder.crusts("models", "5e55")
    assert (1, True, True) == (done.code, SESSION in done.err, OTHER in done.err)
    assert 1 == folder.crusts("models", "ffff").code
    chosen = {folder.crusts("models", "--last", str(n), "--json").json()["session"] for n in (1, 2)}
    assert {SESSION, OTHER} == chosen


def test_a_session_without_a_call_gets_a_notice(tmp_path: Path) -> None:
    """No segments: a sentence, and JSON with an unknown model."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("hello?")
    t.write()
    assert "no API call" in folder.crusts("models").out
    told = folder.crusts("models", "--json").json()
    assert ([], [], "unknown", 0) == tuple(
        told[name] for name in ("segments", "uniqueModels", "current", "switchCount")
    )


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The models of the demo's sessions are the golden file, in a terminal 80 columns wide."""
    sessions = demo.crusts("list", "--json").json()["sessions"]
    texts = [demo.crusts("models", session["session"], COLUMNS="80").out for session in sessions]
    assert all(len(line) <= 80 for text in texts for line in text.splitlines())
    golden("models.txt", "\n".join(texts))


def test_a_switch_and_back_is_told(switching: ClaudeFolder) -> None:
    """`analyze` names the model before the present one, also where the first was the present one."""
    assert "claude-opus-4-6 (switched from claude-sonnet-5)" in " ".join(switching.crusts("analyze").out.split())
