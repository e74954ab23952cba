"""Token estimates and shares as the store has them (D9), and the size of results (X-size)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    OMIT,
    ClaudeFolder,
    Transcript,
    image_block,
    picture,
    text_block,
    thinking_block,
    usage,
    weighs,
)
from tests.picture import ask, assert_same, one, read, scratch, small_stretches
from tests.picture import picture as picture_of

BLOCKS = "select kind, soft, marks, extra, estimate, tokens, is_exact from blocks order by id"
ESTIMATES = "select kind, estimate from blocks order by id"
OLD, NEW = "claude-opus-4-5-20251101", "claude-opus-4-8"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A main transcript, of a model with the older tokenizer."""
    return folder.main(model=OLD)


def estimates(folder: ClaudeFolder, t: Transcript) -> list[tuple[str, int]]:
    """Kind and estimate of each block."""
    return ask(read(folder, t), ESTIMATES)


def test_what_is_kept_of_each_block(folder: ClaudeFolder, t: Transcript) -> None:
    """Two integers of its text, and beside them keys of an input, length of a signature, tokens of pictures."""
    t.prompt([text_block("look: é"), image_block(picture(200, 200)), {"type": "document", "source": {"data": "A" * 9}}])
    use = t.tool_use("Read", {"file_path": "/a.py", "limit": 2})
    t.response(thinking_block("hm", signature="s" * 500), "Well, yes.", use, usage=OMIT)
    t.tool_result(use["id"], [text_block("1\tx\n"), image_block(picture(75, 100)), text_block("y;")])
    given = '{"file_path":"/a.py","limit":2}'
    assert [
        ("text", 6 + 2, 1, 0, 3, 3, 0),
        ("image", 0, 0, 88, 88, 88, 0),
        ("document", 0, 0, 3, 3, 3, 0),
        ("thinking", 2, 0, 500, 65, 65, 0),
        ("text", 9, 2, 0, 7, 7, 0),
        ("tool_use", len(given), 6, 2, 72, 72, 0),
        ("tool_result", 2 + 2, 1 + 2 + 1, 45, 23 + 45, 68, 0),
    ] == ask(read(folder, t), BLOCKS)
    assert 72 == weighs(given, around=49 + 2 * 5, factor=1)


def test_a_use_is_measured_as_it_was_logged(folder: ClaudeFolder, t: Transcript) -> None:
    """Escapes and all; neither its name nor its id weigh anything."""
    block = {"type": "tool_use", "id": "toolu_a", "name": "Bash", "input": {"command": "a\nb"}}
    t.response(block, usage=OMIT)
    logged = '{"command":"a\\nb"}'
    assert [("tool_use", weighs(logged, around=49 + 5, factor=1))] == estimates(folder, t)


@pytest.mark.parametrize("name", ["Task", "Agent", "WebFetch", "WebSearch"])
def test_what_a_model_wrote_for_a_tool_weighs_less(folder: ClaudeFolder, t: Transcript, name: str) -> None:
    """0.92 of what any other result of that text weighs."""
    t.call("Bash", {}, "word " * 200, usage=OMIT)
    t.call(name, {}, "word " * 200, usage=OMIT)
    _, (_, other), _, (_, found) = estimates(folder, t)
    assert (weighs("word " * 200, around=18, factor=1), round(0.92 * (0.207 * 800 + 18))) == (other, found)


def test_what_no_text_tells(folder: ClaudeFolder, t: Transcript) -> None:
    """A task reminder that renders to nothing 135, the result of EnterPlanMode 1,040 more, a hook without content 0."""
    t.prompt("go")
    t.attachment("task_reminder", content=[], itemCount=0)
    t.attachment("task_reminder", envelope={"rendered": []}, content=[{"subject": "a"}])
    t.attachment("hook_success", hookName="Stop", hookEvent="Stop", content="", stdout="x", exitCode=0)
    t.call("EnterPlanMode", {}, "Entered.", usage=OMIT)
    found = ask(read(folder, t), "select b.kind, b.estimate, r.message is not null from blocks b"
                " join records r on r.id = b.record_id order by b.id")  # fmt: skip
    assert [
        ("text", 0, 1),
        ("attachment", 135, 0),
        ("attachment", 135, 0),
        ("tool_use", 51, 1),
        ("tool_result", weighs("Entered.", around=18, factor=1) + 1_040, 1),
    ] == found


def test_an_attachment_weighs_what_it_renders_to(folder: ClaudeFolder, t: Transcript) -> None:
    """Text by text, and the pictures in it."""
    t.attachment("date", envelope={"rendered": [{"content": "one, two"}, {"content": "three"}]})
    shown = [text_block("see"), image_block(picture(1_568, 1_568))]
    t.attachment("queued_command", prompt=shown, commandMode="prompt")
    assert [("attachment", 12, 1, 0, 4), ("attachment", 3, 0, 1_635, 1_636)] == [
        row[:5] for row in ask(read(folder, t), BLOCKS)
    ]


def test_an_unreadable_picture_weighs_as_before(folder: ClaudeFolder, t: Transcript) -> None:
    """1,500 where its header tells no size, or it is not in the transcript."""
    t.prompt([image_block("iVBORw0KGgo="), {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}])
    assert [("image", 1_500), ("image", 1_500)] == estimates(folder, t)


# by whose model


def test_each_block_has_the_model_of_its_answer(folder: ClaudeFolder) -> None:
    """An answer's own, for all else that of the answer before it; what stands before the first that of the first."""
    t = folder.main()
    texts = ["a" * 1_000, "b" * 1_000, "c" * 1_000, "d" * 1_000, "e" * 1_000]
    t.prompt(texts[0])
    t.response(texts[1], model=OLD, usage=usage(1))
    t.prompt(texts[2])
    t.response(texts[3], model=NEW, usage=usage(1))
    t.prompt(texts[4])
    old, new = (weighs("a" * 1_000, factor=factor) for factor in (1, 1.38))
    answers = [weighs("a" * 1_000, around=3, factor=factor) for factor in (1, 1.38)]
    assert [old, answers[0], old, answers[1], new] == [row[1] for row in estimates(folder, t)]


def test_a_thread_of_its_own_has_its_own_model(folder: ClaudeFolder) -> None:
    """A sidechain's prompt goes by the sidechain's answer."""
    t = folder.main(model=OLD)
    t.prompt("a" * 1_000)
    t.response("b", context=10)
    side = t.sidechain()
    side.prompt("c" * 1_000)
    side.response("d", context=10, model=NEW)
    t.prompt("e" * 1_000)
    db = read(folder, t)
    found = ask(db, "select estimate from blocks where chars = 1000 order by id")
    assert [(207,), (286,), (207,)] == found


@pytest.mark.parametrize("size", [200, 1_000, 5_000])
def test_a_model_that_is_told_later(folder: ClaudeFolder, size: int) -> None:
    """However the transcript is split into stretches and runs, a first answer's model holds for what stood before."""
    with scratch() as home, small_stretches(size):
        whole, parts = ClaudeFolder(home), folder
        pictures = []
        for place, is_split in ((whole, False), (parts, True)):
            t = place.main()
            steps = [
                lambda t=t: t.prompt("a" * 1_000),
                lambda t=t: t.attachment("date", envelope={"rendered": [{"content": "b " * 300}]}),
                lambda t=t: t.response("c" * 900, usage=OMIT),
                lambda t=t: t.response("c" * 900, usage=usage(5, output=300), model=NEW),
                lambda t=t: t.prompt("d" * 1_000),
            ]
            for step in steps:
                step()
                if is_split:
                    db = read(place, t)
            db = read(place, t)
            pictures.append(picture_of(db, place.config))
        assert_same(*pictures)
    assert [286, 86, 261, 300, 286] == [row[0] for row in ask(db, "select tokens from blocks order by id")]


# shares of the billed output


def shares(db: Path) -> list[tuple[int, int]]:
    """Tokens and exactness of each block."""
    return ask(db, "select tokens, is_exact from blocks order by id")


def test_output_is_spread_in_proportion(folder: ClaudeFolder, t: Transcript) -> None:
    """In proportion to the estimates, by largest remainder: the sum is the billed output."""
    t.response("a" * 400, "b" * 200, usage=usage(1, output=150))
    assert [86, 44] == [weighs(letter, around=3, factor=1) for letter in ("a" * 400, "b" * 200)]
    assert [(99, 1), (51, 1)] == shares(read(folder, t))


def test_logged_thinking_tokens_go_to_the_thinking_block(folder: ClaudeFolder, t: Transcript) -> None:
    """The rest is spread over the others."""
    counted = usage(1, output=100, output_tokens_details={"thinking_tokens": 70})
    t.response(thinking_block(), "a" * 40, "b" * 40, usage=counted)
    assert [(70, 1), (15, 1), (15, 1)] == shares(read(folder, t))


def test_thinking_has_its_share_by_its_signature(folder: ClaudeFolder, t: Transcript) -> None:
    """Without logged thinking tokens."""
    t.response(thinking_block(signature="s" * 675), "a" * 469, usage=usage(1, output=500))
    assert [(250, 1), (250, 1)] == shares(read(folder, t))


def test_a_placeholder_leaves_the_estimates(folder: ClaudeFolder, t: Transcript) -> None:
    """An output below 0.7 of the estimates is none: blocks keep theirs, and the call says so; 0.7 is enough."""
    size = weighs("a" * 469, around=3, factor=1)
    assert 100 == size
    t.response("a" * 469, usage=usage(1, output=69))
    t.response("a" * 469, usage=usage(1, output=70))
    db = read(folder, t)
    assert [(100, 0), (70, 1)] == shares(db)
    assert [(1,), (0,)] == ask(db, "select is_placeholder from responses order by id")
    assert [(1,), (0,)] == ask(db, "select is_placeholder from api_calls order by id")


def test_an_answer_that_was_cut_off_leaves_the_estimates(folder: ClaudeFolder, t: Transcript) -> None:
    """Whatever output it logged."""
    t.response("a" * 469, usage=usage(1, output=2_000), isAbortedMidStream=True)
    db = read(folder, t)
    assert [(100, 0)] == shares(db)
    assert (1, 1) == one(db, "select is_aborted, is_placeholder from responses")


def test_lines_that_come_later_spread_the_output_anew(folder: ClaudeFolder, t: Transcript) -> None:
    """The first line indexed alone with its placeholder, the second later: shares of the whole."""
    t.response("a" * 400, usage=usage(1, output=1), request="req_a", message="msg_a")
    db = read(folder, t)
    assert ([(86, 0)], 1) == (shares(db), one(db, "select is_placeholder from responses"))
    t.response("b" * 400, usage=usage(1, output=150), request="req_a", message="msg_a")
    db = read(folder, t)
    assert ([(75, 1), (75, 1)], 0) == (shares(db), one(db, "select is_placeholder from responses"))


@pytest.mark.parametrize(
    ("content", "chars", "tokens"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("f();", 4, 1),
        ("a" * 8 + "\U0001f9ea", 9, 3),
        ([text_block("abc"), text_block("de")], 5, 2),
        ([text_block("abc"), image_block(picture(9, 9)), image_block()], 3, 3_001),
        ([{"type": "tool_reference", "tool_name": "mcp__x__y"}], 0, 0),
        ([{"type": "document", "source": {"data": "A" * 400}}], 0, 0),
        (None, 0, 0),
        ([], 0, 0),
    ],
)
def test_the_size_of_a_result(folder: ClaudeFolder, t: Transcript, content: Any, chars: int, tokens: int) -> None:
    """X-size: ceil(sum of characters of the text parts / 4) + 1,500 an image; a tool reference is 0."""
    t.call("Bash", {"command": "x"}, content, context=10)
    assert (chars, tokens) == one(read(folder, t), "select result_chars, result_tokens from tool_uses")


def test_the_worked_example_sizes(folder: ClaudeFolder, t: Transcript) -> None:
    """Sizes add up over the parts before they are divided: 3 + 3 characters are 2 tokens, not 2 times 1."""
    t.call("Bash", {"command": "x"}, [text_block("abc"), text_block("abc")], context=10)
    assert 2 == one(read(folder, t), "select result_tokens from tool_uses")
