"""What a report says about the bill of a session: its input by cache, its cost, its subagents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.model_history import ModelHistory
from crusts_index.insight.session.numbers import DERIVED, EXACT
from crusts_index.render import bill, text
from crusts_index.render.report_parts import Column, Table, count, numbers, segments
from crusts_index.rows.reports import Usage
from crusts_index.rows.session import Billed

Json = dict[str, Any]

_AGENTS = 12


def heads(placeholders: int) -> tuple[Column, ...]:
    """The heads over bills with so many placeholders in all."""
    return (
        *numbers(EXACT, "calls", "uncached", "cache read", "cache write"),
        Column("output", "number", output_basis(placeholders)),
        Column("cost", "number", DERIVED),
    )


def output_basis(placeholders: int) -> str:
    """What outputs are of which so many are placeholders."""
    return bill.AT_LEAST if placeholders else EXACT


def costs(facts: Facts, billed: Billed) -> Json:
    """The input by cache as a bar, the sums, and the threads beside the main one."""
    calls = facts.calls
    seen = Billed(
        calls=len(calls),
        input=sum(call.input_tokens for call in calls),
        cache_read=sum(call.cache_read_tokens for call in calls),
        cache_write=sum(call.cache_write_tokens for call in calls),
        output=sum(call.output_tokens for call in calls),
        cost_usd=None,
        priced_usd=_sum(call.cost_usd for call in calls),
        unpriced_calls=sum(call.cost_usd is None for call in calls),
        placeholder_calls=sum(call.is_placeholder for call in calls),
        output_missing=0,
        cost_missing_usd=0.0,
    )
    rows = [("billed to the session", *row(billed)), ("its main thread", *row(seen))]
    notes = [] if facts.is_partial else _notes(billed, seen)
    return {
        "bar": cache_bar(billed),
        "sums": Table((Column(""), *heads(billed.placeholder_calls or seen.placeholder_calls)), rows),
        "agents": _agents(facts),
        "notes": notes,
    }


def row(billed: Billed | Usage) -> tuple[str, ...]:
    """The cells of a bill, in the order of the heads."""
    output = text.at_least(billed.output, billed.placeholder_calls)
    tokens = (billed.input, billed.cache_read, billed.cache_write, output)
    return (count(billed.calls), *map(text.tokens, tokens), text.usd(bill.cost(billed)))


def cost_note(billed: Billed | Usage) -> str:
    """What stands under a cost."""
    notes = []
    if billed.unpriced_calls:
        notes.append(f"{text.plural(billed.unpriced_calls, 'call')} without a price")
    if billed.placeholder_calls:
        notes.append(f"{text.plural(billed.placeholder_calls, 'output')} not known whole")
    return ", ".join(notes) or "at list price"


def cache_bar(billed: Billed | Usage) -> list[Any]:
    """Where the input came from."""
    parts = (
        ("read", "read from cache", billed.cache_read),
        ("write", "written to cache", billed.cache_write),
        ("uncached", "uncached", billed.input),
    )
    whole = sum(tokens for _, _, tokens in parts) or 1
    return segments(((key, name, tokens, text.percent(tokens / whole)) for key, name, tokens in parts), least=0.0)


def models(history: ModelHistory) -> Table:
    """The models one after the other."""
    columns = (
        *(Column("model", "path"), Column("messages")),
        *heads(sum(one.placeholder_calls for one in history.segments)),
    )
    rows = [
        (
            one.model,
            f"#{one.first_message} to #{one.last_message}",
            count(one.calls),
            *map(text.tokens, (one.input_tokens, one.cache_read_tokens, one.cache_write_tokens)),
            text.tokens(text.at_least(one.output_tokens, one.placeholder_calls)),
            text.usd(bill.cost(one)),
        )
        for one in history.segments
    ]
    return Table(columns, rows)


def _notes(billed: Billed, seen: Billed) -> list[str]:
    notes = []
    if billed.unpriced_calls:
        calls = text.plural(billed.unpriced_calls, "call")
        notes.append(f"{calls} have no list price and are not in the cost: try `crusts index --prices --fetch`.")
    if billed.placeholder_calls:
        notes.append(bill.missing(billed))
    if seen.calls > billed.calls:
        notes.append("The main thread holds calls copied from another session, which is where they were billed.")
    return notes


def _agents(facts: Facts) -> Table:
    """Subagents and the like, the dearest first."""
    others = [thread for thread in facts.threads if thread.kind != "main" and thread.calls]
    others.sort(key=lambda one: (-(one.priced_usd or 0), -one.context_tokens))
    columns = (
        Column("subagent"),
        Column("task", "path"),
        *numbers(EXACT, "calls", "input"),
        Column("output", "number", output_basis(sum(one.placeholder_calls for one in others))),
        Column("cost", "number", DERIVED),
    )
    rows = [
        (
            one.agent_type or one.kind,
            one.agent_description or "",
            count(one.calls),
            text.tokens(one.context_tokens),
            text.tokens(text.at_least(one.output_tokens, one.placeholder_calls)),
            text.usd(bill.cost(one)),
        )
        for one in others[:_AGENTS]
    ]
    return Table(columns, rows, more=max(0, len(others) - _AGENTS))


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
