"""One judge: every command says the same of a window at the same moment, whatever its history (D10)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.terminal import running

OPUS, SONNET = "claude-opus-4-6", "claude-sonnet-5"
FORMAT = "{tokens} {limit} {trigger} {calls} {health} {percent}"


def grown(t: Transcript, *contexts: int, **options: Any) -> Transcript:
    """A prompt and an answer for each context size."""
    for context in contexts:
        t.prompt("go on")
        t.response("done", context=context, output=100, **options)
    return t


def compacted(folder: ClaudeFolder, number: int, model: str, version: str = "2.1.220") -> None:
    """Another session, which an automatic compaction ended."""
    t = folder.main(f"5e551001-0000-4000-8000-{number:012d}", model=model, version=version)
    grown(t, *range(100_000, 167_000, 900))
    t.boundary("auto", 167_200 + number, 3_000)
    t.summary()
    t.write()


def settings(folder: ClaudeFolder, **values: Any) -> None:
    """Claude Code's own settings, set long ago."""
    folder.config.mkdir(parents=True, exist_ok=True)
    file = folder.config / "settings.json"
    file.write_text(json.dumps(values))
    os.utime(file, (0, 0))


def plain(folder: ClaudeFolder) -> Transcript:
    """Nothing is known: the limit is assumed."""
    return grown(folder.main(model=SONNET), 30_000, 33_000, 34_000)


def evidence(folder: ClaudeFolder) -> Transcript:
    """Other sessions of that model were compacted by themselves."""
    for number in range(2, 14):
        compacted(folder, number, SONNET)
    return grown(folder.main(model=SONNET), 30_000, 93_000, 94_000)


def own_compaction(folder: ClaudeFolder) -> Transcript:
    """The session was compacted by itself, and goes on."""
    t = grown(folder.main(model=SONNET), 100_000, 130_000, 166_900)
    t.boundary("auto", 167_400, 3_000)
    t.summary()
    return grown(t, 24_000, 26_000, 29_000)


def smaller_window(folder: ClaudeFolder) -> Transcript:
    """A window of compaction is set."""
    settings(folder, autoCompactWindow=400_000)
    return grown(folder.main(model=SONNET), 30_000, 364_000)


def switched_off(folder: ClaudeFolder) -> Transcript:
    """Auto-compaction is off."""
    settings(folder, autoCompactEnabled=False)
    return grown(folder.main(model=OPUS), 30_000, 160_000)


def variant(folder: ClaudeFolder) -> Transcript:
    """The model was asked for with [1m]."""
    return grown(folder.main(model=OPUS), 30_000, 160_000, requestedModel=f"{OPUS}[1m]")


def past_the_trigger(folder: ClaudeFolder) -> Transcript:
    """The window is full."""
    return grown(folder.main(model=OPUS), 30_000, 168_000)


def many_calls(folder: ClaudeFolder) -> Transcript:
    """More calls than a status line reads at once."""
    return grown(folder.main(model=OPUS), *range(30_000, 130_000, 1_100))


HISTORIES = (*(plain, evidence, own_compaction, smaller_window, switched_off, variant, past_the_trigger, many_calls),)


def analyzed(folder: ClaudeFolder) -> dict[str, Any]:
    """What `analyze` says of the window."""
    found: dict[str, Any] = folder.crusts("analyze", SESSION, "--json").json()
    return found


def short(text: str) -> float:
    """`42k`, `1M` as a number, and half of the last digit."""
    scale = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    return float(text.rstrip("kM")) * scale


def payload(t: Transcript) -> str:
    """What a status line is told, without numbers; its model has the variant that was asked for."""
    model = t.model + "[1m]" * (b"[1m]" in b"".join(t.pieces))
    return json.dumps({"session_id": t.session, "transcript_path": str(t.path), "model": {"id": model}, "cwd": t.cwd})


@pytest.mark.parametrize("history", HISTORIES, ids=lambda one: one.__name__)
def test_every_command_says_the_same(folder: ClaudeFolder, history: Callable[[ClaudeFolder], Transcript]) -> None:
    """analyze, status, statusline, waste, fix, trend, timeline, report and auto-inject, in JSON and in words."""
    t = history(folder)
    t.write()
    assert 0 == folder.crusts("index").code
    said = analyzed(folder)
    window, breakdown = said["window"], said["breakdown"]
    assert (window["tokens"], window["limit"], window["trigger"], window["calls_left"]) == (
        *(breakdown["total_tokens"], breakdown["context_limit"], breakdown["autocompact_trigger"]),
        breakdown["calls_until_compaction"],
    )
    for command in ("status", "waste", "fix", "timeline"):
        found = folder.crusts(command, SESSION, "--json").json()["window"]
        assert window == {name: found[name] for name in window}, command
    record = next(one for one in folder.crusts("trend", "--json").json()["records"] if one["sessionId"] == SESSION)
    assert window == record["window"]
    assert (window["tokens"], window["limit"], window["limit_kind"], breakdown["context_health"]) == (
        *(record["totalTokens"], record["contextLimit"], record["limitKind"], record["health"]),
    )
    tokens, limit, *rest = folder.crusts("statusline", "--format", FORMAT, stdin=payload(t)).out.split(" ")
    if window["limit_kind"] == "assumed":
        assert "assumed" == rest.pop(0)
    trigger, calls, health, percent = rest
    assert short(tokens) == pytest.approx(window["tokens"], rel=0.02)
    assert (window["limit"], breakdown["context_health"]) == (short(limit), health)
    assert (short(trigger) if trigger else None) == (window["trigger"] and pytest.approx(window["trigger"], rel=0.01))
    assert int(calls.replace(",", "")) == window["calls_left"] if calls else window["calls_left"] is None
    assert round(breakdown["usage_percentage"]) == int(percent)
    pages = [
        folder.crusts("analyze", SESSION).out,
        folder.crusts("status", SESSION).out,
        folder.crusts("timeline", SESSION).out,
        folder.crusts("report", SESSION, "--format", "md", "--output", "-").out,
    ]
    for page in pages:
        shown = re.sub(r"\s+", " ", page)
        limits = f"{window['limit']:,}" + (" (assumed)" if window["limit_kind"] == "assumed" else "")
        assert limits in shown
        if window["trigger"] is None:
            assert "auto-compaction is off" in shown.lower()
        elif window["calls_left"] == 0:
            assert "compacts next" in shown
        else:
            low, high = window["calls_left_low"], window["calls_left_high"]
            noun = "call" if window["calls_left"] == 1 else "calls"
            assert f"about {window['calls_left']:,} {noun} ({low:,} to {high:,})" in shown
    text = folder.crusts("auto-inject", stdin=payload(t)).out
    if text:
        assert f"{window['limit']:,}" in text


def test_a_payload_is_remembered_for_all(folder: ClaudeFolder) -> None:
    """What a status line was told of the window's size holds in every command from then on, beside its kind."""
    t = plain(folder)
    t.write()
    assert 0 == folder.crusts("index").code
    assert (1_000_000, "assumed") == tuple(analyzed(folder)["window"][name] for name in ("limit", "limit_kind"))
    told = json.loads(payload(t)) | {"context_window": {"context_window_size": 500_000, "current_usage": None}}
    assert 0 == folder.crusts("statusline", stdin=json.dumps(told)).code
    db = folder.home / ".claude-crusts" / "index.db"
    with closing(sqlite3.connect(db)) as store:
        assert [(500_000,)] == store.execute("select window_tokens from payload_facts").fetchall()
    assert (500_000, "told") == tuple(analyzed(folder)["window"][name] for name in ("limit", "limit_kind"))
    assert analyzed(folder)["window"] == folder.crusts("status", SESSION, "--json").json()["window"]


@pytest.mark.long
@pytest.mark.parametrize("history", [evidence, smaller_window, switched_off], ids=lambda one: one.__name__)
def test_watch_says_the_same(
    folder: ClaudeFolder, history: Callable[[ClaudeFolder], Transcript], tmp_path: Path
) -> None:
    """The first object of `watch --json`."""
    t = history(folder)
    t.write()
    window = analyzed(folder)["window"]
    with running(folder, "watch", SESSION, "--json", cwd=tmp_path) as watch:
        first = watch.document()
        watch.stop()
    names = ("totalTokens", "contextLimit", "limitKind", "autocompactTrigger", "callsUntilCompaction")
    told = tuple(window[name] for name in ("tokens", "limit", "limit_kind", "trigger", "calls_left"))
    assert told == tuple(first[name] for name in names)
