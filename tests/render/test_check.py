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
        "cluster/queue-x.yaml: apiVersion: no schema for kueue.x-k8s.io/v1 Queue in Kubernetes 1.36"
    ]
