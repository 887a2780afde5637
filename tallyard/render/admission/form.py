"""Whether a JobSet has the form that the stamps read, as CEL.

Other kinds are decoded by the API server into their own types before a policy sees them. A
custom resource is stamped before it is compared with its schema, so a number may stand where
there should be a list; the stamps would fail on it, and what is refused then is not said by us.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """What stands at a key.

    Attributes:
        type: CEL's name of it: `map`, `list`, `string`, `int`, or several with `|` between.
        parts: The keys of a map that are read, each with what stands there.
        each: What every item of a list or every value of a map is.
        is_needed: Whether the key must be there.
        most: How many a list may have; 0 is any number.
    """

    type: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    each: Part | None = None
    is_needed: bool = False
    most: int = 0


_STRING, _INT, _ANY_MAP = Part("string"), Part("int"), Part("map")
_QUANTITIES = Part("map", each=Part("int|string"))
_STRINGS = Part("map", each=_STRING)
_META = Part("map", {"labels": _STRINGS, "annotations": _STRINGS})
_CAPABILITIES = Part("map", {"drop": Part("list")})
_CONTAINER = Part(
    "map",
    {
        "image": _STRING,
        "resources": Part("map", {"limits": _QUANTITIES, "requests": _QUANTITIES}),
        "securityContext": Part("map", {"capabilities": _CAPABILITIES}),
    },
)
_EXPRESSION = Part("map", {"key": _STRING, "operator": _STRING})
_TERM = Part("map", {"matchExpressions": Part("list", each=_EXPRESSION)})
_REQUIRED = Part("map", {"nodeSelectorTerms": Part("list", each=_TERM)})
_NODE_AFFINITY = Part("map", {"requiredDuringSchedulingIgnoredDuringExecution": _REQUIRED})
_POD = Part(
    "map",
    {
        "containers": Part("list", each=_CONTAINER, is_needed=True),
        "initContainers": Part("list", each=_CONTAINER),
        "nodeSelector": _STRINGS,
        "affinity": Part("map", {"nodeAffinity": _NODE_AFFINITY}),
        "securityContext": _ANY_MAP,
        "terminationGracePeriodSeconds": _INT,
    },
    is_needed=True,
)
_JOB = Part(
    "map",
    {
        "template": Part("map", {"metadata": _META, "spec": _POD}, is_needed=True),
        "backoffLimit": _INT,
        "parallelism": _INT,
    },
    is_needed=True,
)
_REPLICATED = Part(
    "map",
    {"replicas": _INT, "template": Part("map", {"spec": _JOB}, is_needed=True)},
)
# The API server ends an expression that takes too long.
JOBS_MAX = 512
# What the schema lets one leave out may be missing, but not what is written into.
_JOB_SET = Part("map", {"replicatedJobs": Part("list", each=_REPLICATED, most=JOBS_MAX)})


def holds(place: str, part: Part, depth: int = 0) -> str:
    """Return the expression of whether `place` is such a part."""
    tests = ["(" + " || ".join(f"type({place}) == {t}" for t in part.type.split("|")) + ")"]
    for key, inner in part.parts.items():
        there = f"{place}.{key}"
        whole = holds(there, inner, depth)
        is_there = f"has({there})"
        tests.append(f"{is_there} && {whole}" if inner.is_needed else f"(!{is_there} || {whole})")
    if part.most:
        tests.append(f"size({place}) <= {part.most}")
    if part.each is not None:
        name = f"p{depth}"
        item = f"{place}[{name}]" if part.type == "map" else name
        tests.append(f"{place}.all({name}, {holds(item, part.each, depth + 1)})")
    return f"({' && '.join(tests)})"


IS_WHOLE = f"request.kind.kind != 'JobSet' || has(object.spec) && {holds('object.spec', _JOB_SET)}"
