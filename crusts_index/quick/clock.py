"""How long a session's prompt cache still lives, and what the next call costs once it is cold (D21)."""

from crusts_index.rows.live import LivePrice
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.claude.payloads import Told
    from crusts_index.quick.live import Live

_CACHE_MS = 300_000
_CACHE_1H_MS = 3_600_000
_MINUTE_MS = 60_000
_LONG = "1h"


class Clock(NamedTuple):
    """When a cache expires, UTC milliseconds; whether what is written to it lives for an hour instead of 5 minutes;
    the response by whose prices it is written."""

    expires_ms: int
    is_long: bool
    response_id: int | None

    def minutes(self, now_ms: int) -> int | None:
        """Whole minutes until it expires; None once it is cold."""
        return (self.expires_ms - now_ms) // _MINUTE_MS if self.expires_ms > now_ms else None


def clock_of(
    told: "Told | None", used_ms: int | None, response_id: int | None, now_ms: int, *, is_long: bool
) -> "Clock | None":
    """The clock as a payload tells it, else by when the cache was last used; None for neither.

    `is_long` is the kind of the last write in the transcript.
    """
    if told is not None:
        is_long = told.cache_ttl == _LONG if told.cache_ttl else is_long
        if told.cache_is_expired:
            return Clock(min(now_ms, told.cache_expires_ms or now_ms), is_long, response_id)
        if told.cache_expires_ms is not None:
            return Clock(told.cache_expires_ms, is_long, response_id)
    return None if used_ms is None else Clock(used_ms + life_ms(is_long=is_long), is_long, response_id)


def life_ms(*, is_long: bool) -> int:
    """Milliseconds that a cache lives behind its last use."""
    return _CACHE_1H_MS if is_long else _CACHE_MS


def again_usd(live: "Live") -> float | None:
    """What it costs to send the whole window again, at the price of a write of its kind; None without a price."""
    clock, size = live.clock, live.window.size
    if clock is None or clock.response_id is None or not size:
        return None
    prices = live.fetch(LivePrice, response=clock.response_id)
    usd = (prices[0].long_usd if clock.is_long else prices[0].short_usd) if prices else None
    return None if usd is None else size * usd / 1e6


def words(live: "Live") -> str:
    """`3m` that are left, `<1m`, `cold, next $0.84`, or `cold` without a price; nothing where there is no cache."""
    if live.clock is None:
        return ""
    minutes = live.clock.minutes(live.now_ms)
    if minutes is not None:
        return f"{minutes}m" if minutes else "<1m"
    usd = again_usd(live)
    return "cold" if usd is None else f"cold, next ${usd:.2f}"
