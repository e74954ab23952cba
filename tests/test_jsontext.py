"""JSON on the quick paths: what `json` reads or writes is read and written alike, what it refuses is refused."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.jsontext import dumps
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


WRITE = "import sys\nfrom crusts_index.jsontext import dumps\nassert 'json' not in sys.modules\n"


def write_apart(values: list[object]) -> list[str]:
    """What the writer makes of each value, in such a process."""
    code = WRITE + "for value in eval(sys.stdin.read()):\n    print(ascii(dumps(value)))\n"
    done = subprocess.run([sys.executable, "-c", code], input=ascii(values), capture_output=True, text=True, check=True)
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


@given(st.lists(VALUES, min_size=50, max_size=60))
@examples(3)
def test_every_value_is_written(values: list[object]) -> None:
    """As `json` writes it without blanks, characters as they are."""
    finite = [value for value in values if "inf" not in repr(value)]  # `inf` is no literal
    wanted = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in finite]
    assert wanted == write_apart(finite)


def test_what_has_no_json_is_refused() -> None:
    """With the error of `json`."""
    with pytest.raises(TypeError):
        dumps({1, 2})
    with pytest.raises(subprocess.CalledProcessError):
        write_apart([{1, 2}])
