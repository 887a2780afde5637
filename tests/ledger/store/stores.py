"""What tests of a store begin with."""

from __future__ import annotations

from sqlalchemy import Engine

from tallyard.ledger.accounts import Account
from tallyard.ledger.store.store import Done, Store
from tests.ledger.ledgers import BEGIN, NOVEMBER


def begun(engine: Engine) -> Store:
    """A store with the two grants."""
    store = Store(engine, lambda: NOVEMBER)
    assert all(isinstance(outcome, Done) for outcome in store.do(BEGIN))
    return store


def available(store: Store, account: Account = Account("nlp")) -> int:  # noqa: B008
    with store.books() as books:
        return books.available(account, NOVEMBER)


def address_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)
