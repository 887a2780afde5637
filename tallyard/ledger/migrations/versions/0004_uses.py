"""When pods ran, as it was seen, and when all that ran was last known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NAME, _KEY = sa.String(63), sa.String(200)


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "uses",
        sa.Column("pod", _KEY, primary_key=True),
        sa.Column("work", _KEY, nullable=False),
        sa.Column("pod_set", _NAME, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("rate_milli", sa.BigInteger, nullable=False),
        sa.Column("began", sa.BigInteger, nullable=False),
        sa.Column("ended", sa.BigInteger),
        sa.Column("reason", _KEY, nullable=False),
        sa.Column("gaps", sa.Text, nullable=False),
        sa.CheckConstraint("ended IS NULL OR ended >= began", op.f("ck_uses_ended")),
    )
    op.create_table(
        "looks",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", op.f("ck_looks_one")),
    )
    op.create_index(op.f("ix_uses_work"), "uses", ["work"])
    op.create_index(op.f("ix_uses_ended"), "uses", ["ended"])


def downgrade() -> None:
    """Remove them; what was seen is gone, what was charged is not."""
    op.drop_table("looks")
    op.drop_table("uses")
