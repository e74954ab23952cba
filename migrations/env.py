"""How Alembic reaches a store: the connection crusts hands it, or one for developers.

    alembic check                                      is schema.py the same as what the migrations make?
    alembic revision --autogenerate --rev-id 0002 -m "why"
    alembic -x store=FILE upgrade head                 lay or upgrade the store in FILE

Without `-x store=FILE` developers get a store in memory, brought to the newest revision first, so that
`check` and `revision` need none on disk and none of the user's is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import context
from alembic.migration import MigrationContext
from alembic.operations import Operations

from crusts_index.index.habits import settle_habits
from crusts_index.index.sums import settle_all_sums
from crusts_index.store.schema import metadata
from crusts_index.store.upgrade import lay_views, upgrading

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Connection


def bring_up(connection: Connection) -> None:
    """Migrate a store, and make again what follows from its rows by the code of today: no script may do that."""
    migrate(connection)
    store: sqlite3.Connection = connection.connection.driver_connection
    lay_views(store)
    settle_all_sums(store)
    settle_habits(store)


def migrate(connection: Connection) -> None:
    """Run what Alembic was asked for, in the caller's transaction."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,  # SQLite alters little in place
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():  # an outer one is there, so this begins none
        context.run_migrations()


def lay_newest(connection: Connection) -> None:
    """Bring an empty store to the newest revision, whatever Alembic was asked for."""
    script = context.script
    laying = MigrationContext.configure(
        connection,
        opts={"fn": lambda revision, _: script._upgrade_revs("head", revision)},  # noqa: SLF001 - as `alembic upgrade` does
    )
    with Operations.context(laying):
        laying.run_migrations()


if context.is_offline_mode():
    raise SystemExit("crusts' migrations run on a store, not as a script: leave out --sql")

given = context.config.attributes.get("connection")
if given is not None:
    bring_up(given)
else:
    named = context.get_x_argument(as_dictionary=True).get("store")
    with upgrading(named or ":memory:") as developers:
        if named:
            bring_up(developers)
        else:
            lay_newest(developers)
            migrate(developers)
