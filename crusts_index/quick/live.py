"""The session that a quick command is about, and its window as it stands this moment: its transcript is brought up to
date in the store by the index's own code, bounded in time; then it is loaded and judged like any other (D10)."""

import os
import sys

from crusts_index.claude.transcripts import place_of
from crusts_index.errors import CrustsError, ignored
from crusts_index.quick import target
from crusts_index.quick.clock import Clock, clock_of
from crusts_index.quick.named import PATIENCE, Named, open_quietly, stem_of
from crusts_index.regular import is_regular
from crusts_index.rows.live import LiveResult, LiveTranscript
from crusts_index.store import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from crusts_index.insight.session.facts import Call, Facts
    from crusts_index.insight.window.habits import Habits
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.settings import WindowSettings
    from crusts_index.rows import Row
    from crusts_index.store.settings import Settings

READ_SECONDS = 0.8
"""The longest that new bytes are read; the next run goes on from there."""
WATCH_SECONDS, WATCH_PATIENCE = 2.0, 0.5
"""The longest that a watch reads a backlog before it shows what it has, and waits for another program that writes."""
MOST_APART = 4 << 20
"""Bytes of a transcript that are read again and again while the store is not to be written."""
REREAD_TOKENS = 1_000
OVERSIZED_TOKENS = 10_000


class Live:
    """A session and its window; `close` it in the end. `head` is what the store has of its transcript, None for
    nothing; `facts` are there where they were needed. A watch has more time, and makes a store
    where there is none.

    `since` is the call from which on results have just come in, None for none; `clock` is when the cache of the last
    call expires, None where it had none.
    """

    facts: "Facts"
    window: "Window"
    session_id: str
    project: str
    compactions: int
    since: int | None = None
    clock: Clock | None = None

    def __init__(
        self, settings: "Settings", named: Named, now_ms: int, *, trim: bool = False, is_watch: bool = False
    ) -> None:
        self._settings, self._named, self._trim, self._is_watch = settings, named, trim, is_watch
        self.now_ms = now_ms
        self.connection = named.connection or open_quietly(settings)
        self.head = self._head()
        self.path = self._path()
        self._look()

    def close(self) -> None:
        """Close the store."""
        if self.connection is not None:
            self.connection.close()

    def remember(self) -> None:
        """Keep what the payload tells, behind the answer that it asked for; never in its way."""
        told = self._named.told
        if told is not None and told.is_worth_keeping and self.connection is not None:
            from crusts_index.quick.remember import remember

            remember(self._settings, told, self.connection)

    @property
    def is_known(self) -> bool:
        """Whether anything at all is known of the window."""
        return self.window.size is not None

    @property
    def is_warm(self) -> bool | None:
        """Whether the last call's cache is still there; None where it had none."""
        return None if self.clock is None else self.clock.expires_ms > self.now_ms

    @property
    def is_behind(self) -> bool:
        """Whether not all of the transcript could be read."""
        return self.path is not None and self._has_grown(self.path)

    @property
    def unread(self) -> int:
        """The bytes of the transcript that the store lacks."""
        size = os.path.getsize(self.path) if self.path is not None else 0
        return max(0, size - (self.head.offset if self.head else 0))

    def worst_result(self) -> LiveResult | None:
        """The dearest re-read, else the dearest of all, that entered the window since the call before the last."""
        if self.head is None or self.since is None or self.since >> 40 != self.head.id:
            return None
        rows = self.fetch(LiveResult, transcript=self.head.id, since=self.since)
        rows = [row for row in rows if row.result_tokens >= (REREAD_TOKENS if row.is_reread else OVERSIZED_TOKENS)]
        return max(rows, key=lambda row: (row.is_reread, row.result_tokens), default=None)

    def fetch(self, kind: "type[Row]", name: str | None = None, /, **parameters: "Any") -> "list[Row]":
        """The rows of a query; none where there is no store."""
        if self.connection is None:
            return []
        return query.rows(self.connection, kind, name, **parameters)

    def _look(self) -> None:
        self._bring_up()
        self._judge()

    # ------------------------------------------------------------------ up to date

    def _head(self) -> LiveTranscript | None:
        """What the store has of the transcript: by its path, else by its session."""
        named = self._named
        try:
            if named.transcript_path:
                path = os.path.realpath(named.transcript_path)
                rows = self.fetch(LiveTranscript, path=path, session=None)
                if rows or is_regular(path):
                    return rows[0] if rows else None
            if named.session_id:
                rows = self.fetch(LiveTranscript, path=None, session=named.session_id)
                return rows[0] if rows else None
        except CrustsError:
            self.close()
            self.connection = None
        return None

    def _path(self) -> str | None:
        named, known = self._named, self.head.path if self.head else None
        if named.transcript_path and is_regular(named.transcript_path):
            return named.transcript_path
        is_open = known and (is_regular(known) if named.roots is None else place_of(named.roots, known))
        return known if is_open else None

    def _bring_up(self) -> None:
        """Take in what is new of the transcript; where the store is not to be written, read it apart."""
        # Who watches is shown subagents, too, whose transcripts grow beside it.
        if self.path is None or not (self._is_watch or self._has_grown(self.path)):
            return
        if sys.flags.no_site:  # started by its place alone: what reads transcripts stands among the site's packages
            import site

            site.main()
        try:
            if self._settings.refresh and (self.connection is not None or self._is_watch):
                self._take(self._index(self.path))
                if self.head is not None:  # else the user had it forgotten
                    return
        except CrustsError:
            pass  # it is locked, say
        if self.head is None or os.path.getsize(self.path) <= MOST_APART:
            self._read_apart(self.path)

    def _has_grown(self, path: str) -> bool:
        try:
            about = os.stat(path)
        except OSError:
            return False
        return self.head is None or (self.head.size, self.head.mtime_ns) != (about.st_size, about.st_mtime_ns)

    def _index(self, path: str) -> "sqlite3.Connection":
        from crusts_index.index.refresh import keeps_text, open_indexed
        from crusts_index.index.summary import Options

        kind, seconds, patience = "status", READ_SECONDS, PATIENCE
        if self._is_watch:
            kind, seconds, patience = "watch", WATCH_SECONDS, WATCH_PATIENCE
        options = Options(jobs=0, keep_text=keeps_text(self._settings), kind=kind, seconds=target.left(seconds))
        return open_indexed(self._settings, [path], options, patience, self._named.roots)[0]

    def _read_apart(self, path: str) -> None:
        from crusts_index.index.apart import read_apart

        with ignored(CrustsError):
            self._take(read_apart(self._settings, path, self._named.roots, target.left(READ_SECONDS)))

    def _take(self, store: "sqlite3.Connection") -> None:
        """Go on with another connection."""
        self.close()
        self.connection = store
        self.head = self._head()

    # ------------------------------------------------------------------ judged

    def _judge(self) -> None:
        from crusts_index.insight.window.judge import window_of

        self.facts = facts = self._load()
        self._heed_payload()
        self.session_id, self.project = facts.session.session_id, facts.session.project
        self.compactions = len(facts.all_compactions)
        self.window = window_of(facts, self._window_settings(facts), self._habits())
        live = [call for call in facts.calls if call.live_epoch]
        if live:
            self.since = live[-2].id if len(live) > 1 else live[-1].id
        self.clock = self._clock(live[-1] if live else None)

    def _clock(self, last: "Call | None") -> Clock | None:
        logged = [call for call in self.facts.calls if call.time_ms is not None]
        written = next((call for call in reversed(logged) if call.cache_write_tokens), None)
        return clock_of(
            self._named.told,
            last.time_ms if last is not None and last.cache_read_tokens + last.cache_write_tokens else None,
            logged[-1].id if logged else None,
            self.now_ms,
            is_long=written is not None and bool(written.cache_write_1h_tokens),
        )

    def _load(self) -> "Facts":
        from crusts_index.insight.session.loading import load

        if self.head is not None:
            return load(self.fetch, self.head.session_id, trim=self._trim)
        session_id, cwd, path = self._named.session_id or stem_of(self.path), self._named.cwd or "", self.path or ""

        def nothing(kind: "type[Row]", name: str | None = None, /, **_: "Any") -> "list[Any]":
            from crusts_index.rows.window import SessionPart

            rest = dict.fromkeys(SessionPart._fields[5:])
            return [SessionPart(0, session_id, cwd, path, 0, **rest)] if kind is SessionPart else []

        return load(nothing, session_id, trim=False)

    def _habits(self) -> "Habits":
        from crusts_index.insight.window.habits import Habits, habits_of

        return habits_of(self.fetch) if self.connection is not None else Habits()

    def _window_settings(self, facts: "Facts") -> "WindowSettings":
        from crusts_index.insight.window.settings import window_settings

        named = self._named
        return window_settings(
            self.fetch,
            facts,
            self._settings.config,
            os.environ,
            self.now_ms,
            payload_model=named.model,
            payload_window=named.window_size,
        )

    def _heed_payload(self) -> None:
        """Take the payload's last call in, unless the transcript has it or is ahead of it (D10)."""
        context, output = self._named.context_tokens, self._named.output_tokens or 0
        if not context:
            return
        from crusts_index.insight.window.payload import JUST_BEFORE

        calls = self.facts.calls
        live = [call for call in calls if call.live_epoch]
        if live and live[-1].context_tokens == context:
            if live[-1].is_placeholder and output > live[-1].output_tokens:
                calls[calls.index(live[-1])] = live[-1]._replace(output_tokens=output, is_placeholder=False)
            return
        taken_out = (call for call in calls if not call.live_epoch)
        if any(call.context_tokens == context for call in (*live[-JUST_BEFORE:], *taken_out)):
            return
        calls.append(self._told_call(context, output))

    def _told_call(self, context: int, output: int) -> "Call":
        """A call behind all others, of which only the size is known."""
        from crusts_index.insight.session.facts import Call

        calls, compaction = self.facts.calls, self.facts.live_from
        last = calls[-1] if calls else None
        id = max(last.id if last else 0, compaction.id if compaction else 0) + 1
        return Call(
            id=id,
            record_id=id,
            last_record_id=id,
            message=0,
            ordinal=last.ordinal + 1 if last else 1,
            branch=last.branch if last else 0,
            epoch=compaction.epoch if compaction else last.epoch if last else 0,
            model=last.model if last else self._named.model or "unknown",
            time_ms=None,
            input_tokens=context,
            cache_read_tokens=0,
            cache_write_tokens=0,
            cache_write_1h_tokens=0,
            output_tokens=output,
            thinking_tokens=None,
            context_tokens=context,
            cost_usd=None,
            cache_read_usd=None,
            stop_reason=None,
            is_placeholder=False,
            on_path=True,
            live_epoch=True,
        )
