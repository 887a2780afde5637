"""Bringing a store's tables to a version, and knowing which they are."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from tallyard.ledger import migrations
from tallyard.ledger.store.engine import reads, writes
from tallyard.ledger.store.faults import SchemaError

# Before the first step.
NOTHING = "base"


def newest() -> str:
    """Return the version that this program works with."""
    (found,) = ScriptDirectory.from_config(_config()).get_heads()
    return found


def version(engine: Engine) -> str:
    """Return the version of a store's tables.

    Raises:
        StoreError: It cannot be read.
    """
    with reads(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision() or NOTHING


def migrate(engine: Engine, target: str = "head") -> None:
    """Bring a store to a version, all of the way or not at all.

    Args:
        engine: The store.
        target: A version, `head` for the newest, `base` for none: then all that was in it is gone.

    Raises:
        StoreError: The database refused a step.
    """
    with writes(engine) as connection:
        config = _config(connection)
        here = MigrationContext.configure(connection).get_current_revision() or ""
        wanted = newest() if target == "head" else "" if target == NOTHING else target
        # Versions are numbers of four digits.
        (command.upgrade if wanted >= here else command.downgrade)(config, target)


def require_newest(engine: Engine) -> None:
    """Refuse to work with tables of another version.

    Raises:
        SchemaError: They are older, or newer than this program.
    """
    found, wanted = version(engine), newest()
    if found != wanted:
        raise SchemaError(f"they are of {found}, and this program works with {wanted}")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    return config
