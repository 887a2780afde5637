"""An override ends by itself on a real cluster: nobody runs `up`, and what runs goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab.folder import CHECKOUT
from lab.toolchain.ensure import Toolchain
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

MODEL = "A800-SXM4-80GB"
# An `up` of a change takes some 20 s, and three minutes beside other tests; the override has to
# outlive it, so it holds longer when the first was too short for the machine.
HOLDS = [timedelta(seconds=seconds) for seconds in (90, 180, 360)]
SECONDS_MAX = 400.0
_BOUNDARY = "  nlp:\n    tier: gold\n"


def _spec(until: datetime) -> str:
    """Return the shipped spec in which nlp has all A800 until a moment."""
    text = (CHECKOUT / "stacks" / "platform.yaml").read_text()
    assert text.count(_BOUNDARY) == 1
    override = (
        f"    overrides:\n      - cards: {{training: {{{MODEL}: 24}}}}\n"
        f"        until: {until.isoformat(timespec='seconds')}\n        reason: release\n"
    )
    return text.replace(_BOUNDARY, _BOUNDARY + override)


@pytest.fixture
def lab(tmp_path: Path, toolchain: Toolchain) -> Iterator[RunningLab]:
    """A lab of its own in which the override ends tomorrow."""
    local = (CHECKOUT / "stacks" / "local.yaml").read_text()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with small_platform.running(
        tmp_path, "overrides", _spec(tomorrow), local, toolchain
    ) as running:
        yield running


def _quota(lab: RunningLab) -> int:
    """Return how many A800 nlp's queue for training has by itself."""
    (group,) = lab.get("clusterqueue", "nlp-training")["spec"]["resourceGroups"]
    (flavor,) = (each for each in group["flavors"] if "a800" in each["name"])
    return next(
        int(each["nominalQuota"]) for each in flavor["resources"] if each["name"] == work.CARD
    )


def _left(lab: RunningLab) -> int:
    """Return how many A800 stand on the pool's cohort, for whoever borrows."""
    (group,) = lab.get("cohort", "training")["spec"]["resourceGroups"]
    (flavor,) = (each for each in group["flavors"] if "a800" in each["name"])
    return next(
        int(each["nominalQuota"]) for each in flavor["resources"] if each["name"] == work.CARD
    )


def _ends_soon(lab: RunningLab, spec: Path) -> datetime:
    """Deploy the override with an end that comes soon after, and return the end."""
    for holds in HOLDS:
        until = datetime.now(UTC) + holds
        spec.write_text(_spec(until))
        up = lab.pulumi("up", "--refresh", "--run-program", "--yes", "--skip-preview")
        assert up.returncode == 0, up.stdout + up.stderr
        if datetime.now(UTC) < until:
            return until
    pytest.fail(f"`up` takes longer than {HOLDS[-1]}")


def test_it_ends_by_itself_and_running_work_is_kept(lab: RunningLab, tmp_path: Path) -> None:
    assert (_quota(lab), _left(lab)) == (24, 8)
    gang = work.job("gang", "training", 8, namespace="nlp", pods=3, model=MODEL)
    work.submit(lab, gang, user="li.wei")
    work.wait(lambda: len(work.running(lab, "gang", "nlp")) == 3)
    before = {pod["metadata"]["uid"] for pod in work.running(lab, "gang", "nlp")}

    until = _ends_soon(lab, tmp_path / "platform.yaml")
    assert (_quota(lab), _left(lab)) == (24, 8)
    work.wait(lambda: (_quota(lab), _left(lab)) == (16, 16), SECONDS_MAX)
    assert datetime.now(UTC) >= until

    assert {pod["metadata"]["uid"] for pod in work.running(lab, "gang", "nlp")} == before
    found = work.workloads(lab, "nlp")
    assert not any(work.is_true(each, "Evicted") for each in found)
    again = lab.pulumi("preview", "--refresh", "--run-program", "--expect-no-changes")
    assert again.returncode == 0, again.stdout + again.stderr
    events = lab.get("events", "-n", "tallyard-system", "--field-selector", "reason=OverrideEnded")
    assert any("take the entry out of the spec" in each["message"] for each in events["items"])
