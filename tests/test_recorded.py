"""Records read back from their transcripts by offset."""

from __future__ import annotations

from pathlib import Path

import pytest

from crusts_index.index.recorded import records_of

ONE = b'{"type": "user", "n": 1}\n'


def ids(*offsets: int) -> list[int]:
    """Ids of the first transcript's records at these bytes."""
    return [(1 << 40) + offset for offset in offsets]


@pytest.mark.parametrize(
    ("line", "record"),
    [
        pytest.param(b'{"type": "user", "n": 2}\n', {"type": "user", "n": 2}, id="whole"),
        pytest.param(b'{"type": "user", "n": 2}', {"type": "user", "n": 2}, id="last, without an end"),
        pytest.param(b'{"n": 2}{"n": 3}\n', {"n": 2}, id="glued"),
        pytest.param(b'{"n": "\xff"}\n', {"n": "\ufffd"}, id="no UTF-8"),
        pytest.param(b'{"n": \n', None, id="cut"),
        pytest.param(b"[2]\n", None, id="no object"),
        pytest.param(b"[" * 3_000 + b"\n", None, id="deep"),
    ],
)
def test_what_cannot_be_read_is_left_out(tmp_path: Path, line: bytes, record: object) -> None:
    """The others are there, each under its id."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(ONE + line)
    wanted = {ids(0)[0]: {"type": "user", "n": 1}}
    if record is not None:
        wanted[ids(len(ONE))[0]] = record  # type: ignore[assignment]
    assert wanted == records_of({1: str(path)}, ids(len(ONE), 0))


def test_a_transcript_that_is_gone_has_none(tmp_path: Path) -> None:
    """Nor one that is no file, nor one that nobody named."""
    assert {} == records_of({1: str(tmp_path / "none.jsonl")}, ids(0))
    assert {} == records_of({1: str(tmp_path)}, ids(0))
    assert {} == records_of({}, ids(0))
    assert {} == records_of({1: str(tmp_path)}, [])
