"""Asks the search file: which texts match what the user typed, and how they read around the matches."""

import os
import re
import sqlite3
from contextlib import closing

from crusts_index.errors import CrustsError
from crusts_index.store.open import explain, read_only
from crusts_index.store.search import SEPARATOR, spaced, text_of, update
from crusts_index.store.search_file import ALIEN, TIMEOUT, TOKENS, is_damage, is_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARKS = ("\U0010fff0", "\U0010fff1")
"""What stands before and behind a match in a preview: two characters that no text uses."""
MOST_TERMS = 64
_SHOWN = f"create virtual table shown using fts5 (text, {TOKENS})"
_PREVIEW = "select rowid, snippet(shown, 0, ?, ?, '…', 24) from shown where shown match ?"
_TERM = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')


def match_of(text: str) -> str | None:
    """What the user typed as an FTS5 query: all words must occur; None if there is no word in it.

    `"…"` is a phrase, a `*` at the end of a word or phrase stands for any ending. Nothing else is syntax.
    """
    terms = []
    for phrase, star, word in _TERM.findall(text.encode("utf-8", "replace").decode()):
        term = word.rstrip("*") if word else phrase
        if any(character.isalnum() for character in term):
            ending = " *" if star or word.endswith("*") else ""
            terms.append(f'"{spaced(term)}"{ending}')
    return " AND ".join(list(dict.fromkeys(terms))[:MOST_TERMS]) or None


def find(store: sqlite3.Connection, path: str, match: str) -> list[int]:
    """Ids of the blocks and tool uses whose text matches; a damaged search file is made again. Raises CrustsError."""
    try:
        return _find(path, match)
    except sqlite3.Error as error:
        if os.path.exists(path):  # else another process took it away just now
            if not is_ours(path):
                raise CrustsError(ALIEN.format(path)) from error
            if not is_damage(error):
                raise explain(error, path) from error
    update(store, path, is_damaged=True)
    try:
        return _find(path, match)
    except sqlite3.Error as error:
        raise explain(error, path) from error


def _find(path: str, match: str) -> list[int]:
    with closing(read_only(path, TIMEOUT)) as search:
        return [row[0] for row in search.execute("select rowid from words where words match ?", (match,))]


def previews(store: sqlite3.Connection, match: str, ids: "Iterable[int]") -> dict[int, str]:
    """Around the first matches in each of these texts, with MARKS about them; none for a text that matches no more.

    The search file has no texts: those of the store are asked, among themselves. Raises CrustsError.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute(_SHOWN)
        texts = ((one, spaced(text_of(store, one))) for one in ids)
        memory.executemany("insert into shown (rowid, text) values (?, ?)", texts)
        return {one: text.replace(SEPARATOR, "") for one, text in memory.execute(_PREVIEW, (*MARKS, match))}
