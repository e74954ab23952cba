"""The thresholds of waste, as config.json has them; what makes no sense there gives way to the default."""

from __future__ import annotations

from crusts_index.insight.session.numbers import usable_number
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Thresholds(NamedTuple):
    """When something counts as waste: messages, tokens, messages, tokens."""

    stale_read: float = 15
    oversized_system: float = 1_500
    resolution_lookback: float = 10
    claude_md_oversized: float = 1_500


CONFIG_KEYS = {
    "stale_read": "staleReadThreshold",
    "oversized_system": "oversizedSystemThreshold",
    "resolution_lookback": "resolutionLookback",
    "claude_md_oversized": "claudeMdOversizedThreshold",
}
"""Their names in the `wasteThresholds` of config.json."""


def thresholds_of(config: Mapping[str, object]) -> Thresholds:
    """The thresholds that hold: each a finite number above 0, else the default."""
    given = config.get("wasteThresholds")
    if not isinstance(given, dict):
        return Thresholds()
    numbers = {field: usable_number(given.get(key)) for field, key in CONFIG_KEYS.items()}
    return Thresholds()._replace(**{field: number for field, number in numbers.items() if number})


def overrides_of(thresholds: Thresholds) -> list[str]:
    """What differs from the defaults, in words: `staleReadThreshold 30 (default 15)`."""
    return [
        f"{CONFIG_KEYS[field]} {value:g} (default {default:g})"
        for field, value, default in zip(CONFIG_KEYS, thresholds, Thresholds(), strict=True)
        if value != default
    ]
