"""What is said before a cold cache is paid for: what sending the window again costs, and what to type instead (D18)."""

from crusts_index.quick.clock import again_usd
from crusts_index.rows.live import LivePrice
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.claude.payloads import HookPayload
    from crusts_index.quick.live import Live

AT_START, AT_PROMPT = "SessionStart", "UserPromptSubmit"
_MOST_CALLS = 100
"""A compaction that saves nothing before so many calls is none to advise."""
SOURCES = ("resume", "fork")
"""How a session starts that has a window already."""


class Cold(NamedTuple):
    """A window whose cache is gone: its tokens, what sending them again costs, and what reading a million would, USD;
    the tokens that a compaction leaves and how that is known; those that a session starts with, 0 = not known."""

    tokens: int
    usd: float
    read_usd: float | None
    kept: int
    kept_by: str
    fixed: int


def cold_of(live: "Live", payload: "HookPayload", least_usd: float) -> Cold | None:
    """The cold window that the next call sends again for `least_usd` or more; None where it is none, or not known."""
    if live.clock is None or live.is_warm or payload.cache_is_kept:
        return None
    tokens, usd = payload.context_tokens, payload.cache_write_usd
    if not tokens or usd is None:
        tokens, usd = live.window.size, again_usd(live)
    if not tokens or usd is None or usd < least_usd:
        return None
    response = live.clock.response_id
    prices = live.fetch(LivePrice, response=response) if response is not None else []
    share, kept_by = _freed(live)
    kept, fixed = round((1 - share) * tokens), live.window.fixed_context.tokens or 0
    if kept < fixed < tokens:
        kept, kept_by = fixed, "no less than a session starts with"
    return Cold(
        tokens=tokens,
        usd=usd,
        read_usd=prices[0].read_usd if prices else None,
        kept=kept,
        kept_by=kept_by,
        fixed=fixed,
    )


def warning(cold: Cold, event: str) -> str:
    """It in words, with the arithmetic; all of it is estimated."""
    price = cold.usd / cold.tokens
    kept_usd = cold.kept * price
    prompt, first = ("your next prompt", "first") if event == AT_START else ("this prompt", "first (Esc, then type it)")
    going_on, compacted = f"${cold.usd:.2f}", f"${kept_usd:.2f} to write the about {cold.kept:,} that stay"
    if cold.read_usd:
        read = cold.read_usd / 1e6
        freed_usd = (cold.tokens - cold.kept) * read
        calls = int(kept_usd / freed_usd) + 1 if freed_usd > 0 else _MOST_CALLS
        worth = "not worth it" if calls >= _MOST_CALLS else f"cheaper from {_calls(calls)} on"
        going_on += f", then {_small(cold.tokens * read)} a call to read them"
        compacted += f" ({cold.kept_by}), then {_small(cold.kept * read)} a call: {worth}"
    else:
        compacted += f" ({cold.kept_by})"
    sends = f"{prompt} sends {cold.tokens:,} tokens again, about ${cold.usd:.2f} (at ${price * 1e6:.2f} a million)"
    lines = [
        f"[crusts] The prompt cache is cold: {sends}. What to type:",
        f"  nothing: {going_on}.",
        f"  /compact {first}: the same ${cold.usd:.2f} to send them once, {compacted}; the summary's output apart.",
    ]
    if 0 < cold.fixed < cold.tokens:
        starts = f"the {cold.fixed:,} tokens that a session starts with"
        lines.append(f"  /clear, for another task: about ${cold.fixed * price:.2f}, for {starts}.")
    return "\n".join(lines)


def _freed(live: "Live") -> tuple[float, str]:
    """The share of a window that a compaction frees, and how that is known (D18)."""
    from crusts_index.insight.waste.actions import FREED_SHARE
    from crusts_index.rows.actions import Past

    about = {"session": live.session_id, "until": live.now_ms}
    past = next(iter(live.fetch(Past, **about)), None) if live.head is not None else None
    if past is None or past.freed_share is None:
        return FREED_SHARE, f"{FREED_SHARE:.2f} freed, as compactions do; none of yours is logged yet"
    yours = "your one compaction" if past.compactions == 1 else f"the median of your {past.compactions:,} compactions"
    return past.freed_share, f"{past.freed_share:.2f} freed, as by {yours}"


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"


def _small(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.1 else f"${usd:.3f}"
