"""Bringing a store's tables to a version, and knowing which they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text

from tallyard.ledger import migrations
from tallyard.ledger.store import schema, whys
from tallyard.ledger.store.engine import reads, writes
from tallyard.ledger.store.faults import CorruptError, NewerError, SchemaError, StrangerError

# Before the first step.
NOTHING = "base"
# Alembic's own table.
_VERSIONS = "alembic_version"
_NUMBER = re.compile(r"[0-9]{4}")
# So many names tell whose a database is.
_NAMES_MAX = 5


def newest() -> str:
    """Return the version that this program works with."""
    (found,) = _scripts().get_heads()
    return found


def version(engine: Engine) -> str:
    """Return the version of a store's tables, `NOTHING` for an empty database.

    Raises:
        NewerError: This program does not know the version.
        StrangerError: The database is another program's.
        CorruptError: Tables are missing, or none says of which version they are.
        StoreError: It cannot be read.
    """
    with reads(engine) as connection:
        return _version(connection)


def migrate(engine: Engine, target: str = "head") -> None:
    """Bring a store to a version, all of the way or not at all.

    Args:
        engine: The store.
        target: A version, `head` for the newest, `base` for none: then all that was in it is gone.

    Raises:
        StoreError: The database is not one of ours to change, or refused a step.
    """
    # Before anything is written: a writer changes a file in the way in which it is kept.
    version(engine)
    with writes(engine) as connection:
        config = _config(connection)
        found = _version(connection)
        here = "" if found == NOTHING else found
        wanted = newest() if target == "head" else "" if target == NOTHING else target
        # Versions are numbers of four digits.
        (command.upgrade if wanted >= here else command.downgrade)(config, target)


def require_newest(engine: Engine) -> None:
    """Refuse to work with tables of another version.

    Raises:
        SchemaError: There are none, or they are older, or newer than this program.
        StoreError: As `version` says.
    """
    found, wanted = version(engine), newest()
    if found == NOTHING:
        raise SchemaError(whys.NO_TABLES)
    if found != wanted:
        raise SchemaError(whys.OTHER_VERSION(found, wanted))


def _version(connection: Connection) -> str:
    tables = set(inspect(connection).get_table_names())
    ours = tables & set(schema.metadata.tables)
    found = _rows(connection) if _VERSIONS in tables else []
    if not ours and (tables - {_VERSIONS} or found):
        some = ", ".join(sorted(tables)[:_NAMES_MAX])
        raise StrangerError(whys.NONE_OF_OURS(some))
    if not ours:
        return NOTHING
    if len(found) != 1:
        told = f"has {len(found)} rows" if _VERSIONS in tables else "is not there"
        raise CorruptError(whys.BAD_VERSIONS(_VERSIONS, told))
    return _known(found[0], schema.metadata.tables.keys() - ours)


def _known(found: str, missing: Iterable[str]) -> str:
    """Return a version that the tables are really of, as far as their names tell."""
    if _NUMBER.fullmatch(found) and found > newest():
        raise NewerError(whys.OTHER_VERSION(found, newest()))
    if found not in {step.revision for step in _scripts().walk_revisions()}:
        raise CorruptError(whys.NO_VERSION(found))
    gone = [name for name in sorted(missing) if _since(name) <= found]
    if gone:
        raise CorruptError(whys.TABLES_GONE(", ".join(gone)))
    return found


def _since(table: str) -> str:
    """Return the version in which a table came; versions are numbers of four digits."""
    return str(schema.metadata.tables[table].info.get(schema.SINCE, ""))


def _rows(connection: Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute(text(f"SELECT * FROM {_VERSIONS}"))]  # noqa: S608


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    return config
