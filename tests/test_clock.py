"""The cache clock: how long the prompt cache still lives, and what the next call costs once it is cold."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crusts_index.store.when import iso, of_stamp
from tests.builders import ClaudeFolder, Json, Transcript, usage

AGAIN = 100_000
"""Tokens of the window in these tests: of the last call, its output included."""
SHORT_USD, LONG_USD = 6.25, 10.0
"""A million tokens written by the builders' usual model."""


def session(folder: ClaudeFolder, *, ago: float, is_long: bool = False, **options: Any) -> Transcript:
    """A transcript whose last call ended `ago` minutes ago."""
    t = folder.main(start=datetime.now(UTC) - timedelta(minutes=ago, seconds=5), **options)
    t.prompt("begin")
    t.response("on", usage=written(is_long=is_long))
    t.write()
    return t


def written(*, is_long: bool) -> Json:
    """A call that reads some of the window from the cache and writes the rest to it."""
    return usage(input=3, read=40_000, write=AGAIN - 40_103, output=100, write_1h=AGAIN - 40_103 if is_long else 0)


def cache(folder: ClaudeFolder, t: Transcript, **said: Any) -> str:
    """What the status line says of the cache, for a payload with these fields beside the usual ones."""
    payload = {"session_id": t.session, "transcript_path": str(t.path), "cwd": t.cwd, "model": {"id": t.model}, **said}
    done = folder.crusts("statusline", "--format", "[{cache}]", stdin=json.dumps(payload))
    assert 0 == done.code
    return done.out.removesuffix("\n")


def told(context: int = AGAIN - 100) -> Json:
    """The payload's window, by which a status line needs no transcript."""
    return {
        "context_window": {
            "context_window_size": 200_000,
            "current_usage": {"input_tokens": 3, "cache_read_input_tokens": context - 3, "output_tokens": 100},
        }
    }


def status(folder: ClaudeFolder, t: Transcript) -> tuple[bool | None, int | None, float | None]:
    """What `status --json` says of the cache."""
    found = folder.crusts("status", t.session, "--json").json()
    return found["cache_warm"], found["cache_minutes_left"], found["cache_again_usd"]


@pytest.mark.parametrize("ahead", [False, True], ids=["in the store", "not read yet"])
@pytest.mark.parametrize("short_way", [False, True], ids=["by all rows", "by the payload and few rows"])
@pytest.mark.parametrize(
    ("ago", "is_long", "line"),
    [
        (1.5, False, "3m"),
        (4.5, False, "<1m"),
        (6, False, f"cold, next ${AGAIN * SHORT_USD / 1e6:.2f}"),
        (6, True, "53m"),
        (61, True, f"cold, next ${AGAIN * LONG_USD / 1e6:.2f}"),
        (24 * 60, False, f"cold, next ${AGAIN * SHORT_USD / 1e6:.2f}"),
    ],
)
def test_by_the_last_call(
    folder: ClaudeFolder, ago: float, is_long: bool, line: str, short_way: bool, ahead: bool
) -> None:
    """A cache lives for 5 minutes behind the last call, or an hour where it was written for one; what comes then costs
    the window at the price of such a write. All ways of reading say the same."""
    t = folder.main(start=datetime.now(UTC) - timedelta(minutes=ago, seconds=5))
    t.prompt("begin")
    t.response("on", usage=usage(input=3, write=40_000, output=10, write_1h=40_000 if is_long else 0))
    if ahead:
        t.write()
        folder.crusts("index")
    t.response("on", usage=usage(input=3, read=AGAIN - 103, output=100))
    t.append() if ahead else t.write()
    if not ahead:
        folder.crusts("index")
    assert line == cache(folder, t, **(told() if short_way else {}))


def test_status_json_says_the_same(folder: ClaudeFolder) -> None:
    """Whether it is warm, the minutes left, and what sending the window again costs once it is cold."""
    t = session(folder, ago=2)
    folder.crusts("index")
    assert (True, 2, 0.625) == status(folder, t)
    assert "2m" == cache(folder, t)


def test_status_json_of_a_cold_one(folder: ClaudeFolder) -> None:
    """Cold: no minutes are left."""
    t = session(folder, ago=6)
    folder.crusts("index")
    assert (False, None, 0.625) == status(folder, t)
    assert "cold, next $0.62" == cache(folder, t)


@pytest.mark.parametrize("short_way", [False, True], ids=["by all rows", "by the payload and few rows"])
def test_by_the_payload(folder: ClaudeFolder, short_way: bool) -> None:
    """What Claude Code says of the cache counts for more than the last call: when it expires, and its kind of write."""
    t = session(folder, ago=6)
    folder.crusts("index")
    window = told() if short_way else {}
    later = time.time() + 190

    def by(**said: Any) -> str:
        return cache(folder, t, prompt_cache=said, **window)

    assert "3m" == by(warm=True, ttl="5m", expires_at=later)
    assert "cold, next $0.62" == by(warm=False, ttl="5m", expires_at=time.time() - 10)
    assert "cold, next $1.00" == by(warm=False, ttl="1h", expires_at=time.time() - 10)
    assert "53m" == by(ttl="1h")  # when it expires by the last call then
    assert "cold, next $0.62" == by(ttl="never", expires_at="soon")
    assert "cold, next $0.62" == by()


def test_without_a_price(folder: ClaudeFolder) -> None:
    """A model without a price: only that it is cold. So where there is no store."""
    t = session(folder, ago=6, model="another-model")
    assert "cold" == cache(folder, t)
    folder.crusts("index")
    assert "cold" == cache(folder, t)
    assert (False, None, None) == status(folder, t)


def test_without_a_cache(folder: ClaudeFolder) -> None:
    """A call that used no cache has nothing that could be cold."""
    t = folder.main()
    t.prompt("begin")
    t.response("on", usage=usage(input=30_000))
    t.write()
    folder.crusts("index")
    assert (None, None, None) == status(folder, t)
    assert cache(folder, t) in ("", "○ crusts")


def test_placeholder(folder: ClaudeFolder) -> None:
    """A call whose output is not known yet: the window is larger by what is estimated of it, and the price with it."""
    t = folder.main(start=datetime.now(UTC) - timedelta(minutes=10))
    t.prompt("begin")
    t.response("word " * 4_000, usage={**written(is_long=False), "output_tokens": 1}, stop="")
    t.write()
    folder.crusts("index")
    found = folder.crusts("status", t.session, "--json").json()
    assert found["total_tokens"] * SHORT_USD / 1e6 == pytest.approx(found["cache_again_usd"])
    assert f"cold, next ${found['cache_again_usd']:.2f}" == cache(folder, t)


@pytest.mark.parametrize("moment", [0, 951_782_399_999, 951_782_400_000, 1_709_164_800_001, 4_102_444_799_999])
def test_stamps(moment: int) -> None:
    """A time as logged is read without `datetime`, leap days and turns of centuries too; another form is none."""
    assert moment == of_stamp(iso(moment))
    assert [None] * 3 == [of_stamp(text) for text in ("", "2026-11-30", iso(moment).replace("Z", "+01:00"))]
