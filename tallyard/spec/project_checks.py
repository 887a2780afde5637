"""Checks of projects and people: whose names end up in namespaces, queues and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallyard import labels
from tallyard.spec import resolve
from tallyard.spec.draft import Draft
from tallyard.spec.fields import DNS_LABEL_PATTERN, NAME_LENGTH_MAX
from tallyard.spec.problem import Problem

# Namespaces of Kubernetes, of Kueue and of our own controllers.
RESERVED_IDS = frozenset({"default", labels.KUEUE_NAMESPACE})
RESERVED_ID_PREFIXES = ("kube-", "tallyard")
# User names that the API server gives to its own parts and to service accounts.
RESERVED_LOGIN_PREFIX = "system:"

# Each is a ClusterQueue and a LocalQueue. Kueue holds all of them in memory and etcd's usual
# quota is 2 GiB; clusters that are known to work have some thousands.
QUEUES_MAX = 20_000

_DNS_LABEL = re.compile(DNS_LABEL_PATTERN)


def ids(draft: Draft) -> Iterator[Problem]:
    """An id is a legal namespace, nobody else's, and stands once."""
    first: dict[str, str] = {}
    for key, project in draft.platform.keys.projects.items():
        steps = ("projects", key, "id") if project.id is not None else ("projects", key)
        tell = draft.problem if project.id is not None else draft.problem_at_key
        identity = resolve.identity(key, project)
        if _DNS_LABEL.fullmatch(identity) is None:
            yield tell("SPEC603", *steps, found=key)
        elif identity in RESERVED_IDS or identity.startswith(RESERVED_ID_PREFIXES):
            yield tell("SPEC601", *steps, found=identity)
        elif identity in first:
            yield tell("SPEC602", *steps, found=identity, other=first[identity])
        first.setdefault(identity, key)


def queue_names(draft: Draft) -> Iterator[Problem]:
    """Each of a project's queues has a name of its own that fits into a label."""
    first: dict[str, tuple[str, str]] = {}
    projects = draft.platform.keys.projects
    by_tier = {tier: tuple(_pools(draft, tier)) for tier in {p.tier for p in projects.values()}}
    keys = draft.platform.keys
    if sum(len(by_tier[project.tier]) for project in projects.values()) > QUEUES_MAX:
        # Which queues a project has whose tier is not known is not sure.
        queues = sum(len(by_tier[p.tier]) for p in projects.values() if p.tier in keys.tiers)
        if queues > QUEUES_MAX:
            yield draft.problem_at_key(
                *("SPEC616", "projects"),
                found=queues,
                projects=len(projects),
                pools=len(keys.pools),
                limit=QUEUES_MAX,
            )
        return
    for key, project in projects.items():
        steps = ("projects", key)
        pools = by_tier[project.tier]
        names = [labels.cluster_queue(resolve.identity(key, project), pool) for pool in pools]
        longest = max(names, key=len, default="")
        if len(longest) > NAME_LENGTH_MAX:
            length = len(longest)
            yield draft.problem_at_key("SPEC607", *steps, found=longest, length=length)
        for name, pool in zip(names, pools, strict=True):
            other = first.setdefault(name, (key, pool))
            if other[0] != key and other[1] != pool:
                yield draft.problem_at_key(
                    "SPEC606", *steps, found=name, pool=pool, other=other[0], other_pool=other[1]
                )


def _pools(draft: Draft, tier_name: str) -> Iterator[str]:
    """Yield the pools in which a tier's projects have a queue; all where it is not known."""
    tier = draft.platform.keys.tiers.get(tier_name)
    for name, pool in draft.platform.keys.pools.items():
        if pool.borrows_from is not None or tier is None or name in tier.cards:
            yield name


def logins(draft: Draft) -> Iterator[Problem]:
    """A login is one person's, and not one of Kubernetes itself."""
    owner: dict[str, tuple[str, str]] = {}
    for key, project in draft.platform.keys.projects.items():
        for user, keys in project.users.items():
            steps = ("projects", key, "users", user)
            for index, login in enumerate(resolve.logins(user, keys)):
                at = (*steps, "logins", index) if keys.logins else steps
                tell = draft.problem if keys.logins else draft.problem_at_key
                other = owner.setdefault(login, (user, key))
                if login.startswith(RESERVED_LOGIN_PREFIX):
                    yield tell("SPEC605", *at, found=login)
                elif other[0] != user:
                    yield tell("SPEC604", *at, found=login, other=other[0], project=other[1])


def people(draft: Draft) -> Iterator[Problem]:
    """A user's name is one person, in all projects: labels and books know only the name."""
    first: dict[str, tuple[tuple[str, ...], str]] = {}
    for key, project in draft.platform.keys.projects.items():
        for user, keys in project.users.items():
            found = resolve.logins(user, keys)
            other, where = first.setdefault(user, (found, key))
            if set(other) != set(found):
                yield draft.problem_at_key(
                    "SPEC614", "projects", key, "users", user, found=user, project=where
                )


CHECKS = (ids, queue_names, logins, people)
