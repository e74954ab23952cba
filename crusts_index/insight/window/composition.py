"""What the window was made of at every call of the live path, by category: the bands of its curve (D10, D12)."""

from __future__ import annotations

from bisect import bisect_right

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.window.buckets import LEAST_SCALE, MOST_SCALE
from crusts_index.insight.window.catalogue import deferred_load_tokens
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Block, Call, Compaction, Facts
    from crusts_index.insight.window.judge import Window


class Point(NamedTuple):
    """One call of the live path. `number` counts from 1; `growth` is from the call before in the same window, None for
    the first of a window; both and the call's context are exact. `content` is estimated by category in the order of
    CATEGORIES, `bands` is that scaled to the context, None where the estimates are too far from it.
    """

    number: int
    call: Call
    growth: int | None
    content: tuple[int, ...]
    bands: tuple[int, ...] | None


def composition_of(facts: Facts, window: Window) -> list[Point]:
    """The calls of the live path in log order, each with what its context held."""
    calls = [call for call in facts.calls if call.on_path]
    changes = _Changes(facts, window, calls)
    points: list[Point] = []
    content = [0] * len(CATEGORIES)
    for place, call in enumerate(calls):
        for category, tokens in enumerate(changes.at(place)):
            content[category] += tokens
        before = calls[place - 1] if place and calls[place - 1].epoch == call.epoch else None
        growth = call.context_tokens - before.context_tokens if before else None
        points.append(Point(place + 1, call, growth, tuple(content), scaled(content, call.context_tokens)))
    return points


def scaled(content: Iterable[int], size: int) -> tuple[int, ...] | None:
    """Estimates scaled to sum to `size`, as the window's are (D12); None where they are too far from it."""
    found = list(content)
    total = sum(found)
    if not total or not LEAST_SCALE <= size / total <= MOST_SCALE:
        return None
    bands = [tokens * size // total for tokens in found]
    bands[bands.index(max(bands))] += size - sum(bands)
    return tuple(bands)


class _Changes:
    """What each call's context holds more and less than that of the call before: a sum over blocks, once through."""

    def __init__(self, facts: Facts, window: Window, calls: list[Call]) -> None:
        self._columns = [[0] * (len(calls) + 1) for _ in CATEGORIES]
        self._calls = calls
        self._ordinals = [call.ordinal for call in calls]
        self._spans: dict[int, tuple[int, int]] = {}
        for place, call in enumerate(calls):
            start, _ = self._spans.get(call.epoch, (place, 0))
            self._spans[call.epoch] = start, place + 1
        for category, tokens in window.fixed_context.by_category.items():
            self._put(CATEGORIES.index(category), tokens, 0, len(calls))
        starts = {one.epoch: one for one in facts.all_compactions if one.on_path}
        self._find_removed(facts)
        blocks: dict[int, list[Block]] = {epoch: [] for epoch in self._spans}
        kept = {
            record: epoch for epoch, one in starts.items() if epoch in self._spans for record in one.preserved_records
        }
        for block in facts.blocks:
            if block.on_path and block.epoch in blocks:
                blocks[block.epoch].append(block)
            epoch = kept.get(block.record_id)
            if epoch is not None and epoch != block.epoch:
                blocks[epoch].append(block)
        for epoch, found in blocks.items():
            self._add_window(facts, epoch, found, starts.get(epoch))

    def at(self, place: int) -> list[int]:
        """By category, what is added at a call; negative for what is gone."""
        return [column[place] for column in self._columns]

    def _put(self, category: int, tokens: int, start: int, end: int) -> None:
        if tokens and start < end:
            self._columns[category][start] += tokens
            self._columns[category][end] -= tokens

    def _find_removed(self, facts: Facts) -> None:
        """From which call on a record or the result of a tool use is no longer carried."""
        parts = {transcript: place for place, transcript in enumerate(facts.parts)}

        def key(record_id: int) -> tuple[int, int]:
            return parts.get(record_id >> 40, len(parts)), record_id

        keys = [key(call.record_id) for call in self._calls]
        self._records: dict[int, int] = {}
        self._results: dict[int, int] = {}
        for one in facts.removals:
            if one.on_path:
                place = bisect_right(keys, key(one.record_id))
                if one.target_record_id:
                    self._records.setdefault(one.target_record_id, place)
                if one.tool_use_row:
                    self._results.setdefault(one.tool_use_row, place)

    def _span(self, block: Block, epoch: int) -> tuple[int, int]:
        """The calls that carried a block in a window, from and up to."""
        first, end = self._spans[epoch]
        start = max(first, bisect_right(self._ordinals, block.call_ordinal))
        end = min(end, self._records.get(block.record_id, end))
        if block.kind == "tool_result" and block.tool_use_row is not None:
            end = min(end, self._results.get(block.tool_use_row, end))
        return start, end

    def _add_window(self, facts: Facts, epoch: int, blocks: list[Block], opened_by: Compaction | None) -> None:
        first, end = self._spans[epoch]
        answered: set[int] = set()  # a second result of one tool use is a replay of the first
        prompts: list[tuple[int, list[Block]]] = []
        arrived: dict[int, int] = {}
        for block in blocks:
            if block.kind == "tool_result" and block.tool_use_row is not None:
                if block.tool_use_row in answered:
                    continue
                answered.add(block.tool_use_row)
            start, stop = self._span(block, epoch)
            arrived.setdefault(block.record_id, start)
            if block.is_prompt and block.category in ("conversation", "user"):
                if not prompts or prompts[-1][1][-1].record_id != block.record_id:
                    prompts.append((start, []))
                prompts[-1][1].append(block)
            else:
                self._put(CATEGORIES.index(block.category), block.tokens, start, stop)
        self._add_prompts(prompts, epoch)
        loaded = dict.fromkeys(opened_by.discovered_tools, first) if opened_by else {}
        for load in facts.loads:
            if load.record_id in arrived:
                loaded.setdefault(load.name, arrived[load.record_id])
        for name, start in loaded.items():
            self._put(CATEGORIES.index("tools"), deferred_load_tokens(name), start, end)

    def _add_prompts(self, prompts: list[tuple[int, list[Block]]], epoch: int) -> None:
        """A prompt is the category user until the next one comes, then conversation (D8)."""
        for place, (_, blocks) in enumerate(prompts):
            next_at = prompts[place + 1][0] if place + 1 < len(prompts) else len(self._calls)
            for block in blocks:
                start, stop = self._span(block, epoch)
                self._put(CATEGORIES.index("user"), block.tokens, start, min(stop, next_at))
                self._put(CATEGORIES.index("conversation"), block.tokens, max(start, next_at), stop)


class Step(NamedTuple):
    """A call to which the context grew much, and the largest thing that came before it; its tokens are estimated."""

    point: Point
    what: str
    path: str | None
    tokens: int


def largest_steps(facts: Facts, points: Iterable[Point], count: int) -> list[Step]:
    """The calls with the most growth, the largest first."""
    grown = sorted((point for point in points if point.growth and point.growth > 0), key=lambda one: -(one.growth or 0))
    picked = grown[:count]
    ordinals = sorted(point.call.ordinal for point in picked)
    largest: dict[int, Block] = {}
    previous = _before(facts, set(ordinals))
    for block in facts.blocks:
        place = bisect_right(ordinals, block.call_ordinal)
        if not block.on_path or place == len(ordinals):
            continue
        ordinal = ordinals[place]
        seen = largest.get(ordinal)
        if block.call_ordinal >= previous[ordinal] and (seen is None or block.tokens > seen.tokens):
            largest[ordinal] = block
    uses = {use.id: use for use in facts.tool_uses}
    steps = []
    for point in picked:
        biggest = largest.get(point.call.ordinal)
        if biggest is None:
            steps.append(Step(point, "", None, 0))
            continue
        use = uses.get(biggest.tool_use_row) if biggest.tool_use_row is not None else None
        steps.append(Step(point, _named(biggest), use.path if use else None, biggest.tokens))
    return steps


def _before(facts: Facts, ordinals: set[int]) -> dict[int, int]:
    """For each of the ordinals, that of the call before it on the path."""
    found: dict[int, int] = {}
    previous = 0
    for call in facts.calls:
        if call.on_path:
            if call.ordinal in ordinals:
                found[call.ordinal] = previous
            previous = call.ordinal
    return found


def _named(block: Block) -> str:
    if block.tool:
        return f"{block.tool} {'result' if block.kind == 'tool_result' else 'input'}"
    if block.is_summary:
        return "compaction summary"
    if block.is_prompt:
        return "prompt"
    if block.kind == "attachment":
        return f"attachment {block.subtype}" if block.subtype else "attachment"
    return {"text": "answer", "thinking": "thinking"}.get(block.kind, block.kind)
