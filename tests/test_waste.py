"""Waste in a window: each rule, each excuse, overlaps, cuts, and the overview over all sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crusts_index.insight.waste.find import SEVERITIES
from crusts_index.insight.waste.noise import rule_of
from crusts_index.insight.waste.thresholds import Thresholds, overrides_of, thresholds_of
from crusts_index.render.text import width
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript
from tests.conftest import Demo
from tests.picture import read
from tests.wasteful import LONG, PAGE, Wasteful, chat, three_kinds, wasteful

OTHER = "5e551002-0000-4000-8000-000000000002"
PATH = f"{CWD}/src/a.py"


# ---------------------------------------------------------------------- stale reads


def test_a_read_not_spoken_of_for_long_is_stale(folder: ClaudeFolder) -> None:
    """16 messages after its result; the item names the read's message, its tokens, and what to do."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 8)
    found = wasteful(folder, t)
    (item,) = found.of("stale_read")
    assert ("high", (3, 3), (3,), PATH, "Read") == (
        item.severity,
        item.message_range,
        item.messages,
        item.path,
        item.tool,
    )
    assert found.tokens(3) == item.estimated_tokens > 1_000
    assert '"a.py" read at #3, 16 messages ago' in item.description
    assert "estimated" == item.basis


def test_a_read_is_not_stale_before_its_time(folder: ClaudeFolder) -> None:
    """15 messages are not more than 15."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 7)
    t.prompt("so?")
    assert [] == wasteful(folder, t).of("stale_read")


@pytest.mark.parametrize(
    ("speak", "is_stale"),
    [
        pytest.param(lambda t: t.prompt("what of a.py?"), False, id="prompt"),
        pytest.param(lambda t: t.response("See src/a.py."), False, id="answer"),
        pytest.param(lambda t: t.bash("pytest src/a.py"), False, id="command"),
        pytest.param(lambda t: t.edit(PATH), False, id="edit"),
        pytest.param(lambda t: t.edit("src/a.py"), False, id="relative path"),
        pytest.param(lambda t: t.prompt("what of data.py?"), True, id="end of another name"),
        pytest.param(lambda t: t.prompt("what of a.pyc and a.py.bak?"), True, id="start of another name"),
        pytest.param(lambda t: t.edit(f"{CWD}/test/a.py"), True, id="another file of that name"),
        pytest.param(lambda t: t.bash("ls", "a.py\nb.py\n"), True, id="only a tool's result"),
        pytest.param(lambda t: t.call("Grep", {"pattern": "x", "path": PATH}, "none"), False, id="a tool's path"),
        pytest.param(lambda t: t.call("Task", {"prompt": "mend a.py"}, "mended"), False, id="a tool's input"),
    ],
)
def test_what_speaks_of_a_file(folder: ClaudeFolder, speak: Callable[[Transcript], Any], is_stale: bool) -> None:
    """Prompts, answers, tool paths and commands speak of a file; results do not (D13)."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 4)
    speak(t)
    chat(t, 6)
    assert is_stale == bool(wasteful(folder, t).of("stale_read"))


@pytest.mark.parametrize(
    ("name", "text", "spoken", "is_stale"),
    [
        pytest.param("live_view.ex", PAGE, "Mend live_view, please.", False, id="without extension"),
        pytest.param("SessionLive.ex", PAGE, "Mend SessionLive, please.", False, id="a capital inside"),
        pytest.param("settings.py", PAGE, "The settings are wrong.", True, id="a plain word"),
        pytest.param("a_b.py", PAGE, "a_b it is.", True, id="too short"),
        pytest.param("x.py", PAGE + "def fold_up(): unfold2()", "Call fold_up, then unfold2.", False, id="two words"),
        pytest.param("x.py", PAGE + "def fold_up(): unfold2()", "Call fold_up, then.", True, id="one word"),
        pytest.param("x.py", PAGE + "def lookup_one(): look_two()", "lookup_one, look_two", True, id="seen before"),
    ],
)
def test_other_ways_to_speak_of_a_file(folder: ClaudeFolder, name: str, text: str, spoken: str, is_stale: bool) -> None:
    """By its name without the extension where that is no plain word, or by two identifiers first seen in it (D13)."""
    t = folder.main()
    t.prompt("look around, at lookup_one and look_two too")
    t.read(f"{CWD}/{name}", text, context=20_000)
    chat(t, 4)
    t.response(spoken, context=30_000)
    chat(t, 6)
    assert is_stale == bool(wasteful(folder, t).of("stale_read"))


def test_a_small_read_is_not_stale(folder: ClaudeFolder) -> None:
    """Below 200 tokens nothing is gained."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, "x = 1\n" * 20, context=20_000)
    chat(t, 8)
    assert [] == wasteful(folder, t).of("stale_read")


def test_nothing_is_stale_where_the_transcript_is_gone(folder: ClaudeFolder) -> None:
    """What it was may have been spoken of by what stood in it, which cannot be told any more."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 8)
    db = read(folder, t)
    t.path.unlink()
    assert [] == Wasteful(db).of("stale_read")


def test_nothing_is_stale_where_no_text_is_kept(folder: ClaudeFolder) -> None:
    """Without text it cannot be told that nothing spoke of a file."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 8)
    t.write()
    home = folder.home / ".claude-crusts"
    home.mkdir()
    (home / "config.json").write_text('{"keepText": false}')
    found = folder.crusts("waste", "--json").json()
    assert [] == [item for item in found["waste"] if item["type"] == "stale_read"]


# ---------------------------------------------------------------------- duplicate reads


def again(folder: ClaudeFolder, between: Callable[[Transcript], Any] = lambda t: None, **second: Any) -> Transcript:
    """A file read, something done, the file read again."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    between(t)
    t.read(PATH, second.pop("text", PAGE), context=24_000, **second)
    t.response(LONG + " a.py", context=26_000)
    return t


def test_the_later_of_two_reads_is_the_waste(folder: ClaudeFolder) -> None:
    """It is costed by its own result, at its own message."""
    found = wasteful(folder, again(folder))
    (item,) = found.of("duplicate_read")
    assert ("medium", (5,), PATH, found.tokens(5)) == (item.severity, item.messages, item.path, item.estimated_tokens)
    assert '"a.py" read 2 times; #5 brought nothing new' in item.description


def test_a_small_reread_is_of_low_severity(folder: ClaudeFolder) -> None:
    """Below 200 tokens: it counts, and nobody is told to compact for it."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, "x = 1\n" * 20, context=20_000)
    t.read(PATH, "x = 1\n" * 20, context=21_000)
    t.response(LONG + " a.py", context=22_000)
    found = wasteful(folder, t)
    assert [("low", True)] == [(item.severity, item.is_counted) for item in found.of("duplicate_read")]
    assert [] == found.actions


def test_parallel_reads_are_costed_each_by_its_own_result(folder: ClaudeFolder) -> None:
    """Two reads in one response: the results are told apart by their tool use ids."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    uses = [t.tool_use("Read", {"file_path": path}) for path in (f"{CWD}/b.py", PATH)]
    t.response(*uses, context=22_000)
    t.tool_result(uses[0]["id"], "short\n")
    t.tool_result(uses[1]["id"], PAGE)
    t.response(LONG + "a.py", context=24_000)
    found = wasteful(folder, t)
    (item,) = found.of("duplicate_read")
    assert ((6,), found.tokens(6)) == (item.messages, item.estimated_tokens)


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(lambda t: t.edit(PATH), id="Edit"),
        pytest.param(lambda t: t.call("Write", {"file_path": PATH, "content": "x"}), id="Write"),
        pytest.param(lambda t: t.call("MultiEdit", {"file_path": PATH, "edits": []}), id="MultiEdit"),
        pytest.param(lambda t: t.call("NotebookEdit", {"notebook_path": PATH, "new_source": "x"}), id="NotebookEdit"),
    ],
)
def test_a_read_after_an_edit_is_no_reread(folder: ClaudeFolder, between: Callable[[Transcript], Any]) -> None:
    """Whichever tool edits, its notebook path included."""
    found = wasteful(folder, again(folder, between))
    assert ([], []) == (found.of("duplicate_read"), found.excuses())


def test_a_failed_edit_changes_nothing(folder: ClaudeFolder) -> None:
    """A read after it is a re-read; one after an edit that went through before it is not."""
    found = wasteful(folder, again(folder, lambda t: t.edit(PATH, is_error=True)))
    assert 1 == len(found.of("duplicate_read"))


def test_a_failed_edit_after_a_good_one(folder: ClaudeFolder) -> None:
    """The good one still stands between the reads."""

    def both(t: Transcript) -> None:
        t.edit(PATH)
        t.edit(PATH, is_error=True)

    assert [] == wasteful(folder, again(folder, both)).of("duplicate_read")


def test_another_part_of_the_file_is_no_reread(folder: ClaudeFolder) -> None:
    """Offset and limit are part of what is read."""
    found = wasteful(folder, again(folder, offset=100, limit=50))
    assert ([], []) == (found.of("duplicate_read"), found.excuses())


def test_a_read_on_a_branch_that_was_left_is_not_there(folder: ClaudeFolder) -> None:
    """After a rewind the earlier read is not in the window, so the later one is no re-read."""
    t = folder.main()
    t.prompt("hello")
    start = t.response("Hello.", context=20_000)
    t.prompt("read it", parentUuid=start)
    t.read(PATH, PAGE, context=21_000)
    t.prompt("no, read it differently", parentUuid=start)
    t.read(PATH, PAGE, context=21_000)
    t.response(LONG + "a.py", context=23_000)
    found = wasteful(folder, t)
    assert ([], []) == (found.of("duplicate_read"), found.excuses())


@pytest.mark.parametrize(
    ("first", "second", "excuse"),
    [
        pytest.param({}, {"text": PAGE + "more\n"}, "the file was changed outside the agent", id="changed"),
        pytest.param(
            {"text": "Error: no such file", "is_error": True},
            {},
            "the earlier result was an error, a stub or cut short",
            id="error",
        ),
    ],
)
def test_excuses(folder: ClaudeFolder, first: dict[str, Any], second: dict[str, Any], excuse: str) -> None:
    """A re-read with an excuse is told with its size, and counts nothing."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, first.pop("text", PAGE), context=20_000, **first)
    t.read(PATH, second.pop("text", PAGE), context=24_000, **second)
    t.response(LONG + "a.py", context=26_000)
    found = wasteful(folder, t)
    assert [(excuse, found.tokens(5), (5,))] == found.excuses()
    assert [] == found.of("duplicate_read")
    assert 0 == sum(item.estimated_tokens for item in found.waste)


def test_the_first_read_after_a_compaction_is_excused_and_the_second_is_not(folder: ClaudeFolder) -> None:
    """The compaction dropped what was read before it."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    t.boundary("auto", 21_000, 800)
    t.summary("We looked around.")
    t.read(PATH, PAGE, context=24_000)
    t.read(PATH, PAGE, context=26_000)
    t.response(LONG + "a.py", context=28_000)
    found = wasteful(folder, t)
    assert [("first read since a compaction dropped the earlier one", found.tokens(6), (6,))] == found.excuses()
    assert [(8,)] == [item.messages for item in found.of("duplicate_read")]


def test_a_read_of_what_was_taken_out_is_excused(folder: ClaudeFolder) -> None:
    """A microcompaction cleared the earlier result."""
    t = folder.main()
    t.prompt("look around")
    first = t.read(PATH, PAGE, context=20_000)
    t.system(
        "microcompact_boundary",
        microcompactMetadata={"compactedToolIds": [first], "clearedAttachmentUUIDs": [], "tokensSaved": 900},
    )
    t.read(PATH, PAGE, context=24_000)
    t.response(LONG + "a.py", context=26_000)
    found = wasteful(folder, t)
    assert ["the earlier result had been taken out of the context"] == [excuse for excuse, _, _ in found.excuses()]
    assert [] == found.of("duplicate_read")


def test_a_read_that_another_thread_made_before_is_excused(folder: ClaudeFolder) -> None:
    """What a subagent read is in its own context only."""
    t = folder.main()
    t.prompt("look around")
    agent = folder.subagent(clock=t.clock)
    agent.prompt("look")
    agent.read(PATH, PAGE, context=9_000)
    t.read(PATH, PAGE, context=24_000)
    t.response(LONG + "a.py", context=26_000)
    found = wasteful(folder, t, agent)
    assert [("the earlier read was another agent's", found.tokens(3), (3,))] == found.excuses()


# ---------------------------------------------------------------------- resolved exchanges


def settled(folder: ClaudeFolder, thanks: str) -> Transcript:
    """A question, work on it, an answer, and a last prompt."""
    t = folder.main()
    t.prompt("why does the build fail?")
    t.bash("make", "error: no rule to make target\n" * 300, context=24_000)
    t.response("A rule is missing; now there is one. " + LONG, context=27_000)
    t.prompt(thanks)
    t.response("Good.", context=28_000)
    return t


def test_a_short_word_of_thanks_settles_what_led_to_it(folder: ClaudeFolder) -> None:
    """All of it but the thanks themselves; the range holds both ends, numbered from 1."""
    found = wasteful(folder, settled(folder, "That works, thanks!"))
    (item,) = found.of("resolved_exchange")
    assert ("high", (1, 5), (1, 2, 3, 4)) == (item.severity, item.message_range, item.messages)
    assert found.tokens(1, 2, 3, 4) == item.estimated_tokens > 500


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("that is not fixed", id="negated"),
        pytest.param("it isn't fixed", id="n't"),
        pytest.param("the prefixed names are greatly wrong", id="inside a word"),
        pytest.param("go on", id="no phrase"),
        pytest.param("thanks " + "and then do the next of the many things on that list " * 2, id="100 characters"),
        pytest.param("great, now the writer", id="and something else"),
        pytest.param("perfect, is it pushed?", id="a question"),
    ],
)
def test_what_settles_nothing(folder: ClaudeFolder, said: str) -> None:
    """A phrase within a word, a negated one, and a prompt that is not short."""
    assert [] == wasteful(folder, settled(folder, said)).of("resolved_exchange")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda t: None, id="none yet"),
        pytest.param(lambda t: t.bash("git push", "done", context=28_000), id="a tool"),
        pytest.param(
            lambda t: t.response("Good: no_such_rule and rule_of_thumb are gone.", context=28_000), id="about it"
        ),
    ],
)
def test_thanks_that_settle_nothing(folder: ClaudeFolder, answer: Callable[[Transcript], Any]) -> None:
    """Where the answer uses a tool, is not there yet, or what was said before is spoken of again (D13)."""
    t = folder.main()
    t.prompt("why does the build fail?")
    t.bash("make", "error: no_such_rule, rule_of_thumb\n" * 300, context=24_000)
    t.response("A rule is missing; now there is one. " + LONG, context=27_000)
    t.prompt("thanks")
    answer(t)
    assert [] == wasteful(folder, t).of("resolved_exchange")


def test_a_small_exchange_is_left_alone(folder: ClaudeFolder) -> None:
    """500 tokens or fewer are not worth a word."""
    t = folder.main()
    t.prompt("hello")
    t.response("Hello.", context=20_000)
    t.prompt("thanks")
    assert [] == wasteful(folder, t).of("resolved_exchange")


def test_thanks_twice_count_each_message_once(folder: ClaudeFolder) -> None:
    """The second has only what the first did not take, and must be worth it."""
    t = settled(folder, "thanks")
    t.prompt("great, thank you")
    t.response("Good.", context=29_000)
    found = wasteful(folder, t)
    assert [(1, 2, 3, 4)] == [item.messages for item in found.of("resolved_exchange")]


def test_what_the_model_says_settles_nothing(folder: ClaudeFolder) -> None:
    """Only a human prompt does; a notification is none."""
    t = settled(folder, "<task-notification>thanks</task-notification>")
    t.response("Fixed!", context=29_000)
    assert [] == wasteful(folder, t).of("resolved_exchange")


# ---------------------------------------------------------------------- the other rules


LISTING = "".join(f"/srv/data/part{n:04d}/table_{n}.bin\n" for n in range(200))


def unused(t: Transcript) -> Transcript:
    """A prompt and a large listing."""
    t.prompt("look")
    t.bash("ls -R /srv", LISTING, context=20_000)
    return t


def test_an_unused_result_is_told_and_never_summed(folder: ClaudeFolder) -> None:
    """A large result after which the turn ends with next to nothing said."""
    t = unused(folder.main())
    t.response("Done.", context=24_000)
    found = wasteful(folder, t)
    (item,) = [item for item in found.waste if item.type == "unused_result"]
    assert ("info", (3, 3), "Bash") == (item.severity, item.message_range, item.tool)
    assert (0, found.tokens(3), False) == (item.estimated_tokens, item.excused_tokens, item.is_counted)
    assert item.excused_tokens >= 1_000


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda t: t.bash("ls", "f\n" * 100, context=20_000), id="below 1,000 tokens"),
        pytest.param(lambda t: t.call("Grep", {"pattern": "x"}, LISTING, context=20_000), id="retrieval"),
        pytest.param(lambda t: t.bash("ls", LISTING, context=20_000, is_error=True), id="error"),
        pytest.param(lambda t: t.call("Edit", {"file_path": PATH}, LISTING, context=20_000), id="edit"),
        pytest.param(lambda t: t.bash("cd /x && pytest -q", LISTING, context=20_000), id="run for its verdict"),
        pytest.param(lambda t: t.bash("sudo make install", LISTING, context=20_000), id="run for its effect"),
    ],
)
def test_what_is_no_unused_result(folder: ClaudeFolder, use: Callable[[Transcript], Any]) -> None:
    """Small ones, those of tools that retrieve or act, errors, and what is run for its effect or its verdict."""
    t = folder.main()
    t.prompt("list it")
    use(t)
    t.response("Done.", context=24_000)
    assert [] == [item for item in wasteful(folder, t).waste if item.type == "unused_result"]


@pytest.mark.parametrize(
    ("after", "is_unused"),
    [
        pytest.param(lambda t: t.response(LONG, context=25_000), False, id="said"),
        pytest.param(lambda t: t.bash("wc -c part0017", "9", context=25_000), False, id="a word of it in a command"),
        pytest.param(lambda t: t.bash("true", "", context=25_000), True, id="nothing of it"),
        pytest.param(lambda t: t.response("Done.", context=25_000), True, id="a short word"),
    ],
)
def test_what_makes_use_of_a_result(folder: ClaudeFolder, after: Callable[[Transcript], Any], is_unused: bool) -> None:
    """Something said within five messages, or a word first seen in it in the next inputs (D13)."""
    t = unused(folder.main())
    after(t)
    for turn in range(3):
        t.bash("true", "", context=26_000 + turn)
    t.response("Done.", context=27_000)
    assert is_unused == any(item.type == "unused_result" for item in wasteful(folder, t).waste)


def test_a_result_is_not_judged_while_the_turn_goes_on(folder: ClaudeFolder) -> None:
    """The model may still speak of it."""
    t = unused(folder.main())
    t.bash("true", "", context=21_000)
    assert [] == [item for item in wasteful(folder, t).waste if item.type == "unused_result"]


def test_oversized_instructions(folder: ClaudeFolder, tmp_path: Path) -> None:
    """CLAUDE.md above the threshold: what is above it, in every call."""
    project = tmp_path / "site"
    project.mkdir()
    (project / "CLAUDE.md").write_text("Do it well, and do it so. " * 600)
    t = folder.main(project=str(project))
    t.prompt("hello")
    t.response("Hello.", context=40_000)
    t.response("Well.", context=41_000)
    t.write()
    os.utime(project / "CLAUDE.md", (1_700_000_000, 1_700_000_000))
    found = folder.crusts("waste", "--json").json()
    (item,) = [item for item in found["waste"] if item["type"] == "oversized_system"]
    assert ("medium", 3_900 - 1_500, str(project / "CLAUDE.md")) == (
        item["severity"],
        item["estimated_tokens"],
        item["path"],
    )
    assert 2 * 2_400 == item["carried_tokens"]


def test_oversized_instructions_where_something_else_changed_since(folder: ClaudeFolder, tmp_path: Path) -> None:
    """The size of CLAUDE.md is known by itself: settings that are newer than the session take nothing from it."""
    project = tmp_path / "site"
    (project / ".claude").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("Do it well, and do it so. " * 600)
    (project / ".claude" / "settings.json").write_text("{}")
    t = folder.main(project=str(project))
    t.prompt("hello")
    t.response("Hello.", context=40_000)
    t.write()
    os.utime(project / "CLAUDE.md", (1_700_000_000, 1_700_000_000))
    found = folder.crusts("waste", "--json").json()["waste"]
    assert [2_400] == [item["estimated_tokens"] for item in found if item["type"] == "oversized_system"]


def test_cache_reads_are_no_finding(folder: ClaudeFolder) -> None:
    """They are what makes a window cheap."""
    t = folder.main()
    t.prompt("hello")
    t.response("Hello.", context=40_000)
    assert [] == wasteful(folder, t).waste


def test_a_session_without_anything_has_no_waste(folder: ClaudeFolder) -> None:
    """One prompt, no call."""
    t = folder.main()
    t.prompt("hello")
    found = wasteful(folder, t)
    assert ([], None) == (found.waste, found.window.health)


# ---------------------------------------------------------------------- overlaps, cuts, carrying


def test_an_overlap_goes_to_the_higher_severity(folder: ClaudeFolder) -> None:
    """A re-read within a settled exchange is counted there and nowhere else."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 6)
    t.read(PATH, PAGE, context=40_000)
    t.response("a.py is as it was.", context=42_000)
    t.prompt("perfect")
    t.response("Good.", context=42_500)
    found = wasteful(folder, t)
    (item,) = found.of("resolved_exchange")
    assert 17 in item.messages
    assert [] == found.of("duplicate_read")


def test_the_worst_comes_first(folder: ClaudeFolder) -> None:
    """By severity, then by tokens."""
    found = wasteful(folder, three_kinds(folder)).waste
    ranks = [(SEVERITIES.index(item.severity), -item.estimated_tokens) for item in found]
    assert sorted(ranks) == ranks
    assert {"stale_read", "duplicate_read", "resolved_exchange"} <= {item.type for item in found}


def test_only_the_window_since_the_last_compaction_is_looked_at(folder: ClaudeFolder) -> None:
    """What was dropped wastes nothing any more."""
    t = three_kinds(folder)
    t.boundary("auto", 150_000, 900)
    t.summary("All done.")
    t.prompt("next")
    t.response("Yes.", context=20_000)
    found = wasteful(folder, t)
    assert [] == [item for item in found.waste if item.estimated_tokens]


@pytest.mark.long
def test_until_is_the_waste_of_a_session_that_ended_there(folder: ClaudeFolder, tmp_path: Path) -> None:
    """Cut at each message, the waste is that of a transcript cut there."""
    t = three_kinds(folder)
    lines = t.lines()
    db = read(folder, t)
    for number in range(1, len(lines) + 1):  # each line is a message here
        short = ClaudeFolder(tmp_path / str(number))
        part = short.main()
        part.pieces = lines[:number]
        assert wasteful(short, part).waste == Wasteful(db, until=number).waste


def test_carried_cost_counts_later_calls_of_the_path(folder: ClaudeFolder) -> None:
    """Tokens times the calls after the one that they came after, at the price of a cache read."""
    t = again(folder)
    t.response("More.", context=27_000)
    t.response("More yet.", context=28_000)
    found = wasteful(folder, t)
    (item,) = found.of("duplicate_read")
    assert 3 * item.estimated_tokens == item.carried_tokens
    prices = [call.cache_read_usd for call in found.facts.calls][-3:]
    if None in prices:
        assert item.carried_usd is None
    else:
        assert pytest.approx(item.estimated_tokens * sum(prices) / 1e6) == item.carried_usd


def test_a_trailing_call_of_crusts_is_no_part_of_it(folder: ClaudeFolder) -> None:
    """Its own output is not what fills the window."""
    t = again(folder)
    before = wasteful(folder, t).waste
    t.prompt("what wastes my window?")
    t.bash("crusts waste", "waste\n" * 300, context=29_000)
    assert before == wasteful(folder, t).waste


PIECES = st.sampled_from(["read a", "read b", "edit a", "thanks", "chat", "bash", "compact", "rewind", "fail"])


@pytest.mark.long
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=30))
def test_waste_is_part_of_the_window_and_each_token_is_counted_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    """Over random sessions: no message wastes more than it has, all together no more than the content."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("random"))
    t = folder.main()
    t.prompt("begin")
    start = t.response("Yes, let us begin with it.", context=20_000)
    for step, piece in enumerate(pieces):
        context = 21_000 + 500 * step
        match piece:
            case "read a" | "read b":
                t.read(f"{CWD}/{piece[-1]}.py", PAGE, context=context)
            case "edit a":
                t.edit(f"{CWD}/a.py", context=context)
            case "thanks":
                t.prompt("thanks")
            case "chat":
                t.prompt("and then?")
                t.response(LONG, context=context)
            case "bash":
                t.bash("ls", "file\n" * 100, context=context)
            case "compact":
                t.boundary("auto", context, 900)
                t.summary("So far so good.")
            case "rewind":
                t.prompt("rather so", parentUuid=start)
            case "fail":
                t.edit(f"{CWD}/a.py", is_error=True, context=context)
    found = wasteful(folder, t)
    content = sum(block.tokens for block in found.facts.blocks if block.in_window)
    assert sum(item.estimated_tokens for item in found.waste if item.type != "oversized_system") <= content
    for item in found.waste:
        assert item.estimated_tokens <= found.tokens(*item.messages) or item.type == "oversized_system"
        assert item.carried_tokens >= 0
        assert item.excuse is None or item.estimated_tokens == 0
        if item.message_range:
            first, last = item.message_range
            assert 1 <= first <= last <= found.facts.session.messages
    by_message: dict[int, int] = {}
    for item in found.waste:
        if len(item.messages) == 1:
            by_message[item.messages[0]] = by_message.get(item.messages[0], 0) + item.estimated_tokens
    assert all(tokens <= found.tokens(number) for number, tokens in by_message.items())


# ---------------------------------------------------------------------- thresholds


def test_thresholds_of_config() -> None:
    """Finite numbers above 0 count, everything else gives way to the default."""
    given = {"staleReadThreshold": 30, "oversizedSystemThreshold": float("inf")}
    found = thresholds_of({"wasteThresholds": given | {"resolutionLookback": True, "claudeMdOversizedThreshold": "9"}})
    assert Thresholds(stale_read=30) == found
    assert ["staleReadThreshold 30 (default 15)"] == overrides_of(found)
    assert Thresholds() == thresholds_of({"wasteThresholds": [1]}) == thresholds_of({})


def test_thresholds_change_what_is_found(folder: ClaudeFolder) -> None:
    """From config.json, told with --verbose."""
    t = folder.main()
    t.prompt("look around")
    t.read(PATH, PAGE, context=20_000)
    chat(t, 3)
    t.write()
    assert [] == [i for i in folder.crusts("waste", "--json").json()["waste"] if i["type"] == "stale_read"]
    config = folder.home / ".claude-crusts" / "config.json"
    config.write_text(json.dumps({"wasteThresholds": {"staleReadThreshold": 5}}))
    done = folder.crusts("waste", "--json", "--verbose")
    assert ["stale_read"] == [i["type"] for i in done.json()["waste"] if i["severity"] == "high"]
    assert "staleReadThreshold 5 (default 15)" in done.err


# ---------------------------------------------------------------------- the command


def test_golden(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """What a person reads of the demo's sessions, at 100 columns, and of all of them."""
    ids = [row["session"] for row in demo.crusts("list", "--json").json()["sessions"]]
    pages = [demo.crusts("waste", "--no-index", session, COLUMNS="100").out for session in sorted(ids)]
    golden("waste.txt", "\n".join(pages))
    golden("waste_all.txt", demo.crusts("waste", "--no-index", "--all", COLUMNS="100").out)
    found = demo.crusts("waste", "--no-index", sorted(ids)[-1], "--json").json()
    golden("waste.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_no_line_is_wider_than_the_terminal(folder: ClaudeFolder, columns: int) -> None:
    """Text is wrapped or cut to the terminal's width."""
    three_kinds(folder).write()
    for command in (("waste",), ("waste", "--all"), ("optimize",)):
        done = folder.crusts(*command, COLUMNS=str(columns))
        assert 0 == done.code, done.err
        loose = [line for line in done.out.splitlines() if width(line) > columns and "/compact" not in line]
        assert [] == loose


def test_names_in_transcripts_do_no_harm_on_a_terminal(folder: ClaudeFolder) -> None:
    """Escape sequences and control characters never come out."""
    t = folder.main()
    t.prompt("look around")
    t.read(f"{CWD}/\x1b[31mred\x07.py", PAGE, context=20_000)
    t.read(f"{CWD}/\x1b[31mred\x07.py", PAGE, context=22_000)
    chat(t, 9)
    t.write()
    for command in (("waste",), ("waste", "--all"), ("fix",), ("optimize",), ("analyze",)):
        done = folder.crusts(*command, COLUMNS="100")
        assert 0 == done.code, done.err
        assert "\x1b" not in done.out
        assert "\x07" not in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--until", "0"), 2, "not the number of a message"),
        (("--until", "7d"), 2, "a time needs --all"),
        (("--until", "999"), 1, "numbered 1 to 2"),
        (("--since", "7d"), 2, "--since goes with --all"),
        (("--all", "5e55"), 2, "name none"),
        (("--all", "--until", "soon"), 2, "cannot read 'soon'"),
        (("nope",), 1, "no session begins with 'nope'"),
    ],
)
def test_wrong_usage(folder: ClaudeFolder, arguments: tuple[str, ...], code: int, said: str) -> None:
    """One line that says what is wrong."""
    t = folder.main()
    t.prompt("hello")
    t.response("Hello.", context=20_000)
    t.write()
    done = folder.crusts("waste", *arguments)
    assert (code, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert said in done.err


def test_json_has_the_keys_that_programs_rely_on(folder: ClaudeFolder) -> None:
    """`{waste, recommendations}` with the number of messages from 1, beside what else there is."""
    three_kinds(folder).write()
    found = folder.crusts("waste", "--json").json()
    assert {"schema_version", "sessionId", "waste", "recommendations", "files", "contents"} <= found.keys()
    assert {"recommendations", "estimated_messages_until_compaction", "context_health"} <= found[
        "recommendations"
    ].keys()
    assert found["wasteTokens"] == sum(item["estimated_tokens"] for item in found["waste"])
    for item in found["waste"]:
        assert {"type", "severity", "description", "estimated_tokens", "recommendation"} <= item.keys()


# ---------------------------------------------------------------------- all sessions


def test_all_sessions_by_habit(folder: ClaudeFolder) -> None:
    """Each wasted result under one habit; a copy of a session counts nothing again. A command line that fails has said
    what it was run for."""
    first = again(folder)
    first.write()
    second = folder.main(OTHER)
    second.prompt("look")
    second.read(f"{CWD}/node_modules/x/index.js", PAGE, context=20_000)
    second.bash("make", "same\n" * 100, context=22_000)
    second.bash("make", "same\n" * 100, context=23_000)
    second.bash("make it", "no\n" * 100, is_error=True, context=23_500)
    second.call(
        "Edit", {"file_path": f"{CWD}/a.py"}, "String to replace not found in file. " * 9, is_error=True, context=24_000
    )
    second.bash("ls", "file\n" * 200, context=25_000)
    second.response("Done.", context=26_000)
    second.write()
    copy = folder.main("5e551003-0000-4000-8000-000000000003")
    copy.copy(first.lines(), forked=True)
    copy.write()
    found = folder.crusts("waste", "--all", "--json").json()
    assert {"duplicate_read": 1, "noise_read": 1, "repeated_call": 1, "failed_call": 1} == {
        row["habit"]: row["wasted_uses"] for row in found["habits"]
    }
    total = found["total"]
    assert total["wasted_tokens"] == sum(row["wasted_tokens"] for row in found["habits"])
    assert (8, 4, 2) == (total["uses"], total["wasted_uses"], total["sessions"])
    assert {"Read": 2, "Bash": 1, "Edit": 1} == {row["tool"]: row["wasted_uses"] for row in found["tools"]}
    assert {PATH, f"{CWD}/node_modules/x/index.js"} == {row["file"] for row in found["files"]}
    assert {SESSION, OTHER} == {row["session"] for row in found["sessions"]}


@pytest.mark.parametrize(
    ("between", "rereads"),
    [
        pytest.param(lambda t: None, 1, id="nothing"),
        pytest.param(lambda t: t.edit(PATH), 0, id="edit"),
        pytest.param(lambda t: t.edit(PATH, is_error=True), 1, id="failed edit"),
        pytest.param(lambda t: (t.edit(PATH), t.edit(PATH, is_error=True)), 0, id="edit and failed edit"),
        pytest.param(lambda t: (t.boundary(), t.summary()), 0, id="compaction"),
    ],
)
def test_all_sessions_knows_the_same_rereads(
    folder: ClaudeFolder, between: Callable[[Transcript], Any], rereads: int
) -> None:
    """Edits, failed edits and excuses count as they do for one session."""
    again(folder, between).write()
    found = folder.crusts("waste", "--all", "--json").json()
    assert rereads == sum(row["wasted_uses"] for row in found["habits"] if row["habit"] == "duplicate_read")
    one = folder.crusts("waste", "--json").json()["waste"]
    assert rereads == sum(item["type"] == "duplicate_read" and item["excuse"] is None for item in one)


def test_all_sessions_of_a_rewound_session(folder: ClaudeFolder) -> None:
    """A read on a branch that was left is not there for the branch that was taken; one before the fork is."""
    t = folder.main()
    t.prompt("read it")
    t.read(PATH, PAGE, context=20_000)
    start = t.response("Read a.py.", context=22_000)
    t.prompt("and b", parentUuid=start)
    t.read(f"{CWD}/b.py", PAGE, context=23_000)
    t.prompt("rather so", parentUuid=start)
    t.read(f"{CWD}/b.py", PAGE, context=23_000)
    t.read(PATH, PAGE, context=24_000)
    t.write()
    found = folder.crusts("waste", "--all", "--json").json()
    assert [(PATH, 1)] == [(row["file"], row["wasted_uses"]) for row in found["files"]]


def test_all_sessions_of_a_project_and_a_period(folder: ClaudeFolder) -> None:
    """--project and the period cut what is counted."""
    again(folder).write()
    elsewhere = folder.main(OTHER, project="/home/ada/shop")
    elsewhere.prompt("look")
    elsewhere.read("/home/ada/shop/dist/x.js", PAGE, context=20_000)
    elsewhere.write()
    assert 1 == folder.crusts("waste", "--all", "--json", "--project", "shop").json()["total"]["wasted_uses"]
    assert 2 == folder.crusts("waste", "--all", "--json").json()["total"]["wasted_uses"]
    empty = folder.crusts("waste", "--all", "--json", "--since", "2027-01-01").json()
    assert (0, []) == (empty["total"]["uses"], empty["habits"])
    assert "No tool results in this period." in folder.crusts("waste", "--all", "--since", "2027-01-01").out


NOISY = [
    "node_modules/x.js",
    "src/node_modules/x.js",
    "dist/a",
    "a/build/b.c",
    ".next/x",
    "target/debug/x",
    ".git/config",
    "yarn.lock",
    "sub/Cargo.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "src\\build\\x",
]
QUIET = ["src/a.py", "builder/x", "dist.py", "my-dist/x", "lock.py", "file.lock", "targets/x", "gitconfig", "x.git/y"]


def test_noise_is_the_same_for_one_session_and_for_all(folder: ClaudeFolder) -> None:
    """The paths that Python takes for noise are those that SQL does; what lies above the project says nothing."""
    project = "/home/ada/build/site"
    t = folder.main(project=project)
    t.prompt("look")
    for path in [*NOISY, *QUIET]:
        t.read(f"{project}/{path}", "text\n" * 30, context=20_000)
    t.write()
    found = folder.crusts("waste", "--all", "--json").json()
    assert {f"{project}/{path}" for path in NOISY} == {row["file"] for row in found["files"]}
    assert NOISY == [path for path in [*NOISY, *QUIET] if rule_of(f"{project}/{path}", project)]
