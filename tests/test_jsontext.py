"""The reader of JSON on the quick paths: what `json` reads it reads, what `json` refuses it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples

READ = "import sys\nfrom crusts_index.jsontext import loads\nassert 'json' not in sys.modules\n"

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def read_apart(texts: list[str]) -> list[str]:
    """What the reader makes of each text, in a process into which nothing has brought `json`."""
    code = (
        READ + "for text in eval(sys.stdin.read()):\n"
        "    try:\n        print(ascii(loads(text)))\n"
        "    except (ValueError, RecursionError):\n        print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=ascii(texts), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@given(st.lists(VALUES, min_size=50, max_size=60))
@examples(3)
def test_every_value_comes_back(values: list[object]) -> None:
    """Whatever `json` writes is read as what it was, in either spelling."""
    texts = [json.dumps(value, ensure_ascii=number % 2 == 0) for number, value in enumerate(values)]
    assert list(map(ascii, values)) == read_apart(texts)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "{", "[1,]", '{"a"}', "nul", "1 2", "{}x", '"\\q"', "{'a': 1}", "\ufeff{}", "[" * 100_000, "1" * 5_000],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    """Cut, glued or alien text is an error that the caller expects, and no other."""
    assert ["refused"] == read_apart([text])


def test_odd_but_readable() -> None:
    """Blank around, half a surrogate pair, NaN and control characters in a text are let through."""
    assert ["{'a': [1.5]}", "'\\ud800'", "nan", "'a\\tb'"] == read_apart(
        [' \n{"a": [1.5]}\r\n', '"\\ud800"', "NaN", '"a\tb"']
    )
