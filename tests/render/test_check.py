from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard.render.check import Schemas, check, crd_schemas
from tallyard.render.manifest import Manifest


@pytest.fixture(scope="session")
def crds(toolchain: Toolchain) -> Schemas:
    return crd_schemas(toolchain.kueue_chart)


def _faults(obj: Mapping[str, Any], crds: Schemas) -> list[str]:
    return [str(fault) for fault in check([Manifest(obj)], crds=crds, kubernetes="1.36.3")]


def test_every_rendered_object_fits_its_api(manifests: tuple[Manifest, ...], crds: Schemas) -> None:
    assert check(manifests, crds=crds, kubernetes="1.36.3") == ()


@pytest.mark.parametrize("kind", ["ClusterQueue", "Cohort", "ResourceFlavor", "LocalQueue"])
def test_a_key_that_the_api_would_drop_in_silence_is_a_fault(
    manifests: tuple[Manifest, ...], crds: Schemas, kind: str
) -> None:
    obj = deepcopy(dict(next(m.object for m in manifests if m.kind == kind)))
    obj["spec"]["cohort"] = "training"
    assert any("'cohort' was unexpected" in fault for fault in _faults(obj, crds))


def test_a_value_outside_its_enum_is_a_fault_with_its_place(
    manifests: tuple[Manifest, ...], crds: Schemas
) -> None:
    obj = deepcopy(dict(next(m.object for m in manifests if m.kind == "ClusterQueue")))
    obj["spec"]["preemption"]["withinClusterQueue"] = "Sometimes"
    assert any("spec.preemption.withinClusterQueue" in fault for fault in _faults(obj, crds))


def test_a_kubernetes_object_with_a_wrong_type_is_a_fault(
    manifests: tuple[Manifest, ...], crds: Schemas
) -> None:
    obj = deepcopy(dict(next(m.object for m in manifests if m.kind == "PriorityClass")))
    obj["value"] = "high"
    assert any("value" in fault for fault in _faults(obj, crds))


def test_a_kind_that_nobody_knows_is_a_fault(crds: Schemas) -> None:
    obj = {"apiVersion": "kueue.x-k8s.io/v1", "kind": "Queue", "metadata": {"name": "x"}}
    assert _faults(obj, crds) == [
        "cluster/queue-x.yaml: apiVersion: no schema for kueue.x-k8s.io/v1 Queue in the chart"
    ]
    obj = {"apiVersion": "batch/v0", "kind": "Job", "metadata": {"name": "x"}}
    assert _faults(obj, crds) == [
        "cluster/job-x.yaml: apiVersion: no schema for batch/v0 Job in Kubernetes 1.36"
    ]


def test_what_there_are_no_schemas_for_is_left_out_and_the_rest_is_checked(
    manifests: tuple[Manifest, ...], crds: Schemas
) -> None:
    broken = []
    for kind in ("ClusterQueue", "PriorityClass"):
        obj = deepcopy(dict(next(m.object for m in manifests if m.kind == kind)))
        broken.append(Manifest({**obj, "surplus": 1}))
    both = check(broken, crds=crds, kubernetes="1.36.3")
    assert len(both) == 2
    assert check(broken, crds=None, kubernetes="1.36.3") == both[1:]
    assert check(broken, crds=crds, kubernetes=None) == both[:1]


@pytest.mark.parametrize("minor", ["1.99", "1.2"])
def test_a_version_of_kubernetes_without_schemas_is_a_fault(
    manifests: tuple[Manifest, ...], minor: str
) -> None:
    own = next(m for m in manifests if m.kind == "Namespace")
    (fault,) = check([own], crds=None, kubernetes=f"{minor}.3")
    assert f"no schema for v1 Namespace in Kubernetes {minor}" in str(fault)
