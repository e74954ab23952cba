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
    told = total._asdict()
    told["avoidable_usd"] = _usd(summed(None, None, breaks).priced_avoidable_usd)
    del told["saved_usd"]
    found: dict[str, Any] = {"total": told, "reasons": [_sum_json(one, "reason") for one in by_reason(breaks)]}
    if sums is not None:
        found["rows"] = [_sum_json(one, by) for one in sums[:limit]]
    found["breaks"] = [break_json(one) for one in breaks]
    return found


def break_json(one: CacheBreak) -> dict[str, Any]:
    """A single break."""
    told = one._asdict()
    told["is_logged"] = one.certainty == "logged"
    told |= {"usd": _usd(one.usd), "avoidable_usd": _usd(one.avoidable_usd)}
    del told["time_ms"]
    return told


def _sum_json(one: Sum, name: str) -> dict[str, Any]:
    told: dict[str, Any] = {name: one.key}
    if name == "reason":
        told |= {"is_logged": one.certainty == "logged", "certainty": one.certainty}
    return told | {
        "breaks": one.breaks,
        "tokens": one.tokens,
        "usd": _usd(one.usd),
        "avoidable_usd": _usd(one.avoidable_usd),
    }


def _usd(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def head(page: Page, total: CacheTotal, breaks: Sequence[CacheBreak]) -> None:
    """What it all comes to, in one sentence."""
    sent = total.new_tokens + total.rebuilt_tokens + total.compaction_tokens
    if not breaks:
        page.say(f"Nothing was sent again of {text.tokens(sent)} tokens sent: the cache held for every call.")
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
    rows = [[*_key(one, by), *_numbers(one)] for one in sums[:shown]]
    names = ("reason", "known") if by == "reason" else (by,)
    if by == "reason":
        tokens, usd = sum(one.tokens for one in sums), sum(one.priced_usd for one in sums)
        rows.append(
            ["less than 2,000 a call", None, None, total.rebuilt_tokens - tokens, total.rebuilt_usd - usd, None]
        )
    page.rows([*names, "breaks", "tokens", "usd", "avoidable_usd"], rows, {**_FORMS, "usd": text.usd})
    if shown is not None and len(sums) > shown:
        page.say(f"+ {len(sums) - shown:,} more")
    page.say(_KNOWN)


def _key(one: Sum, by: str) -> list[str | None]:
    if by == "reason":
        return [reason_of(one.key or "").label, one.certainty]
    if by == "project" and one.key is not None:
        return [text.shorten_path(one.key, 32)]
    return [one.key[:8] if by == "session" and one.key else one.key]


def _numbers(one: Sum) -> list[float | None]:
    unpriced = one.usd is None
    return [
        one.breaks,
        one.tokens,
        text.at_least(one.priced_usd, unpriced),
        text.at_least(one.priced_avoidable_usd, unpriced),
    ]


def breaks_text(page: Page, breaks: Sequence[CacheBreak], shown: int) -> None:
    """The single breaks, the dearest first."""
    dearest = sorted(breaks, key=lambda one: (-(one.avoidable_usd or 0), -one.tokens))
    rows = [
        [
            (one.session or "")[:8],
            f"#{one.message}" if one.agent == "main" else f"{one.agent} #{one.message}",
            (one.time or "")[:16].replace("T", " "),
            _reason(one),
            one.tokens,
            one.avoidable_usd,
        ]
        for one in dearest[:shown]
    ]
    page.rows(["session", "message", "time (UTC)", "reason", "tokens", "avoidable_usd"], rows, _FORMS)
    if len(breaks) > shown:
        page.say(f"+ {len(breaks) - shown:,} more; --limit {len(breaks)} shows all")


def _reason(one: CacheBreak) -> str:
    label = reason_of(one.reason).label
    if one.reason in ("pause", "long_pause") and one.gap_s is not None:
        return f"pause of {span(one.gap_s)}"
    return f"{label}: {one.detail}" if one.detail else label
