"""What simulated hosts and their pods do, as Stage objects for KWOK.

Hosts come up and keep their lease as KWOK's own stages say. Pods follow ours (`stages/`), which
read these annotations of a pod:

    sim.tallyard.dev/start-delay   how long it is Pending on its host before it runs, e.g. 40m
    sim.tallyard.dev/run           how long it runs before it ends, e.g. 90s; default 30s
    sim.tallyard.dev/exit-code     its exit code; default 0, anything else is a failure
    sim.tallyard.dev/exit-reason   the reason of a failure; default Error, OOMKilled for 137

Only a pod that may end does: one with restartPolicy Always (every pod of a Deployment) runs on.
Durations are as Go writes them, counted from the times in the pod's status, so that a change of
the pod or a restart of KWOK does not begin them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from lab.api import Api

OWN = Path(__file__).resolve().parent / "stages"
# Relative to `kustomize/stage` of KWOK's module. `pod/fast` has two more: its pods are ready
# at once and a Job's end at once.
_BUILT_IN = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-delete.yaml",
)


def stage_objects(built_in: Path) -> list[dict[str, Any]]:
    """Return all Stage objects, KWOK's own first.

    Args:
        built_in: the folder `kustomize/stage` of KWOK's module.

    Raises:
        OSError: one of the files is missing.
    """
    files = [*(built_in / name for name in _BUILT_IN), *sorted(OWN.glob("*.yaml"))]
    return [yaml.safe_load(file.read_text()) for file in files]


def apply(api: Api, built_in: Path) -> int:
    """Apply all Stage objects; return how many there are."""
    stages = stage_objects(built_in)
    for stage in stages:
        api.apply(stage)
    return len(stages)
