"""The window of a session as a status line's payload tells it: the payload and a few rows, as long as nothing in what
is new of the transcript speaks against it; else as for any other command (D10)."""

import os

from crusts_index.quick.clock import Clock, clock_of
from crusts_index.quick.live import Live
from crusts_index.rows.live import LiveCalls
from crusts_index.store.when import of_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.index.ahead import Ahead
    from crusts_index.insight.session.facts import ContextReport, Surrounding
    from crusts_index.insight.window.settings import WindowSettings
    from crusts_index.quick.named import Named
    from crusts_index.rows.live import LiveTranscript
    from crusts_index.store.settings import Settings


class Brief(Live):
    """A session of which a payload tells the last call and the window's size; `with_results` where it matters which
    results have just come in."""

    def __init__(self, settings: "Settings", named: "Named", now_ms: int, *, with_results: bool) -> None:
        self._with_results = with_results
        super().__init__(settings, named, now_ms)

    def _look(self) -> None:
        named = self._named
        if not (named.context_tokens and named.window_size and named.model and self._believe()):
            super()._look()

    def _believe(self) -> bool:
        """Judge by what the payload tells; False where it is not of the last call, or not all that is needed."""
        head, ahead = self.head, self._ahead()
        if head is None or ahead is None:
            return False
        from crusts_index.insight.window.judge import judge
        from crusts_index.insight.window.payload import Told, told_evidence

        told = Told(self._named.context_tokens or 0, self._named.output_tokens or 0)
        rows = self.fetch(LiveCalls, transcript=head.id, context=told.context)
        if not rows:
            return False
        calls = rows[0]
        evidence = told_evidence(told, head, calls, [call.context for call in ahead], self._reports(head))
        if evidence is None:
            return False
        self.session_id, self.project, self.compactions = head.session_id, head.project, calls.compactions
        self.window = judge(evidence, self._told_settings(head, calls), self._habits())
        later = evidence.grown_calls + 1 - calls.calls
        self.since = calls.before_id or calls.id if not later else calls.id if later == 1 else None
        self.clock = self._cache(calls, ahead, is_logged=later == len(ahead))
        return True

    def _ahead(self) -> "list[Ahead] | None":
        """The calls that the store lacks; None where what is new is to be read."""
        head = self.head
        if head is None or self.path is None:
            return None
        try:
            about = os.stat(self.path)
        except OSError:
            return None
        if (about.st_size, about.st_mtime_ns) == (head.size, head.mtime_ns):
            return []
        from crusts_index.index.ahead import calls_ahead

        return calls_ahead(self.path, head.offset, with_results=self._with_results)

    def _reports(self, head: "LiveTranscript") -> "list[ContextReport]":
        from crusts_index.rows.window import SessionReport

        rows = self.fetch(SessionReport, session=head.session_id)
        if not rows:
            return []
        from crusts_index.insight.session.circumstances import report_of

        return [report_of(row) for row in rows]

    def _told_settings(self, head: "LiveTranscript", calls: LiveCalls) -> "WindowSettings":
        from crusts_index.insight.window.settings import LIVE_MS, settings_by

        first_ms = calls.first_call_ms if calls.first_call_ms is not None else head.first_ms
        is_live = head.last_ms is not None and self.now_ms - head.last_ms < LIVE_MS
        files = self._files(head, first_ms) if first_ms is not None else []
        settings = settings_by(self._settings.config, os.environ if is_live else {}, files)
        return settings._replace(payload_model=self._named.model, payload_window=self._named.window_size)

    def _files(self, head: "LiveTranscript", first_ms: int) -> "list[Surrounding]":
        """Claude Code's settings files as they held for the session."""
        from crusts_index.rows.window import SessionSurrounding

        last_ms = head.last_ms if head.last_ms is not None else first_ms
        about = {"project": head.project, "first_call_ms": first_ms, "last_ms": last_ms}
        rows = self.fetch(SessionSurrounding, "live_settings", **about)
        if not rows:
            return []
        from crusts_index.insight.session.circumstances import around_rows

        return around_rows(rows).settings

    def _cache(self, calls: LiveCalls, ahead: "list[Ahead]", *, is_logged: bool) -> Clock | None:
        used_ms = None
        if is_logged:
            is_cached, used_ms = calls.is_cached, calls.time_ms
            if ahead:
                is_cached, used_ms = ahead[-1].is_cached, of_stamp(ahead[-1].stamp)
            used_ms = used_ms if is_cached else None
        return clock_of(self._named.told, used_ms, calls.id, self.now_ms, is_long=calls.is_long == 1)
