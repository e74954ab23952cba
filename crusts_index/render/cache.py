"""What the prompt cache did not hold, by reason, day, project or model, and break by break."""

from __future__ import annotations

from crusts_index.insight.money.breaks import Sum, by_reason, reason_of, summed
from crusts_index.insight.money.parts import span
from crusts_index.render import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from crusts_index.render.page import Page
    from crusts_index.rows.money import CacheBreak, CacheTotal

_FORMS = {"tokens": text.tokens, "context": text.tokens}
_KNOWN = (
    "logged: the API told the reason; exact: the requests show it; inferred: the first that holds of what stands"
    " between the two calls. Tokens are exact, USD is derived, at list price; avoidable: less what reading them from"
    " the cache would have cost."
)


def as_json(
    total: CacheTotal, breaks: Sequence[CacheBreak], by: str, sums: Sequence[Sum] | None, limit: int | None
) -> dict[str, Any]:
    """The keys that other programs rely on; `rows` beside them where it is not by reason."""
    sent = total._asdict()
    sent["avoidable_usd"] = _usd(summed(None, None, breaks).priced_avoidable_usd)
    del sent["saved_usd"]
    answer: dict[str, Any] = {"total": sent, "reasons": [_sum_json(group, "reason") for group in by_reason(breaks)]}
    if sums is not None:
        answer["rows"] = [_sum_json(group, by) for group in sums[:limit]]
    answer["breaks"] = [break_json(row) for row in breaks]
    return answer


def break_json(row: CacheBreak) -> dict[str, Any]:
    """A single break."""
    fields = row._asdict()
    fields["is_logged"] = row.certainty == "logged"
    fields |= {"usd": _usd(row.usd), "avoidable_usd": _usd(row.avoidable_usd)}
    del fields["time_ms"]
    return fields


def _sum_json(group: Sum, name: str) -> dict[str, Any]:
    fields: dict[str, Any] = {name: group.key}
    if name == "reason":
        fields |= {"is_logged": group.certainty == "logged", "certainty": group.certainty}
    return fields | {
        "breaks": group.breaks,
        "tokens": group.tokens,
        "usd": _usd(group.usd),
        "avoidable_usd": _usd(group.avoidable_usd),
    }


def _usd(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def head(page: Page, total: CacheTotal, breaks: Sequence[CacheBreak]) -> None:
    """What it all comes to, in one sentence."""
    sent = total.new_tokens + total.rebuilt_tokens + total.compaction_tokens
    if not breaks:
        many = f"{text.tokens(sent)} token{'' if sent == 1 else 's'}"
        page.say(f"Nothing was sent again of {many} sent: the cache held for every call.")
        return
    again = summed(None, None, breaks)
    share = text.percent(total.rebuilt_tokens / sent) if sent else text.NULL
    unpriced = again.usd is None
    page.say(
        f"{text.tokens(total.rebuilt_tokens)} of {text.tokens(sent)} tokens sent ({share}) had been cached and were"
        f" sent again, for {text.usd(text.at_least(total.rebuilt_usd, unpriced))}; avoidable:"
        f" {text.usd(text.at_least(again.priced_avoidable_usd, unpriced))}, in {text.plural(len(breaks), 'break')}."
    )


def sums_text(page: Page, total: CacheTotal, by: str, sums: Sequence[Sum], shown: int | None) -> None:
    """Sums of breaks as a table; by reason with what is too small to be one, so that the table sums up."""
    rows = [[*_key(group, by), *_numbers(group)] for group in sums[:shown]]
    names = ("reason", "known") if by == "reason" else (by,)
    if by == "reason":
        tokens, usd = sum(group.tokens for group in sums), sum(group.priced_usd for group in sums)
        rows.append(
            ["less than 2,000 a call", None, None, total.rebuilt_tokens - tokens, total.rebuilt_usd - usd, None]
        )
    page.rows([*names, "breaks", "tokens", "usd", "avoidable_usd"], rows, {**_FORMS, "usd": text.usd})
    if shown is not None and len(sums) > shown:
        page.say(f"+ {len(sums) - shown:,} more")
    page.say(_KNOWN)


def _key(group: Sum, by: str) -> list[str | None]:
    if by == "reason":
        return [reason_of(group.key or "").label, group.certainty]
    if by == "project" and group.key is not None:
        return [text.shorten_path(group.key, 32)]
    return [group.key[:8] if by == "session" and group.key else group.key]


def _numbers(group: Sum) -> list[float | None]:
    unpriced = group.usd is None
    return [
        group.breaks,
        group.tokens,
        text.at_least(group.priced_usd, unpriced),
        text.at_least(group.priced_avoidable_usd, unpriced),
    ]


def breaks_text(page: Page, breaks: Sequence[CacheBreak], shown: int) -> None:
    """The single breaks, the dearest first."""
    dearest = sorted(breaks, key=lambda row: (-(row.avoidable_usd or 0), -row.tokens))
    rows = [
        [
            (row.session or "")[:8],
            f"#{row.message}" if row.agent == "main" else f"{row.agent} #{row.message}",
            (row.time or "")[:16].replace("T", " "),
            _reason(row),
            row.tokens,
            row.avoidable_usd,
        ]
        for row in dearest[:shown]
    ]
    page.rows(["session", "message", "time (UTC)", "reason", "tokens", "avoidable_usd"], rows, _FORMS)
    if len(breaks) > shown:
        page.say(f"+ {len(breaks) - shown:,} more; --limit {len(breaks)} shows all")


def _reason(row: CacheBreak) -> str:
    label = reason_of(row.reason).label
    if row.reason in ("pause", "long_pause") and row.gap_s is not None:
        return f"pause of {span(row.gap_s)}"
    return f"{label}: {row.detail}" if row.detail else label
