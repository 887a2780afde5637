"""On which hosts pods run, with which rights, how they stop and how long they are kept."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Stamp, fresh

# Any number will do that is not root's: an image that names its user by a name, or none at all,
# is otherwise refused by the kubelet long after it was submitted.
USER_ID = 1000
# Kubernetes writes this where nobody said anything, before any policy sees the object.
_GRACE_UNSAID = 30


def _select(key: str, value: str) -> str:
    """Return the patches that add one node selector to a template `t`."""
    return (
        cel.when("!has(t.spec.nodeSelector)", cel.add("t.path + '/spec/nodeSelector'", "{}"))
        + f" + [{cel.add(f"t.path + '/spec/nodeSelector/{cel.pointer(key)}'", value)}]"
    )


_AMONG = (
    cel.when("!has(t.spec.affinity)", cel.add("t.path + '/spec/affinity'", "{}"))
    + " + "
    + cel.when(
        "!has(t.spec.affinity) || !has(t.spec.affinity.nodeAffinity)",
        cel.add("t.path + '/spec/affinity/nodeAffinity'", "{}"),
    )
    + " + ["
    + cel.add(
        "t.path + '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution'",
        "{'nodeSelectorTerms': [{'matchExpressions': [{"
        f"'key': dyn({cel.text(labels.GPU_MODEL)}), 'operator': dyn('In'), 'values': dyn(t.fits)"
        "}]}]}",
    )
    + "]"
)

_HOSTS = (
    "variables.choices.map(t, size(t.asks) == 0 ? "
    + cel.where(
        "variables.pool.?cpu.orValue(false)",
        f"({_select(labels.NODE_POOL, cel.text(labels.CPU_POOL))})",
    )
    + " : t.isChosen || size(t.fits) == 0 ? [] : "
    f"size(t.fits) == 1 ? {_select(labels.GPU_MODEL, 't.fits[0]')} : "
    f"{cel.where('size(t.terms) == 0', f'({_AMONG})')}).flatten()"
)


def _security(spec: str, path: str, keys: tuple[tuple[str, str], ...]) -> str:
    """Return the patches of a security context's keys that are not there."""
    context = f"{spec}.securityContext"
    return " + ".join(
        (
            cel.when(f"!has({context})", cel.add(f"{path} + '/securityContext'", "{}")),
            *(
                cel.when(
                    f"!has({context}) || !has({context}.{key})",
                    cel.add(f"{path} + '/securityContext/{key}'", value),
                )
                for key, value in keys
            ),
        )
    )


_OF_POD = (
    ("runAsNonRoot", "true"),
    ("runAsUser", str(USER_ID)),
    ("seccompProfile", "{'type': 'RuntimeDefault'}"),
)
# Beside `privileged`, which a lock refuses, the API server itself refuses the false.
_ESCALATION = "(c.spec.?securityContext.privileged.orValue(false) ? true : false)"
_OF_CONTAINER = (("allowPrivilegeEscalation", _ESCALATION), ("capabilities", "{}"))
_SECURITY = cel.joined(
    (
        f"variables.templates.map(t, {_security('t.spec', "t.path + '/spec'", _OF_POD)}).flatten()",
        f"variables.containers.map(c, {_security('c.spec', 'c.path', _OF_CONTAINER)} + "
        + cel.when(
            "!('ALL' in c.spec.?securityContext.capabilities.drop.orValue([]))",
            cel.add("c.path + '/securityContext/capabilities/drop'", "['ALL']"),
        )
        + ").flatten()",
    )
)

_GRACE = (
    "variables.templates.filter(t, has(variables.pool.graceSeconds) && "
    f"(t.spec.?terminationGracePeriodSeconds.orValue({_GRACE_UNSAID}) == {_GRACE_UNSAID} || "
    "t.spec.terminationGracePeriodSeconds > variables.pool.graceSeconds)).map(t, "
    + cel.add("t.path + '/spec/terminationGracePeriodSeconds'", "variables.pool.graceSeconds")
    + ")"
)

# These stand beside a Job's template. In those of other kinds they are a part of what is made later.
_BACKOFF = cel.where(
    "has(variables.pool.backoffLimit) && (variables.isFresh || request.kind.kind == 'Job')",
    "variables.jobs.filter(j, j.spec.?backoffLimit.orValue(6) > variables.pool.backoffLimit).map(j, "
    + cel.add("j.path + '/backoffLimit'", "variables.pool.backoffLimit")
    + ")",
)

_RETENTION = cel.where(
    "variables.isFresh || request.kind.kind == 'Job'",
    "(request.kind.kind == 'JobSet' ? "
    f"[{cel.record(path=cel.text('/spec'), spec='object.spec')}] : "
    f"variables.jobs.map(j, {cel.record(path='j.path', spec='j.spec')}))"
    ".filter(j, !has(j.spec.ttlSecondsAfterFinished)).map(j, "
    + cel.add("j.path + '/ttlSecondsAfterFinished'", "params.spec.retentionSeconds")
    + ")",
)

_WITHIN = (
    "variables.templates.map(t, "
    + cel.record(path="t.path", meta="t.meta", level=cel.asked("t", labels.WITHIN))
    + ").filter(t, t.level in params.spec.levels).map(t, "
    + cel.when(
        "!has(t.meta.annotations) && request.kind.kind != 'Pod'",
        cel.add("t.path + '/metadata/annotations'", "{}"),
    )
    + " + ["
    + cel.add(
        f"t.path + '/metadata/annotations/{cel.pointer(labels.REQUIRED_TOPOLOGY)}'",
        "params.spec.levels[t.level]",
    )
    + "]).flatten()"
)

STAMPS: tuple[Stamp, ...] = (
    Stamp(
        "hosts",
        (
            "the default model, the models with the memory asked for, or the CPU hosts",
            "默认型号、显存满足要求的型号，或 CPU 主机",
        ),
        fresh(_HOSTS),
    ),
    Stamp(
        "security",
        (
            "what Pod Security `restricted` wants said: no root, no new rights",
            "Pod 安全标准 restricted 要求写明的内容：不以 root 运行，不获得新权限",
        ),
        fresh(_SECURITY),
    ),
    Stamp(
        "grace",
        (
            "the pool's bound for how long work may take to stop",
            "资源池规定的停止宽限时间上限",
        ),
        fresh(_GRACE),
    ),
    Stamp(
        "backoff",
        ("the pool's bound for how often a job begins again", "资源池规定的作业重试次数上限"),
        _BACKOFF,
    ),
    Stamp(
        "retention",
        ("how long a finished job is kept", "作业结束后保留多久"),
        _RETENTION,
    ),
    Stamp(
        "within",
        (
            "the level of the topology that all pods must share",
            "所有 Pod 必须同处的拓扑层级",
        ),
        fresh(_WITHIN),
    ),
)
