"""How long `pulumi up` takes beside `kubectl apply --server-side` of the same objects.

Usage: .venv/bin/python benchmarks/apply.py [RUNS]

Each run makes two labs, one after the other, with the hosts of the local stack in them:
  ours   `pulumi up` of the empty stack, as `make up` runs it;
  rival  `kubectl apply --server-side` of the objects in that stack's state: first the
         definitions and the namespaces, then the charts, then, when Kueue answers, the rest.
         kubectl keeps no state, knows no order and removes nothing: a list of files in the right
         order is the least that can be done.
The time in which both wait for Kueue to start is taken off on both sides.
The bound is a ratio of 3: Pulumi asks the API server for a dry run of each object first, and then
applies it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lab import session
from lab.folder import CHECKOUT, lab_folder
from lab.manager_watch import ManagerWatch
from lab.report import Silence
from lab.session import Lab
from lab.toolchain.ensure import Toolchain, ensure
from lab.toolchain.progress import report_to
from policies.recorded import objects_in
from tallyard import labels
from tallyard.spec.load import load
from tallyard.spec.model import Platform

OURS, RIVAL = "bench-apply", "bench-apply-rival"
OVERLAY = CHECKOUT / "stacks" / "local.yaml"
RUNS_DEFAULT = 3
RATIO_MAX = 3.0
_FIRST = ("CustomResourceDefinition", "Namespace")
# What Kueue's webhooks look at.
_LAST_GROUP = f"{labels.KUEUE_GROUP}/"


class Clock(Silence):
    """Hears how long Kueue took to start within an `up`."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.seconds: dict[str, float] = {}

    def step(self, text: str) -> None:
        """Note what begins."""
        for part in ("Kueue's manager", "pulumi up"):
            if text.startswith(part):
                self.began.setdefault(part, time.monotonic())

    def done(self, text: str) -> None:
        """Note what has ended."""
        for part in ("Kueue's manager is ready", "pulumi up in"):
            if text.startswith(part):
                name = part.removesuffix(" is ready").removesuffix(" in")
                self.seconds[name] = time.monotonic() - self.began[name]


def main(runs: int) -> int:
    """Measure and print; return 1 where the bound is missed."""
    platform, toolchain = load(OVERLAY).platform, ensure(report_to(sys.stderr))
    if platform is None:
        raise SystemExit(f"{OVERLAY} has errors: see `tally spec validate`")
    ratios = []
    print("run  objects  pulumi up  kubectl apply  ratio")
    for run in range(1, runs + 1):
        try:
            ours, objects = _ours(platform, toolchain)
            rival = _rival(platform, toolchain, objects)
        finally:
            session.down(OURS)
            session.down(RIVAL)
        ratios.append(ours / rival)
        print(
            f"{run:>3}  {len(objects):>7}  {ours:>7.1f} s  {rival:>11.1f} s  {ratios[-1]:>5.2f}",
            flush=True,
        )
    middle = statistics.median(ratios)
    print(f"{middle:.2f} x ({min(ratios):.2f}-{max(ratios):.2f}), bound {RATIO_MAX}")
    return int(middle > RATIO_MAX)


def _ours(platform: Platform, toolchain: Toolchain) -> tuple[float, Sequence[Mapping[str, Any]]]:
    """Return the seconds of `pulumi up`, and the objects that it has made."""
    clock = Clock()
    session.up(OURS, OVERLAY, platform, toolchain, clock)
    folder = lab_folder(OURS)
    [state] = folder.pulumi.glob(".pulumi/stacks/**/local.json")
    checkpoint = json.loads(state.read_text("utf-8"))["checkpoint"]["latest"]
    objects = [dict(each.object) for each in objects_in({"deployment": checkpoint})]
    seconds = clock.seconds["pulumi up"] - clock.seconds["Kueue's manager"]
    return seconds, objects


def _rival(platform: Platform, toolchain: Toolchain, objects: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds of kubectl alone."""
    seconds: list[float] = []

    def make(lab: Lab) -> None:
        text = json.dumps(objects)
        with ExitStack() as all_:
            for manager in session.managers(lab):
                all_.enter_context(ManagerWatch(manager, Silence()))
            for name in ("kueue", "jobset"):
                text = _moved(text, lab_folder(OURS).told(name), lab.folder.told(name))
            whole = json.loads(text)
            seconds.append(_apply(lab, [e for e in whole if e["kind"] in _FIRST]))
            _established(lab)
            seconds.append(_apply(lab, [e for e in whole if not _is_last(e)]))
        # Both managers answer now.
        seconds.append(_apply(lab, [e for e in whole if _is_last(e)]))

    session.up(RIVAL, OVERLAY, platform, toolchain, Silence(), make_stack=make)
    return sum(seconds)


def _moved(text: str, before: Path, after: Path) -> str:
    """Return objects with the webhooks of one lab in place of another's."""
    old, new = (json.loads(file.read_text("utf-8")) for file in (before, after))
    for key in ("webhookURL", "caBundle"):
        text = text.replace(old[key], new[key])
    return text


def _is_last(content: Mapping[str, Any]) -> bool:
    api, kind = str(content["apiVersion"]), str(content["kind"])
    guards = kind.endswith(("PolicyBinding", "AdmissionPolicy"))
    return api.startswith(_LAST_GROUP) or api == labels.API or guards


def _apply(lab: Lab, objects: Iterable[Mapping[str, Any]]) -> float:
    """Apply objects; return the seconds."""
    began = time.monotonic()
    _kubectl(
        lab,
        "apply",
        *("--server-side", "--force-conflicts", "-f", "-"),
        given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}),
    )
    return time.monotonic() - began


def _established(lab: Lab) -> None:
    _kubectl(lab, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def _kubectl(lab: Lab, *arguments: str, given: str = "") -> None:
    command = [str(lab.toolchain.programs["kubectl"]), "--kubeconfig", str(lab.folder.admin)]
    done = subprocess.run(
        [*command, *arguments], input=given, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS_DEFAULT))
