"""Why a workload is where it is, with all that is known of its queue and the hosts. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tallyard import units
from tallyard.cli.reasons import explain
from tallyard.cli.shortage import Facts
from tallyard.cli.views.asks import Ask, ask_of, asked_model, per_pod
from tallyard.cli.views.free import Tree
from tallyard.cli.views.others import OtherModel, others, rates_of
from tallyard.cli.views.quotas import Quota, models_of, quotas_of
from tallyard.cli.views.standing import message_of, waits
from tallyard.cluster.conditions import Object, last_seen
from tallyard.cluster.kueue import Queues

_FRESH = {"en": "has just been submitted", "zh": "刚刚提交"}
_PENDING = "Pending"


class Explainer:
    """Puts Kueue's messages about the workloads of one moment into plain words."""

    def __init__(self, queues: Queues, tree: Tree | None = None) -> None:
        self._queues = queues
        self._models = models_of(queues.flavors)
        self._rates = rates_of(queues.flavors)
        self._counted = _counted(queues.cluster_queues.values())
        self._tree = tree or Tree(queues.cluster_queues, queues.cohorts)
        self._quotas: dict[str, tuple[Quota, ...]] = {}
        self._largest = None if queues.nodes is None else _largest(queues.flavors, queues.nodes)

    def ask(self, workload: Object) -> Ask:
        """Return what a workload asks for."""
        return ask_of(workload, self._models, self._counted)

    def reason(self, workload: Object, lang: str) -> str:
        """Return why a workload is where it is, or an empty text where all is well.

        The other models that it could have now follow the reason.
        """
        message = message_of(workload)
        if not message:
            return _FRESH[lang] if waits(workload) else ""
        ways_out = (other.text(lang) for other in self.others(workload))
        comma = {"en": "; ", "zh": "；"}[lang]
        return comma.join((self.explain(message, workload, lang), *ways_out))

    def others(self, workload: Object) -> tuple[OtherModel, ...]:
        """Return the other models that a waiting workload could have now."""
        if not waits(workload):
            return ()
        queue = cluster_queue_of(workload, self._queues.local_queues)
        ask, named = self.ask(workload), asked_model(workload)
        return others(message_of(workload), named, ask, self._of_queue(queue), self._rates)

    def waited_for(self, workload: Object, events: Iterable[Object], lang: str) -> str:
        """Return why a workload had to wait, from Kueue's events; empty where none tells."""
        uid = workload["metadata"].get("uid")
        about = ("Workload", workload["metadata"]["name"])
        told = [
            event
            for event in events
            if event.get("reason") == _PENDING
            and (event["involvedObject"].get("kind"), event["involvedObject"].get("name")) == about
            and event["involvedObject"].get("uid") in {None, uid}
        ]
        if not told:
            return ""
        message = str(max(told, key=last_seen).get("message", ""))
        return self.explain(message, workload, lang, is_now=waits(workload))

    def explain(self, message: str, workload: Object, lang: str, *, is_now: bool = True) -> str:
        """Return a message about a workload in plain words.

        Args:
            message: As Kueue wrote it.
            workload: What it is about.
            lang: `en` or `zh`.
            is_now: Whether the queue's figures of now belong to it.
        """
        queue = cluster_queue_of(workload, self._queues.local_queues)
        facts = Facts(
            queue=queue,
            quotas={quota.flavor: quota for quota in self._of_queue(queue)},
            cards=self.ask(workload).cards,
            pool=str(workload["spec"].get("queueName") or ""),
            asked_model=asked_model(workload),
            per_pod=per_pod(workload),
            largest=self._largest,
            is_now=is_now,
            stop_policy=self._queues.stop_policy(queue) if is_now else "",
        )
        return explain(message, facts, lang)

    def _of_queue(self, name: str) -> tuple[Quota, ...]:
        if name not in self._quotas:
            queue = self._queues.cluster_queues.get(name)
            found = quotas_of(queue, self._models, self._tree) if queue is not None else ()
            self._quotas[name] = found
        return self._quotas[name]


def cluster_queue_of(workload: Object, local_queues: Iterable[Object]) -> str:
    """Return the ClusterQueue that a workload stands in; empty where its queue is unknown."""
    place = (workload["metadata"]["namespace"], workload["spec"].get("queueName"))
    for queue in local_queues:
        if (queue["metadata"]["namespace"], queue["metadata"]["name"]) == place:
            return str(queue["spec"]["clusterQueue"])
    return ""


def _counted(cluster_queues: Iterable[Object]) -> frozenset[str]:
    """Return every resource that some queue counts."""
    return frozenset(
        resource
        for queue in cluster_queues
        for group in queue["spec"].get("resourceGroups") or ()
        for resource in group.get("coveredResources") or ()
    )


def _largest(
    flavors: Mapping[str, Object], nodes: Iterable[Object]
) -> Mapping[str, Mapping[str, int]]:
    """Return the most that one host of a flavor has of each resource, by the flavor."""
    most: dict[str, dict[str, int]] = {}
    for name, flavor in flavors.items():
        wanted = (flavor["spec"].get("nodeLabels") or {}).items()
        here = most.setdefault(name, defaultdict(int))
        for node in nodes:
            if wanted <= (node["metadata"].get("labels") or {}).items():
                for resource, text in ((node.get("status") or {}).get("allocatable") or {}).items():
                    amount = units.parse_amount(resource, str(text))
                    here[resource] = max(here[resource], amount)
    return most
