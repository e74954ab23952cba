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
    t.response("on", usage=usage(input=3, write=20_000, write_1h=20_000 if is_long else 0))
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


# ---------------------------------------------------------------------- before it is paid for


def hook(folder: ClaudeFolder, t: Transcript, event: str = "UserPromptSubmit", **said: Any) -> str:
    """What the user is told by the hook, which gives Claude nothing to read of it; exit code 0."""
    payload = {"session_id": t.session, "transcript_path": str(t.path), "cwd": t.cwd, "hook_event_name": event, **said}
    done = folder.crusts("auto-inject", stdin=json.dumps(payload))
    assert (0, "") == (done.code, done.err)
    if not done.out:
        return ""
    answer = json.loads(done.out)
    assert ["systemMessage"] == list(answer)
    return str(answer["systemMessage"])


def resumed(**said: Any) -> Json:
    """A session that goes on, as Claude Code tells it."""
    return {"event": "SessionStart", "source": "resume", **said}


@pytest.fixture
def told_folder(folder: ClaudeFolder) -> ClaudeFolder:
    """A home in which auto-inject is on."""
    assert folder.crusts("hooks", "auto-inject", "enable").code == 0
    return folder


def test_a_cold_resume_is_told_once(told_folder: ClaudeFolder) -> None:
    """After a day: what it costs and what to type instead, with the arithmetic; not again in the same pause, whichever
    hook it is. The amount is the status line's, and the log keeps it."""
    t = session(told_folder, ago=24 * 60)
    told_folder.crusts("index")
    text = hook(told_folder, t, **resumed())
    sends = "your next prompt sends 100,000 tokens again, about $0.62 (at $6.25 a million)"
    freed = "0.68 freed, as compactions do; none of yours is logged yet"
    kept = f"$0.20 to write the about 32,000 that stay ({freed}), then $0.016 a call: cheaper from 6 calls on"
    lines = [
        f"[crusts] The prompt cache is cold: {sends}. What to type:",
        "  nothing: $0.62, then $0.050 a call to read them.",
        f"  /compact first: the same $0.62 to send them once, {kept}; the summary's output apart.",
    ]
    assert lines == text.split("\n")[:3]
    assert text.split("\n")[3].startswith("  /clear, for another task: about $0.")
    assert "cold, next $0.62" == cache(told_folder, t)
    assert ["", ""] == [hook(told_folder, t, **resumed()), hook(told_folder, t)]
    entries = told_folder.crusts("hooks", "auto-inject", "log", "--json").json()["entries"]
    assert [("cold", AGAIN, 0.625, text)] == [
        (one["kind"], one["windowTokens"], one["againUsd"], one["advisoryText"]) for one in entries
    ]
    assert (
        f"cold cache, {AGAIN} tokens to send again for $0.625" in told_folder.crusts("hooks", "auto-inject", "log").out
    )


def test_a_compaction_leaves_what_a_session_starts_with(told_folder: ClaudeFolder) -> None:
    """However small the share that stays: the fixed context is sent with every call."""
    t = told_folder.main(start=datetime.now(UTC) - timedelta(minutes=10))
    t.prompt("begin")
    t.response("on", usage=usage(input=3, write=60_000, output=10))
    t.response("on", usage=usage(input=3, read=60_000, write=39_897, output=100))
    t.write()
    told_folder.crusts("index")
    text = hook(told_folder, t)
    fixed = text.rpartition("for the ")[2].partition(" tokens")[0]
    assert f"about {fixed} that stay (no less than a session starts with)" in text


def test_told_again_in_the_next_pause(told_folder: ClaudeFolder) -> None:
    """What was said before the last call was about another pause."""
    t = session(told_folder, ago=10)
    told_folder.crusts("index")
    log = told_folder.home / ".claude-crusts" / "auto-inject.log"
    log.write_text(
        json.dumps({"ts": iso(int(time.time() - 1200) * 1000), "sessionId": t.session, "kind": "cold"}) + "\n"
    )
    assert hook(told_folder, t).startswith("[crusts] The prompt cache is cold: this prompt sends 100,000 tokens again")
    assert "" == hook(told_folder, t)


@pytest.mark.parametrize(
    ("config", "ago", "is_told"),
    [
        ({}, 10, True),
        ({}, 1, False),  # warm
        ({"coldUsd": 0.62}, 10, True),
        ({"coldUsd": 0.63}, 10, False),
        ({"coldUsd": "much"}, 10, True),  # no number: as without
        ({"enabled": False}, 10, False),
    ],
)
def test_when_it_is_told(folder: ClaudeFolder, config: Json, ago: float, is_told: bool) -> None:
    """On a cold cache, from the user's threshold on, $0.50 without any; never where auto-inject is off."""
    t = session(folder, ago=ago)
    folder.crusts("index")
    home = folder.home / ".claude-crusts"
    (home / "config.json").write_text(json.dumps({"autoInject": {"enabled": True, **config}}))
    assert is_told == bool(hook(folder, t))


def test_nothing_is_told_without_a_price(told_folder: ClaudeFolder) -> None:
    """What it costs is not known: silence."""
    t = session(told_folder, ago=10, model="another-model")
    told_folder.crusts("index")
    assert "" == hook(told_folder, t)


def test_by_the_word_of_claude_code(told_folder: ClaudeFolder) -> None:
    """A cache that is likely there still is not spoken of, a likely expired one is, whatever the last call says; its
    tokens and what they cost are Claude Code's. Other ways to start have no window to send."""
    t = session(told_folder, ago=10)
    told_folder.crusts("index")
    said = {"context_tokens": 168_120, "estimated_cache_write_usd": 2.1}
    for source in ("startup", "clear", "compact"):
        start = {**resumed(), "source": source}
        assert "" == hook(told_folder, t, **start, **said, prompt_cache_likely_expired=True)
    assert "" == hook(told_folder, t, **resumed(**said, prompt_cache_likely_expired=False))
    text = hook(told_folder, t, **resumed(**said, prompt_cache_likely_expired=True))
    assert "sends 168,120 tokens again, about $2.10 (at $12.49 a million)" in text


def test_both_at_one_prompt(told_folder: ClaudeFolder) -> None:
    """A window that is nearly full and cold: the user is told of the one, Claude of the other, each in its own gap."""
    t = told_folder.main(start=datetime.now(UTC) - timedelta(minutes=10))
    t.prompt("begin")
    t.response("on", usage=usage(input=3, read=40_000, write=120_000, output=100))
    t.write()
    told_folder.crusts("index")
    payload = {"session_id": t.session, "transcript_path": str(t.path), "hook_event_name": "UserPromptSubmit"}
    first, second = (told_folder.crusts("auto-inject", stdin=json.dumps(payload)).out for _ in range(2))
    assert ["systemMessage", "hookSpecificOutput"] == list(json.loads(first))
    assert "" == second


def test_doctor_tells_the_threshold(folder: ClaudeFolder) -> None:
    """From what on it speaks is the user's choice, and said."""
    said = folder.crusts("hooks", "auto-inject", "enable", "--cold-usd", "2").out
    assert "once a pause where a cold cache costs $2.00 or more" in said
    assert 2 == folder.crusts("hooks", "status", "--json").json()["autoInject"]["coldUsd"]
    assert "$2.00" in folder.crusts("doctor", "--verbose").out
