from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.outside import OutsideManager
from infra.settings import Settings
from infra.versions import deployed_versions
from tallyard.spec.versions import VersionsError

SHIPPED = Path(__file__).resolve().parents[2] / "stacks" / "versions.yaml"
DIGEST = "sha256:" + "0123456789abcdef" * 4
BESIDE = OutsideManager("kueue", webhook_url="https://127.0.0.1:1", ca_bundle="", chart="/chart")


def _pins(digest: str) -> str:
    """Return the shipped pins with every digest set to this text."""
    return re.sub(r"digest: .*", f"digest: {digest}", SHIPPED.read_text())


def _settings(versions: Path, manager: OutsideManager | None) -> Settings:
    outside = {manager.name: manager} if manager else {}
    return Settings(overlay=Path("unused"), versions=versions, kube_context=None, outside=outside)


def test_a_stack_that_pulls_images_refuses_every_digest_that_nobody_looked_up(
    tmp_path: Path,
) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text(_pins("unverified"))
    with pytest.raises(VersionsError) as refused:
        deployed_versions(_settings(file, None))
    text = str(refused.value)
    assert "charts.kueue.digest: unverified" in text
    assert "images.kueue.digest: unverified" in text
    assert "charts.jobset.digest: unverified" in text
    assert "images.jobset.digest: unverified" in text
    assert "make pins" in text


def test_a_stack_whose_manager_runs_outside_pulls_nothing_and_is_let_through() -> None:
    assert deployed_versions(_settings(SHIPPED, BESIDE)).charts["kueue"].version == "0.17.0"


def test_a_known_digest_is_let_through_and_stands_behind_the_tag(tmp_path: Path) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text(_pins(DIGEST))
    versions = deployed_versions(_settings(file, None))
    assert versions.images["kueue"].pinned_tag == f"v0.17.0@{DIGEST}"


@pytest.mark.parametrize("digest", ["sha256:abc", "latest", "", DIGEST.upper()])
def test_what_is_no_digest_is_refused_with_its_place(tmp_path: Path, digest: str) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text(_pins(f'"{digest}"'))
    with pytest.raises(VersionsError, match=r"versions\.yaml:\d+: charts\.kueue\.digest"):
        deployed_versions(_settings(file, BESIDE))
