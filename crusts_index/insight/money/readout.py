"""What the readout says of a period: peaks, medians, curves cut short, and findings (X-readout).

On the quick path: nothing slow to import here.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from crusts_index.rows.readout import (
        ReadoutBreaks,
        ReadoutCompaction,
        ReadoutReread,
        ReadoutSession,
        ReadoutTool,
        ReadoutTotal,
    )

    Seen = TypeVar("Seen", ReadoutCompaction, ReadoutReread)

DAYS = 30
"""The period where none is given."""
THRESHOLDS = (150_000, 250_000)
"""Context tokens that a peak is held against (X-peak)."""
CURVE_TURNS = (1, 10, 25, 50, 100, 200)
"""Calls of the main thread at which sessions are compared (X-ctx)."""
CURVE_POINTS = 20
"""Points that are left of a curve."""
FINDINGS = 3
"""Findings at most."""
MAX_READOUT_BYTES = 400
"""The compact line stays below this."""
_NAME = 40  # characters of a file's or tool's name in a finding


def median(values: "Iterable[int]") -> int | None:
    """The middle value; of an even number the mean of the two middle ones, rounded half up. None of none."""
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle] + 1) // 2


def downsample(curve: "Sequence[int]", points: int = CURVE_POINTS) -> list[int]:
    """At most `points` of a curve, ends included; the peak takes the place of the point nearest to it."""
    last = len(curve) - 1
    if last < points:
        return list(curve)
    places = [round(i * last / (points - 1)) for i in range(points)]
    peak = max(curve)
    if all(curve[place] != peak for place in places):
        at = curve.index(peak)
        nearest = min(range(points), key=lambda i: abs(places[i] - at))
        places[nearest] = at
    return [curve[place] for place in places]


def curve_median(curves: "Iterable[Sequence[int]]") -> dict[str, int | None]:
    """The median context at each of CURVE_TURNS, over the sessions that reached it."""
    known = list(curves)
    return {str(turn): median(curve[turn - 1] for curve in known if len(curve) >= turn) for turn in CURVE_TURNS}


def share(part: int, whole: int) -> float | None:
    """A share of one to four digits; None of nothing."""
    return round(part / whole, 4) if whole else None


def detail(
    since: str | None,
    totals: "ReadoutTotal",
    sessions: "Sequence[ReadoutSession]",
    curves: "Mapping[int, Sequence[int]]",
    compactions: "Sequence[ReadoutCompaction]",
    rereads: "Sequence[ReadoutReread]",
    tools: "Iterable[ReadoutTool]",
    breaks: "Sequence[ReadoutBreaks]" = (),
) -> "dict[str, Any]":
    """All that `readout --full` prints.

    `curves` are by session_key. Peaks, compactions and re-reads of a session are those of its own view,
    totals count what stands in several transcripts once (D2), so the sessions need not add up to them.
    """
    cut, reread = _by_session(compactions), _by_session(rereads)
    listed = [
        _session(row, curves.get(row.session_key, ()), cut.get(row.session, ()), reread.get(row.session, ()))
        for row in sessions
    ]
    known = [curves[row.session_key] for row in sessions if row.session_key in curves]
    peaks = [row["peak_ctx"] for row in listed if row["peak_ctx"] is not None]
    counted = [row for row in rereads if row.is_owner]
    told: dict[str, Any] = {
        "since": since,
        "calls": totals.calls,
        "sessions": listed,
        "peak_p50": median(peaks),
    }
    for threshold in THRESHOLDS:
        told[f"over_{threshold // 1000}k"] = sum(peak >= threshold for peak in peaks)
    told |= {
        "compactions": sum(row.is_owner for row in compactions),
        "curve_median": curve_median(known),
        "cache": {
            "read_share": share(totals.cache_read, totals.context),
            "write_share": share(totals.cache_write, totals.context),
            "uncached_share": share(totals.input, totals.context),
            "write_usd": totals.write_usd,
            "unpriced_calls": totals.unpriced_calls,
            "nonstandard_calls": totals.nonstandard_calls,
        },
        "rereads": {
            "count": len(counted),
            "tokens": sum(row.tokens for row in counted),
            "files": _files(counted),
        },
        "tools": [row._asdict() for row in tools],
    }
    told["findings"] = findings(told, compactions, breaks)
    return told


def _by_session(rows: "Iterable[Seen]") -> "dict[str | None, list[Seen]]":
    """What a session's own view shows, by the session's id."""
    found: dict[str | None, list[Seen]] = {}
    for row in rows:
        if row.in_view:
            found.setdefault(row.session, []).append(row)
    return found


def _session(
    row: "ReadoutSession",
    curve: "Sequence[int]",
    compactions: "Sequence[ReadoutCompaction]",
    rereads: "Sequence[ReadoutReread]",
) -> "dict[str, Any]":
    return {
        "session": row.session,
        "project": row.project,
        "peak_ctx": max(curve, default=None),
        "curve": downsample(curve),
        "calls": row.calls,
        "compactions": [
            {"before": one.before, "after": one.after, "trigger": one.trigger, "timestamp": one.timestamp}
            for one in compactions
        ],
        "rereads": {"count": len(rereads), "tokens": sum(one.tokens for one in rereads)},
    }


def _files(rereads: "Iterable[ReadoutReread]") -> "list[dict[str, Any]]":
    """Re-reads by file, most tokens first."""
    files: dict[str, list[int]] = {}
    for row in rereads:
        files.setdefault(row.path, []).append(row.tokens)
    rows = [{"path": path, "count": len(each), "tokens": sum(each)} for path, each in files.items()]
    return sorted(rows, key=lambda row: (-row["tokens"], -row["count"], row["path"]))


def findings(
    told: "Mapping[str, Any]", compactions: "Iterable[ReadoutCompaction]", breaks: "Sequence[ReadoutBreaks]" = ()
) -> list[str]:
    """Up to three facts with their numbers, the one about the most tokens first."""
    facts: list[tuple[int, str]] = []
    tools = told["tools"]
    in_all = sum(tool["tokens"] for tool in tools)
    if in_all:
        top = tools[0]
        percent = 100 * top["tokens"] / in_all
        text = f"{_short(top['name'])} results: ~{tokens(top['tokens'])} tokens, {percent:.0f}% of all tools'"
        facts.append((top["tokens"], text))
    if files := told["rereads"]["files"]:
        worst = files[0]
        text = f"{_short(_base(worst['path']))} re-read {worst['count']}x: ~{tokens(worst['tokens'])} tokens"
        facts.append((worst["tokens"], text))
    dropped = [
        max(0, row.before - row.window_after)
        for row in compactions
        if row.is_owner and row.before is not None and row.window_after is not None
    ]
    if sum(dropped) > 0:
        what = "1 compaction" if len(dropped) == 1 else f"{len(dropped)} compactions"
        facts.append((sum(dropped), f"{what} dropped {tokens(sum(dropped))} tokens"))
    peaks = [(row["peak_ctx"], row["session"]) for row in told["sessions"] if row["peak_ctx"] is not None]
    if peaks:
        peak, session = max(peaks, key=lambda one: one[0])
        facts.append((peak, f"highest peak: {tokens(peak)} tokens, session {_short(session)[:8]}"))
    if breaks:
        from crusts_index.insight.money.breaks import reason_of

        largest = breaks[0]
        usd = f", ${largest.avoidable_usd:,.2f} avoidable" if largest.avoidable_usd is not None else ""
        text = (
            f"sent again ({reason_of(largest.reason).label}, {largest.breaks}x): {tokens(largest.tokens)} tokens{usd}"
        )
        facts.append((largest.tokens, text))
    facts.sort(key=lambda fact: -fact[0])
    return [text for _, text in facts[:FINDINGS]]


def compact(told: "Mapping[str, Any]", path: str | None, encode: "Callable[[object], str]") -> str:
    """The line of X-readout, below MAX_READOUT_BYTES as `encode` writes it.

    Findings are left out from the last on; then the path shrinks to the file's name, then to nothing.
    """
    line = {
        "sessions": len(told["sessions"]),
        "peak_p50": told["peak_p50"],
        **{f"over_{threshold // 1000}k": told[f"over_{threshold // 1000}k"] for threshold in THRESHOLDS},
        "compactions": told["compactions"],
        "cache_read_share": told["cache"]["read_share"],
        "cache_write_usd": told["cache"]["write_usd"],
        "reread_tok": told["rereads"]["tokens"],
        "findings": list(told["findings"]),
        "detail": path,
    }
    while len((text := encode(line)).encode()) >= MAX_READOUT_BYTES:
        if line["findings"]:
            line["findings"].pop()
        elif line["detail"] is None:
            break
        else:
            name = _base(line["detail"])
            line["detail"] = name if name != line["detail"] else None
    return text


def tokens(value: float) -> str:
    """About three digits and a unit: 950, 1.2k, 260k, 1.2M."""
    amount, unit = float(value), ""
    for following in ("k", "M", "G"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, following
    return f"{amount:.0f}{unit}" if not unit or amount >= 99.95 else f"{amount:.1f}{unit}"


def _base(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def _short(name: str | None) -> str:
    text = "".join(char if char.isprintable() else " " for char in name or "unknown")
    return text if len(text) <= _NAME else text[: _NAME - 1] + "…"
