"""The end of a stack: `pulumi destroy --run-program` may delete what it otherwise must not.

Namespaces and flavors are kept and priorities are protected, because an `up` of a changed spec
must never take them along. At the end of the platform all of them go, once nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from infra.settings import ENDING
from tallyard.cluster.drain import Standing
from tallyard.spec.model import Platform


class NotDrainedError(Exception):
    """Something is in the way of the end; the text says what, and what to do."""


def check(standing: Standing, stack: str, spec: Mapping[str, str]) -> None:
    """Refuse the end while work runs, and while there is what would be left behind.

    What an earlier spec has left is not in the stack's state. Some of it has a finalizer that
    only Kueue takes off, which is gone by the time that its definitions are deleted.

    A program cannot know whether it runs for a destroy or for an `up`, and an `up` that protects
    nothing would delete whatever its spec has lost. So the spec must be the one that is deployed.

    Args:
        standing: what stands of the platform.
        stack: the stack's name.
        spec: the files of this checkout's spec, as the stack deploys them.

    Raises:
        NotDrainedError: with everything that is in the way.
    """
    reasons = []
    if not standing.is_drained:
        running = sum(standing.holding.values())
        reasons.append(
            f"{len(standing.open)} queues take work and {running} workloads hold quota. Run "
            f"`tally drain -s {stack}`, which stops them."
        )
    if standing.foreign:
        reasons.append(
            f"Kueue also serves queues of somebody else's, and goes with the platform: "
            f"{', '.join(standing.foreign)}. Let their work end, and have them removed: "
            f"`kubectl delete clusterqueue {' '.join(standing.foreign)}`."
        )
    if standing.spec is not None and standing.spec != spec:
        reasons.append(
            "The spec of this checkout is not the one that is deployed. Take the deployed "
            f"revision, or bring this one up first: unset {ENDING}, `pulumi up -s {stack}`."
        )
    if standing.removal:
        reasons.append(
            "Earlier specs have left objects that this stack does not know of, and that would "
            "never go once Kueue is gone. Look at them (what is in a namespace is the users'), "
            f"then: {'; '.join(f'`{command}`' for command in standing.removal)}."
        )
    if reasons:
        raise NotDrainedError(
            f"the platform cannot be removed yet, and nothing was changed. {' '.join(reasons)}"
        )


def notice(platform: Platform) -> str:
    """Say what a destroy takes along that is not ours."""
    namespaces = ", ".join(sorted(project.namespace for project in platform.projects.values()))
    return (
        "`pulumi destroy` deletes the platform, and everything that users have in the namespaces "
        f"{namespaces}: jobs, services, volume claims, secrets. Unset the variable afterwards: an "
        "`up` that has it takes the protection off priorities and namespaces."
    )


def let_everything_go() -> None:
    """Take the protection off all resources that are registered from now on."""
    pulumi.runtime.register_resource_transform(_let_go)


def _let_go(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
    opts = pulumi.ResourceOptions(protect=False, retain_on_delete=False)
    return pulumi.ResourceTransformResult(args.props, pulumi.ResourceOptions.merge(args.opts, opts))
