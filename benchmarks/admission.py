"""What the admission policies add to creating a job, with 100 and with 10,000 users in the table.

Usage: .venv/bin/python benchmarks/admission.py [PAIRS [CREATES]]

A lab with the whole platform is started. Each pair creates 2,000 suspended Jobs of each kind over
one connection, in turns:
  with     a Job of ten lines in a project's namespace: stamped and looked at by the policies;
  without  the same Job as it was stored by the first, in a namespace that Kueue looks after in
           the same way and the policies do not;
  least    as without, in a namespace in which one policy writes one label and another one always
           holds: the bound, which is what any two policies cost whatever they say. Every tenth
           create has one.
Kueue's webhooks, which every such create passes, and etcd are in all. No namespace has the queue,
so that nothing runs and Kueue has as little to do for the one as for the other. All Jobs are
removed before the next pair. The lab's programs may use any memory: with the bounds that keep a
lab small Go's collector would take most of the time.

The aim is a ratio with/without of 1.05, of the medians of a pair's creates; the median of all
pairs is told with the least and the greatest. Before that the cost inside the API server is
printed: its own metric of the time that admission took.
"""

from __future__ import annotations

import base64
import copy
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx2

from lab import session
from lab.folder import CHECKOUT, lab_folder
from lab.report import Silence
from lab.state import StateFile
from lab.toolchain.ensure import ensure
from lab.toolchain.progress import report_to
from tallyard import labels
from tallyard.render.admission.policies import lock_binding, stamp_binding
from tallyard.render.admission.table import table_manifest
from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.load import load
from tallyard.spec.model import Platform
from tests.lab.gate import Gate, gate_of

LAB = "bench-admission"
SIZES = (100, 10_000)
PAIRS_DEFAULT = 5
CREATES_DEFAULT = 2_000
AIM = 1.05
WARM_UP = 200
LEAST_OF = 10
LOGIN = "oidc:li.wei@corp.example"
GUARDED, FREE = "nlp", "bench-free"
FREE_LABEL = "bench.tallyard.dev/free"
LEAST, LEAST_LABEL = "bench-least", "bench.tallyard.dev/least"
POLICIES = "/apis/admissionregistration.k8s.io/v1/{}admissionpolic{}"
JOBS = "/apis/batch/v1/namespaces/{}/jobs"
# Until the controllers have heard that all is gone.
CALM_SECONDS = 10
SEEN_SECONDS_MAX = 240
_SPENT = re.compile(
    r"^apiserver_(?:mutating|validating)_admission_policy_check_duration_seconds_sum\S* (\S+)$",
    re.MULTILINE,
)

JOB: Mapping[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "bench", "labels": {labels.QUEUE_NAME: "training"}},
    "spec": {
        "suspend": True,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "main",
                        "image": "nlp/trainer:1.0",
                        "resources": {"limits": {"nvidia.com/gpu": 2}},
                    }
                ],
            }
        },
    },
}


def main(pairs: int, creates: int) -> int:
    """Measure and print; return how many sizes missed the aim."""
    overlay = CHECKOUT / "stacks" / "local.yaml"
    platform = load(overlay).platform
    if platform is None:
        raise SystemExit("stacks/local.yaml has mistakes; see `tally spec validate`")
    tools = ensure(report_to(sys.stderr))
    session.down(LAB)
    session.up(LAB, overlay, platform, tools, Silence(), is_small=False)
    try:
        with gate_of(lab_folder(LAB).admin) as gate:
            _prepare(gate)
            ratios = {users: _measure(gate, platform, users, pairs, creates) for users in SIZES}
    finally:
        session.down(LAB)
    return sum(_report(users, found) for users, found in ratios.items())


def _prepare(gate: Gate) -> None:
    """Make a namespace that the policies pass by, and take the other's queue away."""
    free = {"key": FREE_LABEL, "operator": "DoesNotExist"}
    for binding in (stamp_binding(), lock_binding()):
        content = copy.deepcopy(dict(binding.object))
        content["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(free)
        _apply(gate, content, _policies(content["kind"]))
    for name, own in ((FREE, {}), (LEAST, {LEAST_LABEL: ""})):
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {labels.PROJECT: GUARDED, FREE_LABEL: "", **own}},
        }
        _apply(gate, namespace, "/api/v1/namespaces")
    for least in _least():
        _apply(gate, least.object, _policies(least.kind))
    queue = f"/apis/{labels.KUEUE_API}/namespaces/{GUARDED}/localqueues/training"
    gate.client.delete(queue).raise_for_status()
    _wait(lambda: _is_free(gate), f"the policies look into namespace {FREE}")


def _is_free(gate: Gate) -> bool:
    """Return whether a Job is neither refused nor stamped where no policy may look."""
    stored = gate.create(JOB, LOGIN, FREE).stored
    return stored is not None and labels.LOGIN not in stored["metadata"].get("annotations", {})


def _wait(is_so: Callable[[], bool], otherwise: str) -> None:
    """Wait until the API server has seen what it was told, which takes it a moment."""
    deadline = time.monotonic() + SEEN_SECONDS_MAX
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit(f"after {SEEN_SECONDS_MAX} s {otherwise}")
        time.sleep(0.2)


def _least() -> Iterator[Manifest]:
    """Yield policies that do next to nothing, and what binds them."""
    rule = {"group": "batch", "version": "v1", "resources": ["jobs"], "operations": ["CREATE"]}
    where = [{"key": LEAST_LABEL, "operator": "Exists"}]
    common: Mapping[str, Any] = {
        "name": LEAST,
        "table_kind": labels.PROJECT_TABLE_KIND,
        "rules": [rule],
        "selector": where,
        "conditions": [],
        "variables": [{"name": "nothing", "expression": "''"}],
    }
    label = "[JSONPatch{op: 'add', path: '/metadata/labels/bench', value: 'least'}]"
    yield manifest("mutating-policy", **common, patches=label)
    yield manifest("validating-policy", **common, holds="true", sentence="''")
    yield stamp_binding(LEAST, where)
    yield lock_binding(LEAST, where)


def _policies(kind: str) -> str:
    """Return the path of a kind of policy or binding."""
    verb = "mutating" if kind.startswith("Mutating") else "validating"
    return POLICIES.format(verb, "ybindings" if kind.endswith("Binding") else "ies")


def _apply(gate: Gate, content: Mapping[str, Any], path: str) -> None:
    answer = gate.client.patch(
        f"{path}/{content['metadata']['name']}",
        params={"fieldManager": "bench", "force": "true"},
        json=content,
        headers={"Content-Type": "application/apply-patch+yaml"},
    )
    if not answer.is_success:
        raise SystemExit(answer.text)


def _table(platform: Platform, users: int) -> Manifest:
    """Return the table with so many logins in the project, its own among them.

    No table of another size has the same ones.
    """
    content = copy.deepcopy(dict(table_manifest(platform).object))
    people = content["spec"]["projects"][GUARDED]["users"]
    for number in range(users - len(people)):
        people[f"oidc:user.{number}@{users}.corp.example"] = f"user.{number}"
    return Manifest(content)


def _measure(
    gate: Gate, platform: Platform, users: int, pairs: int, creates: int
) -> list[tuple[float, float]]:
    """Return the median seconds of one create of each pair, with and without."""
    table = _table(platform, users).object
    _apply(gate, table, f"/apis/{labels.API}/{labels.PROJECT_TABLES}")
    *_, login = table["spec"]["projects"][GUARDED]["users"]
    # The project has no default user: who is not in the table is refused.
    _wait(
        lambda: gate.create(JOB, login, GUARDED).is_allowed,
        f"the table of {users} users is not the one that counts",
    )
    stored = _stored(gate)
    jobs = {GUARDED: JOB, FREE: stored, LEAST: stored}
    _creates(gate, jobs, WARM_UP)
    found = []
    for number in range(pairs):
        before = _policy_seconds(gate)
        seconds = _creates(gate, jobs, creates)
        added = (_policy_seconds(gate) - before) / creates
        guarded, free, least = (statistics.median(seconds[place]) for place in jobs)
        found.append((guarded, free))
        print(
            f"{users} users, pair {number + 1}: with {1e3 * guarded:.2f} ms, "
            f"without {1e3 * free:.2f} ms, ratio {guarded / free:.3f}; "
            f"the least policies {1e3 * least:.2f} ms, ratio {least / free:.3f}; "
            f"all policies inside the API server {1e3 * added:.2f} ms",
            flush=True,
        )
    return found


def _stored(gate: Gate) -> Mapping[str, Any]:
    """Return the Job as the policies make it, without what the API server adds."""
    verdict = gate.create(JOB, LOGIN, GUARDED)
    if verdict.stored is None:
        raise SystemExit(verdict.reason)
    stored = copy.deepcopy(dict(verdict.stored))
    metadata = stored["metadata"]
    stored["metadata"] = {k: metadata[k] for k in ("name", "labels", "annotations")}
    for made in ("selector", "manualSelector"):
        stored["spec"].pop(made, None)
    template = stored["spec"]["template"]["metadata"]["labels"]
    for key in [k for k in template if "job-name" in k or "controller-uid" in k]:
        del template[key]
    stored.pop("status", None)
    return stored


def _creates(
    gate: Gate, jobs: Mapping[str, Mapping[str, Any]], number: int
) -> Mapping[str, list[float]]:
    """Create so many Jobs of each namespace in turns; return the seconds of each.

    They are gone afterwards.
    """
    seconds: dict[str, list[float]] = {place: [] for place in jobs}
    with _emptied(gate, jobs):
        for each in range(number):
            for place, job in jobs.items():
                if place == LEAST and each % LEAST_OF:
                    continue
                content = {**job, "metadata": {**job["metadata"], "name": f"bench-{each}"}}
                begin = time.perf_counter()
                verdict = gate.create(content, LOGIN, place, dry=False)
                seconds[place].append(time.perf_counter() - begin)
                if not verdict.is_allowed:
                    raise SystemExit(verdict.reason)
    return seconds


@contextmanager
def _emptied(gate: Gate, places: Iterable[str]) -> Iterator[None]:
    """Remove the Jobs and Kueue's records of them in the end.

    They are taken out of etcd: one by one through the API server, each with its finalizers,
    would take ten times as long as the creates.
    """
    yield
    ports = StateFile(lab_folder(LAB)).current().ports or {}
    etcd = f"http://127.0.0.1:{ports['etcd']}"
    for place in places:
        for kind in ("jobs", f"{labels.KUEUE_GROUP}/workloads"):
            first = f"/registry/{kind}/{place}/".encode()
            # The byte behind the last one ends the range.
            end = first[:-1] + bytes([first[-1] + 1])
            told = {
                name: base64.b64encode(key).decode()
                for name, key in (("key", first), ("range_end", end))
            }
            httpx2.post(f"{etcd}/v3/kv/deleterange", json=told, timeout=60).raise_for_status()
    for place in places:
        _wait(partial(_is_empty, gate, place), f"namespace {place} still has jobs")
    time.sleep(CALM_SECONDS)


def _is_empty(gate: Gate, place: str) -> bool:
    return not gate.client.get(JOBS.format(place), params={"limit": 1}).json()["items"]


def _policy_seconds(gate: Gate) -> float:
    """Return the seconds that the API server has spent in admission policies since it began."""
    text = gate.client.get("/metrics").text
    return sum(map(float, _SPENT.findall(text)))


def _report(users: int, found: list[tuple[float, float]]) -> bool:
    ratios = [guarded / free for guarded, free in found]
    middle = statistics.median(ratios)
    is_missed = middle > AIM
    print(
        f"{users} users in the table: {middle:.3f} x ({min(ratios):.3f}-{max(ratios):.3f}), "
        f"aim {AIM}{': missed' if is_missed else ''}"
    )
    return is_missed


if __name__ == "__main__":
    arguments = [int(each) for each in sys.argv[1:]]
    defaults = (PAIRS_DEFAULT, CREATES_DEFAULT)
    sys.exit(main(*(*arguments, *defaults[len(arguments) :])))
