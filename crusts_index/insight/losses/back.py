"""What came back after a compaction: kept word for word, put back by itself, or read again, in whole or in part."""

from __future__ import annotations

from bisect import bisect_right
from math import inf

from crusts_index.insight.losses.items import FILE_ATTACHMENTS, FILE_READ, INSTRUCTION, Item, Order
from crusts_index.tools import ACTS, EDITS, READS, RETRIEVES
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from crusts_index.insight.session.facts import Attachment, Block, Compaction, Facts, ToolUse
    from crusts_index.rows.session import CallPrice

KEPT, REINJECTED, READ_AGAIN, MENTIONED, GONE = "kept", "re-injected", "read again", "mentioned", "gone"
VERDICTS = (KEPT, REINJECTED, READ_AGAIN, MENTIONED, GONE)

REFERENCE = "compact_file_reference"
"""An attachment that names a file without its content: a pointer, which brings nothing back."""


class Evidence(NamedTuple):
    """What became of so many tokens of an item, in words why, and the message where it can be seen."""

    verdict: str
    tokens: int
    detail: str
    message: int | None


class Again(NamedTuple):
    """A thing that was fetched again. `tokens` are those of the use and its result or of an attachment (D9), as far
    as they had been in the window before; `cost_usd` is what asking for them and taking them in cost at list price,
    None unpriced.
    """

    id: int
    message: int
    tokens: int
    cost_usd: float | None


class Read(NamedTuple):
    """Lines of a file, from `start` to before `stop`, that were read after the compaction."""

    start: float
    stop: float
    again: Again

    def has(self, start: float, stop: float) -> bool:
        """Whether all of these lines are among its own."""
        return self.start <= start and stop <= self.stop


class After:
    """What came after a compaction of the live path, made ready to be asked about many items, the latest first."""

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
        self._preserved = compaction.preserved_records
        self._discovered = frozenset(compaction.discovered_tools)
        self._loaded: dict[int, set[str]] = {}
        for load in facts.loads:
            self._loaded.setdefault(load.record_id, set()).add(load.name)
        self._brought: dict[object, Evidence] = {}
        self._reads: dict[str, list[Read]] = {}
        self._inputs: dict[int, ToolUse] = {}
        start = order.key(compaction.id)
        end = order.key(following.id) if following is not None else (len(facts.parts) + 1, 0)
        inside = [block for block in facts.blocks if block.on_path and start <= order.key(block.record_id) < end]
        self._referred = {
            one.name for one in facts.attachments if one.type == REFERENCE and start < order.key(one.record_id) < end
        }
        self._bring(facts, inside)
        self._read(facts, start)

    def refers_to(self, path: str) -> bool:
        """Whether a reference to the file was put back, without its content."""
        return path in self._referred

    def kept(self, item: Item) -> Evidence | None:
        """Those of its records that the boundary names; tools that it lists as loaded."""
        blocks = [block for block in item.blocks if block.record_id in self._preserved]
        if blocks:
            tokens = sum(block.tokens for block in blocks)
            return Evidence(KEPT, tokens, "the boundary names it as preserved", blocks[0].message)
        loaded = {name for block in item.blocks for name in self._loaded.get(block.record_id, ())}
        if loaded and loaded <= self._discovered:
            listed = ", ".join(sorted(loaded))
            return Evidence(KEPT, item.tokens, f"the boundary lists the tools it loaded: {listed}", None)
        return None

    def put_back(self, item: Item, most: int) -> Evidence | None:
        """What Claude Code put back of it by itself, up to `most` tokens; what an attachment brings, it brings once."""
        key: object = None
        if item.kind == FILE_READ or (item.uses and item.uses[0].name in EDITS):
            key = "file", item.path
        elif item.kind == INSTRUCTION and item.attachment is not None:
            key = _mark(item.attachment)
        elif item.kind == INSTRUCTION and not item.blocks[0].is_summary:
            key = "invoked_skills" if item.blocks[0].origin == "skill" else ("text", item.text)
        part = self._brought.get(key)
        if key is None or part is None or not part.tokens:
            return None
        taken = min(most, part.tokens)
        self._brought[key] = part._replace(tokens=part.tokens - taken)
        return part._replace(tokens=taken)

    def read_again(self, item: Item, most: int) -> tuple[Evidence | None, list[Again]]:
        """What was fetched again of it, up to `most` tokens, and each fetch the first time that it came.

        A file by its lines, what was written to a file by the whole of it, what looks things up by the whole input;
        of all else, but for what is done for its effect, only with the same result.
        """
        back: dict[int, Again] = {}
        tokens = 0
        attached = sum(block.tokens for block in item.blocks if block.kind == "attachment")
        if item.kind == FILE_READ and attached:
            tokens += self._lines_again(item.path or "", 1, inf, attached, back)
        for use in item.uses:
            size = use.use_tokens + use.result_block_tokens
            if use.path and use.name in READS:
                tokens += self._lines_again(use.path, *lines_of(use), size, back)
            elif use.path and use.name in EDITS:
                tokens += self._whole_again(use.path, size, use.name == "Write", back)
            else:
                tokens += self._same_again(use, size, back)
        if not tokens:
            return None, []
        again = list(back.values())
        times = "" if len(again) == 1 else f" in {len(again)} pieces"
        detail = f"fetched again{times}: {sum(one.tokens for one in again):,} tokens"
        return Evidence(READ_AGAIN, min(most, tokens), detail, again[0].message), again

    # ------------------------------------------------------------------ what of it came again

    def _lines_again(self, path: str, start: float, stop: float, size: int, back: dict[int, Again]) -> int:
        """Tokens of a read of `size` whose lines were read again."""
        left = size
        for read in self._reads.get(path, ()):
            shared = min(stop, read.stop) - max(start, read.start)
            if left <= 0 or shared <= 0:
                continue
            part = read.again.tokens if stop == inf else int(size * shared / (stop - start))
            tokens = left if read.has(start, stop) else min(left, part)
            left -= tokens
            _add(back, read.again, read.again.tokens if (read.start, read.stop) == (start, stop) else tokens)
        return size - left

    def _whole_again(self, path: str, size: int, is_all: bool, back: dict[int, Again]) -> int:
        whole = next((read for read in self._reads.get(path, ()) if read.has(1, inf)), None)
        if whole is None:
            return 0
        tokens = size if is_all else min(size, whole.again.tokens)
        _add(back, whole.again, tokens)
        return tokens

    def _same_again(self, use: ToolUse, size: int, back: dict[int, Again]) -> int:
        later = self._inputs.get(use.input_hash) if use.input_hash is not None else None
        if later is None or use.name in ACTS or (use.name not in RETRIEVES and later.result_hash != use.result_hash):
            return 0
        again = self._priced(later)
        _add(back, again, again.tokens)
        return size

    # ------------------------------------------------------------------ making ready

    def _bring(self, facts: Facts, inside: list[Block]) -> None:
        """What attachments and the same text brought back before the next compaction, files before the first call."""
        attached = {one.record_id: one for one in facts.attachments}
        is_opening = True
        for block in inside:
            is_opening = is_opening and block.call_id is None
            one = attached.get(block.record_id)
            if one is None:
                if block.kind == "text" and block.category in ("system", "state") and not block.is_summary:
                    text = (facts.text(block.id) or "").strip()
                    same = Evidence(REINJECTED, block.tokens, "the same text came again", block.message)
                    self._brought.setdefault(("text", text), same)
            elif one.type == "file" and one.name and not is_opening:
                price = self._price(block.record_id)
                cost = None if price is None or price.intake_usd is None else block.tokens * price.intake_usd / 1e6
                again = Again(block.record_id, block.message, block.tokens, cost)
                self._reads.setdefault(one.name, []).append(Read(1, inf, again))
            elif one.type != REFERENCE:
                key = ("file", one.name) if one.type in FILE_ATTACHMENTS else _mark(one)
                part = Evidence(REINJECTED, block.tokens, f"attachment {one.type}", block.message)
                self._brought.setdefault(key, part)

    def _read(self, facts: Facts, start: tuple[int, int]) -> None:
        """What was asked for after the compaction with an answer: the same lines or input the first time."""
        for use in facts.tool_uses:
            result = use.result_record_id
            asked = use.use_record_id if use.use_record_id is not None else result
            if not use.on_path or result is None or asked is None or use.is_error or use.is_stub:
                continue
            if self._order.key(asked) <= start:
                continue
            if use.name in READS and use.path:
                reads = self._reads.setdefault(use.path, [])
                if not any(read.has(*lines_of(use)) for read in reads):
                    reads.append(Read(*lines_of(use), self._priced(use)))
            if use.input_hash is not None:
                self._inputs.setdefault(use.input_hash, use)

    def _priced(self, use: ToolUse) -> Again:
        taken, asking = self._price(use.result_record_id), self._price(use.use_record_id, is_asking=True)
        cost = None
        if taken is not None and taken.intake_usd is not None and asking is not None and asking.output_usd is not None:
            cost = (use.result_block_tokens * taken.intake_usd + use.use_tokens * asking.output_usd) / 1e6
        message = use.use_message if use.use_message is not None else use.result_message
        return Again(use.id, message or 0, use.use_tokens + use.result_block_tokens, cost)

    def _price(self, record_id: int | None, *, is_asking: bool = False) -> CallPrice | None:
        """Of the first call after a record, which took it in; the last call where none is behind it. `is_asking`: of
        the call that it is a line of.
        """
        if record_id is None or not self._calls:
            return None
        place = bisect_right(self._call_keys, self._order.key(record_id)) - is_asking
        return None if place < 0 else self._prices.get(self._calls[min(place, len(self._calls) - 1)].id)


def lines_of(use: ToolUse) -> tuple[float, float]:
    """The lines that a read asked for: the first, and the one behind the last."""
    start = max(1, use.read_offset) if isinstance(use.read_offset, int) else 1
    limit = use.read_limit
    return start, start + limit if isinstance(limit, int) and limit > 0 else inf


def _add(back: dict[int, Again], again: Again, tokens: int) -> None:
    """Take a fetch in as far as it brought back `tokens`; of several reasons for it the one that had most."""
    tokens = min(tokens, again.tokens)
    if again.id not in back or back[again.id].tokens < tokens:
        cost = None if again.cost_usd is None else again.cost_usd * tokens / max(1, again.tokens)
        back[again.id] = again._replace(tokens=tokens, cost_usd=cost)


def _mark(one: Attachment) -> object:
    """What makes an attachment another of the same; whatever speaks of the plan brings the plan."""
    if one.type == "invoked_skills":
        return one.type
    return "plan" if one.type.startswith("plan") else (one.type, one.name, one.event)
