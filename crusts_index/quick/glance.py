"""The window of a session in which nothing is out of the ordinary: one transcript, no rewind, some calls since the
last compaction. The numbers are those of `insight.window`, from the few rows that they rest on."""

from crusts_index.insight.window.evidence import Evidence, LastCall, asked_model, automatic_of, grown_of, payloads_of
from crusts_index.insight.window.fixed import unknown_fixed
from crusts_index.insight.window.judge import judge
from crusts_index.jsontext import loads
from crusts_index.rows.window import SessionCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.window.habits import Habits
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.settings import WindowSettings
    from crusts_index.rows.window import SessionBoundary, SessionPart, SessionReport, SessionSurrounding, SessionTold


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
            Item(
                id=row.id,
                epoch=row.epoch,
                trigger=row.trigger,
                pre_tokens=row.pre_tokens,
                time_ms=row.time_ms,
                detection="marker",
            )
            for row in boundaries
        ]
        self.all_compactions = self.compactions
        self.live_from = next((one for one in self.all_compactions if one.epoch == epoch), None)
        self.first_call_ms: int | None = self.calls[0].time_ms if self.calls else None
        self._epoch = epoch
        self.context_reports: list[SessionReport] = []  # in the order of time
        self.settings: list[Item] = []
        self.told: list[SessionTold] = []

    @property
    def last_call(self) -> PathCall | None:
        """The last call behind the last compaction."""
        return next((call for call in reversed(self.calls) if call.live_epoch), None)

    def take_settings(self, rows: "list[SessionSurrounding]") -> None:
        """The settings files that held while the session ran, else as they were seen first."""
        held: dict[tuple[str | None, ...], Item] = {}
        later: dict[tuple[str | None, ...], Item] = {}
        for row in rows if self.first_call_ms is not None else ():
            detail = loads(row.detail) if row.detail else {}
            file = Item(kind=row.kind, name=row.name, project_path=row.project_path, detail=detail)
            which = row.kind, row.path, row.name, row.project_path
            if row.holds:  # of several, the one last changed
                held[which] = file
            else:
                later.setdefault(which, file)
        self.settings = list({**later, **held}.values())

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


def glance(outline: Outline, settings: "WindowSettings", habits: "Habits") -> "Window":
    """Judge the window of an outline."""
    facts: Any = outline
    call = outline.last_call
    assert call is not None, "an outline without a call is no outline"
    grown, grown_calls = grown_of(facts.calls)
    evidence = Evidence(
        session_id=outline.session.session_id,
        project=outline.session.project,
        version=outline.session.version,
        last_ms=outline.session.last_ms,
        model=call.model,
        asked=asked_model(call.model, call.id, outline.told),
        has_calls=True,
        last=LastCall(call.context_tokens, call.output_tokens, 0, is_placeholder=False),
        largest=max(one.context_tokens for one in outline.calls if one.model == call.model),
        grown=grown,
        grown_calls=grown_calls,
        post_tokens=None,
        fixed=unknown_fixed("not asked for"),
        counted=0,
        automatic=tuple(automatic_of(facts)),
        payloads=payloads_of(outline.told),
        reports=tuple(facts.context_reports),
    )
    return judge(evidence, settings, habits)
