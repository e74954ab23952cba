"""The bands of the curve: at each call what the window held before it, by category, and what made it grow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from crusts_index.insight.session.facts import CATEGORIES, Facts
from crusts_index.insight.session.loading import load
from crusts_index.insight.window.buckets import scaled
from crusts_index.insight.window.contents import contents_of
from crusts_index.insight.window.curve import curve_of, largest_steps
from crusts_index.insight.window.fixed import FixedContext
from crusts_index.insight.window.framing import Framing
from crusts_index.insight.window.judge import window_of
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript, weighs
from tests.picture import index, new_store, read, scratch
from tests.profiles import examples
from tests.strategies import transcripts

PAGE = "one line of code = 1\n" * 150
NOTHING = FixedContext(None, 0, 0, 0, 0, None, None, 0, 0, "")
UNFRAMED = Framing(None, ())


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """An empty config folder."""
    return ClaudeFolder(tmp_path)


class Asked:
    """A store that stays open, for facts up to many messages."""

    def __init__(self, db: Path) -> None:
        self._store = open_store(db)

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def facts(self, until: int | None = None) -> Facts:
        """The session's facts up to a message, a trailing call of crusts included."""
        return load(partial(query.rows, self._store), SESSION, until, trim=False)


def loaded(db: Path) -> Facts:
    """The whole session's facts."""
    with Asked(db) as asked:
        return asked.facts()


def told_and_counted(db: Path, most: int = 1_000) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """By call: its content by the curve, and the window of a transcript that ends right before it.

    Left out is where the two differ by rights: a compaction is inferred from what comes after it, or only as long as no
    boundary has come, and a cut after a message leaves out a boundary or a removal that follows.
    """
    with Asked(db) as asked:
        facts = asked.facts()
        if facts.inferred:
            return []
        window = window_of(facts)
        fixed = window.fixed_context.by_category
        ends = {block.message: block.record_id for block in facts.blocks if block.on_path}
        events = [one.id for one in facts.compactions] + [one.record_id for one in facts.removals]
        found = []
        for point in curve_of(facts, window)[-most:]:
            last = max((message for message in ends if message < point.call.message), default=None)
            if any(event in range(ends.get(last or 0, 0), point.call.record_id) for event in events):
                continue
            told = tuple(tokens - fixed.get(name, 0) for name, tokens in zip(CATEGORIES, point.content, strict=True))
            counted = dict.fromkeys(CATEGORIES, 0)
            if last is not None:
                cut = asked.facts(last)
                if cut.inferred:
                    continue
                counted = dict(contents_of(cut, NOTHING, current=True).tokens)
            found.append((told, tuple(counted[name] for name in CATEGORIES)))
        return found


def eventful(folder: ClaudeFolder) -> Transcript:
    """Prompts, reads, a rewind, something taken out, a compaction that preserves, and tools loaded."""
    t = folder.main()
    t.attachment("skill_listing", content="- deploy: ship it\n" * 20, skillCount=1, isInitial=True)
    t.prompt("look at the parser, please, and say what is wrong")
    t.read(f"{CWD}/parser.py", PAGE, context=22_000)
    start = t.response("It walks the tree twice.", context=24_000)
    t.prompt("rewrite it all")
    t.bash("rm -rf build", "gone\n" * 300, context=25_000)
    t.prompt("no, only the walk", parentUuid=start)
    big = t.read(f"{CWD}/walk.py", PAGE, context=25_500)
    t.bash("make", "ok\n" * 200, context=27_500)
    t.system("microcompact_boundary", microcompactMetadata={"trigger": "auto", "compactedToolIds": [big]})
    t.prompt("is it smaller?")
    t.response("Smaller now.", context=26_000)
    kept = t.prompt("and the tests")
    t.response("They pass.", context=26_500)
    t.boundary(pre=26_600, post=900, preservedMessages={"anchorUuid": kept, "uuids": [kept]})
    t.summary("The walk was rewritten.")
    t.read(f"{CWD}/walk.py", PAGE, context=21_500)
    t.prompt("thanks")
    t.response("Good.", context=24_000)
    return t


def test_a_call_carries_what_the_window_held_before_it(folder: ClaudeFolder) -> None:
    """Call by call the same as cutting the transcript before the call and counting its window."""
    found = told_and_counted(read(folder, eventful(folder)))
    assert 8 == len(found)
    for told, counted in found:
        assert counted == told


@given(made=transcripts())
@examples(20)
def test_it_holds_for_any_transcript(made: Any) -> None:
    """Whatever is in it: rewinds, interleaved answers, boundaries, replays."""
    with scratch() as place:
        folder = ClaudeFolder(place)
        made.write(folder.project_folder(CWD) / f"{SESSION}.jsonl")
        db = new_store(place)
        index(db, folder.config)
        for told, counted in told_and_counted(db, most=5):
            assert counted == told


def test_a_prompt_is_the_user_s_until_the_next_one(folder: ClaudeFolder) -> None:
    """Then it is conversation; in the window after a compaction there is none before one is typed."""
    t = folder.main()
    t.prompt("x" * 400)
    t.response("a", context=20_000)
    t.prompt("y" * 80)
    t.response("b", context=20_200)
    t.boundary(pre=20_300)
    t.summary("s")
    t.response("c", context=19_000)
    facts = loaded(read(folder, t))
    points = curve_of(facts, window_of(facts))
    user = [dict(zip(CATEGORIES, point.content, strict=True))["user"] for point in points]
    assert [weighs("x" * 400), weighs("y" * 80), 0] == user
    assert [None, 200, None] == [point.growth for point in points]


def test_bands_add_up_to_the_context_or_are_not_told(folder: ClaudeFolder) -> None:
    """Scaled as the window's categories are, within 0.7 to 1.4 of it; else there are none."""
    facts = loaded(read(folder, eventful(folder)))
    for point in curve_of(facts, window_of(facts)):
        assert point.bands is not None
        assert point.call.context_tokens == sum(point.bands)
    assert [7, 3] == scaled((6, 3), 10)
    assert scaled((6, 3), 6) is None
    assert scaled((6, 3), 13) is None
    assert scaled((0, 0), 10) is None


def test_the_largest_steps_name_what_came(folder: ClaudeFolder) -> None:
    """Most growth first, with the largest block between that call and the one before."""
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.prompt(
        "look at what is big, and tell me why it is so much bigger than all the rest of it put together; "
        "and then say what to do about it, file by file, without a word too many"
    )
    t.read(f"{CWD}/big.py", PAGE, context=20_100)
    t.bash("ls", "a\n", context=23_000)
    t.response("done", context=23_100)
    facts = loaded(read(folder, t))
    steps = largest_steps(facts, curve_of(facts, window_of(facts)), 2)
    assert [(3, 2_900), (2, 100)] == [(step.point.number, step.point.growth) for step in steps]
    assert (f"{CWD}/big.py", f"{CWD}/big.py") == (steps[0].what, steps[0].path)
    assert "last prompt" == steps[1].what
