"""Where the money went: the sentence, its parts, the subagents, the dearest moments, and what to do instead."""

from __future__ import annotations

from crusts_index.insight.money.breaks import reason_of
from crusts_index.insight.money.parts import LABELS, SUBAGENTS, mostly, parts_of
from crusts_index.render import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from crusts_index.insight.money.parts import Avoidable, Bill, Part, Way
    from crusts_index.render.page import Page
    from crusts_index.rows.money import Moment, ThreadCost

_BAR = 20  # columns
_SHOWN = 10
_FORMS = {"tokens": text.tokens, "sent": text.tokens, "carried": text.tokens, "again": text.tokens}


def as_json(
    session: str | None,
    bill: Bill,
    avoidable: Avoidable | None,
    said: str,
    moments: Sequence[Moment],
    ways: Sequence[Way],
) -> dict[str, Any]:
    """The keys that other programs rely on, and more beside them."""
    return {
        "session": session,
        "cost_usd": _usd(bill.usd) if bill.is_whole else None,
        "priced_usd": _usd(bill.usd),
        "calls": bill.calls,
        "unpriced_calls": bill.unpriced_calls,
        "placeholder_calls": bill.placeholder_calls,
        "parts": [_part(part) for part in bill.parts],
        "subagents": [_thread(row, bill.usd) for row in bill.threads],
        "largest_avoidable": None
        if avoidable is None
        else {
            "part": "rebuilt",
            "reason": avoidable.sum.key,
            "usd": _usd(avoidable.sum.usd),
            "avoidable_usd": _usd(avoidable.sum.avoidable_usd),
            "tokens": avoidable.sum.tokens,
            "breaks": avoidable.sum.breaks,
            "session": avoidable.largest.session,
            "agent": avoidable.largest.agent,
            "message": avoidable.largest.message,
            "gap_s": avoidable.largest.gap_s,
        },
        "moments": [_moment(moment) for moment in moments],
        "instead": [way._asdict() | {"saves_usd": _usd(way.saves_usd)} for way in ways],
        "sentence": said,
    }


def _usd(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def _part(part: Part) -> dict[str, Any]:
    share = None if part.share is None else round(part.share, 4)
    return {"part": part.part, "usd": _usd(part.usd), "tokens": part.tokens, "share": share}


def _thread(row: ThreadCost, whole: float) -> dict[str, Any]:
    named = ("agent", "description", "spawn", "calls", "unpriced_calls", "placeholder_calls")
    fields = {name: getattr(row, name) for name in named}
    fields |= {"cost_usd": _usd(row.cost_usd), "priced_usd": _usd(row.priced_usd)}
    return fields | {"parts": [_part(part) for part in parts_of([row], whole)]}


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "session": moment.session,
        "agent": moment.agent,
        "message": moment.message,
        "time": moment.time,
        "usd": _usd(moment.cost_usd),
        "mostly": mostly(moment),
        "reason": moment.reason,
    }


def as_text(
    page: Page, bill: Bill, said: str, moments: Sequence[Moment], ways: Sequence[Way], *, is_session: bool
) -> None:
    """The sentence first."""
    page.say(said)
    page.head("By part")
    _parts_text(page, bill)
    if bill.threads:
        page.head("Subagents" if is_session else "Subagents by type")
        _threads_text(page, bill.threads, is_session=is_session)
    if moments:
        page.head("The dearest calls")
        heads = ["message", "time (UTC)", "usd", "mostly"]
        rows = [
            [_place(moment), (moment.time or "")[:16].replace("T", " "), moment.cost_usd, _mostly(moment)]
            for moment in moments
        ]
        if not is_session:
            heads, rows = (
                ["session", *heads],
                [[(moment.session or "")[:8], *row] for moment, row in zip(moments, rows, strict=True)],
            )
        page.rows(heads, rows, {"usd": text.usd})
    if ways:
        page.head("Instead")
        for way in ways:
            page.say(f"{way.do} ({way.why}).")
    page.say()
    page.say(
        "Tokens are exact, USD is derived, at list price; the parts sum to the cost. `crusts cache` has every break."
    )


def _parts_text(page: Page, bill: Bill) -> None:
    shown = sorted((part for part in bill.parts if part.tokens or part.usd), key=lambda part: -part.usd)
    most = max((part.usd for part in shown), default=0.0)
    rows: list[list[object]] = [
        [
            f"{len(bill.threads):,} subagents"
            if part.part == SUBAGENTS and len(bill.threads) > 1
            else _label(part.part),
            part.tokens,
            part.usd,
            part.share,
            "█" * round(_BAR * part.usd / most) if most else "",
        ]
        for part in shown
    ]
    whole = text.at_least(bill.usd, not bill.is_whole or bill.placeholder_calls)
    tokens = sum(part.tokens for part in bill.parts if part.part != "searches")
    rows.append(["all", tokens, whole, 1.0 if bill.usd else None, ""])
    page.rows(["part", "tokens", "usd", "share", ""], rows, {**_FORMS, "usd": text.usd, "share": text.percent})


def _label(part: str) -> str:
    return "1 subagent" if part == SUBAGENTS else LABELS[part]


def _threads_text(page: Page, threads: Sequence[ThreadCost], *, is_session: bool) -> None:
    dearest = sorted(threads, key=lambda row: -row.priced_usd)[:_SHOWN]
    rows = [
        [
            *([f"#{row.spawn}" if row.spawn is not None else None] if is_session else []),
            " ".join(filter(None, (row.agent, row.description and f"– {row.description}"))) or "subagent",
            row.calls,
            row.carried_tokens,
            row.new_tokens + row.compaction_tokens,
            row.rebuilt_tokens,
            text.at_least(row.priced_usd, row.unpriced_calls or row.placeholder_calls),
        ]
        for row in dearest
    ]
    heads = [*(["spawn"] if is_session else []), "agent", "calls", "carried", "sent", "again", "usd"]
    page.rows(heads, rows, {**_FORMS, "usd": text.usd})
    if len(threads) > _SHOWN:
        page.say(f"+ {len(threads) - _SHOWN:,} more, counted above")


def _place(moment: Moment) -> str:
    number = f"#{moment.message}" if moment.message is not None else "?"
    return number if moment.agent == "main" else f"{moment.agent} {number}"


def _mostly(moment: Moment) -> str:
    part = mostly(moment)
    if part == "rebuilt" and moment.reason is not None:
        return f"{LABELS[part]}: {reason_of(moment.reason).label}"
    return LABELS[part]
