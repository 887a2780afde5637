"""Fresh control planes, one `up` each: do they all converge?

Usage: .venv/bin/python -m tests.soak.converge [RUNS]     (20 by default)

Each run makes a lab of its own and runs `pulumi up` once, with more at a time than people do,
so that whatever depends on luck gets its chance. It has converged when the `up` succeeded and
every queue is active. The short form of it in `make test` is the lab that the tests share.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from lab.errors import LabError
from lab.toolchain.ensure import ensure
from lab.toolchain.progress import report_to
from tallyard.spec.load import load
from tests.running_lab import OVERLAY, RunningLab

RUNS_DEFAULT = 20
PARALLEL = "32"
ACTIVE_SECONDS_MAX = 30.0


def main() -> int:
    """Run them and say how many converged."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS_DEFAULT
    os.environ["PULUMI_PARALLEL"] = PARALLEL
    converged = 0
    with tempfile.TemporaryDirectory(prefix="tallyard-soak-") as folder:
        for run in range(1, runs + 1):
            began = time.monotonic()
            fault = _converges(Path(folder), f"soak-{run}")
            converged += fault is None
            took = time.monotonic() - began
            print(f"{run:>3} of {runs}  {took:>5.1f} s  {fault or 'converged'}", flush=True)
    print(f"{converged} of {runs} fresh control planes converged in one `up`")
    return 0 if converged == runs else 1


def _converges(base: Path, name: str) -> str | None:
    """Return what went wrong, or None."""
    platform = load(OVERLAY).platform
    if platform is None:
        return f"{OVERLAY} has errors"
    lab = RunningLab(base, name, platform, ensure(report_to()))
    try:
        lab.up(make_stack=None)
        return _wait_until_active(lab)
    except LabError as error:
        log = error.log.read_text(errors="replace")[-4000:] if error.log else ""
        return f"{error}\n{log}"
    finally:
        lab.down()


def _wait_until_active(lab: RunningLab) -> str | None:
    """Return the queues that did not become active, or None."""
    deadline = time.monotonic() + ACTIVE_SECONDS_MAX
    while True:
        queues = [
            *lab.get("clusterqueues.kueue.x-k8s.io")["items"],
            *lab.get("localqueues.kueue.x-k8s.io", "-A")["items"],
        ]
        idle = [q["metadata"]["name"] for q in queues if not _is_active(q)]
        if queues and not idle:
            return None
        if time.monotonic() > deadline:
            return f"not active: {', '.join(idle) or 'there are no queues'}"
        time.sleep(0.5)


def _is_active(queue: dict[str, dict[str, list[dict[str, str]]]]) -> bool:
    conditions = queue.get("status", {}).get("conditions", [])
    return any(c["type"] == "Active" and c["status"] == "True" for c in conditions)


if __name__ == "__main__":
    sys.exit(main())
