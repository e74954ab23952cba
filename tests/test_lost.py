"""What compaction took: classes that sum to what was dropped, a verdict for every item, one size for one moment."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crusts_index.insight.losses.back import VERDICTS
from crusts_index.insight.losses.items import weight_of
from crusts_index.insight.losses.paste import paste_of, used_files
from crusts_index.insight.losses.summary import Rarity, Summary, key_terms
from crusts_index.insight.losses.taken import Event, Fate, classes_of, losses_of, prices_of
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.loading import load
from crusts_index.insight.window.contents import attachment_row
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import CWD, SESSION, START, ClaudeFolder, Transcript
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
    t.response("on we go", context=12_000)


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
    """compact_file_reference brings no content: it is a pointer, and a later read brings the file back."""
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
    assert "mentioned" == fate(event, "a.py").verdict
    assert "read again" == fate(event, "b.py").verdict


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
    found = fate(lost(folder, t)[0], attachment_row(before[0])[1])
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
    assert "read again" == found.verdict
    (again,) = found.again
    assert event.again_tokens == again.tokens
    result, use = again.tokens - 110, 110  # the response has 110 tokens of output, all of its one block
    assert again.cost_usd == pytest.approx((result * 10 + use * 50) / 1e6)
    assert event.again_usd == pytest.approx(again.cost_usd)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ({}, {"offset": 1, "limit": 50}, None),  # of a whole file what was read of it again
        ({"offset": 1, "limit": 100}, {"offset": 51, "limit": 200}, 0.5),
        ({"offset": 51, "limit": 50}, {}, 1.0),
        ({"offset": 1, "limit": 50}, {"offset": 51, "limit": 50}, 0.0),
    ],
)
def test_what_is_read_again_in_part_counts_in_part(
    folder: ClaudeFolder, before: dict[str, int], after: dict[str, int], share: float | None
) -> None:
    """The lines that were there before and came again are back, the others are not; so it is with the cost."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000, **before)
    compact(t)
    t.read(f"{CWD}/a.py", "x = 1\n" * 50, context=31_000, **after)
    event = lost(folder, t)[0]
    found = fate(event, "a.py")
    parts = {part.verdict: part.tokens for part in found.evidence}
    back = parts.get("read again", 0)
    assert found.item.tokens == sum(parts.values())
    if share is None:
        assert back == event.again_tokens
        assert parts["gone"] > back
    else:
        assert back == pytest.approx(share * found.item.tokens, abs=1)
        assert event.again_tokens <= max(back, 1)


def test_two_reads_of_parts_bring_back_their_sum(folder: ClaudeFolder) -> None:
    """Each piece of the file that came again is counted, the same piece once."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000, limit=100)
    compact(t)
    for offset in (1, 26, 1):
        t.read(f"{CWD}/a.py", "x = 1\n" * 25, context=31_000, offset=offset, limit=25)
    event = lost(folder, t)[0]
    (again, gone) = sorted(fate(event, "a.py").evidence, key=lambda part: part.verdict, reverse=True)
    assert ("read again", "gone") == (again.verdict, gone.verdict)
    assert again.tokens == pytest.approx(gone.tokens, abs=2)
    assert 2 == len(event.again)


def test_what_was_written_is_back_once_the_file_is_read_as_a_whole(folder: ClaudeFolder) -> None:
    """A part of it, which may be another one, does not bring it back."""
    t = folder.main()
    t.prompt("start")
    for name in ("a.py", "b.py"):
        t.call("Write", {"file_path": f"{CWD}/{name}", "content": LONG}, "created", context=20_000, output=900)
    compact(t)
    t.read(f"{CWD}/a.py", LONG, context=31_000)
    t.read(f"{CWD}/b.py", "x = 1\n", offset=5, limit=1, context=32_000)
    event = lost(folder, t)[0]
    assert ("read again", "gone") == (fate(event, "a.py").verdict, fate(event, "b.py").verdict)


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
    """Looking the same thing up again is a cost of compaction, running the tests again is work, as is what acts."""
    t = folder.main()
    t.prompt("start")
    t.bash("cat notes.txt", WORDS * 4, context=20_000)
    t.bash("make check", "3 failures\n" + WORDS * 4, context=21_000)
    t.call("Grep", {"pattern": "def main"}, "a.py:1\n" + WORDS * 4, context=22_000)
    t.call("TaskUpdate", {"taskId": "3"}, "Updated task #3\n" + WORDS * 4, context=23_000)
    compact(t)
    t.call("TaskUpdate", {"taskId": "3"}, "Updated task #3\n" + WORDS * 4, context=30_500)
    t.bash("cat notes.txt", WORDS * 4, context=31_000)
    t.bash("make check", "no failure\n" + WORDS * 4, context=32_000)
    t.call("Grep", {"pattern": "def main"}, "b.py:7\n" + WORDS * 4, context=33_000)
    event = lost(folder, t)[0]
    assert "read again" == fate(event, "cat notes").verdict
    assert "gone" == fate(event, "make check").verdict == fate(event, "TaskUpdate").verdict
    assert "read again" == fate(event, "Grep").verdict


# ------------------------------------------------------------------ mentioned


@pytest.mark.parametrize(
    ("said", "is_named"),
    [
        ("see billing.py", True),
        ("see `deep/billing.py`:12", True),
        (f"see {CWD}/deep/billing.py.", True),
        ("see other/billing.py", False),  # another file of that name
        ("see test_billing.py and billing.pyc", False),
        ("we worked on billing", False),  # a plain word
    ],
)
def test_a_file_is_mentioned_by_its_path_or_its_name(folder: ClaudeFolder, said: str, is_named: bool) -> None:
    """The content is gone, a pointer is left, and so it is lost all the same."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/deep/billing.py", LONG, context=20_000)
    compact(t, said)
    event = lost(folder, t)[0]
    found = fate(event, "billing.py")
    assert ("mentioned" if is_named else "gone") == found.verdict
    assert found.item.tokens == found.lost_tokens == event.classes.lost


def test_a_name_that_several_files_have_does_not_tell_which(folder: ClaudeFolder) -> None:
    """Then only the path does."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a/mod.rs", LONG, context=20_000)
    t.read(f"{CWD}/b/mod.rs", LONG, context=21_000)
    compact(t, "Changed a/mod.rs; mod.rs builds.")
    event = lost(folder, t)[0]
    assert ("mentioned", "gone") == (fate(event, "a/mod.rs").verdict, fate(event, "b/mod.rs").verdict)


def test_a_name_that_is_no_plain_word_tells_its_file_without_the_extension() -> None:
    """`order_book` may be nothing but the file, and so may the class of that name; `billing` may be anything."""
    summary = Summary("The order_book and the billing are done, and Shop.PriceList too, but not ThePriceTag.")
    assert "by its name order_book" == summary.names("/w/order_book.ex")
    assert "by its name pricelist" == summary.names("/w/price_list.ex")
    assert summary.names("/w/price_tag.ex") is None
    assert summary.names("/w/billing.ex") is None
    assert summary.names("/w/order.ex") is None


def test_an_exchange_is_mentioned_by_most_of_its_rare_terms(folder: ClaudeFolder) -> None:
    """One word is not enough; at least three terms and 40 % by rarity are, and they are the evidence."""
    t = folder.main()
    t.prompt("Please migrate the subscriptions to the warehouse quickly")
    t.response("The subscriptions went over. " + "So it went. " * 20, context=21_000, output=80)
    t.prompt("Translate the storefront banners altogether")
    t.response("The banners are translated. " + "So it went. " * 20, context=22_000, output=80)
    compact(t, "Subscriptions and banners. Storefront texts were to be translated: translate banners.")
    event = lost(folder, t)[0]
    assert "gone" == fate(event, "Please migrate").verdict
    found = fate(event, "Translate the storefront")
    assert ("conversation", "mentioned") == (found.item.kind, found.verdict)
    assert "translate, storefront, banners" in found.evidence[0].detail


def test_what_is_asked_behind_something_pasted_is_what_the_exchange_is_about(folder: ClaudeFolder) -> None:
    """The first or the last line of a prompt is enough to be spoken of."""
    t = folder.main()
    t.prompt("Home\n" + WORDS * 9 + "\nadd t3code and t3code-desktop to llm-agents.nix")
    t.response("ok " * 60, context=21_000, output=80)
    compact(t, "The ask: t3code, t3code-desktop (in llm-agents.nix).")
    assert "by 3 of 3 key terms" in fate(lost(folder, t)[0], "Home").evidence[0].detail


def test_a_prompt_that_the_summary_quotes_is_mentioned(folder: ClaudeFolder) -> None:
    """Its first words stand there, in any case and however they are wrapped."""
    t = folder.main()
    t.prompt("Go on with it as we said,\nplease do")
    t.response("ok " * 60, context=21_000, output=80)
    compact(t, 'All user messages: "go on with it as we said, please do"')
    assert "by its own words" == fate(lost(folder, t)[0], "Go on").evidence[0].detail


def test_common_terms_weigh_less() -> None:
    """Those that everything has are not enough, however many; three rare ones are, of 40 % of the weight of all."""
    rarity = Rarity([*["project running current"] * 10, "ledger_rows"])
    common, rare = ["project", "running", "current"], ["ledger_rows", "payout_job", "export_job"]
    assert not rarity.is_enough(common, common)
    assert not rarity.is_enough([*common, *rare[:2]], [*common, *rare])
    assert rarity.is_enough(rare, [*common, *rare])
    assert not rarity.is_enough(rare, [*rare, *(f"other_{place}" for place in range(5))])


@pytest.mark.parametrize(
    ("call", "answer", "said", "is_named"),
    [
        (("Bash", {"command": "nix fmt 2>&1 | tail -20"}), WORDS * 4, "`nix fmt` touched others", True),
        (("Bash", {"command": "make check"}), WORDS * 4, "make it so, and check", False),
        (("mcp__tracker__get", {"id": "x"}), 'ENT-250 "Export the payroll" ' + WORDS * 4, "ENT-250 is next", True),
        (("Bash", {"command": "gh pr diff 174"}), WORDS * 4, "reviewed PR #174", True),
        (("WebFetch", {"url": "https://example.org/a", "prompt": "x"}), WORDS * 4, "see https://example.org/a", True),
        (("Bash", {"command": "bd show orders-a0y.2"}), WORDS * 4, "orders-a0y.2 is done", True),
        (("Grep", {"pattern": "func handleStart\\("}), WORDS * 4, "still to do: `handleStart()`", True),
        (("Grep", {"pattern": "handleStart|handleStop"}), WORDS * 4, "still to do: `handleStart()`", False),
        (("Grep", {"pattern": "zzz"}), WORDS * 4, "used Grep and Bash often", False),  # a tool's name points to nothing
    ],
)
def test_a_result_is_mentioned_by_what_was_asked_about(
    folder: ClaudeFolder, call: tuple[str, dict[str, str]], answer: str, said: str, is_named: bool
) -> None:
    """The command, a ticket, a pull request, an address."""
    t = folder.main()
    t.prompt("start")
    t.call(*call, answer, context=20_000)
    compact(t, said)
    assert ("mentioned" if is_named else "gone") == fate(lost(folder, t)[0], call[0]).verdict


def test_what_came_back_in_part_is_mentioned_for_the_rest(folder: ClaudeFolder) -> None:
    """Each part of an item is in one class."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/billing.py", LONG, context=20_000)
    compact(t, "See billing.py.")
    t.read(f"{CWD}/billing.py", "x = 1\n" * 20, limit=20, context=31_000)
    event = lost(folder, t)[0]
    found = fate(event, "billing.py")
    assert ["mentioned", "read again"] == [part.verdict for part in found.evidence]
    assert found.item.tokens == sum(part.tokens for part in found.evidence)
    assert found.lost_tokens == event.classes.mentioned


def test_what_nothing_speaks_for_is_gone(folder: ClaudeFolder) -> None:
    """Its tokens are the total that is lost."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t)
    event = lost(folder, t)[0]
    found = fate(event, "a.py")
    assert ("gone", "the summary does not name it") == (found.verdict, found.evidence[0].detail)
    assert found.item.tokens == event.classes.gone == event.classes.lost


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


def test_the_classes_sum_to_what_was_dropped(folder: ClaudeFolder) -> None:
    """Kept, put back, read again, mentioned and gone are the items' tokens; the rest is what none of them covers."""
    t = folder.main()
    t.prompt("start with the parser " + WORDS)
    t.response({"type": "thinking", "thinking": "hm", "signature": "s"}, "Well.", context=20_000)
    t.read(f"{CWD}/kept.py", LONG, context=20_500)
    preserved = t.parent
    for name in ("back.py", "again.py", "told.py", "gone.py"):
        t.read(f"{CWD}/{name}", LONG, context=20_500)
    t.boundary(pre=90_000, preservedMessages={"anchorUuid": preserved, "uuids": [preserved]})
    t.summary("See told.py.")
    content = {"type": "text", "file": {"filePath": f"{CWD}/back.py", "content": LONG}}
    t.attachment("file", filename=f"{CWD}/back.py", content=content)
    t.response("on", context=30_000)
    t.read(f"{CWD}/again.py", LONG, context=31_000)
    (event,) = lost(folder, t)
    classes = event.classes
    assert 60_000 == event.sizes.dropped == sum(classes[:6])
    for name, verdict in zip(("kept.py", "back.py", "again.py", "told.py", "gone.py"), VERDICTS, strict=True):
        assert verdict == fate(event, name).verdict
        assert classes.by_verdict[verdict] >= fate(event, name).evidence[0].tokens > 200
    assert 1.0 == classes.scale
    assert 50_000 < classes.rest < 60_000
    assert classes.lost == classes.mentioned + classes.gone == 60_000 - classes.back - classes.rest


def test_where_the_window_shrank_by_less_than_its_items_each_is_a_share(folder: ClaudeFolder) -> None:
    """The summary and what was put back stand in the window again: the classes still sum, and say by how much."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG * 5, context=20_000)
    t.read(f"{CWD}/b.py", LONG * 5, context=20_000)
    t.boundary(pre=20_000)
    t.summary("See a.py.")
    t.response("on", context=19_000)
    (event,) = lost(folder, t)
    assert 1_000 == event.sizes.dropped == sum(event.classes[:6])
    assert 0 < event.classes.scale < 1
    assert abs(event.classes.mentioned - event.classes.gone) <= 2
    assert min(event.classes[:6]) == 0 == event.classes.rest


def test_nothing_dropped_has_no_classes() -> None:
    """A window that grew dropped nothing."""
    assert (0, 0, 0, 0, 0, 0) == classes_of((), 500, 0)[:6]


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


def test_items_are_in_descending_tokens(folder: ClaudeFolder) -> None:
    """Whatever they hold."""
    t = folder.main()
    t.prompt("start")
    t.bash("bench", "p99 is 41.5 ms\n" + WORDS * 4, context=20_000)
    t.bash("cat poem", WORDS * 30, context=21_000)
    compact(t)
    items = [one.item for one in lost(folder, t)[0].fates]
    assert [None, "measurement"] == [one.weight for one in items]
    assert items[0].tokens > items[1].tokens


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


def test_key_terms_are_names_identifiers_and_long_words() -> None:
    """At most 60, lower-case, each once, in their order; folders and the keys of JSON are none."""
    text = 'Rewrite load_orders(path) in lib/warehouse/Store.py: prime-agent, isActive, ENT-250, {"warehouse": "boxes"}'
    assert ["rewrite", "load_orders", "store.py", "prime-agent", "isactive", "ent-250"] == key_terms(text)
    assert 60 == len(key_terms(" ".join(f"name_{place}" for place in range(99))))


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
    assert event.summary.excerpt is None
    assert {"gone"} == {one.verdict for one in event.fates}
    assert "there is no summary to name it" == event.fates[0].evidence[0].detail


def test_without_a_summary_the_block_to_paste_does_not_speak_of_one(folder: ClaudeFolder) -> None:
    """What was used again is to be pasted all the same."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/often.py", LONG, context=21_000)
    t.read(f"{CWD}/often.py", LONG, context=22_000)
    compact(t, None)
    found = pasted(folder, t)
    assert found is not None
    assert found.startswith("The compaction took these; they were used again before it:")


def test_a_class_of_parts_alone_counts_no_item(demo: Demo) -> None:
    """Of an item that is gone a part was kept: its tokens stand there, and in place of a count that it is a part."""
    (row,) = (line for line in demo.crusts("lost", "d3300006").out.splitlines() if line.startswith("kept"))
    assert ["kept", "in", "part"] == row.split()[:3]


def test_a_drop_without_a_marker_is_a_compaction_without_summary(folder: ClaudeFolder) -> None:
    """The inferred one says so, and takes its sizes from the contexts of the calls around it."""
    t = folder.main(version="1.0.60")
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=90_000)
    t.response("so far", context=95_000, output=100)
    t.prompt("go on")
    t.response("on", context=20_000)
    (event,) = lost(folder, t)
    assert ("heuristic", 95_000, 20_000) == (event.compaction.detection, event.sizes.before, event.sizes.after)
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
    assert ("mentioned", "gone") == (fate(event, "a.py").verdict, fate(event, "b.py").verdict)


# ------------------------------------------------------------------ several, and odd places


def test_of_two_compactions_each_has_its_own_window(folder: ClaudeFolder) -> None:
    """What the first dropped is not lost again by the second; the first summary is an instruction of the second."""
    t = folder.main(model="claude-opus-4-8")
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    compact(t, "The first summary: " + WORDS)
    t.read(f"{CWD}/b.py", LONG, context=31_000)
    compact(t, "Nothing of note.")
    t.read(f"{CWD}/a.py", LONG, context=32_000)
    first, second = lost(folder, t)
    assert "read again" == fate(first, "a.py").verdict
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
    assert "read again" == fate(event, "a.py").verdict


def test_a_boundary_as_the_last_record(folder: ClaudeFolder) -> None:
    """Nothing after it: no tokens after, no calls, all gone."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=20_000)
    t.boundary(pre=167_000)
    (event,) = lost(folder, t)
    assert (167_000, "logged", None, None) == event.sizes
    assert event.sizes.dropped is None
    assert "gone" == fate(event, "a.py").verdict


# ------------------------------------------------------------------ one size for one moment


def sizes_told(folder: ClaudeFolder) -> dict[str, tuple[int | None, int | None]]:
    """Before and after the session's only compaction, as each command says."""
    (event,) = folder.crusts("lost", "--json").json()["events"]
    (analysed,) = folder.crusts("analyze", "--json").json()["breakdown"]["compactionEvents"]
    (timeline,) = folder.crusts("timeline", "--json").json()["compactionEvents"]
    (of_all,) = folder.crusts("lost", "--all", "--json").json()["compactions"]
    assert event["dropped"] == event["before"] - event["after"] == event["tokensDropped"]
    told = {"lost": (event["before"], event["after"])}
    for name, found in (("older keys", event), ("analyze", analysed), ("timeline", timeline), ("all", of_all)):
        told[name] = found["tokensBefore"], found["tokensAfter"]
    return told


@pytest.mark.parametrize(("pre", "before"), [(70_200, 70_200), (None, 61_300)])
def test_every_command_says_the_same_before_and_after(folder: ClaudeFolder, pre: int | None, before: int) -> None:
    """Before as logged, else the context of the call just before (X-compact); after the first call's context."""
    t = folder.main()
    t.prompt("start")
    t.response("ok", context=61_300, output=100)
    t.boundary(pre=pre, post=4_000)
    t.summary()
    t.response("on", context=23_000, output=50)
    t.write()
    assert {(before, 23_000)} == set(sizes_told(folder).values())
    (session,) = folder.crusts("readout", "--full", "--since", "2020-01-01").json()["sessions"]
    assert (before, 4_000) == (session["compactions"][0]["before"], session["compactions"][0]["after"])
    shown = folder.crusts("timeline").out
    assert f"{before:,} → 23,000 tokens" in shown


def test_without_a_call_after_it_the_fixed_context_is_added(folder: ClaudeFolder) -> None:
    """postTokens are messages alone: with the fixed context they are the window, as analyze has it."""
    t = folder.main()
    t.prompt("start")
    t.response("ok", context=61_300, output=100)
    t.boundary(pre=70_200, post=4_000)
    t.summary()
    t.write()
    window = folder.crusts("analyze", "--json").json()["breakdown"]["total_tokens"]
    assert window > 50_000
    assert {(70_200, window)} == set(list(sizes_told(folder).values())[:4])


def test_an_inferred_one_between_two_calls_side_by_side_has_a_size_after_it(folder: ClaudeFolder) -> None:
    """It is that of the call which shows the drop."""
    t = folder.main()
    t.prompt("x")
    t.response("ok", context=160_000)
    t.response("on", context=20_000)
    (event,) = lost(folder, t)
    assert (160_000, 20_000) == (event.sizes.before, event.sizes.after)


def test_the_json_has_the_classes_that_sum(folder: ClaudeFolder) -> None:
    """In every event, beside the older keys; the headline counts what is mentioned as lost."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/a.py", LONG, context=60_000)
    t.read(f"{CWD}/b.py", LONG, context=61_000)
    t.boundary(pre=70_000)
    t.summary("See a.py.")
    t.response("on", context=20_000)
    t.write()
    (event,) = folder.crusts("lost", "--json").json()["events"]
    assert ["kept", "reinjected", "read_again"] == list(event["back"])
    parts = (*event["back"].values(), event["mentioned"], event["gone"], event["rest"])
    assert 50_000 == event["dropped"] == sum(parts)
    assert event["mentioned"] > 0 < event["gone"]
    assert event["totalLostTokens"] == event["mentioned"] + event["gone"]
    tokens = [item["tokens"] for item in event["items"]]
    assert tokens == sorted(tokens, reverse=True)
    said = folder.crusts("lost").out
    assert f"Lost: {event['totalLostTokens']:,} of 50,000 tokens dropped" in said


# ------------------------------------------------------------------ what to paste


def pasted(folder: ClaudeFolder, *transcripts: Transcript, session: str = SESSION, place: int = -1) -> str | None:
    """The block to paste after a compaction of the session."""
    db = read(folder, *transcripts)
    event = events_of(db, session)[place]
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)
        facts = load(fetch, session)
        return paste_of(facts, event, used_files(fetch, facts))


def test_the_block_to_paste_has_what_is_gone_and_was_used_again(folder: ClaudeFolder) -> None:
    """A decision that came up again, a file that was read twice, a number that was said again; nothing else."""
    t = folder.main()
    t.prompt("We never deploy the warehouse exporter on Fridays. Fine?")
    t.response("Understood. " * 20, context=20_000, output=80)
    t.read(f"{CWD}/often.py", LONG, context=21_000)
    t.read(f"{CWD}/often.py", LONG, context=22_000)
    t.read(f"{CWD}/once.py", LONG, context=23_000)
    t.bash("bench", "p99 is 41.5 ms\n" + WORDS * 4, context=24_000)
    t.prompt("So when do we deploy the warehouse exporter, on Fridays?")
    t.response("Never on Fridays: the warehouse exporter waits. p99 is 41.5 ms. " * 5, context=25_000, output=90)
    compact(t, "Nothing of note.")
    found = pasted(folder, t)
    assert found is not None
    assert found.splitlines()[1:] == [
        "Decisions:",
        "- We never deploy the warehouse exporter on Fridays. (message 1)",
        "Files, to be read again when they are needed:",
        "- often.py",
        "Facts:",
        "- p99 is 41.5 ms (message 9)",
    ]


def test_a_file_that_was_needed_after_an_earlier_compaction_is_to_be_pasted(folder: ClaudeFolder) -> None:
    """In any session of the project, as long as it was before."""
    other = folder.main(OTHER)
    other.prompt("start")
    other.response("ok", context=20_000)
    compact(other)
    other.read(f"{CWD}/once.py", LONG, context=21_000)
    t = folder.main(start=START + timedelta(days=1))
    t.prompt("start")
    t.read(f"{CWD}/once.py", LONG, context=20_000)
    compact(t)
    found = pasted(folder, other, t)
    assert found is not None
    assert found.endswith("- once.py")


def test_nothing_to_paste(folder: ClaudeFolder) -> None:
    """Where what is gone was not used again, and where the summary has it."""
    t = folder.main()
    t.prompt("start")
    t.read(f"{CWD}/once.py", LONG, context=20_000)
    t.read(f"{CWD}/often.py", LONG, context=21_000)
    t.read(f"{CWD}/often.py", LONG, context=22_000)
    compact(t, "See often.py.")
    t.write()
    assert pasted(folder, t) is None
    assert folder.crusts("lost", "--json").json()["events"][0]["paste"] is None


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
    compact(t, "The user said: please migrate the subscriptions please migrate the subscriptions.")
    path = t.write()
    before = folder.crusts("lost", "--json").json()
    path.unlink()
    folder.main(OTHER).meta("custom-title", customTitle="so that the folder is not empty")
    assert before == folder.crusts("lost", SESSION, "--json").json()
    assert {"mentioned", "gone"} == {one["verdict"] for one in before["events"][0]["items"]}


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
    assert ["gone", "read again"] == sorted(one["verdict"] for one in event["items"])
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
    assert {("manual", 1, 78_000), ("auto", 0, 88_000)} == {
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
