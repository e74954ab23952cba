"""`crusts watch`: a session as it grows, on a dashboard, line by line, or as JSON."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import time

from crusts_index.cli import options
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.pulse import Pulse
from crusts_index.cli.watched import Watched, find_session
from crusts_index.index.follow import MISSING, SWITCHED, WRITTEN, News
from crusts_index.insight.waste.snapshot import Snapshot
from crusts_index.render import console, dashboard, jsonout, text
from crusts_index.render.screen import Screen
from crusts_index.store import when
from crusts_index.store.settings import Settings

FLASH_SECONDS = 6.0
"""How long a new compaction stands out."""
REST = 4
"""A look is followed by a rest of so many times what it took, so that a big session does not keep a core busy."""
INTERRUPTED = 130

Interval = Annotated[
    int, Option("--interval", reads=options.whole(200), metavar="MS", help="Milliseconds between two looks.")
]


def watch(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    interval: Interval = 2000,
) -> int:
    """Show a session live: its window, what fills it, growth, subagents, compactions, the last message.

    It is followed across /clear, resuming and moves of its transcript; without an id it is always the session
    last active in this folder's project. In a pipe there is one line a change; --json prints one object a change.
    What is new is taken into the store first; with --no-index, or while the store is locked, the transcript is read
    apart from it. Ctrl-C or q ends it.
    """
    found = find_session(settings, session, last)
    watched = Watched(settings, found, is_pinned=session is not None or last is not None)
    return Watch(settings, watched, interval / 1000).run()


class Watch:
    """One run of the command."""

    def __init__(self, settings: Settings, watched: Watched, interval: float) -> None:
        self._settings, self._watched, self._interval = settings, watched, interval
        is_page = console.is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb" and not settings.json
        self._screen = Screen() if is_page else None
        self._colour = console.use_colour(sys.stdout, no_color=settings.no_color)
        self._shown: Snapshot | None = None
        self._moment = dashboard.Moment(when.now_ms())
        self._flash_until = 0.0
        self._rest_until = 0.0
        self._is_due = False
        self._told: News | None = None
        self._compactions, self._sessions = 0, 1

    def run(self) -> int:
        """Watch until told to end; the exit code."""
        first = self._watched.take()
        began = time.monotonic()
        with Pulse(self._screen.keys if self._screen else None) as pulse:
            if self._screen:
                self._screen.enter()
            try:
                self._show(first, "start", "", None)
                code = self._loop(pulse)
            finally:
                if self._screen:
                    self._screen.leave()
            self._end(first, time.monotonic() - began)
        return code

    def _loop(self, pulse: Pulse) -> int:
        while True:
            typed = pulse.wait(self._interval)
            if "q" in typed.lower():
                return 0
            while pulse.signals:
                number = pulse.signals.pop(0)
                if number == signal.SIGINT:
                    return INTERRUPTED
                if number in (signal.SIGTERM, signal.SIGHUP):
                    return 0
                self._redraw(stop=number == signal.SIGTSTP)
            self._tick()

    def _tick(self) -> None:
        previous = self._shown.session_id if self._shown else None
        for one in self._watched.follower.look():
            if one.kind == MISSING:
                self._tell_missing(one)
                continue
            self._is_due = True
            if one.kind != WRITTEN:
                self._told = one  # told with the first snapshot that comes of it
            if one.kind == SWITCHED:
                self._watched.switch()
                self._sessions += 1
                self._rest_until = 0.0
        now = time.monotonic()
        shot = self._watched.update_workers() or self._shown
        if (self._is_due or self._watched.is_behind) and now >= self._rest_until:
            shot = self._watched.take()
            news, self._told, self._is_due = self._told, None, False
            self._rest_until = time.monotonic() + REST * self._watched.cost
            if news is not None or shot != self._shown:
                self._compare(shot, news, previous)
        elif shot is not None and shot != self._shown:
            self._compare(shot, None, previous)
        elif self._moment.is_flashing and now >= self._flash_until:
            self._draw()

    def _tell_missing(self, news: News) -> None:
        if self._shown is not None:
            self._show(self._shown, MISSING, f"its transcript is missing: {news.why}", None)

    def _compare(self, shot: Snapshot, news: News | None, previous: str | None) -> None:
        """Show a snapshot that differs from the one shown, and say in what way."""
        is_other = previous is not None and shot.session_id != previous
        event, notice = "update", ""
        if news is not None and (news.kind != SWITCHED or is_other):
            event = "session" if news.kind == SWITCHED else news.kind
            now = shot.session_id[:8]
            notice = f"{(previous or '')[:8]} → {now}: {news.why}" if is_other else news.why
        before = self._shown
        if before is not None and not is_other and shot.compactions > before.compactions:
            event = "compaction"
            self._compactions += shot.compactions - before.compactions
            self._flash_until = time.monotonic() + FLASH_SECONDS
        self._show(shot, event, notice, previous if is_other else None)

    def _show(self, shot: Snapshot, event: str, notice: str, previous: str | None) -> None:
        before = self._shown
        same = before is not None and before.session_id == shot.session_id
        self._moment = dashboard.Moment(
            when.now_ms(),
            shot.messages - before.messages if before is not None and same else 0,
            notice=notice or (self._moment.notice if same else ""),
        )
        self._shown = shot
        if self._screen:
            self._draw()
            return
        if self._settings.json:
            moment = self._moment._replace(notice=notice)
            lines: list[str] = [jsonout.encode(dashboard.as_json(shot, moment, event, previous), indent=False)]
        else:
            lines = self._lines(shot, event, notice)
        for line in lines:
            console.put(line)
        sys.stdout.flush()

    def _lines(self, shot: Snapshot, event: str, notice: str) -> list[str]:
        """What a pipe is told: what happened, then how it stands."""
        at = dashboard.clock(self._moment.time_ms)
        lines = [f"{at} {notice}"] if notice else []
        if event == "compaction" and shot.last_compaction is not None:
            line = dashboard.compaction_line(shot.last_compaction, self._moment.time_ms)
            lines.append(f"{at} {shot.session_id[:8]} {line}")
        lines.append(dashboard.one_line(shot, self._moment))
        width = console.table_width()
        return [text.shorten(line, width) if width else line for line in lines]

    def _draw(self) -> None:
        if self._screen is None or self._shown is None:
            self._moment = self._moment._replace(is_flashing=False)
            return
        self._moment = self._moment._replace(is_flashing=time.monotonic() < self._flash_until)
        self._screen.draw(dashboard.page(self._shown, self._moment, *self._screen.size(), colour=self._colour))

    def _redraw(self, *, stop: bool) -> None:
        """After the window changed its size; or stop as Ctrl-Z asks, and go on when told to."""
        if self._screen is None:
            if stop:
                os.kill(os.getpid(), signal.SIGSTOP)
            return
        if stop:
            self._screen.leave()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._screen.enter()
        self._draw()

    def _end(self, first: Snapshot, seconds: float) -> None:
        if self._shown is None:
            return
        line = dashboard.summary(first, self._shown, seconds, self._compactions, self._sessions)
        if self._settings.json:
            console.note(line)
        else:
            width = console.table_width()
            for part in textwrap.wrap(line, width, subsequent_indent="  ") if width else [line]:
                console.put(part)
