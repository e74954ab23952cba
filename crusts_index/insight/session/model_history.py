"""Which models a session used, one after the other: a segment for each run of calls of one model."""

from __future__ import annotations

from itertools import groupby

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts


class Segment(NamedTuple):
    """A run of calls of one model. Messages are numbered from 1; tokens are exact, as billed.

    `priced_usd` sums what is priced; of `placeholder_calls` output and cost are at least so much (D9, D15).
    """

    model: str
    first_message: int
    last_message: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    first_seen_ms: int | None
    last_seen_ms: int | None
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    placeholder_calls: int


class ModelHistory(NamedTuple):
    """The segments in log order, and the models in the order in which they were first seen."""

    segments: tuple[Segment, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Each model once."""
        return tuple(dict.fromkeys(segment.model for segment in self.segments))

    @property
    def current(self) -> str:
        """The model of the last call."""
        return self.segments[-1].model if self.segments else "unknown"

    @property
    def switches(self) -> int:
        """How often the model changed."""
        return max(0, len(self.segments) - 1)


def model_history(facts: Facts) -> ModelHistory:
    """The models of a session's main thread, on all branches."""
    segments = []
    for model, run in groupby(facts.calls, key=lambda call: call.model):
        calls = list(run)
        costs = [call.cost_usd for call in calls if call.cost_usd is not None]
        segments.append(
            Segment(
                model=model,
                first_message=calls[0].message,
                last_message=calls[-1].message,
                calls=len(calls),
                input_tokens=sum(call.input_tokens for call in calls),
                output_tokens=sum(call.output_tokens for call in calls),
                cache_write_tokens=sum(call.cache_write_tokens for call in calls),
                cache_read_tokens=sum(call.cache_read_tokens for call in calls),
                first_seen_ms=calls[0].time_ms,
                last_seen_ms=calls[-1].time_ms,
                cost_usd=sum(costs) if len(costs) == len(calls) else None,
                priced_usd=sum(costs) if costs else None,
                unpriced_calls=len(calls) - len(costs),
                placeholder_calls=sum(call.is_placeholder for call in calls),
            )
        )
    return ModelHistory(tuple(segments))
