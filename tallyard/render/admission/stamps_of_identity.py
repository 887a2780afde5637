"""Whose work it is, in which queue, how urgent, for how long: labels and the priority's name."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.rule import Stamp, fresh

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
        fresh(
            cel.where(
                _HAS_PRIORITY, f"variables.templates.map(t, {_NUMBERS} + [{_CLASS}]).flatten()"
            )
        ),
    )
)

# Kubernetes' own way to say it.
_DEADLINE = (
    "(request.kind.kind == 'Pod' ? object.spec.?activeDeadlineSeconds : "
    "request.kind.kind in ['Job', 'CronJob'] ? variables.jobs[0].spec.?activeDeadlineSeconds : "
    "optional.none())"
)
_TIME_LIMIT = _first_label(
    labels.MAX_EXEC_TIME,
    f"string({_DEADLINE}.orValue(variables.project.defaultSeconds))",
    _CARRIER,
    only_if=(
        "!variables.isService && has(variables.project.defaultSeconds) && "
        f"!({cel.text(labels.MAX_EXEC_TIME)} in variables.labels)"
    ),
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
)
