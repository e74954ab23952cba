"""The window of a session in which nothing is out of the ordinary: one transcript, no rewind, some calls since the
last compaction. The numbers are those of `insight.window`, from the few rows that they rest on."""

from itertools import pairwise

from crusts_index.insight.window.limit import limit_of, trigger_of
from crusts_index.insight.window.prediction import calls_left, growth_of, health_of
from crusts_index.jsontext import loads
from crusts_index.rows.window import SessionCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.window.limit import WindowSettings
    from crusts_index.rows.window import SessionBoundary, SessionPart, SessionReport, SessionSurrounding


class Item:
    """Fields by name, for what is read of a row."""

    def __init__(self, **fields: "Any") -> None:
        vars(self).update(fields)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class PathCall:
    """A call of the one path there is: what a prediction and a cache need of it."""

    __slots__ = (
        "cache_read_tokens",
        "cache_write_1h_tokens",
        "cache_write_tokens",
        "context_tokens",
        "epoch",
        "id",
        "is_placeholder",
        "last_record_id",
        "live_epoch",
        "model",
        "on_path",
        "output_tokens",
        "time_ms",
    )

    def __init__(self, row: SessionCall, live_epoch: int) -> None:
        self.id, self.last_record_id, self.epoch = row.id, row.last_record_id, row.epoch
        self.model, self.time_ms = row.model, row.time_ms
        self.cache_read_tokens, self.cache_write_tokens = row.cache_read_tokens, row.cache_write_tokens
        self.cache_write_1h_tokens = row.cache_write_1h_tokens
        self.output_tokens, self.context_tokens = row.output_tokens, row.context_tokens
        self.live_epoch = row.epoch == live_epoch
        self.on_path, self.is_placeholder = True, False


class Outline:
    """What of a session's facts a glance needs, under the names that `insight.facts` has for it."""

    is_partial = False

    def __init__(
        self,
        session_id: str,
        part: "SessionPart",
        rows: list[SessionCall],
        boundaries: "list[SessionBoundary]",
        epoch: int,
        messages: int,
    ) -> None:
        self.session = Item(
            session_id=session_id,
            project=part.project,
            last_ms=part.last_ms,
            version=part.last_version,
            first_version=part.version,
            messages=messages,
        )
        self.calls = [PathCall(row, epoch) for row in rows]
        self.compactions = [
            Item(id=row.id, epoch=row.epoch, trigger=row.trigger, pre_tokens=row.pre_tokens, detection="marker")
            for row in boundaries
        ]
        self.all_compactions = self.compactions
        self.live_from = next((one for one in self.all_compactions if one.epoch == epoch), None)
        self.first_call_ms: int | None = self.calls[0].time_ms if self.calls else None
        self._epoch = epoch
        self.context_reports: list[SessionReport] = []  # in the order of time
        self._surroundings: list[Item] = []

    @property
    def last_call(self) -> PathCall | None:
        """The last call behind the last compaction."""
        return next((call for call in reversed(self.calls) if call.live_epoch), None)

    @property
    def live_deltas(self) -> int:
        """How many pairs of calls there are behind the last compaction."""
        return sum(after.live_epoch and before.epoch == after.epoch for before, after in pairwise(self.calls))

    @property
    def surroundings(self) -> "list[Any]":
        """The settings files that held while the session ran."""
        return self._surroundings

    @surroundings.setter
    def surroundings(self, rows: "list[SessionSurrounding]") -> None:
        held: dict[tuple[str | None, ...], Item] = {}
        for row in rows if self.first_call_ms is not None else ():
            if row.holds:  # of several, the one last changed
                detail = loads(row.detail) if row.detail else {}
                file = Item(kind=row.kind, name=row.name, project_path=row.project_path, detail=detail)
                held[row.kind, row.path, row.name, row.project_path] = file
        self._surroundings = list(held.values())

    def add_call(self, context: int, output: int) -> None:
        """A call behind all others, of which only the size is known."""
        last = self.calls[-1]
        record = last.last_record_id + 1
        row = SessionCall(
            id=record,
            last_record_id=record,
            message=0,
            ordinal=0,
            branch=0,
            epoch=self._epoch,
            model=last.model,
            time_ms=None,
            input_tokens=0,
            cache_read_tokens=0,
            cache_write_tokens=0,
            cache_write_1h_tokens=0,
            output_tokens=output,
            thinking_tokens=None,
            context_tokens=context,
            cost_usd=None,
            cache_read_usd=None,
            stop_reason=None,
            effort=None,
        )
        self.calls.append(PathCall(row, self._epoch))


class Glance:
    """The window, under the names that `insight.window` has for it. Sizes in tokens; `size` is exact."""

    basis = "exact"

    def __init__(self, outline: Outline, settings: "WindowSettings") -> None:
        call = outline.last_call
        assert call is not None, "an outline without a call is no outline"
        facts: Any = outline
        limit = limit_of(facts, settings, call.model)
        self.call = call
        self.size = call.context_tokens + call.output_tokens
        self.limit, self.limit_signal = limit.tokens, limit.signal
        self.trigger = trigger_of(facts, settings, limit.tokens).tokens
        self.growth, _ = growth_of(facts.calls)
        self.calls_left = calls_left(self.size, self.trigger, self.growth)
        self.usage_percentage = self.size / self.limit * 100
        self.health = health_of(self.usage_percentage)
        self.free = max(0, self.limit - self.size)
        self.model = settings.payload_model or call.model


def glance(outline: Outline, settings: "WindowSettings") -> Glance:
    """Judge the window of an outline."""
    return Glance(outline, settings)
