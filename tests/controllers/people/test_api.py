"""People are told what is theirs, whatever they ask for: the ledger is real, the cluster a stand-in."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.watch import Listed
from tallyard.controllers.people.api import PATH, Accounts, handler
from tallyard.controllers.serving import Server
from tallyard.ledger.commands import AnyCommand, GrantCluster, GrantProject, Settle, Share
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Store
from tallyard.render.controllers import SpecFile, spec_manifest
from tests.ledger.ledgers import DECEMBER, NOVEMBER, H, freeze_of
from tests.running_lab import OVERLAY

NOW = NOVEMBER + 3600
# Whose name no answer to anybody else may have in it, and whose figures are told from all others.
SECRET, FIGURE = "job-of-chen.yu", "1234.56"
TOKENS = {"t-li": "oidc:li.wei@corp.example", "t-chen": "chen.yu", "t-mallory": "mallory"}


@dataclass
class Cluster:
    """Whose tokens there are, and how often it was asked."""

    tokens: dict[str, str] = field(default_factory=lambda: dict(TOKENS))
    asked: int = 0
    is_down: bool = False

    def create(self, _: object, item: dict[str, Any]) -> dict[str, Any]:
        """Look at a token, as the API server does."""
        self.asked += 1
        if self.is_down:
            raise ClusterError(Fault.UNREACHABLE, "here", detail="down")
        login = self.tokens.get(item["spec"]["token"])
        if login is None:
            return {"status": {"authenticated": False, "user": {"username": "chen.yu"}}}
        return {"status": {"authenticated": True, "user": {"username": login}}}


@dataclass
class People:
    """The server, and who asks it."""

    cluster: Cluster
    accounts: Accounts
    port: int

    def ask(
        self, path: str = PATH, bearer: str | None = "t-li", method: str = "GET"
    ) -> tuple[int, str]:
        """Return the status and the body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    engine = engine_of(tmp_path_factory.mktemp("people") / "ledger.db")
    migrate(engine)
    time_of: dict[str, Any] = {"starts": NOVEMBER, "expires": DECEMBER}
    commands: list[AnyCommand] = [
        GrantCluster(key="c", grant="2026-11", amount=100_000 * H, **time_of),
        *(
            GrantProject(
                key=p,
                project=p,
                grant="2026-11",
                amount=10_000 * H,
                shares=tuple(Share(user, 100) for user in users),
                **time_of,
            )
            for p, users in (("nlp", ("li.wei", "chen.yu")), ("vision", ("zhao.min",)))
        ),
        freeze_of("f1", "train-7", 24 * H),
        freeze_of("f2", "train-8", 4 * H),
        Settle(key="s1", freeze="train-7", amount=20 * H),
        freeze_of("f3", SECRET, 123_456 * H // 100, user="chen.yu"),
    ]
    done = Store(engine, lambda: NOW).do(commands)
    assert all(isinstance(each, Done) for each in done), done
    cluster = Cluster()

    @contextmanager
    def open_(_: float) -> Iterator[Connection]:
        yield cast("Connection", cluster)

    accounts = Accounts(engine, open_, lambda: datetime.fromtimestamp(NOW, UTC))
    base = OVERLAY.with_name("platform.yaml")
    files = SpecFile("local.yaml", OVERLAY.read_text()), SpecFile(base.name, base.read_text())
    accounts.see_spec(Listed((spec_manifest(*files).object,)))
    api = Server(("127.0.0.1", 0), handler(accounts), "people")
    yield People(cluster, accounts, api.port)
    api.stop()
    engine.dispose()


def test_a_user_is_told_what_they_have_in_each_of_their_projects(people: People) -> None:
    status, body = people.ask()
    assert status == 200
    told = json.loads(body)
    assert (told["kind"], told["login"]) == ("Account", TOKENS["t-li"])
    (project,) = told["projects"]
    freezes = project.pop("freezes")
    assert project == {
        "project": "nlp",
        "user": "li.wei",
        "granted": "10000.00",
        "used": "20.00",
        "frozen": "4.00",
        "available": "9976.00",
        "owed": "0.00",
    }
    assert [(each["job"], each["open"], each["charged"]) for each in freezes] == [
        ("train-7", False, "20.00"),
        ("train-8", True, "0.00"),
    ]


def test_only_so_many_freezes_are_told_as_are_asked_for(people: People) -> None:
    for last in (0, 1, 2, 500):
        told = json.loads(people.ask(f"{PATH}?last={last}")[1])
        assert len(told["projects"][0]["freezes"]) == min(last, 2)


@pytest.mark.parametrize(
    ("token", "status", "says"),
    [
        (None, 401, "send the token of your kubeconfig"),
        ("", 401, "send the token of your kubeconfig"),
        ("t-nobody", 401, "does not know this token"),
        ("x" * 20_000, 401, "send the token"),
        ("t-mallory", 403, "mallory is no user of any project"),
    ],
)
def test_who_proves_nothing_is_told_nothing(
    people: People, token: str | None, status: int, says: str
) -> None:
    found, body = people.ask(bearer=token)
    assert found == status
    assert says in json.loads(body)["error"]
    assert "freezes" not in body


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/accounts", f"{PATH}/chen.yu", "/metrics", "/v1/account/../x"],
)
def test_there_is_nothing_else(people: People, path: str) -> None:
    assert people.ask(path)[0] == 404


@pytest.mark.parametrize(
    "query",
    [
        "user=chen.yu",
        "last=1&user=chen.yu",
        "last=-1",
        "last=1&last=2",
        "last=",
        "last=1e3",
        "last=٣",
    ],
)
def test_nothing_can_be_asked_for_but_how_many(people: People, query: str) -> None:
    # As a browser writes it, where it is no letter of an address.
    encoded = query.replace("٣", "%D9%A3")
    assert people.ask(f"{PATH}?{encoded}")[0] == 400


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    path=st.one_of(
        st.sampled_from(
            [PATH, f"{PATH}?", f"{PATH}?last=500", f"{PATH}#chen.yu", f"{PATH};chen.yu"]
        ),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60).map(
            lambda t: f"/{t}"
        ),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60).map(
            lambda t: f"{PATH}?{t}"
        ),
    ),
    token=st.one_of(
        st.sampled_from(["t-li", "t-mallory", "t-nobody", "t-li ", "t-chen2", "Bearer t-li"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60).filter(
            lambda t: t.strip() != "t-chen"
        ),
    ),
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]),
)
def test_no_request_shows_what_is_anothers(
    people: People, path: str, token: str, method: str
) -> None:
    _, body = people.ask(path, token, method)
    assert SECRET not in body
    assert FIGURE not in body


def test_the_figures_of_another_are_there_to_be_found(people: People) -> None:
    body = people.ask(bearer="t-chen")[1]
    assert SECRET in body
    assert FIGURE in body


def test_a_token_is_looked_at_once_in_a_while(people: People) -> None:
    people.cluster.tokens["t-new"] = "chen.yu"
    before = people.cluster.asked
    for _ in range(3):
        assert people.ask(bearer="t-new")[0] == 200
    assert people.cluster.asked == before + 1


def test_while_the_cluster_cannot_be_asked_nobody_is_told(people: People) -> None:
    people.cluster.is_down = True
    try:
        status, body = people.ask(bearer="t-other")
    finally:
        people.cluster.is_down = False
    assert status == 503
    assert "try again" in json.loads(body)["error"]


def test_before_the_spec_was_read_nobody_is_told(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "ledger.db")
    migrate(engine)

    @contextmanager
    def open_(_: float) -> Iterator[Connection]:
        yield cast("Connection", Cluster())

    accounts = Accounts(engine, open_, lambda: datetime.fromtimestamp(NOW, UTC))
    api = Server(("127.0.0.1", 0), handler(accounts), "people")
    try:
        assert People(Cluster(), accounts, api.port).ask()[0] == 503
    finally:
        api.stop()
        engine.dispose()
