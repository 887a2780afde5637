from __future__ import annotations

import pytest

from tallyard.registry import refusal
from tallyard.registry.faults import Fault, RegistryError


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, Fault.DENIED),
        (403, Fault.DENIED),
        (404, Fault.NOT_FOUND),
        (429, Fault.BUSY),
        (500, Fault.SERVER),
        (504, Fault.SERVER),
        (400, Fault.REFUSED),
        (304, Fault.REFUSED),
    ],
)
def test_every_status_has_its_case(status: int, fault: Fault) -> None:
    assert refusal.of_status(status) is fault


def test_every_case_says_what_happened_and_what_to_do() -> None:
    for fault in Fault:
        error = RegistryError(fault, "registry.example.com/app:v1", "seen")
        assert str(error) == f"registry.example.com/app:v1: {error.what} (seen). {error.todo}"
        assert error.what
        assert error.todo.endswith(".")


def test_a_wait_is_read_in_seconds_and_a_date_is_left_alone() -> None:
    assert refusal.wait_seconds({"retry-after": "12"}) == 12
    assert refusal.wait_seconds({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}) is None
    assert refusal.wait_seconds({"retry-after": "-1"}) is None
    assert refusal.wait_seconds({}) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"errors": [{"code": "A", "message": "b"}, {"code": "C"}]}', ", A: b"),
        (b'{"errors": [{"message": "only this"}]}', ", only this"),
        (b'{"errors": []}', ""),
        (b'{"errors": ["text"]}', ""),
        (b'{"errors": 1}', ""),
        (b"[]", ""),
        (b"<html>", ""),
        (b"", ""),
    ],
)
def test_the_registrys_own_reason_is_told_where_it_has_one(body: bytes, said: str) -> None:
    assert refusal.reason(body) == said


def test_text_from_outside_is_one_short_line_of_printable_characters() -> None:
    line = refusal.one_line("a\x1b[2J\n\u202eb" + "x" * 1000)
    assert line.startswith("a [2J b")
    assert line.isprintable()
    assert len(line) == 200
