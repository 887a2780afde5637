"""What Alembic runs to migrate: the connection is handed over by `store/migrating.py`."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # SQLite changes a table by making it anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
