"""Some processes at once; 32 of them with 1,000 freezes each are `make soak-crowd`."""

from __future__ import annotations

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger.keepers import emptied
from tests.ledger.postgresql import PostgresServer
from tests.soak.ledger_crowd import crowd


def test_processes_that_freeze_at_once_never_exceed_anything(server: PostgresServer) -> None:
    engine = engine_of(server.get_uri())
    migrate(engine)
    emptied(engine)
    result = crowd(server.get_uri(), processes=4, freezes=60)
    assert not result.faults
    # That there was something to exceed.
    assert result.told["OverCap"] + result.told["NotEnough"] > 50
    assert result.told["frozen"] > 50
