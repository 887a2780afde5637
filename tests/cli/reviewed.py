"""A repository whose changes are reviewed, and a cluster in which work runs and waits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tallyard import labels
from tallyard.cli.main import run
from tests.cli.specs import Captured, Repo
from tests.cluster.conftest import ApiServer

DATA = Path(__file__).parents[1] / "data" / "review"
CHANGES = DATA / "changes"
LOCAL_STACK = (DATA / "Pulumi.local.yaml").read_text()
VERSIONS = (DATA / "versions.yaml").read_text()
KUEUE = f"/apis/{labels.KUEUE_GROUP}/{labels.KUEUE_VERSION}"
_AT = "2026-11-30T08:00:00Z"


def with_pins(repo: Repo) -> Repo:
    """Put the pins and the stack's file beside the spec, in a second commit."""
    repo.write("stacks/versions.yaml", VERSIONS)
    repo.write("stacks/Pulumi.local.yaml", LOCAL_STACK)
    repo.commit()
    return repo


@dataclass(frozen=True)
class Work:
    """A Job as a person sees it; it runs on its nodes, or waits where it has none."""

    name: str
    project: str
    user: str
    queue: str
    cards: int = 0
    model: str = ""
    nodes: tuple[str, ...] = ()
    is_over: bool = False

    @property
    def meta(self) -> dict[str, Any]:
        """Return what all of its objects have."""
        own = {labels.PROJECT: self.project, labels.USER: self.user}
        return {"namespace": self.project, "creationTimestamp": _AT, "labels": own}

    def job(self) -> dict[str, Any]:
        """Return the Job."""
        return {"metadata": {**self.meta, "name": self.name}}

    def workload(self) -> dict[str, Any]:
        """Return Kueue's record."""
        limits = {"cpu": "4"} | ({"nvidia.com/gpu": str(self.cards)} if self.cards else {})
        spec = {"containers": [{"name": "main", "resources": {"limits": limits}}]}
        selector = {"nodeSelector": {labels.GPU_MODEL: self.model}} if self.model else {}
        types = ["QuotaReserved", "Admitted"] if self.nodes or self.is_over else []
        types += ["Finished"] if self.is_over else []
        owner = {"kind": "Job", "name": self.name, "controller": True}
        return {
            "metadata": {**self.meta, "name": f"job-{self.name}", "ownerReferences": [owner]},
            "spec": {
                "queueName": self.queue,
                "podSets": [
                    {"name": "main", "count": 1, "template": {"spec": {**spec, **selector}}}
                ],
            },
            "status": {
                "conditions": [
                    {"type": each, "status": "True", "lastTransitionTime": _AT} for each in types
                ]
            },
        }

    def pods(self) -> list[dict[str, Any]]:
        """Return a pod for each node."""
        owned = {**self.meta["labels"], "batch.kubernetes.io/job-name": self.name}
        return [
            {
                "metadata": {**self.meta, "name": f"{self.name}-{number}", "labels": owned},
                "spec": {"nodeName": node},
                "status": {"phase": "Running"},
            }
            for number, node in enumerate(self.nodes)
        ]


WORK = (
    Work("pretrain", "nlp", "li.wei", "training", 8, "A100", ("a100-00",)),
    Work("finetune", "nlp", "chen.yu", "training", 2, "A100"),
    Work("chat", "nlp", "chen.yu", "inference", 1, "RTX", ("rtx-00",)),
    Work("segment", "vision", "zhao.min", "training", 2, "A100", ("a100-01",)),
    Work("sort", "vision", "zhao.min", "elastic"),
    Work("yesterday", "nlp", "li.wei", "training", 8, "A100", is_over=True),
)


def answers(work: tuple[Work, ...] = WORK, overlay: str = "local.yaml") -> dict[str, Any]:
    """Return what an API server answers in which this work is, by path."""
    queues = dict.fromkeys((each.project, each.queue) for each in work)
    config = {"metadata": {"name": labels.SPEC_CONFIG, "annotations": {labels.OVERLAY: overlay}}}
    return {
        f"/api/v1/namespaces/{labels.SYSTEM_NAMESPACE}/configmaps/{labels.SPEC_CONFIG}": config,
        f"{KUEUE}/clusterqueues": [
            {"metadata": {"name": f"{p}-{q}", "labels": {labels.PROJECT: p}}, "spec": {}}
            for p, q in queues
        ],
        f"{KUEUE}/localqueues": [
            {"metadata": {"name": q, "namespace": p}, "spec": {"clusterQueue": f"{p}-{q}"}}
            for p, q in queues
        ],
        f"{KUEUE}/resourceflavors": [],
        f"{KUEUE}/cohorts": [],
        f"{KUEUE}/workloads": [each.workload() for each in work],
        "/apis/batch/v1/jobs": [each.job() for each in work],
        "/api/v1/pods": [pod for each in work for pod in each.pods()],
    }


@dataclass
class Reviewing:
    """The repository and the cluster; `review` runs the command and keeps the exit code."""

    repo: Repo
    server: ApiServer
    capsys: Captured
    codes: list[int] = field(default_factory=list)

    def review(self, *arguments: str, lang: str = "en") -> str:
        """Run `tally review main` and return what it prints, without what differs by chance."""
        self.codes.append(run(["--lang", lang, "review", "main", *arguments]))
        text = self.capsys.readouterr().out.replace(self.server.url, "https://cluster.example")
        return re.sub(r"\([0-9a-f]{10}\)", "(0123456789)", text)

    def sarif(self) -> Mapping[str, Any]:
        """Return the SARIF log."""
        found: Mapping[str, Any] = json.loads(self.review("-o", "sarif"))
        return found


type MakeReviewing = Callable[[], Reviewing]


def same_as_file(text: str, name: str, request: pytest.FixtureRequest) -> None:
    """Compare a comment with the one that is kept; `--snapshot-update` writes it anew."""
    file = CHANGES / name
    if request.config.getoption("update_snapshots"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
