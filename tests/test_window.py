"""The window's size, limit, trigger and prediction, and the categories reconciled to it (D10 to D12)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.session.messages import fair_sample, messages_of
from crusts_index.insight.window.buckets import Buckets
from crusts_index.insight.window.diff import difference
from crusts_index.insight.window.judge import health_of
from tests.analysed import Analysed, analysed
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript, image_block, thinking_block, usage, weighs
from tests.picture import ask, index, new_store, read, scratch
from tests.profiles import examples
from tests.program import CORPUS
from tests.strategies import folders, transcripts, write_folder


def grown(t: Transcript, *contexts: int, **options: Any) -> None:
    """A prompt and an answer for each context size."""
    for place, context in enumerate(contexts):
        t.prompt(f"prompt {place}")
        t.response("done", context=context, **options)


def numbers(value: object) -> Iterator[float]:
    """Every number in a JSON value."""
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def assert_sums(buckets: Buckets, size: int) -> None:
    """On basis window the buckets are the window; the percentages are of the sum."""
    assert list(CATEGORIES) == [bucket.category for bucket in buckets.buckets]
    assert buckets.content_sum == sum(bucket.content_tokens for bucket in buckets.buckets)
    if buckets.basis == "window":
        assert size == buckets.total
        assert buckets.scale is not None
        assert 0.7 <= buckets.scale <= 1.4
    else:
        assert buckets.content_sum == buckets.total
    if buckets.total:
        assert math.isclose(100, sum(bucket.percentage for bucket in buckets.buckets))
    for bucket in buckets.buckets:
        assert bucket.tokens >= 0
        assert bucket.accuracy in ("exact", "derived", "estimated")


def assert_invariants(found: Analysed) -> None:
    """What holds for every session, whatever is in it."""
    window, facts = found.window, found.facts
    assert window.limit_kind in ("set", "seen", "told", "assumed")
    assert (window.calls_left is None) == (window.trigger is None or window.size is None)
    if window.size is None:
        assert not facts.calls
        assert [None] * 4 == [window.basis, window.health, window.free, window.usage_percentage]
        return
    assert_sums(found.buckets, window.size)
    assert_sums(found.lifetime, window.size)
    assert max(0, window.limit - window.size) == window.free
    assert math.isclose(window.usage_percentage, window.size / window.limit * 100)
    assert health_of(window.usage_percentage) == window.health
    if window.trigger is not None and window.calls_left is not None:
        assert (window.calls_left == 0) == (window.size >= window.trigger)
        assert (window.calls_low or 0) <= window.calls_left <= (window.calls_high or 0)
    if window.basis == "exact":
        call = next(call for call in reversed(facts.calls) if call.live_epoch)
        assert call.context_tokens + call.output_tokens == window.size
    assert all(math.isfinite(number) for number in numbers(found.json()))
    assert all(number >= 0 for number in numbers(found.json()["breakdown"]["currentContext"]))
    assert all(block.on_path or facts.live_from for block in facts.blocks if block.in_window)
    messages = messages_of(facts)
    assert sorted({block.message for block in facts.blocks}) == [message.number for message in messages]
    assert sum(block.tokens for block in facts.blocks) == sum(message.tokens for message in messages)


@pytest.mark.long
@examples(150)
@given(folders(damaged=False))
def test_what_holds_for_every_session(files: dict[str, bytes]) -> None:
    """Sums, bounds and labels hold for every session of a random folder."""
    with scratch() as base:
        write_folder(base / "claude", files)
        db = new_store(base)
        index(db, base / "claude")
        for (session,) in ask(db, "select session_id from sessions"):
            assert_invariants(Analysed(db, session))


@pytest.mark.long
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the collected transcripts")
def test_what_holds_for_every_real_session(tmp_path: Path) -> None:
    """The same over real transcripts, whole and cut in the middle."""
    db = new_store(tmp_path)
    index(db, CORPUS)
    for (session,) in ask(db, "select session_id from sessions order by 1"):
        found = Analysed(db, session)
        assert_invariants(found)
        if found.facts.session.messages > 1:
            assert_invariants(Analysed(db, session, until=(found.facts.session.messages + 1) // 2))


@pytest.mark.long
@examples(60)
@given(transcripts(odd=False, session=SESSION))
def test_differences_add_up(transcript: Transcript) -> None:
    """From the first message to the last, the steps' differences add up to the whole's, on one basis."""
    with scratch() as base:
        folder = ClaudeFolder(base)
        transcript.write(folder.project_folder(transcript.cwd) / f"{SESSION}.jsonl")
        db = new_store(base)
        index(db, folder.config)
        count = Analysed(db, trim=False).facts.session.messages
        states = [Analysed(db, until=number).buckets for number in range(1, count + 1)]
        for before, after in pairwise(states):
            found = difference(before, after)
            deltas = [change.delta for change in found.categories]
            assert found.total.delta == (None if before is None or after is None else sum(deltas))
        if states and len({state and state.basis for state in states}) == 1 and states[0]:
            whole = difference(states[0], states[-1])
            steps = [difference(a, b).total.delta for a, b in pairwise(states)]
            assert whole.total.delta == sum(steps)


def test_the_window_is_the_last_calls_context_and_output(folder: ClaudeFolder) -> None:
    """Input, cache read and cache write of the last call, and its output: exact (D10)."""
    t = folder.main()
    t.prompt("go")
    t.response("a", usage=usage(input=10, write=2_000, read=30_000, output=400))
    found = analysed(folder, t).window
    assert (10 + 2_000 + 30_000 + 400, "exact") == (found.size, found.basis)


def test_a_placeholder_output_makes_the_size_derived(folder: ClaudeFolder) -> None:
    """Where the output logged is less than 0.7 of what was said, the answer is estimated."""
    t = folder.main()
    t.prompt("go")
    t.response("word " * 400, context=20_000, output=1)
    found = analysed(folder, t).window
    assert (20_000 + weighs("word " * 400, around=3), "derived") == (found.size, found.basis)


def test_calls_without_tokens_do_not_count(folder: ClaudeFolder) -> None:
    """Synthetic rows and calls of no tokens are no state of the window."""
    t = folder.main()
    grown(t, 20_000)
    t.synthetic()
    t.response("nothing", context=0, output=0)
    assert 20_020 == analysed(folder, t).window.size


def test_framing_is_the_median_of_what_growth_shows(folder: ClaudeFolder) -> None:
    """Growth between calls beyond the contents, per message; from three samples on. It is told, not added (D9)."""
    t = folder.main()
    context = 20_000
    for _ in range(5):
        t.prompt("x" * 400)
        t.response("y" * 300, context=context, output=100)
        context += 100 + weighs("x" * 400) + 2 * 7  # answer, next prompt, and 7 a message
    found = analysed(folder, t)
    framing = found.json()["breakdown"]["derivedOverhead"]["messageFraming"]
    assert (7, 7 * 10) == (framing["tokensPerMessage"], framing["totalTokens"])


@pytest.mark.parametrize(
    ("percentage", "health"),
    [(0, "healthy"), (49.99, "healthy"), (50, "warming"), (70, "hot"), (85, "critical"), (130, "critical")],
)
def test_health_by_percentage(percentage: float, health: str) -> None:
    """healthy < 50 <= warming < 70 <= hot < 85 <= critical."""
    assert health == health_of(percentage)


def test_fixed_context_is_what_the_first_call_carried_beyond_its_messages(folder: ClaudeFolder) -> None:
    """First call less the messages before it; core schemas by version are tools, the rest system (D11)."""
    t = folder.main(version="2.1.220")
    t.prompt("x" * 400)
    t.response("ok", context=30_000)
    found = analysed(folder, t)
    fixed = found.window.fixed_context
    prompt = weighs("x" * 400)
    assert (30_000 - prompt, 20_500, 9_500 - prompt) == (fixed.tokens, fixed.schema_tokens, fixed.internal_tokens)
    assert "window" == found.buckets.basis


def test_a_fixed_context_too_small_for_its_parts_is_one_number(folder: ClaudeFolder) -> None:
    """Where the core schemas do not fit, nothing is divided; below 1,000 nothing is derived (D11)."""
    t = folder.main(version="2.1.220")
    grown(t, 5_000)
    fixed = analysed(folder, t).window.fixed_context
    rest = 5_000 - weighs("prompt 0")
    assert (rest, 0, None) == (fixed.tokens, fixed.schema_tokens, fixed.internal_tokens)
    assert {"system": rest, "tools": 0, "state": 0} == fixed.by_category
    small = folder.main(session="5e551001-0000-4000-8000-000000000003")
    grown(small, 900)
    found = analysed(folder, small, session=small.session)
    assert found.window.fixed_context.tokens is None


def test_a_first_call_that_carried_history_is_no_fixed_context(folder: ClaudeFolder) -> None:
    """A call right after a compaction bounds the fixed context: what it left behind was no fixed part."""
    t = folder.main()
    grown(t, 150_000)
    t.boundary(pre=150_100, post=500)
    t.summary("x" * 2_000)
    t.response("on we go", context=40_500)
    summary = weighs("x" * 2_000)
    assert 40_500 - summary == analysed(folder, t).window.fixed_context.tokens


def test_buckets_far_from_the_window_stay_as_counted(folder: ClaudeFolder) -> None:
    """Outside 0.7 to 1.4 the estimates are shown as they are, not bent to the window (D12)."""
    t = folder.main()
    grown(t, 20_000, 60_000)
    found = analysed(folder, t).buckets
    assert "content" == found.basis
    assert found.scale is not None
    assert found.scale > 1.4


def test_deferred_schemas_are_charged_once_where_they_were_loaded(folder: ClaudeFolder) -> None:
    """1,000 a built-in tool, 330 an MCP tool, each once, in the category tools (D8)."""
    t = folder.main()
    t.prompt("find")
    loaded = [{"type": "tool_reference", "tool_name": name} for name in ("WebFetch", "mcp__tracker__search")]
    t.call("ToolSearch", {"query": "web"}, loaded, context=30_000)
    t.call("ToolSearch", {"query": "web again"}, loaded, context=31_400)
    assert 1_330 == analysed(folder, t).buckets.contents.loaded_tokens


def test_images_of_the_last_prompt_are_the_users(folder: ClaudeFolder) -> None:
    """The last prompt's images go with it (D8)."""
    t = folder.main()
    t.prompt([{"type": "text", "text": "look"}, image_block()])
    t.response(thinking_block(), "a cat", context=20_000)
    found = {bucket.category: bucket.content_tokens for bucket in analysed(folder, t).buckets.buckets}
    assert 1_501 == found["user"]


def test_a_fair_sample_has_both_ends_and_every_part_of_the_middle(folder: ClaudeFolder) -> None:
    """Sixty of many messages, none of them twice, no stretch of the middle left out."""
    t = folder.main()
    grown(t, *range(20_000, 20_500, 5))
    messages = messages_of(analysed(folder, t).facts)
    shown = [message.number for message in fair_sample(messages)]
    assert 200 == len(messages)
    assert 60 == len(shown) == len(set(shown))
    assert [*range(1, 11)] == shown[:10]
    assert [*range(191, 201)] == shown[-10:]
    assert max(b - a for a, b in pairwise(shown)) <= 5


def test_a_cut_before_the_first_call_has_that_call_s_fixed_context(folder: ClaudeFolder) -> None:
    """The window is not known yet; the fixed context is, by the call that came later (D11)."""
    t = folder.main()
    t.prompt("hello")
    grown(t, 20_000)
    db = read(folder, t)
    cut = Analysed(db, until=1)
    assert (None, None) == (cut.window.size, cut.window.health)
    assert Analysed(db).window.fixed_context.tokens == cut.window.fixed_context.tokens is not None


def test_without_a_call_no_command_says_how_full_the_window_is(folder: ClaudeFolder) -> None:
    """Null in every object, and no health, no categories and no number of tokens in any text (D11)."""
    t = folder.main()
    t.prompt("hello there, what is this project about?")
    t.write()
    other = folder.main("5e551001-0000-4000-8000-000000000009")
    grown(other, 20_000)
    other.write()
    found = folder.crusts("analyze", SESSION, "--json").json()
    assert [None] * 4 == [found["contents"], *(found["window"][key] for key in ("tokens", "basis", "calls_left"))]
    inside = found["breakdown"]
    for side in (inside, inside["currentContext"]):
        keys = ("buckets", "total_tokens", "contentSumTokens", "free_tokens", "usage_percentage", "reconciliation")
        assert [None] * 6 == [side[key] for key in keys]
    assert (None, None) == (inside["context_health"], found["recommendations"]["context_health"])
    (row,) = (one for one in folder.crusts("trend", "--json").json()["records"] if one["sessionId"] == SESSION)
    assert [None] * 5 == [row[key] for key in ("totalTokens", "percentUsed", "health", "topCategory", "bucketBasis")]
    side = folder.crusts("compare", SESSION, other.session, "--json").json()
    assert (None, None, None) == (side["totalA"], side["totalDelta"], side["window"]["sizeA"])
    assert {None} == {one[key] for one in side["categoryDeltas"] for key in ("tokensA", "delta", "deltaPercent")}
    assert None is folder.crusts("status", SESSION, "--json").json()["context_health"]
    for command in (["analyze", "-v"], ["status"], ["fix"], ["waste"], ["timeline"], ["optimize"], ["report"]):
        more = ["--format", "md", "--output", "-"] if command == ["report"] else []
        done = folder.crusts(*command, SESSION, *more)
        said = done.out + done.err
        assert "so far" in said or "in this session yet" in said or command == ["optimize"], said
        never = ("healthy", "of None", "None)", "0%", "0.0%", "there is room")
        assert [] == [word for word in never if word in said], said
    assert "not known yet" in folder.crusts("trend").out


def test_a_history_written_anew_replaces_what_it_repeats(folder: ClaudeFolder) -> None:
    """A root that is no prompt, answers and results under new uuids: each stands in the window once (D10)."""
    t = folder.main()
    opened = "<ide_opened_file>The user opened the file /home/ada/site/a.py in the IDE.</ide_opened_file>"

    def told(**root: Any) -> None:
        t.prompt(opened, **root)
        t.prompt("look at it, please")
        t.response(
            t.tool_use("Read", {"file_path": f"{CWD}/a.py"}, "toolu_a"), context=20_000, message="m1", request="r1"
        )
        t.tool_result("toolu_a", "one line\n" * 400)
        t.response("It is done. " * 100, context=21_500, message="m2", request="r2")

    t.prompt("hello")
    told()
    before = analysed(folder, t)
    told(parentUuid=None)
    t.prompt("go on")
    t.response("Gone on.", context=22_000)
    found = analysed(folder, t)
    assert 22_020 == found.window.size
    counted = {
        kind: sum(b.in_window for b in found.facts.blocks if b.kind == kind) for kind in ("tool_use", "tool_result")
    }
    assert {"tool_use": 1, "tool_result": 1} == counted
    assert abs(found.buckets.content_sum - before.buckets.content_sum) < 200


def test_what_stood_before_a_transcript_is_no_fixed_context(folder: ClaudeFolder) -> None:
    """Where its first message follows one that stands nowhere, what is above the usual is of before (D11)."""
    for number in range(3, 6):
        other = folder.main(f"5e551001-0000-4000-8000-{number:012d}")
        grown(other, 20_000 + number)
        other.write()
    like_it = folder.main("5e551001-0000-4000-8000-000000000009")
    like_it.prompt("on", parentUuid="7e551001-0000-4000-8000-000000000008")
    like_it.response("done", context=180_000)
    like_it.write()
    t = folder.main()
    t.prompt("go on", parentUuid="7e551001-0000-4000-8000-000000000009")
    t.response("done", context=140_000)
    t.write()
    db = new_store(folder.home)
    index(db, folder.config)
    fixed = Analysed(db).window.fixed_context
    usual = 20_004 - weighs("prompt 0")
    assert (usual, 140_000 - weighs("go on") - usual) == (fixed.tokens, fixed.before_tokens)
    assert "before this transcript begins" in fixed.reason
    assert 140_000 - weighs("go on") - usual <= Analysed(db).buckets.contents.tokens["conversation"]
