"""The managers in the lab: production's configuration, their own addresses and certificates."""

from __future__ import annotations

import base64
import json
import shutil
import ssl
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lab import beside, jobset_manager, kueue_manager
from lab.errors import LabError
from lab.folder import lab_folder, write_private
from lab.manager import Manager, copy_chart, for_lab
from lab.state import LabState, StateFile
from lab.toolchain.ensure import Toolchain
from tallyard.render import jobset_manager as jobset_rendering
from tallyard.render.kueue_manager import configuration
from tallyard.spec.model import Platform

KUEUE, JOBSET = kueue_manager.KIND, jobset_manager.KIND
STATE = LabState(
    "demo", ports={name: port for port, name in enumerate((*KUEUE.ports, *JOBSET.ports), 1)}
)
ADMIN = {
    "clusters": [{"name": "lab", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "lab", "user": {"client-key-data": "of the administrator"}}],
}


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
def kueue(tmp_path: Path, chart: Path, platform: Platform) -> Iterator[Manager]:
    folder = lab_folder("demo", tmp_path / "labs")
    write_private(folder.admin, json.dumps(ADMIN).encode())
    wanted = configuration(platform)
    made = Manager(KUEUE, folder, StateFile(folder), Path("/bin/false"), chart, wanted)
    yield made
    made.beside.stop()


def test_of_kueue_only_what_belongs_to_one_machine_differs_from_production(
    platform: Platform,
) -> None:
    production = configuration(platform)
    lab = for_lab(production, KUEUE, STATE, Path("/certs"))
    changed = {key for key in lab if lab[key] != production.get(key)}
    own = {"health", "metrics", "webhook", "leaderElection", "featureGates"}
    assert changed <= own
    assert lab["health"]["healthProbeBindAddress"] == f"127.0.0.1:{STATE.port('kueue-health')}"
    assert lab["metrics"]["bindAddress"] == f"127.0.0.1:{STATE.port('kueue-metrics')}"
    assert lab["metrics"]["enableClusterQueueResources"]
    port = STATE.port("kueue-webhook")
    assert lab["webhook"] == {"host": "127.0.0.1", "port": port, "certDir": "/certs"}
    assert lab["leaderElection"]["leaderElect"] is False
    assert lab["featureGates"] == {**production["featureGates"], "VisibilityOnDemand": False}


def test_of_jobset_the_certificates_are_files_too_and_no_folder_is_shared_by_two_labs() -> None:
    production = jobset_rendering.configuration()
    lab = for_lab(production, JOBSET, STATE, Path("/certs"))
    assert lab["internalCertManagement"]["enable"] is False
    assert lab["webhook"]["certDir"] == lab["metrics"]["certDir"] == "/certs"
    assert lab["clientConnection"] == production["clientConnection"]
    ports = {STATE.port(name) for name in (*KUEUE.ports, *JOBSET.ports)}
    assert len(ports) == 6


def test_the_chart_is_copied_without_what_the_lab_has_otherwise_and_can_be_removed(
    chart: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy_chart(chart, copy, KUEUE.left_out)
    files = {str(p.relative_to(copy)) for p in copy.rglob("*") if p.is_file()}
    assert files == {"Chart.yaml", "templates/crd/a.yaml"}
    shutil.rmtree(copy)
    assert not copy.exists()


def _templates(chart: Path) -> set[str]:
    templates = chart / "templates"
    return {str(p.relative_to(templates)) for p in templates.rglob("*") if p.is_file()}


def test_kueues_real_chart_loses_only_its_visibility_api_and_its_secret(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    copy_chart(toolchain.kueue_chart, tmp_path / "chart", KUEUE.left_out)
    lost = _templates(toolchain.kueue_chart) - _templates(tmp_path / "chart")
    assert {name.partition("/")[0] for name in lost} == {"internalcert", "visibility"}
    assert [name for name in lost if name.startswith("internalcert")] == [
        "internalcert/secret.yaml"
    ]


def test_jobsets_real_chart_loses_only_its_empty_secret(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    copy_chart(toolchain.jobset_chart, tmp_path / "chart", JOBSET.left_out)
    lost = _templates(toolchain.jobset_chart) - _templates(tmp_path / "chart")
    assert lost == {"webhook/secret.yaml"}
    assert list((tmp_path / "chart" / "crds").iterdir())


def test_what_pulumi_is_told_fits_the_files(kueue: Manager) -> None:
    with kueue.prepare() as held:
        told = json.loads(kueue.told.read_text())
    assert told["webhookURL"] == f"https://127.0.0.1:{held.ports['kueue-webhook']}"
    assert (Path(told["chart"]) / "Chart.yaml").exists()
    authority = base64.b64decode(told["caBundle"]).decode()
    trust = ssl.create_default_context(cadata=authority)
    assert trust.cert_store_stats()["x509_ca"] >= 1
    secret = kueue.secret()
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == (
        "kueue-system",
        "kueue-webhook-server-cert",
    )
    assert secret["data"]["ca.crt"] == told["caBundle"]
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


def test_ports_and_certificates_stay_the_same_from_one_up_to_the_next(
    kueue: Manager,
) -> None:
    with kueue.prepare():
        first = kueue.told.read_text()
    with kueue.prepare():
        assert kueue.told.read_text() == first


def test_a_port_that_somebody_else_took_is_replaced(
    kueue: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.ports._CLOSING_SECONDS_MAX", 0.0)
    with kueue.prepare() as first, kueue.prepare() as second:
        assert not set(first.ports.values()) & set(second.ports.values())


def _token(account: str) -> str:
    """Return what a token says; by whom it is signed is not looked at here."""
    said = {"kubernetes.io": {"serviceaccount": {"uid": account}}}
    body = base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
    return f"head.{body}.signature"


def test_the_configuration_on_disk_is_compared_with_todays(kueue: Manager) -> None:
    with kueue.prepare() as held:
        assert not kueue.is_up_to_date("uid-1")
        kueue.start(held, _token("uid-1"))
    assert kueue.is_up_to_date("uid-1")
    path = kueue.folder.kueue / "configuration.yaml"
    other = yaml.safe_load(path.read_text()) | {"manageJobsWithoutQueueName": False}
    path.write_text(yaml.safe_dump(other))
    assert not kueue.is_up_to_date("uid-1")


@pytest.mark.parametrize("bytes_", [0, 1, 2, 3])
def test_a_manager_whose_account_was_made_anew_is_started_anew(kueue: Manager, bytes_: int) -> None:
    """What a token says has any length, with and without padding."""
    account = f"uid-1{'x' * bytes_}"
    with kueue.prepare() as held:
        kueue.start(held, _token(account))
    assert kueue.is_up_to_date(account)
    assert not kueue.is_up_to_date("uid-2")


def test_a_manager_that_still_is_the_administrator_is_started_anew(kueue: Manager) -> None:
    with kueue.prepare() as held:
        kueue.start(held, _token("uid-1"))
    (kueue.folder.kueue / "kubeconfig").write_bytes(kueue.folder.admin.read_bytes())
    assert not kueue.is_up_to_date("uid-1")
    (kueue.folder.kueue / "kubeconfig").unlink()
    assert not kueue.is_up_to_date("uid-1")


def test_a_manager_that_ends_is_told_with_its_log(kueue: Manager) -> None:
    with kueue.prepare() as held:
        kueue.start(held, "token")
    with pytest.raises(LabError, match="manager ended") as caught:
        kueue.beside.wait_ready()
    assert caught.value.log == kueue.beside.log


def test_a_manager_that_never_gets_ready_is_told(
    kueue: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mute"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o755)
    mute = replace(kueue, program=program)
    monkeypatch.setattr(beside, "READY_SECONDS_MAX", 0.3)
    with mute.prepare() as held:
        mute.start(held, "token")
    with pytest.raises(LabError, match="is not ready"):
        mute.beside.wait_ready()


def test_a_manager_is_its_service_account_and_not_the_administrator(kueue: Manager) -> None:
    with kueue.prepare() as held:
        kueue.start(held, "of the account")
    own = json.loads((kueue.folder.kueue / "kubeconfig").read_text())
    assert own["users"] == [{"name": "lab", "user": {"token": "of the account"}}]
    assert own["clusters"] == ADMIN["clusters"]
    process = kueue.file.current().process("kueue")
    assert process is not None


def test_two_managers_of_one_lab_have_folders_and_ports_of_their_own(
    kueue: Manager, chart: Path
) -> None:
    jobset = replace(
        kueue, kind=JOBSET, chart=chart, configuration=jobset_rendering.configuration()
    )
    with kueue.prepare() as first, jobset.prepare() as second:
        assert not set(first.ports.values()) & set(second.ports.values())
        told = [json.loads(m.told.read_text()) for m in (kueue, jobset)]
    assert [each["name"] for each in told] == ["kueue", "jobset"]
    assert len({each[key] for each in told for key in ("webhookURL", "caBundle", "chart")}) == 6
