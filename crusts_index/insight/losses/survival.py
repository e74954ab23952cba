"""What speaks for or against a thing having survived a compaction: kept, back by itself, fetched again, named."""

from __future__ import annotations

from bisect import bisect_right

from crusts_index.insight.losses.items import (
    FILE_ATTACHMENTS,
    FILE_READ,
    INSTRUCTION,
    TOOL_RESULT,
    Item,
    Order,
)
from crusts_index.insight.losses.key_terms import Summary, key_terms
from crusts_index.tools import READS, RETRIEVES
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crusts_index.insight.session.facts import Attachment, Block, Compaction, Facts, ToolUse
    from crusts_index.rows.session import CallPrice

KEPT, REINJECTED, REACQUIRED, NAMED, GONE = (
    "kept",
    "re-injected",
    "re-acquired later",
    "named in the summary",
    "gone",
)
VERDICTS = (KEPT, REINJECTED, REACQUIRED, NAMED, GONE)
"""From the strongest to none: what came back whole says more than a name in the summary."""

REFERENCE = "compact_file_reference"
_LEAST_PREVIEW = 20
_PREVIEW = 30


class Again(NamedTuple):
    """A thing that was fetched again. `tokens` are those of the use and its result or of an attachment (D9);
    `cost_usd` is what asking for them and taking them in cost at list price, None unpriced.
    """

    id: int
    message: int
    tokens: int
    cost_usd: float | None


class Evidence(NamedTuple):
    """One finding: the verdict that it speaks for, in words, and the message where it can be seen."""

    verdict: str
    detail: str
    message: int | None


class After:
    """What came after a compaction of the live path, made ready to be asked about many items."""

    def __init__(
        self,
        facts: Facts,
        compaction: Compaction,
        following: Compaction | None,
        order: Order,
        prices: Mapping[int, CallPrice],
    ) -> None:
        self._order, self._prices = order, prices
        self._calls = [call for call in facts.calls if call.on_path]
        self._call_keys = [order.key(call.record_id) for call in self._calls]
        start = order.key(compaction.id)
        end = order.key(following.id) if following is not None else None
        later = [block for block in facts.blocks if block.on_path and order.key(block.record_id) >= start]
        inside = [block for block in later if end is None or order.key(block.record_id) < end]
        place = next((i for i, block in enumerate(inside) if block.call_id is not None), len(inside))
        opening = order.key(inside[place].record_id) if place < len(inside) else end
        self._attached = {one.record_id: one for one in facts.attachments}
        summary = [block for block in inside if block.record_id == compaction.summary_record_id]
        self.summary = Summary(_text(facts, summary))
        self.preserved = compaction.preserved_records
        self._discovered = frozenset(compaction.discovered_tools)
        self._loaded: dict[int, set[str]] = {}
        for load in facts.loads:
            self._loaded.setdefault(load.record_id, set()).add(load.name)
        seen = {block.record_id: block.message for block in inside}
        off_path = {block.record_id for block in facts.blocks if not block.on_path}
        brought = [
            (one, seen.get(one.record_id))
            for one in facts.attachments
            if order.key(one.record_id) > start
            and (end is None or order.key(one.record_id) < end)
            and one.record_id not in off_path
        ]
        opened = [pair for pair in brought if opening is None or order.key(pair[0].record_id) < opening]
        self.files = self._files(opened)
        self._again: dict[tuple[str, str | None, str | None], int | None] = {}
        for one, message in brought:
            self._again.setdefault(_mark(one), message)
        self._plan_again = next((mark for mark in self._again if _is_plan(mark[0])), None)
        self._skills_again = next((mark for mark in self._again if mark[0] == "invoked_skills"), None)
        self._instructions(facts, inside)
        self._reads: dict[tuple[object, ...], Again | ToolUse] = {}
        self._inputs: dict[int, ToolUse] = {}
        self._gather(facts, later, {block.record_id for block in inside[:place]}, start)
        self.has_fields = bool(compaction.preserved) or bool(opened)

    def _files(self, opened: list[tuple[Attachment, int | None]]) -> dict[str, tuple[str, int | None]]:
        """Files that came back before the first call: their path, the kind of attachment and its message."""
        found: dict[str, tuple[str, int | None]] = {}
        for one, message in opened:
            if one.type not in FILE_ATTACHMENTS or not one.name:
                continue
            if found.get(one.name, (REFERENCE, 0))[0] == REFERENCE:
                found[one.name] = one.type, message
        return found

    def _instructions(self, facts: Facts, inside: list[Block]) -> None:
        self._said: dict[str, int] = {}
        for block in inside:
            is_text = block.kind == "text" and block.category in ("system", "state")
            if is_text and not block.is_summary:
                self._said.setdefault((facts.text(block.id) or "").strip(), block.message)

    def _gather(self, facts: Facts, later: list[Block], opening: set[int], start: tuple[int, int]) -> None:
        for use in facts.tool_uses:
            result = use.result_record_id
            if use.on_path and result is not None and not use.is_error and not use.is_stub:
                asked = use.use_record_id if use.use_record_id is not None else result
                if self._order.key(asked) > start:
                    if use.name in READS:
                        self._reads.setdefault(_range(use), use)
                    if use.input_hash is not None:
                        self._inputs.setdefault(use.input_hash, use)
        for block in later:
            one = self._attached.get(block.record_id)
            if one is not None and one.type == "file" and one.name and block.record_id not in opening:
                price = self._price(block.record_id)
                cost = None if price is None or price.intake_usd is None else block.tokens * price.intake_usd / 1e6
                again = Again(block.record_id, block.message, block.tokens, cost)
                self._reads.setdefault((one.name, None, None), again)

    # ------------------------------------------------------------------ questions

    def kept(self, item: Item) -> Evidence | None:
        """The boundary names its records: of a file any read of it, of all else at least half of its tokens."""
        blocks = [block for block in item.blocks if block.record_id in self.preserved]
        if not blocks:
            return self._kept_loaded(item)
        tokens = sum(block.tokens for block in blocks)
        content = any(block.kind in ("tool_result", "attachment") for block in blocks)
        if not (content if item.kind == FILE_READ else tokens * 2 >= item.tokens):
            return None
        share = "all of it" if tokens == item.tokens else f"{tokens:,} of {item.tokens:,} tokens"
        return Evidence(KEPT, f"the boundary names it as preserved: {share}", blocks[0].message)

    def _kept_loaded(self, item: Item) -> Evidence | None:
        """Tools that a ToolSearch loaded stay loaded if the boundary lists them."""
        loaded = {name for block in item.blocks for name in self._loaded.get(block.record_id, ())}
        if not loaded or not loaded <= self._discovered:
            return None
        return Evidence(KEPT, f"the boundary lists the tools it loaded: {', '.join(sorted(loaded))}", None)

    def reinjected(self, item: Item) -> Evidence | None:
        """An attachment after the compaction brings it back."""
        if item.path is not None and item.kind == FILE_READ:
            found = self.files.get(item.path)
            if found is None:
                return None
            only = " (a reference, without the content)" if found[0] == REFERENCE else ""
            return Evidence(REINJECTED, f"attachment {found[0]}{only}", found[1])
        return self._instruction_again(item) if item.kind == INSTRUCTION else None

    def _instruction_again(self, item: Item) -> Evidence | None:
        one, block = item.attachment, item.blocks[0]
        if one is not None:
            found = _mark(one) if _mark(one) in self._again else self._plan_again if _is_plan(one.type) else None
        elif block.origin == "skill":
            found = self._skills_again
        else:
            message = None if block.is_summary or not item.text else self._said.get(item.text)
            return None if message is None else Evidence(REINJECTED, "the same text came again", message)
        return None if found is None else Evidence(REINJECTED, f"attachment {found[0]}", self._again[found])

    def is_reference(self, item: Item) -> bool:
        """Whether of a file only a reference came back."""
        return item.kind == FILE_READ and self.files.get(item.path or "", ("", 0))[0] == REFERENCE

    @property
    def why_gone(self) -> str:
        """Why nothing speaks for an item."""
        return "the summary does not name it" if self.summary.text is not None else "there is no summary to name it"

    def again(self, item: Item) -> list[Again]:
        """The first time that each of its inputs came again: a file by path and range, else by the whole input.

        What does not look things up (a command, say) counts only if its result came out the same.
        """
        found: dict[int, Again] = {}
        attached = any(block.kind == "attachment" for block in item.blocks) and item.kind == FILE_READ
        if attached:
            self._add(found, self._reads.get((item.path, None, None)))
        for use in item.uses:
            later = self._reads.get(_range(use)) if use.name in READS and use.path else None
            if later is None and use.input_hash is not None:
                same = self._inputs.get(use.input_hash)
                if same is not None and (use.name in RETRIEVES or same.result_hash == use.result_hash):
                    later = same
            self._add(found, later)
        return list(found.values())

    def _add(self, found: dict[int, Again], later: Again | ToolUse | None) -> None:
        if later is None:
            return
        again = later if isinstance(later, Again) else self._priced(later)
        found.setdefault(again.id, again)

    def _priced(self, use: ToolUse) -> Again:
        asked = use.use_record_id if use.use_record_id is not None else use.result_record_id
        taken = self._price(use.result_record_id)
        asking = self._price_of_asking(asked)
        cost = None
        if taken is not None and taken.intake_usd is not None and asking is not None and asking.output_usd is not None:
            cost = (use.result_block_tokens * taken.intake_usd + use.use_tokens * asking.output_usd) / 1e6
        message = use.use_message if use.use_message is not None else use.result_message
        return Again(use.id, message or 0, use.use_tokens + use.result_block_tokens, cost)

    def _price(self, record_id: int | None) -> CallPrice | None:
        """Of the first call after a record: the one that took it in. None behind it: that of the last call."""
        if record_id is None or not self._calls:
            return None
        place = bisect_right(self._call_keys, self._order.key(record_id))
        return self._prices.get(self._calls[min(place, len(self._calls) - 1)].id)

    def _price_of_asking(self, record_id: int | None) -> CallPrice | None:
        """Of the call that a record is a line of: the last one that begins at or before it."""
        if record_id is None:
            return None
        place = bisect_right(self._call_keys, self._order.key(record_id))
        return self._prices.get(self._calls[place - 1].id) if place else None

    def named(self, item: Item) -> Evidence | None:
        """The summary speaks of it."""
        if self.summary.text is None:
            return None
        if item.kind == FILE_READ:
            name = (item.path or "").replace("\\", "/").rpartition("/")[2]
            return Evidence(NAMED, f"by its file name {name}", None) if self.summary.names(name) else None
        if item.kind == TOOL_RESULT and not self.has_fields:
            return self._tool_named(item)
        terms = key_terms(item.text)
        found = self.summary.named_of(terms)
        if found:
            return Evidence(NAMED, f"{len(found)} of {len(terms)} key terms: {', '.join(found[:8])}", None)
        return self._preview_named(item) if item.kind == TOOL_RESULT else None

    def _tool_named(self, item: Item) -> Evidence | None:
        """In older transcripts: by the tool's name; a result without a known tool by nothing."""
        name = item.uses[0].name
        if name is None:
            return None
        if self.summary.names(name):
            return Evidence(NAMED, f"by the tool's name {name}", None)
        return self._preview_named(item)

    def _preview_named(self, item: Item) -> Evidence | None:
        start = item.answer[:_PREVIEW]
        if len(item.answer) > _LEAST_PREVIEW and self.summary.names(start):
            return Evidence(NAMED, f"by how its result begins: {start}", None)
        return None


def decisive(found: Iterable[Evidence]) -> list[Evidence]:
    """The evidence, the strongest first. A mere reference to a file is weaker than having fetched it again."""

    def rank(one: Evidence) -> float:
        weak = one.verdict == REINJECTED and one.detail.startswith(f"attachment {REFERENCE}")
        return VERDICTS.index(one.verdict) + (1.5 if weak else 0)

    return sorted(found, key=rank)


def _range(use: ToolUse) -> tuple[object, ...]:
    return use.path, use.read_offset, use.read_limit


def _is_plan(kind: str) -> bool:
    return kind.startswith("plan")


def _mark(one: Attachment) -> tuple[str, str | None, str | None]:
    return one.type, one.name, one.event


def _text(facts: Facts, blocks: list[Block]) -> str | None:
    found = [text for block in blocks if (text := facts.text(block.id)) is not None]
    return "\n".join(found) if found else None
