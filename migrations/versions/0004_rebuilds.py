"""What each response sent again although it had been cached, and where Claude Code's version changed.

Rebuilds follow from other rows and are made with the sums, also for transcripts that are gone; versions come as
transcripts are read again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring a store to this revision, within the caller's transaction."""
    op.create_table(
        "stored_rebuilds",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("rebuilt_tokens", sa.Integer(), nullable=False),
        sa.Column("gap_ms", sa.Integer(), nullable=True),
        sa.Column("changes", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("response_id"),
    )
    op.create_table(
        "stored_version_starts",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("record_id"),
    )
