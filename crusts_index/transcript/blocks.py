"""The blocks of one transcript: their rows, each with the estimate by its model (D9).

An answer's block has its response's model, any other that of the latest response before it in its thread. What stands
before a thread's first response waits for that one's model: in the stretch in hand it is estimated again at once, in
earlier ones where it was written. So are the rare answers whose lines name several models.
"""

from __future__ import annotations

from crusts_index.transcript.responses import Part, Touched
from crusts_index.transcript.rows import RECORD_BITS, thread_id
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Step
from crusts_index.transcript.weights import Weights
from crusts_index.transcript.words import Words
from crusts_index.tuples import NamedTuple

_ESTIMATE = 8
_OFFSET = (1 << RECORD_BITS) - 1


Again = tuple[int, int, int]
"""Blocks to be estimated again: from this record on, before that one, in the thread of that id."""


class _Waiting(NamedTuple):
    """A block whose model is not known yet, with what its estimate is made of."""

    part: Part
    size: tuple[str, int, int, int]
    tool: str | None
    is_answer: bool


class Blocks:
    """Blocks as they are met; rows are collected until they are taken."""

    def __init__(self, state: State, words: Words, weights: Weights) -> None:
        self._state, self._words, self._weights = state, words, weights
        self._waiting: dict[int, list[_Waiting]] = {}
        self._rows: list[Part] = []
        self._again: dict[int, Again] = {}

    def add(
        self,
        step: Step,
        block_id: int,
        kind: str,
        category: str,
        chars: int,
        soft: int,
        marks: int,
        extra: int = 0,
        *,
        use: int | None = None,
        tool: str | None = None,
        model: str | None = None,
        is_answer: bool = False,
    ) -> Part:
        """Add a block's row. `extra`, `tool` and `is_answer` as in `Weights.estimate`; `model` is its response's."""
        words, place = self._words, block_id - step.id
        model = model or self._state.threads[step.thread].model
        estimate = self._weights.estimate(model, kind, soft, marks, extra, tool=tool, is_answer=is_answer)
        back = None if use is None else block_id - use
        part: Part = [block_id, place, words[kind], words[category], chars, soft, marks, extra, estimate, None, back]
        self._rows.append(part)
        if model is None:
            size = (kind, soft, marks, extra)
            self._waiting.setdefault(step.thread, []).append(_Waiting(part, size, tool, is_answer))
        return part

    def meet(self, step: Step, touched: Touched) -> None:
        """A line of a response: what follows has the model of the one begun last, what waited that of the first."""
        response = touched.response
        thread, model, offset = self._state.threads[step.thread], response.model, response.id & _OFFSET
        if model is None or (model == touched.model_before and response.id != step.id):
            return
        is_first = thread.model is None
        if offset >= thread.latest:
            thread.latest, thread.model = offset, model
        if response.id != step.id:  # its model is known only now, or another one
            self._estimate_again(step, 0, step.offset + step.length)
        if is_first:
            for part, size, tool, is_answer in self._waiting.pop(step.thread, ()):
                part[_ESTIMATE] = self._weights.estimate(model, *size, tool=tool, is_answer=is_answer)
            if thread.waiting is not None:
                self._estimate_again(step, thread.waiting, step.offset)
                thread.waiting = None

    def _estimate_again(self, step: Step, start: int, end: int) -> None:
        """Note a stretch of the thread; one that spans all, so that many are no more work than one."""
        transcript = step.id >> RECORD_BITS
        base, thread = transcript << RECORD_BITS, thread_id(transcript, step.thread)
        low, high, _ = self._again.get(thread, (base | start, base | end, thread))
        self._again[thread] = (min(low, base | start), max(high, base | end), thread)

    def take(self) -> tuple[list[Part], list[Again]]:
        """Rows since the last take, and what is to be estimated again of the rows before them."""
        for number, waiting in self._waiting.items():
            thread, (block_id, place, *_) = self._state.threads[number], waiting[0].part
            if thread.waiting is None:
                thread.waiting = (block_id - place) & _OFFSET
        rows, again = self._rows, list(self._again.values())
        self._rows, self._again, self._waiting = [], {}, {}
        return rows, again
