"""`crusts timeline`: how the window of a session grew, message by message."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.insight.session.messages import Message, fair_sample, messages_of
from crusts_index.insight.session.sizes import sizes_of
from crusts_index.insight.window.words import limit_words, trigger_words, window_json
from crusts_index.render import analysis_json, console
from crusts_index.render.contents import LETTERS, SHORT_LEGEND
from crusts_index.store.settings import Settings

All = Annotated[bool, Option("--all", help="Every message, however many there are.")]


def timeline(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    until: options.UntilMessage = None,
    show_all: All = False,
) -> None:
    """How the window grew, message by message, with its compactions.

    Tokens of a message are its share of the output billed, or estimated. The window stands at each call: its
    context and output, exact as billed (derived where the output logged is a placeholder). Of many messages the
    first and last ten and a fair sample of the rest are shown; --json has them all. A message left by a rewind is
    marked.
    """
    with opened(settings) as store:
        facts, window = store.look(store.choose(session, last), until)
        messages = messages_of(facts)
    if settings.json:
        show.document(
            {
                "sessionId": facts.session.session_id,
                "messageCount": facts.session.messages,
                "window": window_json(window),
                "messages": [_json(message) for message in messages],
                "compactionEvents": analysis_json.compactions_json(facts, window),
            }
        )
        return
    page = show.page(settings)
    shown = messages if show_all else fair_sample(messages)
    rows: list[tuple[object, ...]] = []
    for message in shown:
        if message.compaction is not None:
            cut = facts.all_compactions[message.compaction]
            sizes = sizes_of(facts, cut, window.fixed_context.tokens)
            how = f"compaction ({cut.trigger or cut.detection})"
            rows.append((None, None, None, "", f"── {how}: {_count(sizes.before)} → {_count(sizes.after)} tokens"))
        letter = LETTERS[message.category]
        note = "" if message.on_path else "rewound: "
        tool = f"{message.tool}: " if message.tool else ""
        rows.append((message.number, message.tokens, message.window_tokens, letter, note + tool + message.preview))
    page.head(facts.session.session_id)
    if rows:
        page.rows(("#", "tokens", "window", "", "content"), rows)
        page.say(SHORT_LEGEND)
    if len(shown) < len(messages):
        page.say(f"{len(shown)} of {len(messages):,} messages; --all shows them all.")
    page.say(
        "No call so far, so the window is not known yet."
        if window.size is None
        else f"Window {window.size:,} ({window.basis}) of {limit_words(window)}; {trigger_words(window)}."
    )
    console.put(page.text())


def _json(message: Message) -> dict[str, object]:
    found: dict[str, object] = {
        "index": message.number,
        "timestamp": analysis_json.timestamp(message.time_ms),
        "type": message.type,
        "category": message.category,
        "tokens": message.tokens,
        "cumulativeTokens": message.cumulative_tokens,
        "windowTokens": message.window_tokens,
        "windowAccuracy": None if message.window_tokens is None else "exact" if message.is_window_exact else "derived",
        "accuracy": "exact" if message.is_exact else "estimated",
        "contentPreview": message.preview[:60].replace("\n", " "),
        "onLivePath": message.on_path,
        "inWindow": message.in_window,
    }
    if message.tool:
        found["toolName"] = message.tool
    return found


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"
