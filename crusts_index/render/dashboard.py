"""The dashboard of `watch`: a page for a terminal of any size, one line for a pipe, an object for programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from crusts_index.insight.waste.snapshot import Cut, Snapshot
from crusts_index.insight.window.words import left_words, limit_words, trigger_words
from crusts_index.plain import Safe, join
from crusts_index.plain import line as cleaned
from crusts_index.render import text
from crusts_index.render.analysis import COLOURS, bar, span
from crusts_index.render.analysis_json import timestamp
from crusts_index.render.console import paint
from crusts_index.render.contents import LETTERS, SHORT_LEGEND, category_name, contents_json, shown_contents
from crusts_index.render.jsonout import rounded

Segment = tuple[str, str]
"""Text and its colour; an empty one is none."""

_SPARKS = "▁▂▃▄▅▆▇█"
_WORKERS_SHOWN = 4
_WIDEST = 100
_NARROW = 60


class Moment(NamedTuple):
    """What only a watch knows, beside the snapshot: since when, what changed, what just happened."""

    time_ms: int
    new_messages: int = 0
    is_flashing: bool = False
    notice: str = ""
    """What became of the session: it was followed elsewhere, its transcript is missing."""


def page(shot: Snapshot, moment: Moment, width: int, height: int, *, colour: bool) -> list[Safe]:
    """Lines for a terminal; blank lines, then sections of less weight are left out where it is too low."""
    width = min(width, _WIDEST)
    sections = [
        (0, _head(shot, moment, width)),
        (0, _window(shot, width)),
        (2, _categories(shot, width)),
        (4, _growth(shot, width)),
        (1, _counts(shot, moment, width)),
        (3, _workers(shot, width)),
        (5, _said(shot, width)),
    ]
    shown = [one for one in sections if one[1]]
    if sum(len(lines) for _, lines in shown) > height:
        shown = [(weight, [line for line in lines if line]) for weight, lines in shown]
    while len(shown) > 2 and sum(len(lines) for _, lines in shown) > height:
        shown.remove(max(shown, key=lambda one: one[0]))
    lines = [line for _, section in shown for line in section]
    return [_painted(line, width, colour=colour) for line in lines[: max(1, height)]]


def one_line(shot: Snapshot, moment: Moment) -> str:
    """The snapshot in one line, for a pipe."""
    parts = [f"{clock(moment.time_ms)} {shot.session_id[:8]}"]
    window = shot.window
    if window.size is None:
        parts.append("no API call yet")
    else:
        about = "" if window.basis == "exact" else f" {window.basis}"
        parts.append(f"{window.usage_percentage:.1f}% {window.size:,}/{limit_words(window)}{about}")
        parts.append(left_words(window))
    parts.append(
        text.plural(shot.messages, "message") + (f" (+{moment.new_messages:,})" if moment.new_messages > 0 else "")
    )
    if shot.contents:
        parts.append(" ".join(f"{LETTERS[one.name]} {one.percentage:.0f}" for one in shot.contents.categories) + " %")
    if shot.workers:
        parts.append(f"{text.plural(len(shot.workers), 'subagent')} running")
    if shot.is_behind:
        parts.append("store behind")
    if shot.said:
        parts.append(text.shorten(_speech(shot), 60))
    return " | ".join(parts)


def compaction_line(cut: Cut, time_ms: int, *, is_short: bool = False) -> str:
    """What a compaction did, as far as it was logged; `is_short` rounds, and leaves out what began it."""
    said = f"compacted {clock(cut.time_ms or time_ms)}"
    if cut.trigger and not is_short:
        said += f" ({cut.trigger})"
    if cut.before is None:
        return said
    number = text.tokens if is_short else text.number
    after = f" → {number(cut.after)}" if cut.after is not None else ""
    return f"{said}: {number(cut.before)}{after}" + ("" if is_short else " tokens")


def summary(first: Snapshot, last: Snapshot, seconds: float, compactions: int, sessions: int) -> str:
    """What a watch saw, in one line; `sessions` counts those it followed."""
    parts = [f"Watched {last.session_id[:8]} for {span(int(seconds))}"]
    began, ended = first.window, last.window
    if ended.size is not None:
        since = f"{began.usage_percentage:.1f}% → " if began.size is not None and sessions == 1 else ""
        parts.append(f"window {since}{ended.usage_percentage:.1f}% ({ended.size:,} tokens, {ended.basis})")
    if sessions == 1:
        parts.append(text.plural(max(0, last.messages - first.messages), "new message"))
    else:
        parts.append(f"{sessions} sessions")
    if compactions:
        parts.append(f"{text.plural(compactions, 'compaction')}")
    return ", ".join(parts) + (f". {SHORT_LEGEND}" if last.contents else "")


def as_json(shot: Snapshot, moment: Moment, event: str, previous: str | None) -> dict[str, object]:
    """The snapshot for programs; `event` is start, update, compaction, session, moved, rewritten or missing."""
    window, contents, cut = shot.window, shot.contents, shot.last_compaction
    return {
        "timestamp": timestamp(moment.time_ms),
        "event": event,
        "sessionId": shot.session_id,
        "previousSessionId": previous,
        "project": shot.project or None,
        "title": shot.title,
        "messageCount": shot.messages,
        "newMessages": moment.new_messages,
        "model": window.model,
        "totalTokens": window.size,
        "totalAccuracy": window.basis,
        "contextLimit": window.limit,
        "limitKind": window.limit_kind,
        "limitSignal": window.limit_signal,
        "usagePercent": rounded(window.usage_percentage, 1),
        "contextHealth": window.health,
        "freeTokens": window.free,
        "autocompactTrigger": window.trigger,
        "growthTokensPerCall": round(window.growth, 1),
        "callsUntilCompaction": window.calls_left,
        "callsUntilCompactionLow": window.calls_low,
        "callsUntilCompactionHigh": window.calls_high,
        "categories": {one.name: round(one.percentage, 1) for one in contents.categories} if contents else None,
        "categoryTokens": {one.name: one.tokens for one in contents.categories} if contents else None,
        "categoryBasis": contents.basis if contents else None,
        "contents": contents_json(contents.rows) if contents else None,
        "wasteCount": contents.waste_count if contents else None,
        "wasteTokens": contents.waste_tokens if contents else None,
        "compactionCount": shot.compactions,
        "lastCompaction": {
            "timestamp": timestamp(cut.time_ms),
            "trigger": cut.trigger,
            "preTokens": cut.pre_tokens,
            "postTokens": cut.post_tokens,
            "tokensBefore": cut.before,
            "tokensAfter": cut.after,
        }
        if cut
        else None,
        "subagents": [
            {"agentId": one.agent_id, "agentType": one.agent_type, "calls": one.calls, "tokens": one.tokens}
            for one in shot.workers
        ],
        "lastMessage": {"from": shot.said.who, "text": text.clean(shot.said.text)} if shot.said else None,
        "storeIsBehind": shot.is_behind,
        "notice": moment.notice or None,
    }


def clock(time_ms: int) -> str:
    """The time of day, in the user's zone."""
    return time.strftime("%H:%M:%S", time.localtime(time_ms / 1000))


def sparkline(values: Sequence[int], columns: int) -> str:
    """The last values as blocks, from 0 to the largest; what shrinks is as low as nothing."""
    shown = values[-columns:] if columns > 0 else []
    most = max(shown, default=0)
    if most <= 0:
        return _SPARKS[0] * len(shown)
    return "".join(_SPARKS[max(0, min(7, value * 8 // most if value < most else 7))] for value in shown)


def _head(shot: Snapshot, moment: Moment, width: int) -> list[list[Segment]]:
    at = clock(moment.time_ms)
    title = f" {shot.title}" if shot.title else ""
    name = text.shorten(f"{shot.session_id[:8]}{title}", width - len(at) - 1)
    gap = " " * max(1, width - text.width(name) - len(at))
    model = shot.window.model
    place = text.shorten_path(shot.project, max(8, width - text.width(model) - 3))
    lines: list[list[Segment]] = [[(name, "bold"), (gap, ""), (at, "dim")], [(f"{place} · {model}", "dim")]]
    if moment.notice:
        lines.append([(moment.notice, "cyan")])
    return [*lines, []]


def _window(shot: Snapshot, width: int) -> list[list[Segment]]:
    window = shot.window
    if window.size is None or window.usage_percentage is None:
        return [[("no API call in this session yet", "")], []]
    colour = COLOURS[window.health or ""]
    tail = f" {window.usage_percentage:5.1f}% {window.health}"
    blocks = bar(window.usage_percentage, max(8, min(60, width - len(tail))))
    lines: list[list[Segment]] = [
        [(blocks, colour), (tail, "bold")],
        [(f"{window.size:,} of {limit_words(window)} tokens", ""), (f" ({window.basis})", "dim")],
    ]
    few = window.calls_left is not None and window.calls_left <= 30
    lines.append([(trigger_words(window), "" if not few else "red" if (window.calls_left or 0) <= 10 else "yellow")])
    if shot.is_behind:
        lines.append([("the store is behind: this is how it was before", "yellow")])
    return [*lines, []]


def _categories(shot: Snapshot, width: int) -> list[list[Segment]]:
    if shot.contents is None:
        return []
    wide = width - 38
    lines: list[list[Segment]] = [
        [
            (f"{LETTERS[one.name]:<4}", "bold"),
            (f"{category_name(one.name):<12} {one.tokens:>9,} {one.percentage:5.1f}%", ""),
            (f"  {bar(one.percentage, min(wide, 40)).rstrip('·')}" if wide >= 8 else "", "blue"),
        ]
        for one in shot.contents.categories
    ]
    total = sum(one.tokens for one in shot.contents.categories)
    how = "scaled to the window" if shot.contents.basis == "window" else f"as counted, {total:,} in all"
    lines += [[(f"estimated, {how}", "dim")], []]
    for row in shown_contents(shot.contents.rows):
        what = text.shorten(row.what, max(8, width - 21))
        lines.append([(f"{row.letter:<4}", "bold"), (f"{row.tokens:>9,} {row.share * 100:5.1f}%  {what}", "")])
    return [*lines, []]


def _growth(shot: Snapshot, width: int) -> list[list[Segment]]:
    if not shot.deltas:
        return []
    said = f" {shot.deltas[-1]:+,} · expected {shot.window.growth:+,.0f}"
    head = "growth a call " if width >= _NARROW else "growth "
    line: list[Segment] = [(head, ""), (sparkline(shot.deltas, width - len(head) - len(said)), "green"), (said, "")]
    return [line]


def _counts(shot: Snapshot, moment: Moment, width: int) -> list[list[Segment]]:
    new = f" (+{moment.new_messages:,})" if moment.new_messages > 0 else ""
    said = f"{shot.messages:,} messages{new} · {text.plural(shot.compactions, 'compaction')}"
    lines: list[list[Segment]] = [[(said, "")]]
    if shot.contents and shot.contents.waste_count:
        count, tokens = shot.contents.waste_count, shot.contents.waste_tokens
        much = f", about {text.tokens(tokens)} tokens" if tokens else ""
        lines.append([(f"waste: {text.plural(count, 'item')}{much}", "")])
    if shot.last_compaction:
        line = compaction_line(shot.last_compaction, moment.time_ms, is_short=width < _NARROW)
        lines.append([(f"» {line} «", "flash")] if moment.is_flashing else [(line, "yellow")])
    return lines


def _workers(shot: Snapshot, width: int) -> list[list[Segment]]:
    if not shot.workers:
        return []
    count, unit = len(shot.workers), "tok" if width < _NARROW else "tokens"
    lines: list[list[Segment]] = [[], [(f"{text.plural(count, 'subagent')} running", "bold")]]
    for one in shot.workers[:_WORKERS_SHOWN]:
        kind = f" {one.agent_type}" if one.agent_type else ""
        much = f"{text.tokens(one.tokens)} {unit}"
        done = f"  {text.plural(one.calls, 'call')}, {much}" if one.calls else ""
        lines.append([(f"  {text.shorten(one.agent_id, 12)}{kind}", ""), (done, "dim")])
    if count > _WORKERS_SHOWN:
        lines.append([(f"  and {count - _WORKERS_SHOWN} more", "dim")])
    return lines


def _said(shot: Snapshot, width: int) -> list[list[Segment]]:
    if shot.said is None:
        return []
    speech = _speech(shot)
    lines: list[list[Segment]] = [[], [(text.shorten(speech, width * 2 - 2), "")]]
    if text.width(speech) > width:
        first = _cut_at(speech, width)
        lines = [[], [(first, "")], [(text.shorten(speech[len(first) :].strip(), width), "")]]
    return lines


def _cut_at(line: str, columns: int) -> str:
    """The beginning of a line up to a space, as much as fits."""
    words, kept = line.split(" "), ""
    for word in words:
        longer = f"{kept} {word}" if kept else word
        if text.width(longer) > columns:
            break
        kept = longer
    return kept or text.shorten(line, columns).rstrip(text.ELLIPSIS)


def _speech(shot: Snapshot) -> str:
    if shot.said is None:
        return ""
    said = text.clean(shot.said.text)
    return f"{shot.said.who}: {said}" if said else shot.said.who


def _painted(line: Sequence[Segment], width: int, *, colour: bool) -> Safe:
    room, found = width, []
    for part, name in line:
        part = cleaned(part)
        kept = text.shorten(part, room)
        room -= text.width(kept)
        found.append(paint(kept, name if kept.strip() else "", on=colour))
        if kept != part:
            break
    return Safe(join(found).rstrip(" "))
