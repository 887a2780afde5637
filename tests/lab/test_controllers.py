"""The controllers' process on a real control plane: who acts, in which rights, and through what."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from lab import control_plane, processes
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.controllers.election import ACTS_SECONDS, LEASE_SECONDS
from tallyard.render.controllers import deployment_manifests
from tallyard.spec.model import Platform
from tests.controllers.gated import Gated, installed

# A round and a request, on a machine that does other things too.
TAKEN_OVER_SECONDS_MAX = LEASE_SECONDS + 8


@pytest.fixture(scope="module")
def plane(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[Gated]:
    """A control plane with our namespace and the spec, and no controllers yet."""
    with installed(
        tmp_path_factory.mktemp("controllers"), "controllers", platform, toolchain
    ) as gated:
        yield gated


@pytest.fixture
def gated(plane: Gated) -> Iterator[Gated]:
    """No controllers run before and after a test, and every host is right."""
    yield plane
    plane.stop()
    _put_right(plane)


def _put_right(gated: Gated) -> None:
    """Give a host its own rack back and open it."""
    _move(gated, "r0")
    gated.lab.kubectl(
        "taint", "node", "a100-00", f"{labels.UNVERIFIED_TAINT}:{labels.NO_SCHEDULE}-"
    )


def _move(gated: Gated, rack: str) -> None:
    done = gated.lab.kubectl(
        "label", "node", "a100-00", f"{labels.NODE_RACK}={rack}", "--overwrite"
    )
    assert done.returncode == 0, done.stderr


class Wire:
    """A connection to the API server that can be cut: what is sent is then kept from it."""

    def __init__(self, server: str) -> None:
        self._target = (str(urlsplit(server).hostname), int(urlsplit(server).port or 0))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._cut = threading.Event()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        """Return where to reach the API server through it."""
        return f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Let nothing through any more, and tell nobody."""
        self._cut.set()

    def close(self) -> None:
        """End it."""
        self._cut.set()
        for each in (self._listener, *self._sockets):
            each.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if self._cut.is_set():
                    return
                target.sendall(data)


def _server(gated: Gated) -> str:
    return control_plane.server(gated.lab.state)


def test_of_two_replicas_one_acts_and_the_other_takes_over_when_it_is_killed(gated: Gated) -> None:
    gated.start("one")
    gated.until(lambda: gated.is_leading("one"))
    gated.start("two")
    assert gated.holder() == "one"
    assert not gated.is_leading("two")
    gated.kill("one")
    _move(gated, "r9")
    gated.until(lambda: gated.is_held("a100-00"), seconds=TAKEN_OVER_SECONDS_MAX)
    assert gated.is_leading("two")
    assert gated.holder() == "two"


def test_a_replica_that_is_asked_to_end_gives_the_lease_back_at_once(gated: Gated) -> None:
    gated.start("one")
    gated.until(lambda: gated.is_leading("one"))
    gated.start("two")
    gated.kill("one", signal.SIGTERM)
    gated.until(lambda: gated.is_leading("two"), seconds=LEASE_SECONDS)
    assert "ended" in gated.log("one")
    assert "Traceback" not in gated.log("one")


def test_a_replica_that_is_cut_off_steps_down_before_the_other_takes_over(gated: Gated) -> None:
    """Nothing tells it: its requests and its watch are silent, as when a switch has failed."""
    wire = Wire(_server(gated))
    try:
        gated.start("cut", server=wire.address)
        gated.until(lambda: gated.is_leading("cut"))
        gated.start("whole")
        wire.cut()
        begun = time.monotonic()
        acting: list[tuple[bool, bool]] = []
        while not acting or not acting[-1][1]:
            # In this order: in the other one the change could fall between the two answers.
            whole = gated.is_leading("whole")
            acting.append((gated.is_leading("cut"), whole))
            assert time.monotonic() - begun < TAKEN_OVER_SECONDS_MAX
            time.sleep(0.1)
        assert (True, True) not in acting
        assert (True, False) in acting
        assert (False, False) in acting, "there is a time between the two"
        assert gated.metric("cut", "tallyard_hosts") is not None, "it lives, and looks on"
    finally:
        wire.close()


def test_a_replica_that_was_stopped_for_long_does_not_act_when_it_goes_on(gated: Gated) -> None:
    gated.start("slept")
    gated.until(lambda: gated.is_leading("slept"))
    gated.start("awake")
    process, _ = gated.replicas["slept"]
    os.kill(process.pid, signal.SIGSTOP)
    try:
        gated.until(lambda: gated.is_leading("awake"), seconds=TAKEN_OVER_SECONDS_MAX)
    finally:
        os.kill(process.pid, signal.SIGCONT)
    for _ in range(30):
        assert not gated.is_leading("slept")
        time.sleep(0.1)
    assert gated.holder() == "awake"
    assert gated.is_leading("awake")


def test_an_api_server_that_went_away_is_followed_again_and_what_changed_is_seen(
    gated: Gated,
) -> None:
    """It is away for longer than the lease."""
    gated.start("only")
    gated.until(lambda: gated.is_leading("only"))
    victim = gated.lab.state.process("kube-apiserver")
    assert victim
    os.kill(victim.pid, signal.SIGKILL)
    assert processes.wait(victim, 10)
    gated.until(lambda: not gated.is_leading("only"), seconds=ACTS_SECONDS + 5)
    time.sleep(LEASE_SECONDS - ACTS_SECONDS)
    gated.lab.up()
    _move(gated, "r9")
    gated.until(lambda: gated.is_held("a100-00"))
    assert "Traceback" not in gated.log("only")


def test_without_a_spec_nothing_is_opened_and_nothing_is_closed(gated: Gated) -> None:
    place = ("-n", labels.SYSTEM_NAMESPACE)
    gated.lab.kubectl("delete", "configmap", labels.SPEC_CONFIG, *place)
    taint = f"{labels.UNVERIFIED_TAINT}:{labels.NO_SCHEDULE}"
    try:
        assert gated.lab.kubectl("taint", "node", "a100-01", taint).returncode == 0
        _move(gated, "r9")
        gated.start("blind")
        gated.until(lambda: gated.is_leading("blind"))
        gated.list_anew("blind")
        assert gated.is_held("a100-01")
        assert not gated.is_held("a100-00")
        assert gated.metric("blind", "tallyard_spec_loaded ") == 0
        assert "no host is released" in gated.log("blind")
    finally:
        gated.write_spec(gated.spec_overlay(), gated.spec_base())
    gated.until(lambda: not gated.is_held("a100-01") and gated.is_held("a100-00"))


def test_a_token_that_the_cluster_does_not_know_is_told_without_a_traceback(gated: Gated) -> None:
    gated.start("one")
    place = ("-n", labels.SYSTEM_NAMESPACE)
    gated.lab.kubectl("delete", "serviceaccount", labels.CONTROLLERS, *place)
    try:
        gated.until(lambda: "does not know you" in gated.log("one"), seconds=60)
        gated.until(lambda: not gated.is_leading("one"))
        assert "Traceback" not in gated.log("one")
    finally:
        gated.install()


def test_the_api_server_takes_what_runs_them_as_it_is_rendered_and_adds_nothing(
    plane: Gated,
) -> None:
    """A field that it would fill in is one whose hand edit nobody would see."""
    image = f"registry.example.com/tallyard/controllers@sha256:{'0' * 64}"
    wanted = [dict(manifest.object) for manifest in deployment_manifests(image)]
    done = plane.lab.kubectl(
        *("apply", "--server-side", "--dry-run=server", "--field-manager=tallyard"),
        *("-o", "json", "-f", "-"),
        objects=wanted,
    )
    assert done.returncode == 0, done.stderr
    assert "would violate PodSecurity" not in done.stderr
    taken = json.loads(done.stdout)["items"]
    assert [each["spec"] for each in taken] == [each["spec"] for each in wanted]


CONTROLLERS = f"system:serviceaccount:{labels.SYSTEM_NAMESPACE}:{labels.CONTROLLERS}"
LABELLER = f"system:serviceaccount:{labels.SYSTEM_NAMESPACE}:{labels.NODE_LABELLER}"
OWN = f"-n {labels.SYSTEM_NAMESPACE}"


@pytest.mark.parametrize(
    ("account", "verb", "what", "answer"),
    [
        (CONTROLLERS, "patch", "nodes", "yes"),
        (CONTROLLERS, "watch", "nodes", "yes"),
        (CONTROLLERS, "list", f"configmaps/platform {OWN}", "yes"),
        (CONTROLLERS, "watch", f"configmaps/platform {OWN}", "yes"),
        (CONTROLLERS, "get", f"configmaps/platform {OWN}", "no"),
        (CONTROLLERS, "get", "nodes/a100-00", "no"),
        (CONTROLLERS, "update", f"leases.coordination.k8s.io/controllers {OWN}", "yes"),
        (CONTROLLERS, "create", "events -n default", "yes"),
        (CONTROLLERS, "delete", "nodes", "no"),
        (CONTROLLERS, "create", "nodes", "no"),
        (CONTROLLERS, "patch", "nodes --subresource=status", "no"),
        (CONTROLLERS, "get", f"configmaps/other {OWN}", "no"),
        (CONTROLLERS, "patch", f"configmaps/platform {OWN}", "no"),
        (CONTROLLERS, "get", "configmaps -n kube-system", "no"),
        (CONTROLLERS, "get", f"secrets {OWN}", "no"),
        (CONTROLLERS, "update", f"leases.coordination.k8s.io/other {OWN}", "no"),
        (CONTROLLERS, "update", "leases.coordination.k8s.io/controllers -n kube-system", "no"),
        (CONTROLLERS, "create", "events -n kube-system", "no"),
        (CONTROLLERS, "get", "events -n default", "no"),
        (CONTROLLERS, "get", "pods -A", "no"),
        (CONTROLLERS, "create", f"pods {OWN}", "no"),
        (CONTROLLERS, "impersonate", "users", "no"),
        (CONTROLLERS, "create", f"serviceaccounts/controllers --subresource=token {OWN}", "no"),
        (LABELLER, "get", "nodes/a100-00", "yes"),
        (LABELLER, "patch", "nodes/a100-00", "yes"),
        (LABELLER, "list", "nodes", "no"),
        (LABELLER, "update", "nodes", "no"),
        (LABELLER, "delete", "nodes", "no"),
        (LABELLER, "get", f"configmaps/platform {OWN}", "no"),
        (LABELLER, "create", "events -n default", "no"),
    ],
)
def test_each_account_may_do_what_it_must_and_nothing_else(
    plane: Gated, account: str, verb: str, what: str, answer: str
) -> None:
    asked = plane.lab.kubectl("auth", "can-i", verb, *what.split(), "--as", account)
    assert asked.stdout.strip() == answer, asked.stderr


def test_an_account_has_no_other_right_than_those_that_are_asked_above(plane: Gated) -> None:
    """What everybody who is logged in may do stands for nothing."""
    place = ("-n", labels.SYSTEM_NAMESPACE)
    listed = plane.lab.kubectl("auth", "can-i", "--list", *place, "--as", CONTROLLERS).stdout
    # A line: a resource, paths, names, verbs, the last three in brackets; some have no resource.
    rights = [
        (line.split()[0], *re.findall(r"\[(.*?)\]", line)[1:])
        for line in listed.splitlines()[1:]
        if line[0] not in " ["
    ]
    everybodys = {
        "selfsubjectreviews.authentication.k8s.io",
        "selfsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectrulesreviews.authorization.k8s.io",
        "clustertrustbundles.certificates.k8s.io",
    }
    assert {right for right in rights if right[0] not in everybodys} == {
        ("clusterqueues.kueue.x-k8s.io", "", "get patch"),
        ("cohorts.kueue.x-k8s.io", "", "get patch"),
        ("configmaps", labels.SPEC_CONFIG, "list watch"),
        ("events", "", "create patch"),
        ("leases.coordination.k8s.io", "", "create"),
        ("leases.coordination.k8s.io", labels.CONTROLLERS, "get update"),
        ("nodes", "", "list patch watch"),
        (f"{labels.PROJECT_TABLES}.{labels.DOMAIN}", labels.PROJECT_TABLE, "get patch"),
    }
