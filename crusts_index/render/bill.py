"""What is said of output and cost that are not known whole: at least so much, and apart from it what may be missing.

Calls may log a placeholder as their output (D9), or have no list price (D15).
"""

from __future__ import annotations

from crusts_index.render import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from crusts_index.render.page import Page
    from crusts_index.rows.session import Billed

    class Priced(Protocol):
        """Calls, and what is known of their cost: the sum of what is priced, None where nothing is."""

        @property
        def priced_usd(self) -> float | None: ...
        @property
        def unpriced_calls(self) -> int: ...
        @property
        def placeholder_calls(self) -> int: ...

    class Lacking(Protocol):
        """Calls, and an estimate in tokens and USD of what the placeholders among them lack; None: not made."""

        @property
        def calls(self) -> int: ...
        @property
        def placeholder_calls(self) -> int: ...
        @property
        def output_missing(self) -> int | None: ...
        @property
        def cost_missing_usd(self) -> float | None: ...


AT_LEAST = "at least"
"""What an output is, beside exact."""


def calls(billed: Billed, seen: int | None = None) -> str:
    """How many calls a session was billed for, and whose; `seen`: those in its own transcript, copies too (D2)."""
    others = billed.calls - billed.main_calls
    said = [f"{billed.main_calls:,} main", f"{others:,} by subagents"] if others else []
    if seen is not None and seen != billed.main_calls:
        copies = ", copies of another's included" if seen > billed.main_calls else ""
        said.append(f"{seen:,} in its transcript{copies}")
    return text.plural(billed.calls, "call") + (f" ({', '.join(said)})" if said else "")


def cost(calls: Priced) -> float | None:
    """The cost as it is printed."""
    return text.at_least(calls.priced_usd, calls.unpriced_calls or calls.placeholder_calls)


def missing(*bills: Lacking) -> str:
    """A sentence of what placeholders lack, by estimate; empty without any."""
    placeholders = sum(one.placeholder_calls for one in bills)
    if not placeholders:
        return ""
    calls = text.plural(sum(one.calls for one in bills), "call")
    many = f"{placeholders:,} of {calls} logged a placeholder as their output"
    tokens = text.tokens(sum(one.output_missing or 0 for one in bills))
    usd = text.usd(sum(one.cost_missing_usd or 0.0 for one in bills))
    return f"≥ at least: {many}. Not in the sums, estimated: {tokens} tokens, {usd}."


def as_json(billed: Billed) -> dict[str, Any]:
    """A session's bill as `analyze --json` has it."""
    return {
        "usd": billed.cost_usd,
        "main_usd": billed.main_usd,
        "subagents_usd": billed.subagents_usd,
        "priced_usd": billed.priced_usd,
        "calls": billed.calls,
        "main_calls": billed.main_calls,
        "unpriced_calls": billed.unpriced_calls,
        "placeholder_calls": billed.placeholder_calls,
        "output_missing": billed.output_missing,
        "cost_missing_usd": billed.cost_missing_usd,
    }


def as_text(page: Page, billed: Billed) -> None:
    """What a session was billed for, in a line or two."""
    page.head("Cost")
    others = billed.calls - billed.main_calls
    split = ""
    if others:
        is_bound = billed.placeholder_calls
        main, rest = (text.usd(text.at_least(usd, is_bound)) for usd in (billed.main_usd, billed.subagents_usd))
        split = f": {billed.main_calls:,} of the main thread, {main}, and {others:,} of others, {rest}"
        if not billed.main_calls:
            split = ", none of the main thread"
    unpriced = f"; {billed.unpriced_calls:,} have none" if billed.unpriced_calls else ""
    page.say(
        f"{text.usd(cost(billed))} for {text.plural(billed.calls, 'call')} at list price{unpriced}{split} (derived)."
    )
    if billed.placeholder_calls:
        page.say(missing(billed))
