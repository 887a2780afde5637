"""The same verdict of the review and of the API server, about what both of them see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from policies.rules_of_work import cards_elsewhere
from tallyard.render.manifest import Manifest
from tests.policies.cases import DATA, shipped_plan
from tests.running_lab import RunningLab

CASES: list[Mapping[str, Any]] = yaml.safe_load((DATA.parent / "elsewhere.yaml").read_text())
RULE = "[cards-elsewhere]"


def _pod(case: Mapping[str, Any]) -> dict[str, Any]:
    main = {"name": "main", "image": "registry.example.com/x"}
    spec = {"containers": [{}], **case["pod"]}
    spec["containers"] = [{**main, **container} for container in spec["containers"]]
    metadata = {"name": "case", "namespace": case.get("namespace", "default")}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _found(content: Mapping[str, Any]) -> list[str]:
    shipped = shipped_plan("local")
    planned = replace(shipped, after=(*shipped.after, Manifest(content)))
    return [f"{each.text.english} [{each.name}]" for each in cards_elsewhere(planned)]


def test_there_are_cases_of_both_kinds() -> None:
    assert sum(1 for case in CASES if case.get("allowed")) >= 3
    assert sum(1 for case in CASES if not case.get("allowed")) >= 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_the_review_says_so(case: Mapping[str, Any]) -> None:
    assert (not _found(_pod(case))) is bool(case.get("allowed"))


def test_the_api_server_says_the_same(full_lab: RunningLab) -> None:
    verdicts = {}
    for case in CASES:
        asked = full_lab.kubectl("create", "--dry-run=server", "-f", "-", objects=[_pod(case)])
        verdicts[case["what"]] = RULE not in asked.stderr
        if case.get("allowed") and case.get("namespace") != "nlp":
            assert asked.returncode == 0, asked.stderr
    assert verdicts == {case["what"]: bool(case.get("allowed")) for case in CASES}


def test_what_makes_such_pods_is_found_which_the_api_server_takes() -> None:
    pod = _pod({"pod": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}})
    template = {"spec": pod["spec"]}
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": template},
    }
    (told,) = _found(made)
    assert told == (
        "Deployment default/web is of no project and asks for nvidia.com/gpu: submit it in the "
        "namespace of a project, through its queue [cards-elsewhere]"
    )


def test_without_a_table_nothing_is_known_to_be_a_card() -> None:
    shipped = shipped_plan("local")
    content = _pod({"pod": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}})
    planned = replace(shipped, after=(Manifest(content),))
    assert list(cards_elsewhere(planned)) == []
