"""Kueue's manager in the lab: production's configuration, its own addresses and certificates."""

from __future__ import annotations

import base64
import json
import shutil
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import kueue_manager
from lab.errors import LabError
from lab.folder import lab_folder
from lab.kueue_manager import KueueManager, copy_chart, for_lab
from lab.state import LabState, StateFile
from lab.toolchain.ensure import Toolchain
from tallyard.render.kueue_manager import configuration

PORT_OF = {"kueue-webhook": 1, "kueue-metrics": 2, "kueue-health": 3}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart as a module's folder has it: read-only."""
    chart = tmp_path / "module" / "kueue"
    for name in (
        "Chart.yaml",
        "templates/crd/a.yaml",
        "templates/visibility/b.yaml",
        "templates/internalcert/c.yaml",
    ):
        path = chart / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        path.chmod(0o444)
    folders = sorted((p for p in chart.rglob("*") if p.is_dir()), reverse=True)
    for folder in (*folders, chart):
        folder.chmod(0o555)
    return chart


@pytest.fixture
def manager(tmp_path: Path, chart: Path) -> Iterator[KueueManager]:
    folder = lab_folder("demo", tmp_path / "labs")
    made = KueueManager(folder, StateFile(folder), Path("/bin/false"), chart, configuration())
    yield made
    made.stop()


def test_only_what_belongs_to_one_machine_differs_from_production() -> None:
    production = configuration()
    lab = for_lab(production, LabState("demo", ports=PORT_OF), Path("/certs"))
    changed = {key for key in lab if lab[key] != production.get(key)}
    own = {"health", "metrics", "webhook", "leaderElection", "featureGates"}
    assert changed <= own
    assert lab["health"]["healthProbeBindAddress"] == "127.0.0.1:3"
    assert lab["metrics"]["bindAddress"] == "127.0.0.1:2"
    assert lab["metrics"]["enableClusterQueueResources"]
    assert lab["webhook"] == {"host": "127.0.0.1", "port": 1, "certDir": "/certs"}
    assert lab["leaderElection"]["leaderElect"] is False
    assert lab["featureGates"] == {**production["featureGates"], "VisibilityOnDemand": False}


def test_the_chart_is_copied_without_what_the_lab_has_otherwise_and_can_be_removed(
    chart: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy_chart(chart, copy)
    files = {str(p.relative_to(copy)) for p in copy.rglob("*") if p.is_file()}
    assert files == {"Chart.yaml", "templates/crd/a.yaml"}
    shutil.rmtree(copy)
    assert not copy.exists()


def test_the_real_chart_loses_only_its_visibility_api_and_its_secret(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    copy_chart(toolchain.kueue_chart, tmp_path / "chart")
    left = {p.name for p in (tmp_path / "chart" / "templates").iterdir()}
    whole = {p.name for p in (toolchain.kueue_chart / "templates").iterdir()}
    assert whole - left == {"internalcert", "visibility"}
    lost = [p.name for p in (toolchain.kueue_chart / "templates/internalcert").iterdir()]
    assert lost == ["secret.yaml"]
    assert (tmp_path / "chart" / "templates" / "crd").is_dir()


def test_what_pulumi_is_told_fits_the_files(manager: KueueManager) -> None:
    with manager.prepare() as held:
        told = json.loads(manager.told.read_text())
    assert told["webhookURL"] == f"https://127.0.0.1:{held.ports['kueue-webhook']}"
    assert (Path(told["chart"]) / "Chart.yaml").exists()
    authority = base64.b64decode(told["caBundle"]).decode()
    trust = ssl.create_default_context(cadata=authority)
    assert trust.cert_store_stats()["x509_ca"] >= 1
    secret = manager.secret()
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == (
        "kueue-system",
        "kueue-webhook-server-cert",
    )
    assert secret["data"]["ca.crt"] == told["caBundle"]
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


def test_ports_and_certificates_stay_the_same_from_one_up_to_the_next(
    manager: KueueManager,
) -> None:
    with manager.prepare():
        first = manager.told.read_text()
    with manager.prepare():
        assert manager.told.read_text() == first


def test_a_port_that_somebody_else_took_is_replaced(
    manager: KueueManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.ports._CLOSING_SECONDS_MAX", 0.0)
    with manager.prepare() as first, manager.prepare() as second:
        assert not set(first.ports.values()) & set(second.ports.values())


def test_the_configuration_on_disk_is_compared_with_todays(manager: KueueManager) -> None:
    with manager.prepare() as held:
        assert not manager.is_up_to_date()
        manager.start(held)
    assert manager.is_up_to_date()
    path = manager.folder.kueue / "configuration.yaml"
    other = yaml.safe_load(path.read_text()) | {"manageJobsWithoutQueueName": False}
    path.write_text(yaml.safe_dump(other))
    assert not manager.is_up_to_date()


def test_a_manager_that_ends_is_told_with_its_log(manager: KueueManager) -> None:
    with manager.prepare() as held:
        manager.start(held)
    with pytest.raises(LabError, match="manager ended") as caught:
        manager.wait_ready()
    assert caught.value.log == manager.log


def test_a_manager_that_never_gets_ready_is_told(
    manager: KueueManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mute"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o755)
    mute = KueueManager(manager.folder, manager.file, program, manager.chart, manager.configuration)
    monkeypatch.setattr(kueue_manager, "READY_SECONDS_MAX", 0.3)
    with mute.prepare() as held:
        mute.start(held)
    with pytest.raises(LabError, match="is not ready"):
        mute.wait_ready()
