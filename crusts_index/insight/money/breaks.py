"""Cache breaks by what they have in common, and what is said of their reasons (D21)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.rows.money import CacheBreak


class Reason(NamedTuple):
    """What is said of a reason."""

    label: str
    """In a table."""
    once: str
    """In a sentence, of one break."""
    often: str
    """Likewise, of several, `{}` being how many."""
    instead: str
    """What would have avoided it; empty: nothing that the user does."""


_PAUSE = "`/compact` before a long pause, or `/clear` when a task is done: what comes back is then small"
REASONS: dict[str, Reason] = {
    "pause": Reason(
        "pause over 5 minutes",
        "after a pause of more than five minutes",
        "after {} pauses of more than five minutes",
        _PAUSE,
    ),
    "long_pause": Reason(
        "pause over an hour", "after a pause of more than an hour", "after {} pauses of more than an hour", _PAUSE
    ),
    "model_switched": Reason(
        "another model",
        "after a switch to another model",
        "after {} switches to another model",
        "switch right after `/compact` or `/clear`, or give that work to a subagent: each model has its own cache",
    ),
    "rewind": Reason(
        "rewind", "after a rewind", "after {} rewinds", "rewind soon, before much stands behind the message"
    ),
    "context_edited": Reason(
        "context cut",
        "after something was taken out of the context",
        "after {} times that something was taken out of the context",
        "`/compact` at a moment of your choice, before results are taken out piece by piece",
    ),
    "updated": Reason(
        "Claude Code updated",
        "after an update of Claude Code",
        "after {} updates of Claude Code",
        "update between sessions: `/clear` or a new session first",
    ),
    "tools_changed": Reason(
        "tools, servers or skills",
        "after a change of tools, servers or skills",
        "after {} changes of tools, servers or skills",
        "connect MCP servers and install skills before the session begins; `crusts fix` names those never used",
    ),
    "system_changed": Reason(
        "system prompt",
        "after a change of the system prompt",
        "after {} changes of the system prompt",
        "set modes and styles at the start",
    ),
    "instructions_changed": Reason(
        "CLAUDE.md",
        "after a change of CLAUDE.md",
        "after {} changes of CLAUDE.md",
        "edit CLAUDE.md at the end of a session, or `/clear` right after it",
    ),
    "effort_changed": Reason(
        "effort",
        "after a change of the effort",
        "after {} changes of the effort",
        "choose the effort at the start of a session",
    ),
    "cache_control_changed": Reason(
        "cache settings", "after a change of what is to be cached", "after {} changes of what is to be cached", ""
    ),
    "resumed_agent": Reason(
        "subagent asked again",
        "when a subagent was asked again",
        "at {} times that a subagent was asked again",
        "ask a subagent all at once, or start a new one with the few lines that it needs",
    ),
    "opened_again": Reason(
        "session opened again",
        "after the session was opened again",
        "after {} times that the session was opened again",
        "go on in the same process, or begin a new session with what it needs",
    ),
    "not_written": Reason(
        "not cached before", "that the call before had not cached", "in {} calls, as those before had not cached it", ""
    ),
    "prefix_changed": Reason(
        "nothing was read",
        "in a call that read nothing from the cache",
        "in {} calls that read nothing from the cache",
        "",
    ),
    "messages_changed": Reason(
        "earlier messages changed", "after a change of earlier messages", "after {} changes of earlier messages", ""
    ),
    "unknown": Reason("not known", "in a call, and nothing tells why", "in {} calls, and nothing tells why", ""),
}
"""By name, as in the view cache_breaks."""


def reason_of(name: str) -> Reason:
    """What is said of a reason; of a word of the API's that is not known the word."""
    words = name.replace("_", " ")
    return REASONS.get(name) or Reason(words, f"after {words}", f"after {{}} times {words}", "")


class Sum(NamedTuple):
    """Breaks that have something in common. USD: None = one of them is unpriced, the sums of what is priced beside."""

    key: str | None
    certainty: str | None
    breaks: int
    tokens: int
    usd: float | None
    avoidable_usd: float | None
    priced_usd: float
    priced_avoidable_usd: float


def summed(key: str | None, certainty: str | None, breaks: Iterable[CacheBreak]) -> Sum:
    """What breaks come to."""
    known = list(breaks)
    usd = [row.usd for row in known if row.usd is not None]
    avoidable = [row.avoidable_usd for row in known if row.avoidable_usd is not None]
    is_whole = len(usd) == len(known)
    return Sum(
        key,
        certainty,
        len(known),
        sum(row.tokens for row in known),
        sum(usd) if is_whole else None,
        sum(avoidable) if len(avoidable) == len(known) else None,
        sum(usd),
        sum(avoidable),
    )


def by_reason(breaks: Iterable[CacheBreak]) -> list[Sum]:
    """Sums by reason and how it is known, the most avoidable USD first."""
    groups: dict[tuple[str, str], list[CacheBreak]] = {}
    for row in breaks:
        groups.setdefault((row.reason, row.certainty), []).append(row)
    return _ordered(summed(reason, certainty, same) for (reason, certainty), same in groups.items())


def by_column(breaks: Iterable[CacheBreak], column: str) -> list[Sum]:
    """Sums by day, project, model or session: days in their order, of all else the most avoidable USD first."""
    groups: dict[str | None, list[CacheBreak]] = {}
    for row in breaks:
        groups.setdefault(getattr(row, column), []).append(row)
    sums = [summed(key, None, same) for key, same in groups.items()]
    return sorted(sums, key=lambda group: group.key or "") if column == "day" else _ordered(sums)


def _ordered(sums: Iterable[Sum]) -> list[Sum]:
    return sorted(
        sums, key=lambda group: (-group.priced_avoidable_usd, -group.tokens, group.key or "", group.certainty or "")
    )


class Agreement(NamedTuple):
    """Of the breaks of which the API told the reason, how many would be inferred alike."""

    logged: int
    agree: int


_ALIKE = {
    "messages_changed": {"messages_changed", "rewind", "context_edited", "instructions_changed"},
    "model_changed": {"model_switched"},
    "tools_changed": {"tools_changed", "updated", "prefix_changed"},
    "system_changed": {"updated", "instructions_changed", "prefix_changed"},
}
"""By the API's own word: what is another name for it, or says more of it."""


def agreement(breaks: Iterable[CacheBreak]) -> Agreement:
    """How well what is inferred agrees with what the API told, where it told anything."""
    logged = [row for row in breaks if row.told is not None]
    return Agreement(len(logged), sum(row.inferred in _ALIKE.get(row.told or "", {row.told}) for row in logged))
