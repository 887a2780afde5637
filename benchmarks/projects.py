"""What many projects cost: Pulumi's resources, the first and the second `up`, the state.

Usage: .venv/bin/python benchmarks/projects.py [PROJECTS [USERS]]

Two labs are made, one with 10 projects and one with 100 (PROJECTS) of the tier `bronze`, each
with 10 USERS, beside the hosts that they are granted. Of each are told: the resources in the
state, the seconds of the first `pulumi up` and of a second one that changes nothing, the bytes
of the state, and of the second `up` the time until the program has begun to register, which is
Python's start, the spec and the rendering of everything.

The line through both is printed: resources = a + b x projects. Users are in no resource of their
own. The bounds: b is at most 16, and a second `up` with 100 projects takes at most 60 s.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from lab.folder import CHECKOUT
from lab.toolchain.ensure import ensure
from lab.toolchain.progress import report_to
from tallyard.spec.load import load
from tests.running_lab import RunningLab

FEW = 10
PROJECTS_DEFAULT, USERS_DEFAULT = 100, 10
SLOPE_MAX = 16
SECOND_SECONDS_MAX = 60


@dataclass(frozen=True)
class Cost:
    """Of one size. Seconds and bytes."""

    resources: int
    first: float
    second: float
    state: int
    until_registered: float


def main(projects: int, users: int) -> int:
    """Measure and print; return how many bounds are missed."""
    print("projects  resources  first up  second up  until it registers  state")
    costs = {}
    for size in (FEW, projects):
        cost = costs[size] = _cost(size, users)
        print(
            f"{size:>8}  {cost.resources:>9}  {cost.first:>6.1f} s  {cost.second:>7.1f} s"
            f"  {cost.until_registered:>16.1f} s  {cost.state / 1e6:.1f} MB",
            flush=True,
        )
    few, many = costs[FEW], costs[projects]
    slope = (many.resources - few.resources) / (projects - FEW)
    base = few.resources - slope * FEW
    print(f"resources = {base:.0f} + {slope:.1f} x projects (bound {SLOPE_MAX})")
    print(f"second up with {projects} projects: {many.second:.1f} s (bound {SECOND_SECONDS_MAX})")
    return (slope > SLOPE_MAX) + (many.second > SECOND_SECONDS_MAX)


def _cost(projects: int, users: int) -> Cost:
    with tempfile.TemporaryDirectory(prefix="tallyard-bench-") as folder:
        overlay = _spec(Path(folder), projects, users)
        loaded = load(overlay)
        if loaded.platform is None:
            raise SystemExit(str(loaded.problems[:3]))
        lab = RunningLab(
            Path(folder) / "labs",
            f"projects-{projects}",
            loaded.platform,
            ensure(report_to(sys.stderr)),
            overlay=overlay,
        )
        try:
            began = time.monotonic()
            lab.up(make_stack=None)
            first = time.monotonic() - began
            [state] = lab.folder.pulumi.glob(".pulumi/stacks/**/local.json")
            second, until = _second(lab, Path(folder) / "events")
            resources = json.loads(state.read_bytes())["checkpoint"]["latest"]["resources"]
            return Cost(len(resources), first, second, state.stat().st_size, until)
        finally:
            lab.down()


def _second(lab: RunningLab, events: Path) -> tuple[float, float]:
    """Return the seconds of an `up` that changes nothing, and until it registers anything."""
    began, wall = time.monotonic(), time.time()
    done = lab.pulumi(
        *("up", "--yes", "--skip-preview", "--expect-no-changes", "--event-log", str(events)),
        # Without it Pulumi knows no event log.
        PULUMI_DEBUG_COMMANDS="true",
    )
    seconds = time.monotonic() - began
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    for line in events.read_text("utf-8").splitlines():
        event = json.loads(line)
        urn = event.get("resourcePreEvent", {}).get("metadata", {}).get("urn", "")
        if "tallyard:infra" in urn:
            return seconds, event["timestamp"] - wall
    raise SystemExit(f"no resource in {events}")


def _spec(folder: Path, projects: int, users: int) -> Path:
    """Write the local stack's spec with other projects and the hosts that they need."""
    stacks = CHECKOUT / "stacks"
    base = yaml.safe_load((stacks / "platform.yaml").read_text("utf-8"))
    overlay = yaml.safe_load((stacks / "local.yaml").read_text("utf-8"))
    base["projects"] = {
        f"team-{p:03}": {
            "tier": "bronze",
            "users": {
                f"user.{p}.{u}": {"logins": [f"oidc:{p}.{u}@corp.example"]} for u in range(users)
            },
        }
        for p in range(projects)
    }
    for host in overlay["nodes"]:
        if host.get("model") == "A100-SXM4-40GB":
            host.update(hosts=f"a100-[000-{projects // 4 + 3:03}]", rack="r0")
    (folder / "platform.yaml").write_text(yaml.safe_dump(base), "utf-8")
    file = folder / "local.yaml"
    file.write_text(yaml.safe_dump(overlay), "utf-8")
    return file


if __name__ == "__main__":
    arguments = [int(each) for each in sys.argv[1:]]
    sys.exit(main(*(*arguments, *(PROJECTS_DEFAULT, USERS_DEFAULT)[len(arguments) :])))
