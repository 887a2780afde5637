"""Whose work it is, and that it stays so."""

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel, keys
from tallyard.render.admission.form import JOBS_MAX
from tallyard.render.admission.rule import Lock
from tallyard.render.admission.variables import CONTAINERS_MAX, ENTRIES_MAX

_NO_PROJECT = cel.when(
    "!has(variables.project.id)",
    cel.text(
        "the spec does not name the project of this namespace: submit work in the namespace of a "
        "project of yours"
    ),
)

_TOO_MANY_JOBS = f"size(object.?spec.replicatedJobs.orValue([])) > {JOBS_MAX}"
_NOT_WHOLE = cel.when(
    f"!variables.isWhole && !({_TOO_MANY_JOBS})",
    cel.text(
        "spec.replicatedJobs has a job without a pod template, or a value of another type than "
        "the one that belongs there: correct it, kubectl explain jobset.spec.replicatedJobs says "
        "what belongs where"
    ),
)

_TOO_LARGE = cel.when(
    f"{_TOO_MANY_JOBS} || variables.isWhole && !variables.isBounded",
    cel.text(
        f"this one object has more than {CONTAINERS_MAX} containers or {ENTRIES_MAX} labels, "
        "resources, volumes and the like: submit several, or an Indexed Job with as many "
        "completions"
    ),
)

_NO_USER = cel.when(
    "variables.user == ''",
    cel.said(
        "{} is no user of project {}: whoever keeps the spec adds the login under "
        "projects.{}.users, or names a default-user for such logins",
        cel.short("request.userInfo.username"),
        "variables.project.key",
        "variables.project.key",
    ),
)


def _kept(key: str, meta: str, before: str, right: str) -> str:
    """Return the sentences of one label, which is `right` and stays what it was.

    Args:
        key: the label.
        meta: where it stands.
        before: the metadata as they were; empty where it is decided anew.
        right: an expression of what it must be; '' is anything.
    """
    now, was = (f"{cel.label(place, key)}.orValue('')" for place in (meta, before))
    # What was submitted before there were policies may go without labels until it ends.
    is_forged = f"{right} != '' && {now} != {right} && (variables.isNew || {now} != '')"
    changed = cel.said(
        f'the label {key} cannot be changed, it was "{{}}": submit the work anew', was
    )
    forged = cel.said(f'the label {key} is "{{}}": leave it out, it is {{}}', now, right)
    return (
        f"(!variables.isNew && {was} != '' ? {cel.when(f'{now} != {was}', changed)} : "
        f"{cel.when(is_forged, forged)})"
    )


_CARRIER = keys.CARRIER
_BEFORE = "variables.before"
_KEPT = cel.joined(
    (
        # The object's own project and user are for ever, also a CronJob's.
        _kept(labels.PROJECT, "object.metadata", "oldObject.metadata", "variables.project.id"),
        _kept(labels.USER, "object.metadata", "oldObject.metadata", "variables.user"),
        _kept(labels.QUEUE_NAME, _CARRIER, _BEFORE, "variables.queue"),
        # Nobody has to be one; whoever is one stays one.
        _kept(labels.AGENT, _CARRIER, _BEFORE, "''"),
        _kept(labels.PRIORITY_CLASS, _CARRIER, _BEFORE, "variables.pool.?priority.orValue('')"),
        # How long is for a lock of its own.
        _kept(labels.MAX_EXEC_TIME, _CARRIER, _BEFORE, "''"),
    )
)


def _copied(what: str, meta: str, *, is_needed: bool) -> str:
    """Return the sentences of the labels of what is made later, all of the project and user."""
    rights = {labels.PROJECT: "variables.project.id", labels.USER: "variables.user"}
    found = []
    for key, right in rights.items():
        now = f"{cel.label(meta, key)}.orValue('')"
        may_miss = "" if is_needed else f" && {now} != ''"
        told = cel.said(f'the {what}\' label {key} is "{{}}": leave it out, it is {{}}', now, right)
        found.append(cel.when(f"{right} != '' && {now} != {right}{may_miss}", told))
    return " + ".join(found)


_KEPT_BY_PODS = cel.where(
    "variables.isFresh && request.kind.kind != 'Pod'",
    f"variables.templates.map(t, {_copied('pods', 't.meta', is_needed=True)}).flatten()"
    # The jobs of a JobSet are stamped by nobody, and need no label.
    f" + variables.jobs.map(j, {_copied('jobs', 'j.meta', is_needed=False)}).flatten()",
)
_LOGIN_KEPT = cel.when(
    "!variables.isNew && "
    f"{cel.annotation('oldObject.metadata', labels.LOGIN)}.orValue('') != "
    f"{cel.annotation('object.metadata', labels.LOGIN)}.orValue('')",
    cel.text(f"the annotation {labels.LOGIN} cannot be changed: it says who submitted the work"),
)

# `kubectl create job --from` names the CronJob; Kueue admits such a Job like any other.
_OWNERS = (
    "object.metadata.?ownerReferences.orValue([]).filter(o, o.kind != 'CronJob' && "
    "(variables.isNew || !(o in oldObject.metadata.?ownerReferences.orValue([])))).map(o, "
    + cel.said(
        "metadata.ownerReferences names {} {}: leave it out, owners are written by the cluster",
        cel.short("o.kind"),
        cel.short("o.name"),
    )
    + ")"
)


def _strange(is_one: str, advice: str) -> str:
    """Return a sentence for each key of a kind that is not to be written where it stands."""
    swapped = (
        f"(k.key in {cel.texts(keys.LABELS)} ? 'write it as a label' : "
        f"k.key in {cel.texts(keys.ANNOTATIONS)} ? 'write it as an annotation' : "
        f"{cel.text(advice)})"
    )
    return (
        f"variables.strange.filter(k, {is_one}).map(k, "
        + cel.said("{} has {}: {}", "k.place", "k.key", swapped)
        + ")"
    )


_IS_KUEUES = keys.is_kueues("k.key")
_IS_GROUPS = f"k.key.startsWith({cel.text(f'{labels.KUEUE_GROUP}/pod-group-')})"
_FOREIGN = cel.joined(
    (
        _strange(
            _IS_GROUPS,
            "leave it out, and use a Job or a JobSet for pods that run together",
        ),
        _strange(
            f"{_IS_KUEUES} && !({_IS_GROUPS})",
            "leave it out, it is between Kueue and the cluster",
        ),
        _strange(keys.is_jobsets("k.key"), "leave it out, it chooses hosts beside the queue"),
    )
)
_UNKNOWN = _strange(keys.is_ours("k.key"), "leave it out, nothing here is called so")
_PARENT_KEY = cel.text(labels.PARENT_FRAMEWORK)
_PARENT = cel.where(
    "variables.isFresh",
    f"variables.templates.filter(t, {_PARENT_KEY} in t.meta.?annotations.orValue({{}}) && "
    "!(variables.isService && "
    f"t.meta.annotations[{_PARENT_KEY}] == request.kind.kind.lowerAscii())).map(t, "
    + cel.text(
        f"the pods are marked with {labels.PARENT_FRAMEWORK}: leave it out, it would take them "
        "out of their queue"
    )
    + ")",
)

_STARTED = cel.when(
    "request.kind.kind in ['Job', 'JobSet'] && !variables.isNew && "
    "oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)",
    cel.text(
        "suspend cannot be taken back by hand: leave it, Kueue starts the work when its queue has "
        "room"
    ),
)

# Without these the others cannot be asked.
FIRST: tuple[Lock, ...] = (
    Lock(
        "project-known",
        _NO_PROJECT,
    ),
    Lock(
        "form-whole",
        _NOT_WHOLE,
    ),
    Lock(
        "size-bounded",
        _TOO_LARGE,
    ),
)

LOCKS: tuple[Lock, ...] = (
    Lock(
        "user-known",
        _NO_USER,
    ),
    Lock(
        "labels-kept",
        cel.joined((_KEPT, _KEPT_BY_PODS, _LOGIN_KEPT)),
    ),
    Lock(
        "owners-true",
        _OWNERS,
    ),
    Lock(
        "kueue-keys",
        cel.joined((_FOREIGN, _PARENT)),
    ),
    Lock(
        "keys-known",
        _UNKNOWN,
    ),
    Lock(
        "suspend-kept",
        _STARTED,
    ),
)
