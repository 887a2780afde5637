"""A process that writes a ledger and may be killed at any moment; `ledger.py` tells it what.

It reads groups as lines of JSON, `{"at": seconds, "commands": [text, ...]}`, and answers each by
a line `{"outcomes": [...]}` when the group is on the disk, or by `{"error": kind}`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from sqlalchemy import event

from tallyard.ledger.store.engine import engine_of, is_sqlite
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.transactions import command_of


def main() -> None:
    """Do groups until the input ends."""
    address, pages_max = sys.argv[1], int(sys.argv[2])
    engine = engine_of(address)
    if pages_max and is_sqlite(engine):

        def limit(connection: Any, _: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages_max}").close()

        event.listen(engine, "connect", limit)
    moment = [0]
    store = Store(engine, lambda: moment[0])
    for line in sys.stdin:
        group = json.loads(line)
        moment[0] = group["at"]
        try:
            outcomes = store.do([command_of(each) for each in group["commands"]])
        except StoreError as error:
            answer: dict[str, Any] = {"error": type(error).__name__, "why": str(error)}
        else:
            answer = {"outcomes": [said(outcome) for outcome in outcomes]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def said(outcome: Outcome) -> list[Any]:
    """Return an outcome as a line can hold it: the transaction's number, or the refusal."""
    if isinstance(outcome, Done):
        return ["done", outcome.transaction.seq]
    return ["refused", repr(outcome)]


if __name__ == "__main__":
    main()
