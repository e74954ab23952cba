"""The text of `analyze`: the window and what fills it, for a terminal of any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crusts_index.insight.session.facts import Facts, Session
from crusts_index.insight.session.model_history import ModelHistory
from crusts_index.insight.session.sizes import sizes_of
from crusts_index.insight.waste.find import WasteItem
from crusts_index.insight.window.buckets import Buckets
from crusts_index.insight.window.evidence import UNKNOWN
from crusts_index.insight.window.fixed import BY_TABLE
from crusts_index.insight.window.framing import framing_of, framing_words
from crusts_index.insight.window.judge import Window
from crusts_index.insight.window.listed import Content
from crusts_index.insight.window.toolset import Server, Toolset
from crusts_index.insight.window.words import HEALTH_SAID, KINDS, limit_words, trigger_words
from crusts_index.render import bill, text
from crusts_index.render.analysis_json import duration_seconds
from crusts_index.render.contents import LEGEND, LETTERS, category_name, contents_text
from crusts_index.render.page import Page
from crusts_index.rows.session import Billed

COLOURS = {"healthy": "green", "warming": "yellow", "hot": "red", "critical": "red"}

SOURCES = {"global": "everywhere", "project": "in the project", "transcript": "not known"}
_BAR = 16
_ROOM_FOR_BARS = 72
_NAMES_SHOWN = 12
_WASTE_SHOWN = 4


def analysis_text(
    page: Page,
    facts: Facts,
    window: Window,
    current: Buckets | None,
    lifetime: Buckets | None,
    contents: Sequence[Content],
    toolset: Toolset,
    history: ModelHistory,
    billed: Billed | None,
) -> None:
    """The sections from the head to the compactions."""
    _head(page, facts, history, billed)
    _size(page, window)
    if current:
        _categories(page, current)
    contents_text(page, contents, is_alone=False)
    if current and lifetime and (facts.all_compactions or lifetime.content_sum != current.content_sum):
        page.say(
            f"Over the session's life {lifetime.content_sum:,} tokens went into its windows "
            f"(compactions: {len(facts.all_compactions)}); as counted, estimated."
        )
    _compactions(page, facts, window)
    _tools(page, toolset)


def findings(page: Page, waste: Sequence[WasteItem]) -> None:
    """The worst of the waste: as counted, while what fills the window is on its scale."""
    worst = [item for item in waste if item.is_counted][:_WASTE_SHOWN]
    if worst:
        page.head("Waste")
        for item in worst:
            page.say(f"{item.estimated_tokens:,} tokens ({item.severity}): {item.description}", indent=2)
        total = sum(item.estimated_tokens for item in waste)
        page.say(f"{total:,} tokens in all, as counted, estimated; `crusts waste` lists everything.")


def explanations(
    page: Page, facts: Facts, window: Window, current: Buckets | None, overrides: Iterable[str] = ()
) -> None:
    """Why each derived number is what it is (`--verbose`)."""
    page.head("Why")
    framing = framing_of(facts)
    why = {**window.why, "framing": framing_words(framing)}
    for name, said in why.items():
        page.say(f"{name}: {said}", indent=2)
    if current is None or current.scale is None:
        page.say("scale: nothing to compare the estimates with", indent=2)
    else:
        page.say(
            f"scale: window {window.size:,} / content {current.content_sum:,} = {current.scale:.3f}; "
            f"on basis {current.basis} (window from 0.7 to 1.4)",
            indent=2,
        )
    for line in overrides:
        page.say(f"threshold from config.json: {line}", indent=2)
    if facts.trimmed:
        page.say(f"trimmed: the last {facts.trimmed} messages, which are a call of crusts itself", indent=2)
    if facts.leaf_record_id is not None:
        page.say("live path: ends where the last last-prompt record says, not at the last message", indent=2)


def name_list(names: Iterable[str], shown: int = _NAMES_SHOWN) -> str:
    """Names in a row, the first of them if there are many."""
    all_names = list(names)
    more = f" and {len(all_names) - shown} more" if len(all_names) > shown else ""
    return ", ".join(all_names[:shown]) + more


def bar(percentage: float, wide: int = _BAR) -> str:
    """A bar of blocks; at least one from one per cent on."""
    blocks = round(min(100.0, percentage) / 100 * wide)
    if percentage >= 1:
        blocks = max(1, blocks)
    return "█" * blocks + "·" * (wide - blocks)


def span(seconds: int | None) -> str:
    """A duration: 42s, 12m, 3h 5m, 2d 4h."""
    if seconds is None:
        return "no time"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days}d {hours % 24}h"
    if hours:
        return f"{hours}h {minutes % 60}m"
    return f"{minutes}m" if minutes else f"{seconds}s"


def versions(session: Session) -> str | None:
    """The versions of Claude Code that wrote a session: the first and the last of them."""
    first, last = session.first_version, session.version
    return first if first == last or last is None else f"{first} to {last}"


def _head(page: Page, facts: Facts, history: ModelHistory, billed: Billed | None) -> None:
    session = facts.session
    page.head_session(session.session_id, session.title)
    switched = ""
    if history.switches:
        switched = f" (switched from {history.segments[-2].model})"
    cut = f", up to message {facts.until:,}" if facts.is_partial else ""
    calls = bill.calls(billed, len(facts.calls)) if billed else text.plural(len(facts.calls), "call")
    page.say(
        f"{session.project} · {history.current}{switched} · "
        f"Claude Code {versions(session) or 'unknown'} · {text.plural(session.messages, 'message')}{cut} · "
        f"{calls} · {span(duration_seconds(facts))}",
        indent=2,
    )


def _size(page: Page, window: Window) -> None:
    page.head("Window")
    if window.size is None:
        limit = f" The limit is {limit_words(window)} tokens." if window.model != UNKNOWN else ""
        page.say(f"Not known yet: no call so far.{limit}")
        return
    health = page.paint(window.health or "", COLOURS[window.health or ""])
    share = f"{window.usage_percentage:,.1f}%"
    rest = f"; {window.free:,} free ({window.basis}; the limit is {KINDS[window.limit_kind]})"
    page.say([f"{window.size:,} of {limit_words(window)} tokens, {share}, ", health, rest])
    said = trigger_words(window)
    grows = f" at {window.growth:,.0f} tokens a call (derived)" if window.calls_left else ""
    page.say(f"{said[:1].upper()}{said[1:]}{grows}.")
    page.say(f"By the share of the limit, or of the smaller window that is set: {HEALTH_SAID}.")


def _categories(page: Page, current: Buckets) -> None:
    page.head("What fills it")
    with_bars = page.width is None or page.width >= _ROOM_FOR_BARS
    page.rows(
        ("", "category", "tokens", "share", *([""] if with_bars else []), "accuracy"),
        [
            (
                *(LETTERS[bucket.category], category_name(bucket.category), bucket.tokens, f"{bucket.percentage:.1f}%"),
                *([bar(bucket.percentage)] if with_bars else []),
                bucket.accuracy,
            )
            for bucket in current.buckets
        ],
    )
    if current.basis == "window":
        page.say(f"Scaled by {current.scale:.2f} so that they add up to the window.")
    elif current.scale is not None:
        page.say(
            f"As counted: they add up to {current.content_sum:,}, too far from the window "
            f"(× {current.scale:.2f}) to be scaled to it; in the list below "
            + ("what is left is a row of its own." if current.scale > 1 else "they are all the same.")
        )
    page.say(LEGEND)


def _compactions(page: Page, facts: Facts, window: Window) -> None:
    if not facts.all_compactions:
        return
    page.head("Compactions")
    values = []
    for one in facts.all_compactions:
        sizes = sizes_of(facts, one, window.fixed_context.tokens)
        how = one.trigger or ("" if one.detection == "marker" else f"inferred by {one.detection}")
        path = "" if one.on_path else "rewound"
        values.append((one.message, how, sizes.before, sizes.after, sizes.dropped, path))
    page.rows(("message", "trigger", "before", "after", "dropped", ""), values)


def _tools(page: Page, toolset: Toolset) -> None:
    page.head("Tools")
    page.say(
        f"{len(toolset.loaded)} loaded ({schemas_said(toolset)}), "
        f"{len(toolset.used)} used, {len(toolset.unused)} never used, "
        f"{len(toolset.deferred_built_in) + len(toolset.deferred_mcp)} announced only; "
        f"calls took {toolset.call_tokens:,} and results {toolset.result_tokens:,} tokens (estimated)."
    )
    if toolset.used:
        page.say(f"Used: {name_list(toolset.used)}", indent=2)
    if toolset.unused:
        page.say(f"Never used: {name_list(toolset.unused)}", indent=2)
    if toolset.loaded_deferred:
        page.say(f"Loaded by ToolSearch: {name_list(toolset.loaded_deferred)}", indent=2)
    shown = shown_servers(toolset)
    if shown:
        page.rows(
            ("MCP server", "configured", "calls", "tokens"),
            [(server.name, SOURCES[server.source], server.calls, server.tokens) for server in shown],
        )
    others = [server.name for server in toolset.servers if server not in shown]
    if others:
        page.say(f"Announced, of no use so far: {name_list(others)}", indent=2)


def shown_servers(toolset: Toolset) -> list[Server]:
    """The MCP servers that were used or are known to be configured."""
    return [server for server in toolset.servers if server.calls or server.source != "transcript"]


def schemas_said(toolset: Toolset) -> str:
    """What the schemas of the tools take, and how that is known."""
    if toolset.schema_tokens is None:
        return "what their schemas take is not known"
    of = " of this version" if toolset.schema_source == BY_TABLE else ""
    return f"{toolset.schema_tokens:,} tokens of schemas, {toolset.schema_source}{of}"
