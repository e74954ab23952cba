"""How large a model's window is: by the signals, in their order, and of which kind the one is that spoke (D10)."""

from __future__ import annotations

from crusts_index.insight.window.catalogue import configured_window, settings_window, variant_window
from crusts_index.insight.window.evidence import UNKNOWN, is_same_model
from crusts_index.models import model_family
from crusts_index.tuples import NamedTuple
from crusts_index.windows import DEFAULT_CONTEXT_LIMIT, lift_window, usual_window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import ContextReport
    from crusts_index.insight.window.evidence import Evidence
    from crusts_index.insight.window.habits import Habits
    from crusts_index.insight.window.settings import WindowSettings

SET, SEEN, TOLD, ASSUMED = "set", "seen", "told", "assumed"
SETTLES = "/context, a status line, or contextWindows in config.json would settle it"


class Limit(NamedTuple):
    """The window's size in tokens; its kind: set by the user, seen in the user's own history, told by Claude Code, or
    assumed; the signal that says so, and why, in words."""

    tokens: int
    kind: str
    signal: str
    why: str


class _Said(NamedTuple):
    """A limit, and when that was said; later than all for what says so now."""

    time_ms: float
    limit: Limit


def limit_of(evidence: Evidence, settings: WindowSettings, habits: Habits) -> Limit:
    """The context limit by the first signal that speaks; a larger call lifts it to the next known size."""
    model = settings.payload_model or evidence.asked
    limit = _signalled(evidence, settings, habits, model)
    lifted = lift_window(limit.tokens, evidence.largest)
    if lifted != limit.tokens:
        why = f"{limit.why}; but a call had {evidence.largest:,} tokens of context"
        return Limit(lifted, SEEN, "usage", why)
    return limit


def _signalled(evidence: Evidence, settings: WindowSettings, habits: Habits, model: str) -> Limit:
    window = configured_window(model, settings.context_windows)
    if window:
        return Limit(window, SET, "config", f"contextWindows in config.json has it for {model}")
    # What was told of this very session stands until something newer is seen.
    seen, told = _seen(evidence, settings, habits, model), _told_by_payload(evidence, settings, model)
    if seen is not None and (told is None or seen.time_ms > told.time_ms):
        return seen.limit
    if told is not None:
        return told.limit
    return _told_otherwise(evidence, settings, model) or _assumed(model)


def _seen(evidence: Evidence, settings: WindowSettings, habits: Habits, model: str) -> _Said | None:
    """What the session itself shows, else what others of the user's own did."""
    at_ms = float(evidence.last_ms or 0)
    if evidence.largest > DEFAULT_CONTEXT_LIMIT:
        tokens = lift_window(DEFAULT_CONTEXT_LIMIT, evidence.largest)
        why = f"a call in the session had {evidence.largest:,} tokens of context"
        return _Said(at_ms, Limit(tokens, SEEN, "usage", why))
    own = [one for one in evidence.automatic if one.model == evidence.model and one.tokens <= DEFAULT_CONTEXT_LIMIT]
    # Where a smaller window is set for it, a compaction says nothing of the limit.
    if own and settings.share is None and settings.compact_window(model) is None:
        why = f"the session was compacted by itself at {own[-1].tokens:,}"
        return _Said(float(own[-1].time_ms or 0), Limit(DEFAULT_CONTEXT_LIMIT, SEEN, "compaction", why))
    seen = habits.limit(model, evidence.last_ms)
    if seen is None:
        return None
    what = "a call had" if seen.context > DEFAULT_CONTEXT_LIMIT else "a session was compacted by itself at"
    why = f"{what} {seen.context:,} tokens of context with {model}"
    return _Said(float(seen.since_ms), Limit(seen.tokens, SEEN, "history", why))


def _told_by_payload(evidence: Evidence, settings: WindowSettings, model: str) -> _Said | None:
    if settings.payload_window:
        why = "Claude Code's own payload says so"
        return _Said(float("inf"), Limit(settings.payload_window, TOLD, "payload", why))
    told = [one for one in evidence.payloads if is_same_model(one.model, model)]
    if not told:
        return None
    last = max(told, key=lambda one: one.time_ms)
    why = "Claude Code's payload said so in this session"
    return _Said(float(last.time_ms), Limit(last.tokens, TOLD, "payload", why))


def _told_otherwise(evidence: Evidence, settings: WindowSettings, model: str) -> Limit | None:
    window = variant_window(model)
    if window:
        return Limit(window, TOLD, "model-id", f"the model's id {model} names it")
    report = _last_report(evidence, model)
    if report is not None and report.window_tokens:
        return Limit(report.window_tokens, TOLD, "context-command", "the last /context in the session said so")
    window = settings_window(model, settings.models)
    if window:
        return Limit(window, TOLD, "settings", "a settings file sets this model family's variant")
    if settings.is_1m_off:
        return Limit(DEFAULT_CONTEXT_LIMIT, TOLD, "settings", "CLAUDE_CODE_DISABLE_1M_CONTEXT holds all models to it")
    return None


def _assumed(model: str) -> Limit:
    window = usual_window(model)
    signal = "default" if window == DEFAULT_CONTEXT_LIMIT else "native"
    since = f" of {model}, since nothing in the history says so"
    if model == UNKNOWN:
        since = ", since no call so far names a model"
    return Limit(window, ASSUMED, signal, f"assumed{since}: {SETTLES}")


def _last_report(evidence: Evidence, model: str) -> ContextReport | None:
    """The last /context, unless it was of another model family than the one in use now."""
    family = model_family(model)[0]
    for report in reversed(evidence.reports):
        if report.window_tokens:
            other = model_family(report.model)[0]
            return report if not family or not other or family == other else None
    return None
