"""`pulumi up` on the lab: its environment, its program, its progress and its failures."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab import interrupts, processes
from lab.errors import LabError
from lab.folder import CHECKOUT, LabFolder, private_folder, write_private
from lab.kubeconfigs import context
from lab.ports import MANAGERS
from lab.processes import Process
from lab.pulumi_log import PulumiLog, causes
from lab.report import Report
from lab.state import StateFile

NAME = "pulumi"
STACK = "local"
# Public: the lab's stack holds no secret, and its salt is in the tracked stack file.
PASSPHRASE = "tallyard-lab"  # noqa: S105
UP_SECONDS_MAX = 600.0
# Pulumi finishes the requests that are under way before it ends.
CANCEL_SECONDS_MAX = 15.0
_POLL_SECONDS = 0.1
_NO_CHECKPOINTS = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}
_STOPPING = "stopping: Pulumi finishes what is under way; Ctrl-C again ends it at once"


@dataclass(frozen=True)
class Stack:
    """The lab's stack. `tools` is the folder that is first on PATH."""

    folder: LabFolder
    file: StateFile
    tools: Path
    checkout: Path = CHECKOUT

    @property
    def log(self) -> Path:
        """Return the log of all runs of Pulumi."""
        return self.folder.logs / "pulumi.log"

    def up(self, report: Report, check: Callable[[], None] = lambda: None) -> None:
        """Make the cluster as the spec says.

        Args:
            report: hears how many objects are done, and after how long.
            check: is called all the time; what it raises ends Pulumi and is raised on.

        Raises:
            LabError: Pulumi failed.
        """
        private_folder(self.folder.pulumi)
        self.stop()
        self._remove_stale_locks()
        self._restore_state(report)
        if self._state() is None:
            self._run(("stack", "select", "--create", STACK), report, check)
        arguments = ("up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive")
        # Pulumi writes the whole state, 3 MB with Kueue's definitions, twice for each object.
        # The first time there is nothing in it to lose: one that is killed is simply done
        # again, and server-side apply takes over what it had made. What the spec has lost by
        # then would stay for ever; `session.up` sees to that.
        self._run(arguments, report, check, {} if self.has_objects() else _NO_CHECKPOINTS)

    def _state(self) -> Path | None:
        return next(self.folder.pulumi.glob(f".pulumi/stacks/**/{STACK}.json"), None)

    def has_objects(self) -> bool:
        """Say whether Pulumi's state knows of anything that it has made."""
        state = self._state()
        return state is not None and _has_objects(state)

    def stop(self) -> None:
        """End a Pulumi that an interrupted command has left."""
        if process := self.file.current().process(NAME):
            processes.stop([process], seconds_max=CANCEL_SECONDS_MAX)
            self.file.update(lambda state: state.without_process(NAME))

    def _remove_stale_locks(self) -> None:
        """Free the stack of each lock whose Pulumi is gone, and of those that nobody can read.

        `pulumi cancel` does the same, but wants the state to be whole.
        """
        for lock in self.folder.pulumi.glob(".pulumi/locks/**/*.json"):
            if not _is_held(lock):
                lock.unlink(missing_ok=True)

    def _restore_state(self, report: Report) -> None:
        """Put the state before the last one in place of a state that cannot be read.

        Raises:
            LabError: that one cannot be read either.
        """
        state = self._state()
        if state is not None and _is_checkpoint(state):
            return
        # One that is killed between two writes may have left nothing but this.
        before = next(self.folder.pulumi.glob(f".pulumi/stacks/**/{STACK}.json.bak"), None)
        # One of before the first `up` knows of nothing that was made. It is good enough while
        # that `up` is not done, and `session.up` has seen that the spec is the same.
        is_begun = bool(self.file.current().begun)
        if before is not None and _is_checkpoint(before) and (is_begun or _has_objects(before)):
            write_private(before.with_suffix(""), before.read_bytes())
            report.done("Pulumi's state was damaged; the one before it was taken")
        elif lost := state or (None if is_begun else before):
            raise LabError(
                "Pulumi's state of this lab cannot be read",
                why=f"{lost} is damaged, and no earlier one knows what was made",
                advice="Run `tally lab down`, then `tally lab up`",
                log=lost,
            )

    def _run(
        self,
        arguments: tuple[str, ...],
        report: Report,
        check: Callable[[], None],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        command = (str(self.tools / "pulumi"), "--cwd", str(self.checkout), *arguments)
        whole = {**os.environ, **environment(self.folder, self.tools), **more}
        begin = self.log.stat().st_size if self.log.exists() else 0
        process = processes.start(NAME, command, log=self.log, environment=whole, may_be_shim=True)
        self.file.update(lambda state: state.with_process(process))
        try:
            code = self._follow(process, begin, report, check)
        except KeyboardInterrupt:
            with interrupts.next_one(lambda: processes.kill(process)):
                report.done(_STOPPING)
                self.stop()
            raise
        finally:
            self.stop()
        if code:
            raise LabError(
                f"`pulumi {arguments[0]}` failed",
                why=self._causes(begin) or f"it ended with {code}",
                advice="Mend what it names, then run `up` again: it goes on where it stopped",
                log=self.log,
            )

    def _follow(
        self, process: Process, begin: int, report: Report, check: Callable[[], None]
    ) -> int:
        """Report the log's new lines until the process ends; return its exit code."""
        begun = time.monotonic()
        heard = PulumiLog(begun)
        with self.log.open(encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            while True:
                code = processes.reap(process.pid)
                now = time.monotonic()
                heard.hear(log.read(), now)
                waits = heard.waits_for(now)
                told = f"pulumi up: {heard.done} objects, {now - begun:.0f} s"
                report.step(f"{told}; {waits}" if waits else told)
                if code is not None:
                    return code
                check()
                if now - begun > UP_SECONDS_MAX:
                    raise self._endless(waits)
                time.sleep(_POLL_SECONDS)

    def _endless(self, waits: str) -> LabError:
        return LabError(
            "`pulumi up` does not end",
            why=f"{UP_SECONDS_MAX:.0f} s have passed" + (f"; it {waits}" if waits else ""),
            advice="Mend what it waits for (docs/operations.md: a queue that does not go away, its "
            "log), then run `up` again",
            log=self.log,
        )

    def _causes(self, begin: int) -> str:
        with self.log.open(encoding="utf-8", errors="replace") as file:
            file.seek(begin)
            return causes(file)


def environment(folder: LabFolder, tools: Path) -> dict[str, str]:
    """Return what a shell needs to work with this lab.

    Who works in it is the operator, who may look at everything; every other person is a
    context away. Only the Pulumi program is told the administrator's.
    """
    people = sorted(path for path in folder.kubeconfigs.glob("[!.]*") if path != folder.admin)
    first = folder.operator
    kubeconfigs = [first, *(path for path in people if path != first), folder.admin]
    programs = [str(tools), str(Path(sys.prefix) / "bin"), os.environ.get("PATH", os.defpath)]
    return {
        "KUBECACHEDIR": str(folder.kubectl_cache),
        "KUBECONFIG": os.pathsep.join(map(str, kubeconfigs)),
        # Otherwise Pulumi keeps a second file beside the state, and does not write that one in one
        # go: killed meanwhile it leaves it empty, and every later run fails to load the state.
        "PULUMI_BACKEND_URL": f"file://{folder.pulumi}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_HOME": str(folder.pulumi_home),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "TALLYARD_KUBE_CONTEXT": context(folder),
        **{f"TALLYARD_{name.upper()}_MANAGER": str(folder.told(name)) for name in MANAGERS},
        "TALLYARD_LAB": folder.name,
        "TALLYARD_OVERLAY": StateFile(folder).current().overlay,
        "PATH": os.pathsep.join(programs),
    }


def write_environment(folder: LabFolder, tools: Path) -> None:
    """Write the file that a shell reads: `. .lab/<name>/env`."""
    own = environment(folder, tools)
    programs = os.pathsep.join((str(tools), str(Path(sys.prefix) / "bin")))
    own_path = f'export PATH={shlex.quote(programs)}"{os.pathsep}$PATH"'
    lines = [f"export {k}={shlex.quote(v)}" for k, v in own.items() if k != "PATH"]
    write_private(folder.environment, "\n".join([*lines, own_path, ""]).encode())


def _is_held(lock: Path) -> bool:
    """Say whether the Pulumi that wrote a lock still lives.

    Its pid may be another program's by now. Who wrote nothing that can be read holds nothing:
    a person's Pulumi writes its lock whole, and the lab's own has ended before this is asked.
    """
    try:
        pid = json.loads(lock.read_bytes())["pid"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    holder = processes.identify(NAME, pid, lock) if isinstance(pid, int) else None
    return holder is not None and Path(holder.executable).name == NAME


def _has_objects(state: Path) -> bool:
    return b'"resources"' in state.read_bytes()


def _is_checkpoint(state: Path) -> bool:
    try:
        content = json.loads(state.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "checkpoint" in content
