"""A journal that an earlier program wrote is read, decided and written as it was.

`tests/data/ledger/journal-1.jsonl` has a command of each kind, by the first rules. It is never
written anew: where a change would need that, real journals could not be verified any more.
A new kind of command, or a new version of the rules, gets a file beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from sqlalchemy import Engine

from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.store.backup import backup, restore
from tallyard.ledger.store.verifying import verify

JOURNALS = sorted((Path(__file__).parents[2] / "data" / "ledger").glob("*.jsonl"))


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda file: file.name)
def test_an_earlier_journal_is_what_it_was(engine: Engine, journal: Path, tmp_path: Path) -> None:
    restore(engine, journal)
    verdict = verify(engine)
    assert verdict.faults == ()
    backup(engine, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == journal.read_bytes()


def test_they_have_a_command_of_each_kind() -> None:
    lines = (json.loads(line) for file in JOURNALS for line in file.open() if "command" in line)
    done = {line["transaction"]["command"]["do"] for line in lines}
    assert done == {kind.__struct_config__.tag for kind in get_args(AnyCommand.__value__)}
