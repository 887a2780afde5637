"""The example jobs at the end of `up`: submitted as a user would, watched until they have run.

They prove the lab, and are the first thing a person sees of it. Nothing here is privileged:
each job is created by kubectl with the kubeconfig of a user of the project.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.errors import LabError
from lab.folder import CHECKOUT, LabFolder, write_private
from lab.report import Report
from tallyard.cluster.client import connect
from tallyard.cluster.conditions import became_true, condition, is_true
from tallyard.cluster.jobs import Submitted, Work, read_jobs
from tallyard.cluster.kueue import Queues
from tallyard.spec.model import Platform

USER = "li.wei"
NAMESPACE = "nlp"
_OF_PEOPLE = CHECKOUT / "examples"
# What shows a full queue is no example of how to work.
_OF_THE_LAB = CHECKOUT / "lab" / "jobs"
# Simulated hosts end a pod by themselves after this; a real one runs its container.
_RUN = "sim.tallyard.dev/run"


@dataclass(frozen=True)
class Example:
    """A file, who submits it, and how long its pods run; None for what does not end."""

    file: Path
    user: str
    run_seconds: int | None = None

    @property
    def name(self) -> str:
        """Return what it is called in a report."""
        return str(self.file.relative_to(CHECKOUT))

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the object as it is submitted in the lab.

        Raises:
            OSError: the file cannot be read.
        """
        content: dict[str, Any] = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        if self.run_seconds is not None:
            template = content["spec"]["template"].setdefault("metadata", {})
            template.setdefault("annotations", {})[_RUN] = f"{self.run_seconds}s"
        return content


# In the order of arrival: the second finds its queue filled by the first.
EXAMPLES = (
    Example(_OF_THE_LAB / "train-fill.yaml", "chen.yu", run_seconds=12),
    Example(_OF_THE_LAB / "train-waits.yaml", USER, run_seconds=5),
    Example(_OF_PEOPLE / "train-2gpu.yaml", USER, run_seconds=8),
    Example(_OF_PEOPLE / "serve-deployment.yaml", "chen.yu"),
    Example(_OF_PEOPLE / "domestic-job.yaml", USER, run_seconds=8),
    Example(_OF_PEOPLE / "cpu-job.yaml", "chen.yu", run_seconds=2),
)
# The examples run for less than half a minute together; a busy machine needs longer.
_SECONDS_MAX = 180.0
_POLL_SECONDS = 0.5
_SUBMIT_SECONDS_MAX = 60.0


@dataclass(frozen=True)
class Story:
    """What became of one example. `waited_for` is the reason that was seen while it waited."""

    example: str
    work: Work
    waited_for: str | None

    @property
    def is_over(self) -> bool:
        """Return whether it has done what it was to do: a Job finished, a service's pods ready."""
        if self.work.kind == "Job":
            # Kueue sees the end a moment after the Job, and the story is told from what it saw.
            is_seen = all(became_true(each, "Finished") for each in self.work.workloads)
            return self.work.manifest is not None and _has_ended(self.work.manifest) and is_seen
        pods = self.work.pods
        return bool(pods) and all(is_true(pod, "Ready") for pod in pods)


type Explain = Callable[[str, Mapping[str, object], Queues], str]


def fits(platform: Platform) -> bool:
    """Say whether the examples can be run: they are written for one project and its people."""
    project = next((p for p in platform.projects.values() if p.id == NAMESPACE), None)
    people = {user.name for user in project.users} if project else set()
    return people >= {USER, *(example.user for example in EXAMPLES)}


def walk_through(
    folder: LabFolder, kubectl: Path, report: Report, explain: Explain
) -> tuple[Story, ...]:
    """Submit the examples that are not there yet, and return the stories of all.

    Args:
        folder: the lab's.
        kubectl: the program.
        report: hears of each example.
        explain: says in a person's words why a workload waits, from Kueue's message, the
            workload and the queues as they are at that moment; later they would not tell.

    Raises:
        LabError: one was refused or failed, or they were not over in time.
        ClusterError: the API server did not answer the example user.
    """
    kubeconfig = folder.kubeconfigs / USER
    names = {example.name: example for example in EXAMPLES}
    keys = {name: _key(example.manifest) for name, example in names.items()}
    report.step("example jobs")
    with connect(path=str(kubeconfig)) as connection:

        def look(seen: Mapping[str, str | None]) -> dict[str, Story]:
            return _stories(keys, read_jobs(connection, (NAMESPACE,)), seen, explain)

        stories = look(_remembered(folder))
        for name in [each for each in names if each not in stories]:
            _submit(kubectl, folder, names[name])
            report.done(f"submitted {name} as {names[name].user}")
            # Looked at after each one: whoever waits may not wait for long.
            stories = look(_reasons(stories.values()))
        deadline = time.monotonic() + _SECONDS_MAX
        while not (len(stories) == len(names) and all(s.is_over for s in stories.values())):
            if time.monotonic() > deadline:
                raise _late(
                    folder, [e for e in names if e not in stories or not stories[e].is_over]
                )
            time.sleep(_POLL_SECONDS)
            stories = look(_reasons(stories.values()))
    _remember(folder, stories.values())
    _refuse_failures(stories.values())
    return tuple(stories[example] for example in names)


def _late(folder: LabFolder, examples: list[str]) -> LabError:
    return LabError(
        "the example jobs did not finish",
        why=f"after {_SECONDS_MAX:.0f} s still not over: {', '.join(examples)}",
        advice="Look at `tally jobs`, and at `tally lab logs kueue`; then run `up` again",
        log=folder.logs / "kueue.log",
    )


def _reasons(stories: Iterable[Story]) -> dict[str, str | None]:
    return {story.example: story.waited_for for story in stories}


def _key(manifest: Mapping[str, Any]) -> tuple[str, str]:
    return str(manifest["kind"]), str(manifest["metadata"]["name"])


def _submit(kubectl: Path, folder: LabFolder, example: Example) -> None:
    done = subprocess.run(
        [kubectl, "--kubeconfig", folder.kubeconfigs / example.user, "create", "-f", "-"],
        env={**os.environ, "KUBECACHEDIR": str(folder.kubectl_cache)},
        input=json.dumps(example.manifest),
        capture_output=True,
        text=True,
        check=False,
        timeout=_SUBMIT_SECONDS_MAX,
    )
    if done.returncode:
        raise LabError(
            f"the API server refused {example.name}",
            why=done.stderr.strip(),
            advice="If the example was changed, mend it; otherwise look at `tally lab logs kueue`",
        )


def _stories(
    keys: Mapping[str, tuple[str, str]],
    submitted: Submitted,
    seen: Mapping[str, str | None],
    explain: Explain,
) -> dict[str, Story]:
    """Return the stories of those examples that are there, with the reasons seen so far."""
    found = {(work.kind, work.name): work for work in submitted.work}
    return {
        example: Story(
            example,
            found[key],
            # The newest one: a queue's figures lag behind its first decisions by some seconds.
            _waits_for(found[key], submitted.queues, explain) or seen.get(example),
        )
        for example, key in keys.items()
        if key in found
    }


def _waits_for(work: Work, queues: Queues, explain: Explain) -> str | None:
    """Return why a workload has no quota now."""
    for workload in work.workloads:
        reserved = condition(workload, "QuotaReserved")
        if reserved and reserved["status"] == "False" and not became_true(workload, "Finished"):
            return explain(str(reserved.get("message", "")), workload, queues)
    return None


def _has_ended(job: Mapping[str, object]) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def _refuse_failures(stories: Iterable[Story]) -> None:
    failed = [
        s.work.name for s in stories if s.work.manifest and is_true(s.work.manifest, "Failed")
    ]
    if failed:
        raise LabError(
            "an example job failed",
            why=f"these ended badly: {', '.join(failed)}",
            advice=f"Look at `tally jobs {failed[0]}`; delete the job and run `up` again",
        )


def _remembered(folder: LabFolder) -> Mapping[str, str | None]:
    """Return the reasons that an earlier `up` saw; a finished job no longer tells its own."""
    try:
        told = json.loads(_memory(folder).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in told.items() if v} if isinstance(told, dict) else {}


def _remember(folder: LabFolder, stories: Iterable[Story]) -> None:
    write_private(_memory(folder), json.dumps(_reasons(stories), indent=2).encode())


def _memory(folder: LabFolder) -> Path:
    return folder.root / "examples.json"
