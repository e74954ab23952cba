"""The rules of waste over one window, each taking what those before it left (D13)."""

from __future__ import annotations

import re
from bisect import bisect_right

from crusts_index.insight.session.mentions import Mentions, base_name
from crusts_index.insight.waste.carried import Carriage
from crusts_index.insight.waste.item import WasteItem
from crusts_index.tools import ACTS, READS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Block, Facts, ToolUse
    from crusts_index.insight.session.rereads import Reread
    from crusts_index.insight.waste.thresholds import Thresholds
    from crusts_index.insight.window.judge import Window

RESOLUTIONS = (
    "thanks",
    "thank you",
    "that works",
    "perfect",
    "great",
    "fixed",
    "solved",
    "got it",
    "looks good",
    "nice",
    "awesome",
    "exactly",
    "that did it",
    "working now",
)
_RESOLVED = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<![\w'])(?:" + "|".join(map(re.escape, RESOLUTIONS)) + r")(?!\w)"
)
_SHORT_PROMPT = 100  # characters; a longer prompt says more than that it is done
_LEAST_EXCHANGE = 500  # tokens
_LEAST_RESULT = 200  # characters of a result
_LEAST_ANSWER = 50  # characters of the model's text that show that it made use of a result
_LEAST_UNUSED = 100  # tokens
_ANSWERED_WITHIN = 5  # messages


class Rules:
    """The window, and what of it is already counted."""

    def __init__(self, facts: Facts, window: Window, thresholds: Thresholds) -> None:
        self._facts, self._window, self._thresholds = facts, window, thresholds
        self._carriage = Carriage(facts)
        self._mentions = Mentions(facts)
        self._uses = {use.id: use for use in facts.tool_uses}
        self._messages: dict[int, list[Block]] = {}
        self._results: dict[int, list[Block]] = {}
        for block in facts.blocks:
            if block.in_window:
                self._messages.setdefault(block.message, []).append(block)
                if block.kind == "tool_result" and block.tool_use_row is not None:
                    self._results.setdefault(block.tool_use_row, []).append(block)
        self._numbers = sorted(self._messages)
        self._counted: set[int] = set()
        self._reads: dict[str, int] = {}
        for use in facts.tool_uses:
            if use.name in READS and use.path and use.in_window:
                self._reads[use.path] = self._reads.get(use.path, 0) + 1

    # ------------------------------------------------------------------ the rules

    def stale_reads(self) -> list[WasteItem]:
        """Reads long ago of files that nothing has spoken of since."""
        if not self._mentions.is_known:
            return []  # without text nothing can be said to be unspoken of
        found = []
        for use in self._facts.tool_uses:
            blocks = self._left(self._results.get(use.id, ()))
            if use.name not in READS or not use.path or not sum(block.tokens for block in blocks):
                continue
            age = self._messages_after(blocks[-1].message)
            if age <= self._thresholds.stale_read or self._mentions.has(use.path, blocks[-1]):
                continue
            number = blocks[-1].message
            found.append(
                self._item(
                    "stale_read",
                    "high",
                    f'"{base_name(use.path)}" read at #{number}, {age} messages ago, and not spoken of since',
                    f"drop it from the window: /compact focus, naming message #{number}",
                    blocks,
                    path=use.path,
                    tool=use.name,
                )
            )
        return found

    def resolved_exchanges(self) -> list[WasteItem]:
        """What led up to a short prompt that says it is done."""
        found = []
        lookback = max(1, int(self._thresholds.resolution_lookback))
        for place, number in enumerate(self._numbers):
            said = self._short_prompt(self._messages[number])
            phrase = _RESOLVED.search(said) if said else None
            if phrase is None:
                continue
            start = max(0, place - lookback)
            blocks = self._left(
                block
                for earlier in self._numbers[start:place]
                for block in self._messages[earlier]
                if block.category in ("conversation", "tools", "retrieved") and block.tokens
            )
            if sum(block.tokens for block in blocks) <= _LEAST_EXCHANGE:
                continue
            first = min(block.message for block in blocks)
            item = self._item(
                "resolved_exchange",
                "high",
                f'"{phrase[0]}" at #{number} settles the exchange from #{first} on',
                f"it is done with: /compact focus, dropping messages #{first}-{number}",
                blocks,
            )
            found.append(item._replace(message_range=(first, number)))
        return found

    def duplicate_reads(self, rereads: list[Reread]) -> list[WasteItem]:
        """The later ones of reads that brought the same, by file."""
        by_path: dict[str, list[ToolUse]] = {}
        for one in rereads:
            by_path.setdefault(one.use.path or "", []).append(one.use)
        found = []
        for path, uses in by_path.items():
            blocks = self._left(block for use in uses for block in self._results.get(use.id, ()))
            if not sum(block.tokens for block in blocks):
                continue
            numbers = sorted({block.message for block in blocks})
            reads = self._reads.get(path, 0)
            found.append(
                self._item(
                    "duplicate_read",
                    "medium",
                    f'"{base_name(path)}" read {_times(reads)}; {_numbered(numbers)} brought nothing new, as nothing '
                    "had changed",
                    "refer to the read that is already in the window instead of reading again",
                    blocks,
                    path=path,
                    tool=uses[0].name,
                )
            )
        return found

    def oversized_system(self) -> list[WasteItem]:
        """CLAUDE.md files beyond the threshold, those nested in the transcript included."""
        nested = [block for blocks in self._messages.values() for block in blocks if block.subtype == "nested_memory"]
        fixed = self._window.fixed_context.claude_md_tokens
        total = fixed + sum(block.tokens for block in nested)
        threshold = self._thresholds.oversized_system
        excess = int(total - threshold)
        if excess <= 0:
            return []
        files = [one.path for one in self._facts.surroundings if one.kind in ("claude_md", "rule")] if fixed else []
        item = self._item(
            "oversized_system",
            "medium",
            f"CLAUDE.md and rules take {total:,} tokens of every call, {excess:,} above {threshold:,.0f}",
            "keep what every session needs; move the rest to files that are read when needed",
            (),
            path=files[0] if len(files) == 1 else None,
        )
        carried, usd = self._carriage.amount([(excess, self._ordinal_before())])
        return [item._replace(estimated_tokens=excess, carried_tokens=carried, carried_usd=usd)]

    def unused_results(self) -> list[WasteItem]:
        """Results of tools that are asked for what they answer, after which the model said next to nothing."""
        found = []
        for row, results in self._results.items():
            use = self._uses.get(row)
            if use is None or use.name in ACTS or use.is_error or use.result_chars <= _LEAST_RESULT:
                continue
            blocks = self._left(block for block in results if block.category != "retrieved")
            if sum(block.tokens for block in blocks) <= _LEAST_UNUSED or self._is_answered(blocks[-1].message):
                continue
            number = blocks[-1].message
            name = use.name or "a tool"
            found.append(
                self._item(
                    "unused_result",
                    "low",
                    f"{name} result at #{number} ({use.result_chars:,} characters), nothing said of it after",
                    "ask for less output: a filter, a limit, or a subagent that reports only what matters",
                    blocks,
                    path=use.path,
                    tool=use.name,
                )
            )
        return found

    def cache_overhead(self) -> list[WasteItem]:
        """The share of the input that is carried along from call to call; a fact, not tokens to be saved."""
        calls = [call for call in self._facts.calls if call.live_epoch]
        read = sum(call.cache_read_tokens for call in calls)
        whole = sum(call.context_tokens for call in calls)
        if not whole or read / whole <= self._thresholds.cache_overhead:
            return []
        prices = [call.cache_read_usd for call in calls]
        usd = sum(call.cache_read_tokens * (call.cache_read_usd or 0) for call in calls) / 1e6
        item = self._item(
            "cache_overhead",
            "info",
            f"{read / whole:.0%} of the input of {len(calls):,} calls was context read from the cache again",
            "cheap by the token, but a smaller window makes every call cheaper",
            (),
        )
        return [item._replace(carried_tokens=read, carried_usd=None if None in prices else usd, basis="exact")]

    def excused_reads(self, rereads: list[Reread]) -> list[WasteItem]:
        """Re-reads that are no waste, by file and excuse: told, and not summed."""
        grouped: dict[tuple[str, str], list[ToolUse]] = {}
        for one in rereads:
            grouped.setdefault((one.use.path or "", one.excuse or ""), []).append(one.use)
        found = []
        for (path, excuse), uses in grouped.items():
            blocks = [block for use in uses for block in self._results.get(use.id, ())]
            if not blocks:
                continue
            numbers = sorted({block.message for block in blocks})
            item = self._item(
                "duplicate_read",
                "info",
                f'"{base_name(path)}" read again at {_numbered(numbers)}: {excuse}',
                "nothing to do",
                blocks,
                path=path,
                tool=uses[0].name,
                counts=False,
            )
            found.append(item._replace(excuse=excuse, excused_tokens=item.estimated_tokens, estimated_tokens=0))
        return found

    # ------------------------------------------------------------------ what they share

    def _item(
        self,
        type: str,
        severity: str,
        description: str,
        recommendation: str,
        blocks: Iterable[Block],
        *,
        path: str | None = None,
        tool: str | None = None,
        counts: bool = True,
    ) -> WasteItem:
        blocks = list(blocks)
        if counts:
            self._counted.update(block.id for block in blocks)
        numbers = sorted({block.message for block in blocks})
        carried, usd = self._carriage.of(blocks)
        return WasteItem(
            type=type,
            severity=severity,
            description=description,
            estimated_tokens=sum(block.tokens for block in blocks),
            recommendation=recommendation,
            message_range=(numbers[0], numbers[-1]) if numbers else None,
            messages=tuple(numbers),
            path=path,
            tool=tool,
            carried_tokens=carried,
            carried_usd=usd,
            excuse=None,
            excused_tokens=0,
            basis="exact" if blocks and all(block.is_exact for block in blocks) else "estimated",
        )

    def _left(self, blocks: Iterable[Block]) -> list[Block]:
        return [block for block in blocks if block.id not in self._counted]

    def _messages_after(self, number: int) -> int:
        return len(self._numbers) - bisect_right(self._numbers, number)

    def _short_prompt(self, blocks: list[Block]) -> str:
        """What a human prompt says if it is short; empty for all else."""
        if not all(block.is_prompt for block in blocks) or sum(block.chars for block in blocks) > 2 * _SHORT_PROMPT:
            return ""
        texts = [self._facts.text(block.id) or "" for block in blocks if block.kind in ("text", "attachment")]
        said = " ".join(texts).strip().lower().replace("\u2019", "'")
        return said if len(said) < _SHORT_PROMPT else ""

    def _is_answered(self, number: int) -> bool:
        """Whether the model made use of a result, or may still do so."""
        place = bisect_right(self._numbers, number)
        after = self._numbers[place : place + _ANSWERED_WITHIN]
        following = [block for later in after for block in self._messages[later]]
        answers = [block for block in following if block.record_type == "assistant"]
        if any(block.kind == "text" and block.chars >= _LEAST_ANSWER for block in answers):
            return True
        turn_over = any(block.is_prompt for block in following) or self._turn_ended()
        return not answers or (len(after) < _ANSWERED_WITHIN and not turn_over)

    def _turn_ended(self) -> bool:
        call = self._window.call
        return call is not None and call.stop_reason not in (None, "tool_use", "pause_turn")

    def _ordinal_before(self) -> int:
        """The ordinal just before the first call of the window."""
        return min((call.ordinal for call in self._facts.calls if call.live_epoch), default=1) - 1


def _times(count: int) -> str:
    return f"{count:,} times" if count != 1 else "once"


def _numbered(numbers: list[int]) -> str:
    return ", ".join(f"#{number}" for number in numbers)
