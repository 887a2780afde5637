"""What the last `up` of this stack has left in its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
from pulumi.runtime import invoke

# By URN: `type` and `outputs`.
type Resources = Mapping[str, Mapping[str, Any]]


def resources() -> Resources:
    """Read this stack's own state; empty before the first `up`."""
    stack = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    found = invoke("pulumi:pulumi:readStackResourceOutputs", {"stackName": stack}).value
    outputs: Resources = found["outputs"]
    return outputs


def applied_objects(recorded: Resources) -> Iterator[Mapping[str, Any]]:
    """Yield the cluster's objects as they were sent, each under the name that it has there.

    The charts' are among them. What was sent is kept by Pulumi's provider beside the outputs.
    """
    for resource in recorded.values():
        outputs = resource["outputs"]
        sent = outputs.get("__inputs")
        # A name and a namespace that the API server has settled: a chart may write a namespace
        # where a kind has none.
        if isinstance(sent, Mapping) and isinstance(outputs.get("metadata"), Mapping):
            yield {**sent, "metadata": outputs["metadata"]}
