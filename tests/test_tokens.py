"""Token estimates and shares (D9) and the size of results (X-size)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.transcript.tokens import is_code, spread, text_tokens
from tests.builders import OMIT, ClaudeFolder, Transcript, image_block, text_block, thinking_block, usage
from tests.picture import ask, one, read, scratch
from tests.profiles import examples

BLOCKS = "select kind, chars, estimate, tokens, is_exact from blocks order by id"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A main transcript."""
    return folder.main()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("a" * 4, 1),
        ("a" * 5, 2),
        ("word " * 20, 25),
        ("x = {}", 2),
        ("f();" * 33, 40),
        ("f();" * 33 + "x", 41),
        ("import os", 3),
        ("important", 3),
        ("\U0001f9ea" * 4, 1),
        ("é" * 8, 2),
    ],
)
def test_a_text_by_its_characters(text: str, tokens: int) -> None:
    """Code 3.3 and prose 4.0 Unicode code points a token, rounded up."""
    assert tokens == text_tokens(text) == math.ceil(round(len(text) / (3.3 if is_code(text) else 4.0), 9))


@examples(100)
@given(st.text(max_size=300))
def test_any_text_by_its_characters(text: str) -> None:
    """The integer arithmetic is that of the sentence: ceil(characters / divisor), exactly."""
    count = len(text)
    assert (-(-count * 10 // 33) if is_code(text) else -(-count // 4)) == text_tokens(text)


def test_images_and_documents(folder: ClaudeFolder, t: Transcript) -> None:
    """An image 1,500 whatever its size; a document its base64 length / 4; both in a prompt and in a result."""
    document = {"type": "document", "source": {"type": "base64", "data": "A" * 4_001}}
    t.prompt([text_block("look"), image_block("A" * 9_000), document])
    t.tool_result("toolu_a", [text_block("abcd"), image_block(), document])
    db = read(folder, t)
    assert [("text", 4, 1, 1, 0), ("image", 0, 1500, 1500, 0), ("document", 0, 1001, 1001, 0)] == ask(db, BLOCKS)[:3]
    assert 1 + 1500 + 1001 == ask(db, BLOCKS)[3][2]


def test_nested_blocks_each_round_up(folder: ClaudeFolder, t: Transcript) -> None:
    """Each nested block has its own divisor and its own rounding."""
    t.tool_result("toolu_a", [text_block("abcde"), text_block("f();f"), "bare", text_block("")])
    assert [("tool_result", 14, 2 + 2 + 1, 5, 0)] == ask(read(folder, t), BLOCKS)


def test_a_tool_use_counts_its_raw_input_name_and_id(folder: ClaudeFolder, t: Transcript) -> None:
    """The JSON as logged, the name and the id, as code."""
    block = {"type": "tool_use", "id": "toolu_a", "name": "Bash", "input": {"command": "ls"}}
    t.response(block, usage=OMIT)
    chars = len('{"command":"ls"}') + len("Bash") + len("toolu_a")
    assert [("tool_use", chars, math.ceil(chars / 3.3), math.ceil(chars / 3.3), 0)] == ask(read(folder, t), BLOCKS)


@pytest.mark.parametrize(
    ("content", "chars", "tokens"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("f();", 4, 1),
        ("a" * 8 + "\U0001f9ea", 9, 3),
        ([text_block("abc"), text_block("de")], 5, 2),
        ([text_block("abc"), image_block(), image_block()], 3, 3_001),
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


def shares(db: Path) -> list[tuple[int, int]]:
    """Tokens and exactness of each block."""
    return ask(db, "select tokens, is_exact from blocks order by id")


def test_output_is_spread_in_proportion(folder: ClaudeFolder, t: Transcript) -> None:
    """In proportion to the estimates, by largest remainder: the sum is the billed output."""
    t.response("a" * 40, "b" * 20, usage=usage(1, output=100))
    assert [(67, 1), (33, 1)] == shares(read(folder, t))


def test_logged_thinking_tokens_go_to_the_thinking_block(folder: ClaudeFolder, t: Transcript) -> None:
    """The rest is spread over the others."""
    counted = usage(1, output=100, output_tokens_details={"thinking_tokens": 70})
    t.response(thinking_block(), "a" * 40, "b" * 40, usage=counted)
    assert [(70, 1), (15, 1), (15, 1)] == shares(read(folder, t))


def test_empty_thinking_takes_what_is_left(folder: ClaudeFolder, t: Transcript) -> None:
    """Without logged thinking tokens: output − the other estimates, at least 0."""
    t.response(thinking_block(), "a" * 40, usage=usage(1, output=100))
    t.response(thinking_block(), "a" * 40, usage=usage(1, output=6))
    assert [(90, 1), (10, 1), (0, 1), (6, 1)] == shares(read(folder, t))


def test_thinking_with_a_text_shares_by_its_text(folder: ClaudeFolder, t: Transcript) -> None:
    """Its estimate counts as any text's."""
    t.response(thinking_block("c" * 40), "a" * 40, usage=usage(1, output=50))
    assert [(25, 1), (25, 1)] == shares(read(folder, t))


def test_a_placeholder_leaves_the_estimates(folder: ClaudeFolder, t: Transcript) -> None:
    """An output below half of the estimates is none: blocks keep theirs, labelled estimated; half is enough."""
    t.response("a" * 40, "b" * 40, usage=usage(1, output=9))
    t.response("a" * 40, "b" * 40, usage=usage(1, output=10))
    assert [(10, 0), (10, 0), (5, 1), (5, 1)] == shares(read(folder, t))


def test_all_estimates_zero_puts_everything_on_the_first_block(folder: ClaudeFolder, t: Transcript) -> None:
    """An empty thinking block and an empty text, no thinking logged."""
    t.response({"type": "text", "text": ""}, {"type": "text", "text": ""}, usage=usage(1, output=7))
    assert [(7, 1), (0, 1)] == shares(read(folder, t))


def test_lines_that_come_later_spread_the_output_anew(folder: ClaudeFolder, t: Transcript) -> None:
    """The first line indexed alone with its placeholder, the second later: shares of the whole."""
    t.response("a" * 40, usage=usage(1, output=1), request="req_a", message="msg_a")
    db = read(folder, t)
    assert [(10, 0)] == shares(db)
    t.response("b" * 40, usage=usage(1, output=50), request="req_a", message="msg_a")
    assert [(25, 1), (25, 1)] == shares(read(folder, t))


parts = st.lists(st.tuples(st.integers(0, 5_000), st.booleans(), st.booleans()), min_size=1, max_size=8)


@examples(200)
@given(st.integers(0, 50_000), st.none() | st.integers(0, 50_000), parts)
def test_exact_shares_add_up_to_the_output(
    output: int, thinking: int | None, drawn: list[tuple[int, bool, bool]]
) -> None:
    """Exact shares sum to the output, never one below 0; else each block keeps its estimate, estimated."""
    blocks = [(0 if thinks and empty else size, thinks, thinks and empty) for size, thinks, empty in drawn]
    found = spread(output, thinking, blocks)
    assert len(blocks) == len(found)
    assert all(tokens >= 0 for tokens, _ in found)
    if any(exact for _, exact in found):
        assert all(exact for _, exact in found)
        assert output == sum(tokens for tokens, _ in found)
    else:
        assert [size for size, _, _ in blocks] == [tokens for tokens, _ in found]
