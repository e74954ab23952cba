"""`crusts hooks`: have Claude Code keep the store up to date by itself, and give advice when the window fills."""

from __future__ import annotations

import enum
import os
from typing import Any

from crusts_index.claude.commands import is_crusts_command
from crusts_index.claude.hooks import add_hook, find_hooks, hook_command, remove_hook
from crusts_index.claude.program import program_command
from crusts_index.claude.roots import user_settings
from crusts_index.claude.settings import read_settings
from crusts_index.cli import installed, options, show
from crusts_index.cli.declared import Annotated, Group, Option
from crusts_index.insight.waste.gate import Gate, gate_of
from crusts_index.quick import auto_inject as quick
from crusts_index.quick.cold import SOURCES
from crusts_index.render import console
from crusts_index.store.config import write_config
from crusts_index.store.settings import Settings

INJECT_EVENT = "UserPromptSubmit"
RESUME_EVENT, RESUMED = "SessionStart", "|".join(SOURCES)
INJECT_SECONDS = 10


class Event(enum.StrEnum):
    """When the store is brought up to date."""

    STOP = "Stop"
    SUBAGENT_STOP = "SubagentStop"
    PRE_COMPACT = "PreCompact"
    SESSION_END = "SessionEnd"


# Seconds. SessionEnd's hooks share a budget of 1.5 s that only a timeout of their own raises.
TIMEOUTS = {Event.STOP: 60, Event.SUBAGENT_STOP: 60, Event.PRE_COMPACT: 60, Event.SESSION_END: 20}

Events = Annotated[
    list[Event] | None,
    Option("--event", any_case=True, help="Only this event; repeatable. All four if not given."),
]
Threshold = Annotated[
    float | None,
    Option(
        "--threshold", reads=options.number(1, 100), metavar="PERCENT", help="Advise from this much of the limit on."
    ),
]
Headroom = Annotated[bool, Option("--headroom", help="Advise near the trigger, as without any threshold.")]
Gap = Annotated[
    int | None,
    Option("--min-gap", reads=options.whole(0), metavar="SECONDS", help="Between two of one session; 300 at first."),
]
ColdUsd = Annotated[
    float | None,
    Option(
        "--cold-usd",
        reads=options.number(0, 10_000),
        metavar="USD",
        help="Say so where a cold cache costs this much or more; 0.5 at first.",
    ),
]
Number = Annotated[
    int | None,
    Option("--limit", reads=options.whole(), metavar="N", help="Entries to show; all if not given."),
]


def enable(settings: Settings, event: Events = None) -> None:
    """Install `crusts index --hook` in Claude Code's settings, at exactly the events named."""
    wanted = list(dict.fromkeys(event or Event))
    done = installed.edit_user_settings(settings, lambda found: with_hooks(found, wanted))
    installed.note_hooks(settings, [str(one) for one in wanted])
    named = ", ".join(wanted)
    console.put(f"The store is brought up to date at {named}." if done.changed else f"Enabled already: {named}.")
    installed.say_edit(done, watch="crusts hooks status")


def disable(settings: Settings, event: Events = None) -> None:
    """Take our hooks out of Claude Code's settings, at all events or at those named; all else stays."""
    kept: list[Event] = []

    def change(found: dict[str, Any]) -> dict[str, Any]:
        there = find_hooks(found, is_ours)
        kept[:] = [one for one in Event if one in there and one not in event] if event else []
        return with_hooks(found, kept)

    done = installed.edit_user_settings(settings, change)
    installed.note_hooks(settings, [str(one) for one in kept])
    rest = f" Left: {', '.join(kept)}." if kept else ""
    console.put(("The hooks are removed." if done.changed else "There was no such hook of ours.") + rest)
    installed.say_edit(done, watch="crusts hooks status")


def status(settings: Settings) -> None:
    """Which hooks are installed, and whether Claude Code's settings still have them."""
    found = state(settings)
    events = (f"  {event}: {'; '.join(commands)}" for event, commands in found["events"].items())
    show.say(settings, found, *found["messages"], *events, found["autoInject"]["message"])


def inject_enable(
    settings: Settings,
    threshold: Threshold = None,
    headroom: Headroom = False,
    min_gap: Gap = None,
    cold_usd: ColdUsd = None,
) -> None:
    """Install `crusts auto-inject` at UserPromptSubmit and, for sessions that go on, SessionStart. It speaks up near
    the point of compaction, and once a pause where the prompt cache is cold and sending the window again costs much."""
    command = program_command("auto-inject")

    def change(found: dict[str, Any]) -> dict[str, Any]:
        if _commands(found, is_injection) == {INJECT_EVENT: [command], RESUME_EVENT: [command]}:
            return found
        changed = add_hook(remove_hook(found, is_injection), INJECT_EVENT, command, INJECT_SECONDS)
        return add_hook(changed, RESUME_EVENT, command, INJECT_SECONDS, RESUMED)

    done = installed.edit_user_settings(settings, change)
    before = gate_of(settings.config)
    said: dict[str, object] = {"enabled": True, "installedAt": installed.now()}
    if threshold is not None or headroom:
        said["threshold"] = None if headroom or threshold is None else _whole(threshold)
    if min_gap is not None:
        said["minGapMs"] = min_gap * 1000
    if cold_usd is not None:
        said["coldUsd"] = _whole(cold_usd)
    write_config(settings.home, {"autoInject": said})
    after = gate_of({**settings.config, "autoInject": {**_noted(settings), **said}})
    is_changed = before[1:] != after[1:]
    how = (
        "is enabled" if done.changed or not before.is_enabled else "is changed" if is_changed else "is enabled already"
    )
    console.put(f"Auto-inject {how}: {_when(after)}.")
    installed.say_edit(done, watch="crusts hooks status")


def inject_disable(settings: Settings) -> None:
    """Take it out of Claude Code's settings; the log stays."""
    done = installed.edit_user_settings(settings, lambda found: remove_hook(found, is_injection))
    write_config(settings.home, {"autoInject": {"enabled": False, "installedAt": None}})
    console.put("Auto-inject is disabled." if done.changed else "Auto-inject was not in the settings.")
    installed.say_edit(done, watch="crusts hooks status")


def inject_status(settings: Settings) -> None:
    """Whether it is on, when it speaks, and when it did last."""
    found = inject_state(settings, read_settings(user_settings(os.environ)))
    show.say(settings, found, found["message"])


def inject_log(settings: Settings, limit: Number = None) -> None:
    """What was said and when, the newest first; --verbose shows the whole text."""
    entries = quick.read_log(settings, limit)
    said: list[str] = []
    for entry in entries:
        about = f"{entry['ts']}  {str(entry.get('sessionId'))[:8]}  "
        if entry.get("kind") == quick.COLD:
            about += f"cold cache, {entry.get('windowTokens')} tokens to send again for ${entry.get('againUsd')}"
        else:
            about += f"{entry.get('usagePercent')}% full, {entry.get('reclaimableTokens')} tokens of waste"
        said.append(about + " (estimated)")
        if settings.verbose and isinstance(entry.get("advisoryText"), str):
            said += [f"    {line}" for line in entry["advisoryText"].splitlines()]
    show.say(settings, {"entries": entries}, *(said or ["Nothing was said so far."]))


def with_hooks(found: dict[str, Any], events: list[Event]) -> dict[str, Any]:
    """The settings with our hook at exactly these events; as they are where it is so."""
    command = program_command("index", "--hook")
    if _commands(found, is_ours) == {str(event): [command] for event in events}:
        return found
    changed = remove_hook(found, is_ours)
    for event in events:
        changed = add_hook(changed, event, command, TIMEOUTS[event])
    return changed


def state(settings: Settings) -> dict[str, Any]:
    """What the settings and our own notes say of the hooks."""
    found = read_settings(user_settings(os.environ))
    there = _commands(found, is_ours)
    dropped = [event for event in installed.noted_hooks(settings) if event not in there]
    messages = []
    if there:
        messages.append(f"The store is brought up to date at {', '.join(there)}.")
    elif not dropped:
        messages.append("No hooks of ours are installed.")
    if dropped:
        again = "".join(f" --event {event}" for event in [*there, *dropped])
        messages.append(
            f"Installed, but gone from the settings: {', '.join(dropped)}. A running Claude Code may have written "
            f"them back without: run `crusts hooks enable{again}` again."
        )
    if found.get("disableAllHooks") is True and (there or dropped):
        messages.append("disableAllHooks in the settings turns every hook off.")
    return {
        "enabled": bool(there),
        "events": there,
        "dropped": dropped,
        "disabledByUser": found.get("disableAllHooks") is True,
        "settings": user_settings(os.environ),
        "messages": messages,
        "autoInject": inject_state(settings, found),
    }


def inject_state(settings: Settings, found: dict[str, Any]) -> dict[str, Any]:
    """What the settings, config.json and the log say of auto-inject."""
    gate = gate_of(settings.config)
    is_there = INJECT_EVENT in _commands(found, is_injection)
    last = next((entry["ts"] for entry in quick.read_log(settings, 1)), None)
    if is_there and gate.is_enabled:
        message = f"Auto-inject is on: {_when(gate)}."
        message += f" Last: {last}." if last else " It has not spoken yet."
        if RESUME_EVENT not in _commands(found, is_injection):
            message += " It is not at SessionStart yet: run `crusts hooks auto-inject enable` again."
    elif gate.is_enabled:
        message = "Auto-inject is on, but gone from the settings: run `crusts hooks auto-inject enable` again."
    elif is_there:
        message = "Auto-inject is in the settings, but off in config.json: it stays silent."
    else:
        message = "Auto-inject is off."
    return {
        "enabled": gate.is_enabled,
        "installed": is_there,
        "dropped": gate.is_enabled and not is_there,
        "threshold": gate.threshold,
        "minGapSeconds": gate.min_gap_ms / 1000,
        "coldUsd": gate.cold_usd,
        "last": last,
        "message": message,
    }


def is_ours(command: str) -> bool:
    """Whether a command is the hook that indexes."""
    return is_crusts_command(command, "index", "--hook")


def is_injection(command: str) -> bool:
    """Whether a command is the hook that advises."""
    return is_crusts_command(command, "auto-inject")


def _when(gate: Gate) -> str:
    place = "near the point of compaction" if gate.threshold is None else f"from {gate.threshold:g}% of the limit on"
    gap = f"at most every {gate.min_gap_ms / 1000:g} s in a session"
    return f"it speaks {place}, {gap}, and once a pause where a cold cache costs ${gate.cold_usd:.2f} or more"


def _noted(settings: Settings) -> dict[str, Any]:
    said = settings.config.get("autoInject")
    return said if isinstance(said, dict) else {}


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


def _commands(found: dict[str, Any], matches: Any) -> dict[str, list[str]]:
    return {
        event: [command for hook in hooks if (command := hook_command(hook))]
        for event, hooks in find_hooks(found, matches).items()
    }


hooks = Group(
    "Let Claude Code keep the store up to date, by hooks in its settings.",
    {
        "enable": enable,
        "disable": disable,
        "status": status,
        "auto-inject": Group(
            "Have Claude told, when the window is nearly full, what to compact.",
            {"enable": inject_enable, "disable": inject_disable, "status": inject_status, "log": inject_log},
        ),
    },
)
