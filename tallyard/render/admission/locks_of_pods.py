"""What a pod template may not say of hosts: by name, by label, by toleration, by claim."""

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Lock, of_fresh_template

# The keys of the flavors on which people select; by others Kueue and the scheduler would
# disagree, and a job hold quota for a place that it never gets.
_SELECTABLE = cel.texts((labels.GPU_MODEL, labels.GPU_MEMORY))
_USE = f"select by {labels.GPU_MODEL} or {labels.GPU_MEMORY}, and leave the rest to the queue"

_IS_CPU_POOL = (
    f"k == {cel.text(labels.NODE_POOL)} && size(t.asks) == 0 && "
    f"t.spec.nodeSelector[k] == {cel.text(labels.CPU_POOL)}"
)
_SELECTORS = (
    "variables.choices.map(t, t.spec.?nodeSelector.orValue({}).map(k, k)"
    f".filter(k, !(k in {_SELECTABLE}) && !({_IS_CPU_POOL})).map(k, "
    + cel.said(f"nodeSelector names {{}}: {_USE}", "k")
    + ")).flatten()"
)
_TERMS = (
    "variables.choices.map(t, t.terms.map(m, "
    "(m.?matchExpressions.orValue([]) + m.?matchFields.orValue([]))"
    f".filter(e, !(e.key in {_SELECTABLE})).map(e, "
    + cel.said(f"nodeAffinity names {{}}: {_USE}", "e.key")
    + ")).flatten()).flatten()"
)

# The API server adds these to every pod.
_TOLERABLE = cel.texts(("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"))
_TOLERATIONS = (
    "variables.templates.map(t, t.spec.?tolerations.orValue([])"
    f".filter(o, !(o.?key.orValue('') in {_TOLERABLE})).map(o, "
    + cel.said(
        "a toleration of {} is not for people to write: leave it out, the queue gives those of "
        "its pool",
        "(o.?key.orValue('') == '' ? 'everything' : o.key)",
    )
    + ")).flatten()"
)

_PLACED = cel.joined(
    (
        "variables.templates.filter(t, t.spec.?nodeName.orValue('') != '').map(t, "
        + cel.said(
            "nodeName is {}: leave it out, it bypasses the scheduler and the queue",
            cel.short("t.spec.nodeName"),
        )
        + ")",
        "variables.templates.filter(t, "
        "!(t.spec.?schedulerName.orValue('') in ['', 'default-scheduler'])).map(t, "
        + cel.said(
            "schedulerName is {}: leave it out, the cluster has one scheduler",
            cel.short("t.spec.schedulerName"),
        )
        + ")",
    )
)

# Of Kubernetes, and of JobSet's jobs; another one may never make a pod and hold its quota.
_MAKERS = cel.texts(("", "kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller"))
_MADE = "(request.kind.kind == 'JobSet' ? [dyn(object.spec)] : []) + variables.jobs.map(j, j.spec)"
_MANAGED = (
    f"({_MADE}).filter(s, !(s.?managedBy.orValue('') in {_MAKERS})).map(s, "
    + cel.said("managedBy is {}: leave it out", cel.short("s.managedBy"))
    + ")"
)

_HOST = cel.text(labels.NODE_HOSTNAME)
_AFFINITIES = (
    "['podAffinity', 'podAntiAffinity'].map(k, "
    "t.spec.?affinity[?k].requiredDuringSchedulingIgnoredDuringExecution.orValue([]).map(a, "
    + cel.record(kind="k", term="a")
    + ")).flatten()"
)
_NEIGHBOURS = (
    f"variables.templates.map(t, {_AFFINITIES}"
    ".filter(a, size(a.term.?namespaces.orValue([])) > 0 || has(a.term.namespaceSelector) || "
    f"a.term.?topologyKey.orValue('') != {_HOST}).map(a, "
    + cel.said(
        "{} looks beyond your own pods on a host: leave out namespaces and namespaceSelector, "
        f"and take topologyKey {labels.NODE_HOSTNAME}; the annotation {labels.WITHIN} keeps pods "
        "together",
        "a.kind",
    )
    + ")).flatten()"
)

_CLAIMS = (
    "variables.templates.filter(t, size(t.spec.?resourceClaims.orValue([])) > 0).map(t, "
    + cel.text("resourceClaims are counted by no quota: ask for cards by resources.limits")
    + ")"
)

_PRIORITY = cel.where(
    "has(variables.pool.priority)",
    "variables.templates.filter(t, "
    "t.spec.?priorityClassName.orValue('') != variables.pool.priority).map(t, "
    + cel.said(
        'priorityClassName is "{}": leave it out, in queue {} it is {}',
        "t.spec.?priorityClassName.orValue('')",
        "variables.queue",
        "variables.pool.priority",
    )
    + ")",
)


LOCKS: tuple[Lock, ...] = (
    of_fresh_template(
        "hosts-by-queue",
        cel.joined((_SELECTORS, _TERMS)),
    ),
    of_fresh_template(
        "taints-kept",
        _TOLERATIONS,
    ),
    of_fresh_template(
        "scheduler-asked",
        cel.joined((_PLACED, _MANAGED)),
    ),
    of_fresh_template(
        "neighbours-own",
        _NEIGHBOURS,
    ),
    of_fresh_template(
        "claims-none",
        _CLAIMS,
    ),
    of_fresh_template(
        "priority-given",
        _PRIORITY,
    ),
)
