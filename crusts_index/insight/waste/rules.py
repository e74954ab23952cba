"""The rules of waste, one object each: how it is found, said in a focus text, fixed and advised (D13)."""

from __future__ import annotations

import re

from crusts_index.insight.session.mentions import base_name
from crusts_index.tools import ACTS, READS, is_run_for_its_effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Block, ToolUse
    from crusts_index.insight.waste.ground import Ground
    from crusts_index.insight.waste.item import WasteItem

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
_WORD = re.compile(r"[^\W_][\w']*")
_RESOLVED = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<![\w'])(?:" + "|".join(map(re.escape, RESOLUTIONS)) + r")(?!\w)"
)
_BESIDE = frozenset(
    """a again all amazing and as awesome beautiful brilliant cheers claude cool correct done everything excellent
    expected fantastic for good great help i is it job just looks lot love lovely man mate much nice now of ok okay
    perfectly really right so super that that's the this thx to ty very was well what wanted wonderful work working
    works wow yeah yep yes you your""".split()
)
"""Words that add nothing to thanks."""
_SHORT_PROMPT = 100  # characters; a longer prompt says more than that it is done
_LEAST_EXCHANGE = 500  # tokens
_LEAST_STALE = 200  # tokens
_LEAST_REREAD = 200  # tokens; below, nothing is gained by compacting for it
_LEAST_UNUSED = 1_000  # tokens
_LEAST_ANSWER = 50  # characters of the model's text or thinking that show that it made use of a result
_LEAST_THOUGHT = 15  # tokens, of thinking whose text is not logged
_ANSWERED_WITHIN = 5  # messages


class Rule:
    """One kind of waste. `name` is what every command calls it, `title` says it in words."""

    name: str
    severity: str
    title: str
    advice: str

    def find(self, ground: Ground) -> list[WasteItem]:
        """Its findings in a window, of what the rules before it left."""
        raise NotImplementedError

    def focus(self, item: WasteItem, name: str) -> str:
        """What a `/compact focus` says of a finding, its file called `name`; empty where it can say nothing."""
        return ""

    def fix(self, items: Sequence[WasteItem], names: Sequence[str]) -> str:
        """What to tell Claude in the session, so that no more of it comes; empty where that would not help."""
        return ""


class StaleRead(Rule):
    """Reads long ago of files that nothing has spoken of since."""

    name, severity, title = "stale_read", "high", "reads that nothing has spoken of since"
    advice = "drop it from the window: /compact focus, naming the file"

    def find(self, ground: Ground) -> list[WasteItem]:
        items = []
        for use in ground.facts.tool_uses:
            blocks = ground.left(ground.results.get(use.id, ()))
            if use.name not in READS or not use.path or sum(block.tokens for block in blocks) < _LEAST_STALE:
                continue
            last = blocks[-1]
            age = len(ground.after(last.message))
            if age <= ground.thresholds.stale_read or _is_spoken_of(ground, use, last):
                continue
            words = f'"{base_name(use.path)}" read at #{last.message}, {age} messages ago, and not spoken of since'
            items.append(
                ground.item(self.name, self.severity, words, self.advice, blocks, path=use.path, tool=use.name)
            )
        return items

    def focus(self, item: WasteItem, name: str) -> str:
        return f"drop stale read of {name}" if name else ""


class ResolvedExchange(Rule):
    """What led up to a prompt that is nothing but thanks or agreement, and that was taken for no more than that."""

    name, severity, title = "resolved_exchange", "high", 'exchanges that a "thanks" has settled'
    advice = "it is done with: /compact focus, dropping these messages"

    def find(self, ground: Ground) -> list[WasteItem]:
        items = []
        lookback = max(1, int(ground.thresholds.resolution_lookback))
        for place, number in enumerate(ground.numbers):
            phrase = _thanks(_short_prompt(ground, ground.messages[number]))
            if not phrase or not _is_answered_in_words(ground, number):
                continue
            blocks = ground.left(
                block
                for earlier in ground.numbers[max(0, place - lookback) : place]
                for block in ground.messages[earlier]
                if block.category in ("conversation", "tools", "retrieved") and block.tokens
            )
            if sum(block.tokens for block in blocks) <= _LEAST_EXCHANGE or _goes_on(ground, blocks, number):
                continue
            first = min(block.message for block in blocks)
            words = f'"{phrase}" at #{number} settles the exchange from #{first} on'
            item = ground.item(self.name, self.severity, words, self.advice, blocks)
            items.append(item._replace(message_range=(first, number)))
        return items

    def focus(self, item: WasteItem, name: str) -> str:
        if item.message_range is None:
            return ""
        first, last = item.message_range
        return f"drop resolved exchange at messages #{first}-{last}"


class DuplicateRead(Rule):
    """The later ones of reads that brought the same, by file; those with an excuse are told and not summed."""

    name, severity, title = "duplicate_read", "medium", "reading again what was not changed"
    advice = "refer to the read that is already in the window instead of reading again"

    def find(self, ground: Ground) -> list[WasteItem]:
        reads: dict[str, int] = {}
        for use in ground.facts.tool_uses:
            if use.name in READS and use.path and use.in_window:
                reads[use.path] = reads.get(use.path, 0) + 1
        grouped: dict[tuple[str, str | None], list[ToolUse]] = {}
        for reread in sorted(ground.rereads, key=lambda one: one.excuse is not None):
            grouped.setdefault((reread.use.path or "", reread.excuse), []).append(reread.use)
        items = []
        for (path, excuse), uses in grouped.items():
            every = [block for use in uses for block in ground.results.get(use.id, ())]
            blocks = ground.left(every) if excuse is None else every
            if not sum(block.tokens for block in blocks) and (excuse is None or not blocks):
                continue
            where = ", ".join(f"#{number}" for number in sorted({block.message for block in blocks}))
            name, tool = base_name(path), uses[0].name
            if excuse is None:
                count = f"{reads.get(path, 0):,} times" if reads.get(path) != 1 else "once"
                severity = self.severity if sum(block.tokens for block in blocks) >= _LEAST_REREAD else "low"
                words = f'"{name}" read {count}; {where} brought nothing new, as nothing had changed'
                items.append(ground.item(self.name, severity, words, self.advice, blocks, path=path, tool=tool))
            else:
                words = f'"{name}" read again at {where}: {excuse}'
                todo = "nothing to do"
                items.append(
                    ground.item(
                        self.name, "info", words, todo, blocks, path=path, tool=tool, counts=False, excuse=excuse
                    )
                )
        return items

    def focus(self, item: WasteItem, name: str) -> str:
        return f"keep only latest read of {name}" if name else ""

    def fix(self, items: Sequence[WasteItem], names: Sequence[str]) -> str:
        lines = ["Do not read these files again unless they were changed; what was read is still in your context:"]
        for item, name in zip(items, names, strict=True):
            where = ", ".join(f"#{number}" for number in item.messages)
            lines.append(f"- {name} (read again without need at {where})")
        said = "Refer to a file already read by its name and line numbers; read only the lines that are missing."
        return "\n".join([*lines, "", said])


class OversizedSystem(Rule):
    """CLAUDE.md files beyond the threshold, those nested in the transcript included."""

    name, severity, title = "oversized_system", "medium", "CLAUDE.md files above the threshold"
    advice = "keep what every session needs; move the rest to files that are read when needed"

    def find(self, ground: Ground) -> list[WasteItem]:
        nested = [block for blocks in ground.messages.values() for block in blocks if block.subtype == "nested_memory"]
        fixed = ground.window.fixed_context.claude_md_tokens or _claude_md(ground, is_nested=bool(nested))
        total = fixed + sum(block.tokens for block in nested)
        threshold = ground.thresholds.oversized_system
        excess = int(total - threshold)
        if excess <= 0:
            return []
        around = ground.facts.surroundings if fixed else []
        files = [one.path for one in around if one.kind in ("claude_md", "rule")]
        words = f"CLAUDE.md and rules take {total:,} tokens of every call, {excess:,} above {threshold:,.0f}"
        path = files[0] if len(files) == 1 else None
        item = ground.item(self.name, self.severity, words, self.advice, (), path=path)
        first = min((call.ordinal for call in ground.facts.calls if call.live_epoch), default=1)
        carried, usd = ground.carriage.amount([(excess, first - 1)])
        return [item._replace(estimated_tokens=excess, carried_tokens=carried, carried_usd=usd)]


class UnusedResult(Rule):
    """Large results of tools that are asked for what they answer, and of which nothing was made: never summed."""

    name, severity, title = "unused_result", "info", "results that nothing was made of"
    advice = "ask for less output: a filter, a limit, or a subagent that reports only what matters"

    def find(self, ground: Ground) -> list[WasteItem]:
        items = []
        for row, results in ground.results.items():
            use = ground.uses.get(row)
            if use is None or use.name in ACTS or use.is_error or is_run_for_its_effect(use.name, use.command):
                continue
            blocks = ground.left(block for block in results if block.category != "retrieved")
            tokens = sum(block.tokens for block in blocks)
            if tokens < _LEAST_UNUSED or _is_made_use_of(ground, use, blocks[-1]):
                continue
            words = f"{use.name or 'a tool'} result at #{blocks[-1].message} ({tokens:,} tokens), nothing made of it"
            items.append(
                ground.item(
                    self.name, self.severity, words, self.advice, blocks, path=use.path, tool=use.name, counts=False
                )
            )
        return items


RULES: tuple[Rule, ...] = (StaleRead(), ResolvedExchange(), DuplicateRead(), OversizedSystem(), UnusedResult())
"""In the order in which they take what the others left."""
BY_NAME = {rule.name: rule for rule in RULES}


def _is_spoken_of(ground: Ground, use: ToolUse, block: Block) -> bool:
    """Whether something behind a read names its file or two identifiers first seen in it, or that cannot be told."""
    mentions = ground.mentions
    if not mentions.is_known or mentions.names(use.path or "", block):
        return True
    return mentions.uses_words(block, use.tool_use_id) is not False


def _short_prompt(ground: Ground, blocks: list[Block]) -> str:
    """What a human prompt says if it is short; empty for all else."""
    if not all(block.is_prompt for block in blocks) or sum(block.chars for block in blocks) > 2 * _SHORT_PROMPT:
        return ""
    if any(block.kind not in ("text", "attachment") for block in blocks):
        return ""  # a picture asks for something
    said = " ".join(ground.facts.text(block.id) or "" for block in blocks).strip().lower().replace("\u2019", "'")
    return said if len(said) < _SHORT_PROMPT else ""


def _thanks(said: str) -> str:
    """The phrase that settles, in a prompt of nothing but thanks or agreement; empty for all else."""
    phrase = _RESOLVED.search(said)
    if phrase is None or "?" in said:
        return ""
    beside = _WORD.findall(_RESOLVED.sub(" ", said))
    return phrase[0] if _BESIDE.issuperset(beside) else ""


def _is_answered_in_words(ground: Ground, number: int) -> bool:
    """Whether the answer to a prompt is there, and uses no tool."""
    is_answered = False
    for later in ground.after(number):
        for block in ground.messages[later]:
            if block.is_prompt:
                return is_answered
            if block.kind == "tool_use":
                return False
            is_answered = is_answered or (block.record_type == "assistant" and block.kind == "text")
    return is_answered


def _goes_on(ground: Ground, blocks: list[Block], number: int) -> bool:
    """Whether what was settled is spoken of behind it: a file of it, two identifiers first seen in it, or unknown."""
    settled, mentions = ground.messages[number][-1], ground.mentions
    uses = (ground.uses.get(block.tool_use_row) for block in blocks if block.tool_use_row is not None)
    paths = {use.path for use in uses if use is not None and use.path}
    if any(mentions.names(path, settled) for path in paths):
        return True
    return mentions.speaks_of(blocks, settled) is not False


def _is_made_use_of(ground: Ground, use: ToolUse, block: Block) -> bool:
    """Whether the model made something of a result, may still do so, or that cannot be told."""
    after = ground.after(block.message, _ANSWERED_WITHIN)
    following = [each for later in after for each in ground.messages[later]]
    answers = [each for each in following if each.record_type == "assistant"]
    if any(_says_something(each) for each in answers):
        return True
    call = next((call for call in reversed(ground.facts.calls) if call.live_epoch), None)
    is_over = call is not None and call.stop_reason not in (None, "tool_use", "pause_turn")
    if not answers or (len(after) < _ANSWERED_WITHIN and not is_over and not any(each.is_prompt for each in following)):
        return True
    return ground.mentions.is_taken_up(block, use.tool_use_id, after) is not False


def _says_something(block: Block) -> bool:
    if block.kind == "thinking":
        return block.chars >= _LEAST_ANSWER or block.tokens >= _LEAST_THOUGHT
    return block.kind == "text" and block.chars >= _LEAST_ANSWER


def _claude_md(ground: Ground, *, is_nested: bool) -> int:
    """Tokens of the CLAUDE.md files that are known as they were, where the fixed context is not divided."""
    return sum(
        int(one.detail.get("loaded_tokens", one.tokens)) + int(one.detail.get("import_tokens", 0))
        for one in ground.facts.surroundings
        if one.kind in ("claude_md", "rule") and not (is_nested and one.project_path is not None)
    )
