"""`crusts fix`: three texts to paste."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.insight.waste.fixes import fix_blocks
from crusts_index.render import console
from crusts_index.store.settings import Settings


def fix(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    until: options.UntilMessage = None,
) -> None:
    """Text to paste: for the session, for CLAUDE.md, and the /compact command.

    A block is left out where there is nothing to say. The /compact command comes from half of the window's limit on;
    its focus names the worst findings of `crusts waste` by the numbers of their messages, as everywhere.
    """
    with opened(settings) as store:
        found = judge(store, settings, store.choose(session, last), until)
    blocks = fix_blocks(found.facts, found.window, found.waste, found.thresholds)
    if settings.json:
        show.document(
            {
                "sessionId": found.facts.session.session_id,
                "sessionPrompt": blocks.session_prompt,
                "claudeMdSnippet": blocks.claude_md_snippet,
                "compactCommand": blocks.compact_command,
            }
        )
        return
    named = (
        ("Say in this session", blocks.session_prompt),
        ("Add to CLAUDE.md", blocks.claude_md_snippet),
        ("Type now", blocks.compact_command),
    )
    told = [(title, block) for title, block in named if block]
    if not told:
        window = found.window
        console.remark(
            f"Nothing to fix: the window is {window.health}, at {window.usage_percentage:.0f}% of its limit."
        )
        return
    page = show.page(settings)
    for place, (title, block) in enumerate(told, 1):
        if place > 1:
            page.say()
        page.head(f"{place}. {title}")
        page.say()
        page.say_as_is(block)
    console.put(page.text())
