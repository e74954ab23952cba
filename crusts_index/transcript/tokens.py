"""Token estimates by characters (D9) and the size of tool results (X-size). All of it estimated, none of it billed."""

from __future__ import annotations

import re

IMAGE_TOKENS = 1500
"""Flat cost of an image (X-size, D9)."""

_WORDS = re.compile(r"\b(?:import|export|function|const|let|var)\s")
LONG_TEXT = 400
"""Characters from which looking for the bare words first is quicker than the pattern."""


def is_code(text: str) -> bool:
    """Whether the text counts at 3.3 characters a token rather than 4.0.

    Code has one of `{ } [ ] ( ) ;`, an arrow, or one of six keywords followed by white space.
    """
    # Plain searches first: they run at memory speed, and nearly every text of code ends here.
    if "(" in text or "{" in text or "[" in text or ";" in text or ")" in text or "]" in text or "}" in text:
        return True
    if "=>" in text:
        return True
    if len(text) > LONG_TEXT and not (
        ("import" in text or "export" in text or "function" in text)
        or ("const" in text or "let" in text or "var" in text)
    ):
        return False
    return _WORDS.search(text) is not None


def text_tokens(text: str) -> int:
    """Tokens of a text: characters / 3.3 for code, / 4.0 otherwise, rounded up."""
    return code_tokens(len(text)) if is_code(text) else prose_tokens(len(text))


def code_tokens(chars: int) -> int:
    """ceil(chars / 3.3)."""
    return (chars * 10 + 32) // 33


def prose_tokens(chars: int) -> int:
    """ceil(chars / 4)."""
    return (chars + 3) // 4


def share_out(output: int, estimates: list[int]) -> list[int]:
    """`output` spread over blocks in proportion to their estimates, by largest remainder; the sum is exact (D9).

    All estimates 0: everything on the first block. Ties go to the earlier block.
    """
    total = sum(estimates)
    if not estimates:
        return []
    if total == 0:
        return [output] + [0] * (len(estimates) - 1)
    shares = [output * estimate // total for estimate in estimates]
    rest = output - sum(shares)
    by_remainder = sorted(range(len(estimates)), key=lambda place: -(output * estimates[place] % total))
    for place in by_remainder[:rest]:
        shares[place] += 1
    return shares


def spread(output: int, thinking: int | None, blocks: list[tuple[int, bool, bool]]) -> list[tuple[int, bool]]:
    """Tokens and exactness of each block of one response (D9).

    `blocks` holds `(estimate, is_thinking, is_empty)` in log order, `thinking` the logged thinking tokens. A thinking
    block takes the logged thinking tokens, or, where its text is empty, what the others leave of the output. An output
    of less than half of the estimates is a placeholder: blocks keep their estimates.
    """
    if len(blocks) == 1:
        return [spread_one(output, thinking, *blocks[0])]
    estimates = [estimate for estimate, _, _ in blocks]
    thinkers = [place for place, (_, is_thinking, _) in enumerate(blocks) if is_thinking]
    if thinkers:
        _give_thinking(output, thinking, blocks, estimates, thinkers)
    total = sum(estimates)
    if output * 2 < total or (output == 0 and total == 0):
        return [(estimate, False) for estimate, _, _ in blocks]
    fixed = thinkers if thinking and thinkers and thinking <= output else []
    if not fixed:
        return [(share, True) for share in share_out(output, estimates)]
    held = set(fixed)
    free = [place for place in range(len(blocks)) if place not in held]
    given = sum(estimates[place] for place in fixed)
    shares = dict(zip(free, share_out(output - given, [estimates[place] for place in free]), strict=True))
    if not free:
        return [(share, True) for share in share_out(output, estimates)]
    return [(shares.get(place, estimates[place]), True) for place in range(len(blocks))]


def spread_one(output: int, thinking: int | None, estimate: int, is_thinking: bool, is_empty: bool) -> tuple[int, bool]:
    """What `spread` comes to for one block, which most responses are."""
    told = (thinking or (output if is_empty else estimate)) if is_thinking else estimate
    is_placeholder = output * 2 < told or (output == 0 and told == 0)
    return (estimate, False) if is_placeholder else (output, True)


def _give_thinking(
    output: int,
    thinking: int | None,
    blocks: list[tuple[int, bool, bool]],
    estimates: list[int],
    places: list[int],
) -> None:
    if thinking:
        shares = share_out(thinking, [blocks[place][0] for place in places])
        for place, share in zip(places, shares, strict=True):
            estimates[place] = share
        return
    empty = [place for place in places if blocks[place][2]]
    if empty:
        held = set(empty)
        others = sum(estimate for place, estimate in enumerate(estimates) if place not in held)
        left = max(0, output - others)
        for place, share in zip(empty, share_out(left, [0] * len(empty)), strict=True):
            estimates[place] = share
