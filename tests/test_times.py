"""Timestamps: what is quick to tell is what the slow way says (D6)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.transcript.times import milliseconds
from tests.profiles import examples

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WRITTEN = "2026-09-01T10:00:05.678Z"


@examples(200)
@given(st.integers(0, 8 * 10**12))
def test_as_written_by_claude_code(passed: int) -> None:
    """Milliseconds and a Z: the moment, or none before 2000 and after 2199."""
    moment = EPOCH + timedelta(milliseconds=passed)
    expected = passed if 2000 <= moment.year < 2200 else None
    assert expected == milliseconds(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


@examples(300)
@given(st.integers(0, len(WRITTEN) - 1), st.sampled_from("0159:.ZT+- Wx٣"), st.integers(0, 1))
def test_one_character_off(place: int, other: str, cut: int) -> None:
    """A character more or another one: what the standard library makes of it, and nothing where it refuses."""
    stamp = WRITTEN[:place] + other + WRITTEN[place + cut :]
    try:
        moment = datetime.fromisoformat(stamp.strip())
    except ValueError:
        assert milliseconds(stamp) in (None, milliseconds(WRITTEN))
        return
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    expected = (moment - EPOCH) // timedelta(milliseconds=1) if 2000 <= moment.astimezone(UTC).year < 2200 else None
    assert expected == milliseconds(stamp)


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("1970-01-01T00:00:00.000Z", None),
        ("2000-01-01T00:00:00.000Z", 946_684_800_000),
        ("1999-12-31T23:59:59.999Z", None),
        ("2199-12-31T23:59:59.999Z", 7_258_118_399_999),
        ("2200-01-01T00:00:00.000Z", None),
        ("2026-09-01T10:00:05.6789Z", 1_788_256_805_678),
        ("2026-09-01T12:00:05.678+02:00", 1_788_256_805_678),
        ("2026-09-01T10:00:05", 1_788_256_805_000),
        ("2026-09-01T10:00:60.000Z", None),
        ("2026-02-30T10:00:05.678Z", None),
        ("2026-09-01T10:00:05.123456789Z", 1_788_256_805_123),
    ],
)
def test_what_is_a_time(stamp: str | None, expected: int | None) -> None:
    """Cut to the millisecond, in any zone; what is no time is none."""
    assert expected == milliseconds(stamp)
