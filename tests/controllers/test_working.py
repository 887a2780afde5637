"""A job's thread: its order, what ends a round and what does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

import pytest

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ConfigMap, Node
from tallyard.cluster.watch import Listed, Seen
from tallyard.controllers import working
from tallyard.controllers.following import News
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.working import Worker
from tallyard.ledger.store.faults import StoreError

_SECONDS_MAX = 20.0


@dataclass
class Job:
    """Writes down what is done with it; `fails` is raised by its next round."""

    done: list[str] = field(default_factory=list)
    fails: Exception | None = None
    is_behind: bool = False

    def begin_to_lead(self) -> None:
        """Say so."""
        self.done.append("lead")

    def work(self, connect: Callable[[], Connection]) -> None:
        """Say so, or fail once."""
        if self.fails:
            error, self.fails = self.fails, None
            raise error
        if connect() is not connect():
            self.done.append("two connections")
        self.done.append("work")

    def see(self, seen: Seen) -> None:
        """Say so."""
        self.done.append(f"see {len(seen.items) if isinstance(seen, Listed) else 1}")

    def until(self, wanted: str, count: int = 1) -> None:
        """Wait until something was done so often."""
        deadline = time.monotonic() + _SECONDS_MAX
        while self.done.count(wanted) < count:
            assert time.monotonic() < deadline, self.done
            time.sleep(0.01)


@contextmanager
def _opened(_: float) -> Iterator[Connection]:
    yield cast("Connection", object())


@pytest.fixture
def job() -> Job:
    """One that has done nothing."""
    return Job()


@pytest.fixture
def metrics() -> Metrics:
    """Of one process."""
    return Metrics()


@pytest.fixture
def worker(job: Job, metrics: Metrics) -> Iterator[Worker]:
    """A thread of its own that has not begun."""
    worker = Worker("job", job, {Node: job.see}, _opened, metrics)
    yield worker
    worker.stop()


def test_it_takes_over_and_sees_what_came_before_it_works(worker: Worker, job: Job) -> None:
    worker.hear(News(Node, Listed(({}, {}))))
    worker.hear(News(ConfigMap, Listed(({},))))
    worker.lead()
    worker.start()
    job.until("work")
    assert job.done[:3] == ["see 2", "lead", "work"]
    assert "two connections" not in job.done


@pytest.mark.parametrize(
    ("error", "label"),
    [
        (ClusterError(Fault.TIMEOUT, "here", detail="no answer"), "write"),
        (StoreError("away"), "ledger"),
    ],
)
def test_what_is_away_ends_a_round_and_is_counted(
    worker: Worker, job: Job, metrics: Metrics, error: Exception, label: str
) -> None:
    job.fails = error
    worker.start()
    job.until("work", 2)
    found = metrics.registry.get_sample_value(
        "tallyard_controllers_failures_total", {"request": label}
    )
    assert found == 1
    assert worker.is_alive()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_ours_ends_the_thread_so_that_the_process_is_started_anew(
    worker: Worker, job: Job
) -> None:
    job.fails = ZeroDivisionError()
    worker.start()
    deadline = time.monotonic() + _SECONDS_MAX
    while worker.goes_on():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_that_does_not_come_round_is_not_alive(
    worker: Worker, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.start()
    job.until("work")
    assert worker.is_alive()
    monkeypatch.setattr(working, "ROUND_SECONDS_MAX", -1.0)
    assert not worker.is_alive()
    assert worker.goes_on()
    monkeypatch.undo()
