"""The second store: narrow tables, facts of newer versions, two integers a block, sums."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_REPLACED = "texts tool_loads preserved removals attachments compactions blocks tool_uses api_calls responses records"


def upgrade() -> None:
    """Bring a store to this revision, within the caller's transaction."""
    tables = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    for table in _REPLACED.split():
        op.execute(f"drop table {table}")
    for statement in tables.split(";\n"):
        if statement.strip():
            op.execute(statement)
    op.execute("alter table sessions add column repo text")
