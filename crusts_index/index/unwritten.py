"""Rows that an index run would write, in the making."""

from __future__ import annotations

from crusts_index.index.logged import text_of
from crusts_index.rows.window import SessionBlock, SessionCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.index.logged import Counts


class Place:
    """Where a record stands: its id, branch and epoch, the response it is a line of, its message."""

    __slots__ = ("branch", "epoch", "message", "record_id", "response_id")

    def __init__(
        self, record_id: int, branch: int, epoch: int, response_id: int | None = None, message: int | None = None
    ) -> None:
        self.record_id, self.branch, self.epoch = record_id, branch, epoch
        self.response_id, self.message = response_id, message


class Use:
    """A tool use and what its result cost (X-size tokens); `is_reread` as X-reread has it."""

    __slots__ = ("id", "is_reread", "name", "path", "result_tokens")

    def __init__(self, id: int, name: str | None, path: str | None, *, is_reread: bool, result_tokens: int) -> None:
        self.id, self.name, self.path = id, name, path
        self.is_reread, self.result_tokens = is_reread, result_tokens


class Call:
    """A response in the making: the usage of its last line holds."""

    def __init__(self, id: int, message: int, ordinal: int, branch: int, epoch: int) -> None:
        self.id = self.last_record_id = id
        self.message, self.ordinal, self.branch, self.epoch = message, ordinal, branch, epoch
        self.model: str | None = None
        self.time_ms: int | None = None
        self.counts: Counts = (0, 0, 0, 0, 0)
        self.thinking: int | None = None
        self.stop_reason: str | None = None
        self.effort: str | None = None
        self.is_aborted = False
        self.parts: list[tuple[str, Any]] = []  # its blocks: kind, and text, or all of a tool use or of thinking
        self.stored: list[tuple[int, bool]] = []  # those that the store has: estimate, is thinking

    def row(self) -> SessionCall:
        """The call as far as it is known; its price is not."""
        fresh, read, write, write_1h, output = self.counts
        return SessionCall(
            id=self.id,
            last_record_id=self.last_record_id,
            message=self.message,
            ordinal=self.ordinal,
            branch=self.branch,
            epoch=self.epoch,
            model=self.model or "unknown",
            time_ms=self.time_ms,
            input_tokens=fresh,
            cache_read_tokens=read,
            cache_write_tokens=write,
            cache_write_1h_tokens=write_1h,
            output_tokens=output,
            thinking_tokens=self.thinking,
            context_tokens=fresh + read + write,
            cost_usd=None,
            cache_read_usd=None,
            stop_reason=self.stop_reason,
            effort=self.effort,
        )

    def block(self) -> SessionBlock:
        """One block for all that it said: its tokens, and whether the output logged can be right."""
        tokens, is_exact = self._tokens()
        return SessionBlock(
            id=self.id,
            record_id=self.id,
            message=self.message,
            time_ms=self.time_ms,
            kind="text",
            category="conversation",
            tokens=tokens,
            estimate=tokens,
            chars=0,
            is_exact=int(is_exact),
            branch=self.branch,
            epoch=self.epoch,
            call_ordinal=self.ordinal,
            type="assistant",
            subtype=None,
            is_prompt=0,
            is_summary=0,
            is_meta=0,
            origin=None,
            tool_use_id=None,
            response_id=self.id,
        )

    def _tokens(self) -> tuple[int, bool]:
        """Tokens of its blocks, and whether they are the output as billed: not where that is a placeholder (D9)."""
        output = self.counts[4]
        if not self.parts and not self.stored:
            return output, True
        from crusts_index.transcript.shares import spread

        facts = self.stored + [(_estimate(self.model, kind, part), kind in _THINKING) for kind, part in self.parts]
        shares = spread(output, self.thinking, facts, is_aborted=self.is_aborted)
        return (sum(estimate for estimate, _ in facts), False) if shares is None else (sum(shares), True)


_THINKING = ("thinking", "redacted_thinking")


def _estimate(model: str | None, kind: str, part: Any) -> int:
    """Tokens of a block, by the weights that are shipped."""
    from crusts_index.transcript.measure import measure
    from crusts_index.transcript.weights import SHIPPED_WEIGHTS

    estimate = SHIPPED_WEIGHTS.estimate
    if kind == "text":
        return estimate(model, kind, *measure(part), is_answer=True)
    if kind in _THINKING:
        signature = text_of(part.get("signature")) or ""
        return estimate(model, "thinking", *measure(text_of(part.get("thinking")) or ""), len(signature))
    import json

    given = part.get("input")
    said = measure(json.dumps(given, ensure_ascii=False, separators=(",", ":")))
    return estimate(model, "tool_use", *said, len(given) if isinstance(given, dict) else 0)
