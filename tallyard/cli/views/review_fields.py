"""What is different in objects and in what is deployed, in words. Pure, but for the language."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator

from tallyard.cli import session
from tallyard.cli.review_plan import PlannedChange, PlanSource
from tallyard.cli.review_verdict import Review
from tallyard.cli.review_versions import VersionChange, shown_pins
from tallyard.cli.views.review import more
from tallyard.cli.views.spec_diff_parts import ARROW, COLON, NOTHING, Block, Section

# Of so many objects, so many fields each: a chart's next version changes hundreds.
OBJECTS_SHOWN_MAX = 20
FIELDS_SHOWN_MAX = 5
FIELD_ROWS_OPEN_MAX = 15


def fields_section(review: Review) -> Section | None:
    """Return which fields of objects change, from what to what; None where Pulumi names none."""
    objects = [each for each in review.plan.changes if each.fields]
    if not objects:
        return None
    notes = [note for each in objects[:OBJECTS_SHOWN_MAX] for note in _fields(each)]
    rest = len(objects) - OBJECTS_SHOWN_MAX
    zh = session.lang() == "zh"
    return Section(
        "所修改的字段" if zh else "What changes in them",
        (),
        (Block("", (), (), (*notes, *((more(rest),) if rest > 0 else ()))),),
        is_detail=len(notes) > FIELD_ROWS_OPEN_MAX,
    )


def _fields(change: PlannedChange) -> Iterator[str]:
    colon = COLON[session.lang()]
    for each in change.fields[:FIELDS_SHOWN_MAX]:
        before, after = (NOTHING if v is None else v for v in (each.before, each.after))
        yield f"{change.kind} {change.title}{colon}{each.field} {before} {ARROW} {after}"
    rest = len(change.fields) - FIELDS_SHOWN_MAX
    if rest > 0:
        yield f"{change.kind} {change.title}{colon}{more(rest)}"


def versions_section(review: Review) -> Section | None:
    """Return the pins that differ; None for none."""
    if not review.versions:
        return None
    title = "版本" if session.lang() == "zh" else "Versions"
    return Section(title, (), (Block("", (), (), tuple(map(_version, review.versions))),))


def _version(change: VersionChange) -> str:
    before, after = (NOTHING if each is None else each for each in shown_pins(change))
    return f"{change.pin} {before} {ARROW} {after}"


def about_versions(review: Review) -> str:
    """Return that versions differ where the spec does not; empty where they do not."""
    if not review.versions:
        return ""
    if session.lang() == "zh":
        return "部署的版本有改动。"
    return "Versions of what is deployed differ."


def about_drift(review: Review) -> str:
    """Return what it means that objects change though the spec does not; empty for nothing."""
    if review.plan.source is not PlanSource.PULUMI or not review.plan.changes:
        return ""
    if session.lang() == "zh":
        return (
            "但仍有对象会改变：它们在集群中与规格所要求的不同（有人改过），或者程序、版本有改动。"
        )
    return (
        "And yet objects change: they differ in the cluster from what the spec says (somebody "
        "edited them), or the program or a version is another one."
    )
