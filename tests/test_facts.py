"""One session's own view: live path, branches, compactions, what was taken out, parts, and the cut."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.errors import CrustsError
from tests.analysed import Analysed, analysed
from tests.builders import SESSION, START, ClaudeFolder, Transcript
from tests.picture import ask, index, new_store, scratch
from tests.profiles import examples
from tests.strategies import transcripts

OTHER = "5e551001-0000-4000-8000-000000000002"


def turn(t: Transcript, text: str, context: int, output: int = 20) -> str:
    """A prompt and its answer; returns the answer's uuid."""
    t.prompt(text)
    return t.response(f"answer to {text}", context=context, output=output)


def test_a_rewind_leaves_what_came_after_it_out_of_the_window(folder: ClaudeFolder) -> None:
    """The path goes back from the last message; the branch that was left is in no window (D10)."""
    t = folder.main()
    first = turn(t, "one", 20_000)
    turn(t, "two", 30_000)
    t.prompt("two, but better", parentUuid=first)
    t.response("better", context=21_000)
    found = analysed(folder, t)
    assert [1, 2, 5, 6] == found.in_window()
    assert 21_020 == found.window.size
    assert [False, False] == [b.on_path for b in found.facts.blocks if b.message in (3, 4)]


def test_a_fork_inside_a_response_keeps_the_whole_response(folder: ClaudeFolder) -> None:
    """All lines of a call come before the fork, even those logged behind the line it forks at (D10)."""
    t = folder.main()
    t.prompt("one")
    t.response("first part", "second part", context=20_000)
    first_line = json.loads(t.pieces[1])["uuid"]
    turn(t, "two", 22_000)
    t.prompt("three", parentUuid=first_line)
    t.response("done", context=21_000)
    turn(t, "four", 23_000)
    found = analysed(folder, t)
    answer = [block for block in found.facts.blocks if block.message == 2]
    assert [True, True] == [block.in_window for block in answer]


def test_interleaved_panes_have_windows_of_their_own(folder: ClaudeFolder) -> None:
    """Two chains in one file: the window is of the one that spoke last, and no drop is a compaction."""
    t = folder.main()
    root = turn(t, "one", 50_000)
    left = right = root
    for number in range(3):
        t.parent = left
        left = turn(t, f"left {number}", 60_000 + 1_000 * number)
        t.parent = right
        right = turn(t, f"right {number}", 150_000 + 1_000 * number)
    t.parent = left
    turn(t, "left at last", 64_000)
    found = analysed(folder, t)
    texts = [found.facts.text(b.id) for b in found.facts.blocks if b.in_window and b.is_prompt]
    assert ["one", "left 0", "left 1", "left 2", "left at last"] == texts
    assert 64_020 == found.window.size
    assert [] == found.facts.inferred


def test_the_last_prompt_record_moves_the_leaf(folder: ClaudeFolder) -> None:
    """A last-prompt behind the last message names the live leaf: what is behind the leaf is left (D10)."""
    t = folder.main()
    leaf = turn(t, "one", 20_000)
    turn(t, "two", 30_000)
    t.meta("last-prompt", lastPrompt="one", leafUuid=leaf)
    found = analysed(folder, t)
    assert [1, 2] == found.in_window()
    assert 20_020 == found.window.size
    t.prompt("three", parentUuid=t.parent)
    t.response("three", context=31_000)
    assert [1, 2, 3, 4, 5, 6] == analysed(folder, t).in_window()


def test_an_unknown_leaf_moves_nothing(folder: ClaudeFolder) -> None:
    """A leaf that is not in the transcript, as in a fork's copy, is no leaf."""
    t = folder.main()
    turn(t, "one", 20_000)
    t.meta("last-prompt", leafUuid=OTHER)
    assert [1, 2] == analysed(folder, t).in_window()


def test_a_boundary_begins_the_window_anew(folder: ClaudeFolder) -> None:
    """The window is what came since the last boundary, summary included (D10)."""
    t = folder.main()
    turn(t, "one", 20_000)
    turn(t, "two", 160_000)
    t.boundary(pre=160_000, post=3_000)
    t.summary("so far: two things")
    turn(t, "three", 24_000)
    found = analysed(folder, t)
    assert [5, 6, 7] == found.in_window()
    (compaction,) = found.facts.compactions
    assert (5, 5, 160_000, 3_000) == (
        *(compaction.message, compaction.summary_message),
        *(compaction.pre_tokens, compaction.post_tokens),
    )
    assert found.facts.live_from == compaction


def test_two_compactions_in_a_row(folder: ClaudeFolder) -> None:
    """The second one's window holds the second summary only."""
    t = folder.main()
    turn(t, "one", 160_000)
    t.boundary()
    t.summary("first summary")
    t.boundary(trigger="manual", pre=9_000, post=2_000)
    t.summary("second summary")
    turn(t, "two", 22_000)
    found = analysed(folder, t)
    kept = [found.facts.text(b.id) for b in found.facts.blocks if b.in_window]
    assert ["second summary", "two", "answer to two"] == kept
    assert [3, 4] == [one.message for one in found.facts.compactions]


def test_preserved_messages_stay_in_the_window(folder: ClaudeFolder) -> None:
    """Messages that the boundary names are in the window though they came before it (D10)."""
    t = folder.main()
    turn(t, "one", 20_000)
    kept = [t.prompt("two"), t.response("answer to two", context=160_000)]
    t.boundary(post=3_000, preservedMessages={"allUuids": kept, "uuids": kept})
    t.summary()
    turn(t, "three", 24_000)
    assert [3, 4, 5, 6, 7] == analysed(folder, t).in_window()


def test_a_preserved_segment_stays_from_head_to_tail(folder: ClaudeFolder) -> None:
    """A boundary may name only the ends of what it preserves."""
    t = folder.main()
    turn(t, "one", 20_000)
    head = t.prompt("two")
    t.response("working", context=100_000)
    tail = t.response("answer to two", context=160_000)
    turn(t, "late", 161_000)
    t.boundary(post=3_000, preservedSegment={"headUuid": head, "tailUuid": tail})
    t.summary()
    turn(t, "three", 24_000)
    assert [3, 4, 5, 8, 9, 10] == analysed(folder, t).in_window()


def test_a_boundary_at_the_end_empties_the_window(folder: ClaudeFolder) -> None:
    """Nothing behind the boundary: the size is its postTokens and the fixed context, derived (D10)."""
    t = folder.main()
    turn(t, "one", 20_000)
    t.boundary(pre=160_000, post=3_000)
    found = analysed(folder, t)
    assert [] == found.in_window()
    assert "derived" == found.window.basis
    assert 3_000 + (found.window.fixed_context.tokens or 0) == found.window.size
    assert 20_000 - 1 == found.window.fixed_context.tokens


def test_microcompaction_takes_results_and_attachments_out(folder: ClaudeFolder) -> None:
    """Results and attachments named by a microcompaction leave the window; the uses stay (D10)."""
    t = folder.main()
    t.prompt("one")
    read = t.read("/home/ada/site/a.py", "x\n" * 400, context=20_000)
    note = t.attachment("hook_success", content="remember the milk")
    turn(t, "two", 30_000)
    meta = {"compactedToolIds": [read], "clearedAttachmentUUIDs": [note], "tokensSaved": 200}
    t.system("microcompact_boundary", microcompactMetadata=meta)
    turn(t, "three", 25_000)
    found = analysed(folder, t)
    assert [1, 2, 5, 6, 7, 8] == found.in_window()
    (use,) = found.facts.tool_uses
    assert not use.in_window
    assert 20_000 < found.window.size


def test_retracted_and_superseded_messages_leave_the_window(folder: ClaudeFolder) -> None:
    """Messages that a later record takes back are in no window."""
    t = folder.main()
    turn(t, "one", 20_000)
    draft = t.response("a draft", context=21_000)
    t.response("the real thing", context=21_000, supersedesUuids=[draft])
    wrong = t.prompt("oops")
    t.system("informational", content="taken back", retractedMessageUuids=[wrong])
    turn(t, "two", 22_000)
    assert [1, 2, 4, 6, 7] == analysed(folder, t).in_window()


def test_a_prompt_snapshot_is_the_fixed_context_itself(folder: ClaudeFolder) -> None:
    """The system prompt logged whole is counted once, as fixed context (D11)."""
    t = folder.main()
    t.attachment("prompt_snapshot", systemPrompt=["be kind " * 500], tools=[])
    turn(t, "one", 20_000)
    found = analysed(folder, t)
    assert [1, 2] == found.in_window()
    assert 20_000 - 1 == found.window.fixed_context.tokens


def test_parts_of_a_session_number_on(folder: ClaudeFolder, tmp_path: Path) -> None:
    """Two transcripts of one session without common records follow each other by time (D3)."""
    one = folder.main()
    turn(one, "one", 20_000)
    other = Transcript(
        start=START + timedelta(hours=1),
        cwd="/home/ada/elsewhere",
        path=folder.project_folder("/home/ada/elsewhere") / f"{SESSION}.jsonl",
    )
    other.ids.random()
    turn(other, "two", 25_000)
    found = analysed(folder, one, other)
    assert [1, 2, 3, 4] == [block.message for block in found.facts.blocks]
    assert [1, 2] == [call.ordinal for call in found.facts.calls]
    assert 4 == found.facts.session.messages
    assert [3, 4] == found.in_window(), "the second part begins anew"
    assert 25_020 == found.window.size


def test_a_part_that_goes_on_has_the_earlier_one_in_its_window(folder: ClaudeFolder) -> None:
    """A part whose first message has its parent in an earlier part continues that one's window."""
    one = folder.main()
    last = turn(one, "one", 20_000)
    other = Transcript(
        start=START + timedelta(hours=1),
        cwd="/home/ada/elsewhere",
        path=folder.project_folder("/home/ada/elsewhere") / f"{SESSION}.jsonl",
    )
    other.ids.random()
    other.parent = last
    turn(other, "two", 25_000)
    found = analysed(folder, one, other)
    assert [1, 2, 3, 4] == found.in_window()
    assert 4 == sum(block.in_window for block in found.facts.blocks)
    assert [1, 2, 3] == Analysed(folder.home / "index.db", until=3).in_window()


def test_the_last_human_prompt_of_the_window_is_the_user_category(folder: ClaudeFolder) -> None:
    """Which prompt is the last depends on the cut; earlier ones are conversation (D8)."""
    t = folder.main()
    turn(t, "one", 20_000)
    turn(t, "two", 21_000)
    t.prompt("<command-name>/cost</command-name>")
    found = analysed(folder, t)
    user = [found.facts.text(b.id) for b in found.facts.blocks if b.category == "user"]
    assert ["two"] == user
    earlier = Analysed(folder.home / "index.db", until=2).facts
    assert ["one"] == [earlier.text(b.id) for b in earlier.blocks if b.category == "user"]


def test_a_drop_without_any_marker_is_an_inferred_compaction(folder: ClaudeFolder) -> None:
    """More than 30,000 tokens fewer on one path, and no boundary in the transcript: inferred (D10)."""
    t = folder.main()
    turn(t, "one", 100_000)
    turn(t, "two", 70_001)
    turn(t, "three", 110_000)
    turn(t, "four", 60_000)
    found = analysed(folder, t)
    (inferred,) = found.facts.inferred
    assert ("heuristic", 7) == (inferred.detection, inferred.message)
    assert [] == found.facts.compactions
    assert [7, 8] == found.in_window()
    assert [False, False, False, True] == [call.live_epoch for call in found.facts.calls]
    t.boundary(pre=60_000, post=1_000)
    turn(t, "five", 21_000)
    assert [] == analysed(folder, t).facts.inferred


def test_a_summary_without_a_boundary_is_an_inferred_compaction(folder: ClaudeFolder) -> None:
    """A transcript that begins its window with a summary alone."""
    t = folder.main()
    turn(t, "one", 40_000)
    t.summary("what was said")
    turn(t, "two", 30_000)
    found = analysed(folder, t)
    assert ["summary"] == [one.detection for one in found.facts.inferred]
    assert [3, 4, 5] == found.in_window()


def test_a_trailing_call_of_crusts_is_left_out(folder: ClaudeFolder) -> None:
    """The call that asks, its result, what led to it and its prompt are not analysed, unless asked for."""
    t = folder.main()
    turn(t, "one", 20_000)
    t.prompt("what fills my window?")
    t.response("Let me look.", context=21_000)
    t.bash("crusts analyze --json", "{}", context=21_100)
    found = analysed(folder, t)
    assert 2 == found.facts.session.messages
    assert 3 + 1 == found.facts.trimmed
    assert 20_020 == found.window.size
    whole = Analysed(folder.home / "index.db", until=6)
    assert 6 == whole.facts.session.messages
    assert 0 == whole.facts.trimmed
    t.response("It is full of tools.", context=21_500)
    assert 7 == analysed(folder, t).facts.session.messages


def test_a_session_that_only_asks_crusts_is_not_trimmed_away(folder: ClaudeFolder) -> None:
    """With nothing else in it the session is analysed as it is."""
    t = folder.main()
    t.prompt("look")
    t.bash("crusts status", "ok", context=20_000)
    assert 3 == analysed(folder, t).facts.session.messages


def test_numbers_out_of_range_name_the_range(folder: ClaudeFolder) -> None:
    """--until beyond the last message says which numbers there are."""
    t = folder.main()
    turn(t, "one", 20_000)
    analysed(folder, t)
    with pytest.raises(CrustsError, match="1 to 2"):
        Analysed(folder.home / "index.db", until=3)
    with pytest.raises(CrustsError, match="no session"):
        Analysed(folder.home / "index.db", session="nobody")


def test_a_result_behind_the_cut_is_not_known(folder: ClaudeFolder) -> None:
    """Up to the call, its tool use has no result yet."""
    t = folder.main()
    t.prompt("one")
    t.read("/home/ada/site/a.py", "x\n" * 400, context=20_000)
    turn(t, "two", 21_000)
    analysed(folder, t)
    (use,) = Analysed(folder.home / "index.db", until=2).facts.tool_uses
    assert (None, 0, 0) == (use.result_record_id, use.result_tokens, use.result_block_tokens)
    assert 2 == use.use_message


def up_to(db: Path, transcript: Path, until: int) -> bytes:
    """The bytes of a transcript that holds messages 1 to `until` and the bookkeeping before them (D7).

    Lines that repeat a uuid count nowhere, and are left out: the first might be of a later message.
    """
    rows = ask(
        db,
        "select r.id & ((1 << 40) - 1), r.length, r.message, r.thread_id & ((1 << 20) - 1), r.is_duplicate"
        " from records r join transcripts t on t.id = r.transcript_id where t.path = ? order by r.id",
        str(transcript.resolve()),
    )
    data = transcript.read_bytes()
    own = [row for row in rows if row[2] is not None and row[3] == 0 and row[2] <= until]
    end = max(row[0] for row in own)
    kept = [row for row in rows if row in own or (row[0] < end and not row[4] and (row[2] is None or row[3] != 0))]
    return b"".join(data[start : start + length] + b"\n" for start, length, *_ in kept)


@pytest.mark.long
@examples(150)
@given(transcripts(odd=False, session=SESSION), st.integers(0, 40))
def test_until_is_the_analysis_of_a_shorter_transcript(transcript: Transcript, place: int) -> None:
    """`--until n` says what is said of a transcript that holds messages 1 to n only (D7)."""
    with scratch() as base:
        folder = ClaudeFolder(base / "whole")
        path = transcript.write(folder.project_folder(transcript.cwd) / f"{SESSION}.jsonl")
        db = new_store(base)
        index(db, folder.config)
        count = Analysed(db, trim=False).facts.session.messages
        if not count:
            return
        until = 1 + place % count
        shorter = ClaudeFolder(base / "shorter")
        cut = shorter.project_folder(transcript.cwd) / path.name
        cut.parent.mkdir(parents=True)
        cut.write_bytes(up_to(db, path, until))
        other = new_store(base, "other.db")
        index(other, shorter.config)
        if not ask(other, "select 1 from responses where thread_id & ((1 << 20) - 1) = 0 limit 1"):
            return  # whose tokenizer weighs what stands before a thread's first call, only that call tells (D9)
        assert Analysed(other, trim=False).json() == Analysed(db, until=until).json()
