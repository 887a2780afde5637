"""Which of Kueue's, JobSet's and our labels and annotations people may write, and which stand there.

Each of these programs can be told by its own keys to do what no quota sees.
"""

from __future__ import annotations

from tallyard import labels
from tallyard.render.admission import cel

# On the object or on a pod template. Groups of bare pods are not among them: Kueue takes their
# word for how much they ask, finds a group's record by a name that anybody may choose, and so
# work could run on that of somebody else.
LABELS = (
    labels.PROJECT,
    labels.USER,
    labels.AGENT,
    labels.QUEUE_NAME,
    labels.PRIORITY_CLASS,
    labels.MAX_EXEC_TIME,
    # Kueue's own webhook has added it to pods by the time that a lock looks.
    f"{labels.KUEUE_GROUP}/managed",
)
ANNOTATIONS = (
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


def is_ours(key: str) -> str:
    """Return whether a key is one of this platform."""
    return f"{key}.startsWith({cel.text(f'{labels.DOMAIN}/')})"


def is_kueues(key: str) -> str:
    """Return whether a key is one of Kueue."""
    return f"{key}.contains({cel.text(f'{labels.KUEUE_GROUP}/')})"


def is_jobsets(key: str) -> str:
    """Return whether a key is one by which JobSet places jobs."""
    return f"{key}.contains('jobset.sigs.k8s.io/')"


# The object's own are for ever, also a CronJob's.
OLD = "(variables.isNew ? dyn({}) : dyn(oldObject.metadata))"
CARRIER = "variables.carrier.meta"
_NOTHING = "{}"
_METAS = cel.joined(
    (
        f"[{cel.record(place=cel.text('metadata'), meta='object.metadata', before=OLD)}]",
        cel.when(
            "request.kind.kind == 'CronJob'",
            cel.record(place=cel.text("jobTemplate"), meta=CARRIER, before=_NOTHING),
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


def _strange(part: str, known: tuple[str, ...]) -> str:
    return (
        f"m.meta.?{part}.orValue({{}}).transformList(k, v, "
        f"!(k in {cel.texts(known)}) && ({is_ours('k')} || {is_kueues('k')} || {is_jobsets('k')}) "
        f"&& m.before.?{part}[?k].orValue('') != v, "
        + cel.record(key="k", place=cel.said(f"{{}}.{part}", "m.place"))
        + ")"
    )


# Those that were written where they do not belong; as a rule there are none. Each is {key, place}.
STRANGE = (
    f"({_METAS}).map(m, {_strange('labels', LABELS)} + {_strange('annotations', ANNOTATIONS)})"
    ".flatten()"
)
