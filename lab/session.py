"""The lab's four verbs: up, down, status, logs. They put the parts in order and decide nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lab import control_plane, kwokctl, nodes, processes, simulation, stack, status
from lab.api import Api
from lab.control_plane import ControlPlane
from lab.errors import LabError
from lab.folder import DEFAULT_NAME, LabFolder, lab_folder, private_folder
from lab.kueue_manager import KueueManager
from lab.kueue_watch import KueueWatch
from lab.report import Report, Silence
from lab.stack import Stack
from lab.state import StateFile, locked
from lab.status import LabStatus
from lab.toolchain.ensure import Toolchain, install_provider, link
from tallyard.render import kueue_manager as kueue_rendering
from tallyard.render import scheduler as scheduler_rendering
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


def up(
    name: str,
    overlay: Path,
    platform: Platform,
    toolchain: Toolchain,
    report: Report,
    *,
    base: Path | None = None,
    make_stack: Callable[[Lab], None] | None = None,
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

    Raises:
        LabError: a part did not come up; what runs by then goes on, and `up` continues it.
    """
    folder = lab_folder(name, base)
    with locked(folder, report):
        lab = Lab(folder, StateFile(folder), platform, toolchain, report)
        lab.file.update(lambda state: replace(state, overlay=str(overlay.resolve())))
        start_control_plane(lab)
        fill_hosts(lab)
        (make_stack or up_stack)(lab)
        nodes.wait_ready(Api(folder.admin))
        return status.of(folder, lab.file.read())


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
    )
    verb = "ready in" if plane.ensure() else "was ready, seen in"
    lab.report.done(f"control plane {verb} {time.monotonic() - begin:.1f} s")


def fill_hosts(lab: Lab) -> None:
    """Make the simulated hosts those of the spec."""
    lab.report.step("simulated hosts")
    api = Api(lab.folder.admin)
    simulation.apply(api, lab.toolchain.kwok_stages)
    changed, removed = nodes.reconcile(api, nodes.node_objects(lab.platform))
    total = len(lab.platform.nodes)
    lab.report.done(f"{total} simulated hosts ({changed} new or changed, {removed} removed)")


def up_stack(lab: Lab) -> None:
    """Run `pulumi up`, with Kueue's manager started in the middle of it."""
    lab.report.step("pulumi up")
    begin = time.monotonic()
    link(lab.toolchain, private_folder(lab.folder.tools))
    install_provider(lab.toolchain, private_folder(lab.folder.pulumi_home))
    stack.write_environment(lab.folder, lab.folder.tools)
    manager = KueueManager(
        folder=lab.folder,
        file=lab.file,
        program=lab.toolchain.programs["kueue"],
        chart=lab.toolchain.kueue_chart,
        configuration=kueue_rendering.configuration(),
    )
    with KueueWatch(manager, lab.report) as watch:
        Stack(lab.folder, lab.file, lab.folder.tools).up(lab.report, watch.check)
    lab.report.done(f"pulumi up in {time.monotonic() - begin:.1f} s")


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
    if not folder.root.exists():
        return False
    with locked(folder, report, seconds_max=DOWN_LOCK_SECONDS_MAX):
        report.step(f"end the lab {name!r}")
        state = StateFile(folder).recover()
        mine = {*state.processes, *kwokctl.running(folder).values()}
        # Those that would start others go first, what others need goes last: the API server
        # does not end by itself without etcd.
        starters = {p for p in mine if p.name in {control_plane.KWOKCTL, stack.NAME}}
        store = {p for p in mine if p.name == "etcd"}
        for group in (starters, mine - starters - store, store):
            processes.stop(group)
        _remove(folder.root)
        report.done(f"the lab {name!r} is gone")
    return True


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
