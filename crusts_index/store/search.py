"""The search file: full text (FTS5) over what the store keeps of prompts, answers, summaries and tool uses.

It stands beside the store, holds nothing that the store lacks, and may be deleted at any time. The first search makes
it, and from then on a plain index keeps it up. It holds the words of each text and their places in it, not the text; a
text's rowid is its block's id. Each transcript has a mark: up to which block its texts were taken, how many, and a
checksum of them, so that an append costs what is new. Where a text that was taken is another now, or no more, the whole
file is made again: words alone do not tell which of them were its.
"""

import json
import re
import sqlite3
import zlib
from contextlib import closing
from functools import cache

from crusts_index.errors import CrustsError
from crusts_index.store.locks import held, search_lock
from crusts_index.store.open import explain, explained, open_store, read_only, remove
from crusts_index.store.search_file import (
    TIMEOUT,
    OutdatedError,
    is_damage,
    is_older,
    is_ours,
    kind_of,
    open_to_write,
)
from crusts_index.store.settings import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from crusts_index.store.settings import Settings

    Text = tuple[int, str]
    Progress = Callable[[int, int], None]

_BATCH_CHARS = 8_000_000  # characters of text that share a transaction
# Colours and titles that a terminal would take; else they grow together with the words behind them.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)?")
SEPARATOR = "\x1f"
"""What stands about characters that are words of their own."""
# What changes whenever a transcript was read: the marks remember it.
_STAMPS = """
select id, offset || ' ' || size || ' ' || mtime_ns || ' ' || parser || ' ' || hex(ifnull(tail_hash, ''))
from transcripts
"""
_MARKS = "select transcript_id, stamp from marks"
_NO_MARKS = f"{_MARKS} where 0"
_SIZES = "select id, offset from transcripts where id in (select value from json_each(?))"
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
    """Bring the search file that is there up to date for a plain `crusts index`; remove it where the user wants none.

    `only` names the transcripts that changed, where the file knew of all others; None = compare all. One of an older
    layout goes, until a search asks for it. Another process that is at it already is left to it. Raises CrustsError
    where it cannot be written.
    """
    path = search_path(settings.db)
    if not is_wanted(settings) or is_older(path):
        leave_nothing(path)
        return
    with closing(open_store(settings.db)) as store:
        update(store, path, only, timeout=0.0)


def update(
    store: sqlite3.Connection,
    path: str,
    only: "Iterable[int] | None" = None,
    *,
    timeout: float = TIMEOUT,
    is_damaged: bool = False,
    progress: "Progress | None" = None,
) -> bool:
    """Take what is new in the store into the search file at `path`; False if another process is doing so.

    A file that is missing, outdated, damaged or `is_damaged` by the caller's word is made again. `progress` is told of
    the transcripts' bytes whose texts are taken, and of those to be taken in all.
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
                    _take_all(store, search, None if only is None or _is_empty(search) else list(only), progress)
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


def leave_nothing(path: str) -> bool:
    """Remove the file: the next search makes it again. False if another process is at it; another program's stays."""
    if not is_ours(path):
        return True
    with held(search_lock(path), timeout=TIMEOUT) as is_mine:
        if is_mine:
            remove(path)
        return is_mine


def behind(store: sqlite3.Connection, path: str) -> tuple[int, int]:
    """Texts in the search file, and transcripts whose texts are still to be taken. Raises CrustsError."""
    try:
        with closing(read_only(path, TIMEOUT)) as search:
            marks = dict(search.execute(_MARKS))
            (texts,) = search.execute("select ifnull(sum(texts), 0) from marks").fetchone()
    except sqlite3.Error as error:
        raise explain(error, path) from error
    stamps = _stamps(store)
    return texts, sum(marks.get(one) != stamp for one, stamp in stamps.items())


def _is_empty(search: sqlite3.Connection) -> bool:
    return search.execute("select 1 from marks limit 1").fetchone() is None


def _take_all(
    store: sqlite3.Connection, search: sqlite3.Connection, only: list[int] | None, progress: "Progress | None"
) -> None:
    """Bring every transcript's texts up to date, or those of some, a batch of them a transaction."""
    store.execute("begin")  # one picture of the store, whoever writes to it meanwhile
    try:
        stamps = _stamps(store, only)
        marks = dict(search.execute(_MARKS if only is None else _NO_MARKS))
        if marks.keys() - stamps.keys():
            raise OutdatedError("transcripts that are no more")
        pending = [one for one, stamp in stamps.items() if marks.get(one) != stamp]
        if not pending:
            return
        sizes = dict(store.execute(_SIZES, (json.dumps(pending),))) if progress is not None else {}
        search.execute("begin immediate")
        taken = done = 0
        for one in pending:
            taken += _take(store, search, one, stamps[one])
            if progress is not None:
                done += sizes[one]
                progress(done, sum(sizes.values()))
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
    found = _texts(store, transcript << 40, ((transcript + 1) << 40) - 1)
    before = [one for one in found if one[0] <= last]
    if (len(before), _checksum(before)) != (texts, checksum):
        raise OutdatedError("texts that are no more")
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


def text_of(store: sqlite3.Connection, one: int) -> str:
    """What is searched of this block or tool use, as the store has it now: nothing if it is no more."""
    return "".join(text for _, text in _texts(store, one, one))


def _texts(store: sqlite3.Connection, low: int, high: int) -> list["Text"]:
    found: dict[int, str] = {}
    with explained(store):
        for one, text in store.execute(_TEXTS, {"low": low, "high": high}):
            found[one] = f"{found[one]} {text}" if one in found else text
    return list(found.items())


def _checksum(texts: "Iterable[Text]") -> int:
    total = 0
    for one, text in texts:
        total = zlib.crc32(text.encode("utf-8", "replace"), zlib.crc32(b"%d" % one, total))
    return total


@cache
def _unspaced() -> "re.Pattern[str]":
    """Scripts that put no spaces between words: each character is a word of its own, so that parts are found too.

    So wide an expression takes a fifth of an interpreter start to compile.
    """
    return re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def spaced(text: str) -> str:
    """The text as the search file has it: without escapes, and parted where a script puts no spaces."""
    if "\x1b" in text:
        text = _ESCAPE.sub(SEPARATOR, text)
    return text if text.isascii() else _unspaced().sub(rf"{SEPARATOR}\g<0>{SEPARATOR}", text)
