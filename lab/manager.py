"""A controller that serves webhooks, as a process beside the control plane: Kueue's, JobSet's.

Its files, its start, its end. When it may be started is the business of `manager_watch.py`;
what tells one from another stands in `kueue_manager.py` and `jobset_manager.py`.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab import certificates, processes
from lab.api import Right
from lab.beside import Beside
from lab.certificates import Webhook
from lab.folder import LabFolder, private_folder, write_private
from lab.kubeconfigs import account_of, of_token
from lab.ports import LOOPBACK, HeldPorts, health_port, manager_ports
from lab.state import LabState, StateFile

_CERTIFICATES = ("ca.crt", "ca.key", "tls.crt", "tls.key")

type Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """What tells one manager from another.

    Attributes:
        name: what the record, its ports, its folder and its log are called.
        title: what people read, e.g. `Kueue's manager`.
        namespace: where its chart puts it.
        account: its ServiceAccount there, in whose rights it runs.
        rights: of its rights the last ones that it cannot start without, one of each role.
        webhook: whom its webhooks' certificate must be made for.
        api: the group and the version of what it defines.
        definitions: the plurals of all that it defines; it watches each of them.
        left_out: files and folders of the chart's `templates` that the lab cannot serve or
            has otherwise.
        secret: the Secret in which it looks for its certificate; empty for files only.
        memory_limit: a soft limit for Go's collector.
        arguments: what production gives it besides the configuration.
        differences: what else differs from production's configuration, by section, from the
            folder of the certificates.
    """

    name: str
    title: str
    namespace: str
    account: str
    rights: tuple[Right, ...]
    webhook: Webhook
    api: tuple[str, str]
    definitions: tuple[str, ...]
    left_out: frozenset[str]
    secret: str
    memory_limit: str
    arguments: tuple[str, ...]
    differences: Callable[[Path], Sections]

    @property
    def ports(self) -> tuple[str, ...]:
        """Return the names of its ports."""
        return manager_ports(self.name)


@dataclass(frozen=True)
class Manager:
    """The manager of one kind in one lab.

    `program` is its binary, `chart` the folder of its chart, `configuration` what production
    runs it with.
    """

    kind: Kind
    folder: LabFolder
    file: StateFile
    program: Path
    chart: Path
    configuration: Mapping[str, Any]

    @property
    def told(self) -> Path:
        """Return the file that tells the Pulumi program where the manager is."""
        return self.folder.told(self.kind.name)

    @property
    def beside(self) -> Beside:
        """Return its process."""
        kind = self.kind
        return Beside(
            kind.name, kind.title, kind.ports, "answer by its webhooks", self.folder, self.file
        )

    def prepare(self) -> HeldPorts:
        """Choose ports, make certificates and write all files; start nothing.

        Returns:
            The ports, held until the manager is started; none when it runs.
        """
        held = HeldPorts({}) if self.beside.is_running() else self.beside.hold_ports()
        state = self.file.current()
        self._write_certificates()
        chart = self._own / "chart"
        shutil.rmtree(chart, ignore_errors=True)
        copy_chart(self.chart, chart, self.kind.left_out)
        told = {
            "name": self.kind.name,
            "webhookURL": f"https://{LOOPBACK}:{state.port(f'{self.kind.name}-webhook')}",
            "caBundle": _text((self._certificates / "ca.crt").read_bytes()),
            "chart": str(chart),
        }
        write_private(self.told, json.dumps(told, indent=2).encode())
        return held

    def is_up_to_date(self, account: str) -> bool:
        """Say whether a running manager has today's configuration and today's account.

        Args:
            account: the uid of its service account; one that was deleted and made anew is
                another one, and nobody is let in by the token of the old.
        """
        try:
            told = self._configuration_file.read_bytes()
        except OSError:
            return False
        return account_of(self._kubeconfig) == account and told == self._wanted_configuration()

    def secret(self) -> dict[str, Any]:
        """Return the Secret with the webhook's certificate, for a server-side apply."""
        content = {n: _text((self._certificates / n).read_bytes()) for n in _CERTIFICATES}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": self.kind.secret, "namespace": self.kind.namespace},
            "data": content,
        }

    def start(self, held: HeldPorts, token: str) -> None:
        """Start it; the cluster must have its Secret and its definitions by now.

        Args:
            held: its ports.
            token: makes it its ServiceAccount, as it is in production.
        """
        write_private(self._kubeconfig, of_token(self.folder.admin, token))
        write_private(self._configuration_file, self._wanted_configuration())
        command = [
            *(str(self.program), "--config", str(self._configuration_file)),
            *("--kubeconfig", str(self._kubeconfig), *self.kind.arguments),
        ]
        own = {
            "POD_NAMESPACE": self.kind.namespace,
            "GOMEMLIMIT": self.kind.memory_limit,
            "HOME": str(self._own),
        }
        held.release(*self.kind.ports)
        process = processes.start(
            self.kind.name, command, log=self.beside.log, environment={**os.environ, **own}
        )
        self.file.update(lambda state: state.with_process(process))

    def _write_certificates(self) -> None:
        now = dt.datetime.now(dt.UTC)
        try:
            leaf = (self._certificates / "tls.crt").read_bytes()
            complete = all((self._certificates / name).exists() for name in _CERTIFICATES)
        except OSError:
            leaf, complete = b"", False
        if complete and certificates.is_fresh(leaf, now):
            return
        for name, content in certificates.webhook(self.kind.webhook, now).files("tls").items():
            write_private(self._certificates / name, content)

    def _wanted_configuration(self) -> bytes:
        wanted = for_lab(self.configuration, self.kind, self.file.current(), self._certificates)
        return yaml.safe_dump(wanted, sort_keys=False).encode()

    @property
    def _own(self) -> Path:
        return self.told.parent

    @property
    def _certificates(self) -> Path:
        return self._own / "certificates"

    @property
    def _kubeconfig(self) -> Path:
        return self._own / "kubeconfig"

    @property
    def _configuration_file(self) -> Path:
        return self._own / "configuration.yaml"


def for_lab(
    configuration: Mapping[str, Any], kind: Kind, state: LabState, certificate_folder: Path
) -> dict[str, Any]:
    """Return production's configuration with what one process on one machine needs.

    Only addresses, the certificates' folder, the election (there is one) and the kind's own
    differences are changed.
    """
    common: Sections = {
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{state.port(health_port(kind.name))}"},
        "metrics": {"bindAddress": f"{LOOPBACK}:{state.port(f'{kind.name}-metrics')}"},
        "webhook": {
            "host": LOOPBACK,
            "port": state.port(f"{kind.name}-webhook"),
            "certDir": str(certificate_folder),
        },
        "leaderElection": {"leaderElect": False},
    }
    whole = dict(configuration)
    for sections in (common, kind.differences(certificate_folder)):
        whole |= {name: {**whole.get(name, {}), **own} for name, own in sections.items()}
    return whole


def copy_chart(source: Path, target: Path, left_out: frozenset[str]) -> None:
    """Copy a chart without some of its templates.

    A module's files and folders are read-only, and such a copy could not be removed again.
    """
    unwanted = {source / "templates" / name for name in left_out}
    for folder, names, files in source.walk():
        names[:] = [name for name in names if folder / name not in unwanted]
        private_folder(target / folder.relative_to(source))
        for name in files:
            if folder / name not in unwanted:
                shutil.copyfile(folder / name, target / folder.relative_to(source) / name)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
