"""How long reading, checking and rendering a spec takes, beside plain YAML, and what memory.

Usage: .venv/bin/python benchmarks/spec.py [RUNS]

Specs of 100, 1,000 and 10,000 users are made from a seed and written to disk; every kind of
key is in them, and the hosts grow with what the projects are granted. Each run measures, one
after the other and in turns first:
  ours   `tally spec render` without its start: read and check both files, render every object,
         make the YAML text of all of them;
  rival  `yaml.load` of both files and `yaml.dump` of the same objects, with the C library:
         what any program pays that reads the one and writes the other;
  plain  `yaml.load` of both files and `yaml.dump` of what they hold: the spec alone, beside
         which ours is shown without its writing.
Seconds are the processor's: all sides only compute, and what else runs then counts for less.
What a process pays once is paid by a warm-up and told: imports, and compiling and parsing the
templates' shapes. Peak memory is that of a new process for each side.

The bounds, for the medians of the runs: ours takes at most 2.5 times the rival's time at every
size, and its slope over users on a log-log scale is 0.9 to 1.1.
"""

from __future__ import annotations

import gc
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

SIZES = (100, 1_000, 10_000)
RUNS_DEFAULT = 5
SEED = 4
RATIO_MAX = 2.5
SLOPE_MIN, SLOPE_MAX = 0.9, 1.1
# One measurement lasts for so many users at least: a few milliseconds alone are noise.
USERS_MEASURED_MIN = 2_000

RATES = {"A800": 54, "A100": 30, "RTX-4090": 12, "BI-V150": 20, "MLU370": 18}
MODELS = {
    "training": ("A100", "A800"),
    "inference": ("RTX-4090",),
    "shared": ("RTX-4090",),
    "domestic": ("BI-V150", "MLU370"),
}
TIERS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "gold": {
        "training": {"A800": 8, "A100": 8},
        "inference": {"RTX-4090": 4},
        "shared": {"RTX-4090": 2},
        "domestic": {"BI-V150": 4, "MLU370": 4},
    },
    "silver": {"training": {"A100": 4}, "shared": {"RTX-4090": 1}},
    "bronze": {"training": {"A100": 2}},
}
# The projects of each hundred users: their people and their tier. Each hundred is alike, so
# that ten times the users are ten times the work.
HUNDRED = ((5, "bronze"), (10, "bronze"), (20, "silver"), (25, "silver"), (40, "gold"))
CARDS_PER_HOST = 8
# An override's end may not be far.
OVERRIDE_DAYS = 90
HEAD = """\
apiVersion: tallyard.dev/v1
kind: Platform
metadata: {name: large}
time-zone: Asia/Shanghai
price: {uneven: larger, wait: {charged: 100%, up-to: 5m}}
accelerators:
  A800: {vendor: nvidia, memory: 80Gi, rate: 54, includes: {cpu: 8, memory: 128Gi}, origin: measured}
  A100: {vendor: nvidia, memory: 40Gi, rate: 30, includes: {cpu: 8, memory: 64Gi}, origin: measured}
  RTX-4090: {vendor: nvidia, memory: 24Gi, rate: 12, origin: rule of thumb}
  BI-V150: {vendor: iluvatar, memory: 64Gi, resource: iluvatar.ai/gpu, rate: 20, origin: vendor}
  MLU370: {vendor: cambricon, memory: 48Gi, resource: cambricon.com/mlu, rate: 18, origin: vendor}
topology: [block, rack, host]
priorities:
  - {name: inference, value: 100000}
  - {name: training, value: 10000}
  - {name: elastic, value: 100, preemptible: true}
pools:
  training: {models: [A100, A800], priority: training, default-model: A100, borrowed: keep, termination-grace: 120s}
  inference: {models: [RTX-4090], work: inference, priority: inference, burst: 50%, scale-within: 30s}
  shared: {models: [RTX-4090], work: inference, priority: inference, sharing: {time-slicing: 4}}
  domestic: {models: [BI-V150, MLU370], priority: training}
  elastic: {borrows-from: training, cpu: true, priority: elastic, pods-per-agent: 10, backoff-limit: 0}
freeze: {cap: 30%, fast-lane: {up-to: 15m}, max-time-default: 4h, window: 1h, debt-max: 5%}
defaults:
  per-card: {cpu: 4, memory: 4Gi}
  ephemeral-storage: 20Gi
  registry: registry.example.com
  resources: {rdma/hca: 1}
uncounted: [rdma/]
overcommit: {cards: 1.5, core-hours: 1.2}
availability: 90%
"""


def write_spec(folder: Path, users: int) -> Path:
    """Write a platform of so many users and its environment; return the environment's file."""
    chance = random.Random(SEED + users)  # noqa: S311 - no secret
    granted: Counter[tuple[str, str]] = Counter()
    projects = list(_projects(users, granted, chance))
    (folder / "platform.yaml").write_text(
        "".join((HEAD, *_tiers(), "projects:\n", *projects)), encoding="utf-8"
    )
    overlay = folder / "local.yaml"
    overlay.write_text("".join(("base: platform.yaml\n", *_nodes(granted))), encoding="utf-8")
    return overlay


def _tiers() -> Iterator[str]:
    """Yield the tiers: core-hours for about two weeks of all cards, so that jobs fit the cap."""
    yield "tiers:\n"
    for weight, (tier, cards) in enumerate(reversed(tuple(TIERS.items())), start=1):
        rate = sum(n * RATES[model] for of in cards.values() for model, n in of.items())
        shown = json.dumps(cards).replace('"', "")
        yield (
            f"  {tier}:\n    weight: {weight}\n    core-hours: {400 * rate}/month\n"
            f"    max-time: {8 * weight}h\n    user-share: 60%\n    cards: {shown}\n"
            f"    borrow: {{training: {4 * weight}}}\n"
        )


def _projects(
    users: int, granted: Counter[tuple[str, str]], chance: random.Random
) -> Iterator[str]:
    """Yield the projects, and count the cards that they are granted."""
    until = datetime.now(UTC).date() + timedelta(days=OVERRIDE_DAYS)
    projects = [
        project
        for _ in range(users // sum(people for people, _ in HUNDRED))
        for project in chance.sample(HUNDRED, len(HUNDRED))
    ]
    first = 0
    for number, (people, tier) in enumerate(projects):
        for pool, models in TIERS[tier].items():
            granted.update({(pool, model): cards for model, cards in models.items()})
        key = f"团队 {number}" if number % 7 == 3 else f"team-{number:04d}"
        yield f"  {key}:\n    id: t{number:04d}\n    tier: {tier}\n"
        if number % 3 == 0:
            yield f"    default-user: user.{first:05d}\n"
        if number % 5 == 0:
            extra = TIERS[tier]["training"]["A100"] + 1
            granted["training", "A100"] += 1
            yield (
                f"    overrides:\n      - cards: {{training: {{A100: {extra}}}}}\n"
                f"        until: {until}\n        reason: the release of autumn\n"
            )
        yield "    users:\n"
        yield from (_user(each, chance) for each in range(first, first + people))
        first += people


def _user(number: int, chance: random.Random) -> str:
    name = f"user.{number:05d}"
    login = f'"oidc:{name}@corp.example"'
    keys = chance.choices(
        (
            f"logins: [{login}]",
            f'logins: [{login}, "ldap:u{number:05d}"]',
            f"logins: [{login}], share: {chance.randint(1, 10) * 10}%",
            "",
        ),
        weights=(70, 10, 15, 5),
    )
    return f"      {name}: {{{keys[0]}}}\n"


def _nodes(granted: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the hosts that the grants need, and a spare one of each kind."""
    yield "nodes:\n"
    for pool, models in MODELS.items():
        for model in models:
            count = 1 + math.ceil(granted[pool, model] / CARDS_PER_HOST)
            yield (
                f'  - {{hosts: "{pool}-{model.lower()}-[0000-{count - 1:04d}]", pool: {pool}, '
                f"model: {model}, cards: {CARDS_PER_HOST}, cpu: 128, memory: 1Ti, "
                f"links: {'nvlink' if pool == 'training' else 'pcie'}, block: {pool}, "
                f'rack: "{pool}-[0-{count // 8}]"}}\n'
            )
    yield '  - {hosts: "cpu-[00-07]", pool: cpu, cpu: 64, memory: 256Gi, block: cpu, rack: cpu-0}\n'


@dataclass(frozen=True)
class Took:
    """Seconds of each part of one measurement."""

    check: float
    render: float
    write: float
    rival: float
    plain: float

    @property
    def whole(self) -> float:
        """Return what ours took."""
        return self.check + self.render + self.write

    @property
    def meaning(self) -> float:
        """Return what ours took without writing."""
        return self.check + self.render

    @property
    def ratios(self) -> tuple[float, float]:
        """Return ours over the rival, and ours without writing over the spec alone."""
        return self.whole / self.rival, self.meaning / self.plain


def ours(overlay: Path) -> tuple[tuple[Mapping[str, Any], ...], tuple[float, float, float]]:
    """Return the objects of a spec, and the seconds for checking, rendering and writing."""
    from tallyard.cli.output import to_yaml  # noqa: PLC0415
    from tallyard.render.platform import render  # noqa: PLC0415
    from tallyard.spec.load import load  # noqa: PLC0415

    began = time.process_time()
    platform = load(overlay).platform
    if platform is None:
        raise SystemExit(f"{overlay} has errors: see `tally spec validate`")
    checked = time.process_time()
    objects = tuple(each.object for each in render(platform))
    rendered = time.process_time()
    "---\n".join(to_yaml(dict(each)) for each in objects)
    written = time.process_time()
    return objects, (checked - began, rendered - checked, written - rendered)


def rival(overlay: Path, objects: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds that plain YAML takes to read the spec and to write the objects."""
    began = time.process_time()
    _read(overlay)
    "---\n".join(_dumped(each) for each in objects)
    return time.process_time() - began


def plain(overlay: Path) -> float:
    """Return the seconds that plain YAML takes to read the spec and to write it again."""
    began = time.process_time()
    for content in _read(overlay):
        _dumped(content)
    return time.process_time() - began


def _read(overlay: Path) -> list[Any]:
    files = (overlay.with_name("platform.yaml"), overlay)
    return [yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader) for file in files]


def _dumped(content: Any) -> str:
    # The options are those of ours, so that both write as much.
    return str(
        yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=1000)
    )


def measure(overlay: Path, users: int, *, is_first: bool) -> Took:
    """Return the mean of as many measurements as make a time that can be told from noise."""
    times = max(1, USERS_MEASURED_MIN // users)
    objects, _ = ours(overlay)
    parts: list[tuple[float, ...]] = []
    for _ in range(times):
        sides: list[Callable[[], tuple[float, ...]]] = [
            lambda: ours(overlay)[1],
            lambda: (rival(overlay, objects), plain(overlay)),
        ]
        seconds = []
        for side in sides if is_first else reversed(sides):
            gc.collect()
            seconds.append(side())
        mine, theirs = seconds if is_first else reversed(seconds)
        parts.append((*mine, *theirs))
    return Took(*(statistics.mean(column) for column in zip(*parts, strict=True)))


def slope(seconds: Sequence[float]) -> float:
    """Return the slope of a line through log time over log users, by least squares."""
    return statistics.linear_regression(
        [math.log(users) for users in SIZES], [math.log(each) for each in seconds]
    ).slope


def peak_bytes(side: str, overlay: Path, objects: Path) -> int:
    """Return the most memory that a new process has which does one side once."""
    command = [sys.executable, __file__, "--memory", side, str(overlay), str(objects)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout)


def _memory(side: str, overlay: Path, objects: Path) -> None:
    """Do one side and print this process's peak; that of the start counts with it."""
    if side == "ours":
        ours(overlay)
    elif side == "rival":
        rival(overlay, json.loads(objects.read_text()))
    else:
        plain(overlay)
    status = Path("/proc/self/status").read_text()
    print(1024 * int(status.partition("VmHWM:")[2].split()[0]))


def main() -> int:
    """Measure, print, and say whether the bounds hold."""
    if sys.argv[1:2] == ["--memory"]:
        _memory(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        return 0
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS_DEFAULT
    with tempfile.TemporaryDirectory(prefix="tallyard-bench-") as name:
        overlays = {users: _written(Path(name) / str(users), users) for users in SIZES}
        began = time.process_time()
        ours(overlays[SIZES[0]])
        print(f"the first of a process: {1000 * (time.process_time() - began):.0f} ms")
        took = _runs(overlays, runs)
        _print_memory(overlays)
    return _verdict(took)


def _written(folder: Path, users: int) -> Path:
    folder.mkdir()
    return write_spec(folder, users)


def _runs(overlays: Mapping[int, Path], runs: int) -> Mapping[int, list[Took]]:
    found: dict[int, list[Took]] = {users: [] for users in SIZES}
    print("run   users    check   render    write    rival    plain  ratio  without writing")
    for run in range(1, runs + 1):
        for users, overlay in overlays.items():
            each = measure(overlay, users, is_first=run % 2 == 1)
            found[users].append(each)
            parts = (each.check, each.render, each.write, each.rival, each.plain)
            shown = "  ".join(f"{1000 * seconds:>4.0f} ms" for seconds in parts)
            print(
                f"{run:>3}  {users:>6,}  {shown}  {each.ratios[0]:>5.2f}  {each.ratios[1]:>15.2f}",
                flush=True,
            )
    return found


def _print_memory(overlays: Mapping[int, Path]) -> None:
    for users, overlay in overlays.items():
        objects = overlay.with_name("objects.json")
        objects.write_text(json.dumps(ours(overlay)[0]))
        peaks = {side: peak_bytes(side, overlay, objects) for side in ("ours", "rival", "plain")}
        shown = ", ".join(f"{side} {peak / 1e6:.0f} MB" for side, peak in peaks.items())
        print(f"peak memory at {users:,} users: {shown}")


def _verdict(took: Mapping[int, list[Took]]) -> int:
    """Print each figure, those with a bound beside it; return the exit code."""
    verdicts = []
    for users, runs in took.items():
        whole, meaning = zip(*(each.ratios for each in runs), strict=True)
        verdicts.append(_line(f"ours / rival at {users:,} users", whole, 0, RATIO_MAX))
        _line(f"without writing / plain at {users:,} users", meaning)
    sides: Mapping[str, Callable[[Took], float]] = {
        "ours": lambda each: each.whole,
        "ours without writing": lambda each: each.meaning,
        "the rival": lambda each: each.rival,
        "plain": lambda each: each.plain,
    }
    for name, pick in sides.items():
        of_runs = [
            slope([pick(each) for each in sizes]) for sizes in zip(*took.values(), strict=True)
        ]
        bounds = (SLOPE_MIN, SLOPE_MAX) if name == "ours" else (None, None)
        verdicts.append(_line(f"slope of {name}", of_runs, *bounds))
    return 0 if all(verdicts) else 1


def _line(
    name: str, of_runs: Sequence[float], least: float | None = None, most: float | None = None
) -> bool:
    """Print the median of the runs and their spread; return whether the bounds hold."""
    median = statistics.median(of_runs)
    spread = f"{min(of_runs):.2f} to {max(of_runs):.2f}"
    if least is None or most is None:
        print(f"      {name}: {median:.2f} ({spread})")
        return True
    is_good = least <= median <= most
    bound = f"{least} to {most}" if least else f"at most {most}"
    print(f"{'PASS' if is_good else 'FAIL'}  {name}: {median:.2f} ({spread}; bound {bound})")
    return is_good


if __name__ == "__main__":
    sys.exit(main())
