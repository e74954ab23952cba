"""What is known of Claude Code's versions, its built-in tools and the models' windows; pure functions."""

from crusts_index.insight.session.numbers import usable_number
from crusts_index.models import same_family
from crusts_index.windows import NATIVE_1M, Version, parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:  # `collections.abc` stays off the quick paths
    from collections.abc import Collection, Iterable, Mapping

# What the schemas of the always loaded tools cost, by the version from which on it holds.
CORE_SCHEMA_TOKENS_BY_VERSION: tuple[tuple[Version, int], ...] = (
    ((2, 1, 214), 20_500),
    ((2, 1, 160), 17_500),
    ((2, 1, 150), 15_000),
)
LEGACY_CORE_SCHEMA_TOKENS = 9_055
DEFERRED_BUILTIN_LOAD_TOKENS = 1_000
DEFERRED_MCP_LOAD_TOKENS = 330

CORE_TOOL_NAMES = (
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "Read",
    "ScheduleWakeup",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "ToolSearch",
    "Workflow",
    "Write",
)
# Versions that load built-in tools on demand announce them; before, every tool was there from the start.
FIRST_DEFERRING_VERSION: Version = (2, 1, 92)
TOOL_NAMES_BEFORE_DEFERRING = (
    "Bash",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
)
# Core tools that earlier deferring versions did not have, or announced and loaded on demand.
CORE_SINCE: dict[str, Version] = {
    "AskUserQuestion": (2, 1, 115),
    "ScheduleWakeup": (2, 1, 150),
    "Workflow": (2, 1, 150),
    **dict.fromkeys(
        (
            "EnterPlanMode",
            "ExitPlanMode",
            "TaskCreate",
            "TaskGet",
            "TaskList",
            "TaskOutput",
            "TaskStop",
            "TaskUpdate",
        ),
        (2, 1, 223),
    ),
}

_MOST_DIGITS = 6


def core_schema_tokens(version: str | None, calibrated: int | None = None) -> int:
    """Tokens (estimated) of the always loaded tools' schemas: as calibrated, else by version."""
    if calibrated:
        return calibrated
    numbers = parse_version(version)
    bands = (tokens for since, tokens in CORE_SCHEMA_TOKENS_BY_VERSION if numbers >= since)
    return next(bands, LEGACY_CORE_SCHEMA_TOKENS)


def core_tool_names(version: str | None, deferred: "Collection[str]" = ()) -> tuple[str, ...]:
    """The built-in tools loaded from the start in `version`, less those announced as deferred."""
    numbers = parse_version(version)
    names: tuple[str, ...]
    if numbers < FIRST_DEFERRING_VERSION:
        names = TOOL_NAMES_BEFORE_DEFERRING
    else:
        names = tuple(name for name in CORE_TOOL_NAMES if numbers >= CORE_SINCE.get(name, ()))
    return tuple(name for name in names if name not in deferred)


def deferred_load_tokens(tool_name: str) -> int:
    """Tokens (estimated) that a deferred tool costs at the ToolSearch result that loads it."""
    return DEFERRED_MCP_LOAD_TOKENS if tool_name.startswith("mcp__") else DEFERRED_BUILTIN_LOAD_TOKENS


def variant_window(model: str | None) -> int | None:
    """The window that a model id itself names: `[1m]`, `[500k]`, or a last `-1m`."""
    text = (model or "").strip().lower()
    if text.endswith("-1m"):
        return NATIVE_1M
    inside = text.partition("[")[2].partition("]")[0]
    scale = {"k": 1_000, "m": 1_000_000}.get(inside[-1:])
    digits = inside[:-1]
    if scale is None or not digits.isascii() or not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return None
    return int(digits) * scale or None


def settings_window(model: str | None, settings_models: "Iterable[str]") -> int | None:
    """The window of the first model in the settings that names one and is of the session model's family."""
    for other in settings_models:
        window = variant_window(other)
        if window is not None and same_family(model, other):
            return window
    return None


def configured_window(model: str | None, windows: "Mapping[str, object]") -> int | None:
    """The window by `contextWindows`: pattern (a part of the id, or all of it with `*`) to tokens."""
    text = (model or "").lower()
    for pattern, tokens in windows.items():
        usable = usable_number(tokens)
        if text and usable and _fits(text, pattern.lower()):
            return int(usable)
    return None


def _fits(text: str, pattern: str) -> bool:
    first, *others = pattern.split("*")
    if not others:
        return first in text
    if not text.startswith(first):
        return False
    at = len(first)
    for part in others[:-1]:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return text.endswith(others[-1]) and len(text) - len(others[-1]) >= at
