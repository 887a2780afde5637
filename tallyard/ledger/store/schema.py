"""The tables, the same in both stores.

`transactions` and `entries` are the journal and are only added to. The others are what it
comes to, so that a process can begin without reading all of it; the database itself refuses
balances that cannot be. `uses` and `looks` are what was seen of the work.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from tallyard.ledger.bounds import KEY_LENGTH_MAX, NAME_LENGTH_MAX, OBJECT_LENGTH_MAX
from tallyard.ledger.lots import BALANCES, NEVER_NEGATIVE

NAME = String(NAME_LENGTH_MAX)
KEY = String(KEY_LENGTH_MAX)
OBJECT = String(OBJECT_LENGTH_MAX)
DIGEST = String(64)
# The version in which a table came, where that is not the first one.
SINCE = "since"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

# The last transaction; who writes holds this row.
head = Table(
    "head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("digest", DIGEST, nullable=False),
    CheckConstraint("id = 1", "one"),
)

transactions = Table(
    "transactions",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("key", KEY, nullable=False, unique=True),
    Column("at", BigInteger, nullable=False),
    Column("command", Text, nullable=False),
    Column("digest", DIGEST, nullable=False),
    Column("rules", Integer, nullable=False, server_default="1"),
)

entries = Table(
    "entries",
    metadata,
    Column("seq", BigInteger, ForeignKey("transactions.seq"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("project", NAME, nullable=False),
    Column("user_name", NAME, nullable=False),
    Column("grant_id", KEY, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("freeze", KEY, nullable=False),
    CheckConstraint("amount > 0 OR (amount < 0 AND kind = 'adjust')", "amount"),
)

lots = Table(
    "lots",
    metadata,
    Column("project", NAME, primary_key=True),
    Column("user_name", NAME, primary_key=True),
    Column("grant_id", KEY, primary_key=True),
    Column("starts", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("base", BigInteger, nullable=False),
    Column("untaken", BigInteger, nullable=False),
    Column("has_rolled", Boolean, nullable=False),
    Column("is_ended", Boolean, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in BALANCES),
    *(CheckConstraint(f"{name} >= 0", name) for name in NEVER_NEGATIVE),
    CheckConstraint(
        "granted + refunded + adjusted = available + frozen + charged + expired", "balance"
    ),
)

freezes = Table(
    "freezes",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("project", NAME, nullable=False),
    Column("user_name", NAME, nullable=False),
    Column("queue", NAME, nullable=False),
    Column("job", OBJECT, nullable=False),
    Column("seconds", BigInteger, nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("made", BigInteger, nullable=False),
    Column("parts", Text, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("charged", BigInteger, nullable=False),
    Column("refunded", BigInteger, nullable=False),
    CheckConstraint("0 <= charged AND charged <= amount", "charged"),
    CheckConstraint("0 <= refunded AND refunded <= charged", "refunded"),
)

debts = Table(
    "debts",
    metadata,
    Column("project", NAME, primary_key=True),
    Column("user_name", NAME, primary_key=True),
    Column("amount", BigInteger, nullable=False),
    CheckConstraint("amount >= 0", "amount"),
)

projects = Table(
    "projects",
    metadata,
    Column("id", NAME, primary_key=True),
    Column("name", OBJECT, nullable=False),
    Column("shares", Text, nullable=False),
    Column("merged_into", NAME, nullable=False),
)

prices = Table(
    "prices",
    metadata,
    Column("model", NAME, primary_key=True),
    Column("since", BigInteger, primary_key=True, autoincrement=False),
    Column("rate_milli", BigInteger, nullable=False),
    CheckConstraint("rate_milli >= 0", "rate"),
)

# What charges are counted from, and what a receipt shows: when pods ran, as it was seen. It is not of
# the journal, which has what was charged.
uses = Table(
    "uses",
    metadata,
    Column("pod", KEY, primary_key=True),
    Column("work", KEY, nullable=False),
    Column("pod_set", NAME, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("rate_milli", BigInteger, nullable=False),
    Column("began", BigInteger, nullable=False),
    Column("ended", BigInteger),
    Column("reason", KEY, nullable=False),
    Column("gaps", Text, nullable=False),
    CheckConstraint("ended IS NULL OR ended >= began", "ended"),
    info={SINCE: "0004"},
)

# The last moment at which all pods that ran were known.
looks = Table(
    "looks",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    CheckConstraint("id = 1", "one"),
    info={SINCE: "0004"},
)

# What statements and a beginning process look for.
indexes = (
    Index(None, entries.c.project, entries.c.user_name, entries.c.seq),
    Index(None, entries.c.freeze),
    Index(None, transactions.c.at),
    Index(None, freezes.c.is_open),
    Index(None, lots.c.is_ended),
    Index(None, uses.c.work),
    Index(None, uses.c.ended),
)
