"""A manager starts at its one right moment, and is kept alive until `up` has ended.

The API server is real. The manager is a stand-in that only says that it is ready, and the
definitions are empty ones of the right names: when to start is what is tested here.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import processes
from lab.errors import LabError
from lab.folder import lab_folder, write_private
from lab.kueue_manager import KIND
from lab.manager import Manager
from lab.manager_watch import ManagerWatch
from lab.report import Silence
from lab.state import StateFile
from tallyard.render.kueue_manager import configuration
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab

WAIT_SECONDS_MAX = 30.0
STAND_IN = f"""#!{sys.executable}
import http.server, sys, yaml
config = yaml.safe_load(open(sys.argv[sys.argv.index("--config") + 1]))
host, port = config["health"]["healthProbeBindAddress"].split(":")
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
http.server.HTTPServer((host, int(port)), Ready).serve_forever()
"""


def _definition(plural: str) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kueue.x-k8s.io"},
        "spec": {
            "group": "kueue.x-k8s.io",
            "scope": "Cluster",
            "names": {"plural": plural, "kind": plural.capitalize()},
            "versions": [
                {
                    "name": "v1beta2",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"namespace": "kueue-system", "name": KIND.account},
}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "kueue"},
    "rules": [
        {"apiGroups": [right.group], "resources": [right.resource], "verbs": [right.verb]}
        for right in KIND.rights
    ],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "kueue"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kueue"},
    "subjects": [{"kind": "ServiceAccount", "namespace": "kueue-system", "name": KIND.account}],
}


def _apply(lab: RunningLab, *objects: dict[str, Any]) -> None:
    done = lab.kubectl("apply", "--server-side", "-f", "-", objects=list(objects))
    assert done.returncode == 0, done.stderr


def _manager(lab: RunningLab, tmp_path: Path, platform: Platform) -> Manager:
    """A manager beside a lab, with a folder and a record of its own."""
    program = tmp_path / "stand-in"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    chart = tmp_path / "module"
    (chart / "templates" / "visibility").mkdir(parents=True)
    folder = lab_folder("manager", tmp_path)
    write_private(folder.admin, lab.folder.admin.read_bytes())
    return Manager(KIND, folder, StateFile(folder), program, chart, configuration(platform))


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_without_kueue_in_the_cluster_the_manager_is_not_started_and_that_is_told(
    shared_lab: RunningLab, tmp_path: Path, platform: Platform
) -> None:
    manager = _manager(shared_lab, tmp_path, platform)
    with pytest.raises(LabError, match="was not started"), ManagerWatch(manager, Silence()):
        pass
    assert not manager.beside.is_running()


def test_a_failed_up_is_told_as_itself(
    shared_lab: RunningLab, tmp_path: Path, platform: Platform
) -> None:
    manager = _manager(shared_lab, tmp_path, platform)
    with pytest.raises(ZeroDivisionError), ManagerWatch(manager, Silence()):
        raise ZeroDivisionError
    assert not manager.beside.is_running()


def test_the_manager_comes_with_its_chart_and_comes_back(
    own_lab: Callable[[str], RunningLab], tmp_path: Path, platform: Platform
) -> None:
    lab = own_lab("watched")
    lab.up()
    manager = _manager(lab, tmp_path, platform)
    try:
        with ManagerWatch(manager, Silence()) as watch:
            *others, last = map(_definition, KIND.definitions)
            _apply(lab, NAMESPACE, ACCOUNT, ROLE, BINDING, *others)
            # They are looked for one after the other, so all but this one were seen.
            _wait(lambda: watch.awaits == last["metadata"]["name"])
            assert not manager.beside.is_running(), "started without one of its definitions"
            assert lab.kubectl("delete", "clusterrolebinding", "kueue").returncode == 0
            _apply(lab, last)
            _wait(lambda: watch.awaits.startswith("a role"))
            assert not manager.beside.is_running(), "started without its rights"
            _apply(lab, BINDING)
            _wait(manager.beside.is_ready)
            secret = lab.get("-n", "kueue-system", "secret", "kueue-webhook-server-cert")
            assert secret["data"] == manager.secret()["data"]

            first = manager.file.current().process(KIND.name)
            assert first
            os.kill(first.pid, signal.SIGKILL)
            assert processes.wait(first, 10)
            _wait(manager.beside.is_ready)
            watch.check()
        second = manager.file.current().process(KIND.name)

        with ManagerWatch(manager, Silence()):
            pass
        assert manager.file.current().process(KIND.name) == second

        other = {**manager.configuration, "manageJobsWithoutQueueName": False}
        changed = replace(manager, configuration=other)
        with ManagerWatch(changed, Silence()):
            pass
        assert changed.beside.is_ready()
        assert changed.file.current().process(KIND.name) != second
    finally:
        manager.beside.stop()
