"""The one thing that people may ask the controllers: `GET /v1/account`, what is theirs.

Whose it is follows from the token alone, which the API server looks at; nothing of the request says
it. What can be asked for is how many freezes (`?last=N`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import Engine

from tallyard.cluster.faults import ClusterError
from tallyard.cluster.tokens import login_of
from tallyard.cluster.watch import Seen
from tallyard.controllers.election import REQUEST_SECONDS_MAX
from tallyard.controllers.opening import Open
from tallyard.controllers.people.account import accounts, document
from tallyard.controllers.serving import Answering
from tallyard.controllers.spec_source import SpecInForce
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.owning import FREEZES_MAX, own

PATH = "/v1/account"
_LAST = 20
# An answer about a token is believed for so long; a login that was taken away is seen after it.
_BELIEVED_SECONDS = 10.0
_BELIEVED_MAX = 1000
_TOKEN_BYTES_MAX = 16_384
_BEARER = "Bearer "

_LOG = logging.getLogger(__name__)


class Refusal(Exception):  # noqa: N818 - it is an answer
    """What is answered in place of an account: the status, and a sentence with what to do."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class _Believed:
    login: str
    until: float


class Accounts:
    """What is answered; called from many threads."""

    def __init__(self, engine: Engine, open_: Open, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._open = open_
        self._now = now
        self._spec = SpecInForce()
        self._lock = threading.Lock()
        self._believed: dict[bytes, _Believed] = {}

    def see_spec(self, seen: Seen) -> None:
        """Take what was seen of the ConfigMap; the last good spec stays in force."""
        with self._lock:
            self._spec.see(seen, self._now())

    def answer(self, authorization: str, last: int) -> Mapping[str, Any]:
        """Return the account of whoever a header proves to be.

        Args:
            authorization: The header.
            last: How many freezes at most.

        Raises:
            Refusal: There is no such person, or nobody can say so at the moment.
        """
        login = self._login(authorization)
        now = self._now()
        with self._lock:
            platform = self._spec.at(now)
        if platform is None:
            raise Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE, "the spec has not been read yet; try again"
            )
        mine = list(accounts(platform, login))
        if not mine:
            raise Refusal(
                HTTPStatus.FORBIDDEN,
                f"{login} is no user of any project: ask an administrator to write this login into "
                "the spec",
            )
        try:
            found = [
                (project, account, own(self._engine, account, last)) for project, account in mine
            ]
        except StoreError as error:
            _LOG.warning("people: %s", error)
            raise Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE, "the ledger cannot be read now; try again"
            ) from error
        return document(login, found, int(now.timestamp()))

    def _login(self, authorization: str) -> str:
        token = authorization.removeprefix(_BEARER).strip()
        if not authorization.startswith(_BEARER) or not token or len(token) > _TOKEN_BYTES_MAX:
            raise Refusal(
                HTTPStatus.UNAUTHORIZED,
                "send the token of your kubeconfig: Authorization: Bearer TOKEN",
            )
        # Not the token itself: it would stand in a memory dump.
        key, at = hashlib.sha256(token.encode()).digest(), time.monotonic()
        with self._lock:
            believed = self._believed.get(key)
        if believed is None or believed.until < at:
            believed = _Believed(self._asked(token), at + _BELIEVED_SECONDS)
            with self._lock:
                if len(self._believed) >= _BELIEVED_MAX:
                    self._believed.clear()
                self._believed[key] = believed
        if not believed.login:
            raise Refusal(
                HTTPStatus.UNAUTHORIZED, "the cluster does not know this token; log in anew"
            )
        return believed.login

    def _asked(self, token: str) -> str:
        try:
            with self._open(REQUEST_SECONDS_MAX) as connection:
                return login_of(connection, token)
        except ClusterError as error:
            _LOG.warning("people: %s", error)
            raise Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the cluster cannot be asked whose token it is; try again",
            ) from error


def _last(address: str) -> int:
    """Return how many freezes are asked for.

    Raises:
        ValueError: It cannot be read.
        Refusal: It is no number, or something else is asked for.
    """
    parts = urlsplit(address)
    if parts.path != PATH:
        raise Refusal(HTTPStatus.NOT_FOUND, f"there is {PATH}, and nothing else")
    asked = parse_qs(parts.query, keep_blank_values=True)
    (text,) = asked.pop("last", None) or [str(_LAST)]
    if asked or not text.isascii() or not text.isdigit() or len(text) > len(str(FREEZES_MAX)):
        raise Refusal(
            HTTPStatus.BAD_REQUEST, f"only ?last=N can be asked for, N up to {FREEZES_MAX}"
        )
    return int(text)


def handler(found: Accounts) -> type[Answering]:
    """Return what answers whoever asks for their account."""

    class People(Answering):
        def do_GET(self) -> None:  # noqa: N802 - the name is that of http.server
            try:
                last = _last(self.path)
                body = found.answer(self.headers.get("Authorization", ""), last)
                self._say(HTTPStatus.OK, body)
            except ValueError:
                self._say(HTTPStatus.BAD_REQUEST, {"error": "the address cannot be read"})
            except Refusal as refusal:
                self._say(refusal.status, {"error": str(refusal)})

        def _say(self, status: HTTPStatus, body: Mapping[str, Any]) -> None:
            written = json.dumps(body, ensure_ascii=False).encode()
            self.answer(status, written, "application/json", Cache_Control="no-store")

    return People
