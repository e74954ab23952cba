"""The composition ledger: its stretches against the window walked at every call, and the reports over it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given

from crusts_index.insight.session.path import Fork, walk
from crusts_index.rows.window import SessionBranch, SessionRemoval
from crusts_index.store import query
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript, usage, weighs
from tests.picture import ask, index, new_store, read, scratch
from tests.profiles import examples
from tests.strategies import transcripts


def walked(db: Path) -> dict[int, Counter[int]]:
    """For each call of the only transcript's main thread, by ordinal: the blocks in its window, walked."""
    with closing(sqlite3.connect(db)) as store:
        (transcript,) = store.execute("select id from transcripts").fetchone()
        branches = query.rows(store, SessionBranch, transcript=transcript)
        removals = query.rows(store, SessionRemoval, transcript=transcript)
        at = dict(store.execute("select id, call_ordinal from records"))
        calls = store.execute(
            "select p.ordinal, p.branch, p.epoch from api_calls c join responses p on p.id = c.response_id"
            " where p.thread_id = ? and p.is_advisor = 0 and c.context_tokens > 0",
            (transcript << 20,),
        ).fetchall()
        blocks = store.execute(
            "select b.id, r.id, r.branch, r.epoch, r.call_ordinal, b.kind, b.tool_use_id from blocks b"
            " join records r on r.id = b.record_id where r.thread_id = ? and r.message is not null"
            " and r.subtype is not 'prompt_snapshot'",
            (transcript << 20,),
        ).fetchall()
    forks = {
        row.branch: Fork(None, None)
        if row.starts_anew
        else Fork(
            row.fork_branch if row.fork_record_id else row.parent_branch,
            row.fork_record_id or row.first_record_id - 1,
        )
        for row in branches
    }
    found: dict[int, Counter[int]] = {}
    for ordinal, branch, epoch in calls:
        path = walk(forks, branch)
        gone = [row for row in removals if at[row.record_id] < ordinal]
        results = {row.tool_use_row for row in gone if row.tool_use_row}
        records = {row.target_record_id for row in gone if row.target_record_id}
        found[ordinal] = Counter(
            block
            for block, record, on, era, before, kind, use in blocks
            if before < ordinal and era == epoch and path.holds(on, record) and record not in records
            if not (kind == "tool_result" and use in results)
        )
    return found


def told(db: Path) -> dict[int, Counter[int]]:
    """The same, as the ledger tells it."""
    rows = ask(
        db,
        "select p.ordinal, l.block_key from api_calls c join responses p on p.id = c.response_id"
        " left join ledger_spans l on l.thread_key = p.thread_id and l.branch = p.branch and l.epoch = p.epoch"
        " and p.ordinal between l.first_call and l.last_call and l.kind <> 'fixed'"
        " where p.thread_id & ((1 << 20) - 1) = 0 and p.is_advisor = 0 and c.context_tokens > 0",
    )
    found: dict[int, Counter[int]] = {}
    for ordinal, block in rows:
        found.setdefault(ordinal, Counter())
        if block is not None:
            found[ordinal][block] += 1
    return found


@pytest.mark.long
@examples(150)
@given(transcripts(odd=False, session=SESSION))
def test_the_stretches_are_the_windows_walked(transcript: Transcript) -> None:
    """At every call the ledger holds the blocks that a walk up its path finds, each once."""
    with scratch() as base:
        folder = ClaudeFolder(base)
        transcript.write(folder.project_folder(transcript.cwd) / f"{SESSION}.jsonl")
        db = new_store(base)
        index(db, folder.config)
        assert walked(db) == told(db)


def test_interleaved_panes_and_rewinds(folder: ClaudeFolder) -> None:
    """Branches that take turns each carry their own, and what they took over."""
    t = folder.main()
    t.prompt("root")
    left = right = t.response("ok", context=20_000)
    for number in range(4):
        t.parent = left
        t.prompt(f"left {number}")
        left = t.response("l", context=30_000 + number)
        t.parent = right
        t.prompt(f"right {number}")
        right = t.response("r", context=40_000 + number)
    t.prompt("back to the left", parentUuid=left)
    t.response("here", context=31_000)
    db = read(folder, t)
    assert walked(db) == told(db)
    assert {1: 1, 2: 3, 3: 3, 4: 5} == {call: sum(found.values()) for call, found in told(db).items() if call < 5}


def test_what_was_taken_out_is_carried_up_to_then(folder: ClaudeFolder) -> None:
    """A microcompacted result is in no window behind the record that says so."""
    t = folder.main()
    t.prompt("go")
    result = t.read(f"{CWD}/a.py", "x\n" * 400, context=20_000)
    t.response("one", context=21_000)
    t.system("microcompact_boundary", microcompactMetadata={"compactedToolIds": [result]})
    t.prompt("on")
    t.response("two", context=20_500)
    t.response("three", context=20_600)
    db = read(folder, t)
    rows = ask(db, "select first_call, last_call, calls from ledger where kind = 'tool_result'")
    assert [(2, 2, 1)] == rows
    assert walked(db) == told(db)


def test_a_prompt_is_the_users_until_the_next(folder: ClaudeFolder) -> None:
    """The category of a prompt changes when a newer one comes (D8)."""
    t = folder.main()
    t.prompt("x" * 40)
    t.response("a", context=20_000)
    t.response("b", context=20_100)
    t.prompt("next")
    t.response("c", context=20_200)
    db = read(folder, t)
    prompt = f"tokens = {weighs('x' * 40)} and kind = 'text'"
    rows = ask(db, f"select category, first_call, last_call from ledger where {prompt}")
    assert [("conversation", 3, 3), ("user", 1, 2)] == sorted(rows)


def test_the_fixed_context_is_carried_by_every_call(folder: ClaudeFolder) -> None:
    """What the first call had beyond its messages; never more than any call had (D11)."""
    t = folder.main()
    t.prompt("x" * 400)
    t.response("a", context=20_000)
    t.response("b", context=21_000)
    t.boundary(pre=21_000)
    t.summary()
    t.response("c", context=15_000)
    db = read(folder, t)
    rows = ask(db, "select category, tokens, first_call, last_call from ledger where kind = 'fixed' order by epoch")
    assert [("system", 15_000, 1, 2), ("system", 15_000, 3, 3)] == rows


def test_copied_history_counts_in_the_session_that_made_it(folder: ClaudeFolder) -> None:
    """A fork's copied calls carried nothing anew: every call is counted once (D2)."""
    t = folder.main()
    t.prompt("go")
    t.response("a", context=20_000)
    t.response("b", context=21_000)
    before = read(folder, t)
    once = ask(before, "select sum(carried_tokens) from ledger")
    fork = folder.main("5e551001-0000-4000-8000-000000000009")
    fork.copy(t.lines(), forked=True)
    after = read(folder, fork)
    assert once == ask(after, "select sum(carried_tokens) from ledger")


def test_the_ledger_outlives_the_transcript(folder: ClaudeFolder) -> None:
    """Nothing of it needs the transcript."""
    t = folder.main()
    t.prompt("go")
    t.read(f"{CWD}/a.py", "x\n" * 400, context=20_000)
    t.response("one", context=21_000)
    other = folder.main("5e551001-0000-4000-8000-000000000009")
    other.prompt("stay")
    db = read(folder, t, other)
    before = ask(db, "select * from ledger order by block_key")
    assert t.path is not None
    t.path.unlink()
    index(db, folder.config)
    assert before == ask(db, "select * from ledger order by block_key")
    assert [(1,)] == ask(db, "select gone from transcripts where path = ?", str(t.path.resolve()))


def test_usage_by_category_and_file(folder: ClaudeFolder) -> None:
    """The reports are the ledger, summed; their rows add up to their total."""
    t = folder.main()
    t.prompt("go")
    t.read(f"{CWD}/a.py", "x\n" * 400, usage=usage(input=20_000, output=100))
    t.read(f"{CWD}/b.py", "y\n" * 100, context=21_000)
    t.response("done", context=21_500)
    t.write()
    folder.crusts("index")
    found = folder.crusts("usage", "--by", "category", "--json").json()
    rows = {row["category"]: row for row in found["rows"]}
    assert {"system", "user", "retrieved"} <= rows.keys()
    for name in ("blocks", "tokens", "carried_tokens"):
        assert found["total"][name] == sum(row[name] for row in found["rows"])
    files = folder.crusts("usage", "--by", "file", "--json").json()["rows"]
    assert [f"{CWD}/a.py", f"{CWD}/b.py"] == [row["file"] for row in files]
    assert files[0]["carried_tokens"] == 2 * (100 + weighs("x\n" * 400, around=18))
    text = folder.crusts("usage", "--by", "file", COLUMNS="70").out
    assert max(map(len, text.splitlines())) <= 80
    assert "a.py" in text
