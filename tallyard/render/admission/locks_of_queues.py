"""Which queue takes what: services, agents, times, places."""

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Lock

_QUEUES = "variables.project.queues.transformList(q, ms, q).sort().join(', ')"
_RESOURCE = "variables.asks[0].resource"
_OFFERING = (
    "variables.project.queues.transformList(q, ms, ms.exists(m, "
    f"params.spec.pools[q].resources[?m].orValue('') == {_RESOURCE}), q).sort()"
)
_NO_QUEUE = cel.when(
    "variables.queue == ''",
    "size(variables.asks) == 0 ? "
    + cel.said(f"name a queue by the label {labels.QUEUE_NAME}: {{}}", _QUEUES)
    + f" : size({_OFFERING}) > 0 ? "
    + cel.said(
        f"{{}} is given through a queue: name one by the label {labels.QUEUE_NAME}: {{}}",
        _RESOURCE,
        f"{_OFFERING}.join(', ')",
    )
    + " : "
    + cel.said(
        "{} is given through a queue, and no queue of project {} has it: ask for what they have "
        f"and name one by the label {labels.QUEUE_NAME}: {{}}",
        _RESOURCE,
        "variables.project.key",
        _QUEUES,
    ),
)

# A queue that a project has lost may still hold work, which can be changed until it ends.
_BEFORE = f"{cel.label('variables.before', labels.QUEUE_NAME)}.orValue('')"
_OTHERS_QUEUE = cel.when(
    f"(variables.isFresh || variables.queue != {_BEFORE}) && "
    "variables.queue != '' && !(variables.queue in variables.project.queues)",
    cel.said(
        "queue {} is not a queue of project {}; it has {}",
        "variables.queue",
        "variables.project.key",
        _QUEUES,
    ),
)

_OF_SERVICES = (
    "variables.project.queues.transformList(q, ms, params.spec.pools[q].services && "
    "(size(variables.asks) == 0 ? params.spec.pools[q].cpu : ms.exists(m, "
    f"params.spec.pools[q].resources[?m].orValue('') == {_RESOURCE})), q).sort()"
)
_ENDLESS = cel.when(
    "variables.isFresh && variables.isService && !variables.pool.?services.orValue(true)",
    cel.said(
        "a {} has no end and cannot be in queue {}: use {}a Job",
        "request.kind.kind",
        "variables.queue",
        f"(size({_OF_SERVICES}) > 0 ? 'queue ' + {_OF_SERVICES}.join(' or ') + ', or ' : '')",
    ),
)

_LIMIT = f"{cel.label('variables.carrier.meta', labels.MAX_EXEC_TIME)}.orValue('')"
_LIMIT_BEFORE = f"{cel.label('variables.before', labels.MAX_EXEC_TIME)}.orValue('')"
_IS_SERVICE_LIMITED = (
    "([object.metadata] + variables.templates.map(t, t.meta))"
    f".exists(m, {cel.text(labels.MAX_EXEC_TIME)} in m.?labels.orValue({{}}))"
)
# Nine digits are more than thirty years, and fit into the number that Kueue has for it.
_IS_IN_BOUND = (
    f"{_LIMIT}.matches('^[1-9][0-9]{{0,8}}$') && int({_LIMIT}) <= variables.project.maxSeconds"
)
_MAX_IN_WORDS = (
    "(variables.project.maxSeconds < 7200 ? string(variables.project.maxSeconds / 60) + ' min' : "
    "string(variables.project.maxSeconds / 3600) + ' h')"
)
_TIMELESS = (
    "variables.isService ? "
    + cel.when(
        _IS_SERVICE_LIMITED,
        cel.said(
            f"{labels.MAX_EXEC_TIME} on a {{}} would stop each pod for another to begin: leave it "
            "out, or use a Job",
            "request.kind.kind",
        ),
    )
    + " : "
    # A tier that was lowered says nothing of what had been submitted.
    + cel.when(
        "(variables.isFresh || request.kind.kind != 'CronJob' && "
        f"{_LIMIT} != {_LIMIT_BEFORE}) && !({_IS_IN_BOUND})",
        cel.said(
            f"{labels.MAX_EXEC_TIME} must be a number of seconds from 1 to {{}} ({{}}) in project "
            '{}, and is "{}": 2 hours are "7200"',
            "string(variables.project.maxSeconds)",
            _MAX_IN_WORDS,
            "variables.project.key",
            cel.short(_LIMIT),
        ),
    )
)

_PODS = (
    "variables.isService ? [dyn(object.spec.?replicas.orValue(1))] : "
    "size(variables.jobs) == 0 ? [dyn(1)] : variables.jobs.map(j, dyn(j.pods))"
)
_SWARM = cel.where(
    "has(variables.pool.podsPerAgent) && "
    f"[object.metadata, variables.carrier.meta].exists(m, {cel.text(labels.AGENT)} in "
    "m.?labels.orValue({}))",
    f"[({_PODS}).map(n, int(n)).sum()].filter(n, n > variables.pool.podsPerAgent).map(n, "
    + cel.said(
        "an agent may start {} pods at once in queue {}, and this one {}: ask for fewer",
        "string(variables.pool.podsPerAgent)",
        "variables.queue",
        "string(n)",
    )
    + ")",
)

_LEVELS = "params.spec.levels.transformList(k, v, k).sort().join(', ')"
_NOWHERE = (
    "([object.metadata, variables.carrier.meta] + variables.templates.map(t, t.meta))"
    f".map(m, {cel.annotation('m', labels.WITHIN)}.orValue(''))"
    ".filter(l, l != '' && !(l in params.spec.levels)).distinct().map(l, "
    + cel.said(f'{labels.WITHIN} is "{{}}": it can be {{}}', cel.short("l"), _LEVELS)
    + ")"
)

LOCKS: tuple[Lock, ...] = (
    Lock(
        "queue-named",
        _NO_QUEUE,
    ),
    Lock(
        "queue-own",
        _OTHERS_QUEUE,
    ),
    Lock(
        "services-end",
        _ENDLESS,
    ),
    Lock(
        "time-limited",
        _TIMELESS,
    ),
    Lock(
        "agent-pods",
        _SWARM,
    ),
    Lock(
        "within-known",
        _NOWHERE,
    ),
)
