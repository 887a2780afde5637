"""What names a store, and a server that does not answer."""

from __future__ import annotations

import socket
import time
import warnings
from pathlib import Path

import pytest

from tallyard.ledger.store import engine as engine_module
from tallyard.ledger.store.engine import engine_of, reads
from tallyard.ledger.store.faults import AddressError, StoreError, UnavailableError


@pytest.mark.parametrize(
    "address",
    [
        *("", ":memory:", "file:x.db", "file:x.db?mode=ro", Path(":memory:")),
        *("sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x.db?mode=ro&uri=true"),
        *("sqlite:///led.db?foo=bar", "sqlite:///led.db?mode=rw", "sqlite://led.db"),
    ],
)
def test_what_would_keep_nothing_is_no_store(
    address: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AddressError):
            engine_of(address)
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_no_server_has_is_an_address_that_is_wrong() -> None:
    with (
        pytest.raises(AddressError, match="foo"),
        reads(engine_of("postgresql://u@127.0.0.1:1/x?foo=bar")),
    ):
        pass


def test_a_server_that_accepts_and_says_nothing_is_told_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_module, "CONNECT_SECONDS_MAX", 2)
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        silent = engine_of(f"postgresql://u@127.0.0.1:{deaf.getsockname()[1]}/x")
        begun = time.monotonic()
        with pytest.raises(UnavailableError, match="is not there"), reads(silent):
            pass
    assert time.monotonic() - begun < 30


def test_a_connection_that_is_cut_off_is_noticed_and_the_address_has_the_last_word() -> None:
    told: list[dict[str, object]] = []

    def caught(_dialect: object, _record: object, _: object, options: dict[str, object]) -> None:
        told.append(options)
        raise RuntimeError

    from sqlalchemy import event  # noqa: PLC0415

    for address in ("postgresql://u@h/x", "postgresql://u@h/x?connect_timeout=77&keepalives=0"):
        engine = engine_of(address)
        event.listen(engine, "do_connect", caught)
        with pytest.raises(RuntimeError):
            engine.connect()
    usual, said = told
    assert (usual["connect_timeout"], usual["keepalives"]) == (10, 1)
    assert usual["tcp_user_timeout"] == 30_000
    assert (str(said["connect_timeout"]), str(said["keepalives"])) == ("77", "0")


def test_a_host_that_has_no_address_is_not_there() -> None:
    with pytest.raises(StoreError) as caught, reads(engine_of("postgresql://u@no.invalid/x")):
        pass
    assert isinstance(caught.value, UnavailableError)
