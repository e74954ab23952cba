"""The limit of a window and its trigger: the signals in their order, and of which kind the one is that spoke (D10)."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crusts_index.insight.window.habits import Habits, SeenLimit
from crusts_index.insight.window.settings import WindowSettings
from tests.analysed import Analysed, analysed
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask, read

OPUS_46, OPUS_47, SONNET_5 = "claude-opus-4-6", "claude-opus-4-7", "claude-sonnet-5"


def grown(t: Transcript, *contexts: int, **options: Any) -> Transcript:
    """A prompt and an answer for each context size."""
    for place, context in enumerate(contexts):
        t.prompt(f"prompt {place}")
        t.response("done", context=context, **options)
    return t


def limit(found: Analysed) -> tuple[int, str, str]:
    """The limit, its kind and the signal."""
    return found.window.limit, found.window.limit_kind, found.window.limit_signal


@pytest.mark.parametrize(
    ("model", "contexts", "settings", "expected"),
    [
        (OPUS_46, (20_000,), WindowSettings(), (200_000, "assumed", "default")),
        (OPUS_47, (20_000,), WindowSettings(), (1_000_000, "assumed", "native")),
        (SONNET_5, (20_000,), WindowSettings(), (1_000_000, "assumed", "native")),
        ("gpt-next", (20_000,), WindowSettings(), (1_000_000, "assumed", "native")),
        (OPUS_46, (200_001,), WindowSettings(), (1_000_000, "seen", "usage")),
        (f"{OPUS_46}[1m]", (20_000,), WindowSettings(), (1_000_000, "told", "model-id")),
        (OPUS_46, (20_000,), WindowSettings(files=({"model": "opus[1m]"},)), (1_000_000, "told", "settings")),
        (OPUS_46, (20_000,), WindowSettings(files=({"model": "sonnet[1m]"},)), (200_000, "assumed", "default")),
        (SONNET_5, (20_000,), WindowSettings({"sonnet-5": 300_000}), (300_000, "set", "config")),
        (
            SONNET_5,
            (20_000,),
            WindowSettings({"sonnet-5": 300_000}, payload_window=500_000),
            (300_000, "set", "config"),
        ),
        (SONNET_5, (20_000,), WindowSettings(payload_window=500_000), (500_000, "told", "payload")),
        (OPUS_46, (20_000,), WindowSettings(payload_model=f"{OPUS_46}[1m]"), (1_000_000, "told", "model-id")),
        (OPUS_46, (250_000,), WindowSettings({"opus": 200_000}), (1_000_000, "seen", "usage")),
        (
            SONNET_5,
            (20_000,),
            WindowSettings(env={"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}),
            (200_000, "told", "settings"),
        ),
    ],
)
def test_the_first_signal_that_speaks_gives_the_limit(
    folder: ClaudeFolder,
    model: str,
    contexts: tuple[int, ...],
    settings: WindowSettings,
    expected: tuple[int, str, str],
) -> None:
    """The signals in their order; a call larger than the limit lifts it to the next known size."""
    assert expected == limit(analysed(folder, grown(folder.main(model=model), *contexts), settings=settings))


REPORT = """<local-command-stdout>## Context Usage
**Model:** claude-opus-4-6
**Tokens:** 21.3k / 500k (4%)

### Estimated usage by category
| Category | Tokens | Percentage |
|---|---|---|
| System prompt | 3.1k | 0.6% |
| System tools | 12.5k | 2.5% |
| Messages | 5.7k | 1.1% |
| Autocompact buffer | 28k | 5.6% |
</local-command-stdout>"""


def test_a_context_report_tells_limit_schemas_and_buffer(folder: ClaudeFolder) -> None:
    """The last /context of the session tells the window's size, its buffer, and what the core schemas cost (D11)."""
    t = grown(folder.main(model=OPUS_46), 25_000)
    t.prompt(REPORT)
    found = analysed(folder, t)
    assert (500_000, "told", "context-command") == limit(found)
    assert 12_500 == found.window.fixed_context.schema_tokens
    assert 500_000 - 28_000 == found.window.trigger


def test_the_session_s_own_compaction_is_seen(folder: ClaudeFolder) -> None:
    """Compacted by itself at 167,000, a window is not of 1,000,000; where a smaller one is set that says nothing."""
    t = grown(folder.main(model=SONNET_5), 167_000)
    t.boundary("auto", 167_400, 3_000)
    t.summary()
    grown(t, 24_000)
    db = read(folder, t)
    assert (200_000, "seen", "compaction") == limit(Analysed(db))
    smaller = WindowSettings(files=({"autoCompactWindow": 200_000},))
    assert (1_000_000, "assumed", "native") == limit(Analysed(db, settings=smaller))


def test_what_others_showed_holds_for_a_model(folder: ClaudeFolder) -> None:
    """A larger call, or a compaction at or below 200,000, of another session tells a model's window, as of then."""
    seen = Habits({SONNET_5: (SeenLimit(0, 200_000, 167_445), SeenLimit(4_000_000_000_000, 1_000_000, 300_000))})
    db = read(folder, grown(folder.main(model=SONNET_5), 20_000))
    assert (200_000, "seen", "history") == limit(Analysed(db, habits=seen))
    assert (1_000_000, "seen", "history") == limit(
        Analysed(db, habits=Habits({SONNET_5: (SeenLimit(4_000_000_000_000, 1_000_000, 300_000),)}))
    )
    assert (1_000_000, "assumed", "native") == limit(
        Analysed(db, habits=Habits({OPUS_46: (SeenLimit(0, 200_000, 1),)}))
    )


def test_the_variant_that_was_asked_for_tells(folder: ClaudeFolder) -> None:
    """`[1m]` in the model that a call asked for; of two, the one that the last call asked for."""
    t = folder.main(model=OPUS_46)
    grown(t, 20_000, requestedModel=f"{OPUS_46}[1m]")
    db = read(folder, t)
    assert (1_000_000, "told", "model-id") == limit(Analysed(db))
    grown(t, 21_000, requestedModel=OPUS_46)
    db = read(folder, t)
    assert (200_000, "assumed", "default") == limit(Analysed(db))
    assert (1_000_000, "told", "model-id") == limit(Analysed(db, until=2))


@pytest.mark.parametrize("source", ["attachment", "cost-state"])
def test_the_variant_stands_elsewhere_too(folder: ClaudeFolder, source: str) -> None:
    """In the attachment that names the model, and in the keys of Claude Code's own costs."""
    t = folder.main(model=OPUS_46)
    if source == "attachment":
        t.attachment("model", identity={"modelId": f"{OPUS_46}[1m]"}, text="You are Opus.")
    grown(t, 20_000)
    if source == "cost-state":
        t.meta("cost-state", totalCostUSD=0.1, modelUsage={f"{OPUS_46}[1m]": {"inputTokens": 1}})
    assert (1_000_000, "told", "model-id") == limit(analysed(folder, t))


def test_a_payload_s_size_is_remembered_until_something_newer_is_seen(folder: ClaudeFolder) -> None:
    """It holds for its session and model, in every command, beside what others showed before."""
    t = grown(folder.main(model=OPUS_46), 20_000)
    db = read(folder, t)
    (last_ms,) = ask(db, "select max(last_ms) from transcripts")[0]
    with closing(sqlite3.connect(db)) as store, store:
        told = "insert into payload_facts (session_id, model, time_ms, window_tokens) values (?, ?, ?, ?)"
        store.execute(told, (SESSION, OPUS_46, last_ms - 5, 500_000))
        store.execute(told, (SESSION, SONNET_5, last_ms, 1_000_000))
    assert (500_000, "told", "payload") == limit(Analysed(db))
    before = Habits({OPUS_46: (SeenLimit(last_ms - 9, 200_000, 167_000),)})
    assert (500_000, "told", "payload") == limit(Analysed(db, habits=before))
    after = Habits({OPUS_46: (SeenLimit(last_ms - 1, 200_000, 167_000),)})
    assert (200_000, "seen", "history") == limit(Analysed(db, habits=after))


@pytest.mark.parametrize(
    ("version", "model", "settings", "trigger"),
    [
        ("2.1.220", OPUS_46, WindowSettings(), 167_000),
        ("2.1.20", OPUS_46, WindowSettings(), 155_000),
        ("2.1.220", SONNET_5, WindowSettings(), 967_000),
        ("2.1.220", "claude-opus-4-5-20251101", WindowSettings(), 200_000),
        ("2.1.52", "claude-opus-4-5-20251101", WindowSettings(), 167_000),
        ("2.1.220", OPUS_46, WindowSettings(autocompact_buffer=20_000), 180_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "120000"}), 87_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "900000"}), 167_000),
        ("2.1.220", SONNET_5, WindowSettings(files=({"autoCompactWindow": 400_000},)), 367_000),
        (
            "2.1.220",
            SONNET_5,
            WindowSettings(
                files=(
                    {"autoCompactWindow": 400_000, "modelWindows": [{"model": SONNET_5, "tokens": 300_000}]},
                    {"autoCompactWindow": 500_000},
                )
            ),
            267_000,
        ),
        (
            "2.1.220",
            SONNET_5,
            WindowSettings(files=({"modelWindows": [{"model": OPUS_46, "tokens": 300_000}]},)),
            967_000,
        ),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "0.8"}), 160_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60"}), 120_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "95"}), 167_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "many"}), 167_000),
        ("2.1.220", OPUS_46, WindowSettings({"opus": 20_000}), 20_000),
        ("2.1.220", OPUS_46, WindowSettings(env={"DISABLE_AUTO_COMPACT": "1"}), None),
        (
            "2.1.220",
            OPUS_46,
            WindowSettings(files=({"autoCompactEnabled": True}, {"autoCompactEnabled": False})),
            None,
        ),
    ],
)
def test_the_trigger_follows_window_buffer_and_settings(
    folder: ClaudeFolder, version: str, model: str, settings: WindowSettings, trigger: int | None
) -> None:
    """The window of compaction less the buffer; a share can only lower it; models of 4.5 wait to be refused."""
    t = grown(folder.main(version=version, model=model), 10_000)
    found = analysed(folder, t, settings=settings).window
    assert trigger == found.trigger
    assert (found.calls_left is None) == (trigger is None)


def test_past_compactions_tell_the_buffer(folder: ClaudeFolder) -> None:
    """By limit and version line; it stands above what config.json has, and below the session's own /context."""
    t = grown(folder.main(version="2.1.220", model=OPUS_46), 10_000)
    db = read(folder, t)
    seen = Habits(buffers={"200000 2.1": 29_000, "200000 2.1 early": 44_000})
    found = Analysed(db, settings=WindowSettings(autocompact_buffer=20_000), habits=seen)
    assert 171_000 == found.window.trigger


def test_settings_hold_without_the_project_s_folder(tmp_path: Path) -> None:
    """The user's own settings are looked at though the project's folder is gone, also where seen later only."""
    folder = ClaudeFolder(tmp_path)
    folder.config.mkdir(parents=True, exist_ok=True)
    settings = folder.config / "settings.json"
    models = {"claude-opus-4-6": {"autoCompactWindow": "auto"}}
    settings.write_text(json.dumps({"autoCompactWindow": 400_000, "modelSettings": models}))
    t = grown(folder.main(model=SONNET_5, project="/nowhere/at/all"), 20_000)
    t.write()
    for second in (None, 0):
        if second is not None:
            os.utime(settings, (second, second))
        told = folder.crusts("analyze", "--json").json()["window"]
        assert (1_000_000, "assumed", 367_000) == (told["limit"], told["limit_kind"], told["trigger"])
