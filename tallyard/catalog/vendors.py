"""The vendors of cards: under which resource their device plugins offer whole cards.

Only NVIDIA's is filled in for the author of a spec. The others have changed names between
releases of their plugins, so the spec says which one is installed; these are suggestions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFAULT_RESOURCE: Mapping[str, str] = MappingProxyType({"nvidia": "nvidia.com/gpu"})

# Vendors whose device plugin offers a card several times over under a name of its own.
TIME_SLICING = frozenset({"nvidia"})

USUAL_RESOURCE: Mapping[str, str] = MappingProxyType(
    {
        "amd": "amd.com/gpu",
        "cambricon": "cambricon.com/mlu",
        "hygon": "hygon.com/dcu",
        "iluvatar": "iluvatar.ai/gpu",
        "metax-tech": "metax-tech.com/gpu",
        "mthreads": "mthreads.com/gpu",
    }
)
