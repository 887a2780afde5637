"""What `pulumi up` would do: from Pulumi's own words, and from objects."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard.cli.review_plan import (
    Deed,
    Plan,
    PlanError,
    PlannedChange,
    PlanSource,
    completed,
    plan_of_objects,
    plan_of_preview,
)
from tallyard.render.manifest import Manifest
from tests.cli.test_review import step


def _deeds(*steps: dict[str, Any]) -> list[tuple[Deed, str]]:
    return [(each.deed, each.name) for each in plan_of_preview({"steps": list(steps)}).changes]


@pytest.mark.parametrize(
    ("operation", "deed"),
    [
        ("create", Deed.CREATED),
        ("update", Deed.CHANGED),
        ("replace", Deed.REPLACED),
        ("create-replacement", Deed.REPLACED),
        ("delete-replaced", Deed.REPLACED),
        ("delete", Deed.DELETED),
    ],
)
def test_each_operation_of_pulumi_is_a_deed(operation: str, deed: Deed) -> None:
    assert _deeds(step(operation, "LocalQueue", "a")) == [(deed, "a")]


@pytest.mark.parametrize("operation", ["same", "refresh", "read", "read-discard"])
def test_what_changes_nothing_is_not_told(operation: str) -> None:
    assert _deeds(step(operation, "LocalQueue", "a")) == []


def test_what_is_protected_is_refused_and_what_is_retained_is_kept() -> None:
    assert _deeds(
        step("delete", "Namespace", "nlp", retainOnDelete=True),
        step("delete", "PriorityClass", "low", protect=True),
        step("update", "PriorityClass", "mid", protect=True),
    ) == [(Deed.REFUSED, "low"), (Deed.CHANGED, "mid"), (Deed.KEPT, "nlp")]


def test_the_last_step_of_an_object_counts_for_the_first_may_be_what_the_cluster_has() -> None:
    drift, repair = step("delete", "LocalQueue", "a"), step("create", "LocalQueue", "a")
    assert _deeds(drift, repair) == [(Deed.CREATED, "a")]


def test_a_component_is_nothing_in_the_cluster() -> None:
    component = step("create", "Chart", "kueue")
    component["newState"]["custom"] = False
    assert _deeds(component) == []


@pytest.mark.parametrize("content", [None, [], {}, {"steps": [{}]}, {"steps": [1]}, {"x": 1}])
def test_what_pulumi_did_not_write_is_no_plan(content: object) -> None:
    with pytest.raises(PlanError):
        plan_of_preview(content)


def _manifest(kind: str, name: str, **more: Any) -> Manifest:
    return Manifest({"kind": kind, "metadata": {"name": name}, **more})


def test_objects_tell_by_themselves_what_comes_differs_and_goes() -> None:
    before = (
        _manifest("Namespace", "old"),
        _manifest("Cohort", "same"),
        _manifest("Cohort", "gone"),
        _manifest("PriorityClass", "training", value=1),
        _manifest("Topology", "t", spec={"levels": [1]}),
    )
    after = (
        _manifest("Cohort", "same"),
        _manifest("Cohort", "new"),
        _manifest("PriorityClass", "training", value=2),
        _manifest("Topology", "t", spec={"levels": [2]}),
    )
    plan = plan_of_objects(before, after)
    assert [(each.deed, each.name) for each in plan.changes] == [
        (Deed.REFUSED, "training"),
        (Deed.REPLACED, "t"),
        (Deed.DELETED, "gone"),
        (Deed.CREATED, "new"),
        (Deed.KEPT, "old"),
    ]


def test_a_plan_that_broke_off_is_completed_by_the_objects_and_a_whole_one_is_not() -> None:
    one = PlannedChange(Deed.CHANGED, "Cohort", None, "a")
    two = PlannedChange(Deed.CREATED, "Cohort", None, "b")
    objects = Plan(PlanSource.OBJECTS, (PlannedChange(Deed.CREATED, "Cohort", None, "a"), two))
    assert completed(Plan(PlanSource.PULUMI, (one,)), objects).changes == (one,)
    broken = completed(Plan(PlanSource.PULUMI, (one,), ("why",)), objects)
    assert broken.changes == (one, two)
