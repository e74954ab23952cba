"""`crusts verify`: the store is what the transcripts say, and every difference has its reason."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.index.summary import Options
from crusts_index.index.verify import Verdict
from crusts_index.index.verify import verify as verify_store
from tests.builders import SESSION, ClaudeFolder, Transcript, usage
from tests.picture import index, new_store, read
from tests.profiles import examples
from tests.strategies import Step, histories, write_step
from tests.test_law import scratch

OTHER = "5e551001-0000-4000-8000-000000000002"


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript with three calls."""
    t = folder.main()
    t.prompt("go")
    t.response("one", usage=usage(1, output=10))
    t.read("/a.py", "x = 1\n", usage=usage(2, output=20))
    t.response("three", usage=usage(3, output=30))
    return t


def neighbour(folder: ClaudeFolder) -> Transcript:
    """Another session, so that its root is not empty when the first one goes."""
    other = folder.main(OTHER)
    other.prompt("hello")
    other.response("four", usage=usage(4, output=40))
    return other


def verified(db: Path, config: Path) -> Verdict:
    """The verdict, in this process."""
    return verify_store(str(db), [str(config / "projects")], Options(jobs=1, keep_text=False))


def reasons(verdict: Verdict) -> dict[str, tuple[int, ...]]:
    """What the store has more, by reason."""
    return {line.reason: line.more for line in verdict.lines}


def path_of(t: Transcript) -> Path:
    """Where the transcript is written."""
    assert t.path is not None
    return t.path


def change(db: Path, sql: str) -> None:
    """Tamper with the store."""
    with closing(sqlite3.connect(db)) as store:
        store.execute(sql)
        store.commit()


def test_a_store_that_is_up_to_date_is_equal(folder: ClaudeFolder, t: Transcript) -> None:
    """No difference, no line, nothing left behind beside the store."""
    db = read(folder, t, neighbour(folder))
    verdict = verified(db, folder.config)
    assert ((4, 10, 0, 0, 100), (4, 10, 0, 0, 100)) == (verdict.kept, verdict.fresh)
    assert ([], [], True) == (verdict.lines, verdict.odd_rows, verdict.is_explained)
    assert {".claude", "index.db"} == {
        path.name.removesuffix("-wal").removesuffix("-shm") for path in db.parent.iterdir()
    }


def test_the_command_says_so(folder: ClaudeFolder, t: Transcript) -> None:
    """As text and as JSON; the store is brought up to date first."""
    t.write()
    out = folder.crusts("verify").out
    assert "The store is what the transcripts say.\n" in out
    said: dict[str, Any] = folder.crusts("verify", "--json").json()
    assert (True, []) == (said["ok"], said["differences"])
    assert said["store"] == said["read_anew"]
    assert 3 == said["store"]["calls"]


def test_gone_transcripts_explain_what_the_store_has_more(folder: ClaudeFolder, t: Transcript) -> None:
    """The store keeps them: exit code 0 and a line that says how much."""
    t.write()
    neighbour(folder).write()
    assert 0 == folder.crusts("index").code
    path_of(t).unlink()
    done = folder.crusts("verify")
    assert 0 == done.code
    assert "+3 calls, +66 tokens: 3 API calls of transcripts that are no longer on disk" in done.out
    assert "every difference is explained" in done.out
    said = folder.crusts("verify", "--json").json()
    assert ["gone"] == [line["reason"] for line in said["differences"]]
    assert (2, 1) == (said["transcripts"], said["gone"])


def test_retained_calls_are_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """Rewritten without a call: it was billed and stays."""
    db = read(folder, t)
    t.pieces = [piece for piece in t.pieces if b'"one"' not in piece and b'"output_tokens":10' not in piece]
    t.write()
    index(db, folder.config)
    verdict = verified(db, folder.config)
    assert {"retained": (1, 1, 0, 0, 10)} == reasons(verdict)
    assert verdict.is_explained


def test_the_usage_of_a_gone_owner_is_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """The same call with another usage in a copy: the owner's counts, though it is gone."""
    fork = folder.main(OTHER)
    fork.copy([line.replace(b'"output_tokens":10', b'"output_tokens":4') for line in t.lines()], forked=True)
    db = read(folder, t, fork)
    path_of(t).unlink()
    index(db, folder.config)
    verdict = verified(db, folder.config)
    assert {"owner": (0, 0, 0, 0, 6)} == reasons(verdict)
    assert verdict.is_explained


def test_calls_joined_by_a_gone_transcript_are_explained(folder: ClaudeFolder) -> None:
    """One line bore both ids; without it they would be two calls."""
    link, one, two = folder.main(), folder.main(OTHER), folder.main(SESSION.replace("0001", "0009"))
    link.response("both", request="req_a", message="msg_b", usage=usage(5, output=50))
    one.response("first", request="req_a", message="msg_other", usage=usage(5, output=50))
    two.response("second", request="req_c", message="msg_b", usage=usage(5, output=50), sessionId=SESSION)
    db = read(folder, link, one, two)
    path_of(link).unlink()
    index(db, folder.config)
    verdict = verified(db, folder.config)
    assert {"joined": (-1, -5, 0, 0, -50)} == reasons(verdict)
    assert verdict.is_explained


def test_growth_and_new_transcripts_are_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """What came after the last run is what the store has less."""
    db = read(folder, t)
    t.response("more", usage=usage(7, output=70))
    t.append()
    neighbour(folder).write()
    verdict = verified(db, folder.config)
    assert {"growth": (-1, -7, 0, 0, -70), "new": (-1, -4, 0, 0, -40)} == reasons(verdict)
    assert verdict.is_explained
    index(db, folder.config)
    assert [] == verified(db, folder.config).lines


def test_a_response_that_goes_on_is_growth(folder: ClaudeFolder, t: Transcript) -> None:
    """Its last line, with the final usage, came after the last run."""
    t.response("a", usage=usage(5, output=1), request="req_x", message="msg_x")
    db = read(folder, t)
    t.response("b", usage=usage(5, output=9), request="req_x", message="msg_x")
    t.append()
    verdict = verified(db, folder.config)
    assert {"growth": (0, 0, 0, 0, -8)} == reasons(verdict)
    assert verdict.is_explained


def test_a_transcript_rewritten_since_is_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """Not yet read again: its calls differ, and that is why."""
    db = read(folder, t)
    t.pieces = t.pieces[:2]
    t.write()
    verdict = verified(db, folder.config)
    assert {"rewritten"} == set(reasons(verdict))
    assert verdict.is_explained


def test_an_older_parser_is_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """What an older crusts read otherwise is named as such."""
    db = read(folder, t)
    change(db, "update transcripts set parser = 0")
    change(db, "update stored_responses set output_tokens = 999 where output_tokens = 10")
    verdict = verified(db, folder.config)
    assert {"parser": (0, 0, 0, 0, 989)} == reasons(verdict)
    assert verdict.is_explained


@pytest.mark.long
def test_forgotten_sessions_count_on_neither_side(folder: ClaudeFolder, t: Transcript) -> None:
    """They are on disk, and are not read: that is no difference, but it is said."""
    t.write()
    neighbour(folder).write()
    assert 0 == folder.crusts("forget", SESSION, "--yes").code
    done = folder.crusts("verify")
    assert 0 == done.code
    assert "1 sessions or files were forgotten on request" in done.out
    assert 1 == folder.crusts("verify", "--json").json()["read_anew"]["calls"]


def test_transcripts_of_other_folders_are_read_too(folder: ClaudeFolder, t: Transcript, tmp_path: Path) -> None:
    """What the store once found elsewhere is verified where it still is."""
    db = read(folder, t)
    elsewhere = ClaudeFolder(tmp_path / "elsewhere")
    neighbour(elsewhere).write()
    index(db, elsewhere.config)
    verdict = verified(db, folder.config)
    assert (4, 4, []) == (verdict.kept[0], verdict.fresh[0], verdict.lines)


@pytest.mark.parametrize(
    "sql",
    [
        "update stored_responses set output_tokens = output_tokens + 1 where output_tokens = 20",
        "delete from stored_calls where id in (select id from api_calls where output_tokens = 10)",
        "insert into stored_calls (id, response_id) select 9, min(id) from stored_calls",
    ],
)
def test_what_nothing_explains_is_told_with_exit_code_one(folder: ClaudeFolder, t: Transcript, sql: str) -> None:
    """A wrong number in the store is found."""
    t.write()
    assert 0 == folder.crusts("index").code
    change(folder.home / ".claude-crusts" / "index.db", sql)
    done = folder.crusts("verify")
    assert 1 == done.code
    assert "NOT explained" in done.out
    assert 1 == folder.crusts("verify", "--json").code


@pytest.mark.parametrize("table", ["stored_records", "stored_blocks", "stored_tool_uses"])
def test_missing_rows_are_told(folder: ClaudeFolder, t: Transcript, table: str) -> None:
    """Rows that no total shows are counted transcript by transcript."""
    db = read(folder, t)
    change(db, f"delete from {table} where id = (select max(id) from {table})")
    verdict = verified(db, folder.config)
    assert not verdict.is_explained
    assert path_of(t).resolve() == Path(verdict.odd_rows[0][0])


def test_without_a_store_it_is_one_line(folder: ClaudeFolder) -> None:
    """`--no-index` on nothing: exit code 1."""
    done = folder.crusts("verify", "--no-index")
    assert (1, 1) == (done.code, len(done.err.splitlines()))


@pytest.mark.long
@examples(25)
@given(histories(), st.lists(st.integers(0, 3), max_size=10))
def test_any_history_is_explained(history: list[Step], fates: list[int]) -> None:
    """Files grow, are cut, are deleted, and runs fall anywhere between: no difference is left without a reason."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        for place, step in enumerate(history):
            path = write_step(config, step)
            fate = fates[place] if place < len(fates) else 0
            if fate == 1:
                path.unlink()
            if fate == 2:
                lines = path.read_bytes().splitlines(keepends=True)
                path.write_bytes(b"".join(lines[: len(lines) // 2]))
            if fate != 3:
                index(db, config)
        for _ in range(2):
            verdict = verified(db, config)
            assert verdict.is_explained, verdict
            index(db, config)


def test_a_moved_session_is_explained(folder: ClaudeFolder, t: Transcript) -> None:
    """At its new place it has the same calls: nothing differs."""
    db = read(folder, t, neighbour(folder))
    there = folder.project_folder("/home/ada/moved") / path_of(t).name
    there.parent.mkdir()
    path_of(t).rename(there)
    t.clock.now += timedelta(hours=1)
    index(db, folder.config)
    verdict = verified(db, folder.config)
    assert ([], True) == (verdict.lines, verdict.is_explained)


def test_what_claude_code_says_that_a_session_cost(folder: ClaudeFolder) -> None:
    """Its own cost-state beside ours: a fork's counts its origin's calls, and what no transcript has is told apart."""
    origin, fork = folder.main(), folder.main("5e551001-0000-4000-8000-000000000002")
    origin.prompt("go")
    origin.response("done", usage=usage(input=10, read=20_000, write=1_000, output=2_000))
    fork.copy(origin.lines(), asked=True)
    fork.prompt("and on")
    fork.response("done too", usage=usage(input=10, read=30_000, write=1_000, output=1_000))
    first = (10 * 5 + 20_000 * 0.5 + 1_000 * 6.25 + 2_000 * 25) / 1e6
    second = (10 * 5 + 30_000 * 0.5 + 1_000 * 6.25 + 1_000 * 25) / 1e6
    for t, usd in ((origin, first + 0.04), (fork, first + second)):
        t.meta("cost-state", totalCostUSD=usd, modelUsage={t.model: {"inputTokens": 10, "costUSD": usd}})
        t.write()
    assert 0 == folder.crusts("index").code
    costs = folder.crusts("verify", "--json").json()["costs"]
    assert [
        (origin.session, round(first + 0.04, 6), round(first, 6), 0.0, 0.04),
        (fork.session, round(first + second, 6), round(second, 6), round(first, 6), 0.0),
    ] == [tuple(cost.values()) for cost in costs]
    said = " ".join(folder.crusts("verify").out.split())
    assert (
        "Claude Code's own cost of 2 sessions: $0.22; of it $0.11 for their calls, $0.07 for calls that forks" in said
    )
    assert "and $0.04 for what no transcript has: compaction requests and side questions." in said
    assert "5e551001" in said
