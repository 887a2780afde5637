"""Where the books are kept: one schema in SQLite or PostgreSQL, written by one writer at a time.

Nothing is decided here. A writer holds the head's row, catches up with the journal, lets the
core decide, and writes what that came to: all of a group of commands in one transaction.
"""
