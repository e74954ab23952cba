"""One finding of waste, as every command shows it."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

SEVERITIES = ("high", "medium", "low", "info")
"""The worst first; a token that two rules want goes to the worse one."""


class WasteItem(NamedTuple):
    """One finding. Message numbers are from 1, as everywhere (D7); the range holds both its ends.

    `estimated_tokens` counts blocks of the window that no other item counts; 0 for what is told and not counted (an
    excused re-read, an unused result), whose size is `excused_tokens`. `carried_tokens` is tokens times the later calls
    that carried them, `carried_usd` their price as cache reads (None: a call has no price). `basis` says what the
    tokens are: exact, derived or estimated.
    """

    type: str
    severity: str
    description: str
    estimated_tokens: int
    recommendation: str
    message_range: tuple[int, int] | None
    messages: tuple[int, ...]
    path: str | None
    tool: str | None
    carried_tokens: int
    carried_usd: float | None
    excuse: str | None
    excused_tokens: int
    basis: str

    @property
    def is_counted(self) -> bool:
        """Whether it is waste: else it is told, and never summed."""
        return self.excuse is None and self.severity != "info"
