"""A control plane with our namespace and the spec in it, and controllers that a test may end."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import processes
from lab.api import is_healthy
from lab.folder import write_private
from lab.kubeconfigs import of_token
from lab.nodes import FAKE
from lab.ports import LOOPBACK, hold
from lab.processes import Process
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.controllers.following import RELIST_SECONDS
from tallyard.controllers.hosts.verdict import is_kept_off, taints_of
from tallyard.render.controllers import (
    SpecFile,
    access_manifests,
    namespace_manifest,
    spec_manifest,
)
from tallyard.spec.model import Platform
from tests.running_lab import OVERLAY, RunningLab

# Between a change and the taint, as it is promised; it takes about a second.
PROMISED_SECONDS = 60.0
# All else, on a machine that tests other things too.
SEEN_SECONDS_MAX = 20.0
_POLL_SECONDS = 0.05
BASE = OVERLAY.with_name("platform.yaml")


@dataclass
class Gated:
    """The control plane; `replicas` are the controllers that were started, by name."""

    lab: RunningLab
    folder: Path
    replicas: dict[str, tuple[Process, int]] = field(default_factory=dict)

    def install(self) -> None:
        """Apply what Pulumi would: the namespace, the access, the spec."""
        self.apply(namespace_manifest().object)
        self.apply(*(manifest.object for manifest in access_manifests()))
        self.write_spec(self.spec_overlay(), self.spec_base())

    def spec_overlay(self) -> str:
        """Return the environment's file as it is shipped."""
        return OVERLAY.read_text()

    def spec_base(self) -> str:
        """Return the platform's file as it is shipped."""
        return BASE.read_text()

    def write_spec(self, overlay: str, base: str) -> None:
        """Put a spec into the cluster."""
        files = SpecFile(OVERLAY.name, overlay), SpecFile(BASE.name, base)
        self.apply(spec_manifest(*files).object)

    def apply(self, *objects: Mapping[str, Any]) -> None:
        """Apply objects as the administrator."""
        told = [dict(each) for each in objects]
        arguments = ("apply", "--server-side", "--force-conflicts", "-f", "-")
        done = self.lab.kubectl(*arguments, objects=told)
        assert done.returncode == 0, done.stderr

    def start(self, name: str, server: str | None = None) -> None:
        """Start controllers as their own service account, and wait until they have read all.

        Args:
            name: the replica's.
            server: the address by which it reaches the API server, where that is another one.
        """
        token = self.lab.api.token(labels.SYSTEM_NAMESPACE, labels.CONTROLLERS, 3600)
        path = self.folder / f"{name}.kubeconfig"
        config = json.loads(of_token(self.lab.folder.admin, token))
        if server:
            config["clusters"][0]["cluster"]["server"] = server
        write_private(path, json.dumps(config).encode())
        with hold(["http"]) as held:
            port = held.ports["http"]
        command = [
            *(sys.executable, "-m", "tallyard.controllers", "--kubeconfig", str(path)),
            *("--identity", name, "--bind", LOOPBACK, "--port", str(port)),
        ]
        log = self.folder / f"{name}.log"
        self.replicas[name] = processes.start(name, command, log=log, environment=os.environ), port
        self.until(lambda: is_healthy(f"http://{LOOPBACK}:{port}/readyz"), seconds=60)

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """End controllers by a signal and wait until they are gone."""
        process, _ = self.replicas.pop(name)
        os.kill(process.pid, number)
        assert processes.wait(process, 20)
        processes.reap(process.pid)

    def stop(self) -> None:
        """End all controllers."""
        processes.stop([process for process, _ in self.replicas.values()])
        self.replicas.clear()

    def metric(self, name: str, metric: str) -> float | None:
        """Return a metric of a replica; None where it does not answer."""
        _, port = self.replicas[name]
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=1) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return None
        return next((float(line.split()[-1]) for line in lines if line.startswith(metric)), None)

    def is_leading(self, name: str) -> bool:
        """Return whether a replica says that it acts."""
        return self.metric(name, "tallyard_controllers_leading ") == 1.0

    def log(self, name: str) -> str:
        """Return what a replica has said."""
        return (self.folder / f"{name}.log").read_text()

    def holder(self) -> str:
        """Return which replica the lease is of."""
        place = ("-n", labels.SYSTEM_NAMESPACE)
        found = self.lab.kubectl("get", "lease", labels.CONTROLLERS, *place, "-o", "json")
        spec = json.loads(found.stdout)["spec"] if found.returncode == 0 else {}
        return str(spec.get("holderIdentity") or "")

    def add(self, node: Mapping[str, Any]) -> None:
        """Let a host join, with its status."""
        self.lab.api.apply_node(dict(node))

    def remove(self, *names: str) -> None:
        """Let hosts leave."""
        for name in names:
            self.lab.api.delete_node(name)

    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """Return all hosts by name."""
        return self.lab.api.nodes(FAKE)

    def node(self, name: str) -> Mapping[str, Any]:
        """Return a host."""
        return self.nodes()[name]

    def held(self) -> set[str]:
        """Return the hosts with the gate's taint."""
        return {name for name, node in self.nodes().items() if is_kept_off(taints_of(node))}

    def is_held(self, name: str) -> bool:
        """Return whether the gate's taint is on a host."""
        return is_kept_off(taints_of(self.node(name)))

    def why(self, name: str) -> str:
        """Return the reasons that a host carries."""
        return self.reasons()[name]

    def reasons(self) -> Mapping[str, str]:
        """Return the reasons that the hosts carry, empty for those without."""
        return {
            name: str((node["metadata"].get("annotations") or {}).get(labels.HELD, ""))
            for name, node in self.nodes().items()
        }

    def events(self, name: str) -> Sequence[Mapping[str, Any]]:
        """Return the Events about a host."""
        chosen = f"involvedObject.kind=Node,involvedObject.name={name}"
        found = self.lab.get("events", "-n", "default", "--field-selector", chosen)
        ours = f"{labels.DOMAIN}/{labels.CONTROLLERS}"
        return [e for e in found["items"] if e["source"].get("component") == ours]

    def pass_over(self, pod: str) -> None:
        """Wait until the scheduler has found no host for a pod of `default`."""

        def is_passed_over() -> bool:
            found = self.lab.get("pod", pod, "-n", labels.DEFAULT_NAMESPACE)
            conditions = (found.get("status") or {}).get("conditions") or ()
            (told,) = [c for c in conditions if c["type"] == "PodScheduled"] or [{}]
            return (told.get("status"), told.get("reason")) == ("False", "Unschedulable")

        self.until(is_passed_over)

    def list_anew(self, name: str) -> None:
        """Wait until a replica has read all hosts once more."""
        metric = 'tallyard_controllers_listed_timestamp_seconds{kind="Node"}'
        before = self.metric(name, metric)
        assert before is not None
        self.until(
            lambda: (self.metric(name, metric) or 0.0) > before,
            seconds=RELIST_SECONDS + SEEN_SECONDS_MAX,
        )

    def until(self, is_so: Callable[[], bool], seconds: float = SEEN_SECONDS_MAX) -> float:
        """Wait until something is so; return how long it took."""
        begun = time.monotonic()
        while not is_so():
            logs = {name: self.log(name)[-2000:] for name in self.replicas}
            assert time.monotonic() - begun < seconds, logs
            time.sleep(_POLL_SECONDS)
        return time.monotonic() - begun


@contextmanager
def installed(folder: Path, name: str, platform: Platform, toolchain: Toolchain) -> Iterator[Gated]:
    """Give a control plane of one's own with our namespace and the spec, and no controllers."""
    lab = RunningLab(folder / "labs", name, platform, toolchain)
    gated = Gated(lab, folder)
    try:
        lab.up()
        gated.install()
        yield gated
    finally:
        gated.stop()
        lab.down()
