"""How a window's limit and forecast are said, in words and in JSON: the same in every command (D10)."""

from __future__ import annotations

from crusts_index.insight.window.forecast import HEALTH
from crusts_index.insight.window.limit import ASSUMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.window.judge import Window


HEALTH_SAID = ", ".join(f"{name} below {below}%" for below, name in HEALTH) + ", else critical"
KINDS = {
    "set": "set in config.json",
    "seen": "seen in your own sessions",
    "told": "told by Claude Code",
    "assumed": "assumed by the model's name",
}
"""How the kinds of a limit are said."""
NOT_KNOWN = "not known yet"
IS_OFF = "auto-compaction is off"


def limit_words(window: Window) -> str:
    """The limit, never without saying so where it is assumed."""
    return f"{window.limit:,} (assumed)" if window.limit_kind == ASSUMED else f"{window.limit:,}"


def size_words(window: Window) -> str:
    """The window's tokens."""
    return NOT_KNOWN if window.size is None else f"{window.size:,}"


def share_words(window: Window) -> str:
    """How full the window is, in per cent of its limit."""
    return NOT_KNOWN if window.usage_percentage is None else f"{window.usage_percentage:.1f}%"


def trigger_words(window: Window) -> str:
    """Where the window is compacted, and how many calls are left until then."""
    if window.trigger is None:
        return IS_OFF
    return f"compaction at {window.trigger:,}: {left_words(window)}"


def left_words(window: Window) -> str:
    """How many calls are left until the window is compacted."""
    if window.trigger is None:
        return IS_OFF
    if window.calls_left is None:
        return NOT_KNOWN
    if window.calls_left == 0:
        return "compacts next"
    calls = "call" if window.calls_left == 1 else "calls"
    return f"about {window.calls_left:,} {calls} ({window.calls_low:,} to {window.calls_high:,})"


def window_json(window: Window) -> dict[str, Any]:
    """The object `window` of every command that has one; what is not known is null."""
    return {
        "tokens": window.size,
        "basis": window.basis,
        "limit": window.limit,
        "limit_kind": window.limit_kind,
        "limit_why": window.why["limit"],
        "trigger": window.trigger,
        "trigger_why": window.why["trigger"],
        "calls_left": window.calls_left,
        "calls_left_low": window.calls_low,
        "calls_left_high": window.calls_high,
    }
