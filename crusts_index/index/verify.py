"""Reads the transcripts that still exist into a store of its own, compares, and says why the two differ."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from crusts_index.errors import CrustsError
from crusts_index.index.leftovers import scratch_prefix
from crusts_index.index.plan import PARSER
from crusts_index.index.run import index_files, index_roots
from crusts_index.index.summary import Options
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import open_store, uri
from crusts_index.store.upgrade import ensure

COUNTS = ("calls", "input", "cache_read", "cache_write", "output")
_SUMS = (
    "count(*), ifnull(sum(input_tokens), 0), ifnull(sum(cache_read_tokens), 0),"
    " ifnull(sum(cache_write_tokens), 0), ifnull(sum(output_tokens), 0)"
)

REASONS = {
    "gone": "of transcripts that are no longer on disk; the store keeps them",
    "retained": "billed, but their lines were taken out of a transcript since; the store keeps them",
    "owner": "whose owning record is in a transcript that is no longer on disk, so its usage counts",
    "joined": "that only a transcript no longer on disk shows to be one call",
    "growth": "written after the store was last brought up to date: run `crusts index`",
    "new": "of transcripts that the store has not read yet: run `crusts index`",
    "rewritten": "of transcripts that were rewritten after the store read them: run `crusts index`",
    "parser": "read by an older crusts: run `crusts index`",
    "unexplained": "for no reason that is known",
}
"""Why a call differs, and how that reads behind a number of API calls. All but the last are in order."""

# Transcripts that both stores have. Kept ids map to fresh ones by their transcripts' paths and equal offsets.
_LAY = """
create temp table pair as
select k.id as kept, f.id as fresh, k.offset as kept_offset, f.offset as fresh_offset, k.parser < :parser as is_older,
  f.offset < k.offset or f.inode <> k.inode or (f.offset = k.offset and f.tail_hash is not k.tail_hash) as is_rewritten
from kept.transcripts k join main.transcripts f on f.path = k.path;
create unique index temp.pair_kept on pair (kept);
create unique index temp.pair_fresh on pair (fresh);
create temp table link as
select distinct k.call_id as kept, f.call_id as fresh
from temp.pair p
  join kept.responses k on k.id >= p.kept << 40 and k.id < (p.kept + 1) << 40
  join main.responses f on f.id = (p.fresh << 40) + (k.id & ((1 << 40) - 1))
where k.call_id is not null and f.call_id is not null;
create index temp.link_kept on link (kept);
create index temp.link_fresh on link (fresh);
"""
# Calls that only the store has: where all that is left of them stands.
_ONLY_KEPT = """
select
  case
    when not exists (select 1 from kept.call_members m where m.call_id = c.id) then 'unexplained'
    when c.retained = 1 then 'retained'
    when not exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id
      join temp.pair p on p.kept = r.transcript_id
      where m.call_id = c.id and r.id > 0) then 'gone'
    when exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id
      join temp.pair p on p.kept = r.transcript_id
      where m.call_id = c.id and r.id > 0 and p.is_rewritten) then 'rewritten'
    when exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id
      join temp.pair p on p.kept = r.transcript_id
      where m.call_id = c.id and r.id > 0 and p.is_older) then 'parser'
    else 'unexplained'
  end as reason,
  c.id, c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.output_tokens
from kept.api_calls c
where c.id not in (select kept from temp.link)
"""
_ONLY_FRESH = """
select
  case
    when not exists (select 1 from main.call_members m join main.responses r on r.id = m.response_id
      join temp.pair p on p.fresh = r.transcript_id
      where m.call_id = c.id) then 'new'
    when exists (select 1 from main.call_members m join main.responses r on r.id = m.response_id
      join temp.pair p on p.fresh = r.transcript_id
      where m.call_id = c.id and r.last_record_id >= (p.fresh << 40) + p.kept_offset) then 'growth'
    when exists (select 1 from main.call_members m join main.responses r on r.id = m.response_id
      join temp.pair p on p.fresh = r.transcript_id
      where m.call_id = c.id and p.is_rewritten) then 'rewritten'
    when exists (select 1 from main.call_members m join main.responses r on r.id = m.response_id
      join temp.pair p on p.fresh = r.transcript_id
      where m.call_id = c.id and p.is_older) then 'parser'
    else 'unexplained'
  end as reason,
  c.id, -c.input_tokens, -c.cache_read_tokens, -c.cache_write_tokens, -c.output_tokens
from main.api_calls c
where c.id not in (select fresh from temp.link)
"""
# Calls that both have, but with another usage, or as another number of calls.
_BOTH = """
with judged as (
  select
    k.id, l.fresh,
    (select count(*) from temp.link x where x.kept = l.kept) as fresh_calls,
    (select count(*) from temp.link x where x.fresh = l.fresh) as kept_calls,
    (select min(fresh) from temp.link x where x.kept = l.kept) = l.fresh as is_first_fresh,
    (select min(kept) from temp.link x where x.fresh = l.fresh) = l.kept as is_first_kept,
    k.input_tokens as ki, k.cache_read_tokens as kr, k.cache_write_tokens as kw, k.output_tokens as ko,
    f.input_tokens as fi, f.cache_read_tokens as fr, f.cache_write_tokens as fw, f.output_tokens as fo,
    k.transcript_id not in (select kept from temp.pair) or k.response_id < 0 as is_owner_gone,
    exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id where m.call_id = k.id
      and (r.id < 0 or r.transcript_id not in (select kept from temp.pair))) as has_past,
    exists (select 1 from main.call_members m join main.responses r on r.id = m.response_id
      left join temp.pair p on p.fresh = r.transcript_id
      where m.call_id = f.id and (p.fresh is null or r.last_record_id >= (p.fresh << 40) + p.kept_offset)) as has_grown,
    exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id
      join temp.pair p on p.kept = r.transcript_id
      where m.call_id = k.id and p.is_rewritten) as is_rewritten,
    exists (select 1 from kept.call_members m join kept.responses r on r.id = m.response_id
      join temp.pair p on p.kept = r.transcript_id
      where m.call_id = k.id and p.is_older) as is_older
  from temp.link l join kept.api_calls k on k.id = l.kept join main.api_calls f on f.id = l.fresh
)
select
  case
    when fresh_calls > 1 and has_past then 'joined'
    when has_grown then 'growth'
    when is_rewritten then 'rewritten'
    when is_older then 'parser'
    when fresh_calls = 1 and kept_calls = 1 and is_owner_gone then 'owner'
    else 'unexplained'
  end as reason,
  id, fresh_calls, kept_calls, is_first_fresh, is_first_kept,
  ki * is_first_fresh - fi * is_first_kept, kr * is_first_fresh - fr * is_first_kept,
  kw * is_first_fresh - fw * is_first_kept, ko * is_first_fresh - fo * is_first_kept
from judged
where fresh_calls > 1 or kept_calls > 1 or (ki, kr, kw, ko) <> (fi, fr, fw, fo)
"""
# What else is counted in each transcript, up to the offset that the store has read.
_ROWS = """
select t.path, what, kept_count, fresh_count
from (
  select p.*, 'records' as what,
    (select count(*) from kept.records r where r.id >= p.kept << 40 and r.id < (p.kept + 1) << 40) as kept_count,
    (select count(*) from main.records r where r.id >= p.fresh << 40 and r.id < (p.fresh << 40) + p.kept_offset)
      as fresh_count
  from temp.pair p
  union all
  select p.*, 'blocks',
    (select count(*) from kept.blocks r where r.id >= p.kept << 40 and r.id < (p.kept + 1) << 40),
    (select count(*) from main.blocks r where r.id >= p.fresh << 40 and r.id < (p.fresh << 40) + p.kept_offset)
  from temp.pair p
  union all
  select p.*, 'measured text',
    (select ifnull(sum(soft + marks), 0) from kept.blocks r where r.id >= p.kept << 40 and r.id < (p.kept + 1) << 40),
    (select ifnull(sum(soft + marks), 0) from main.blocks r
      where r.id >= p.fresh << 40 and r.id < (p.fresh << 40) + p.kept_offset)
  from temp.pair p
  union all
  select p.*, 'tool uses',
    (select count(*) from kept.tool_uses r where r.id >= p.kept << 40 and r.id < (p.kept + 1) << 40),
    (select count(*) from main.tool_uses r where r.id >= p.fresh << 40 and r.id < (p.fresh << 40) + p.kept_offset)
  from temp.pair p
  union all
  select p.*, 'compactions',
    (select count(*) from kept.compactions r where r.id >= p.kept << 40 and r.id < (p.kept + 1) << 40),
    (select count(*) from main.compactions r where r.id >= p.fresh << 40 and r.id < (p.fresh << 40) + p.kept_offset)
  from temp.pair p
) c join kept.transcripts t on t.id = c.kept
where kept_count <> fresh_count and not c.is_rewritten and not c.is_older
order by t.path, what
"""


class Line(NamedTuple):
    """One reason: how many calls it concerns, and what the store has more than the transcripts for it."""

    reason: str
    concerned: int
    more: tuple[int, ...]
    """In the order of COUNTS."""


class Verdict(NamedTuple):
    """Totals of the store, totals read again, and what makes the difference, line by line."""

    transcripts: int
    gone: int
    forgotten: int
    placeholders: int
    """Calls of the store whose output is a placeholder: it is as logged, and at least so much (D9)."""
    kept: tuple[int, ...]
    fresh: tuple[int, ...]
    lines: list[Line]
    odd_rows: list[tuple[str, str, int, int]]
    """Path, what is counted, in the store, in the transcript: should be equal and is not."""
    unreadable: list[tuple[str, str]]

    @property
    def is_explained(self) -> bool:
        """Whether every difference has its reason, and the reasons add up to it."""
        more = [sum(line.more[place] for line in self.lines) for place in range(len(COUNTS))]
        adds_up = more == [kept - fresh for kept, fresh in zip(self.kept, self.fresh, strict=True)]
        return adds_up and not self.odd_rows and all(line.reason != "unexplained" for line in self.lines)


def verify(db: str, roots: Sequence[str], options: Options) -> Verdict:
    """Compare the store at `db` with what is read again from under the projects folders `roots`.

    Transcripts that the store found under other folders are read too, if they are there. Raises CrustsError.
    """
    with _scratch(db) as path:
        ensure(path)
        fresh = open_store(path, write=True)
        try:
            fresh.execute("attach database ? as kept", (os.fsencode(uri(db, "mode=ro")),))
            fresh.execute("insert into main.forgotten select * from kept.forgotten")
            fresh.execute("insert into main.weights select * from kept.weights")
            summary = index_roots(fresh, path, roots, options)
            elsewhere = _elsewhere(fresh)
            unreadable = list(summary.unreadable)
            if elsewhere:
                unreadable += index_files(fresh, path, elsewhere, options).unreadable
            return _compare(fresh, unreadable)
        finally:
            fresh.close()


def _compare(store: sqlite3.Connection, unreadable: list[tuple[str, str]]) -> Verdict:
    store.execute("begin")  # one picture of the store, though its owner goes on writing
    try:
        for statement in _LAY.split(";\n"):
            if statement.strip():
                parameters = {"parser": PARSER} if ":parser" in statement else {}
                store.execute(statement, parameters)
        transcripts, gone = store.execute(
            "select count(*), sum(id not in (select kept from temp.pair)) from kept.transcripts"
        ).fetchone()
        (forgotten,) = store.execute("select count(*) from kept.forgotten").fetchone()
        (placeholders,) = store.execute("select ifnull(sum(placeholders), 0) from kept.call_sums").fetchone()
        return Verdict(
            transcripts=transcripts,
            gone=gone or 0,
            forgotten=forgotten,
            placeholders=placeholders,
            kept=store.execute(f"select {_SUMS} from kept.api_calls").fetchone(),
            fresh=store.execute(f"select {_SUMS} from main.api_calls").fetchone(),
            lines=_lines(store),
            odd_rows=store.execute(_ROWS).fetchall(),
            unreadable=unreadable,
        )
    finally:
        store.execute("rollback")


def _lines(store: sqlite3.Connection) -> list[Line]:
    concerned: dict[str, set[tuple[str, int]]] = {}
    more: dict[str, list[int]] = {}

    def add(reason: str, call: tuple[str, int], numbers: Sequence[int]) -> None:
        concerned.setdefault(reason, set()).add(call)
        sums = more.setdefault(reason, [0] * len(COUNTS))
        for place, number in enumerate(numbers):
            sums[place] += number

    for reason, call, *tokens in store.execute(_ONLY_KEPT):
        add(reason, ("kept", call), (1, *tokens))
    for reason, call, *tokens in store.execute(_ONLY_FRESH):
        add(reason, ("fresh", call), (-1, *tokens))
    for reason, call, _, _, is_first_fresh, is_first_kept, *tokens in store.execute(_BOTH):
        add(reason, ("kept", call), (is_first_fresh - is_first_kept, *tokens))
    return [Line(one, len(concerned[one]), tuple(more[one])) for one in REASONS if one in more]


def _elsewhere(store: sqlite3.Connection) -> list[str]:
    """Transcripts that the store has from other folders than those looked at now."""
    rows = store.execute(
        "select path from kept.transcripts where path not in (select path from main.transcripts) order by path"
    )
    return [row[0] for row in rows if os.path.isfile(row[0])]


@contextmanager
def _scratch(db: str) -> Iterator[str]:
    """A file for the store read again, on the disk of the store itself if that can be written to."""
    folder = os.path.dirname(os.path.abspath(db))
    if not os.path.exists(db):
        raise CrustsError(f"there is no store at {db} yet: run `crusts index`")
    place = folder if os.access(folder, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=scratch_prefix(), dir=place, ignore_cleanup_errors=True) as scratch:
        yield os.path.join(scratch, "index.db")


def as_json(verdict: Verdict) -> dict[str, object]:
    """The verdict as an object."""
    return {
        "ok": verdict.is_explained,
        "transcripts": verdict.transcripts,
        "gone": verdict.gone,
        "forgotten": verdict.forgotten,
        "placeholder_calls": verdict.placeholders,
        "store": dict(zip(COUNTS, verdict.kept, strict=True)),
        "read_anew": dict(zip(COUNTS, verdict.fresh, strict=True)),
        "differences": [
            {"reason": line.reason, "concerned": line.concerned, **dict(zip(COUNTS, line.more, strict=True))}
            for line in verdict.lines
        ],
        "rows": [dict(zip(("path", "what", "store", "read_anew"), row, strict=True)) for row in verdict.odd_rows],
        "unreadable": [{"path": path, "reason": reason} for path, reason in verdict.unreadable],
    }
