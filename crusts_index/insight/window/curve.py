"""The curve of a session's live path: what each call's context held, by category, and what made it grow (D10, D12)."""

from __future__ import annotations

from bisect import bisect_right

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.window.buckets import scaled
from crusts_index.insight.window.contents import Names, load_tokens, schema_sizes
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.session.facts import Block, Call, Facts, Removal
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
    bands: Sequence[int] | None


def curve_of(facts: Facts, window: Window) -> list[Point]:
    """The calls of the live path in log order, each with what its context held."""
    calls = [call for call in facts.calls if call.on_path]
    blocks = [block for block in facts.blocks if block.on_path]
    order = {transcript: place for place, transcript in enumerate(facts.parts)}

    def key(record_id: int) -> tuple[int, int]:
        return order.get(record_id >> 40, len(order)), record_id

    gone = sorted((one for one in facts.removals if one.on_path), key=lambda one: key(one.record_id), reverse=True)
    held = _Held(facts, window)
    points: list[Point] = []
    before: Call | None = None
    place = 0
    for call in calls:
        if before is None or before.epoch != call.epoch:
            held.open(call.epoch)
            before = None
        while place < len(blocks) and blocks[place].call_ordinal < call.ordinal:
            if blocks[place].epoch == call.epoch:
                held.add(blocks[place])
            place += 1
        removals = []
        while gone and key(gone[-1].record_id) <= key(call.record_id):
            removals.append(gone.pop())
        held.take_out(removals)
        growth = call.context_tokens - before.context_tokens if before else None
        content = tuple(held.tokens.values())
        points.append(Point(len(points) + 1, call, growth, content, scaled(content, call.context_tokens)))
        before = call
    return points


class _Held:
    """What the context holds, as one thing after the other comes and goes; `tokens` by category."""

    def __init__(self, facts: Facts, window: Window) -> None:
        self._fixed = dict.fromkeys(CATEGORIES, 0) | window.fixed_context.by_category
        self._starts = {one.epoch: one for one in facts.all_compactions if one.on_path}
        self._sizes = schema_sizes(facts, window.fixed_context)
        self._loads: dict[int, list[str]] = {}
        for load in facts.loads:
            self._loads.setdefault(load.record_id, []).append(load.name)
        preserved = {record for one in self._starts.values() for record in one.preserved_records}
        self._preserved = [block for block in facts.blocks if block.record_id in preserved]
        self._gone: set[tuple[int | None, int | None]] = set()
        self.open(0)

    def open(self, epoch: int) -> None:
        """A window begins, with what the compaction before it left."""
        self.tokens = dict(self._fixed)
        self._blocks: list[Block] = []
        self._answered: set[int] = set()  # a second result of one tool use is a replay of the first
        self._loaded: set[str] = set()
        self._prompt: int | None = None
        start = self._starts.get(epoch)
        if start is not None:
            self._load(start.discovered_tools)
            for block in self._preserved:
                if block.record_id in start.preserved_records and block.epoch != epoch:
                    self.add(block)

    def add(self, block: Block) -> None:
        """A block comes. A prompt is the category user until the next one comes, then conversation (D8)."""
        use = _result_of(block)
        if use is not None:
            if use in self._answered:
                return
            self._answered.add(use)
        self._load(self._loads.get(block.record_id, ()))
        if _is_asked(block) and block.record_id != self._prompt:
            last = sum(one.tokens for one in self._blocks if _is_asked(one) and one.record_id == self._prompt)
            self.tokens["user"] -= last
            self.tokens["conversation"] += last
            self._prompt = block.record_id
        if not self._is_gone(block):
            self._blocks.append(block)
            self.tokens[self._category(block)] += block.tokens

    def take_out(self, removals: Sequence[Removal]) -> None:
        """What a record says was taken out goes, and does not come back (D10)."""
        if removals:
            self._gone.update((one.target_record_id, None) for one in removals if one.target_record_id)
            self._gone.update((None, one.tool_use_row) for one in removals if one.tool_use_row)
            for block in filter(self._is_gone, self._blocks):
                self.tokens[self._category(block)] -= block.tokens
            self._blocks = [block for block in self._blocks if not self._is_gone(block)]

    def _is_gone(self, block: Block) -> bool:
        return (block.record_id, None) in self._gone or (None, _result_of(block) or -1) in self._gone

    def _category(self, block: Block) -> str:
        if _is_asked(block):
            return "user" if block.record_id == self._prompt else "conversation"
        return block.category

    def _load(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._loaded:
                self._loaded.add(name)
                self.tokens["tools"] += load_tokens(name, self._sizes)


def _result_of(block: Block) -> int | None:
    """The tool use that a block is the result of."""
    return block.tool_use_row if block.kind == "tool_result" else None


def _is_asked(block: Block) -> bool:
    return block.is_prompt and block.category in ("conversation", "user")


class Step(NamedTuple):
    """A call to which the context grew much, and the largest thing that came before it; its tokens are estimated."""

    point: Point
    what: str
    path: str | None
    tokens: int


def largest_steps(facts: Facts, points: Sequence[Point], count: int) -> list[Step]:
    """The calls with the most growth, the largest first."""
    grown = sorted((point for point in points if point.growth and point.growth > 0), key=lambda one: -(one.growth or 0))
    names, ordinals = Names(facts), [point.call.ordinal for point in points]
    largest: dict[int, Block] = {}  # by the place of the call that it came before
    for block in facts.blocks:
        place = bisect_right(ordinals, block.call_ordinal)
        if block.on_path and (place not in largest or block.tokens > largest[place].tokens):
            largest[place] = block
    steps = []
    for point in grown[:count]:
        came = largest.get(point.number - 1)
        if came is None:
            steps.append(Step(point, "", None, 0))
            continue
        use = names.uses.get(came.tool_use_row) if came.tool_use_row is not None else None
        steps.append(Step(point, names.of(came)[1], use.path if use else None, came.tokens))
    return steps
