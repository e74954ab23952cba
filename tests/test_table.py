"""Rows as tables, JSON and CSV: alignment and width, safe cells, no NaN."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.render import csvout, jsonout
from crusts_index.render.table import table
from crusts_index.render.text import width

COLUMNS = ["file_path", "tool", "calls", "cost_usd", "cache_read_share"]
ROWS = [
    ["/home/someone/a/very/long/path/to/a/file_with_a_name.py", "Read", 12_345, 1.5, 0.25],
    ["1e5", None, 1, None, math.nan],
]


def test_a_table_without_a_width_shows_everything() -> None:
    """Numbers to the right with thousands, dollars and shares by the column's name, null as a dash."""
    expected = """\
file_path                                                tool   calls  cost_usd  cache_read_share
-------------------------------------------------------  ----  ------  --------  ----------------
/home/someone/a/very/long/path/to/a/file_with_a_name.py  Read  12,345     $1.50             25.0%
1e5                                                      –          1         –                 –"""
    assert expected == table(COLUMNS, ROWS)


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_a_table_fits_its_width_by_shrinking_text(columns: int) -> None:
    """The widest text gets shorter; every number stays whole."""
    lines = table(COLUMNS, ROWS, columns).splitlines()
    assert columns >= max(map(width, lines))
    assert "12,345" in lines[2]
    assert "$1.50" in lines[2]


def test_numbers_too_wide_for_the_terminal_become_blocks() -> None:
    """Where numbers alone do not fit, each row is a block of lines that do."""
    expected = """\
file_path         /home/someone/a/very/…
tool              Read
calls             12,345
cost_usd          $1.50
cache_read_share  25.0%

file_path         1e5"""
    assert table(COLUMNS, ROWS, 40).startswith(expected)


def test_cells_cannot_break_out_of_their_table() -> None:
    """Line ends and escape sequences in a cell or a column's name do not reach the terminal."""
    shown = table(["a\x1b[2J"], [["x\ny\x1b]0;t\x07z"]])
    assert ["a", "---", "x yz"] == [line.rstrip("-") or line[:3] for line in shown.splitlines()]


def test_a_table_without_rows_has_its_head() -> None:
    """No rows: the columns' names and a rule."""
    assert ["a  b", "-  -"] == table(["a", "b"], [], 80).splitlines()


# Characters on whose width terminals agree: plain, wide, combining.
SHOWN = st.text(st.sampled_from("ab é漢ｗ🎉\u0301"), max_size=30)
CELL = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())


@given(st.lists(st.tuples(SHOWN, st.integers(0, 10**6)), max_size=5), st.integers(24, 60))
def test_any_text_fits(rows: list[tuple[str, int]], columns: int) -> None:
    """Narrow, wide and combining text is cut so that no line is wider than asked for."""
    assert columns >= max(map(width, table(["text", "number"], rows, columns).splitlines()))


def test_json_names_its_schema_first() -> None:
    """One object, compact in a pipe and indented on a terminal, with text as it is."""
    value = {"a": [1, "é"], "b": None}
    assert '{"schema_version":1,"a":[1,"é"],"b":null}' == jsonout.encode(value, indent=False)
    assert '{\n  "schema_version": 1,\n  "a": [\n    1,\n    "é"\n  ],\n  "b": null\n}' == jsonout.encode(
        value, indent=True
    )


@pytest.mark.long
@given(st.recursive(CELL, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_always_valid_and_safe(value: object) -> None:
    """No NaN, no control character, no half character, whatever the value; and the value comes back."""
    encoded = jsonout.encode_plain(value)
    assert jsonout.finite(value) == json.loads(encoded, parse_constant=pytest.fail)
    assert not [c for c in encoded if ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000]


def test_rows_become_records() -> None:
    """Columns are the keys of each row's object."""
    assert [{"a": 1, "b": 2}] == jsonout.records(["a", "b"], [(1, 2)])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        (-5, "-5"),
        ("a=b", "a=b"),
        (None, ""),
        (math.nan, ""),
        ("a\x1b[31mb", "ab"),
        ("two\nlines", "two\nlines"),
        ('say "hi", you', 'say "hi", you'),
    ],
)
def test_csv_cells_are_data_and_never_formulas(cell: object, expected: str) -> None:
    """What a spreadsheet would run is marked as text; numbers are left alone."""
    assert [["h", "x"], [expected, "x"]] == list(csv.reader(io.StringIO(csvout.encode(["h", "x"], [[cell, "x"]]))))
