"""What the user's own history says of windows, ready-made: limits seen, buffers, growth and how far forecasts miss.

The table is empty at first; the next run that reads something fills it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring a store to this revision, within the caller's transaction."""
    op.create_table(
        "habits",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("since_ms", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("support", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "scope", "since_ms"),
        sqlite_with_rowid=False,
    )
