"""Which cluster a command asks, and about whose work: the options that several share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

Context = Annotated[str | None, Parameter(help="Context of the kubeconfig.")]
Kubeconfig = Annotated[
    str | None, Parameter(help="Kubeconfig; without it KUBECONFIG or ~/.kube/config.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class Target:
    """The cluster and the scope.

    Attributes:
        project: The project, by key or id; without it, the kubeconfig's own or all that you may see.
        all_projects: All projects of the cluster (operators).
        context: The kubeconfig's context; without it, its current one.
        kubeconfig: The kubeconfig; without it, KUBECONFIG or ~/.kube/config.
    """

    project: Annotated[
        str | None,
        Parameter(
            name=["--project", "-p"],
            help="The project, by key or id; without it the kubeconfig's own, or all you may see.",
        ),
    ] = None
    all_projects: Annotated[
        bool,
        Parameter(name=["--all", "-A"], negative=(), help="All projects (operators)."),
    ] = False
    context: Context = None
    kubeconfig: Kubeconfig = None
