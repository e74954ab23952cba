"""Where Claude Code compacts a window by itself: its window of compaction less a buffer (D10)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple
from crusts_index.windows import usual_buffer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.window.evidence import Evidence
    from crusts_index.insight.window.habits import Habits
    from crusts_index.insight.window.settings import WindowSettings


class Trigger(NamedTuple):
    """The size at which Claude Code compacts, in tokens, None where auto-compaction is off; and why, in words.

    `window`: the size of which that leaves a buffer: the limit, or a smaller one that is set.
    """

    tokens: int | None
    why: str
    window: int


def trigger_of(evidence: Evidence, settings: WindowSettings, habits: Habits, limit: int) -> Trigger:
    """The trigger of a window of `limit` tokens."""
    if settings.off_by is not None:
        return Trigger(None, f"auto-compaction is off: {settings.off_by}", limit)
    model = settings.payload_model or evidence.asked
    window, what = settings.compact_window(model) or (limit, "limit")
    if window >= limit:
        window, what = limit, "limit"
    buffer, why = _buffer(evidence, settings, habits, limit)
    if window <= buffer:
        tokens, said = window, f"the {what} itself, which is not above the buffer of {buffer:,}"
    elif buffer:
        tokens, said = window - buffer, f"{what} {window:,} − {buffer:,}, {why}"
    else:
        tokens, said = window, f"the {what} itself: {why}"
    if settings.share is not None and int(window * settings.share) < tokens:
        tokens = int(window * settings.share)
        said = f"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: {settings.share:.0%} of the {what}"
    return Trigger(tokens, said, window)


def _buffer(evidence: Evidence, settings: WindowSettings, habits: Habits, limit: int) -> tuple[int, str]:
    """Tokens that are kept free, and where that is from."""
    for report in reversed(evidence.reports):
        for label, tokens, _ in report.rows:
            if "autocompact buffer" in label.lower() and tokens:
                return tokens, "the buffer by the session's last /context"
    seen = habits.buffer(limit, evidence.model, evidence.version)
    if seen is not None:
        return seen, "the buffer that past automatic compactions left"
    if settings.autocompact_buffer is not None:
        return settings.autocompact_buffer, "autocompactBufferTokens in config.json"
    usual = usual_buffer(evidence.model, evidence.version)
    if not usual:
        return 0, f"{evidence.model} is compacted only once a prompt is refused"
    return usual, "the buffer of this Claude Code"
