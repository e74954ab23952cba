"""The window of one session as it stands this moment: the store, and the bytes of its transcript that the store does
not have yet. The rows and the judgement are those of every other command; only fewer rows are read."""

import os
from functools import partial
from itertools import pairwise

from crusts_index.claude.transcripts import place_of
from crusts_index.errors import CrustsError, ignored
from crusts_index.index.tail import Tail
from crusts_index.insight.window.habits import Habits, habits_of
from crusts_index.insight.window.settings import WindowSettings, window_settings
from crusts_index.quick.glance import Outline, glance
from crusts_index.quick.named import Named, open_quietly, stem_of
from crusts_index.regular import is_regular
from crusts_index.rows import queries_of
from crusts_index.rows.window import (
    SessionBlock,
    SessionBoundary,
    SessionBranch,
    SessionCall,
    SessionEnd,
    SessionLeaf,
    SessionPart,
    SessionRecord,
    SessionRemoval,
    SessionReport,
    SessionSurrounding,
    SessionTold,
    StatusResult,
    StatusShape,
    StatusTranscript,
)
from crusts_index.store import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.judge import Window
    from crusts_index.rows import Row
    from crusts_index.store.settings import Settings

LAST_CALLS = 40
DROP_TOKENS = 30_000  # as in insight.inferred
BLOCKS_OF_CALLS = 8
REREAD_TOKENS = 1_000
OVERSIZED_TOKENS = 10_000
_ALL = -1
_CACHE_MS = 300_000
_CACHE_1H_MS = 3_600_000


class Cost:
    """A result that has just cost much: its tool, its path, its tokens (X-size), whether it was a re-read."""

    def __init__(self, tool: str | None, path: str | None, tokens: int, *, is_reread: bool) -> None:
        self.tool, self.path, self.tokens, self.is_reread = tool, path, tokens, is_reread


class Live:
    """A session's facts and window, with the bytes read past the store. `close` it in the end."""

    def __init__(self, settings: "Settings", named: Named, now_ms: int, *, trim: bool = False) -> None:
        self._settings, self._named, self._trim = settings, named, trim
        self.now_ms = now_ms
        self.connection = named.connection or open_quietly(settings)
        self.head: StatusTranscript | None = None
        self.head = self._head()
        self.path = self._path()
        if self.head is not None and not self._still_holds(self.head):
            self.head = None
        self.tail = self._read_tail()
        self._transcript = self.head.id if self.head else 0
        self._session_id = self.head.session_id if self.head else named.session_id or stem_of(self.path)
        self._last, self._is_full, self._is_wide = LAST_CALLS, False, False
        self._is_counted = self.head is None or bool(self.head.state)  # branches and epochs, by the reader's own state
        self._calls: dict[tuple[int, int], list[SessionCall]] = {}
        self.facts: Facts | Outline
        self.window: Window
        self._judge()

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

    def costs(self) -> list[Cost]:
        """What entered the window since the call before the last and cost much, the dearest first."""
        live = [call for call in self.facts.calls if call.live_epoch]
        since = live[-2].id if len(live) > 1 else live[-1].id if live else 0
        found: dict[str, Cost] = {}
        if self.head is not None and since >> 40 == self._transcript:
            for row in self._ask(StatusResult, transcript=self._transcript, since=since):
                cost = Cost(row.name, row.path, row.result_tokens, is_reread=row.is_reread == 1)
                found[row.tool_use_id or str(row.id)] = cost
        for tool_use_id, use in self.tail.uses.items():
            if use.id >= since:
                found[tool_use_id] = Cost(use.name, use.path, use.result_tokens, is_reread=use.is_reread)
            elif use.id == 0 and tool_use_id in found:
                found[tool_use_id].tokens = use.result_tokens
        much = [one for one in found.values() if one.tokens >= (REREAD_TOKENS if one.is_reread else OVERSIZED_TOKENS)]
        return sorted(much, key=lambda one: -one.tokens)

    def cache_is_warm(self) -> bool | None:
        """Whether the last call's cache is still there: 5 minutes, or an hour where it was written for one."""
        calls: list[Any] = self.facts.calls
        call = next((call for call in reversed(calls) if call.live_epoch), None)
        if call is None or call.time_ms is None or not call.cache_read_tokens + call.cache_write_tokens:
            return None
        written = next((one for one in reversed(calls) if one.cache_write_tokens), call)
        life = _CACHE_1H_MS if written.cache_write_1h_tokens else _CACHE_MS
        return bool(self.now_ms - call.time_ms < life)

    # ------------------------------------------------------------------ what is asked, and from where

    def fetch(self, kind: "type[Row]", name: str | None = None, /, **parameters: "Any") -> "list[Row]":
        """Rows of the `session_…` queries, the new bytes included; as few as the window needs."""
        name = name or queries_of(kind)[0]
        if name in _NEVER or (name == "session_removals" and not self._is_full):
            return []
        if name == "session_tool_uses":
            return self._ask(kind, **parameters) if self._is_full and self._trim else []
        if name in _SPARE:
            return self._ask(kind, _SPARE[name], **parameters)
        is_ours = parameters.get("transcript") == self._transcript
        answer = getattr(self, f"_{name}", None) if is_ours or name in _ALWAYS else None
        return answer(**parameters) if answer else self._ask(kind, **parameters)

    def _ask(self, kind: "type[Row]", name: str | None = None, /, **parameters: object) -> "list[Row]":
        if self.connection is None or (self.head is None and kind is not StatusTranscript):
            return []
        return query.rows(self.connection, kind, name, **parameters)

    def _session_parts(self, session: str) -> list[SessionPart]:
        tail = self.tail
        if self.head is None:
            part = SessionPart(
                id=0,
                session_id=session,
                project=tail.cwd or self._named.cwd or "",
                path=self.path or "",
                gone=0,
                first_ms=None,
                last_ms=tail.last_ms,
                version=tail.version,
                last_version=tail.version,
                entrypoint=None,
                git_branch=None,
                title=None,
            )
            return [part]
        last_ms = tail.last_ms or 0
        return [
            row._replace(last_ms=max(row.last_ms or 0, last_ms) or None) if row.id == self._transcript else row
            for row in self._ask(SessionPart, session=session)
        ]

    def _session_calls(self, transcript: int) -> list[SessionCall]:
        key = (transcript, self._last)
        if key not in self._calls:
            rows = {row.id: row for row in self._some_calls(transcript)}
            if transcript == self._transcript:
                rows.update((row.id, row) for row in self.tail.calls)
            self._calls[key] = [rows[id] for id in sorted(rows)]
        return self._calls[key]

    def _some_calls(self, transcript: int) -> list[SessionCall]:
        # The largest call of each model only matters where the payload does not say how large the window is.
        largest = self._named.window_size is None
        return self._ask(SessionCall, "status_calls", transcript=transcript, last=self._last, largest=largest)

    def _session_blocks(self, transcript: int) -> list[SessionBlock]:
        calls = self._session_calls(transcript)
        if self._is_full or not calls:
            rows = self._ask(SessionBlock, transcript=transcript)
        else:
            since = calls[-BLOCKS_OF_CALLS:][0].id
            before = calls[0].id if self._is_wide else 0
            rows = self._ask(SessionBlock, "status_blocks", transcript=transcript, before=before, since=since)
        if transcript != self._transcript:
            return rows
        new = self.tail.blocks
        ids = {row.response_id for row in new if row.response_id is not None}
        return [row for row in rows if row.response_id not in ids] + new

    def _session_boundaries(self, transcript: int) -> list[SessionBoundary]:
        if transcript != self._transcript:
            return self._ask(SessionBoundary, "status_boundaries", transcript=transcript)
        if self._is_counted and self.tail.epochs == 0:
            return []
        return self._ask(SessionBoundary, "status_boundaries", transcript=transcript) + self.tail.boundaries

    def _session_removals(self, transcript: int) -> list[SessionRemoval]:
        return self._ask(SessionRemoval, transcript=transcript) + self.tail.removals

    def _session_branches(self, transcript: int) -> list[SessionBranch]:
        if self._is_counted and self.tail.branch_count == 0:
            return []
        return self._ask(SessionBranch, transcript=transcript) + self.tail.branches

    def _session_end(self, transcript: int, message: None) -> list[SessionEnd]:
        tail, end = self.tail, self.tail.end
        if end is not None:
            return [SessionEnd(end.record_id, end.branch, end.epoch, tail.messages, tail.last_ms)]
        return self._ask(SessionEnd, "status_end", transcript=transcript, messages=tail.messages)

    def _session_record(self, transcript: int, uuid: "bytes | str") -> list[SessionRecord]:
        place = self.tail.places.get(uuid)
        if place is None:
            return self._ask(SessionRecord, transcript=transcript, uuid=uuid)
        return [SessionRecord(place.record_id, place.branch, place.epoch, place.response_id, place.message)]

    def _session_leaf(self, transcript: int, after: int) -> list[SessionLeaf]:
        if self.tail.leaf is not None and self.tail.leaf.id > after:
            return [self.tail.leaf]
        return self._ask(SessionLeaf, transcript=transcript, after=after)

    # ------------------------------------------------------------------ putting it together

    def _judge(self) -> None:
        """The facts and the window: by a glance where nothing is out of the ordinary, else by all that there is."""
        outline = None if self._is_odd() else self._outline()
        if outline is not None:
            self.facts, self.window = outline, glance(outline, self._window_settings(outline), self._habits())
            return
        from crusts_index.insight.window.judge import window_of

        facts = self._assemble()
        self.facts, self.window = facts, window_of(facts, self._window_settings(facts), self._habits())

    def _habits(self) -> "Habits":
        return habits_of(partial(query.rows, self.connection)) if self.connection is not None else Habits()

    def _window_settings(self, facts: "Facts | Outline") -> WindowSettings:
        return window_settings(
            self.fetch,
            facts,  # type: ignore[arg-type]
            self._settings.config,
            os.environ,
            self.now_ms,
            payload_model=self._named.model,
            payload_window=self._named.window_size,
        )

    def _outline(self) -> "Outline | None":
        """The little that a glance needs; None where that would not be enough."""
        tail, transcript = self.tail, self._transcript
        if not self._is_counted or tail.branch_count:
            return None
        parts = self._session_parts(self._session_id)
        ends = self._session_end(transcript, None)
        if len(parts) != 1 or parts[0].id != transcript or not ends:
            return None
        boundaries = self._session_boundaries(transcript)
        last, epoch = max([(ends[0].id, ends[0].epoch), *((row.id, row.epoch) for row in boundaries)])
        rows = self._session_calls(transcript)
        outline = Outline(self._session_id, parts[0], rows, boundaries, epoch, ends[0].message)
        if not self._suffices(outline):
            self._last = _ALL
            rows = self._session_calls(transcript)
            outline = Outline(self._session_id, parts[0], rows, boundaries, epoch, ends[0].message)
        call = outline.last_call
        if call is None:
            return None
        for leaf in self._session_leaf(transcript, last):
            for row in self._session_record(transcript, leaf.parent_uuid):
                if row.id < last and (row.id < call.last_record_id or row.epoch != epoch):
                    return None
        answer = self._ask(SessionBlock, "status_blocks", transcript=transcript, before=0, since=call.id) + tail.blocks
        if any(row.response_id == call.id and not row.is_exact for row in answer):
            return None
        outline.context_reports = self.fetch(SessionReport, session=self._session_id)
        outline.told = self.fetch(SessionTold, session=self._session_id)
        outline.take_settings(
            self.fetch(
                SessionSurrounding,
                project=outline.session.project,
                first_call_ms=outline.first_call_ms,
                last_ms=outline.session.last_ms or outline.first_call_ms,
            )
        )
        self._heed_payload(outline)
        return outline

    def _is_odd(self) -> bool:
        """Whether compactions must be inferred, or own calls be left out: then all rows are needed."""
        shape = StatusShape(self.tail.epochs, None, None, None)
        if self.head is not None and (self._trim or not shape.boundaries or not self._is_counted):
            for shape in self._ask(StatusShape, transcript=self._transcript, trim=self._trim):
                shape = shape._replace(boundaries=shape.boundaries + len(self.tail.boundaries))
        drop, has_summary = shape.largest_drop or 0, bool(shape.summaries)
        if not shape.boundaries:
            contexts = [call.context_tokens for call in self._session_calls(self._transcript)]
            drop = max([drop, *(before - after for before, after in pairwise(contexts))])
            has_summary = has_summary or any(row.is_summary for row in self.tail.prompts)
        if shape.own_calls or (not shape.boundaries and (has_summary or drop > DROP_TOKENS)):
            self._last, self._is_full = _ALL, True
        return self._is_full

    def _head(self) -> StatusTranscript | None:
        """What the store remembers of the transcript: by its path, else by its session."""
        named = self._named
        if self.connection is None:
            return None
        try:
            if named.transcript_path:
                path = os.path.realpath(named.transcript_path)
                rows = self._ask(StatusTranscript, path=path, session=None)
                if rows or is_regular(path):
                    return rows[0] if rows else None
            if named.session_id:
                rows = self._ask(StatusTranscript, path=None, session=named.session_id)
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

    def _still_holds(self, head: StatusTranscript) -> bool:
        """Whether the store's rows are of the file as it is: same file, not shorter, in the session's own view (D4)."""
        if not head.in_view:
            return False
        if self.path is None:
            return True
        about = os.stat(self.path)
        return bool(about.st_ino == head.inode and about.st_size >= head.offset)

    def _read_tail(self) -> Tail:
        head = self.head
        tail = Tail(self._ask, head.id if head else 0, head.state if head else None)
        if self.path is not None:
            with ignored(OSError):
                tail.read(self.path, head.offset if head else 0)
        if tail.is_cut and self.head is not None:
            # The stretch in between was not read, so the store's rows do not lead up to it.
            self.head = None
            return self._read_tail()
        return tail

    def _assemble(self) -> "Facts":
        facts = self._load()
        if self._last != _ALL and not self._suffices(facts):
            self._last = _ALL
            facts = self._load()
        if not any(call.live_epoch for call in facts.calls):
            # Then the size is derived from what stood before the first call, or from all there is.
            live = facts.live_from
            self._is_wide = True
            self._is_full = self._is_full or live is None or live.post_tokens is None
            facts = self._load()
        self._heed_payload(facts)
        return facts

    def _load(self) -> "Facts":
        from crusts_index.insight.session.loading import load

        return load(self.fetch, self._session_id, trim=self._trim)

    def _suffices(self, facts: "Facts | Outline") -> bool:
        """Whether all calls of the window were read: the growth is over all of them."""
        if self.head is None or self._last == _ALL or len(facts.calls) < LAST_CALLS:
            return True
        began = facts.live_from.id if facts.live_from else 0
        return bool(began > facts.calls[-LAST_CALLS].id)

    def _heed_payload(self, facts: "Facts | Outline") -> None:
        """Take the payload's last call in, unless the transcript has it or is ahead of it."""
        context, output = self._named.context_tokens, self._named.output_tokens or 0
        if not context:
            return
        calls: list[Any] = facts.calls
        live = [call for call in calls if call.live_epoch]
        if live and live[-1].context_tokens == context:
            if live[-1].is_placeholder and output > live[-1].output_tokens:
                calls[calls.index(live[-1])] = live[-1]._replace(output_tokens=output, is_placeholder=False)
            return
        if any(call.context_tokens == context for call in live[-3:]):
            return
        if isinstance(facts, Outline):
            facts.add_call(context, output)
            return
        from crusts_index.insight.session.facts import Call

        last = calls[-1] if calls else None
        compaction = facts.live_from
        id = max(last.id if last else 0, compaction.id if compaction else 0) + 1
        call = Call(
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
        calls.append(call)


_NEVER = ("session_loads", "session_attachments", "session_threads", "session_pasted")
_SPARE = {"session_reports": "status_reports", "session_surroundings": "status_surroundings"}
_ALWAYS = ("session_parts", "session_calls", "session_blocks", "session_boundaries")
