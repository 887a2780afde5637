"""The journal and the balances that it comes to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME, _KEY, _DIGEST = sa.String(63), sa.String(200), sa.String(64)
_BALANCES = ("granted", "refunded", "adjusted", "available", "frozen", "charged", "expired")
_NO_TRANSACTION = "0" * 64


def upgrade() -> None:
    """Make the tables, and the head of an empty journal."""
    _journal()
    _balances()
    _others()
    op.execute(
        f"INSERT INTO head (id, seq, at, digest) VALUES (1, 0, 0, '{_NO_TRANSACTION}')"  # noqa: S608
    )


def downgrade() -> None:
    """Remove them, with all that is in them."""
    for table in (
        *("prices", "projects", "debts", "freezes", "lots"),
        *("entries", "transactions", "head"),
    ):
        op.drop_table(table)


def _journal() -> None:
    op.create_table(
        "head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        _number("seq"),
        _number("at"),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.CheckConstraint("id = 1", op.f("ck_head_one")),
    )
    op.create_table(
        "transactions",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("key", _KEY, nullable=False),
        _number("at"),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.UniqueConstraint("key", name=op.f("uq_transactions_key")),
    )
    op.create_table(
        "entries",
        sa.Column(
            "seq",
            sa.BigInteger,
            sa.ForeignKey("transactions.seq", name=op.f("fk_entries_seq")),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("project", _NAME, nullable=False),
        sa.Column("user_name", _NAME, nullable=False),
        sa.Column("grant_id", _KEY, nullable=False),
        _number("amount"),
        sa.Column("freeze", _KEY, nullable=False),
        sa.CheckConstraint(
            "amount > 0 OR (amount < 0 AND kind = 'adjust')", op.f("ck_entries_amount")
        ),
    )


def _balances() -> None:
    op.create_table(
        "lots",
        sa.Column("project", _NAME, primary_key=True),
        sa.Column("user_name", _NAME, primary_key=True),
        sa.Column("grant_id", _KEY, primary_key=True),
        _number("starts"),
        _number("expires"),
        _number("base"),
        _number("untaken"),
        sa.Column("has_rolled", sa.Boolean, nullable=False),
        sa.Column("is_ended", sa.Boolean, nullable=False),
        *map(_number, _BALANCES),
        *(
            sa.CheckConstraint(f"{name} >= 0", op.f(f"ck_lots_{name}"))
            for name in _BALANCES
            if name != "adjusted"
        ),
        sa.CheckConstraint(
            "granted + refunded + adjusted = available + frozen + charged + expired",
            op.f("ck_lots_balance"),
        ),
    )
    op.create_table(
        "freezes",
        sa.Column("id", _KEY, primary_key=True),
        sa.Column("project", _NAME, nullable=False),
        sa.Column("user_name", _NAME, nullable=False),
        sa.Column("queue", _NAME, nullable=False),
        sa.Column("job", sa.String(253), nullable=False),
        _number("seconds"),
        sa.Column("purpose", sa.String(16), nullable=False),
        _number("amount"),
        _number("made"),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("is_open", sa.Boolean, nullable=False),
        _number("charged"),
        _number("refunded"),
        sa.CheckConstraint("0 <= charged AND charged <= amount", op.f("ck_freezes_charged")),
        sa.CheckConstraint("0 <= refunded AND refunded <= charged", op.f("ck_freezes_refunded")),
    )


def _others() -> None:
    op.create_table(
        "debts",
        sa.Column("project", _NAME, primary_key=True),
        sa.Column("user_name", _NAME, primary_key=True),
        _number("amount"),
        sa.CheckConstraint("amount >= 0", op.f("ck_debts_amount")),
    )
    op.create_table(
        "projects",
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("name", sa.String(253), nullable=False),
        sa.Column("shares", sa.Text, nullable=False),
        sa.Column("merged_into", _NAME, nullable=False),
    )
    op.create_table(
        "prices",
        sa.Column("model", _NAME, primary_key=True),
        sa.Column("since", sa.BigInteger, primary_key=True, autoincrement=False),
        _number("rate_milli"),
        sa.CheckConstraint("rate_milli >= 0", op.f("ck_prices_rate")),
    )


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)
