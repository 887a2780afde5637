"""What kwokctl is told, and what it wrote down that is really so.

kwokctl remembers a component by a bare pid in a file, and takes any process of that number for
it. So a pid is only believed here when the process runs our program in this cluster's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab import processes
from lab.folder import LabFolder
from lab.ports import LOOPBACK
from lab.processes import Process

# What runs, under the name of its program, with the name that kwokctl gives it.
COMPONENTS: Mapping[str, str] = MappingProxyType(
    {
        "etcd": "etcd",
        "kube-apiserver": "kube-apiserver",
        "kube-controller-manager": "kube-controller-manager",
        "kube-scheduler": "kube-scheduler",
        "kwok": "kwok-controller",
    }
)
PORTS = (*COMPONENTS, "etcd-peer")
# A soft limit for Go's collector. Without it the API server grows past 700 MB in half an hour
# of light work, because an idle heap is not worth collecting to it. With more objects than fit
# it would collect without end and take half the machine: a lab for a load goes without.
MEMORY_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "etcd": "120MiB",
        "kube-apiserver": "400MiB",
        "kube-controller-manager": "140MiB",
        "kube-scheduler": "100MiB",
        "kwok": "100MiB",
    }
)
NO_MEMORY_LIMIT = "off"
# Per component, the arguments that differ from kwokctl's.
_ARGUMENTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # Not among the plugins that are on by default. Without the first a host could relabel
        # itself into another pool, without the second a Service could take traffic to any
        # address for its own.
        "kube-apiserver": {"enable-admission-plugins": "NodeRestriction,DenyServiceExternalIPs"},
        "kube-controller-manager": {
            # There is one; after a crash it would wait for its own lease to run out.
            "leader-elect": "false",
            # As wherever kubeadm or a provider runs it: each controller is its own account. As
            # one administrator they would pass every check of access and every policy.
            "use-service-account-credentials": "true",
        },
    }
)


def configuration(
    programs: Mapping[str, Path],
    ports: Mapping[str, int],
    scheduler: Path,
    *,
    is_small: bool = True,
) -> dict[str, Any]:
    """Return kwokctl's configuration: our programs, our ports, all checks on, no downloads.

    Args:
        programs: the programs by name.
        ports: the ports by the names in PORTS.
        scheduler: the file with the scheduler's configuration.
        is_small: whether MEMORY_LIMITS hold.
    """
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {
            "runtime": "binary",
            "bindAddress": LOOPBACK,
            "securePort": True,
            # The node authorizer and RBAC, and admission.
            "kubeAuthorization": True,
            "kubeAdmission": True,
            "enableCRDs": ["Stage", "Metric"],
            "etcdBinary": str(programs["etcd"]),
            "kubeApiserverBinary": str(programs["kube-apiserver"]),
            "kubeControllerManagerBinary": str(programs["kube-controller-manager"]),
            "kubeSchedulerBinary": str(programs["kube-scheduler"]),
            "kubectlBinary": str(programs["kubectl"]),
            "kwokControllerBinary": str(programs["kwok"]),
            "kubeSchedulerConfig": str(scheduler),
            "etcdPort": ports["etcd"],
            "etcdPeerPort": ports["etcd-peer"],
            "kubeApiserverPort": ports["kube-apiserver"],
            "kubeControllerManagerPort": ports["kube-controller-manager"],
            "kubeSchedulerPort": ports["kube-scheduler"],
            "kwokControllerPort": ports["kwok"],
        },
        "componentsPatches": [_patch(component, is_small=is_small) for component in COMPONENTS],
    }


def log(folder: LabFolder, component: str) -> Path:
    """Return the log of a component."""
    return folder.cluster / "logs" / f"{COMPONENTS[component]}.log"


def pid_file(folder: LabFolder, component: str) -> Path:
    """Return where kwokctl writes a component's pid."""
    return folder.cluster / "pids" / f"{COMPONENTS[component]}.pid"


def has_started(folder: LabFolder, component: str) -> bool:
    """Return whether kwokctl has written down a component's pid; the file is empty before."""
    return _pid(folder, component) is not None


def forget(folder: LabFolder, component: str, program: Path) -> None:
    """Make kwokctl start a component that has ended, with the program of today.

    Its pid may be somebody else's by now, and its program's folder may be gone since.
    """
    pid_file(folder, component).unlink(missing_ok=True)
    link = folder.cluster / "bin" / COMPONENTS[component]
    link.unlink(missing_ok=True)
    link.symlink_to(program.absolute())


def running(folder: LabFolder) -> dict[str, Process]:
    """Return the components that kwokctl wrote down and that are really this lab's, by name."""
    found = {name: _running(folder, name) for name in COMPONENTS}
    return {name: process for name, process in found.items() if process}


def _running(folder: LabFolder, component: str) -> Process | None:
    pid = _pid(folder, component)
    if pid is None:
        return None
    process = processes.identify(component, pid, log(folder, component))
    if process is None:
        return None
    # kwokctl starts each by a link in the cluster's folder, and in that folder.
    program = (folder.cluster / "bin" / COMPONENTS[component]).resolve()
    is_ours = (
        process.executable == str(program)
        and processes.working_folder(pid) == folder.cluster.resolve()
    )
    return process if is_ours else None


def _pid(folder: LabFolder, component: str) -> int | None:
    try:
        return int(pid_file(folder, component).read_text())
    except (OSError, ValueError):
        return None


def _patch(component: str, *, is_small: bool) -> dict[str, Any]:
    limit = MEMORY_LIMITS[component] if is_small else NO_MEMORY_LIMIT
    return {
        "name": COMPONENTS[component],
        "extraEnvs": [{"name": "GOMEMLIMIT", "value": limit}],
        "extraArgs": [
            # "override" only replaces: an argument that kwokctl has not is dropped by it.
            {"key": key, "value": value, "override": False}
            for key, value in _ARGUMENTS.get(component, {}).items()
        ],
    }
