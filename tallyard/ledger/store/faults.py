"""What the store raises: what failed, why, what to do.

StoreError
├── UnavailableError   it cannot be reached, or somebody else holds it
├── FullError          its disk is full
├── ReadOnlyError      it may not be written
├── CorruptError       it is not what was written
└── SchemaError        its tables are of another version
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tallyard.failures import one_line

_WORDS_MAX = 300


class StoreError(Exception):
    """Something of the store failed; nothing of the group was written, or all of it.

    Where a connection broke in the middle of a commit, which of the two is known only by
    asking again with the same keys, which is always safe.
    """

    what = "the ledger's store failed"
    advice = "See what it said; the same command again does no harm"

    def __init__(self, why: str = "") -> None:
        self.why = one_line(why, _WORDS_MAX)
        super().__init__(self.why)

    def __str__(self) -> str:
        """Return all parts as one sentence."""
        return f"{self.what}{': ' if self.why else ''}{self.why}. {self.advice}"


class UnavailableError(StoreError):
    """No answer, or another writer held it for too long."""

    what = "the ledger's store is not there"
    advice = "Nothing new is admitted until it is; see that the database runs and can be reached"


class FullError(StoreError):
    """The disk is full."""

    what = "the ledger's store cannot grow"
    advice = "Free some space on its disk; nothing of what was written is lost"


class ReadOnlyError(StoreError):
    """It may not be written."""

    what = "the ledger's store may not be written"
    advice = "See that this user may write it, and that the database is not a standby"


class CorruptError(StoreError):
    """What is read is not what was written."""

    what = "the ledger's store is damaged"
    advice = "Write nothing more; run `tally ledger verify`, and restore from a backup"


class SchemaError(StoreError):
    """The tables are of another version."""

    what = "the ledger's tables are of another version"
    advice = "Run `tally ledger migrate`"


# By the beginning of PostgreSQL's code (SQLSTATE), the longest first.
_CODES: tuple[tuple[str, type[StoreError]], ...] = (
    ("53100", FullError),
    ("25006", ReadOnlyError),
    ("42501", ReadOnlyError),
    ("42P01", SchemaError),
    ("42703", SchemaError),
    ("XX001", CorruptError),
    ("XX002", CorruptError),
    ("23", CorruptError),
    ("08", UnavailableError),
    ("53", UnavailableError),
    ("55P03", UnavailableError),
    ("57", UnavailableError),
)
# By what SQLite says.
_WORDS: tuple[tuple[str, type[StoreError]], ...] = (
    ("disk is full", FullError),
    ("readonly database", ReadOnlyError),
    ("unable to open", UnavailableError),
    ("locked", UnavailableError),
    ("malformed", CorruptError),
    ("not a database", CorruptError),
    ("constraint failed", CorruptError),
    ("no such table", SchemaError),
    ("no such column", SchemaError),
    ("disk i/o error", UnavailableError),
)


@contextmanager
def told() -> Iterator[None]:
    """Turn what SQLAlchemy and the databases raise into errors of the store.

    Raises:
        StoreError: What happened, by its kind.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise _kind_of(error)(str(getattr(error, "orig", None) or error)) from error


def _kind_of(error: SQLAlchemyError) -> type[StoreError]:
    original = getattr(error, "orig", None)
    code = getattr(original, "sqlstate", None) or ""
    found = next((kind for prefix, kind in _CODES if code.startswith(prefix)), None)
    said = str(original or error).lower()
    found = found or next((kind for words, kind in _WORDS if words in said), None)
    if found is None and isinstance(error, DBAPIError) and error.connection_invalidated:
        return UnavailableError
    return found or (UnavailableError if code == "" and _is_connecting(said) else StoreError)


def _is_connecting(said: str) -> bool:
    return any(word in said for word in ("connection", "connect", "server closed", "timeout"))
