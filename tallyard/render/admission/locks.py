"""All that is refused, in the order in which it is told."""

from __future__ import annotations

from tallyard.render.admission import (
    locks_of_cards,
    locks_of_identity,
    locks_of_pods,
    locks_of_queues,
    locks_of_rights,
)
from tallyard.render.admission.rule import Lock

# Where one of these says no, nothing else can be asked.
FIRST: tuple[Lock, ...] = locks_of_identity.FIRST
LOCKS: tuple[Lock, ...] = (
    *locks_of_identity.LOCKS,
    *locks_of_queues.LOCKS,
    *locks_of_cards.LOCKS,
    *locks_of_pods.LOCKS,
    *locks_of_rights.LOCKS,
)
