"""What settings and MCP configuration say that matters to a context: values and names, never secrets."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` stays off the quick paths
    from typing import Any

# What of a settings file's `env` says how big the window is and when it is compacted.
ENVIRONMENT = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "DISABLE_AUTO_COMPACT",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
)


def settings_detail(data: "dict[str, Any]") -> "dict[str, Any]":
    """The model, the compaction settings and how long transcripts are kept (days), as far as they are set."""
    detail: dict[str, Any] = {}
    if isinstance(model := data.get("model"), str):
        detail["model"] = model[:200]
    for key in ("autoCompactEnabled", "disableAllHooks"):
        if isinstance(data.get(key), bool):
            detail[key] = data[key]
    if (window := _window(data)) is not None:
        detail["autoCompactWindow"] = window
    models = data.get("modelSettings")
    if isinstance(models, dict):
        windows = [
            {"model": model[:200], "tokens": window}
            for model, given in models.items()
            if isinstance(given, dict) and (window := _window(given)) is not None
        ]
        if windows:
            detail["modelWindows"] = windows
    days = data.get("cleanupPeriodDays")
    if isinstance(days, (int, float)) and not isinstance(days, bool) and 0 <= days < 1e9:
        detail["cleanupPeriodDays"] = days
    environment = data.get("env")
    if isinstance(environment, dict):
        known = {key: environment[key] for key in ENVIRONMENT if isinstance(environment.get(key), (str, int, float))}
        if known:
            detail["env"] = {key: str(value)[:200] for key, value in known.items()}
    return detail


def _window(settings: "dict[str, Any]") -> int | None:
    """The window of compaction that is set, in tokens; "auto" says nothing."""
    value = settings.get("autoCompactWindow")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 1 <= value < 2**53:
        return int(value)
    return None


def server_detail(name: str, value: object) -> "dict[str, Any]":
    """A server's name and how it is reached. Arguments, addresses and variables may hold secrets."""
    server: dict[str, Any] = {"name": name[:200]}
    if not isinstance(value, dict):
        return server
    kind = value.get("type")
    if isinstance(kind, str):
        server["kind"] = kind[:20]
    else:
        server["kind"] = "stdio" if "command" in value else "http" if "url" in value else "unknown"
    command = value.get("command")
    words = command.split() if isinstance(command, str) else []
    if words and "=" not in words[0]:
        server["command"] = os.path.basename(words[0])[:40]
    if value.get("disabled") is True:
        server["disabled"] = True
    return server
