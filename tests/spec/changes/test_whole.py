"""Whatever differs between two platforms is told, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any

import pytest

from tallyard.spec.changes.change import (
    Presence,
    compared,
)
from tallyard.spec.changes.facts import KINDS, Fact
from tallyard.spec.changes.whole import changes
from tallyard.spec.model import Node, Project
from tallyard.spec.waiver import Waiver
from tests.spec.changes.conftest import NOW, Load, override_until


def test_the_same_platform_differs_in_nothing(loaded: Load) -> None:
    found = changes(loaded(), loaded(), NOW)
    assert found.environment is Presence.SAME
    assert not found.budget.differs
    differing = ("renames", "tiers", "projects", "everybody", "hosts", "moves", "supply", "waivers")
    assert [getattr(found, name) for name in differing] == [()] * len(differing)
    assert (found.slices, found.zone_before, found.zone_after) == ({}, "UTC", "UTC")


def test_of_no_platform_at_all_nothing_can_be_said() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        changes(None, None, NOW)


def test_what_borrows_its_cards_says_nothing_of_how_they_are_shared(loaded: Load) -> None:
    more = "  spare: {borrows-from: domestic, priority: elastic}\ndefaults"
    (pool,) = changes(loaded(), loaded(("defaults", more)), NOW).everybody
    assert Fact.SHARING not in {each.fact for each in pool.changes}


def test_memory_that_is_only_written_otherwise_is_the_same(loaded: Load) -> None:
    after = loaded(local=(("memory: 1Ti", "memory: 1024Gi"),))
    assert changes(loaded(), after, NOW).environment is Presence.SAME


def test_an_environment_that_comes_is_told_in_full(loaded: Load) -> None:
    come, gone = changes(None, loaded(), NOW), changes(loaded(), None, NOW)
    assert (come.environment, gone.environment) == (Presence.ADDED, Presence.REMOVED)
    assert len(come.projects) == len(gone.projects) == 2
    assert sum(each.hosts_after for each in come.hosts) == 5
    assert {each.before.installed for each in come.supply} == {0}


def test_every_fact_has_one_meaning() -> None:
    assert set(KINDS) <= set(Fact)
    assert compared({(Fact.BURST, ()): None}, {}) == ()


# A text of memory beside its bytes, and what follows from other fields.
# And where a waiver stands.
_DERIVED = {
    (Node, "memory"),
    (Project, "limits"),
    (Waiver, "path"),
    (Waiver, "is_of_environment"),
}


def _variants(value: Any, path: str = "platform") -> Iterator[tuple[str, Any]]:
    """Yield a platform's value with each single leaf of it changed."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            for where, other in _variants(item, f"{path}[{index}]"):
                yield where, (*value[:index], other, *value[index + 1 :])
        if value:
            yield f"{path}[]", value[:-1]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for where, other in _variants(item, f"{path}.{key}"):
                yield where, {**value, key: other}
    elif is_dataclass(value):
        yield from _variants_of_fields(value, path)
    else:
        yield path, _other(value, path)


def _other(value: Any, path: str) -> Any:
    match value:
        case bool():
            return not value
        case Enum():
            return next(each for each in type(value) if each is not value)
        case int():
            return value + 1
        case str():
            return f"1{value}" if value.endswith("Gi") else f"{value}x"
        case datetime():
            return value.replace(year=value.year + 1)
    return _SET.get(path.rpartition(".")[2], 7)


def _variants_of_fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        if (type(value), field.name) not in _DERIVED:
            for where, other in _variants(getattr(value, field.name), f"{path}.{field.name}"):
                yield where, replace(value, **{field.name: other})


_SET = {"registry": "r", "default_user": "u", "borrows_from": "p", "links": "pcie", "model": "m"}


# What is also the key under which it is found, a project's tier, which is told by itself, and
# the bytes of a card's memory, whose text is told.
_TOLD_ELSEWHERE = re.compile(
    r"platform\.((accelerators|priorities|pools|tiers)\.[^.]+\.name"
    r"|projects\.[^.]+\.tier\..*|accelerators\.[^.]+\.memory_bytes|pools\.[^.]+\.priority\.(value|preemptible)"
    # What borrows has no cards of its own to share.
    r"|pools\.elastic\.slices)"
)


def test_whatever_differs_in_a_platform_is_told(loaded: Load) -> None:
    """A key that the spec grows and the diff forgets would be called no difference."""
    resources = "20Gi, resources: {x.example/nic: 1}}\nuncounted: [x.example/]"
    waiver = "{rule: images-pinned, objects: [Job/a/b], reason: r, until: 2026-12-31}"
    waived = ("\ntiers", f"\nwaivers: [{waiver}]\ntiers")
    before = loaded(("20Gi}", resources), override_until("2026-12-31"), waived)
    silent, told = [], 0
    for path, after in _variants(before):
        if not _TOLD_ELSEWHERE.fullmatch(path):
            told += 1
            if changes(before, after, NOW).environment is not Presence.CHANGED:
                silent.append(path)
    assert silent == []
    assert told > 150
