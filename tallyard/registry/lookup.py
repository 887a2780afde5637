"""Looking up all pins, one after the other, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tallyard.registry.client import RegistryClient
from tallyard.registry.faults import Fault, RegistryError
from tallyard.registry.reference import Reference
from tallyard.registry.update import Change, Pin

# A host that could not be reached for one pin is not asked for the next one.
_HOST_IS_DOWN = frozenset({Fault.UNREACHABLE, Fault.TIMEOUT, Fault.TLS})


@dataclass(frozen=True)
class Found:
    """What the registries said: a digest or an error for every pin."""

    pins: tuple[Pin, ...]
    digests: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, RegistryError] = field(default_factory=dict)

    def changed(self, change: Change) -> tuple[Pin, ...]:
        """Return the pins whose new digest is such a change."""
        found = (pin for pin in self.pins if pin.path in self.digests)
        return tuple(pin for pin in found if pin.change(self.digests[pin.path]) is change)


def look_up(
    listed: tuple[Pin, ...],
    references: Mapping[str, Reference],
    client: RegistryClient,
    note: Callable[[str], None],
) -> Found:
    """Ask the registries for the digest of every pin; a failed one does not end the others.

    Args:
        listed: The pins, in the order in which they are asked.
        references: What to ask for, by the path of the pin.
        client: An open client.
        note: Is told which pin is being asked for, for somebody who waits.
    """
    digests: dict[str, str] = {}
    errors: dict[str, RegistryError] = {}
    down: dict[str, RegistryError] = {}
    for number, pin in enumerate(listed, start=1):
        reference = references[pin.path]
        note(f"{number} of {len(listed)}: {reference}")
        try:
            if reference.host in down:
                raise _same(down[reference.host], reference)
            digests[pin.path] = client.digest(reference, pin.artifact)
        except RegistryError as error:
            errors[pin.path] = error
            if error.fault in _HOST_IS_DOWN:
                down[reference.host] = error
    return Found(listed, digests, errors)


def _same(error: RegistryError, reference: Reference) -> RegistryError:
    return RegistryError(error.fault, str(reference), error.detail)
