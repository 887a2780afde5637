"""Whose work it is, and that it stays so."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
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


def _told(key: str, meta: str, before: str, right: str) -> str:
    """Return what a label is, what it was ('' where it is decided anew) and what it must be."""
    return cel.record(
        key=cel.text(key),
        now=f"{cel.label(meta, key)}.orValue('')",
        before=f"{cel.label(before, key)}.orValue('')",
        right=right,
    )


# The object's own project and user are for ever, also a CronJob's.
_OLD = "(variables.isNew ? dyn({}) : dyn(oldObject.metadata))"
_OF_PEOPLE = (
    _told(labels.PROJECT, "object.metadata", _OLD, "variables.project.id"),
    _told(labels.USER, "object.metadata", _OLD, "variables.user"),
)
_CARRIER = "variables.carrier.meta"
_BEFORE = "variables.before"
_OF_QUEUES = (
    _told(labels.QUEUE_NAME, _CARRIER, _BEFORE, "variables.queue"),
    # Nobody has to be one; whoever is one stays one.
    _told(labels.AGENT, _CARRIER, _BEFORE, "''"),
    _told(labels.PRIORITY_CLASS, _CARRIER, _BEFORE, "variables.pool.?priority.orValue('')"),
    _told(
        labels.MAX_EXEC_TIME,
        _CARRIER,
        _BEFORE,
        f"{cel.label(_CARRIER, labels.MAX_EXEC_TIME)}.orValue('')",
    ),
)
_CHANGED = cel.said(
    'the label {} cannot be changed, it was "{}": submit the work anew', "l.key", "l.before"
)
_FORGED = cel.said('the label {} is "{}": leave it out, it is {}', "l.key", "l.now", "l.right")
# What was submitted before there were policies may go without labels until it ends.
_KEPT = (
    f"[{', '.join((*_OF_PEOPLE, *_OF_QUEUES))}].filter(l, l.before != '' ? l.now != l.before : "
    "l.right != '' && l.now != l.right && (variables.isNew || l.now != ''))"
    f".map(l, l.before != '' ? {_CHANGED} : {_FORGED})"
)
_OF_PODS = (
    _told(labels.PROJECT, "t.meta", "{}", "variables.project.id"),
    _told(labels.USER, "t.meta", "{}", "variables.user"),
)
_KEPT_BY_PODS = cel.where(
    "variables.isFresh && request.kind.kind != 'Pod'",
    f"variables.templates.map(t, [{', '.join(_OF_PODS)}]"
    ".filter(l, l.right != '' && l.now != l.right)"
    ".map(l, "
    + cel.said('the pods\' label {} is "{}": leave it out, it is {}', "l.key", "l.now", "l.right")
    + ")).flatten()"
    # The jobs of a JobSet are stamped by nobody, and need no label.
    + f" + variables.jobs.map(t, [{', '.join(_OF_PODS)}]"
    ".filter(l, l.right != '' && l.now != '' && l.now != l.right)"
    ".map(l, "
    + cel.said('the jobs\' label {} is "{}": leave it out, it is {}', "l.key", "l.now", "l.right")
    + ")).flatten()",
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

_OURS = f"{labels.DOMAIN}/"
_KUEUES = f"{labels.KUEUE_GROUP}/"
# What a person may write of Kueue's keys and of ours, on the object or on a pod template. Groups
# of bare pods are not among them: Kueue takes their word for how much they ask, finds a group's
# record by a name that anybody may choose, and so work could run on that of somebody else.
_LABELS = (
    labels.PROJECT,
    labels.USER,
    labels.AGENT,
    labels.QUEUE_NAME,
    labels.PRIORITY_CLASS,
    labels.MAX_EXEC_TIME,
    # Kueue's own webhook has added it to pods by the time that a lock looks.
    f"{labels.KUEUE_GROUP}/managed",
)
_ANNOTATIONS = (
    labels.LOGIN,
    labels.GPU_MEMORY_LEAST,
    labels.WITHIN,
    # For a lock of its own, because Kueue writes it for services.
    labels.PARENT_FRAMEWORK,
    *(
        f"{labels.KUEUE_GROUP}/{name}"
        for name in (
            "podset-required-topology",
            "podset-preferred-topology",
            "podset-unconstrained-topology",
            "podset-slice-required-topology",
            "podset-slice-size",
            "podset-group-name",
            "job-min-parallelism",
            "job-completions-equal-parallelism",
            # As `managed`.
            "role-hash",
        )
    ),
)
_NOTHING = "{}"
_METAS = cel.joined(
    (
        f"[{cel.record(place=cel.text('metadata'), meta='object.metadata', before=_OLD)}]",
        cel.when(
            "request.kind.kind == 'CronJob'",
            cel.record(place=cel.text("jobTemplate"), meta=_CARRIER, before=_NOTHING),
        ),
        cel.where(
            "variables.isFresh && request.kind.kind != 'Pod'",
            "variables.templates.map(t, "
            + cel.record(place=cel.text("template"), meta="t.meta", before=_NOTHING)
            + ") + variables.jobs.map(j, "
            + cel.record(place=cel.text("replicatedJobs.template"), meta="j.meta", before=_NOTHING)
            + ")",
        ),
    )
)
_IS_OURS = f"k.startsWith({cel.text(_OURS)})"
_IS_KUEUES = f"k.contains({cel.text(_KUEUES)})"
_IS_GROUPS = f"k.startsWith({cel.text(f'{_KUEUES}pod-group-')})"
# JobSet's own way of placing jobs.
_IS_JOBSETS = f"k.contains({cel.text('jobset.sigs.k8s.io/')})"
_SWAPPED = (
    f"(k in {cel.texts(_LABELS)} ? 'write it as a label' : k in {cel.texts(_ANNOTATIONS)} ? "
    "'write it as an annotation' : "
)


def _strange(is_one: str, advice: str) -> str:
    """Return a sentence for each key that is not to be written where it stands."""
    return (
        f"({_METAS}).map(m, ['labels', 'annotations'].map(p, m.meta[?p].orValue({{}})"
        f".transformList(k, v, {is_one} && !(p == 'labels' ? k in {cel.texts(_LABELS)} : "
        f"k in {cel.texts(_ANNOTATIONS)}) && m.before[?p][?k].orValue('') != v, "
        + cel.said("{}.{} has {}: {}", "m.place", "p", "k", f"{_SWAPPED}{cel.text(advice)})")
        + ")).flatten()).flatten()"
    )


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
        _strange(_IS_JOBSETS, "leave it out, it chooses hosts beside the queue"),
    )
)
_UNKNOWN = _strange(_IS_OURS, "leave it out, nothing here is called so")
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
        (
            "what the spec does not name has no queue and no account",
            "规格中没有的项目，没有队列，也没有账户",
        ),
        _NO_PROJECT,
    ),
    Lock(
        "form-whole",
        (
            "into what has not the form of its kind nothing can be filled in",
            "不符合该类型格式的对象无法补全",
        ),
        _NOT_WHOLE,
    ),
    Lock(
        "size-bounded",
        (
            "an object is looked at whole, and the API server gives that a bounded time",
            "对象要整体检查，而 API 服务器给检查的时间有上限",
        ),
        _TOO_LARGE,
    ),
)

LOCKS: tuple[Lock, ...] = (
    Lock(
        "user-known",
        (
            "work is paid for by a user of the spec, and a login that it does not know has none",
            "作业由规格中的用户付费；规格不认识的登录名没有对应的用户",
        ),
        _NO_USER,
    ),
    Lock(
        "labels-kept",
        (
            "who pays, how long it may run and which queue it is in were decided when it was sent",
            "由谁付费、可运行多久、在哪个队列，在提交时就已确定",
        ),
        cel.joined((_KEPT, _KEPT_BY_PODS, _LOGIN_KEPT)),
    ),
    Lock(
        "owners-true",
        (
            "Kueue lets what belongs to admitted work run without a queue",
            "Kueue 会让从属于已准入作业的对象不经队列直接运行",
        ),
        _OWNERS,
    ),
    Lock(
        "kueue-keys",
        (
            "by its own labels and annotations Kueue can be told to look away",
            "通过 Kueue 自己的标签和注解可以让 Kueue 不管理该作业",
        ),
        cel.joined((_FOREIGN, _PARENT)),
    ),
    Lock(
        "keys-known",
        (
            "a label or an annotation that nothing reads would be a wish that nobody hears",
            "没有程序读取的标签或注解等于没写",
        ),
        _UNKNOWN,
    ),
    Lock(
        "suspend-kept",
        (
            "a job that is started by hand runs before its queue has room for it",
            "手动启动的作业会在队列有空位之前运行",
        ),
        _STARTED,
    ),
)
