"""Starts Kueue's manager in the middle of `pulumi up`, at the one moment that is right.

Without its definitions and its Secret the manager hangs for good, and does not even end when
asked. The definitions come with the chart during `up`, and later steps of the same `up` need the
manager. So a thread waits beside it. It makes the Secret itself, which the lab's copy of the
chart leaves out, so that no private key ever passes through Pulumi or lies in its state.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from lab.api import Api
from lab.errors import LabError
from lab.kueue_manager import KueueManager
from lab.ports import HeldPorts
from lab.report import Report
from tallyard import labels

# All that the chart defines; the manager watches each of them.
DEFINITIONS = (
    "admissionchecks",
    "clusterqueues",
    "cohorts",
    "localqueues",
    "multikueueclusters",
    "multikueueconfigs",
    "provisioningrequestconfigs",
    "resourceflavors",
    "topologies",
    "workloadpriorityclasses",
    "workloads",
)
# One that ends as often as this in one `up` has something wrong with it.
STARTS_MAX = 3
_POLL_SECONDS = 0.2
_FAREWELL_SECONDS_MAX = 2.0


class KueueWatch:
    """Keeps the manager alive while the context lasts; it lives on afterwards."""

    def __init__(self, manager: KueueManager, report: Report) -> None:
        self._manager = manager
        self._report = report
        self._api = Api(manager.folder.admin)
        self._held = HeldPorts({})
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="kueue-watch", daemon=True)

    def check(self) -> None:
        """Raise what went wrong so far, so that nobody waits for a manager that cannot come."""
        if self._failure:
            raise self._failure

    def __enter__(self) -> Self:
        """Write the manager's files and begin to wait for its moment."""
        self._held = self._manager.prepare()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the watch; when all went well, the manager is ready afterwards."""
        self._over.set()
        # Who presses Ctrl-C does not wait for a manager to become ready.
        is_cancelled = error is not None and not isinstance(error, Exception)
        self._thread.join(_FAREWELL_SECONDS_MAX if is_cancelled else None)
        self._held.release(*tuple(self._held.ports))
        if error is None:
            self.check()
            self._manager.wait_ready()

    def _run(self) -> None:
        try:
            self._wait_for_chart()
            self._watch()
        except Exception as error:  # noqa: BLE001 - raised again where the caller waits
            self._failure = error

    def _wait_for_chart(self) -> None:
        """Wait for all that the manager needs.

        Raises:
            LabError: the watch ended before all of it came.
        """
        missing = list(DEFINITIONS)
        while True:
            is_last = self._over.is_set()
            missing = [
                name
                for name in missing
                if not self._api.serves(labels.KUEUE_GROUP, labels.KUEUE_VERSION, name)
            ]
            if not missing and self._api.has_namespace(labels.KUEUE_NAMESPACE):
                return
            if is_last:
                raise LabError(
                    "Kueue's manager was not started",
                    why=f"the cluster has no {missing[0] if missing else 'namespace'} of Kueue",
                    advice="See Pulumi's log by `tally lab logs pulumi`, then run `up` again",
                )
            self._over.wait(_POLL_SECONDS)

    def _watch(self) -> None:
        starts = 0
        self._api.apply(self._manager.secret())
        if not (self._manager.is_up_to_date() and self._manager.is_ready()):
            self._manager.stop()
        while True:
            if not self._manager.is_running():
                if starts == STARTS_MAX:
                    self._manager.wait_ready()  # raises with its last words
                starts += 1
                self._report.step("Kueue's manager starts")
                self._manager.start(self._held)
                self._manager.wait_ready()
                self._report.done("Kueue's manager is ready")
            if self._over.wait(_POLL_SECONDS):
                return
