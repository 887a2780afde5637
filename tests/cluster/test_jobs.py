"""What belongs to which piece of work."""

from __future__ import annotations

from typing import Any

from tallyard import labels
from tallyard.cluster.jobs import group


def _item(name: str, kind: str = "", owner: str = "", **own: str) -> dict[str, Any]:
    owners = [{"kind": kind, "name": owner, "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "nlp", "labels": own, "ownerReferences": owners}
    return {"metadata": metadata}


def test_the_jobs_and_pods_of_a_jobset_are_a_part_of_it() -> None:
    of_set = {labels.JOBSET_NAME: "both", "batch.kubernetes.io/job-name": "both-leader-0"}
    jobs = [_item("both-leader-0", "JobSet", "both"), _item("alone")]
    pods = [_item("both-leader-0-0", "Job", "both-leader-0", **of_set)]
    workloads = [_item("jobset-both-1a2b3", "JobSet", "both")]
    found = {(work.kind, work.name): work for work in group(jobs, workloads, pods)}
    assert found.keys() == {("JobSet", "both"), ("Job", "alone")}
    whole = found["JobSet", "both"]
    assert (len(whole.workloads), len(whole.pods)) == (1, 1)


def test_the_pods_and_the_record_of_a_stateful_set_are_one() -> None:
    pods = [_item("notebook-0", "StatefulSet", "notebook", **{labels.USER: "li.wei"})]
    workloads = [_item("statefulset-notebook-1a2b3", "StatefulSet", "notebook")]
    (whole,) = group([], workloads, pods)
    assert (whole.kind, len(whole.workloads), len(whole.pods)) == ("StatefulSet", 1, 1)
