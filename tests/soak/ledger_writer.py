"""A process that writes a ledger and may be killed at any moment; `ledger_process.py` starts it.

It reads groups as lines of JSON, `{"at": seconds, "commands": [text, ...], "dies": point}`, and
answers each by a line `{"outcomes": [...]}` when the group is on the disk, or by
`{"error": kind, "why": text}`; where it is told a point at which to die, it does so there.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from sqlalchemy import event

from tallyard.ledger.store.engine import engine_of, is_sqlite
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.transactions import command_of
from tests.soak.ledger_points import Crash, Point


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
    crash = Crash(engine)
    for line in sys.stdin:
        group = json.loads(line)
        moment[0] = group["at"]
        crash.point = Point(group["dies"]) if group["dies"] else None
        sys.stdout.write(json.dumps(_answer(store, group["commands"], crash)) + "\n")
        sys.stdout.flush()


def _answer(store: Store, commands: list[str], crash: Crash) -> dict[str, Any]:
    try:
        outcomes = store.do([command_of(each) for each in commands])
    except Exception as error:  # noqa: BLE001 - whatever it is, the life tells it with its seed
        return {"error": type(error).__name__, "why": str(error)}
    crash.at_answer()
    return {"outcomes": [said(outcome) for outcome in outcomes]}


def said(outcome: Outcome) -> list[Any]:
    """Return an outcome as a line can hold it: the transaction's number, or the refusal."""
    if isinstance(outcome, Done):
        return ["done", outcome.transaction.seq]
    return ["refused", repr(outcome)]


if __name__ == "__main__":
    main()
