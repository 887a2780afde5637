"""What the policies know of a request, as CEL variables: who asks, for what, by which template.

CEL has no functions, and a variable may use only those above it, so the order counts. `params`
is the table (`table.py`). None may fail on an object that the API server can be sent: a policy
that fails refuses, and its sentence is not ours. So what may be missing is asked for by `.?`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallyard import labels
from tallyard.render.admission import cel, form, keys
from tallyard.render.admission.cel import label, record, text


def _template(path: str, place: str) -> str:
    return record(
        path=path, meta=f"{place}.metadata.orValue({{}})", spec=f"{place}.spec.orValue({{}})"
    )


def _few(number: str) -> str:
    """Return a number with which a product cannot be too large for one."""
    return f"({number} < 0 || {number} > {_PODS_MAX} ? {_PODS_MAX} : {number})"


# No cluster has so many.
_PODS_MAX = 1_000_000
_REPLICATED = "object.?spec.replicatedJobs.orValue([])"
_LISTS = ("containers", "initContainers")
_REPLICATED_PATH = "'/spec/replicatedJobs/' + string(i) + '/template/spec'"

# A pod template is told as {path, meta, spec}, whatever kind it is in; a bare Pod is its own.
_TEMPLATES = f"""
request.kind.kind == 'Pod' ? [{record(path="''", meta="object.metadata", spec="object.spec")}] :
request.kind.kind == 'CronJob' ? [{
    _template("'/spec/jobTemplate/spec/template'", "object.spec.jobTemplate.spec.?template")
}] :
request.kind.kind == 'JobSet' ? {_REPLICATED}.transformList(i, r, {
    _template(f"{_REPLICATED_PATH} + '/template'", "r.?template.spec.template")
}) :
[{_template("'/spec/template'", "object.spec.?template")}]
"""

# The API server ends an expression that takes too long. So many can be looked at; what people
# write has a few of each.
CONTAINERS_MAX = 512
ENTRIES_MAX = 4096
_TERMS = cel.listed(
    "t.spec.?affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
)
_CONTAINER_COUNT = " + ".join(f"size({cel.listed(f't.spec.?{each}')})" for each in _LISTS)
_EXPRESSIONS = (
    f"{_TERMS}.map(m, 1 + size(m.?matchExpressions.orValue([])) + "
    "size(m.?matchFields.orValue([]))).sum()"
)
_IS_SMALL = (
    f"variables.isWhole && variables.templates.map(t, {_CONTAINER_COUNT}).sum() <= "
    f"{CONTAINERS_MAX} && variables.templates.map(t, {_EXPRESSIONS}).sum() <= {ENTRIES_MAX}"
)
_OF_TEMPLATE = " + ".join(
    f"size(t.{each})"
    for each in (
        "meta.?labels.orValue({})",
        "meta.?annotations.orValue({})",
        "spec.?nodeSelector.orValue({})",
        "spec.?tolerations.orValue([])",
        "spec.?volumes.orValue([])",
    )
)
_OF_CONTAINER = "size(c.limits) + size(c.requests) + size(c.spec.?ports.orValue([]))"
_OF_OBJECT = " + ".join(
    f"size(object.metadata.?{each})"
    for each in ("labels.orValue({})", "annotations.orValue({})", "ownerReferences.orValue([])")
)
_IS_BOUNDED = (
    f"variables.isSmall && {_OF_OBJECT} + variables.templates.map(t, {_OF_TEMPLATE}).sum() + "
    f"variables.containers.map(c, {_OF_CONTAINER}).sum() <= {ENTRIES_MAX}"
)

# Where a Job's own fields are; `pods` is how many of them run at once.
_JOBS = f"""
request.kind.kind == 'Job' ? [{
    record(
        path="'/spec'", spec="object.spec", meta="{}", pods="object.spec.?parallelism.orValue(1)"
    )
}] :
request.kind.kind == 'CronJob' ? [{
    record(
        path="'/spec/jobTemplate/spec'",
        spec="object.spec.jobTemplate.spec",
        meta="{}",
        pods="object.spec.jobTemplate.spec.?parallelism.orValue(1)",
    )
}] :
request.kind.kind == 'JobSet' ? {_REPLICATED}.transformList(i, r, {
    record(
        path=_REPLICATED_PATH,
        spec="r.?template.spec.orValue({})",
        meta="r.?template.metadata.orValue({})",
        pods=(
            f"{_few('r.?replicas.orValue(1)')} * {_few('r.?template.spec.parallelism.orValue(1)')}"
        ),
    )
}) : []
"""

# What Kueue reads stands on the object, of a CronJob on the Jobs that it will make.
_CARRIER = f"""
request.kind.kind == 'CronJob' ? {
    record(
        path="'/spec/jobTemplate/metadata'", meta="object.spec.jobTemplate.?metadata.orValue({})"
    )
} : {record(path="'/metadata'", meta="object.metadata")}
"""

_CONTAINERS = f"""
{cel.texts(_LISTS)}.map(list, {cel.listed("t.spec[?list]")}
  .transformList(i, c, {
    record(
        path="t.path + '/spec/' + list + '/' + string(i)",
        spec="c",
        limits="c.?resources.limits.orValue({})",
        requests="c.?resources.requests.orValue({})",
    )
})).flatten()
"""

# More than an integer holds is many.
_CARDS = """
!isQuantity(a.amount) ? 0 : quantity(a.amount).isInteger() ? quantity(a.amount).asInteger() :
quantity(a.amount).isGreaterThan(quantity('0')) ? 9223372036854775807 : 0
"""

# A container's cards are counted by its limit, which for cards is also its request.
_ASKS = f"""
t.containers.map(c, params.spec.resources
  .filter(r, r in c.limits || r in c.requests).map(r, {
    record(
        container="c",
        resource="r",
        # A JobSet's may still be a number.
        amount="string(c.limits[?r].or(c.requests[?r]).orValue(dyn('0')))",
    )
})).flatten()
.map(a, {record(container="a.container", resource="a.resource", cards=_CARDS)})
.filter(a, a.cards > 0)
"""

_TEMPLATE = {"path": "t.path", "meta": "t.meta", "spec": "t.spec"}
# A template with its containers and the cards that they ask for.
_LADEN = f"""
variables.templates.map(t, {record(**_TEMPLATE, containers=_CONTAINERS)})
.map(t, {record(**_TEMPLATE, containers="t.containers", asks=_ASKS)})
"""

_MEMORY = cel.asked("t", labels.GPU_MEMORY_LEAST)
# Whether a person has chosen cards. Of several terms any may hold, so each must choose.
_KEYS = cel.texts((labels.GPU_MODEL, labels.GPU_MEMORY))
_IS_CHOSEN = (
    f"{_KEYS}.exists(k, k in t.spec.?nodeSelector.orValue({{}})) || size(t.terms) > 0 && "
    "t.terms.all(m, m.?matchExpressions.orValue([]).exists(e, "
    f"e.?key.orValue('') in {_KEYS} && e.?operator.orValue('') == 'In'))"
)
_OFFERED = (
    "size(t.asks) == 0 ? [] : variables.models.filter(m, "
    "variables.pool.resources[?m].orValue('') == t.asks[0].resource)"
)
_FITS = (
    "t.memory != '' ? t.offered.filter(m, isQuantity(t.memory) && "
    "quantity(params.spec.models[m].memory).compareTo(quantity(t.memory)) >= 0) : "
    "variables.pool.?defaultModel.orValue('') in t.offered ? [variables.pool.defaultModel] : "
    "size(t.offered) == 1 ? t.offered : []"
)
_SAME = {**_TEMPLATE, "asks": "t.asks", "terms": "t.terms", "memory": "t.memory"}

# A template with its cards: `offered` are the models of its queue that have them, `fits` those
# that are meant when nobody has chosen.
_CHOICES = f"""
variables.laden.map(t, {record(**_TEMPLATE, asks="t.asks", terms=_TERMS, memory=_MEMORY)})
.map(t, {record(**_SAME, isChosen=_IS_CHOSEN, offered=_OFFERED)})
.map(t, {record(**_SAME, isChosen="t.isChosen", offered="t.offered", fits=_FITS)})
"""

_PROJECT = f"params.spec.projects[?namespaceObject.metadata.labels[{text(labels.PROJECT)}]]"
# Who pays: whoever made it, also when somebody else of the project changes it.
_ASKING = (
    "variables.project.?users[?request.userInfo.username]"
    ".or(variables.project.?defaultUser).orValue('')"
)
_USER = (
    f"variables.isNew || !({text(labels.USER)} in oldObject.metadata.?labels.orValue({{}})) ? "
    f"{_ASKING} : oldObject.metadata.labels[{text(labels.USER)}]"
)
_QUEUE = (
    f"variables.labels[?{text(labels.QUEUE_NAME)}]"
    f".or({label('object.metadata', labels.QUEUE_NAME)})"
    ".orValue(size(variables.asks) == 0 ? variables.project.?cpuQueue.orValue('') : '')"
)

# Whether the pod template has just been written. Into that of admitted work Kueue has written its
# flavor, and one that was there before the policies is not stamped because of a label.
_IS_FRESH = """
variables.isNew || (
  request.kind.kind == 'CronJob' ? object.spec.jobTemplate != oldObject.spec.jobTemplate :
  request.kind.kind == 'JobSet' ?
    object.?spec.replicatedJobs != oldObject.?spec.replicatedJobs :
  object.spec.template != oldObject.spec.template)
"""

# Those that both policies use, in the order in which they use one another.
VARIABLES: Mapping[str, str] = {
    "project": f"dyn({_PROJECT}.orValue({{}}))",
    "isNew": "request.operation == 'CREATE'",
    "isFresh": _IS_FRESH,
    "isWhole": form.IS_WHOLE,
    "user": f"dyn({_USER})",
    "templates": _TEMPLATES,
    "isSmall": _IS_SMALL,
    "jobs": _JOBS,
    "carrier": _CARRIER,
    "labels": "dyn(variables.carrier.meta.?labels.orValue({}))",
    "isService": "request.kind.kind in ['Deployment', 'StatefulSet']",
    "laden": _LADEN,
    "containers": "variables.laden.map(t, t.containers).flatten()",
    "asks": "variables.laden.map(t, t.asks).flatten()",
    "queue": f"dyn({_QUEUE})",
    "models": "dyn(variables.project.?queues[?variables.queue].orValue([]))",
    "pool": (
        "dyn(variables.queue in variables.project.?queues.orValue({}) ? "
        "params.spec.pools[variables.queue] : {})"
    ),
    "choices": _CHOICES,
}

# Those that only what refuses uses.
VARIABLES_OF_LOCKS: Mapping[str, str] = {
    **VARIABLES,
    "isBounded": _IS_BOUNDED,
    # What was decided when it was submitted; a CronJob's next jobs are decided anew.
    "before": (
        "variables.isNew || request.kind.kind == 'CronJob' ? dyn({}) : dyn(oldObject.metadata)"
    ),
    "strange": keys.STRANGE,
}
