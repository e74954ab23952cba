"""Hook entries in a settings object: add ours, find ours, remove only ours."""

from collections.abc import Callable
from typing import Any

from crusts_index.errors import CrustsError

Settings = dict[str, Any]
Matches = Callable[[str], bool]


def add_hook(
    settings: Settings, event: str, command: str, timeout: int | None = None, matcher: str | None = None
) -> Settings:
    """`settings` with a hook that runs `command` at `event`; as they are if it is there already.

    `timeout` is in seconds. The hook gets an entry of its own, behind all others. Raises CrustsError if the
    settings have something else in the place of hooks.
    """
    if _command_hooks(settings, event, lambda other: other == command):
        return settings
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise CrustsError('"hooks" in the settings is not an object, so it is left alone')
    entries = hooks.get(event, [])
    if not isinstance(entries, list):
        raise CrustsError(f'"hooks"."{event}" in the settings is not a list, so it is left alone')
    hook: dict[str, Any] = {"type": "command", "command": command}
    if timeout is not None:
        hook["timeout"] = timeout
    entry = {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}
    return {**settings, "hooks": {**hooks, event: [*entries, entry]}}


def remove_hook(settings: Settings, command_matches: Matches) -> Settings:
    """`settings` without the hooks whose command matches, and without what that left empty.

    Everything else stays: other entries, old forms, lists that were empty before.
    """
    found = find_hooks(settings, command_matches)
    if not found:
        return settings
    left = {event: _without(settings["hooks"][event], command_matches) for event in found}
    events = {event: left.get(event, entries) for event, entries in settings["hooks"].items()}
    events = {event: entries for event, entries in events.items() if entries or event not in found}
    return {key: events if key == "hooks" else value for key, value in settings.items() if key != "hooks" or events}


def find_hooks(settings: Settings, command_matches: Matches) -> dict[str, list[dict[str, Any]]]:
    """The hooks whose command matches, by event; events without one are left out."""
    events = settings.get("hooks")
    if not isinstance(events, dict):
        return {}
    found = {event: _command_hooks(settings, event, command_matches) for event in events}
    return {event: hooks for event, hooks in found.items() if hooks}


def hook_command(hook: object) -> str | None:
    """The whole command of a hook, its `args` included; None if it runs none."""
    if not isinstance(hook, dict) or not isinstance(hook.get("command"), str):
        return None
    if hook.get("type", "command") != "command":
        return None
    arguments = hook.get("args")
    words = [word for word in arguments if isinstance(word, str)] if isinstance(arguments, list) else []
    return " ".join([hook["command"], *words])


def _command_hooks(settings: Settings, event: str, command_matches: Matches) -> list[dict[str, Any]]:
    events = settings.get("hooks")
    entries = events.get(event) if isinstance(events, dict) else None
    if not isinstance(entries, list):
        return []
    return [
        hook
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("hooks"), list)
        for hook in entry["hooks"]
        if _matches(hook, command_matches)
    ]


def _without(entries: list[Any], command_matches: Matches) -> list[Any]:
    kept = []
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("hooks"), list):
            others = [hook for hook in entry["hooks"] if not _matches(hook, command_matches)]
            if not others and entry["hooks"]:
                continue  # it held nothing but ours
            kept.append({**entry, "hooks": others})
        else:
            kept.append(entry)
    return kept


def _matches(hook: object, command_matches: Matches) -> bool:
    command = hook_command(hook)
    return command is not None and command_matches(command)
