"""Tell what was added to our objects by hand, which Pulumi's provider does not see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from tallyard.cluster.client import Connection
from tallyard.cluster.hand_edits import find, take_back


def take_back_all(live: Connection, applied: Iterable[Mapping[str, Any]]) -> None:
    """Warn of each object to which something was added; but for a preview, take it out.

    Args:
        live: the cluster.
        applied: its objects as they were sent.

    Raises:
        ClusterError: the server cannot be asked, or refuses.
    """
    for each in find(live, applied):
        if pulumi.runtime.is_dry_run():
            pulumi.log.warn(
                f"{each.title}: {each.fields} was added by hand; `pulumi up` takes it out"
            )
        else:
            take_back(live, each)
            pulumi.log.warn(f"{each.title}: {each.fields} was added by hand, and is taken out")
