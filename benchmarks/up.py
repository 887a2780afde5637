"""How long `make up` takes, beside the sum of its parts, and what memory the lab has then.

Usage: .venv/bin/python benchmarks/up.py [RUNS]

Each run measures both sides, one after the other, on a warm cache:
  whole   `make up`, from the command to its prompt, the example jobs finished;
  parts   control plane ready, Kueue ready, and `pulumi up` without its wait for Kueue, each
          timed within one `up` of another lab; Kueue is started in the middle of `pulumi up`.
The ratio whole / parts is what everything else costs: the checks of the environment and the
toolchain, the simulated hosts, and the example jobs, which run for a time of their own.

The bound is 1: nothing can be up before its parts are. The aims are a median of 60 s on two
cores and 1.2 GB of proportional memory.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from lab import session
from lab.folder import CHECKOUT
from lab.report import Silence
from lab.toolchain.ensure import ensure
from lab.toolchain.progress import report_to
from tallyard.spec.load import load

AIM_SECONDS = 60
AIM_BYTES = 1.2e9
WHOLE, PARTS = "bench-whole", "bench-parts"
RUNS_DEFAULT = 5


@dataclass(frozen=True)
class Parts:
    """Seconds of each part. `pulumi_up` is without the wait for Kueue."""

    control_plane: float
    kueue: float
    pulumi_up: float

    @property
    def total(self) -> float:
        """Return their sum."""
        return self.control_plane + self.kueue + self.pulumi_up


class Clock(Silence):
    """Hears when each part begins and ends. Parts may lie within one another."""

    _BOUNDS = (
        ("control plane", "control plane", "control plane"),
        ("kueue", "Kueue's manager starts", "Kueue's manager is ready"),
        ("pulumi up", "pulumi up", "pulumi up in"),
    )

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began: dict[str, float] = {}

    def step(self, text: str) -> None:
        """Note the beginning of a part."""
        for part, begins, _ in self._BOUNDS:
            if text.startswith(begins):
                self._began.setdefault(part, time.monotonic())

    def done(self, text: str) -> None:
        """Note the end of a part."""
        for part, _, ends in self._BOUNDS:
            if text.startswith(ends):
                self.seconds[part] = time.monotonic() - self._began[part]


def whole() -> tuple[float, int]:
    """Return the seconds of one `make up` and the lab's memory after it in bytes."""
    began = time.monotonic()
    subprocess.run(
        ["make", "--silent", "up", f"ARGS=--name {WHOLE}"],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
    )
    seconds = time.monotonic() - began
    memory = session.look(WHOLE).memory_bytes
    session.down(WHOLE)
    return seconds, memory


def parts() -> Parts:
    """Return the seconds of each part of one `up` without the rest of it."""
    overlay = CHECKOUT / "stacks" / "local.yaml"
    platform = load(overlay).platform
    if platform is None:
        raise SystemExit(f"{overlay} has errors: see `tally spec validate`")
    clock = Clock()
    session.up(PARTS, overlay, platform, ensure(report_to()), clock)
    session.down(PARTS)
    took = clock.seconds
    return Parts(
        control_plane=took["control plane"],
        kueue=took["kueue"],
        pulumi_up=took["pulumi up"] - took["kueue"],
    )


def main() -> None:
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS_DEFAULT
    seconds, memory, ratios = [], [], []
    print("run  make up  control plane  kueue  pulumi up  parts  ratio  memory")
    for run in range(1, runs + 1):
        up_seconds, up_bytes = whole()
        split = parts()
        seconds.append(up_seconds)
        memory.append(up_bytes)
        ratios.append(up_seconds / split.total)
        print(
            f"{run:>3}  {up_seconds:>5.1f} s  {split.control_plane:>11.1f} s  {split.kueue:>3.1f} s"
            f"  {split.pulumi_up:>7.1f} s  {split.total:>3.0f} s  {ratios[-1]:>5.2f}"
            f"  {up_bytes / 1e9:.2f} GB",
            flush=True,
        )
    print(
        f"median: make up {statistics.median(seconds):.1f} s (aim {AIM_SECONDS} s), "
        f"{statistics.median(ratios):.2f} times its parts "
        f"({min(ratios):.2f} to {max(ratios):.2f}; bound 1), "
        f"memory {statistics.median(memory) / 1e9:.2f} GB (aim {AIM_BYTES / 1e9:.1f} GB)"
    )


if __name__ == "__main__":
    main()
