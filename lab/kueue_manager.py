"""Kueue's manager as a process beside the control plane: its files, its start, its end.

When it may be started is the business of `kueue_watch.py`.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab import certificates, processes
from lab.api import is_healthy
from lab.errors import LabError, PortError
from lab.folder import LabFolder, private_folder, write_private
from lab.last_words import last_words
from lab.ports import (
    IN_USE,
    KUEUE,
    KUEUE_PORTS,
    LOOPBACK,
    HeldPorts,
    hold,
    hold_again,
    wait_free,
)
from lab.state import LabState, StateFile
from tallyard import labels
from tallyard.render.kueue_manager import WEBHOOK_SECRET

NAME = KUEUE
PORTS = KUEUE_PORTS
MEMORY_LIMIT = "140MiB"
READY_SECONDS_MAX = 60.0
_POLL_SECONDS = 0.1
_CERTIFICATES = ("ca.crt", "ca.key", "tls.crt", "tls.key")
# Left out of the lab's copy of the chart; production keeps them. Without a process that serves
# them, the visibility APIServices make every deletion of a namespace hang. The Secret of the
# webhook's certificate is the lab's own: were it Pulumi's, a refresh would bring its keys into
# the state.
_NOT_IN_LAB = ("internalcert", "visibility")


@dataclass(frozen=True)
class KueueManager:
    """The manager of one lab.

    `program` is its binary, `chart` the folder of Kueue's chart, `configuration` what
    production runs it with (a `Configuration` of config.kueue.x-k8s.io).
    """

    folder: LabFolder
    file: StateFile
    program: Path
    chart: Path
    configuration: Mapping[str, Any]

    @property
    def told(self) -> Path:
        """Return the file that tells the Pulumi program where the manager is."""
        return self.folder.kueue / "manager.json"

    @property
    def log(self) -> Path:
        """Return the manager's log."""
        return self.folder.logs / "kueue.log"

    def prepare(self) -> HeldPorts:
        """Choose ports, make certificates and write all files; start nothing.

        Returns:
            The ports, held until the manager is started; none when it runs.
        """
        state = self.file.current()
        if self.is_running():
            held = HeldPorts({})
        else:
            before = {n: p for n, p in (state.ports or {}).items() if n in PORTS}
            wait_free(before.values())
            held = hold_again(before)
            if set(held.ports) != set(PORTS):
                held.release(*held.ports)
                held = hold(PORTS)
            state = self.file.update(lambda s: s.with_ports(held.ports))
        self._write_certificates()
        shutil.rmtree(self.folder.kueue / "chart", ignore_errors=True)
        copy_chart(self.chart, self.folder.kueue / "chart")
        manager = {
            "webhookURL": f"https://{LOOPBACK}:{state.port('kueue-webhook')}",
            "caBundle": _text((self._certificates / "ca.crt").read_bytes()),
            "chart": str(self.folder.kueue / "chart"),
        }
        write_private(self.told, json.dumps(manager, indent=2).encode())
        return held

    def is_running(self) -> bool:
        """Say whether the recorded process lives, whatever state it is in."""
        process = self.file.current().process(NAME)
        return process is not None and processes.is_running(process)

    def is_ready(self) -> bool:
        """Say whether it runs and its webhooks answer."""
        return self.is_running() and is_healthy(health(self.file.current()))

    def is_up_to_date(self) -> bool:
        """Say whether a running manager was started with today's configuration."""
        try:
            return self._configuration_file.read_bytes() == self._wanted_configuration()
        except OSError:
            return False

    def secret(self) -> dict[str, Any]:
        """Return the Secret with the webhook's certificate, for a server-side apply."""
        content = {n: _text((self._certificates / n).read_bytes()) for n in _CERTIFICATES}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": WEBHOOK_SECRET, "namespace": labels.KUEUE_NAMESPACE},
            "data": content,
        }

    def start(self, held: HeldPorts) -> None:
        """Start it; the cluster must have its Secret and its definitions by now."""
        write_private(self._configuration_file, self._wanted_configuration())
        command = [
            *(str(self.program), "--config", str(self._configuration_file)),
            *("--kubeconfig", str(self.folder.admin)),
        ]
        own = {
            "POD_NAMESPACE": labels.KUEUE_NAMESPACE,
            "GOMEMLIMIT": MEMORY_LIMIT,
            "HOME": str(self.folder.kueue),
        }
        held.release(*PORTS)
        process = processes.start(NAME, command, log=self.log, environment={**os.environ, **own})
        self.file.update(lambda state: state.with_process(process))

    def wait_ready(self) -> None:
        """Wait until its webhooks answer.

        Raises:
            PortError: another program was faster at one of its ports.
            LabError: it ended, or was not ready in time.
        """
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not self.is_ready():
            if not self.is_running():
                why = last_words(self.log)
                kind = PortError if IN_USE in why else LabError
                raise kind(
                    "Kueue's manager ended",
                    why=why,
                    advice="Run `up` again; if it ends again, run `tally lab down` first",
                    log=self.log,
                )
            if time.monotonic() > deadline:
                raise LabError(
                    "Kueue's manager is not ready",
                    why=f"after {READY_SECONDS_MAX:.0f} s its webhooks do not answer",
                    advice="See its log, free processors and memory, then run `up` again",
                    log=self.log,
                )
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End it. One that waits for its certificate ignores the friendly signal."""
        if process := self.file.current().process(NAME):
            processes.stop([process])

    def _write_certificates(self) -> None:
        now = dt.datetime.now(dt.UTC)
        try:
            leaf = (self._certificates / "tls.crt").read_bytes()
            complete = all((self._certificates / name).exists() for name in _CERTIFICATES)
        except OSError:
            leaf, complete = b"", False
        if complete and certificates.is_fresh(leaf, now):
            return
        for name, content in certificates.webhook(now).files("tls").items():
            write_private(self._certificates / name, content)

    def _wanted_configuration(self) -> bytes:
        wanted = for_lab(self.configuration, self.file.current(), self._certificates)
        return yaml.safe_dump(wanted, sort_keys=False).encode()

    @property
    def _certificates(self) -> Path:
        return self.folder.kueue / "certificates"

    @property
    def _configuration_file(self) -> Path:
        return self.folder.kueue / "configuration.yaml"


def health(state: LabState) -> str:
    """Return the address by which the manager says that it is ready."""
    return f"http://{LOOPBACK}:{state.port('kueue-health')}/readyz"


def for_lab(
    configuration: Mapping[str, Any], state: LabState, certificate_folder: Path
) -> dict[str, Any]:
    """Return production's configuration with what one process on one machine needs.

    Only addresses, the certificates' folder, the election (there is one manager) and the
    visibility API differ.
    """
    return {
        **configuration,
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{state.port('kueue-health')}"},
        "metrics": {
            **configuration.get("metrics", {}),
            "bindAddress": f"{LOOPBACK}:{state.port('kueue-metrics')}",
        },
        "webhook": {
            **configuration.get("webhook", {}),
            "host": LOOPBACK,
            "port": state.port("kueue-webhook"),
            "certDir": str(certificate_folder),
        },
        "leaderElection": {**configuration.get("leaderElection", {}), "leaderElect": False},
        # It writes to a fixed path under the root folder and ends where it may not.
        "featureGates": {**configuration.get("featureGates", {}), "VisibilityOnDemand": False},
    }


def copy_chart(source: Path, target: Path) -> None:
    """Copy Kueue's chart without what the lab has otherwise or cannot serve.

    A module's files and folders are read-only, and such a copy could not be removed again.
    """
    for folder, names, files in source.walk():
        if folder == source / "templates":
            names[:] = [name for name in names if name not in _NOT_IN_LAB]
        private_folder(target / folder.relative_to(source))
        for name in files:
            shutil.copyfile(folder / name, target / folder.relative_to(source) / name)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
