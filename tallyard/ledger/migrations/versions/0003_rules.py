"""By which rules a transaction was decided."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the version; all that is there is of the first rules."""
    rules = sa.Column("rules", sa.Integer, nullable=False, server_default="1")
    op.add_column("transactions", rules)


def downgrade() -> None:
    """Remove it."""
    op.drop_column("transactions", "rules")
