"""Which cards a queue gives, and that one kind and one model of them is meant."""

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Lock, of_fresh_template

# A resource with a slash that Kubernetes does not define is a device, whoever makes it.
_FOREIGN_DEVICES = (
    "variables.containers.map(c, (c.limits.map(k, k) + c.requests.map(k, k)).filter(k, "
    "k.contains('/') && !k.startsWith('kubernetes.io/') && "
    "!params.spec.uncounted.exists(u, k.startsWith(u)) && "
    "!variables.models.exists(m, variables.pool.resources[?m].orValue('') == k))).flatten()"
)
# A device of another name is told by itself.
_NO_CARDS = cel.when(
    "!variables.pool.?cpu.orValue(true) && variables.choices.exists(t, size(t.asks) == 0) && "
    f"(size(variables.asks) > 0 || size({_FOREIGN_DEVICES}) == 0)",
    cel.said(
        "work without cards has no place in queue {}: {}ask for cards in every pod",
        "variables.queue",
        "(variables.project.cpuQueue != '' ? 'name queue ' + variables.project.cpuQueue + "
        "', or ' : '')",
    ),
)

# As many are told; to compare all with all would take too long.
_DEVICES_MAX = 20
_DEVICES = (
    f"[{_FOREIGN_DEVICES}].map(l, size(l) > {_DEVICES_MAX} ? l.slice(0, {_DEVICES_MAX}) : l)"
    ".flatten().distinct()"
)
_RESOURCES = (
    "(size(variables.models) == 0 ? 'no cards' : variables.models"
    ".map(m, variables.pool.resources[m]).distinct().join(', '))"
)
_QUEUES_WITH = (
    "variables.project.queues.transformList(q, ms, ms.exists(m, "
    "params.spec.pools[q].resources[?m].orValue('') == k), q).sort()"
)
_FOREIGN = cel.where(
    "has(variables.pool.resources)",
    f"{_DEVICES}.map(k, "
    + cel.said(
        "queue {} has no {}: ask for what it has ({}){}",
        "variables.queue",
        "k",
        _RESOURCES,
        f"(size({_QUEUES_WITH}) > 0 ? ', or name a queue that has it (' + "
        f"{_QUEUES_WITH}.join(', ') + ')' : '')",
    )
    + ")",
)

_KINDS = "params.spec.resources.filter(r, t.asks.exists(a, a.resource == r))"
_TWO_KINDS = (
    f"variables.choices.filter(t, size({_KINDS}) > 1).map(t, "
    + cel.said("one pod asks for {}: ask for one kind of card in a pod", f"{_KINDS}.join(' and ')")
    + ")"
)

_MODELS = "t.offered.join(', ')"
_MODELS_BY_MEMORY = "t.offered.map(m, m + ' (' + params.spec.models[m].memory + ')').join(', ')"
# Less than any card has: a number without its unit.
_IS_MEMORY = "isQuantity(t.memory) && quantity(t.memory).compareTo(quantity('1Gi')) >= 0"
_NO_MEMORY = (
    f"variables.choices.filter(t, size(t.offered) > 0 && t.memory != '' && !({_IS_MEMORY}))"
    ".map(t, "
    + cel.said(
        f'{labels.GPU_MEMORY_LEAST} is "{{}}", which is no memory of a card: write it like 40Gi',
        cel.short("t.memory"),
    )
    + ")"
)
_NOT_CHOSEN = (
    "variables.choices.filter(t, size(t.offered) > 0 && !t.isChosen && "
    f"(t.memory == '' || {_IS_MEMORY})).map(t, t.memory == '' ? "
    + cel.said(
        f"no model is named of {{}}: name one by nodeSelector {labels.GPU_MODEL}: {{}}",
        "t.asks[0].resource",
        _MODELS,
    )
    + " : size(t.fits) > 0 ? "
    + cel.said(
        "nodeAffinity has a term without a model: name one in each by operator In of key "
        f"{labels.GPU_MODEL}: {{}}",
        "t.fits.join(', ')",
    )
    + " : "
    + cel.said(
        "no card of queue {} has {} or more: ask for less, it has {}",
        "variables.queue",
        cel.short("t.memory"),
        _MODELS_BY_MEMORY,
    )
    + ")"
)

_MODEL = cel.text(labels.GPU_MODEL)
_MEMORY = cel.text(labels.GPU_MEMORY)
_NAMED = (
    "variables.choices.filter(t, size(t.offered) > 0)"
    f".map(t, t.spec.?nodeSelector[?{_MODEL}].optMap(m, m in t.offered ? [] : ["
    + cel.said("queue {} has no {}: name one of {}", "variables.queue", "m", _MODELS)
    + "]).orValue([])).flatten()"
)
_TOO_SMALL = (
    f"variables.choices.filter(t, size(t.offered) > 0 && t.memory != '' && {_IS_MEMORY})"
    f".map(t, t.spec.?nodeSelector[?{_MODEL}].optMap(m, !(m in t.offered) || "
    "quantity(params.spec.models[m].memory).compareTo(quantity(t.memory)) >= 0 ? [] : ["
    + cel.said(
        f"{{}} has {{}}, and {labels.GPU_MEMORY_LEAST} asks for {{}} or more: leave one of the two "
        "out",
        "string(dyn(m))",
        "params.spec.models[m].memory",
        cel.short("t.memory"),
    )
    + "]).orValue([])).flatten()"
)
_MEMORY_NAMED = (
    "variables.choices.filter(t, size(t.offered) > 0)"
    f".map(t, t.spec.?nodeSelector[?{_MEMORY}].optMap(g, "
    "t.offered.exists(m, params.spec.models[m].memory == g) ? [] : ["
    + cel.said(
        "queue {} has no card with exactly {}: name the memory of one of {}, or ask for so much "
        f"or more by the annotation {labels.GPU_MEMORY_LEAST}",
        "variables.queue",
        "g",
        _MODELS_BY_MEMORY,
    )
    + "]).orValue([])).flatten()"
)


def _expressions(condition: str, sentence: str) -> str:
    """Return a sentence for each expression `e` of the node affinity of a template with cards."""
    return (
        "variables.choices.filter(t, size(t.offered) > 0).map(t, t.terms.map(m, "
        f"m.?matchExpressions.orValue([]).filter(e, {condition}).map(e, {sentence})"
        ").flatten()).flatten()"
    )


_AMONG = _expressions(
    f"e.key == {_MODEL} && e.operator == 'In' && "
    "!e.?values.orValue([]).exists(v, v in t.offered) || "
    f"e.key == {_MEMORY} && e.operator == 'In' && !e.?values.orValue([])"
    ".exists(v, t.offered.exists(m, params.spec.models[m].memory == v))",
    cel.said(
        "queue {} has no card with {} {}: name one of {}",
        "variables.queue",
        "e.key",
        cel.short("e.?values.orValue([]).join(', ')"),
        _MODELS_BY_MEMORY,
    ),
)
_NOT_IN = _expressions(
    f"e.key in [{_MODEL}, {_MEMORY}] && e.operator != 'In'",
    cel.said(
        "nodeAffinity has {} with operator {}: list what you mean by operator In",
        "e.key",
        "e.operator",
    ),
)

# So many are more than any host has, and can be added up.
_CARDS_MAX = 1_000_000
# Those of the containers that run side by side; what runs before them is done by then.
_TOGETHER = (
    "t.asks.filter(a, a.container.path.contains('/spec/containers/'))"
    f".map(a, a.cards > {_CARDS_MAX} ? {_CARDS_MAX} : a.cards).sum()"
)
_MEANT = (
    f"(t.spec.?nodeSelector[?{_MODEL}].orValue('') in t.offered ? "
    f"[t.spec.nodeSelector[{_MODEL}]] : size(t.fits) > 0 && !t.isChosen ? t.fits : t.offered)"
)
_MOST = f"{_MEANT}.map(m, int(variables.pool.most[m])).max()"
_TOO_MANY = (
    "variables.choices.filter(t, size(t.offered) > 0)"
    f".map(t, {cel.record(asks='t.asks[0].resource', number=_TOGETHER, most=_MOST)})"
    ".filter(n, n.number > n.most).map(n, "
    + cel.said(
        "one pod asks for {} {}, and no host that it may run on has more than {}: ask for {} or "
        "fewer in a pod, and for more pods",
        f"(n.number >= {_CARDS_MAX} ? 'more than a million' : string(n.number))",
        "n.asks",
        "string(n.most)",
        "string(n.most)",
    )
    + ")"
)

LOCKS: tuple[Lock, ...] = (
    of_fresh_template(
        "cards-asked",
        _NO_CARDS,
    ),
    of_fresh_template(
        "cards-offered",
        _FOREIGN,
    ),
    of_fresh_template(
        "cards-alike",
        _TWO_KINDS,
    ),
    of_fresh_template(
        "cards-fit",
        _TOO_MANY,
    ),
    of_fresh_template(
        "model-chosen",
        cel.joined((_NO_MEMORY, _NOT_CHOSEN, _NOT_IN)),
    ),
    of_fresh_template(
        "model-offered",
        cel.joined((_NAMED, _TOO_SMALL, _MEMORY_NAMED, _AMONG)),
    ),
)
