"""What compaction took: a verdict and its evidence for every item, older transcripts, and what it cost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crusts_index.insight.losses.key_terms import key_terms, weight_of
from crusts_index.insight.losses.taken import Event, Fate, losses_of, prices_of
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.loading import load
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript
from tests.conftest import Demo
from tests.picture import read

OTHER = "5e551001-0000-4000-8000-000000000002"
LONG = "x = 1\n" * 200
WORDS = "The quarterly ledger reconciliation happens elsewhere altogether. "


def events_of(db: Path, session: str = SESSION, *, priced: bool = False) -> list[Event]:
    """The compactions of a session; `priced` gives its calls a price: 10 to write the cache, 50 for output."""
    if priced:
        with closing(sqlite3.connect(db)) as store, store:
            store.execute(
                "insert into prices (model, input_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd,"
                " output_usd, source) values ('m', 8, 1, 10, 16, 50, 'test')"
            )
            store.execute("update stored_calls set price_id = last_insert_rowid()")
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)

        def reload(end: int) -> Facts:
            return load(fetch, session, end)

        facts = load(fetch, session)
        return losses_of(facts, prices_of(fetch, facts), reload)


def lost(folder: ClaudeFolder, *transcripts: Transcript, **options: Any) -> list[Event]:
    """Write and index transcripts, and judge the session's compactions."""
    return events_of(read(folder, *transcripts), **options)


def fate(event: Event, what: str) -> Fate:
    """The one item whose description has `what` in it."""
    found = [one for one in event.fates if what in one.item.description]
    assert len(found) == 1, [one.item.description for one in event.fates]
    return found[0]


def compact(t: Transcript, summary: str | None = "Nothing of note.", **boundary: Any) -> None:
    """A boundary, its summary, and a call after it."""
    t.boundary(**boundary)
    if summary is not None:
        t.summary(summary)
    t.response("on we go", context=30_000)


# ------------------------------------------------------------------ each verdict


def test_what_the_boundary_names_is_kept(folder: ClaudeFolder) -> None:
    """A message named in preservedMessages is kept, whatever the summary says; the evidence has its number."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    preserved = t.parent
    t.read(f"{CWD}/b.py", LONG, context=21_000)
    compact(t, preservedMessages={"anchorUuid": preserved, "uuids": [preserved]})
    event = lost(folder, t)[0]
    assert "kept" == fate(event, "a.py").verdict
    assert 3 == fate(event, "a.py").evidence[0].message
    assert "gone" == fate(event, "b.py").verdict


def test_a_preserved_segment_keeps_all_between_its_ends(folder: ClaudeFolder) -> None:
    """The older field names the first and the last record; those between them are kept, too."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    head = t.prompt("look again")
    t.read(f"{CWD}/b.py", LONG, context=21_000)
    tail = t.response("seen", context=22_000)
    compact(t, preservedSegment={"headUuid": head, "anchorUuid": head, "tailUuid": tail})
    event = lost(folder, t)[0]
    assert ("gone", "kept") == (fate(event, "a.py").verdict, fate(event, "b.py").verdict)


def test_a_file_that_an_attachment_brings_back_is_re_injected(folder: ClaudeFolder) -> None:
    """A file attachment between the boundary and the first call says where the file came back."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.boundary()
    t.summary("Nothing of note.")
    content = {"type": "text", "file": {"filePath": f"{CWD}/a.py", "content": LONG}}
    t.attachment("file", filename=f"{CWD}/a.py", content=content)
    t.response("on", context=30_000)
    t.read(f"{CWD}/a.py", LONG, context=31_000)
    event = lost(folder, t)[0]
    assert "re-injected" == fate(event, "a.py").verdict
    assert "attachment file" == fate(event, "a.py").evidence[0].detail
    assert () == event.again  # it was there: the read after that is no cost of compaction


def test_a_reference_to_a_file_is_weaker_than_reading_it_again(folder: ClaudeFolder) -> None:
    """compact_file_reference brings no content: without a later read it counts, with one the read does."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.read(f"{CWD}/b.py", LONG, context=21_000)
    t.boundary()
    t.summary("Nothing of note.")
    for name in ("a.py", "b.py"):
        t.attachment("compact_file_reference", filename=f"{CWD}/{name}", displayPath=name)
    t.read(f"{CWD}/b.py", LONG, context=30_000)
    event = lost(folder, t)[0]
    assert "re-injected" == fate(event, "a.py").verdict
    assert "re-acquired later" == fate(event, "b.py").verdict


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("nested_memory", {"path": "/w/CLAUDE.md", "content": {"content": WORDS * 2}}), None),
        (
            ("plan_file_reference", {"planFilePath": "/w/plan.md", "text": WORDS * 2}),
            ("plan_mode", {"text": WORDS * 2}),
        ),
        (("task_reminder", {"content": [{"subject": WORDS * 2}], "itemCount": 1}), None),
        (("invoked_skills", {"skills": [{"name": "deploy", "content": WORDS * 2}]}), None),
    ],
)
def test_instructions_come_back_as_attachments(folder: ClaudeFolder, before: Any, after: Any) -> None:
    """Memory, plans, tasks and skills are re-injected if an attachment of that kind and name follows."""
    t = folder.main()
    t.prompt("start")
    t.attachment(before[0], **before[1])
    t.response("ok", context=20_000)
    t.boundary()
    t.summary("Nothing of note.")
    kind, fields = after or before
    t.attachment(kind, **fields)
    t.response("on", context=30_000)
    found = fate(lost(folder, t)[0], before[0])
    assert ("instruction", "re-injected") == (found.item.kind, found.verdict)


def test_an_instruction_that_does_not_come_back_is_gone(folder: ClaudeFolder) -> None:
    """Memory of another folder does not bring it back."""
    t = folder.main()
    t.prompt("start")
    t.attachment("nested_memory", path="/w/CLAUDE.md", content={"content": WORDS * 2})
    t.response("ok", context=20_000)
    t.boundary()
    t.summary("Nothing of note.")
    t.attachment("nested_memory", path="/v/CLAUDE.md", content={"content": WORDS * 2})
    t.response("on", context=30_000)
    assert "gone" == fate(lost(folder, t)[0], "/w/CLAUDE.md").verdict


def test_a_file_read_again_later_is_re_acquired_and_costs(folder: ClaudeFolder) -> None:
    """Same path and range: its tokens at the price of the call that took them in, and asking at output price."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, offset=5, context=20_000)
    compact(t)
    t.read(f"{CWD}/a.py", LONG, offset=5, context=31_000, output=110)
    t.response("done", usage={"input_tokens": 3, "cache_creation_input_tokens": 400, "output_tokens": 9})
    event = lost(folder, t, priced=True)[0]
    found = fate(event, "a.py")
    assert "re-acquired later" == found.verdict
    (again,) = found.again
    assert event.again_tokens == again.tokens
    result, use = again.tokens - 110, 110  # the response has 110 tokens of output, all of its one block
    assert again.cost_usd == pytest.approx((result * 10 + use * 50) / 1e6)
    assert event.again_usd == pytest.approx(again.cost_usd)


def test_another_range_of_the_file_is_not_the_same_read(folder: ClaudeFolder) -> None:
    """What was read of it before did not come again."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t)
    t.read(f"{CWD}/a.py", LONG, offset=5, context=31_000)
    assert "gone" == fate(lost(folder, t)[0], "a.py").verdict


def test_only_the_first_time_counts_as_re_acquired(folder: ClaudeFolder) -> None:
    """A second read after the compaction is a re-read, not its cost; a failed one brings nothing back."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t)
    t.call("Read", {"file_path": f"{CWD}/a.py"}, "no such file", is_error=True, context=31_000)
    t.read(f"{CWD}/a.py", LONG, context=31_500)
    t.read(f"{CWD}/a.py", LONG, context=32_000)
    event = lost(folder, t)[0]
    assert 1 == len(event.again)
    assert event.again_tokens > 300


def test_a_command_run_again_counts_only_with_the_same_result(folder: ClaudeFolder) -> None:
    """Looking the same thing up again is a cost of compaction, running the tests again is work."""
    t = folder.main()
    t.prompt("start")
    t.bash("cat notes.txt", WORDS * 4, context=20_000)
    t.bash("make check", "3 failures\n" + WORDS * 4, context=21_000)
    t.call("Grep", {"pattern": "def main"}, "a.py:1\n" + WORDS * 4, context=22_000)
    compact(t)
    t.bash("cat notes.txt", WORDS * 4, context=31_000)
    t.bash("make check", "no failure\n" + WORDS * 4, context=32_000)
    t.call("Grep", {"pattern": "def main"}, "b.py:7\n" + WORDS * 4, context=33_000)
    event = lost(folder, t)[0]
    assert "re-acquired later" == fate(event, "cat notes").verdict
    assert "gone" == fate(event, "make check").verdict
    assert "re-acquired later" == fate(event, "Grep").verdict


def test_what_the_summary_names_is_named(folder: ClaudeFolder) -> None:
    """A file by its name; an exchange by any key term; both are not lost, and the terms are the evidence."""
    t = folder.main()
    t.prompt("Please migrate the subscriptions to the new billing provider")
    t.read(f"{CWD}/deep/billing.py", LONG, context=20_000)
    t.response("The subscriptions are migrated. " + "So it went. " * 20, context=21_000, output=80)
    compact(t, "We worked on Subscriptions in billing.py.")
    event = lost(folder, t)[0]
    assert "named in the summary" == fate(event, "billing.py").verdict
    exchange = fate(event, "Please migrate")
    assert ("conversation", "named in the summary") == (exchange.item.kind, exchange.verdict)
    assert "subscriptions" in exchange.evidence[0].detail
    assert 0 == event.lost_tokens


def test_what_came_back_and_is_named_has_both_as_evidence(folder: ClaudeFolder) -> None:
    """Having been fetched again decides; being named keeps it from being lost."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/billing.py", LONG, context=20_000)
    compact(t, "See billing.py.")
    t.read(f"{CWD}/billing.py", LONG, context=31_000)
    event = lost(folder, t)[0]
    found = fate(event, "billing.py")
    assert ["re-acquired later", "named in the summary"] == [one.verdict for one in found.evidence]
    assert 0 == event.lost_tokens


def test_what_nothing_speaks_for_is_gone(folder: ClaudeFolder) -> None:
    """Its tokens are the total that is lost."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t)
    event = lost(folder, t)[0]
    found = fate(event, "a.py")
    assert ("gone", "the summary does not name it") == (found.verdict, found.evidence[0].detail)
    assert found.item.tokens == event.lost_tokens


def test_loaded_tools_that_the_boundary_lists_are_kept(folder: ClaudeFolder) -> None:
    """preCompactDiscoveredTools: what a ToolSearch loaded stays loaded."""
    t = folder.main()
    t.prompt("start")
    matches = {"matches": ["WebFetch"], "query": "select:WebFetch"}
    result = [{"type": "tool_reference", "tool_name": "WebFetch"}, {"type": "text", "text": WORDS * 4}]
    t.call("ToolSearch", {"query": "select:WebFetch"}, result, tool_use_result=matches, context=20_000)
    compact(t, preCompactDiscoveredTools=["WebFetch"])
    assert "kept" == fate(lost(folder, t)[0], "ToolSearch").verdict


# ------------------------------------------------------------------ what is an item


def test_every_token_of_the_window_is_in_one_item_or_among_the_others(folder: ClaudeFolder) -> None:
    """Items and the rest add up to the blocks that were in the window."""
    t = folder.main()
    t.prompt("start with the parser " + WORDS)
    t.response({"type": "thinking", "thinking": "hm", "signature": "s"}, "Well.", context=20_000)
    t.read(f"{CWD}/a.py", LONG, context=20_500)
    t.bash("ls", "a.py", context=21_000)
    t.attachment("nested_memory", path="/w/CLAUDE.md", content={"content": WORDS * 2})
    compact(t)
    db = read(folder, t)
    (event,) = events_of(db)
    with closing(open_store(db)) as store:
        facts = load(partial(query.rows, store), SESSION)
    before = sum(block.tokens for block in facts.blocks if block.record_id < event.compaction.id)
    assert before == sum(one.item.tokens for one in event.fates) + event.other_tokens
    assert event.other_tokens > 0


def test_a_file_read_in_pieces_is_one_item(folder: ClaudeFolder) -> None:
    """Each path once, with the tokens of all its reads; a moved result is named for what it is."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.read(f"{CWD}/a.py", LONG, offset=300, context=21_000)
    t.read("/tmp/tool-results/toolu_01AbC.txt", LONG, context=22_000)
    compact(t)
    event = lost(folder, t)[0]
    assert 2 == sum(one.item.kind == "file_read" for one in event.fates)
    assert fate(event, "a.py").item.tokens > 600
    assert "file_read" == fate(event, "Agent sub-task result").item.kind


def test_small_talk_is_no_item(folder: ClaudeFolder) -> None:
    """Exchanges below 50 tokens are left out, unless a prompt holds a decision."""
    t = folder.main()
    t.prompt("go on")
    t.response("ok", context=20_100, output=2)
    t.prompt("we agreed on tabs")
    t.response("ok", context=20_200, output=2)
    compact(t)
    (found,) = lost(folder, t)[0].fates
    assert ("conversation", "decision") == (found.item.kind, found.item.weight)
    assert found.item.description.startswith("we agreed")


def test_decisions_and_numbers_come_before_chatter(folder: ClaudeFolder) -> None:
    """A small lost result with a measured number stands before a large one without."""
    t = folder.main()
    t.prompt("start")
    t.bash("cat poem", WORDS * 30, context=20_000)
    t.bash("bench", "p99 is 41.5 ms\n" + WORDS * 4, context=21_000)
    compact(t)
    shown = [one.item for one in lost(folder, t)[0].fates]
    assert "measurement" == shown[0].weight
    assert shown[0].tokens < shown[1].tokens


def test_what_was_taken_out_before_is_not_lost_by_the_compaction(folder: ClaudeFolder) -> None:
    """A result that microcompaction had cleared was not in the window."""
    t = folder.main()
    t.prompt("start")
    use = t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.system("microcompact_boundary", microcompactMetadata={"trigger": "auto", "compactedToolIds": [use]})
    t.response("on", context=20_100)
    compact(t)
    (event,) = lost(folder, t)
    assert fate(event, "a.py").item.tokens < 100  # the use is left, its result is not


def test_key_terms_are_files_calls_and_long_words_in_that_order() -> None:
    """At most 20, lower-case, each once."""
    text = "Rewrite load_orders(path) in Store.py: reconciliation of reconciliation, see api.v2.yaml"
    assert ["store.py", "api.v2", "load_orders", "rewrite", "reconciliation"] == key_terms(text)
    many = " ".join(f"{letter * 8}" for letter in "abcdefghijklmnopqrstuvwxyz")
    assert 20 == len(key_terms(many))


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("we chose SQLite instead of Postgres", "decision"),
        ("the query takes 41 ms", "measurement"),
        ("12 passed", "measurement"),
        ("hello there, nice weather", None),
    ],
)
def test_weight(text: str, weight: str | None) -> None:
    """A decision outranks a number, a number chatter."""
    assert weight == weight_of(text)


# ------------------------------------------------------------------ older transcripts


def test_without_the_newer_fields_a_tool_is_named_by_its_name(folder: ClaudeFolder) -> None:
    """No attachment, nothing preserved: the name of the tool, or how its result begins, in the summary."""
    t = folder.main(version="1.0.60")
    t.prompt("start")
    t.bash("make", WORDS * 4, context=20_000)
    t.call("mcp__tracker__list", {}, "Outstanding: payroll export " + WORDS * 4, context=21_000)
    t.call("Glob", {"pattern": "*.md"}, "nothing whatsoever\n" + WORDS * 4, context=22_000)
    compact(t, "Ran Bash twice. Outstanding: payroll export The quarterly.")
    event = lost(folder, t)[0]
    assert not event.has_fields
    assert "by the tool's name Bash" == fate(event, "Bash").evidence[0].detail
    assert "by how its result begins" in fate(event, "mcp__tracker").evidence[0].detail
    assert "gone" == fate(event, "Glob").verdict


def test_a_result_of_an_unknown_tool_is_gone(folder: ClaudeFolder) -> None:
    """A result whose use is not in the transcript has no name to look for."""
    t = folder.main(version="1.0.60")
    t.prompt("start")
    t.tool_result("toolu_elsewhere", WORDS * 4)
    t.response("ok", context=20_000)
    compact(t, "Nothing is told of it.")
    found = fate(lost(folder, t)[0], "unknown tool")
    assert ("tool_result", "gone") == (found.item.kind, found.verdict)


def test_without_a_summary_everything_is_lost(folder: ClaudeFolder) -> None:
    """Nothing names anything."""
    t = folder.main()
    t.prompt("Please migrate the subscriptions " * 20)
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, None)
    event = lost(folder, t)[0]
    assert event.summary_excerpt is None
    assert {"gone"} == {one.verdict for one in event.fates}
    assert "there is no summary to name it" == event.fates[0].evidence[0].detail


def test_a_drop_without_a_marker_is_a_compaction_without_summary(folder: ClaudeFolder) -> None:
    """The inferred one says so, and takes its numbers from the calls around it."""
    t = folder.main(version="1.0.60")
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=90_000)
    t.response("so far", context=95_000, output=100)
    t.prompt("go on")
    t.response("on", context=20_000)
    (event,) = lost(folder, t)
    assert ("heuristic", 95_100, 20_000) == (
        event.compaction.detection,
        event.tokens_before,
        event.tokens_after,
    )
    assert "gone" == fate(event, "a.py").verdict


def test_a_summary_without_a_boundary_is_a_compaction_with_names(folder: ClaudeFolder) -> None:
    """The oldest transcripts log the summary alone."""
    t = folder.main(version="1.0.24")
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=90_000)
    t.read(f"{CWD}/b.py", LONG, context=91_000)
    t.summary("This session is being continued: a.py was read.")
    t.response("on", context=20_000)
    (event,) = lost(folder, t)
    assert "summary" == event.compaction.detection
    assert ("named in the summary", "gone") == (fate(event, "a.py").verdict, fate(event, "b.py").verdict)


# ------------------------------------------------------------------ several, and odd places


def test_of_two_compactions_each_has_its_own_window(folder: ClaudeFolder) -> None:
    """What the first dropped is not lost again by the second; the first summary is an instruction of the second."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, "The first summary: " + WORDS)
    t.read(f"{CWD}/b.py", LONG, context=31_000)
    compact(t, "Nothing of note.")
    t.read(f"{CWD}/a.py", LONG, context=32_000)
    first, second = lost(folder, t)
    assert "re-acquired later" == fate(first, "a.py").verdict
    assert not [one for one in second.fates if "a.py" in one.item.description]
    assert "gone" == fate(second, "b.py").verdict
    assert "instruction" == fate(second, "the summary of the compaction before").item.kind
    assert (1, 0) == (len(first.again), len(second.again))


def test_what_was_preserved_is_in_the_window_of_the_next(folder: ClaudeFolder) -> None:
    """Kept by the first, lost by the second."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    preserved = t.parent
    compact(t, preservedMessages={"anchorUuid": preserved, "uuids": [preserved]})
    compact(t, "Nothing of note.")
    first, second = lost(folder, t)
    assert ("kept", "gone") == (fate(first, "a.py").verdict, fate(second, "a.py").verdict)


def test_a_compaction_that_was_rewound_is_judged_on_its_own_branch(folder: ClaudeFolder) -> None:
    """The branch is no more, but what it lost is known as it was."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    fork = t.response("ok", context=21_000)
    t.prompt("compact now")
    compact(t, "Nothing of note.")
    t.read(f"{CWD}/a.py", LONG, context=31_000)
    t.prompt("rather not", parentUuid=fork)
    t.response("as you wish", context=22_000)
    (event,) = lost(folder, t)
    assert (False, True) == (event.compaction.on_path, event.is_known)
    assert "re-acquired later" == fate(event, "a.py").verdict


def test_a_boundary_as_the_last_record(folder: ClaudeFolder) -> None:
    """Nothing after it: no tokens after, no calls, all gone."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.boundary(pre=167_000)
    (event,) = lost(folder, t)
    assert (167_000, None, None, None) == (
        event.tokens_before,
        event.tokens_after,
        event.tokens_dropped,
        event.window_after,
    )
    assert "gone" == fate(event, "a.py").verdict


def test_calls_until_the_window_is_full_again(folder: ClaudeFolder) -> None:
    """The first call as large as before, or all calls up to an automatic compaction; else not known."""
    t = folder.main()
    t.prompt("start")
    t.response("a", context=50_000)
    t.boundary(pre=50_000)
    t.summary()
    for context in (20_000, 40_000, 60_000):
        t.response("b", context=context)
    t.boundary("auto", pre=70_000)
    t.summary()
    for context in (20_000, 30_000):
        t.response("c", context=context)
    t.boundary("auto", pre=65_000)
    t.summary()
    t.response("d", context=20_000)
    assert [3, 2, None] == [event.calls_until_full for event in lost(folder, t)]


# ------------------------------------------------------------------ the command


def test_json_when_nothing_was_compacted(folder: ClaudeFolder) -> None:
    """Always JSON, with no events."""
    t = folder.main()
    t.prompt("start")
    t.response("ok", context=20_000)
    t.write()
    found = folder.crusts("lost", "--json").json()
    assert (0, [], 0) == (found["compactionCount"], found["events"], found["grandTotalLost"])
    assert "No compaction" in folder.crusts("lost", "--no-index").out


def test_it_works_when_the_transcript_is_gone(folder: ClaudeFolder) -> None:
    """The store keeps what it needs: the answer is the same."""
    t = folder.main()
    t.prompt("Please migrate the subscriptions " * 20)
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, "About subscriptions.")
    path = t.write()
    before = folder.crusts("lost", "--json").json()
    path.unlink()
    folder.main(OTHER).meta("custom-title", customTitle="so that the folder is not empty")
    assert before == folder.crusts("lost", SESSION, "--json").json()
    assert {"named in the summary", "gone"} == {one["verdict"] for one in before["events"][0]["items"]}


def test_without_kept_text_nothing_is_said_to_be_named(folder: ClaudeFolder) -> None:
    """keepText false: names in the summary are not known, all else is."""
    home = folder.home / ".claude-crusts"
    home.mkdir()
    (home / "config.json").write_text('{"keepText": false}')
    t = folder.main()
    t.prompt("Please migrate the subscriptions " * 20)
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, "About subscriptions in a.py.")
    t.read(f"{CWD}/a.py", LONG, context=31_000)
    t.write()
    done = folder.crusts("lost", "--json")
    (event,) = done.json()["events"]
    assert event["summaryExcerpt"] is None
    assert ["gone", "re-acquired later"] == sorted(one["verdict"] for one in event["items"])
    assert "subscriptions" not in done.out


def test_all_adds_up_each_compaction_once(folder: ClaudeFolder) -> None:
    """By trigger, copies left out (D2); the sums are those of `lost` on the sessions."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, trigger="manual", pre=90_000, post=5_000, userContext="keep the plan")
    t.read(f"{CWD}/a.py", LONG, context=31_000)
    compact(t, trigger="auto", pre=100_000, post=6_000)
    fork = folder.main(OTHER)
    fork.copy(t.lines(), forked=True)
    fork.prompt("and now")
    fork.response("yes", context=33_000)
    t.write()
    fork.write()
    found = folder.crusts("lost", "--all", "--json").json()
    assert 2 == found["total"]["compactions"]
    assert {("manual", 1, 85_000), ("auto", 0, 94_000)} == {
        (one["trigger"], one["withFocus"], one["tokensDropped"]) for one in found["triggers"]
    }
    assert ["keep the plan", None] == [one["focus"] for one in found["compactions"]]
    single = folder.crusts("lost", SESSION, "--json").json()
    assert single["grandTotalReacquired"] == found["total"]["reacquiredTokens"] > 0
    assert single["grandTotalLost"] == found["total"]["lostTokens"]
    later = folder.crusts("lost", "--all", "--json", "--since", "2030-01-01").json()
    assert (0, []) == (later["total"]["compactions"], later["compactions"])


def test_options_that_do_not_go_together(folder: ClaudeFolder) -> None:
    """A session beside --all, a period without it: wrong usage."""
    assert 2 == folder.crusts("lost", SESSION, "--all").code
    assert 2 == folder.crusts("lost", "--since", "7d").code


def test_untrusted_text_does_no_harm(folder: ClaudeFolder) -> None:
    """Escape sequences of file names and focus texts never reach the terminal."""
    t = folder.main()
    t.prompt("start \x1b[31mred\x1b[0m " * 40)
    t.read(f"{CWD}/\x1b]0;title\x07a.py", LONG, context=20_000)
    compact(t, trigger="manual", userContext="\x1b[2Jkeep")
    t.write()
    for args in (("lost",), ("lost", "-v"), ("lost", "--json"), ("lost", "--all"), ("lost", "--all", "--json")):
        done = folder.crusts(*args)
        assert 0 == done.code, done.err
        assert "\x1b" not in done.out
        assert "\x07" not in done.out


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The text and the JSON of the demo are the golden files."""
    pages = [demo.crusts("lost", session, COLUMNS="80").out for session in ("d3300006", "d3300008")]
    pages.append(demo.crusts("lost", "--all", COLUMNS="80").out)
    golden("lost.txt", "\n".join(pages))
    found = demo.crusts("lost", "d3300008", "--json").json()
    golden("lost.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def test_no_gone_root_is_left_behind(folder: ClaudeFolder) -> None:
    """A whole project folder that is gone: its session can still be asked by id."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t)
    t.write()
    other = folder.main(OTHER, project="/home/ada/other")
    other.prompt("hello")
    other.response("hi", context=20_000)
    other.write()
    assert 0 == folder.crusts("index").code
    shutil.rmtree(folder.project_folder(CWD))
    assert 1 == folder.crusts("lost", SESSION, "--json").json()["compactionCount"]
