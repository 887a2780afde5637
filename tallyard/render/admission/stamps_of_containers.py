"""What a container asks for and which image it runs."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from tallyard.render.admission import cel
from tallyard.render.admission.rule import Stamp, fresh

# Comes before all stamps: a patch can only add to what is there.
PARENTS = fresh(
    "variables.containers.filter(c, size(c.limits) > 0 && size(c.requests) == 0).map(c, "
    + cel.add("c.path + '/resources/requests'", "{}")
    + ")"
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


STAMPS: tuple[Stamp, ...] = (
    Stamp(
        "per-card",
        (
            "vCPU and memory for each card where a container names none",
            "容器未写时，每张卡附带的 vCPU 与内存",
        ),
        fresh(_PER_CARD),
    ),
    Stamp(
        "requests",
        (
            "requests where a container names limits only",
            "容器只写了 limits 时的 requests",
        ),
        fresh(_REQUESTS),
    ),
    Stamp(
        "registry",
        ("the registry of an image that names none", "镜像未写仓库时的镜像仓库"),
        fresh(_REGISTRY),
    ),
)
