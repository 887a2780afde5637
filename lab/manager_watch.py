"""Starts a manager in the middle of `pulumi up`, at the one moment that is right.

Without its definitions and its Secret Kueue's hangs for good, and does not even end when asked.
The definitions, the service account and its rights come with the chart during `up`, and later
steps of the same `up` need the manager. So a thread waits beside it. It makes the Secret itself,
which the lab's copy of the chart leaves out, so that no private key ever passes through Pulumi or
lies in its state.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from lab.api import Api
from lab.beside import TOKEN_SECONDS
from lab.errors import LabError
from lab.manager import Manager
from lab.ports import HeldPorts
from lab.report import Report
from tallyard import labels

# One that ends as often as this in one `up` has something wrong with it.
STARTS_MAX = 3
_POLL_SECONDS = 0.2
_FAREWELL_SECONDS_MAX = 2.0


class ManagerWatch:
    """Keeps the manager alive while the context lasts; it lives on afterwards."""

    def __init__(self, manager: Manager, report: Report) -> None:
        self._manager = manager
        self._kind = manager.kind
        self._report = report
        self._api = Api(manager.folder.admin)
        self._awaited = list(manager.kind.definitions)
        self._awaits = ""
        self._held = HeldPorts({})
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, name=f"watch-{manager.kind.name}", daemon=True
        )

    @property
    def awaits(self) -> str:
        """Return what the cluster lacked when it was last looked at; empty for nothing."""
        return self._awaits

    def check(self) -> None:
        """Raise what went wrong so far, so that nobody waits for a manager that cannot come."""
        if self._failure:
            raise self._failure

    def __enter__(self) -> Self:
        """Write the manager's files and begin to wait for its moment."""
        # One that is to be started anew must not answer first: `up` would take its webhooks for
        # those of the new one, which come later.
        if not self._manager.is_up_to_date(self._account_uid()):
            self._manager.beside.stop()
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
            self._manager.beside.wait_ready()

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
        while True:
            is_last = self._over.is_set()
            self._awaits = missing = self._missing()
            if not missing:
                return
            if is_last:
                raise LabError(
                    f"{self._kind.title} was not started",
                    why=f"the cluster does not have {missing}",
                    advice="See Pulumi's log by `tally lab logs pulumi`, then run `up` again",
                )
            self._over.wait(_POLL_SECONDS)

    def _missing(self) -> str:
        """Return the first thing that the manager needs and that is not there; else empty."""
        kind = self._kind
        group, version = kind.api
        # Those that were seen are not asked for again: there are a dozen, and many polls.
        while self._awaited and self._api.serves(group, version, self._awaited[0]):
            self._awaited.pop(0)
        if self._awaited:
            return f"{self._awaited[0]}.{group}"
        if not self._account_uid():
            return f"the service account {kind.account} in {kind.namespace}"
        login = labels.account_login(kind.namespace, kind.account)
        refused = (right for right in kind.rights if not self._api.may(login, right))
        if right := next(refused, None):
            return f"a role by which {login} may {right.verb} {right.resource}"
        return ""

    def _account_uid(self) -> str:
        return self._api.account_uid(self._kind.namespace, self._kind.account)

    def _token(self) -> str:
        return self._api.token(self._kind.namespace, self._kind.account, TOKEN_SECONDS)

    def _watch(self) -> None:
        starts = 0
        if self._kind.secret:
            self._api.apply(self._manager.secret())
        if not self._manager.beside.is_ready():
            self._manager.beside.stop()
        while True:
            if not self._manager.beside.is_running():
                if starts == STARTS_MAX:
                    self._manager.beside.wait_ready()  # raises with its last words
                starts += 1
                self._report.step(f"{self._kind.title} starts")
                self._manager.start(self._held, self._token())
                self._manager.beside.wait_ready()
                self._report.done(f"{self._kind.title} is ready")
            if self._over.wait(_POLL_SECONDS):
                return
