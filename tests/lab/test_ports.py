"""Ports are chosen free, kept until they are used, and never shared."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lab import ports
from lab.ports import LOOPBACK, hold, hold_again, is_free, wait_free


def test_held_ports_are_different_and_taken_until_they_are_released() -> None:
    with hold(["a", "b", "c"]) as held:
        assert len(set(held.ports.values())) == 3
        assert not any(is_free(port) for port in held.ports.values())
        held.release("a")
        assert is_free(held.ports["a"])
        assert not is_free(held.ports["b"])
    assert is_free(held.ports["b"])


def test_two_who_choose_at_once_get_different_ports() -> None:
    names = [str(n) for n in range(50)]
    with hold(names) as one, hold(names) as two:
        assert not set(one.ports.values()) & set(two.ports.values())


def test_ports_lie_below_those_of_outgoing_connections() -> None:
    lowest_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    with hold(["a"]) as held:
        assert held.ports["a"] < lowest_outgoing


def test_of_earlier_ports_only_the_free_ones_are_held_again() -> None:
    with hold(["mine", "lost"]) as first:
        before = dict(first.ports)
        first.release("mine")
        with hold_again(before) as again:
            assert dict(again.ports) == {"mine": before["mine"]}


def test_a_port_whose_last_connection_still_closes_is_free_for_a_server() -> None:
    """The side that closes first keeps the port in TIME_WAIT for a minute."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((LOOPBACK, 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection((LOOPBACK, port)) as client:
            accepted, _ = server.accept()
            accepted.close()
            assert client.recv(1) == b""
    assert is_free(port)


def test_a_port_that_stays_taken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_CLOSING_SECONDS_MAX", 0.1)
    with hold(["a", "b"]) as held:
        held.release("a")
        assert wait_free(list(held.ports.values())) == {held.ports["b"]}
