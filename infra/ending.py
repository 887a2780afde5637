"""The end of a stack: `pulumi destroy --run-program` may delete what it otherwise must not.

Namespaces and flavors are kept and priorities are protected, because an `up` of a changed spec
must never take them along. At the end of the platform all of them go, once nothing runs.
"""

from __future__ import annotations

import pulumi

from tallyard.cluster.drain import Standing
from tallyard.spec.model import Platform


class NotDrainedError(Exception):
    """Something is in the way of the end; the text says what, and what to do."""


def check(standing: Standing, stack: str) -> None:
    """Refuse the end while work runs, and while there is what would be left behind.

    What an earlier spec has left is not in the stack's state. Some of it has a finalizer that
    only Kueue takes off, which is gone by the time that its definitions are deleted.

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
        f"{namespaces}: jobs, services, volume claims, secrets. Anything else that takes this "
        "variable for an `up` loses the protection of priorities and namespaces: unset it after."
    )


def let_everything_go() -> None:
    """Take the protection off all resources that are registered from now on."""
    pulumi.runtime.register_resource_transform(_let_go)


def _let_go(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
    opts = pulumi.ResourceOptions(protect=False, retain_on_delete=False)
    return pulumi.ResourceTransformResult(args.props, pulumi.ResourceOptions.merge(args.opts, opts))
