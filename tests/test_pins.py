"""Versions that are pinned in more than one place, because each tool wants its own, agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.toolchain import pins
from tallyard.catalog.feature_gates import KUEUE_FEATURE_GATES
from tallyard.spec.versions import Versions, read_versions

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def versions() -> Versions:
    return read_versions(REPOSITORY / "stacks" / "versions.yaml")


def _built(name: str) -> str:
    return pins.version(next(s for s in pins.SETS if s.name == name)).removeprefix("v")


def _locked(package: str) -> str:
    lock = (REPOSITORY / "requirements" / "lock.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==(\S+)", lock, re.MULTILINE)
    assert found, package
    return found[1]


def test_the_lab_runs_the_kubernetes_that_is_deployed_to(versions: Versions) -> None:
    assert _built("kubernetes") == versions.kubernetes.version


def test_chart_image_and_the_labs_manager_are_of_one_kueue(versions: Versions) -> None:
    assert versions.charts["kueue"].version == _built("kueue")
    assert versions.images["kueue"].version == f"v{_built('kueue')}"


def test_chart_image_and_the_labs_controller_are_of_one_jobset(versions: Versions) -> None:
    assert versions.charts["jobset"].version == _built("jobset")
    assert versions.images["jobset"].version == f"v{_built('jobset')}"


def test_jobset_is_the_one_that_kueue_is_built_with() -> None:
    """Kueue reads and writes JobSets by the types of this version."""
    kueue = next(s for s in pins.SETS if s.name == "kueue")
    known = pins.module_versions(kueue.folder / "go.mod")["sigs.k8s.io/jobset"]
    assert known == f"v{_built('jobset')}"


def test_the_sdk_asks_for_the_provider_that_is_built() -> None:
    assert f"v{_locked('pulumi-kubernetes')}" == pins.PROVIDER_VERSION


def test_a_reason_for_a_feature_gate_was_found_in_the_kueue_that_runs() -> None:
    """A newer Kueue may have mended it: look again, then raise the version in the table."""
    assert {gate.seen_in for gate in KUEUE_FEATURE_GATES.values()} == {_built("kueue")}


def test_no_lock_names_a_host() -> None:
    locks = sorted((REPOSITORY / "requirements").glob("*.txt"))
    assert locks
    for lock in locks:
        assert "://" not in lock.read_text(), lock
