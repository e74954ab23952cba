"""What a store has promised its user and may still owe: that text, or sessions, are nowhere any more. Spec: D16.

Taking rows out is one transaction; the search file, copies of the store, our small files, free pages and the log come
after it. So the promise is written down in that transaction, and stays until all of it is done: whoever writes next
goes on with it, should this process be killed.
"""

import time

from crusts_index.store.driver import sqlite3

TEXT, SESSIONS = "text", "sessions"
"""What is promised to be nowhere: any text, or those sessions that are forgotten."""
KEPT_TEXT, NO_TEXT = "kept", "none"

_FACTS = "select name, value from store_facts where name in ('promise', 'text')"
_NOTE_TEXT = """
insert into store_facts (name, value) values ('text', ?1)
on conflict (name) do update set value = ?1 where value <> ?1
"""
_PROMISE = "insert or replace into store_facts (name, value) values ('promise', ?)"
_KEEP = "delete from store_facts where name = 'promise' and value = ?"


class Promises:
    """What a store says of them."""

    __slots__ = ("has_text", "owed")

    def __init__(self, store: sqlite3.Connection) -> None:
        facts: dict[str, str] = dict(store.execute(_FACTS))
        self.owed = facts.get("promise")
        """What is owed, with the moment it was promised; None for nothing."""
        self.has_text = facts.get("text") != NO_TEXT
        """Whether it may hold text: nobody took it out, or some was written since."""

    @property
    def kind(self) -> str | None:
        """What is owed: TEXT, SESSIONS or None."""
        return self.owed.partition(" ")[0] if self.owed else None


def note_text(store: sqlite3.Connection, value: str = KEPT_TEXT) -> None:
    """Note that text is written, or that there is none; to be called in the transaction that makes it so."""
    store.execute(_NOTE_TEXT, (value,))


def promise(store: sqlite3.Connection, what: str) -> None:
    """Promise it, in the caller's transaction. What was promised before is owed still: all text is more than some."""
    if what == SESSIONS and Promises(store).kind == TEXT:
        what = TEXT
    store.execute(_PROMISE, (f"{what} {time.time_ns()}",))


def keep(store: sqlite3.Connection, owed: str) -> None:
    """A promise is kept, unless another was made since; in the caller's transaction."""
    store.execute(_KEEP, (owed,))
