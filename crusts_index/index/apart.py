"""Reads one transcript into a store of its own, which is gone when it is closed: where the user's cannot be written."""

import os
import shutil
import tempfile

from crusts_index.errors import CrustsError, ignored
from crusts_index.index.leftovers import apart_prefix, clear_apart
from crusts_index.index.refresh import index_named, keeps_text
from crusts_index.index.summary import Options
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import demand_regular, open_store, uri
from crusts_index.store.settings import Settings
from crusts_index.store.upgrade import ensure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.claude.roots import Root

_PATIENCE = 0.1
"""Seconds to wait for the user's store."""
_LEARNED = ("weights", "habits", "payload_facts", "surroundings")
"""What a window is judged by besides its transcript, in tables that name no row of another one."""
_PASTED = """
insert or ignore into main.context_reports
select r.id, (select o.id from main.sessions as o where o.session_id = s.session_id),
       r.time_ms, r.model, r.version, r.used_tokens, r.window_tokens, r.rows
from user.context_reports as r left join user.sessions as s on s.id = r.session_id
where r.id < 0
"""


def read_apart(settings: Settings, path: str, roots: "list[Root] | None", seconds: float) -> sqlite3.Connection:
    """A store of one transcript, or as much of it as is read in so many seconds, and of what the user's own knows that
    a window is judged by. Raises CrustsError."""
    folder = tempfile.mkdtemp(prefix=apart_prefix())
    try:
        apart = Settings(**{**vars(settings), "home": folder, "db": os.path.join(folder, "index.db")})
        options = Options(jobs=0, keep_text=keeps_text(settings), kind="apart", seconds=seconds)
        ensure(apart.db, timeout=seconds)
        store = open_store(apart.db, write=True, timeout=_PATIENCE)
        try:
            _take_along(store, settings.db)  # weights count as it is read
            index_named(apart, [path], options, timeout=seconds, roots=roots)
            _take_along(store, settings.db)  # habits not by this transcript alone
        except BaseException:
            store.close()
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # who has it open reads on
        clear_apart(os.path.dirname(folder))
    return store


def _take_along(store: sqlite3.Connection, db: str) -> None:
    """Copy what the user's store has learned; without one that can be read, what the transcript says must do."""
    if not os.path.exists(db):
        return
    with ignored(CrustsError, sqlite3.Error):
        demand_regular(db)
        store.execute("attach ? as user", (uri(db, "mode=ro"),))
        try:
            for table in _LEARNED:
                store.execute(f"delete from main.{table} where exists (select 1 from user.{table})")
                store.execute(f"insert or ignore into main.{table} select * from user.{table}")
            store.execute(_PASTED)
        finally:
            store.execute("detach user")
