"""What is written into what a person submits, so that a short manifest is a whole one.

A stamp fills in what was left out. Two kinds of thing are written whatever was said: whose
work it is and its priority, which are not the person's to choose. A pod template is filled in
whenever it was written: who sends the same manifest again changes nothing.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Stamp

# Where labels go: the object, what Kueue reads of it, and each pod template.
_OBJECT = f"[{cel.record(path=cel.text('/metadata'), meta='object.metadata')}]"
_TEMPLATES = cel.where(
    "request.kind.kind != 'Pod'",
    f"variables.templates.map(t, {cel.record(path="t.path + '/metadata'", meta='t.meta')})",
)
_CARRIER = "(request.kind.kind != 'CronJob' || variables.isFresh ? [variables.carrier] : [])"
# The jobs of a CronJob, and all pods.
_OF_LATER = cel.where(
    "variables.isFresh",
    f"({cel.joined((cel.where("request.kind.kind == 'CronJob'", _CARRIER), _TEMPLATES))})",
)
_METAS = cel.joined((_OBJECT, _OF_LATER))

# Any number will do that is not root's: an image that names its user by a name, or none at all,
# is otherwise refused by the kubelet long after it was submitted.
USER_ID = 1000
# Kubernetes writes this where nobody said anything, before any policy sees the object.
_GRACE_UNSAID = 30


def _fresh(patches: str) -> str:
    """Return patches of a pod template, none where it was not written."""
    return cel.where("variables.isFresh", f"({patches})")


def _parents(metas: str, part: str) -> str:
    """Return the patches that make `labels` or `annotations` where there are none."""
    missing_meta = cel.add("m.path", "{}")
    missing_part = cel.add(f"m.path + '/{part}'", "{}")
    return (
        f"({metas}).map(m, "
        + cel.when("size(m.meta) == 0", missing_meta)
        + f" + {cel.when(f'!has(m.meta.{part})', missing_part)}).flatten()"
    )


def _label(key: str, value: str, metas: str, *, only_if: str = "true") -> str:
    """Return the patches that write one label, whatever stands there."""
    patch = cel.add(f"m.path + '/labels/{cel.pointer(key)}'", value)
    return cel.where(only_if, f"{metas}.map(m, {patch})")


def _first_label(key: str, value: str, metas: str, *, only_if: str = "true") -> str:
    """Return the patches that write a label until it stands there.

    That it is kept from then on is for a lock: what somebody wants to change is not put right
    in silence.
    """
    patch = cel.add(f"m.path + '/labels/{cel.pointer(key)}'", value)
    is_open = f"variables.isNew || !({cel.text(key)} in m.meta.?labels.orValue({{}}))"
    return cel.where(only_if, f"{metas}.map(m, {cel.when(is_open, patch)}).flatten()")


# Comes before all stamps: a patch can only add to what is there.
PARENTS = cel.joined(
    (
        _parents(_METAS, "labels"),
        _parents(_OBJECT, "annotations"),
        _fresh(
            "variables.containers.filter(c, size(c.limits) > 0 && size(c.requests) == 0).map(c, "
            + cel.add("c.path + '/resources/requests'", "{}")
            + ")"
        ),
    )
)

_LOGIN_BEFORE = f"{cel.annotation('oldObject.metadata', labels.LOGIN)}.orValue('')"
_IS_LOGIN_LOST = (
    f"{_LOGIN_BEFORE} != '' && "
    f"!({cel.text(labels.LOGIN)} in object.metadata.?annotations.orValue({{}}))"
)
_HAS_PROJECT, _HAS_USER = "has(variables.project.id)", "variables.user != ''"
_OWNER = cel.joined(
    (
        _first_label(labels.PROJECT, "variables.project.id", _OBJECT, only_if=_HAS_PROJECT),
        _first_label(labels.USER, "variables.user", _OBJECT, only_if=_HAS_USER),
        # What is made from it later may be written anew, with whatever labels.
        _label(labels.PROJECT, "variables.project.id", _OF_LATER, only_if=_HAS_PROJECT),
        _label(labels.USER, "variables.user", _OF_LATER, only_if=_HAS_USER),
        cel.when(
            f"variables.isNew || {_IS_LOGIN_LOST}",
            cel.add(
                f"'/metadata/annotations/{cel.pointer(labels.LOGIN)}'",
                f"(variables.isNew ? request.userInfo.username : {_LOGIN_BEFORE})",
            ),
        ),
    )
)

_QUEUE = _first_label(
    labels.QUEUE_NAME, "variables.queue", _CARRIER, only_if="variables.queue != ''"
)


_HAS_PRIORITY = "has(variables.pool.priority)"
# The API server has computed the number of the priority by now, and the policy that it came
# with; both would contradict the name.
_NUMBERS = (
    "(request.kind.kind == 'Pod' ? ['priority', 'preemptionPolicy'].filter(f, f in t.spec)"
    ".map(f, JSONPatch{op: 'remove', path: t.path + '/spec/' + f}) : [])"
)
_CLASS = cel.add("t.path + '/spec/priorityClassName'", "variables.pool.priority")
_PRIORITY = cel.joined(
    (
        _first_label(
            labels.PRIORITY_CLASS, "variables.pool.priority", _CARRIER, only_if=_HAS_PRIORITY
        ),
        # Its next jobs may go to another queue.
        _label(
            labels.PRIORITY_CLASS,
            "variables.pool.priority",
            _CARRIER,
            only_if=f"{_HAS_PRIORITY} && request.kind.kind == 'CronJob'",
        ),
        _fresh(
            cel.where(
                _HAS_PRIORITY, f"variables.templates.map(t, {_NUMBERS} + [{_CLASS}]).flatten()"
            )
        ),
    )
)

_TIME_LIMIT = _first_label(
    labels.MAX_EXEC_TIME,
    "string(variables.project.defaultSeconds)",
    _CARRIER,
    only_if=(
        "!variables.isService && has(variables.project.defaultSeconds) && "
        f"!({cel.text(labels.MAX_EXEC_TIME)} in variables.labels)"
    ),
)


# What the namespace's LimitRange has put into a bare pod, which it sees before any policy does,
# was said by nobody. It notes so: "LimitRanger plugin set: cpu, memory request for container x".
_FILLED = cel.annotation("object.metadata", "kubernetes.io/limit-ranger") + ".orValue('')"


def _is_unsaid(resource: str) -> str:
    name = cel.text(resource)
    return (
        f"(!({name} in a.container.limits) && (!({name} in a.container.requests) || "
        f"a.filled.exists(f, f.contains({name}))))"
    )


def _of_container(part: str, value: str) -> str:
    """Return the patch of one part of the resources of a container that asks for cards."""
    return cel.add(f"a.container.path + '/resources/{part}'", value)


# With so many nothing can be multiplied beyond what a number holds; no host has them.
_CARDS_MAX = 1_000_000
_NO_CPU, _NO_MEMORY = _is_unsaid("cpu"), _is_unsaid("memory")
_MILLI_CPU = "a.cards * variables.pool.milliCpu"
_CPU = f"({_MILLI_CPU} % 1000 == 0 ? string({_MILLI_CPU} / 1000) : string({_MILLI_CPU}) + 'm')"
_MEMORY = "string(a.cards * variables.pool.memory) + variables.pool.memoryUnit"
_ASKS = (
    f"variables.asks.filter(a, a.cards <= {_CARDS_MAX}).map(a, "
    + cel.record(
        container="a.container",
        cards="a.cards",
        filled=(
            f"request.kind.kind != 'Pod' ? [] : {_FILLED}.split('; ')"
            ".filter(f, f.endsWith(' request for container ' + a.container.spec.name))"
        ),
    )
    + ")"
)

# CPU has no limit: what is idle beside the cards may be used.
_PER_CARD = cel.where(
    "has(variables.pool.milliCpu)",
    f"{_ASKS}.map(a, "
    + " + ".join(
        (
            cel.when(
                f"{_NO_MEMORY} && size(a.container.limits) == 0", _of_container("limits", "{}")
            ),
            cel.when(_NO_MEMORY, _of_container("limits/memory", _MEMORY)),
            cel.when(_NO_MEMORY, _of_container("requests/memory", _MEMORY)),
            cel.when(_NO_CPU, _of_container("requests/cpu", _CPU)),
        )
    )
    + ").flatten()",
)

# For a pod the API server does this itself. Kueue counts a template by the defaults of the
# namespace, which are small, before it looks at the limits.
_REQUESTS = (
    "variables.containers.map(c, c.limits.transformList(k, v, !(k in c.requests), "
    + cel.add("c.path + '/resources/requests/' + jsonpatch.escapeKey(k)", "v")
    + ")).flatten()"
)

# As docker reads a name: what stands before the first slash is a host if it looks like one.
_HOST = "c.spec.image.split('/')[0]"
_NAMES_HOST = (
    "c.spec.image.contains('/') && "
    f"({_HOST}.contains('.') || {_HOST}.contains(':') || {_HOST} == 'localhost')"
)
_REGISTRY = cel.where(
    "params.spec.registry != ''",
    "variables.containers.filter(c, c.spec.?image.orValue('') != '' && "
    f"!({_NAMES_HOST}) && !c.spec.image.startsWith(params.spec.registry + '/')).map(c, "
    + cel.add("c.path + '/image'", "params.spec.registry + '/' + c.spec.image")
    + ")",
)


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
_OF_CONTAINER = (("allowPrivilegeEscalation", "false"), ("capabilities", "{}"))
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

_BACKOFF = (
    "variables.jobs.filter(j, has(variables.pool.backoffLimit) && "
    "j.spec.?backoffLimit.orValue(6) > variables.pool.backoffLimit).map(j, "
    + cel.add("j.path + '/backoffLimit'", "variables.pool.backoffLimit")
    + ")"
)

_RETENTION = (
    "(request.kind.kind == 'JobSet' ? [{'path': dyn('/spec'), 'spec': dyn(object.spec)}] : "
    "variables.jobs.map(j, {'path': j.path, 'spec': j.spec}))"
    ".filter(j, !has(j.spec.ttlSecondsAfterFinished)).map(j, "
    + cel.add("j.path + '/ttlSecondsAfterFinished'", "params.spec.retentionSeconds")
    + ")"
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
        "owner",
        (
            "whose work it is: the project's id, the user's name in the spec, the login",
            "作业归属：项目 id、规格中的用户名、登录名",
        ),
        _OWNER,
    ),
    Stamp(
        "queue",
        (
            "the queue of the CPU hosts for work that asks for no cards and names no queue",
            "未申请卡且未写队列的作业：CPU 主机所在的队列",
        ),
        _QUEUE,
    ),
    Stamp("priority", ("the queue's priority", "所在队列的优先级"), _PRIORITY),
    Stamp(
        "time-limit",
        (
            "the time limit that the spec has for work that names none",
            "未写时限的作业：规格中的默认时限",
        ),
        _TIME_LIMIT,
    ),
    Stamp(
        "per-card",
        (
            "vCPU and memory for each card where a container names none",
            "容器未写时，每张卡附带的 vCPU 与内存",
        ),
        _fresh(_PER_CARD),
    ),
    Stamp(
        "requests",
        (
            "requests where a container names limits only",
            "容器只写了 limits 时的 requests",
        ),
        _fresh(_REQUESTS),
    ),
    Stamp(
        "registry",
        ("the registry of an image that names none", "镜像未写仓库时的镜像仓库"),
        _fresh(_REGISTRY),
    ),
    Stamp(
        "hosts",
        (
            "the default model, the models with the memory asked for, or the CPU hosts",
            "默认型号、显存满足要求的型号，或 CPU 主机",
        ),
        _fresh(_HOSTS),
    ),
    Stamp(
        "security",
        (
            "what Pod Security `restricted` wants said: no root, no new rights",
            "Pod 安全标准 restricted 要求写明的内容：不以 root 运行，不获得新权限",
        ),
        _fresh(_SECURITY),
    ),
    Stamp(
        "grace",
        (
            "the pool's bound for how long work may take to stop",
            "资源池规定的停止宽限时间上限",
        ),
        _fresh(_GRACE),
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
        _fresh(_WITHIN),
    ),
)
