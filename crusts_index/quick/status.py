"""`crusts status`: the window of a session in one line, the number that `analyze` gives, its transcript read
to its end first."""

import sys

from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.quick import target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.plain import Safe
    from crusts_index.quick.live import Live
    from crusts_index.quick.named import Named
    from crusts_index.store.settings import Settings

SCHEMA_VERSION = 1


def run(argv: list[str]) -> int:
    """Print the line, whatever stands behind the command's name."""
    line = target.CommandLine(argv, switches=("--hook",), valued=("--last",), most_words=1)
    number = line.given.get("--last")
    if number is not None and not (number.isascii() and number.isdigit() and len(number) < 10 and int(number)):
        line.wrong.append(f"--last {number}: no such number")
        number = None
    late = encode(_nothing("not known in time")) if line.flags.json else "CRUSTS: not known in time"
    target.begin(target.LOOK_SECONDS, late + "\n")
    session = line.words[0] if line.words else None
    show(line.settings(), session, int(number) if number else None, hook="--hook" in line.given)
    return 0


def show(settings: "Settings", session: str | None, last: int | None, *, hook: bool = False) -> None:
    """Print one line, or with `--json` an object whatever is found. Raises CrustsError for an id of no session."""
    from crusts_index.quick.live import Live
    from crusts_index.quick.statusline import put
    from crusts_index.store.when import now_ms

    try:
        named = _named(settings, session, last, hook=hook)
    except CrustsError as error:
        if settings.json:
            target.speak()
            sys.stdout.write(encode(_nothing(str(error))) + "\n")
            return
        if session is not None or last is not None:
            raise
        put(f"CRUSTS: {error}")
        return
    live = Live(settings, named, now_ms(), trim=True)
    try:
        if settings.json:
            sys.stdout.write(encode(document(live)) + "\n")
        else:
            put(sentence(live))
        live.remember()
    finally:
        live.close()


def sentence(live: "Live") -> str:
    """The line; it says where a number is not exact."""
    from crusts_index.insight.window.words import left_words, limit_words

    window, facts = live.window, live.facts
    if not live.is_known:
        return "CRUSTS: no API call in this session yet"
    about = "" if window.basis == "exact" else "about "
    count = len(facts.all_compactions)
    parts = [
        f"CRUSTS: {about}{window.usage_percentage:.1f}% ({window.health})",
        f"{window.size:,} of {limit_words(window)} tokens",
        f"{facts.session.messages:,} {'msg' if facts.session.messages == 1 else 'msgs'}",
        f"{count} compaction{'' if count == 1 else 's'}",
    ]
    left = left_words(window)
    parts.append(f"{left} left" if window.calls_left else left)
    return " | ".join(parts)


def document(live: "Live") -> "dict[str, Any]":
    """The same as JSON, under the names that `analyze` gives them."""
    from crusts_index.insight.window.words import window_json
    from crusts_index.quick.clock import again_usd

    window, facts = live.window, live.facts
    return {
        "schema_version": SCHEMA_VERSION,
        "sessionId": facts.session.session_id,
        "project": facts.session.project or None,
        "messageCount": facts.session.messages,
        "model": window.model,
        "total_tokens": window.size,
        "total_accuracy": window.basis,
        "context_limit": window.limit,
        "limit_signal": window.limit_signal,
        "autocompact_trigger": window.trigger,
        "free_tokens": window.free,
        "usage_percentage": window.usage_percentage and round(window.usage_percentage, 2),
        "context_health": window.health,
        "calls_until_compaction": window.calls_left,
        "growth_tokens_per_call": round(window.growth, 1),
        "window": window_json(window),
        "compactions": len(facts.all_compactions),
        "cache_warm": live.is_warm,
        "cache_minutes_left": live.clock and live.clock.minutes(live.now_ms),
        "cache_again_usd": again_usd(live),
        "unindexed_bytes": live.unread,
    }


def _nothing(why: str) -> "dict[str, Any]":
    return {"schema_version": SCHEMA_VERSION, "sessionId": None, "error": why}


def encode(value: object) -> "Safe":
    """JSON without a character that could do harm on a terminal."""
    from crusts_index.quick.readout import encode

    return encode(value, indent=sys.stdout.isatty())


def _named(settings: "Settings", session: str | None, last: int | None, *, hook: bool) -> "Named":
    from crusts_index.claude.payloads import read_hook
    from crusts_index.quick.named import choose, here, latest, of_payload, unindexed

    if session is not None and last is not None:
        raise WrongUsage("an id and --last: give one of the two")
    if hook:
        payload = read_hook(target.read_stdin())
        if payload is not None:
            return of_payload(settings, payload)
    if session is None and last is None and not settings.project:
        found = latest(settings, here())
        if found is not None:
            return found
    try:
        return choose(settings, session, last, here())
    except CrustsError:
        found = unindexed(settings, session) if session else None
        if found is None:
            raise
        return found
