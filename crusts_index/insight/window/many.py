"""Windows of many sessions at once, judged from sums: what they hold, without their blocks being read one by one.

For a session that is judged here the numbers are those of `window_of` and `buckets_of` on its facts. What sums cannot
tell is left to them: sessions in several parts, ones that end with a call of crusts or before a leaf named later, ones
rewound before their first call, and those whose compactions have to be inferred.
"""

from __future__ import annotations

import json
from itertools import groupby

from crusts_index.insight.session.circumstances import Around, around_of, report_of
from crusts_index.insight.session.facts import CATEGORIES, ContextReport, Surrounding
from crusts_index.insight.session.numbers import ESTIMATED
from crusts_index.insight.session.parts import fork_of, uuid_key
from crusts_index.insight.session.path import Fork, walk
from crusts_index.insight.window.buckets import Buckets, is_counted, reconciled
from crusts_index.insight.window.catalogue import core_schema_tokens
from crusts_index.insight.window.contents import Contents, load_tokens, sizes_as_sent
from crusts_index.insight.window.evidence import (
    UNKNOWN,
    Automatic,
    Evidence,
    LastCall,
    asked_model,
    payloads_of,
)
from crusts_index.insight.window.fixed import FixedContext, Start, fixed_by, reported_schemas
from crusts_index.insight.window.judge import Window, judge
from crusts_index.insight.window.settings import LIVE_MS, pasted_schemas, settings_by
from crusts_index.rows.trend import (
    Standing,
    TrendBoundary,
    TrendCall,
    TrendContents,
    TrendKept,
    TrendModel,
    TrendRecord,
    TrendRemoval,
    TrendRepeat,
    TrendReport,
    TrendStart,
    TrendSurrounding,
    TrendTold,
)
from crusts_index.rows.window import SentNamed, SentParts, SessionBranch, SessionPasted, SessionRecord, SessionTold
from crusts_index.tuples import NamedTuple
from crusts_index.windows import DROP_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from crusts_index.insight.window.habits import Habits
    from crusts_index.rows import Fetch


class Judged(NamedTuple):
    """A session's window, and its categories as `buckets_of` has them."""

    window: Window
    buckets: Buckets | None


class Many:
    """Sessions that can be judged by sums, one set of queries for all of them."""

    def __init__(
        self,
        fetch: Fetch,
        standings: list[Standing],
        config: Mapping[str, Any],
        environ: Mapping[str, str],
        habits: Habits,
        now_ms: int,
    ) -> None:
        self._fetch, self._config, self._environ, self._now_ms = fetch, config, environ, now_ms
        self._habits = habits
        self._pasted = fetch(SessionPasted)
        transcripts = json.dumps([one.transcript for one in standings])
        self._models = {
            transcript: list(rows)
            for transcript, rows in groupby(fetch(TrendModel, transcripts=transcripts), lambda row: row.transcript)
        }
        self._boundaries: dict[int, list[TrendBoundary]] = {}
        for row in fetch(TrendBoundary, transcripts=transcripts):
            self._boundaries.setdefault(row.transcript, []).append(row)
        self._forked: set[int] = set()
        plain = [one for one in standings if self.can_judge(one)]
        self._read_around()
        self._read_windows(plain)

    def can_judge(self, one: Standing) -> bool:
        """Whether sums tell the window of a session."""
        if one.parts > 1 or one.own_calls or one.leaf is not None or one.transcript in self._forked:
            return False
        falls = (row.fall or 0 for row in self._models.get(one.transcript, ()))
        return one.transcript in self._boundaries or not (one.summaries or max(falls, default=0) > DROP_TOKENS)

    # ------------------------------------------------------------------ reading

    def _read_around(self) -> None:
        self._around: list[tuple[TrendSurrounding, Surrounding]] = []
        for row in self._fetch(TrendSurrounding):
            detail = json.loads(row.detail) if row.detail else {}
            file = Surrounding(row.kind, row.path, row.name, row.project_path, row.tokens or 0, detail)
            self._around.append((row, file))
        self._reports: dict[str, list[ContextReport]] = {}
        for report in self._fetch(TrendReport):
            self._reports.setdefault(report.session_id, []).append(report_of(report))

    def _read_windows(self, plain: list[Standing]) -> None:
        firsts = [
            [one.transcript, min(row.first_id for row in self._models[one.transcript])]
            for one in plain
            if one.transcript in self._models
        ]
        self._starts = {row.transcript: row for row in self._fetch(TrendStart, firsts=json.dumps(firsts))}
        self._sent = {row.transcript: row for row in self._fetch(SentParts, firsts=json.dumps(firsts))}
        # What stood before a first call behind a fork, or before the transcript, is for the facts to tell.
        self._forked = {start.transcript for start in self._starts.values() if start.branch or start.amid}
        walked = {one.transcript: self._path(one) for one in plain}
        # So is a history that was written again: its calls stand where they stood first.
        roots = [path[-1][:2] for path in walked.values() if path[-1][1]]
        self._forked.update(row.transcript for row in self._fetch(TrendRepeat, roots=json.dumps(roots)) if roots)
        paths = json.dumps([row for path in walked.values() for row in path])
        ends = json.dumps([self._end(one) for one in plain])
        windows = json.dumps([[one.transcript, one.epoch, one.boundary or one.transcript << 40] for one in plain])
        records = {
            boundary.id: self._kept(boundary)
            for one in plain
            for boundary in self._boundaries.get(one.transcript, ())
            if boundary.preserved
        }
        pairs = json.dumps([[boundary, record] for boundary, found in records.items() for record in found])
        sums = self._fetch(TrendKept, kept=pairs) if records else []
        self._kept_tokens = {row.boundary: row.tokens for row in sums}
        kept = json.dumps([[one.transcript, record] for one in plain for record in records.get(one.boundary or 0, ())])
        self._calls = {row.transcript: row for row in self._fetch(TrendCall, windows=ends, paths=paths)}
        transcripts = json.dumps([one.transcript for one in plain])
        asked = {row.transcript for row in self._calls.values() if row.asked}
        unasked = json.dumps([one.transcript for one in plain if one.transcript not in asked])
        self._told: dict[int, list[SessionTold]] = {}
        for told in self._fetch(TrendTold, transcripts=transcripts, unasked=unasked):
            row = SessionTold(told.source, told.model, None, None, None, told.tokens, told.time_ms)
            self._told.setdefault(told.transcript, []).append(row)
        removed = json.dumps([row.block_id for row in self._fetch(TrendRemoval, transcripts=transcripts)])
        rows = self._fetch(TrendContents, windows=windows, paths=paths, kept=kept, removed=removed)
        self._contents = {row.transcript: row for row in rows}
        loaded = [row.transcript for row in rows if row.loads]
        loaded += [one.transcript for one in plain if one.discovered_tools]
        self._schemas: dict[int, list[SentNamed]] = {}
        for part in self._fetch(SentNamed, transcripts=json.dumps(loaded), kind="tool") if loaded else ():
            self._schemas.setdefault(part.transcript, []).append(part)

    def _end(self, one: Standing) -> list[int | bool]:
        """The live window as `trend_calls` asks for it."""
        is_whole = not one.branches and one.transcript not in self._boundaries
        return [one.transcript, one.epoch, one.branch, one.boundary or one.transcript << 40, is_whole]

    def _path(self, one: Standing) -> list[list[int | None]]:
        """The live path as rows of branch, last record and response (D10)."""
        if not one.branches:
            return [[one.transcript, 0, None, None]]
        forks = {row.branch: fork_of(row) for row in self._fetch(SessionBranch, transcript=one.transcript)}
        path: list[list[int | None]] = []
        branch: int | None = one.branch
        bound = response = None
        held = walk(forks, one.branch)
        while branch is not None and held.holds(branch, 0) and all(step[1] != branch for step in path):
            path.append([one.transcript, branch, bound, response])
            branch, bound, response = forks.get(branch, Fork(None, None))
        return path

    def _kept(self, boundary: TrendBoundary) -> list[int]:
        """The records before a boundary that it names as preserved."""
        names, transcript = json.loads(boundary.preserved or "[]"), boundary.transcript
        is_segment = names[:1] == ["segment"]
        found = [
            row.id
            for name in names[1 if is_segment else 0 :]
            for row in self._fetch(SessionRecord, transcript=transcript, uuid=uuid_key(name))
        ]
        if is_segment and found:
            first, last = min(found), max(found)
            return [row.id for row in self._fetch(TrendRecord, transcript=transcript, first=first, last=last)]
        return [record for record in dict.fromkeys(found) if record < boundary.id]

    # ------------------------------------------------------------------ judging

    def judge(self, one: Standing) -> Judged:
        """The window of a session that `can_judge` accepts."""
        last_ms = one.last_ms
        is_live = last_ms is not None and self._now_ms - last_ms < LIVE_MS
        schemas = pasted_schemas(self._pasted, one.version)
        start = self._starts.get(one.transcript)
        first_ms = start.time_ms if start is not None and start.time_ms is not None else one.started_ms
        around = self._surroundings(one, first_ms)
        settings = settings_by(self._config, self._environ if is_live else {}, around.settings, schemas)
        fixed = fixed_by(self._start(one, start, around, schemas) if start is not None else None)
        contents = self._contents_of(one, fixed)
        window = judge(self._evidence(one, fixed, contents.total), settings, self._habits)
        buckets = reconciled(contents, window.size, may_scale=True) if is_counted(window) else None
        return Judged(window, buckets)

    def _evidence(self, one: Standing, fixed: FixedContext, counted: int) -> Evidence:
        """As `evidence_of` has it."""
        last, models = self._calls.get(one.transcript), self._models.get(one.transcript, [])
        latest = max(models, key=lambda row: row.last_id, default=None)
        model = last.model if last is not None else latest.model if latest is not None else UNKNOWN
        told = self._told.get(one.transcript, [])
        return Evidence(
            session_id=one.session_id,
            project=one.project,
            version=one.last_version,
            last_ms=one.last_ms,
            model=model,
            asked=last.asked if last is not None and last.asked else asked_model(model, None, told),
            has_calls=bool(models),
            last=LastCall(last.context, last.output, last.answer or 0, last.answer is not None) if last else None,
            largest=next((row.largest for row in models if row.model == model), 0),
            grown=last.context - last.first if last is not None else 0,
            grown_calls=last.calls - 1 if last is not None else 0,
            post_tokens=one.post_tokens,
            fixed=fixed,
            counted=counted,
            automatic=tuple(
                Automatic(row.model, row.pre_tokens, row.time_ms)
                for row in self._boundaries.get(one.transcript, ())
                if row.model is not None and row.pre_tokens
            ),
            payloads=payloads_of(told),
            reports=tuple(self._reports.get(one.session_id, ())),
        )

    def _start(self, one: Standing, start: TrendStart, around: Around, schemas: int | None) -> Start:
        """As `start_of` has it."""
        left = [
            row.context - row.carried - self._kept_tokens.get(row.id, 0)
            for row in self._boundaries.get(one.transcript, ())
            if row.context is not None
        ]
        reported = reported_schemas(self._reports.get(one.session_id, []))
        return Start(
            context=start.context,
            messages=start.messages,
            attachments=start.attachments,
            schemas=core_schema_tokens(one.version, reported or schemas),
            bound=min(left, default=None),
            is_listed=bool(start.listed),
            is_nested=bool(start.nested),
            files=around.files,
            is_complete=around.is_complete,
            is_reported=bool(reported or schemas),
            sent=self._sent.get(one.transcript),
        )

    def _surroundings(self, one: Standing, first_ms: int | None) -> Around:
        """As `surroundings_of` has them."""
        if first_ms is None or not self._around:
            return Around([], is_complete=False, settings=[])
        last_ms = one.last_ms if one.last_ms is not None else first_ms
        return around_of(
            (
                (row.kind, row.path, row.name, row.project_path),
                file,
                row.mtime_ns <= first_ms * 1_000_000 or (row.first_seen_ms <= last_ms and row.last_seen_ms >= first_ms),
            )
            for row, file in self._around
            if row.project_path is None or row.project_path == one.project
        )

    def _contents_of(self, one: Standing, fixed: FixedContext) -> Contents:
        """As `contents_of` has it."""
        row = self._contents.get(one.transcript)
        tokens = {category: getattr(row, category) if row else 0 for category in CATEGORIES}
        messages = sum(getattr(row, f"led_{category}") for category in CATEGORIES) if row else 0
        for category, amount in fixed.by_category.items():
            tokens[category] += amount
        lists = (one.discovered_tools, row.loads if row else None)
        names = [name for names in lists if names for name in json.loads(names)]
        sizes = sizes_as_sent(self._schemas.get(one.transcript, ()), fixed)
        loaded = sum(load_tokens(name, sizes) for name in dict.fromkeys(map(str, names)))
        tokens["tools"] += loaded
        return Contents(tokens, dict.fromkeys(CATEGORIES, ESTIMATED), messages, loaded)
