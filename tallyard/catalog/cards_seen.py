"""By which labels and resources a machine with cards is recognised before anybody says so.

Node Feature Discovery labels a host `feature.node.kubernetes.io/pci-<class>_<vendor>.present`,
or without the class where it is told to (as NVIDIA's operator does). The class is PCI's own:
0302 is a 3D controller, 12xx a processing accelerator; a display (03xx) is also what a server
draws its console with, so there the vendor decides too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tallyard.catalog.vendors import DEFAULT_RESOURCE, USUAL_RESOURCE

_PCI = re.compile(
    r"feature\.node\.kubernetes\.io/pci-(?:(?P<class>[0-9a-f]{4})_)?(?P<vendor>[0-9a-f]{4})"
    r"(?:_[0-9a-f_]+)?\.present"
)
# Vendors of cards that draw, and of nothing else that a server has: NVIDIA, AMD.
_VENDORS_THAT_DRAW = frozenset({"10de", "1002"})
_ALWAYS_CARDS = ("0302", "12")
_DISPLAY = "03"


def is_pci_label_of_a_card(key: str) -> bool:
    """Return whether a node's label says that a card is in a PCI slot."""
    found = _PCI.fullmatch(key)
    if found is None:
        return False
    kind, vendor = found["class"], found["vendor"]
    if kind is None:
        return vendor in _VENDORS_THAT_DRAW
    if kind.startswith(_ALWAYS_CARDS):
        return True
    return kind.startswith(_DISPLAY) and vendor in _VENDORS_THAT_DRAW


def card_resources(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield the names of resources that are cards or parts of cards.

    Args:
        names: What a host offers.
        known: The resources of the spec's accelerators.
    """
    whole = {*known, *DEFAULT_RESOURCE.values(), *USUAL_RESOURCE.values()}
    # A device plugin offers slices as `<resource>.shared`, and NVIDIA's instances of MIG as
    # `nvidia.com/mig-<profile>`.
    parts = tuple(f"{name}." for name in whole) + tuple(
        f"{name.partition('/')[0]}/mig-" for name in DEFAULT_RESOURCE.values()
    )
    for name in names:
        if name in whole or name.startswith(parts):
            yield name
