"""Spreads the billed output of a response over its blocks (D9)."""

from __future__ import annotations

Part = tuple[int, bool]
"""Of a block its estimate, and whether it is thinking."""


def spread(output: int, thinking: int | None, blocks: list[Part], *, is_aborted: bool = False) -> list[int] | None:
    """The share of each block, in log order; None where the output is a placeholder: blocks keep their estimates.

    `thinking` is what is logged of the output as thinking: the share of the thinking blocks, where there are any. A
    placeholder is an output below 0.7 of the estimates, and that of an answer that was cut off.
    """
    if is_aborted:
        return None
    if len(blocks) == 1:  # most are
        estimate, is_thinking = blocks[0]
        return None if output * 10 < (thinking if thinking and is_thinking else estimate) * 7 else [output]
    estimates = [estimate for estimate, _ in blocks]
    thinkers = [place for place, (_, is_thinking) in enumerate(blocks) if is_thinking]
    if thinking and thinkers:
        shares = share_out(thinking, [estimates[place] for place in thinkers])
        for place, share in zip(thinkers, shares, strict=True):
            estimates[place] = share
    if output * 10 < sum(estimates) * 7:
        return None
    others = [place for place, (_, is_thinking) in enumerate(blocks) if not is_thinking]
    if not thinking or thinking > output or not thinkers or not others:
        return share_out(output, estimates)
    shares = share_out(output - thinking, [estimates[place] for place in others])
    for place, share in zip(others, shares, strict=True):
        estimates[place] = share
    return estimates


def share_out(output: int, estimates: list[int]) -> list[int]:
    """`output` spread in proportion to the estimates, by largest remainder: the sum is exact.

    All estimates 0: everything on the first. Ties go to the earlier one.
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
