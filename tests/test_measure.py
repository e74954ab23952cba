"""The two integers of a text from which its tokens are estimated (D9)."""

import re
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.transcript.measure import measure, measure_json
from tests.profiles import examples

# Pieces that meet the rules' edges: white space of every kind, bytes of two to four, marks beside letters.
_BLANKS = (" ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u2028", "\u3000", "\x1f", "\x85")
_PIECES = st.sampled_from((*_BLANKS, *'a é – … 漢 🧪 1 { " _ \\ a1b2'.split(), "–\u2009–", "\ud83e"))
_TEXTS = st.text(max_size=120) | st.lists(_PIECES, max_size=60).map("".join)


def plain(text: str) -> tuple[int, int]:
    """The definition, character by character."""
    seen = [character for character in text if not character.isspace()]
    size = sum(3 if "\ud800" <= one <= "\udfff" else len(one.encode()) for one in text)
    runs = re.findall(r"[0-9!-/:-@\[-`{-~]+", text)
    return len(seen) + 2 * (size - len(text)), len(runs) + 2 * text.count("\n")


@pytest.mark.parametrize(
    ("text", "soft", "marks"),
    [
        ("", 0, 0),
        ("go on", 4, 0),
        ("  \t ", 0, 0),
        ("x = {}", 4, 2),
        ("12:30, or 1.5\n", 11, 4),
        ("a\r\n\nb", 2, 4),
        ("café", 4 + 2, 0),
        ("漢字", 2 + 2 * 4, 0),
        ("🧪", 1 + 2 * 3, 0),
        ("a\u00a0b", 2 + 2, 0),
    ],
)
def test_a_text_by_what_stands_in_it(text: str, soft: int, marks: int) -> None:
    """soft: visible characters + 2 × bytes beyond one each; marks: runs of digits and punctuation + 2 × line ends."""
    assert (soft, marks) == measure(text)


@examples(300)
@given(_TEXTS)
def test_any_text_as_the_definition_says(text: str) -> None:
    """Whatever the characters, what is counted quickly is what the definition counts."""
    assert plain(text) == measure(text)


@examples(15)
@given(_TEXTS, st.integers(-3, 3), _PIECES)
def test_a_long_text_is_cut_nowhere(text: str, past: int, filler: str) -> None:
    """Around every place where a long text is looked at in pieces it is counted as one text."""
    long = filler * ((1 << 15) // len(filler) + past) + text
    assert plain(long) == measure(long)
    assert plain(long * 2) == measure(long * 2)


def test_every_white_space_there_is() -> None:
    """What Python takes for white space is counted as none of the text."""
    for code in (*range(0xD800), *range(0xE000, 0x3100), *range(0xE000, 0x11000)):
        if chr(code).isspace():
            assert plain(chr(code)) == measure(chr(code))
    blanks = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace())
    assert plain(f"a{blanks}b") == measure(f"a{blanks}b")


@examples(100)
@given(_TEXTS.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_json_as_its_bytes_say(text: str) -> None:
    """JSON is measured on its bytes; what is no UTF-8 in it counts as U+FFFD."""
    assert measure(text) == measure_json(text.encode())
    assert measure("\ufffd" + text) == measure_json(b"\xff" + text.encode())


def test_what_it_needs_stays_small() -> None:
    """The most memory that measuring takes is a few copies of the text, also where every byte begins a run."""
    for piece in ("a1", "–\u2009", "\n"):
        text = piece * ((4 << 20) // len(piece.encode()))
        tracemalloc.start()
        try:
            measure(text)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 12 << 20
