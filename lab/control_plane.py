"""etcd, the API server, its controllers, the scheduler and KWOK, started by kwokctl.

kwokctl starts them and returns early; whether they are ours, alive and ready is decided here.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from lab import certificates, kwokctl, processes
from lab.api import Api, is_healthy
from lab.errors import EndedError, HungError, LabError, PortError
from lab.folder import LabFolder, private_folder, write_private
from lab.kubeconfigs import write_all
from lab.kwokctl import COMPONENTS, PORTS
from lab.last_words import last_words
from lab.ports import IN_USE, LOOPBACK, hold, wait_free
from lab.processes import Process
from lab.state import LabState, StateFile
from tallyard.spec.model import Project

KWOKCTL = "kwokctl"
# Kubernetes needs about 5 s on an idle machine and ten times that on a very busy one.
READY_SECONDS_MAX = 120.0
# How often other ports are tried when a chosen one was taken in between.
PORT_TRIES_MAX = 3
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class ControlPlane:
    """One lab's control plane.

    `programs` are paths by name, `scheduler` is the scheduler's configuration, and each user
    of the `projects` gets a kubeconfig. One that is not `is_small` may use any memory.
    """

    folder: LabFolder
    file: StateFile
    programs: Mapping[str, Path]
    scheduler: Mapping[str, Any]
    projects: tuple[Project, ...] = ()
    is_small: bool = True

    def ensure(self) -> bool:
        """Make it run and be ready; what ran before starts again with its data.

        Returns:
            Whether anything had to be started.

        Raises:
            LabError: a component ended, or did not become ready.
        """
        state = self.file.current()
        if is_running(state) and is_ready(state):
            write_all(self.folder, server(state), self.projects)
            return False
        if state.has_cluster:
            self._repair()
        else:
            self._start_first()
        return True

    def stop(self) -> None:
        """End its processes; its data stays."""
        state = self.file.current()
        recorded = {p for p in state.processes if p.name in {*COMPONENTS, KWOKCTL}}
        # kwokctl first: it would start what is missing.
        processes.stop(p for p in recorded if p.name == KWOKCTL)
        processes.stop({*recorded, *kwokctl.running(self.folder).values()})

    def _repair(self) -> None:
        """Start what has ended, and anew what runs and does nothing: at most once."""
        self._end(processes.is_stopped)
        before = tuple(kwokctl.running(self.folder).values())
        try:
            self._start_again()
        except HungError:
            urls = health(self.file.current())
            if not self._end(lambda process: not is_healthy(urls[process.name])):
                raise
            self._start_again()
        except EndedError:
            # One that is killed is there until the kernel has taken its memory back, and was
            # taken for running: it ended by itself only if it was started here.
            if all(processes.is_running(process) for process in before):
                raise
            self._start_again()

    def _end(self, is_useless: Callable[[Process], bool]) -> bool:
        """End the components of which this is so; say whether there was one."""
        running = kwokctl.running(self.folder).values()
        useless = [process for process in running if is_useless(process)]
        processes.stop(useless)
        return bool(useless)

    def _start_first(self) -> None:
        for attempt in range(1, PORT_TRIES_MAX + 1):
            self.stop()
            shutil.rmtree(self.folder.kwok, ignore_errors=True)
            try:
                self._create()
            except PortError:
                if attempt == PORT_TRIES_MAX:
                    raise
            else:
                return

    def _create(self) -> None:
        scheduler = private_folder(self.folder.kwok) / "scheduler.yaml"
        config = self.folder.kwok / "kwokctl.yaml"
        # One scheduler runs; after a crash it would wait for its own lease to run out.
        alone = {**self.scheduler, "leaderElection": {"leaderElect": False}}
        write_private(scheduler, yaml.safe_dump(alone).encode())
        # kwokctl keeps keys that it finds; its own are readable for all.
        keys = certificates.cluster(dt.datetime.now(dt.UTC)).files("admin")
        for name, content in keys.items():
            write_private(self.folder.cluster / "pki" / name, content)
        with hold(PORTS) as held:
            ports = held.ports
            self.file.update(lambda state: state.with_ports(ports))
            wanted = kwokctl.configuration(self.programs, ports, scheduler, is_small=self.is_small)
            write_private(config, yaml.safe_dump(wanted).encode())
        self._run("create", "--config", str(config))
        self.file.update(lambda state: replace(state, has_cluster=True))

    def _start_again(self) -> None:
        alive = kwokctl.running(self.folder)
        state = self.file.current()
        ended = COMPONENTS.keys() - alive.keys()
        for name in ended:
            kwokctl.forget(self.folder, name, self.programs[name])
        taken = wait_free([state.port(name) for name in ended])
        if taken:
            raise PortError(
                "the control plane cannot start again",
                why=f"another program listens on {', '.join(map(str, sorted(taken)))}",
                advice="End that program, or end the lab by `tally lab down` and start anew",
            )
        self._run("start")

    def _run(self, verb: str, *arguments: str) -> None:
        """Let kwokctl start what does not run, and wait until all of it works."""
        command = [
            *(str(self.programs["kwokctl"]), verb, "cluster"),
            *("--name", self.folder.name, *arguments),
        ]
        if verb == "create":
            # Without it kwokctl changes the kubeconfig in the person's home.
            command += ["--kubeconfig", str(self.folder.kwok / "kubeconfig")]
        own = {"KWOK_WORKDIR": str(self.folder.kwok), "HOME": str(self.folder.kwok)}
        log = self.folder.logs / "kwokctl.log"
        process = processes.start(KWOKCTL, command, log=log, environment={**os.environ, **own})
        self.file.update(lambda state: state.with_process(process))
        try:
            self._wait(lambda: _has_succeeded(process))
            self._require_pid_files()
            state = self.file.current()
            write_all(self.folder, server(state), self.projects)
            api = Api(self.folder.admin)
            self._wait(lambda: is_ready(state) and api.has_default_account())
        finally:
            processes.stop([process])
            self.file.update(lambda state: state.without_process(KWOKCTL))

    def _require_pid_files(self) -> None:
        """Refuse a kwokctl that ended well and started nothing here."""
        missing = [n for n in COMPONENTS if not kwokctl.pid_file(self.folder, n).exists()]
        if missing:
            raise LabError(
                "the control plane did not start",
                why=f"kwokctl ended well and left no pid of {', '.join(missing)} in "
                f"{self.folder.cluster}",
                advice="See its log; run `tally lab down`, then `up` again",
                log=self.folder.logs / "kwokctl.log",
            )

    def _wait(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not is_so():
            self._record()
            if time.monotonic() > deadline:
                unhealthy = [n for n, u in health(self.file.current()).items() if not is_healthy(u)]
                raise HungError(
                    "the control plane did not become ready",
                    why=f"after {READY_SECONDS_MAX:.0f} s no answer from {', '.join(unhealthy)}",
                    advice="See the logs, free processors and memory, then run `up` again",
                    log=self.folder.cluster / "logs",
                )
            time.sleep(_POLL_SECONDS)
        self._record()

    def _record(self) -> None:
        """Record what runs by now, and say so when something that had started has ended."""
        started = {n for n in COMPONENTS if kwokctl.has_started(self.folder, n)}
        alive = kwokctl.running(self.folder)
        state = self.file.current()
        if any(state.process(name) != process for name, process in alive.items()):
            self.file.update(lambda state: state.with_processes(alive.values()))
        for name in sorted(started - alive.keys()):
            log = kwokctl.log(self.folder, name)
            why = last_words(log)
            kind = PortError if IN_USE in why else EndedError
            raise kind(
                f"{name} ended as soon as it was started",
                why=why,
                advice="Run `tally lab down`, then `up` again",
                log=log,
            )


def is_running(state: LabState) -> bool:
    """Say whether all components are the processes that are recorded."""
    found = [state.process(name) for name in COMPONENTS]
    return all(process and processes.is_running(process) for process in found)


def is_ready(state: LabState) -> bool:
    """Say whether every component says of itself that it works."""
    return all(is_healthy(url) for url in health(state).values())


def server(state: LabState) -> str:
    """Return the API server's address."""
    return f"https://{LOOPBACK}:{state.port('kube-apiserver')}"


def health(state: LabState) -> dict[str, str]:
    """Return the address by which each component says that it works."""
    at = {name: f"{LOOPBACK}:{state.port(name)}" for name in COMPONENTS}
    return {
        "etcd": f"http://{at['etcd']}/readyz",
        "kube-apiserver": f"https://{at['kube-apiserver']}/readyz",
        "kube-controller-manager": f"https://{at['kube-controller-manager']}/healthz",
        "kube-scheduler": f"https://{at['kube-scheduler']}/readyz",
        "kwok": f"http://{at['kwok']}/readyz",
    }


def _has_succeeded(process: Process) -> bool:
    if processes.is_running(process):
        return False
    if processes.reap(process.pid):
        log = Path(process.log)
        raise LabError(
            "the control plane did not start",
            why=last_words(log),
            advice="Run `tally lab down`, then `up` again",
            log=log,
        )
    return True
