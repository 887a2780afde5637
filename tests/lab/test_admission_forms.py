"""Whatever is sent is refused by the API server itself or with our sentence, never by a mistake.

A policy that fails on a request refuses it too, with its own source instead of a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.spec.model import Platform
from tests.lab.admission import BASES, LOGIN, PROJECTS, WHOLE, gate_with_policies
from tests.lab.gate import Gate, Verdict
from tests.running_lab import RunningLab

_REQUESTS_PER_SEED = 60
_SEEDS = range(10)
_OURS = re.compile(r"olicy 'whole' .*denied request: .*(\[[a-z-]+\]|And \d+ more)$")

_ODD_AMOUNTS: tuple[Any, ...] = ({}, None, 1.5, True, "-1", "x", "9999999999999999999")
# What JSON can hold, and quantities and names that are none.
_ODD: tuple[Any, ...] = (
    *(None, {}, [], "", 0, -1, 1.5, True, "x", "x" * 400, "\n\nx", "1e100"),
    *([None], [{}], [[]], [1], ["x"], {"a": None}, {"a": 1}, {"a": {"b": 1}}),
    *(
        "9223372036854775807",
        9223372036854775807,
        "99999999999999999999",
        f"{labels.KUEUE_GROUP}/x",
    ),
    *({"nvidia.com/gpu": odd} for odd in _ODD_AMOUNTS),
)
_KEYS = (
    *("metadata", "labels", "annotations", "spec", "template", "containers", "initContainers"),
    *("resources", "limits", "requests", "nodeSelector", "affinity", "nodeAffinity", "drop", "add"),
    *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "matchExpressions"),
    *(
        "matchFields",
        "securityContext",
        "capabilities",
        "tolerations",
        "replicatedJobs",
        "replicas",
    ),
    *(
        "parallelism",
        "backoffLimit",
        "jobTemplate",
        "priority",
        "priorityClassName",
        "image",
        "name",
    ),
    *("terminationGracePeriodSeconds", "volumes", "ports", "resourceClaims", "ownerReferences"),
    *(
        "suspend",
        "ttlSecondsAfterFinished",
        "sysctls",
        "seLinuxOptions",
        "nodeName",
        "schedulerName",
    ),
    *(labels.GPU_MEMORY_LEAST, labels.WITHIN, labels.AGENT, labels.QUEUE_NAME, "nvidia.com/gpu"),
)


@pytest.fixture(scope="module")
def gate(shared_lab: RunningLab, platform: Platform, toolchain: Toolchain) -> Iterator[Gate]:
    with gate_with_policies(shared_lab, platform, toolchain.jobset_chart / "crds") as gate:
        yield gate


def _places(content: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each part of a document."""
    if path:
        yield path
    if isinstance(content, dict | list):
        keys = content if isinstance(content, dict) else range(len(content))
        for key in tuple(keys):
            yield from _places(content[key], *path, key)


def _part(content: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        content = content[step]
    return content


def _bent(content: dict[str, Any], random: Random) -> dict[str, Any]:
    """Return a document of which up to three parts are left out, replaced or added to."""
    for _ in range(random.randint(1, 3)):
        places = [p for p in _places(content) if p[0] not in {"apiVersion", "kind"}]
        if not places:
            break
        path = random.choice(places)
        part, parent = _part(content, path), _part(content, path[:-1])
        how = random.choice(("out", "odd", "odd", "more"))
        if how == "out" and path != ("metadata",):
            del parent[path[-1]]
        elif how == "more" and isinstance(part, dict):
            part[random.choice(_KEYS)] = deepcopy(random.choice(_ODD))
        elif how == "more" and isinstance(part, list):
            part.append(deepcopy(random.choice(_ODD)))
        elif path != ("metadata",):
            parent[path[-1]] = deepcopy(random.choice(_ODD))
    return content


def _is_well_refused(verdict: Verdict) -> bool:
    """Say whether a request was let in, or refused by somebody who means it."""
    by_policy = "dmissionPolicy" in verdict.reason or "policy '" in verdict.reason
    return verdict.is_allowed or not by_policy or bool(_OURS.search(verdict.reason))


@pytest.mark.parametrize("seed", _SEEDS)
def test_an_odd_object_is_refused_for_a_reason(gate: Gate, seed: int) -> None:
    random = Random(seed)  # noqa: S311 (no secret comes of it)
    outcomes = set()
    for number in range(_REQUESTS_PER_SEED):
        base = BASES[random.choice(sorted(BASES))]
        content = _bent(deepcopy(dict(base)), random)
        verdict = gate.create(content, LOGIN, f"{WHOLE}-{random.choice(PROJECTS)}")
        assert _is_well_refused(verdict), (seed, number, json.dumps(content), verdict.reason[-300:])
        outcomes.add(verdict.is_allowed or bool(_OURS.search(verdict.reason)))
    # Some pass the API server's own tests, or this tries nothing.
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", _SEEDS)
def test_an_odd_set_of_jobs_is_refused_for_a_reason(gate: Gate, seed: int) -> None:
    """It is stamped before it is compared with its schema."""
    random = Random(seed)  # noqa: S311 (no secret comes of it)
    for number in range(_REQUESTS_PER_SEED):
        content = _bent(deepcopy(dict(BASES[random.choice(("job-set", "mixed-set"))])), random)
        verdict = gate.create(content, LOGIN, f"{WHOLE}-nlp")
        assert _is_well_refused(verdict), (seed, number, json.dumps(content), verdict.reason[-300:])


def _containers(number: int, **told: Any) -> list[dict[str, Any]]:
    # A host has eight cards.
    limits = [{"nvidia.com/gpu": 1}] * 8 + [{"memory": "1Gi"}] * number
    return [
        {"name": f"c{n}", "image": "x", "resources": {"limits": limits[n]}, **told}
        for n in range(number)
    ]


def _of_pod(base: str, **pod: Any) -> dict[str, Any]:
    content = deepcopy(dict(BASES[base]))
    content["spec"]["template"]["spec"].update(pod)
    return content


def _job_set(jobs: int, containers: int) -> dict[str, Any]:
    content = deepcopy(dict(BASES["job-set"]))
    pod = {"restartPolicy": "Never", "containers": _containers(containers)}
    content["spec"]["replicatedJobs"] = [
        {"name": f"r{n}", "template": {"spec": {"template": {"spec": pod}}}} for n in range(jobs)
    ]
    return content


_TERM = {"matchExpressions": [{"key": f"k{n}", "operator": "Exists"} for n in range(100)]}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_RIGHTS = {"privileged": True, "runAsUser": 0, "capabilities": {"add": ["SYS_ADMIN"]}}
LARGE = {
    "a job of a hundred containers": _of_pod("job", containers=_containers(100)),
    "a job of as many as can be looked at": _of_pod("job", containers=_containers(512)),
    "a set of twenty jobs": _job_set(20, 5),
    "a set of jobs as large as can be looked at": _job_set(64, 8),
    "a set of more": _job_set(600, 1),
    "a job of far more": _of_pod("job", containers=_containers(3000)),
    "a job of many faults": _of_pod("job", containers=_containers(400, securityContext=_RIGHTS)),
    "a job with thousands of tolerations": _of_pod(
        "job", tolerations=[{"key": f"k{n}", "operator": "Exists"} for n in range(4000)]
    ),
    "a job with thousands of devices": _of_pod(
        "job",
        containers=[
            {
                "name": "main",
                "image": "x",
                "resources": {"limits": {f"x{n}.com/card": 1 for n in range(4000)}},
            }
        ],
    ),
    "a job with far too many": _of_pod(
        "job", tolerations=[{"key": f"k{n}", "operator": "Exists"} for n in range(20_000)]
    ),
    "a job with thousands of selectors": _of_pod(
        "job", affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [_TERM] * 40}}}
    ),
    "a job with far too many selectors": _of_pod(
        "job", affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [_TERM] * 400}}}
    ),
}
_PASS = ("a job of a", "a job of as", "a set of twenty", "a set of jobs as")


@pytest.mark.parametrize("what", LARGE)
def test_a_large_object_is_looked_at_whole_or_refused_for_its_size(gate: Gate, what: str) -> None:
    verdict = gate.create(LARGE[what], LOGIN, f"{WHOLE}-nlp")
    assert _is_well_refused(verdict), verdict.reason[-300:]
    assert verdict.is_allowed == what.startswith(_PASS), verdict.reason[-300:]
