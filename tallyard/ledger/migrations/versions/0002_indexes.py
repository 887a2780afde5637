"""What statements and a beginning process look for."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_INDEXES = (
    ("entries", ("project", "user_name", "seq")),
    ("entries", ("freeze",)),
    ("transactions", ("at",)),
    ("freezes", ("is_open",)),
    ("lots", ("is_ended",)),
)


def upgrade() -> None:
    """Make the indexes."""
    for table, columns in _INDEXES:
        op.create_index(_name(table, columns), table, list(columns))


def downgrade() -> None:
    """Remove them."""
    for table, columns in reversed(_INDEXES):
        op.drop_index(_name(table, columns), table)


def _name(table: str, columns: tuple[str, ...]) -> str:
    return op.f(f"ix_{table}_{'_'.join(columns)}")
