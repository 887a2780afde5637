from __future__ import annotations

import dataclasses

from tallyard.registry import lookup
from tallyard.registry.client import Limits, RegistryClient
from tallyard.registry.faults import Fault
from tallyard.registry.lookup import Found
from tallyard.registry.manifest import Artifact
from tallyard.registry.update import Change, Pin
from tests.registry.fake import FakeRegistry, image_index


def _pin(registry: FakeRegistry, name: str, digest: str = "unverified") -> Pin:
    return Pin(f"images.{name}", Artifact.IMAGE, f"{registry.host}/{name}", "v1", digest)


def _look_up(limits: Limits, *listed: Pin) -> tuple[Found, list[str]]:
    told: list[str] = []
    references = {pin.path: pin.reference() for pin in listed}
    with RegistryClient(limits) as client:
        return lookup.look_up(listed, references, client, told.append), told


def test_each_pin_gets_what_its_own_tag_names(registry: FakeRegistry, limits: Limits) -> None:
    a = registry.put("a", "v1", image_index("a")).digest
    b = registry.put("b", "v1", image_index("b")).digest
    found, told = _look_up(limits, _pin(registry, "a"), _pin(registry, "b"))
    assert found.digests == {"images.a": a, "images.b": b}
    assert not found.errors
    assert told == [f"1 of 2: {registry.host}/a:v1", f"2 of 2: {registry.host}/b:v1"]


def test_a_pin_that_fails_does_not_end_the_others(registry: FakeRegistry, limits: Limits) -> None:
    b = registry.put("b", "v1", image_index("b")).digest
    found, _ = _look_up(limits, _pin(registry, "a"), _pin(registry, "b"))
    assert found.digests == {"images.b": b}
    assert found.errors["images.a"].fault is Fault.NOT_FOUND


def test_a_silent_host_is_waited_for_once_and_other_hosts_are_still_asked(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.hang = True
    c = mirror.put("c", "v1", image_index("c")).digest
    listed = (_pin(registry, "a"), _pin(registry, "b"), _pin(mirror, "c"))
    found, _ = _look_up(dataclasses.replace(limits, read_seconds=1), *listed)
    assert found.digests == {"images.c": c}
    assert [error.fault for error in found.errors.values()] == [Fault.TIMEOUT, Fault.TIMEOUT]
    assert found.errors["images.b"].where == f"{registry.host}/b:v1"
    assert len(registry.requests) == 1


def test_pins_are_told_apart_by_what_their_new_digest_means(registry: FakeRegistry) -> None:
    one, two = image_index("one").digest, image_index("two").digest
    pins = (_pin(registry, "a"), _pin(registry, "b", one), _pin(registry, "c", one))
    found = Found(pins, {"images.a": one, "images.b": one, "images.c": two})
    assert found.changed(Change.FILLED) == (pins[0],)
    assert found.changed(Change.SAME) == (pins[1],)
    assert found.changed(Change.MOVED) == (pins[2],)
