"""The search file: full text (FTS5) over what the store keeps of prompts, answers, summaries and tool uses.

It stands beside the store, holds nothing that the store lacks, and may be deleted at any time. A text's rowid is
its block's id. Each transcript has a mark: up to which block its texts were taken, how many, and a checksum of
them, so that an append costs what is new, and a transcript that was read again from its beginning is taken again.
"""

import re
import sqlite3
import zlib
from contextlib import closing

from crusts_index.errors import CrustsError
from crusts_index.store.locks import held, search_lock
from crusts_index.store.open import explain, explained, open_store, read_only, remove
from crusts_index.store.search_file import TIMEOUT, is_damage, is_ours, kind_of, open_to_write
from crusts_index.store.settings import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from crusts_index.store.settings import Settings

    Text = tuple[int, str]

_BATCH_CHARS = 8_000_000  # characters of text that share a transaction
# Scripts that put no spaces between words: each character is a word of its own, so that parts are found too.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
# Colours and titles that a terminal would take; else they grow together with the words behind them.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)?")
SEPARATOR = "\x1f"
"""What stands about characters that are words of their own."""
# What changes whenever a transcript was read: the marks remember it.
_STAMPS = """
select id, offset || ' ' || size || ' ' || mtime_ns || ' ' || parser || ' ' || hex(ifnull(tail_hash, ''))
from transcripts
"""
_NO_MARKS = "select transcript_id, stamp from marks where 0"
# A tool use without path and command has the beginning of its input in `texts`.
_TEXTS = """
select x.block_id, x.text
from texts x join blocks b on b.id = x.block_id join records r on r.id = b.record_id
where x.block_id between :low and :high
  and (r.is_prompt = 1 or r.is_summary = 1 or r.type = 'assistant' and b.kind in ('text', 'tool_use'))
union all
select id, trim(ifnull(path, '') || ' ' || ifnull(command, ''))
from tool_uses
where id between :low and :high and name is not null and coalesce(command, path) is not null
  and (command is not null or path not glob '#????????????')
order by 1
"""


def is_wanted(settings: "Settings") -> bool:
    """Whether the user lets us keep a search file (`"search": false` in config.json says no)."""
    return settings.config.get("search") is not False


def keep_up(settings: "Settings", only: "Iterable[int] | None" = None) -> None:
    """Bring the search file up to date for a plain `crusts index`; remove it where the user wants none.

    `only` names the transcripts that changed, where the file knew of all others; None = compare all.
    Another process that is at it already is left to it. Raises CrustsError where it cannot be written.
    """
    path = search_path(settings.db)
    if not is_wanted(settings):
        leave_nothing(path, None)
        return
    with closing(open_store(settings.db)) as store:
        store.execute("pragma mmap_size = 0")  # all of a large store would be mapped, and count as memory
        update(store, path, only, timeout=0.0)


def update(
    store: sqlite3.Connection,
    path: str,
    only: "Iterable[int] | None" = None,
    *,
    timeout: float = TIMEOUT,
    is_damaged: bool = False,
) -> bool:
    """Take what is new in the store into the search file at `path`; False if another process is doing so.

    A file that is missing, damaged, of another layout or `is_damaged` by the caller's word is made again.
    Raises CrustsError where it cannot be written, or is a database of another program.
    """
    with held(search_lock(path), timeout=timeout) as is_mine:
        if not is_mine:
            return False
        if is_damaged:
            remove(path)
        for attempt in (1, 2):
            try:
                with closing(open_to_write(path, timeout)) as search:
                    _take_all(store, search, None if only is None or _is_empty(search) else list(only))
                return True
            except sqlite3.Error as error:
                if kind_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return False
                if attempt == 2 or not is_damage(error):
                    raise explain(error, path) from error
            except OSError as error:
                raise CrustsError(f"the search file {path} cannot be made: {error.strerror}") from error
            remove(path)
    return True


def leave_nothing(path: str, store: sqlite3.Connection | None) -> bool:
    """Take out what the store does not have, from free pages too; all without a store. False if another is at it.

    Where that cannot be done, the whole file goes: it can be made again. Another program's file is left alone.
    """
    if not is_ours(path):
        return True
    with held(search_lock(path), timeout=TIMEOUT) as is_mine:
        if is_mine and (store is None or not _take_out(path, store)):
            remove(path)
        return is_mine


def _take_out(path: str, store: sqlite3.Connection) -> bool:
    try:
        with closing(open_to_write(path, TIMEOUT)) as search:
            stamps = _stamps(store)
            search.execute("pragma secure_delete = on")
            search.execute("begin immediate")
            for transcript, stamp in search.execute("select transcript_id, stamp from marks").fetchall():
                if stamps.get(transcript) != stamp:
                    _drop(search, transcript)
            search.execute("insert into words (words) values ('optimize')")  # deleted words leave the index
            search.execute("commit")
            search.execute("pragma temp_store = file")
            search.execute("vacuum")
            (busy, _, _) = search.execute("pragma wal_checkpoint(truncate)").fetchone()
        return not busy
    except (sqlite3.Error, OSError):
        return False


def behind(store: sqlite3.Connection, path: str) -> tuple[int, int]:
    """Texts in the search file, and transcripts whose texts are still to be taken. Raises CrustsError."""
    try:
        with closing(read_only(path, TIMEOUT)) as search:
            marks = dict(search.execute("select transcript_id, stamp from marks"))
            (texts,) = search.execute("select ifnull(sum(texts), 0) from marks").fetchone()
    except sqlite3.Error as error:
        raise explain(error, path) from error
    stamps = _stamps(store)
    return texts, sum(marks.get(one) != stamp for one, stamp in stamps.items())


def _is_empty(search: sqlite3.Connection) -> bool:
    return search.execute("select 1 from marks limit 1").fetchone() is None


def _take_all(store: sqlite3.Connection, search: sqlite3.Connection, only: list[int] | None) -> None:
    """Bring every transcript's texts up to date, or those of some, a batch of them a transaction."""
    store.execute("begin")  # one picture of the store, whoever writes to it meanwhile
    try:
        stamps = _stamps(store, only)
        marks = dict(search.execute("select transcript_id, stamp from marks" if only is None else _NO_MARKS))
        gone = [one for one in marks if one not in stamps]
        pending = [one for one, stamp in stamps.items() if marks.get(one) != stamp]
        if not gone and not pending:
            return
        search.execute("begin immediate")
        taken = 0
        for one in gone:
            _drop(search, one)
        for one in pending:
            taken += _take(store, search, one, stamps[one])
            if taken > _BATCH_CHARS:
                search.execute("commit")
                search.execute("begin immediate")
                taken = 0
        search.execute("commit")
    finally:
        store.execute("rollback")
    search.execute("pragma wal_checkpoint(truncate)")


def _take(store: sqlite3.Connection, search: sqlite3.Connection, transcript: int, stamp: str) -> int:
    """Bring one transcript up to date; the number of characters taken."""
    row = search.execute("select last, texts, checksum from marks where transcript_id = ?", (transcript,))
    last, texts, checksum = row.fetchone() or (0, 0, 0)
    found = _texts(store, transcript)
    before = [one for one in found if one[0] <= last]
    if (len(before), _checksum(before)) != (texts, checksum):
        _drop(search, transcript)
        before = []
    new = found[len(before) :]
    search.executemany("insert into words (rowid, text) values (?, ?)", ((one, spaced(text)) for one, text in new))
    last = found[-1][0] if found else 0
    search.execute(
        "insert or replace into marks (transcript_id, stamp, last, texts, checksum) values (?, ?, ?, ?, ?)",
        (transcript, stamp, last, len(found), _checksum(found)),
    )
    return sum(len(text) for _, text in new)


def _stamps(store: sqlite3.Connection, only: list[int] | None = None) -> "dict[int, Any]":
    with explained(store):
        if only is None:
            return dict(store.execute(_STAMPS))
        return {row[0]: row[1] for one in only for row in store.execute(_STAMPS + "where id = ?", (one,))}


def _texts(store: sqlite3.Connection, transcript: int) -> list["Text"]:
    low, high = transcript << 40, ((transcript + 1) << 40) - 1
    found: dict[int, str] = {}
    with explained(store):
        for one, text in store.execute(_TEXTS, {"low": low, "high": high}):
            found[one] = f"{found[one]} {text}" if one in found else text
    return list(found.items())


def _drop(search: sqlite3.Connection, transcript: int) -> None:
    low, high = transcript << 40, ((transcript + 1) << 40) - 1
    search.execute("delete from words where rowid between ? and ?", (low, high))
    search.execute("delete from marks where transcript_id = ?", (transcript,))


def _checksum(texts: "Iterable[Text]") -> int:
    total = 0
    for one, text in texts:
        total = zlib.crc32(text.encode("utf-8", "replace"), zlib.crc32(b"%d" % one, total))
    return total


def spaced(text: str) -> str:
    """The text as the search file has it: without escapes, and parted where a script puts no spaces."""
    if "\x1b" in text:
        text = _ESCAPE.sub(SEPARATOR, text)
    return text if text.isascii() else _UNSPACED.sub(rf"{SEPARATOR}\g<0>{SEPARATOR}", text)
