"""The window of a session in which nothing is out of the ordinary: one transcript, no rewind, some calls since the
last compaction. The numbers are those of `insight.window`, from the few rows that they rest on."""

from itertools import pairwise

from crusts_index.insight.limit import limit_of, trigger_of
from crusts_index.insight.prediction import calls_left, growth_of, health_of
from crusts_index.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.limit import WindowSettings

    Row = tuple[Any, ...]


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

    def __init__(self, row: "Row", live_epoch: int) -> None:
        self.id: int = row[0]
        self.last_record_id: int = row[1]
        self.epoch: int = row[5]
        self.model: str = row[6]
        self.time_ms: int | None = row[7]
        self.cache_read_tokens: int = row[9]
        self.cache_write_tokens: int = row[10]
        self.cache_write_1h_tokens: int = row[11]
        self.output_tokens: int = row[12]
        self.context_tokens: int = row[14]
        self.live_epoch = row[5] == live_epoch
        self.on_path, self.is_placeholder = True, False


class Outline:
    """What of a session's facts a glance needs, under the names that `insight.facts` has for it."""

    is_partial = False

    def __init__(
        self,
        session_id: str,
        part: "Row",
        rows: "list[Row]",
        boundaries: "list[Row]",
        epoch: int,
        messages: int,
    ) -> None:
        self.session = Item(
            session_id=session_id,
            project=part[2],
            last_ms=part[6],
            version=part[8],
            first_version=part[7],
            messages=messages,
        )
        self.calls = [PathCall(row, epoch) for row in rows]
        self.compactions = [
            Item(id=row[0], epoch=row[10], trigger=row[2], pre_tokens=row[3], detection="marker") for row in boundaries
        ]
        self.all_compactions = self.compactions
        self.live_from = next((one for one in self.all_compactions if one.epoch == epoch), None)
        self.first_call_ms: int | None = self.calls[0].time_ms if self.calls else None
        self._epoch = epoch
        self._reports: list[Item] = []
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
    def context_reports(self) -> "list[Any]":
        """What `/context` said, in the order of time."""
        return self._reports

    @context_reports.setter
    def context_reports(self, rows: "list[Row]") -> None:
        self._reports = [Item(model=row[2], window_tokens=row[5]) for row in rows]

    @property
    def surroundings(self) -> "list[Any]":
        """The settings files that held while the session ran."""
        return self._surroundings

    @surroundings.setter
    def surroundings(self, rows: "list[Row]") -> None:
        held: dict[Row, Item] = {}
        for kind, path, name, project, _, detail, _, holds in rows if self.first_call_ms is not None else ():
            if holds:  # of several, the one last changed
                key = (kind, path, name, project)
                held[key] = Item(kind=kind, name=name, project_path=project, detail=loads(detail) if detail else {})
        self._surroundings = list(held.values())

    def add_call(self, context: int, output: int) -> None:
        """A call behind all others, of which only the size is known."""
        last = self.calls[-1]
        record = last.last_record_id + 1
        row = (record, record, None, None, None, self._epoch, last.model, None, 0, 0, 0, 0, output, None, context)
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
