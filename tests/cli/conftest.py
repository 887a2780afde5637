"""A moment of a cluster, from `data/cluster.yaml`; and specs that may be changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tallyard.cli.ledger_store import STORE_VARIABLE
from tallyard.cluster.jobs import Submitted, group
from tallyard.cluster.kueue import Queues
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Store
from tests.cli.journal import COMMANDS
from tests.cli.reviewed import Reviewing, answers, with_pins
from tests.cli.specs import LOCAL, PLATFORM, Captured, Repo
from tests.cluster.conftest import ApiServer, WriteKubeconfig, api_server, kubeconfig
from tests.ledger.ledgers import NOVEMBER
from tests.spec.specs import STACKS

__all__ = ["api_server", "kubeconfig"]

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 12, 1, 8, 1, 5, tzinfo=UTC)


@pytest.fixture(scope="session")
def moment() -> Mapping[str, Any]:
    """The objects by kind."""
    found: Mapping[str, Any] = yaml.safe_load((DATA / "cluster.yaml").read_text())
    return found


@pytest.fixture(scope="session")
def queues(moment: Mapping[str, Any]) -> Queues:
    """The queues as they are read."""
    return Queues(
        local_queues=tuple(moment["local_queues"]),
        cluster_queues={q["metadata"]["name"]: q for q in moment["cluster_queues"]},
        flavors={f["metadata"]["name"]: f for f in moment["flavors"]},
        workloads=tuple(moment["workloads"]),
        cohorts={},
    )


@pytest.fixture(scope="session")
def submitted(moment: Mapping[str, Any], queues: Queues) -> Submitted:
    """All work as it is read."""
    return Submitted(group(moment["jobs"], moment["workloads"], moment["pods"]), queues)


def answers_of(moment: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an API server that is in this moment answers, by path."""
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    nlp = "namespaces/nlp"
    return {
        kueue: {"kind": "APIResourceList"},
        f"{kueue}/clusterqueues": moment["cluster_queues"],
        f"{kueue}/resourceflavors": moment["flavors"],
        f"{kueue}/cohorts": [],
        f"{kueue}/{nlp}/localqueues": moment["local_queues"],
        f"{kueue}/{nlp}/workloads": moment["workloads"],
        f"/apis/batch/v1/{nlp}/jobs": moment["jobs"],
        f"/api/v1/{nlp}/pods": moment["pods"],
        f"/api/v1/{nlp}/events": moment["events"],
    }


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The shipped spec in a folder of its own."""
    for name in ("platform.yaml", "local.yaml", "versions.yaml"):
        (tmp_path / name).write_text((STACKS / name).read_text())
    return tmp_path / "local.yaml"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with the small spec in one commit; it is the working folder."""
    made = Repo(tmp_path / "a repo")
    made.root.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    made.write("stacks/platform.yaml", PLATFORM)
    made.write("stacks/local.yaml", LOCAL)
    made.commit()
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return made


@pytest.fixture
def reviewing(
    repo: Repo,
    api_server: ApiServer,
    kubeconfig: WriteKubeconfig,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> Reviewing:
    """A repository and a cluster with work; KUBECONFIG leads to it."""
    api_server.answers |= answers()
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(api_server.url)))
    return Reviewing(with_pins(repo), api_server, capsys)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one of many things, named by the variable."""
    file = tmp_path / "ledger.db"
    engine = engine_of(file)
    migrate(engine)
    outcomes = Store(engine, lambda: NOVEMBER).do(COMMANDS)
    assert [outcome for outcome in outcomes if not isinstance(outcome, Done)] == []
    engine.dispose()
    monkeypatch.setenv(STORE_VARIABLE, str(file))
    return file
