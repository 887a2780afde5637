"""The examples are what the shipped spec can run: its queues, models, priorities and people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tallyard import labels
from tallyard.cli.views.asks import is_card
from tallyard.spec.load import load
from tallyard.spec.model import Platform, Pool

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.yaml"))


@pytest.fixture(scope="module")
def platform() -> Platform:
    """The lab's platform."""
    found = load(ROOT / "stacks" / "local.yaml").platform
    assert found is not None
    return found


def _work(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return found


def _pod(work: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = work["spec"]["template"]["spec"]
    return spec


def _pool(work: dict[str, Any], platform: Platform) -> Pool:
    return platform.pools[work["metadata"]["labels"][labels.QUEUE_NAME]]


def _cards(work: dict[str, Any]) -> dict[str, int]:
    limits = _pod(work)["containers"][0]["resources"]["limits"]
    count = work["spec"].get("parallelism") or work["spec"].get("replicas", 1)
    return {name: int(amount) * count for name, amount in limits.items() if is_card(name)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_names_a_queue_a_priority_and_a_person_of_the_spec(
    file: Path, platform: Platform
) -> None:
    work = _work(file)
    own = work["metadata"]["labels"]
    project = platform.projects[own[labels.PROJECT]]
    assert work["metadata"]["namespace"] == project.namespace
    assert own[labels.USER] in {user.name for user in project.users}
    priority = _pool(work, platform).priority.name
    assert (own[labels.PRIORITY_CLASS], _pod(work)["priorityClassName"]) == (priority, priority)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_asks_for_cards_that_its_queue_has(file: Path, platform: Platform) -> None:
    work = _work(file)
    pool, selector = _pool(work, platform), _pod(work)["nodeSelector"]
    if pool.borrows_from is not None:
        assert (_cards(work), selector) == ({}, {labels.NODE_POOL: labels.CPU_POOL})
        return
    model = selector[labels.GPU_MODEL]
    assert model in pool.models
    assert list(_cards(work)) == [platform.accelerators[model].resource]


def test_the_filler_takes_all_that_may_be_had_so_the_next_job_must_wait(
    platform: Platform,
) -> None:
    """16 of the tier's own and 8 borrowed; one card less, and train-waits would not wait."""
    fill, waits = (_work(ROOT / "examples" / f"train-{n}.yaml") for n in ("fill", "waits"))
    limits = platform.projects["nlp"].limits
    most = limits.cards["training"]["A800-SXM4-80GB"] + limits.borrow["training"]
    assert sum(_cards(fill).values()) == most
    assert 0 < sum(_cards(waits).values()) <= most
    assert _pod(fill)["nodeSelector"] == _pod(waits)["nodeSelector"]
