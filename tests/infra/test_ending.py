"""The end of a stack is only let begin when it can go to the end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.ending import NotDrainedError, check, notice
from infra.settings import ENDING, SettingsError, ending
from tallyard.cluster.drain import Standing
from tallyard.spec.model import Platform

SPEC = {"prod.yaml": "base: platform.yaml", "platform.yaml": "kind: Platform"}
DRAINED = Standing(("nlp-training",), (), {}, {"nlp": 5}, (), spec=SPEC)


def test_a_drained_platform_may_go_though_work_waits() -> None:
    check(DRAINED, "prod", SPEC)


def test_after_a_destroy_that_was_broken_off_there_may_be_no_queue_at_all() -> None:
    check(Standing((), (), {}, {}, ()), "prod", SPEC)


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (Standing(("a", "b"), ("b",), {}, {}, ()), ["1 queues take work", "tally drain -s prod"]),
        (Standing(("a",), (), {"nlp": 2, "cv": 1}, {}, ()), ["3 workloads hold quota"]),
        (
            Standing(
                ("a",), (), {}, {}, (("ResourceFlavor", "old-1"), ("ResourceFlavor", "old-2"))
            ),
            ["`kubectl delete resourceflavor old-1 old-2`"],
        ),
        (
            Standing(("a",), ("a",), {}, {}, (("Namespace", "old"), ("Topology", "old-3"))),
            [
                "1 queues take work",
                "`kubectl delete namespace old`; `kubectl delete topology old-3`",
            ],
        ),
        (
            replace(DRAINED, foreign=("theirs", "others")),
            ["somebody else's", "`kubectl delete clusterqueue theirs others`"],
        ),
        (
            replace(DRAINED, spec={**SPEC, "platform.yaml": "kind: Other"}),
            ["is not the one that is deployed", f"unset {ENDING}, `pulumi up -s prod`"],
        ),
    ],
)
def test_all_that_is_in_the_way_is_told_at_once(standing: Standing, told: list[str]) -> None:
    with pytest.raises(NotDrainedError, match="nothing was changed") as refused:
        check(standing, "prod", SPEC)
    for part in told:
        assert part in str(refused.value)


def test_the_notice_names_every_namespace_that_goes(platform: Platform) -> None:
    told = notice(platform)
    assert all(project.namespace in told for project in platform.projects.values())


def test_the_end_is_asked_for_by_the_name_of_the_very_stack() -> None:
    assert ending("prod", "prod")
    assert not ending(None, "prod")
    assert not ending("", "prod")
    with pytest.raises(SettingsError, match=f'{ENDING} is set to "prod", and this is the stack'):
        ending("prod", "local")
