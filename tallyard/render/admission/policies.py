"""The policies as objects: one that stamps, one that locks, one for all other namespaces.

Each has one binding and the one table. They fail closed: a request that they cannot decide is
refused. What the cluster itself does (its controllers, Kueue's, JobSet's) they let pass by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.rule import Lock, Stamp
from tallyard.render.admission.stamps import PARENTS, STAMPS
from tallyard.render.admission.variables import VARIABLES, VARIABLES_OF_LOCKS
from tallyard.render.manifest import Manifest, manifest

# Those who write on behalf of what was already looked at when a person submitted it.
_CONTROLLERS = (
    "system:kube-controller-manager",
    labels.account_login(labels.KUEUE_NAMESPACE, labels.KUEUE_ACCOUNT),
    labels.account_login(labels.JOBSET_NAMESPACE, labels.JOBSET_ACCOUNT),
)
# Each of Kubernetes' own controllers has an account there.
_KUBERNETES = labels.account_login("kube-system", "")
PEOPLE = (
    f"!(request.userInfo.username in {cel.texts(_CONTROLLERS)}) && "
    f"!request.userInfo.username.startsWith({cel.text(_KUBERNETES)})"
)

_PODS = ("", "v1", ("pods",), ("CREATE",))
_ALWAYS = ("CREATE", "UPDATE")
_SUBMITTED = (
    # No role lets people change a pod.
    _PODS,
    ("batch", "v1", ("jobs", "cronjobs"), _ALWAYS),
    ("apps", "v1", ("deployments", "statefulsets"), _ALWAYS),
    (labels.JOBSET_GROUP, labels.JOBSET_VERSION, ("jobsets",), _ALWAYS),
)

_SENTENCES_MAX = 8
# Of a `messageExpression` of more than 5 KiB the API server tells nothing at all, and a letter may
# have four bytes.
_LETTERS_MAX = 5 * 1024 // 4 - len(" .... And 1000000000 more")
# Locks in one expression.
_BATCH = 5


def policy_manifests() -> Iterator[Manifest]:
    """Yield the policies; they do nothing until they are bound."""
    yield stamp_policy()
    yield lock_policy()
    yield elsewhere_policy()


def binding_manifests() -> Iterator[Manifest]:
    """Yield the bindings; from then on nothing is let in that the table does not know."""
    yield stamp_binding()
    yield lock_binding()
    yield elsewhere_binding()


def stamp_policy(stamps: Iterable[Stamp] = STAMPS, name: str = labels.STAMP_POLICY) -> Manifest:
    """Return the policy that stamps.

    It has one mutation, because each one costs the API server a pass through the object.
    """
    return manifest(
        "mutating-policy",
        name=name,
        table_kind=labels.PROJECT_TABLE_KIND,
        rules=_rules(*_SUBMITTED),
        selector=_projects(),
        conditions=[{"name": "people", "expression": PEOPLE}],
        variables=_variables(VARIABLES),
        patches=cel.one_line(
            cel.where(
                "variables.isSmall",
                f"({cel.joined((PARENTS, *(stamp.patches for stamp in stamps)))})",
            )
        ),
    )


def lock_policy(
    locks: Iterable[Lock] = LOCKS, name: str = labels.LOCK_POLICY, *, first: Iterable[Lock] = FIRST
) -> Manifest:
    """Return the policy that refuses.

    It has one validation, because of several the API server tells the first only, and a person
    wants all that is wrong at once.
    """
    # Each variable may take as long as the API server lets an expression take.
    parts = {f"faults{n}": _faults(each) for n, each in enumerate(batched(locks, _BATCH))}
    rest = " + ".join(f"variables.{part}" for part in parts)
    variables = {
        **VARIABLES_OF_LOCKS,
        "first": _faults(first),
        **parts,
        "faults": f"size(variables.first) > 0 ? variables.first : {rest}",
    }
    return manifest(
        "validating-policy",
        name=name,
        table_kind=labels.PROJECT_TABLE_KIND,
        rules=_rules(*_SUBMITTED),
        selector=_projects(),
        conditions=[{"name": "people", "expression": PEOPLE}],
        variables=_variables(variables),
        holds="size(variables.faults) == 0",
        sentence=_told("variables.faults"),
    )


def elsewhere_policy() -> Manifest:
    """Return the policy for namespaces that are no project's: there are no cards to be had."""
    faults = {
        "cards": (
            "(object.spec.containers + object.spec.?initContainers.orValue([])).exists(c, "
            "params.spec.resources.exists(r, r in c.?resources.limits.orValue({}) || "
            "r in c.?resources.requests.orValue({})))"
        ),
        "tolerates": (
            "object.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == "
            f"{cel.text(labels.POOL_TAINT)})"
        ),
    }
    return manifest(
        "validating-policy",
        name=labels.ELSEWHERE_POLICY,
        table_kind=labels.PROJECT_TABLE_KIND,
        rules=_rules(_PODS),
        selector=_elsewhere(),
        conditions=[],
        variables=_variables(faults),
        holds="!variables.cards && !variables.tolerates",
        sentence=(
            "'namespace ' + request.namespace + ' is of no project, and cards and the hosts that "
            "have them are given through the queues of projects: submit this in the namespace of a "
            "project [cards-elsewhere]'"
        ),
    )


type Selector = Sequence[Mapping[str, object]]


def stamp_binding(name: str = labels.STAMP_POLICY, selector: Selector | None = None) -> Manifest:
    """Return the binding of a policy that stamps; without `selector` for all projects."""
    return _binding("mutating-binding", name, selector or _projects())


def lock_binding(name: str = labels.LOCK_POLICY, selector: Selector | None = None) -> Manifest:
    """Return the binding of a policy that refuses; without `selector` for all projects."""
    return _binding("validating-binding", name, selector or _projects())


def elsewhere_binding() -> Manifest:
    """Return the binding for all namespaces but the projects' and the system's."""
    return _binding("validating-binding", labels.ELSEWHERE_POLICY, _elsewhere())


def _binding(template: str, name: str, selector: Selector) -> Manifest:
    return manifest(template, name=name, table=labels.PROJECT_TABLE, selector=selector)


def _projects() -> list[Mapping[str, object]]:
    return [{"key": labels.PROJECT, "operator": "Exists"}, _not_system()]


def _elsewhere() -> list[Mapping[str, object]]:
    return [{"key": labels.PROJECT, "operator": "DoesNotExist"}, _not_system()]


def _not_system() -> Mapping[str, object]:
    return {
        "key": labels.NAMESPACE_NAME,
        "operator": "NotIn",
        "values": list(labels.SYSTEM_NAMESPACES),
    }


def _rules(*rules: tuple[str, str, tuple[str, ...], tuple[str, ...]]) -> list[object]:
    return [
        {
            "group": group,
            "version": version,
            "resources": list(resources),
            "operations": list(operations),
        }
        for group, version, resources, operations in rules
    ]


def _variables(variables: Mapping[str, str]) -> list[Mapping[str, str]]:
    return [
        {"name": name, "expression": cel.one_line(expression)}
        for name, expression in variables.items()
    ]


def _faults(locks: Iterable[Lock]) -> str:
    """Return a list of all sentences, each with the name of its lock."""
    return cel.joined(f"({lock.faults}).map(s, s + ' [{lock.name}]')" for lock in locks)


def _told(faults: str) -> str:
    """Return all sentences as one; a line break would be the end of it for the API server."""
    few = (
        f"{faults}.slice(0, size({faults}) < {_SENTENCES_MAX} ? size({faults}) : {_SENTENCES_MAX})"
    )
    whole = f"[{few}.map(f, string(f)).join('. ').replace('\\n', ' ')]"
    cut = f"s.substring(0, {_LETTERS_MAX}) + ' ...'"
    return (
        f"{whole}.map(s, size(s) > {_LETTERS_MAX} ? {cut} : s)[0] + "
        f"(size({faults}) > {_SENTENCES_MAX} ? '. And ' + "
        f"string(size({faults}) - {_SENTENCES_MAX}) + ' more' : '')"
    )
