"""Text and numbers for people: what is stripped, how wide it is, how numbers are shortened."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index import plain
from crusts_index.render import text

HOSTILE = st.text(st.sampled_from(list("ab [];?0m\\\x07\x1b\x90\x9b\x9c\x9d\n\r\t\x00\u202e\u2066\u200dé漢\ud800")))


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPsixel\x1b\\after", "after"),
        ("\x1b]never ended", "never ended"),
        ("\x1b(Bcharset", "charset"),
        ("a\x00b\x08c\x7fd\x85e", "abcd e"),
        ("two\nlines\tand  gaps ", "two lines and gaps"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("broken \ud800 half", "broken \ufffd half"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("naïve – 漢字", "naïve – 漢字"),
    ],
)
def test_clean_makes_one_safe_line(given_text: str, expected: str) -> None:
    """Escape sequences go whole, lone controls go, line ends become spaces, letters of all scripts stay."""
    assert expected == text.clean(given_text)


@given(HOSTILE)
def test_nothing_that_controls_a_terminal_survives(hostile: str) -> None:
    """No control, bidi or surrogate character comes out, and cleaning again changes nothing."""
    cleaned = plain.lines(hostile)
    assert not [c for c in cleaned if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not set(cleaned) & set("\u202e\u2066")
    assert cleaned == plain.lines(cleaned)


def test_clean_lines_keeps_lines_and_tabs() -> None:
    """The form for several lines keeps line ends, as \\n, and tabs."""
    assert "a\nb\nc\td" == plain.lines("a\r\nb\rc\td")


@pytest.mark.parametrize(("shown", "columns"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("🎉", 2), ("", 0)])
def test_width_counts_columns(shown: str, columns: int) -> None:
    """Wide characters take two columns, combining marks none."""
    assert columns == text.width(shown)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [(20, "漢字 and text"), (13, "漢字 and text"), (12, "漢字 and te…"), (4, "漢…"), (1, "…"), (0, "")],
)
def test_shorten_ends_with_an_ellipsis_where_it_cuts(columns: int, expected: str) -> None:
    """Text that fits is left alone; a wide character is not cut in half."""
    assert expected == text.shorten("漢字 and text", columns)


@given(st.text(), st.integers(0, 30))
def test_shortened_text_fits(long: str, columns: int) -> None:
    """The result never takes more columns than asked for."""
    assert text.width(text.shorten(long, columns)) <= columns


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (12_345, "12.3k"),
        (99_950, "100k"),
        (123_456, "123k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_234_567, "1.2M"),
        (-12_345, "-12.3k"),
        (None, "–"),
    ],
)
def test_tokens_keep_about_three_digits(value: int | None, expected: str) -> None:
    """Tokens are shown with a unit, rounded, never as 1000 of a unit."""
    assert expected == text.tokens(value)


def test_numbers_money_and_shares_have_one_form() -> None:
    """Thousands are separated, dollars have two decimals, shares one; what is unknown is a dash."""
    assert ["1,234,567", "1,234.5678", "0"] == [text.number(v) for v in (1_234_567, 1234.56784, 0)]
    assert ["$1,234.50", "<$0.01", "$0.00", "-$2.00"] == [text.usd(v) for v in (1234.5, 0.001, 0, -2)]
    assert ["12.3%", "100.0%"] == [text.percent(v) for v in (0.1234, 1)]
    assert ["950 B", "1.5 KB", "1.0 MB"] == [text.size(v) for v in (950, 1536, 1024 * 1024)]
    for form in (text.number, text.tokens, text.size, text.usd, text.percent):
        assert [form(v) for v in (None, math.nan, math.inf)] == [text.NULL] * 3


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (0, "now"),
        (59, "59m"),
        (60, "1h"),
        (1439, "23h"),
        (1440, "1d"),
        (13 * 1440, "13d"),
        (14 * 1440, "2w"),
        (364 * 1440, "52w"),
        (365 * 1440, "1y"),
        (-5, "now"),
    ],
)
def test_age_is_told_in_its_largest_unit(minutes: int, expected: str) -> None:
    """Ages are rounded down; a clock that ran backwards is now."""
    assert expected == text.age(minutes * 60_000)
