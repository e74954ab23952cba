"""Windows of many sessions at once, judged from sums: what they hold, without their blocks being read one by one.

For a session that is judged here the numbers are those of `window_of` and `buckets_of` on its facts. What sums cannot
tell is left to them: sessions in several parts, ones that end with a call of crusts or before a leaf named later, ones
rewound before their first call, and those whose compactions have to be inferred.
"""

from __future__ import annotations

import json
from itertools import groupby

from crusts_index.insight.buckets import Buckets, reconciled
from crusts_index.insight.catalogue import DEFAULT_CONTEXT_LIMIT, deferred_load_tokens
from crusts_index.insight.contents import ESTIMATED, Contents
from crusts_index.insight.facts import CATEGORIES, Call, Compaction, ContextReport, Facts, Session, Surrounding
from crusts_index.insight.fixed import FixedContext, fixed_context
from crusts_index.insight.inferred import DROP_TOKENS
from crusts_index.insight.limit import limit_of, window_settings
from crusts_index.insight.parts import uuid_key
from crusts_index.insight.path import Fork, walk
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from crusts_index.insight.facts import Fetch
    from crusts_index.insight.limit import WindowSettings

    Row = tuple[Any, ...]

_LEAST_SAMPLES = 3


class Judged(NamedTuple):
    """A session's window: its size and limit in tokens, and the categories in it."""

    size: int
    limit: int
    buckets: Buckets


class Standing(NamedTuple):
    """A row of `trend`: where a session stands."""

    session_id: str
    project: str
    transcript: int
    parts: int
    started_ms: int | None
    last_ms: int | None
    active_ms: int | None
    version: str | None
    messages: int
    compactions: int
    end_id: int
    branch: int
    epoch: int
    boundary: int | None
    post_tokens: int | None
    discovered_tools: str | None
    own_calls: int
    leaf: int | None
    summaries: int
    branches: int


class _Before(NamedTuple):
    """The fields of a block that the fixed context asks for."""

    call_ordinal: int
    subtype: str | None
    kind: str
    tokens: int
    epoch: int = 0
    on_path: bool = True
    branch: int = 0
    call_id: int | None = None
    record_id: int = 0


class _Boundary(NamedTuple):
    """A row of `trend_boundaries`."""

    transcript: int
    id: int
    trigger: str | None
    pre_tokens: int | None
    preserved: str | None
    context: int | None
    carried: int


class _Model(NamedTuple):
    """A row of `trend_models`."""

    transcript: int
    model: str
    largest: int
    first_id: int
    last_id: int
    fall: int | None


class Sums:
    """The sums of the sessions that can be judged by them."""

    def __init__(
        self,
        fetch: Fetch,
        standings: list[Standing],
        config: Mapping[str, Any],
        environ: Mapping[str, str],
        now_ms: int,
    ) -> None:
        self._fetch, self._config, self._environ, self._now_ms = fetch, config, environ, now_ms
        self._limits: dict[tuple[str, int], int] = {}
        self._pasted: list[Row] = fetch("session_pasted")
        transcripts = json.dumps([one.transcript for one in standings])
        self._models = {
            transcript: [_Model(*row) for row in rows]
            for transcript, rows in groupby(fetch("trend_models", transcripts=transcripts), key=lambda row: row[0])
        }
        self._boundaries: dict[int, list[_Boundary]] = {}
        for row in fetch("trend_boundaries", transcripts=transcripts):
            self._boundaries.setdefault(row[0], []).append(_Boundary(*row))
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
        self._around = [
            (*row[:5], json.loads(row[5]) if row[5] else {}, *row[6:]) for row in self._fetch("trend_surroundings")
        ]
        self._reports: dict[str, list[ContextReport]] = {}
        for session, *values, rows in self._fetch("trend_reports"):
            said = tuple((str(one[0]), int(one[1]), bool(one[2])) for one in json.loads(rows))
            self._reports.setdefault(session, []).append(ContextReport._make((*values, said)))

    def _read_windows(self, plain: list[Standing]) -> None:
        firsts = [
            [one.transcript, min(row.first_id for row in self._models[one.transcript])]
            for one in plain
            if one.transcript in self._models
        ]
        self._starts: dict[int, Row] = {row[0]: row for row in self._fetch("trend_starts", firsts=json.dumps(firsts))}
        # What stood before a first call behind a fork is for the facts to tell.
        self._forked = {transcript for transcript, start in self._starts.items() if start[3]}
        paths = json.dumps([row for one in plain for row in self._path(one)])
        windows = json.dumps([[one.transcript, one.epoch, one.boundary or one.transcript << 40] for one in plain])
        records = {
            boundary.id: self._kept(boundary)
            for one in plain
            for boundary in self._boundaries.get(one.transcript, ())
            if boundary.preserved
        }
        pairs = json.dumps([[boundary, record] for boundary, found in records.items() for record in found])
        self._kept_tokens: dict[int, int] = dict(self._fetch("trend_kept", kept=pairs)) if records else {}
        kept = json.dumps([[one.transcript, record] for one in plain for record in records.get(one.boundary or 0, ())])
        self._calls: dict[int, Row] = {row[0]: row for row in self._fetch("trend_calls", windows=windows, paths=paths)}
        transcripts = json.dumps([one.transcript for one in plain])
        removed = json.dumps([row[0] for row in self._fetch("trend_removals", transcripts=transcripts)])
        rows = self._fetch("trend_contents", windows=windows, paths=paths, kept=kept, removed=removed)
        self._contents: dict[int, Row] = {row[0]: row for row in rows}

    def _path(self, one: Standing) -> list[list[int | None]]:
        """The live path as rows of branch, last record and response (D10)."""
        if not one.branches:
            return [[one.transcript, 0, None, None]]
        forks = {}
        for number, parent, is_root, first, record, branch, response in self._fetch(
            "session_branches", transcript=one.transcript
        ):
            if is_root:
                forks[number] = Fork(None, None)
            elif record is None:
                forks[number] = Fork(parent, first - 1)
            else:
                forks[number] = Fork(branch, record, response)
        path: list[list[int | None]] = []
        branch, bound, response = one.branch, None, None
        held = walk(forks, one.branch)
        while branch is not None and held.holds(branch, 0) and all(row[1] != branch for row in path):
            path.append([one.transcript, branch, bound, response])
            branch, bound, response = forks.get(branch, Fork(None, None))
        return path

    def _kept(self, boundary: _Boundary) -> list[int]:
        """The records before a boundary that it names as preserved."""
        names, transcript = json.loads(boundary.preserved or "[]"), boundary.transcript
        is_segment = names[:1] == ["segment"]
        found = [
            row[0]
            for name in names[1 if is_segment else 0 :]
            for row in self._fetch("session_record", transcript=transcript, uuid=uuid_key(name))
        ]
        if is_segment and found:
            first, last = min(found), max(found)
            return [row[0] for row in self._fetch("trend_segment", transcript=transcript, first=first, last=last)]
        return [record for record in dict.fromkeys(found) if record < boundary.id]

    # ------------------------------------------------------------------ judging

    def judge(self, one: Standing) -> Judged:
        """The window of a session that `can_judge` accepts."""
        facts = self._digest(one)
        settings = window_settings(self._ask, facts, self._config, self._environ, self._now_ms)
        fixed = fixed_context(facts, settings.calibrated_schema_tokens)
        last = self._calls.get(one.transcript)
        model = facts.calls[-1].model if facts.calls else "unknown"
        limit = self._limit(facts, settings, model)
        contents = self._contents_of(one, fixed, last)
        if last is not None:
            output = last[4] if last[5] is None else max(last[4], last[5])
            size = last[3] + output
        elif one.post_tokens is not None:
            size = one.post_tokens + (fixed.tokens or 0)
        else:
            size = contents.total
        return Judged(size, limit, reconciled(contents, size, may_scale=True))

    def _limit(self, facts: Facts, settings: WindowSettings, model: str) -> int:
        """`limit_of`, asked once for all sessions of a model where nothing of their own speaks."""
        largest = facts.calls[-1].context_tokens if facts.calls else 0
        if facts.context_reports or facts.surroundings or settings.context_windows or settings.env or facts.compactions:
            return limit_of(facts, settings, model).tokens
        key = model, largest if largest > DEFAULT_CONTEXT_LIMIT else 0
        if key not in self._limits:
            self._limits[key] = limit_of(facts, settings, model).tokens
        return self._limits[key]

    def _ask(self, name: str, /, **parameters: object) -> list[Row]:
        return self._pasted if name == "session_pasted" else self._fetch(name, **parameters)

    def _digest(self, one: Standing) -> Facts:
        """As much of a session's facts as limit and fixed context ask for: of its calls the first and the last."""
        start, last = self._starts.get(one.transcript), self._calls.get(one.transcript)
        models = self._models.get(one.transcript, [])
        calls: list[Call] = []
        blocks: list[_Before] = []
        compactions: list[Compaction] = []
        if start is not None:
            model = last[2] if last is not None else max(models, key=lambda row: row.last_id).model
            largest = next((row.largest for row in models if row.model == model), 0)
            calls.append(_call(start[1], start[2], start[4], start[5], ""))
            blocks += [
                _Before(start[2] - 1, None, "text", start[6]),
                _Before(start[2] - 1, None, "attachment", start[7]),
            ]
            blocks += [
                _Before(start[2] - 1, subtype, "attachment", 0)
                for subtype, is_there in (("skill_listing", start[8]), ("nested_memory", start[9]))
                if is_there
            ]
            for epoch, boundary in enumerate(self._boundaries.get(one.transcript, ()), 1):
                compactions.append(_boundary(boundary, epoch))
                if boundary.context is not None:
                    carried = boundary.carried + self._kept_tokens.get(boundary.id, 0)
                    calls.append(_call(boundary.id, start[2] + 2, None, boundary.context, "", epoch))
                    blocks.append(_Before(start[2] + 1, None, "text", carried, epoch))
            calls.append(_call(one.end_id, start[2] + 1, None, largest, model))
        first_ms = calls[0].time_ms if calls and calls[0].time_ms is not None else one.started_ms
        surroundings, complete = self._surroundings(one, first_ms)
        return Facts(
            session=_session(one),
            calls=calls,
            blocks=blocks,
            compactions=compactions,
            context_reports=self._reports.get(one.session_id, []),
            surroundings=surroundings,
            surroundings_complete=complete,
            is_partial=False,
            parts=[one.transcript],
            _fetch=self._fetch,
        )

    def _surroundings(self, one: Standing, first_ms: int | None) -> tuple[list[Surrounding], bool]:
        """Those that held while the session ran (D11), and whether that is all there were."""
        if first_ms is None or not self._around:
            return [], False
        last_ms = one.last_ms if one.last_ms is not None else first_ms
        seen: set[tuple[Any, ...]] = set()
        held: dict[tuple[Any, ...], Surrounding] = {}
        for kind, path, name, project, tokens, detail, mtime_ns, first_seen, last_seen in self._around:
            if project is not None and project != one.project:
                continue
            key = (kind, path, name, project)
            seen.add(key)
            if mtime_ns <= first_ms * 1_000_000 or (first_seen <= last_ms and last_seen >= first_ms):
                held[key] = Surrounding(kind, path, name, project, tokens or 0, detail)
        return list(held.values()), bool(held) and len(held) == len(seen)

    def _contents_of(self, one: Standing, fixed: FixedContext, last: Row | None) -> Contents:
        """As `contents_of` has it, the framing included."""
        row = self._contents.get(one.transcript)
        tokens = dict(zip(CATEGORIES, row[1:7] if row else (0,) * 6, strict=True))
        led = dict(zip(CATEGORIES, row[7:13] if row else (0,) * 6, strict=True))
        for category, amount in fixed.by_category.items():
            tokens[category] += amount
        lists = (one.discovered_tools, row[13] if row else None)
        names = [name for names in lists if names for name in json.loads(names)]
        loaded = sum(map(deferred_load_tokens, dict.fromkeys(map(str, names))))
        tokens["tools"] += loaded
        each = _framing(last[6], last[7]) if last is not None and last[6] else 0
        if each:
            for category in CATEGORIES:
                tokens[category] += each * led[category]
        messages = sum(led.values())
        return Contents(tokens, dict.fromkeys(CATEGORIES, ESTIMATED), messages, each * messages, loaded)


def _framing(excess: str, counts: str) -> int:
    """Tokens a message costs beyond its content, as `framing_of` has it; 0 where too little is known."""
    samples = sorted(round(more / count, 1) for more, count in zip(json.loads(excess), json.loads(counts), strict=True))
    return int(samples[len(samples) // 2] + 0.5) if len(samples) >= _LEAST_SAMPLES else 0


def _call(record: int, ordinal: int, time_ms: int | None, context: int, model: str, epoch: int = 0) -> Call:
    return Call(
        *(record, record, record, 0, ordinal, 0, epoch, model, time_ms, 0, 0, 0, 0, 0, None, context),
        *(None, None, None, False, True, True, None),
    )


def _session(one: Standing) -> Session:
    return Session(
        *(one.session_id, one.project, None, None, one.version, one.version, one.started_ms, one.last_ms),
        gone=False,
        transcript_path=None,
        messages=one.messages,
    )


def _boundary(one: _Boundary, epoch: int) -> Compaction:
    return Compaction(
        *(one.id, None, None, one.trigger, one.pre_tokens, None, None, None, None, (), (), epoch, 0, None, None),
        is_owner=True,
    )
