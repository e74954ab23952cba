"""`crusts models`: which models a session used, one after the other."""

from crusts_index.cli import options, show
from crusts_index.cli.session import opened
from crusts_index.render import bill, console, text
from crusts_index.rows.reports import ModelRun
from crusts_index.store.settings import Settings

_JSON = {
    "model": "model",
    "firstMessageIndex": "first_message",
    "lastMessageIndex": "last_message",
    "assistantMessageCount": "calls",
    "totalInputTokens": "input_tokens",
    "totalOutputTokens": "output_tokens",
    "cacheCreationTokens": "cache_write_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "costUsd": "cost_usd",
    "pricedUsd": "priced_usd",
    "unpricedCalls": "unpriced_calls",
    "placeholderCalls": "placeholder_calls",
    "outputMissing": "output_missing",
    "costMissingUsd": "cost_missing_usd",
    "firstSeenAt": "first_seen",
    "lastSeenAt": "last_seen",
}
_SUMS = ("calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_HEADS = ("#", "model", "calls", "input", "output", "cache_read", "cache_write", "messages")


def models(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
) -> None:
    """The models of a session's main thread in the order of its calls, with what each was billed."""
    with opened(settings) as store:
        chosen = store.choose(session, last)
        rows = store.fetch(ModelRun, session=chosen)
    if settings.json:
        show.document({"session": chosen, **history(rows)})
    else:
        _print(chosen, rows)


def history(rows: list[ModelRun]) -> dict[str, object]:
    """The session's models as JSON; message numbers are those of every other report, from 1."""
    return {
        "segments": [{key: getattr(row, name) for key, name in _JSON.items()} for row in rows],
        "uniqueModels": list(dict.fromkeys(row.model for row in rows)),
        "current": rows[-1].model if rows else "unknown",
        "switchCount": max(0, len(rows) - 1),
    }


def _print(session: str, rows: list[ModelRun]) -> None:
    if not rows:
        console.remark(f"Session {session} has no API call yet.")
        return
    times = text.plural(len(rows) - 1, "switch", "switches") if len(rows) > 1 else "no switch"
    console.remark(f"Session {session}: now {rows[-1].model}, {times}")
    values: list[tuple[object, ...]] = [
        (place, row.model, *_sums([row]), f"{row.first_message}→{row.last_message}")
        for place, row in enumerate(rows, 1)
    ]
    if len(rows) > 1:
        values.append((None, "total", *_sums(rows), None))
    forms = dict.fromkeys(("input", "output", "cache_read", "cache_write"), text.tokens)
    show.print_table(_HEADS, values, forms)
    lacking = bill.missing(*rows)
    known = "All but the output is exact, as billed" if lacking else "Exact, as billed"
    console.remark(f"{known}; messages are numbered as in every report.", *([lacking] if lacking else []))


def _sums(rows: list[ModelRun]) -> list[float | None]:
    sums: list[float | None] = [sum(getattr(row, name) for row in rows) for name in _SUMS]
    sums[_SUMS.index("output_tokens")] = text.at_least(
        sum(row.output_tokens for row in rows), sum(row.placeholder_calls for row in rows)
    )
    return sums
