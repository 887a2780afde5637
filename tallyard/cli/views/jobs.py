"""The rows of `tally jobs`. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tallyard.cli.views.asks import Ask
from tallyard.cli.views.explainer import Explainer
from tallyard.cli.views.others import OtherModel
from tallyard.cli.views.queue import project_of, user_of
from tallyard.cli.views.standing import State, state_of
from tallyard.cluster.conditions import Object, became_true, is_true, moment
from tallyard.cluster.jobs import Submitted, Work, submitted_at
from tallyard.cluster.kueue import Queues
from tallyard.cluster.timeline import nodes_of, started

_NO_QUEUE = {"en": "names no queue: Kueue does not manage it", "zh": "未指定队列：不受 Kueue 管理"}
_SOME_WAIT = {"en": "{n} of {total} wait: {why}", "zh": "{total} 个中 {n} 个在等待：{why}"}


@dataclass(frozen=True)
class JobRow:
    """One piece of work. `time` is how long it has run, or waited while it has not run yet.

    `project` is the project's id and `project_key` what people call it. `others` are the other
    models of its queue that it could have now, while it waits.
    """

    name: str
    kind: str
    project: str
    project_key: str
    user: str
    queue: str
    asks: tuple[Ask, ...]
    state: State
    nodes: tuple[str, ...]
    time: timedelta | None
    reason: str
    others: tuple[OtherModel, ...] = ()

    def cards(self, lang: str) -> str:
        """Return all asks as text; those of equal pods are added up."""
        return ", ".join(ask.text(lang) for ask in self.asks)


def job_rows(submitted: Submitted, now: datetime, lang: str = "en") -> tuple[JobRow, ...]:
    """Return one row for each piece of work, oldest first.

    Args:
        submitted: What was read.
        now: To say how long something runs or waits.
        lang: The language of the reasons.
    """
    explainer = Explainer(submitted.queues)
    return tuple(_row(work, submitted.queues, explainer, now, lang) for work in submitted.work)


def _row(work: Work, queues: Queues, explainer: Explainer, now: datetime, lang: str) -> JobRow:
    asks = tuple(explainer.ask(workload) for workload in work.workloads)
    state = _state(work)
    parts = (*((work.manifest,) if work.manifest else ()), *work.workloads, *work.pods)
    project = project_of(parts[0])
    return JobRow(
        name=work.name,
        kind=work.kind,
        project=project,
        project_key=queues.project_key(project),
        # Kueue's record of a StatefulSet bears no user; its pods do.
        user=next(filter(None, map(user_of, parts)), ""),
        queue=next((str(w["spec"].get("queueName") or "") for w in work.workloads), ""),
        asks=_added_up(asks),
        state=state,
        nodes=nodes_of(work.pods),
        time=_time(work, state, now),
        reason=_reason(work, explainer, lang),
        others=next(filter(None, map(explainer.others, work.workloads)), ()),
    )


def _state(work: Work) -> State:
    states = [state_of(workload) for workload in work.workloads]
    if any(_phase(pod) == "Running" for pod in work.pods):
        return State.RUNNING
    # Between its pods' end and Kueue's word of it, a job has run and is not just admitted.
    ended = {"Succeeded", "Failed"}
    if State.ADMITTED in states and any(_phase(pod) in ended for pod in work.pods):
        return State.RUNNING
    # Of several workloads, one that is under way speaks for all.
    for state in (State.ADMITTED, State.WAITING, State.EVICTED, State.FAILED, State.FINISHED):
        if state in states:
            return state
    return _state_without_kueue(work)


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def _state_without_kueue(work: Work) -> State:
    if work.manifest is not None and is_true(work.manifest, "Complete"):
        return State.FINISHED
    if work.manifest is not None and is_true(work.manifest, "Failed"):
        return State.FAILED
    phases = {_phase(pod) for pod in work.pods}
    if phases and phases <= {"Succeeded"}:
        return State.FINISHED
    return State.FAILED if "Failed" in phases else State.WAITING


def _time(work: Work, state: State, now: datetime) -> timedelta | None:
    begin = min((at for pod in work.pods if (at := started(pod))), default=None)
    if begin is None:
        made = moment(submitted_at(work))
        return now - made if made and state is State.WAITING else None
    end = _end(work) if state in {State.FINISHED, State.FAILED, State.EVICTED} else None
    return (end or now) - begin


def _end(work: Work) -> datetime | None:
    ends = [
        at
        for workload in work.workloads
        if (at := became_true(workload, "Finished") or became_true(workload, "Evicted"))
    ]
    return max(ends, default=None)


def _reason(work: Work, explainer: Explainer, lang: str) -> str:
    if not work.workloads:
        return _NO_QUEUE[lang]
    reasons = [explainer.reason(workload, lang) for workload in work.workloads]
    said = [reason for reason in reasons if reason]
    if not said or len(reasons) == 1:
        return "".join(said)
    return _SOME_WAIT[lang].format(n=len(said), total=len(reasons), why=said[0])


def _added_up(asks: Iterable[Ask]) -> tuple[Ask, ...]:
    sums: dict[tuple[str | None, str | None], Ask] = {}
    for ask in asks:
        key = (ask.model, ask.resource)
        before = sums.get(key, Ask(0, ask.model, ask.resource, 0))
        sums[key] = Ask(
            before.cards + ask.cards, ask.model, ask.resource, before.cpu_millis + ask.cpu_millis
        )
    return tuple(sums.values())


def one(submitted: Submitted, name: str) -> Work | None:
    """Return the newest piece of work of this name, of whatever kind."""
    found = [work for work in submitted.work if work.name == name]
    return max(found, key=submitted_at, default=None)


def pods_of(work: Work, workload: Object) -> tuple[Object, ...]:
    """Return the pods that a workload stands for: its own pod, or all pods of its Job."""
    own = {ref.get("name") for ref in workload["metadata"].get("ownerReferences") or ()}
    named = tuple(pod for pod in work.pods if pod["metadata"]["name"] in own)
    return named or work.pods
