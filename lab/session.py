"""The lab's four verbs: up, down, look, logs. They put the parts in order."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from lab import (
    control_plane,
    controllers,
    jobset_manager,
    kubeconfigs,
    kueue_manager,
    kwokctl,
    nodes,
    orphans,
    processes,
    simulation,
    stack,
    status,
)
from lab.api import Api
from lab.control_plane import ControlPlane
from lab.controllers import Controllers
from lab.errors import LabError
from lab.folder import (
    DEFAULT_NAME,
    LabFolder,
    lab_folder,
    private_folder,
    require_plain_path,
)
from lab.manager import Manager
from lab.manager_watch import ManagerWatch
from lab.report import Report, Silence
from lab.stack import Stack
from lab.state import LabState, StateFile, locked
from lab.status import LabStatus
from lab.toolchain.ensure import Toolchain, install_provider, link
from tallyard.render import jobset_manager as jobset_rendering
from tallyard.render import kueue_manager as kueue_rendering
from tallyard.render import scheduler as scheduler_rendering
from tallyard.render.platform import render
from tallyard.spec.model import Platform

# Long enough for another command's last breath, short enough to be told who is in the way.
DOWN_LOCK_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Lab:
    """All that the steps of one `up` work with."""

    folder: LabFolder
    file: StateFile
    platform: Platform
    toolchain: Toolchain
    report: Report
    is_small: bool = True


def up(
    name: str,
    overlay: Path,
    platform: Platform,
    toolchain: Toolchain,
    report: Report,
    *,
    base: Path | None = None,
    make_stack: Callable[[Lab], None] | None = None,
    is_small: bool = True,
) -> LabStatus:
    """Make a lab run, whatever state it is in; a healthy one is only looked at.

    Args:
        name: the lab's name, see `lab.folder.lab_folder`.
        overlay: the spec's file, which the Pulumi program reads too.
        platform: what it means.
        toolchain: the programs.
        report: hears of each step.
        base: the folder of all labs; default `.lab/` in the checkout.
        make_stack: what fills the cluster; default `up_stack`.
        is_small: whether its programs keep their memory small, see `kwokctl.MEMORY_LIMITS`; a
            cluster that is there keeps what it was made with.

    Raises:
        LabError: a part did not come up; what runs by then goes on, and `up` continues it.
    """
    folder = lab_folder(name, base)
    require_plain_path(folder)
    with locked(folder, report):
        lab = Lab(folder, StateFile(folder), platform, toolchain, report, is_small)
        clear_what_is_lost(lab)
        lab.file.update(lambda state: replace(state, overlay=str(overlay.resolve())))
        start_control_plane(lab)
        is_whole = make_stack is None
        fill_hosts(lab, is_gated=is_whole)
        (make_stack or up_stack)(lab)
        if is_whole:
            open_hosts(lab)
        nodes.wait_ready(Api(folder.admin))
        if missing := kubeconfigs.left_out(platform.projects.values()):
            report.done(f"no kubeconfig for {'; '.join(missing)}")
        return status.of(folder, lab.file.read())


def clear_what_is_lost(lab: Lab) -> None:
    """Begin anew where the cluster holds what nobody knows of any more.

    That is so when the record is gone, of which neither ports nor processes can be guessed; and
    when a first run of Pulumi, which keeps no state, was killed and the spec is another one
    now: what the spec has lost since would stay in the cluster for ever, with its access.
    """
    state = lab.file.read()
    if state is None:
        if ended := end_processes(lab.folder, LabState(lab.folder.name)):
            lab.report.done(f"the lab's record was gone; ended {_count(ended)} that it had left")
        if lab.folder.root.exists():
            _remove(lab.folder.root)
    elif state.begun and state.begun != what_is_made(lab) and not _stack(lab).has_objects():
        lab.report.done(
            "the spec has changed since an `up` was broken off; the control plane begins anew"
        )
        end_processes(lab.folder, state)
        _remove(lab.folder.root)


def what_is_made(lab: Lab) -> str:
    """Return a hash of all that Pulumi is to make: the spec's objects and the charts."""
    objects = [manifest.object for manifest in render(lab.platform)]
    charts = [str(lab.toolchain.kueue_chart), str(lab.toolchain.jobset_chart)]
    wanted = json.dumps([objects, *charts], sort_keys=True, default=str)
    return hashlib.sha256(wanted.encode()).hexdigest()


def start_control_plane(lab: Lab) -> None:
    """Start etcd, the API server, its controllers, the scheduler and KWOK."""
    lab.report.step("control plane")
    begin = time.monotonic()
    plane = ControlPlane(
        folder=lab.folder,
        file=lab.file,
        programs=lab.toolchain.programs,
        scheduler=scheduler_rendering.configuration(lab.platform),
        projects=tuple(lab.platform.projects.values()),
        is_small=lab.is_small,
    )
    verb = "ready in" if plane.ensure() else "was ready, seen in"
    lab.report.done(f"control plane {verb} {time.monotonic() - begin:.1f} s")


def fill_hosts(lab: Lab, *, is_gated: bool) -> None:
    """Make the simulated hosts those of the spec, closed or open; see `nodes.node_objects`."""
    lab.report.step("simulated hosts")
    api = Api(lab.folder.admin)
    simulation.apply(api, lab.toolchain.kwok_stages)
    changed, removed = nodes.reconcile(api, nodes.node_objects(lab.platform, is_gated=is_gated))
    total = len(lab.platform.nodes)
    lab.report.done(f"{total} simulated hosts ({changed} new or changed, {removed} removed)")


def up_stack(lab: Lab) -> None:
    """Run `pulumi up`, with the managers started in the middle of it."""
    lab.report.step("pulumi up")
    begin = time.monotonic()
    link(lab.toolchain, private_folder(lab.folder.tools))
    install_provider(lab.toolchain, private_folder(lab.folder.pulumi_home))
    stack.write_environment(lab.folder, lab.folder.tools)
    made = what_is_made(lab)
    lab.file.update(lambda state: replace(state, begun=made))
    with ExitStack() as all_:
        watches = [all_.enter_context(ManagerWatch(m, lab.report)) for m in managers(lab)]

        def check() -> None:
            for watch in watches:
                watch.check()

        _stack(lab).up(lab.report, check)
    lab.file.update(lambda state: replace(state, begun=""))
    lab.report.done(f"pulumi up in {time.monotonic() - begin:.1f} s")


def open_hosts(lab: Lab) -> None:
    """Start the controllers, and wait until their gate has opened all hosts of the spec."""
    lab.report.step("controllers")
    begin = time.monotonic()
    own = Controllers(lab.folder, lab.file)
    verb = "ready" if own.ensure() else "were ready"
    controllers.wait_released(
        Api(lab.folder.admin), (node.name for node in lab.platform.nodes), own.beside.log
    )
    lab.report.done(f"controllers {verb}, all hosts open, in {time.monotonic() - begin:.1f} s")


def managers(lab: Lab) -> tuple[Manager, ...]:
    """Return the controllers that run beside the cluster."""
    toolchain = lab.toolchain
    wanted = (
        (jobset_manager.KIND, toolchain.jobset_chart, jobset_rendering.configuration()),
        (kueue_manager.KIND, toolchain.kueue_chart, kueue_rendering.configuration(lab.platform)),
    )
    return tuple(
        Manager(
            kind if lab.is_small else replace(kind, memory_limit=kwokctl.NO_MEMORY_LIMIT),
            lab.folder,
            lab.file,
            toolchain.programs[kind.name],
            chart,
            configuration,
        )
        for kind, chart, configuration in wanted
    )


def _stack(lab: Lab) -> Stack:
    return Stack(lab.folder, lab.file, lab.folder.tools)


def down(
    name: str = DEFAULT_NAME, report: Report | None = None, *, base: Path | None = None
) -> bool:
    """End a lab and remove all of it, in whatever state it is.

    Returns:
        Whether there was one.

    Raises:
        BusyError: an `up` of this lab is at work.
        LabError: its folder cannot be removed.
    """
    report = report or Silence()
    folder = lab_folder(name, base)
    if not folder.root.exists() and not orphans.find(folder):
        return False
    with locked(folder, report, seconds_max=DOWN_LOCK_SECONDS_MAX):
        report.step(f"end the lab {name!r}")
        was_lost = not folder.root.exists()
        ended = end_processes(folder, StateFile(folder).recover())
        if folder.root.exists():
            _remove(folder.root)
        lost = f"; its folder was gone before, and {_count(ended)} of it still ran"
        report.done(f"the lab {name!r} is gone{lost if was_lost else ''}")
    return True


def end_processes(folder: LabFolder, state: LabState) -> int:
    """End all processes of a lab, recorded or found by their paths; return how many ran."""
    known = {*state.processes, *kwokctl.running(folder).values()}
    running = {p for p in known if processes.is_running(p)}
    pids = {p.pid for p in running}
    mine = running | {p for p in orphans.find(folder) if p.pid not in pids}
    # Those that would start others go first, what others need goes last: the API server
    # does not end by itself without etcd.
    starters = {p for p in mine if p.name in {control_plane.KWOKCTL, stack.NAME}}
    store = {p for p in mine if p.name == "etcd"}
    for group in (starters, mine - starters - store, store):
        processes.stop(group)
    # One that was ended in the middle of a start may have left another behind.
    processes.stop(orphans.find(folder))
    return len(mine)


def _count(number: int) -> str:
    return "1 process" if number == 1 else f"{number} processes"


def look(name: str = DEFAULT_NAME, *, base: Path | None = None) -> LabStatus:
    """Return how a lab is doing; it is not changed.

    Raises:
        StateError: its record cannot be read.
    """
    folder = lab_folder(name, base)
    return status.of(folder, StateFile(folder).read())


def logs(name: str, component: str, *, base: Path | None = None) -> Path:
    """Return the log of a component of a lab.

    Args:
        name: the lab's name.
        component: as `status` names it, or `kwokctl` or `pulumi`.
        base: the folder of all labs.

    Raises:
        LabError: there is no such log.
    """
    folder = lab_folder(name, base)
    known = {path.stem: path for path in folder.logs.glob("*.log")}
    known |= {c: kwokctl.log(folder, c) for c in kwokctl.COMPONENTS}
    there = {component: path for component, path in known.items() if path.exists()}
    if component not in there:
        raise LabError(
            f"the lab {name!r} has no log of {component!r}",
            why=f"it has {', '.join(sorted(there))}" if there else "no such lab runs",
            advice="Name one of those" if there else "Start it by `tally lab up`",
        )
    return there[component]


def _remove(root: Path) -> None:
    try:
        shutil.rmtree(root)
    except OSError as error:
        raise LabError(
            f"the folder {root} cannot be removed",
            why=str(error),
            advice="Remove it by hand; none of the lab's processes runs any more",
        ) from error
