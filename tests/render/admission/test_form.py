"""The form of a JobSet, as an expression: every part that a stamp reads is looked at first."""

from __future__ import annotations

import pytest

from tallyard.render.admission import form
from tallyard.render.admission.form import Part


def test_other_kinds_are_of_their_own_form() -> None:
    assert form.IS_WHOLE.startswith("request.kind.kind != 'JobSet' || ")


def test_a_part_that_may_be_missing_is_looked_at_where_it_is() -> None:
    holds = form.holds("x", Part("map", {"a": Part("int")}))
    assert holds == "((type(x) == map) && (!has(x.a) || ((type(x.a) == int))))"


def test_a_part_that_must_be_there_is() -> None:
    holds = form.holds("x", Part("map", {"a": Part("int", is_needed=True)}))
    assert holds == "((type(x) == map) && has(x.a) && ((type(x.a) == int)))"


def test_a_list_is_counted_before_it_is_looked_through() -> None:
    holds = form.holds("x", Part("list", each=Part("string"), most=9))
    assert holds == "((type(x) == list) && size(x) <= 9 && x.all(p0, ((type(p0) == string))))"


def test_values_of_a_map_may_be_of_two_types() -> None:
    holds = form.holds("x", Part("map", each=Part("int|string")))
    assert "x.all(p0, ((type(x[p0]) == int || type(x[p0]) == string)))" in holds


@pytest.mark.parametrize(
    "read",
    [
        "replicatedJobs",
        "template.metadata.labels",
        "template.metadata.annotations",
        "spec.containers",
        "spec.initContainers",
        "resources.limits",
        "resources.requests",
        "securityContext.capabilities.drop",
        "spec.nodeSelector",
        "nodeSelectorTerms",
        "matchExpressions",
        "terminationGracePeriodSeconds",
        "backoffLimit",
        "parallelism",
        "replicas",
        "image",
    ],
)
def test_what_a_stamp_reads_of_a_set_is_of_a_known_type(read: str) -> None:
    assert f"{read}) == " in form.IS_WHOLE
