"""An `up` that was killed converges by the one command; `make soak-interrupted` is the long form."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.soak.interrupted import (
    PROVIDER_STARTS,
    STATE_WRITTEN,
    WEBHOOK_WAIT,
    Moment,
    Way,
    drawn,
    interrupted,
)

QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"


@pytest.mark.parametrize(
    ("moment", "way"),
    [
        (Moment(QUEUE, "created", 3, 0.0), Way.LAB),
        (Moment("", STATE_WRITTEN, 38, 0.0), Way.OWN),
    ],
    ids=["among-the-queues", "while-the-state-is-written"],
)
def test_a_killed_up_converges_by_one_command(tmp_path: Path, moment: Moment, way: Way) -> None:
    """No duplicate, no orphan, and a second `up` changes nothing; see `interrupted`."""
    outcome = interrupted(tmp_path, "killed", moment, way)
    assert outcome.fault is None
    assert {"pulumi", "up"} <= set(outcome.killed)
    assert any("pulumi-resource-kubernetes" in name for name in outcome.killed)


def test_the_moments_are_the_same_for_a_seed_and_reach_every_sort_of_step() -> None:
    steps = {("kubernetes:a", "creating"): 4, ("kubernetes:b", "created"): 2}
    first, again = (drawn(steps, 8, random.Random(7)) for _ in range(2))  # noqa: S311
    assert first == again
    assert [m.what for m in first[:3]] == [PROVIDER_STARTS, WEBHOOK_WAIT, STATE_WRITTEN]
    assert {m.type for m in first[4:]} == {"kubernetes:a", "kubernetes:b"}
    assert all(1 <= m.number <= steps[m.type, m.what] for m in first[4:])
