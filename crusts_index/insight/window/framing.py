"""What messages cost beyond their content, as the growth between calls shows it: told, not added (D9)."""

from __future__ import annotations

from itertools import pairwise

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts

_PAIRS = 20
_LEAST_SAMPLES = 3
_MOST_FRAMING = 50


class Framing(NamedTuple):
    """Tokens a message costs beyond its content: the median of what the calls show; None if they show too little."""

    tokens_per_message: int | None
    samples: tuple[float, ...]


def framing_of(facts: Facts) -> Framing:
    """The framing by the growth between the window's last calls: 0 to 50 tokens a message, the median."""
    calls = [call for call in facts.calls if call.live_epoch][-_PAIRS - 1 :]
    if len(calls) <= _LEAST_SAMPLES:
        return Framing(None, ())
    tokens: dict[int, int] = {}
    messages: dict[int, set[int]] = {}
    for block in facts.blocks:
        if block.on_path and block.call_ordinal >= calls[0].ordinal:
            tokens[block.call_ordinal] = tokens.get(block.call_ordinal, 0) + block.tokens
            messages.setdefault(block.call_ordinal, set()).add(block.message)
    spans = []
    for before, after in pairwise(calls):
        growth = after.context_tokens - before.context_tokens
        span = range(before.ordinal, after.ordinal)
        count = sum(len(messages.get(ordinal, ())) for ordinal in span)
        if growth > 0 and count:
            spans.append((growth - sum(tokens.get(ordinal, 0) for ordinal in span), count))
    samples = sorted(round(more / count, 1) for more, count in spans if 0 <= more <= _MOST_FRAMING * count)
    if len(samples) < _LEAST_SAMPLES:
        return Framing(None, tuple(samples))
    return Framing(int(samples[len(samples) // 2] + 0.5), tuple(samples))


def framing_words(framing: Framing) -> str:
    """The framing in words. It is told only: the estimates have it in them (D9)."""
    if framing.tokens_per_message is None:
        return f"not derived: {len(framing.samples)} usable samples, 3 are needed"
    return (
        f"{framing.tokens_per_message} tokens a message beyond the estimates, the median of {len(framing.samples)} "
        "samples; not added"
    )
