"""Twelve example changes: what a reviewer reads of each, word for word, and its SARIF."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema
import pytest

from tallyard.cli import review_steps
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.main import run
from tallyard.cli.views import spec_diff_objects
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform
from tests.cli.reviewed import DATA, Reviewing, same_as_file, with_pins
from tests.cli.specs import Captured, Repo
from tests.cluster.conftest import ApiServer
from tests.spec.specs import SOON, dated

LOCAL = "stacks/local.yaml"
VISION = "  vision: {tier: bronze, users: {zhao.min: {}}}\n"
# The project's own line is gone; what is left of it is where it stood.
GONE = ("queues-removed", "projects:")
OVERRIDE = "overrides: [{max-time: 12h, until: UNTIL, reason: a paper}]"


@dataclass(frozen=True)
class Example:
    """A change: what is replaced in which file, after something was before; its exit code.

    `lines` are what it violates, each a rule or a code of the spec's own checks, with a text of
    the line that causes it.
    """

    name: str
    code: int = 0
    lines: tuple[tuple[str, str], ...] = ()
    platform: tuple[tuple[str, str], ...] = ()
    local: tuple[tuple[str, str], ...] = ()
    stack: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    objects: Callable[[tuple[Manifest, ...]], tuple[Manifest, ...]] | None = None


def other_queue(manifests: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """Let a LocalQueue lead to another ClusterQueue, which no edit of the spec does."""
    spec = {"spec": {"clusterQueue": "nlp-inference"}}
    return tuple(
        Manifest({**each.object, **spec})
        if (each.kind, each.namespace, each.name) == ("LocalQueue", "nlp", "training")
        else each
        for each in manifests
    )


def image_by_tag(manifests: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """Add a Deployment as the charts have them; the spec itself asks for none."""
    container = {"name": "manager", "image": "registry.example.com/kueue:v0.17.0"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "kueue", "namespace": "kueue-system"},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
    }
    return (*manifests, Manifest(deployment))


EXAMPLES = (
    Example("tier-down", platform=(("training: {A100: 8}", "training: {A100: 4}"),)),
    Example("project-removed", lines=2 * (GONE,), platform=((VISION, ""),)),
    Example("price-up", platform=(("rate: 30,", "rate: 40,"),)),
    Example(
        "pool-shrunk",
        platform=(("A100: 8}", "A100: 6}"),),
        local=(('"a100-[00-01]"', "a100-00"), ('rack: "r[0-1]"', "rack: r0")),
    ),
    Example(
        "accelerator-added",
        platform=(
            (
                "  RTX: {",
                "  H100: {vendor: nvidia, memory: 80Gi, rate: 90, origin: rule of thumb}\n  RTX: {",
            ),
            ("training: {models: [A100],", "training: {models: [A100, H100], default-model: A100,"),
            ("training: {A100: 8}", "training: {A100: 8, H100: 8}"),
        ),
        local=(
            (
                "nodes:\n",
                (
                    "nodes:\n  - {hosts: h100-00, pool: training, model: H100, cards: 8, cpu: 128, "
                    "memory: 2Ti, block: b0, rack: r0}\n"
                ),
            ),
        ),
    ),
    Example(
        "priority-raised",
        code=5,
        lines=2 * (("objects-replaced", "name: training, value: 2000"),),
        platform=(("name: training, value: 1000", "name: training, value: 2000"),),
    ),
    Example("queue-replaced", code=5, objects=other_queue),
    Example("image-by-tag", code=5, objects=image_by_tag),
    Example(
        "secret-in-plain-value",
        code=5,
        lines=(("secrets-hidden", "tallyard:registry-token"),),
        stack=(
            ("local.yaml\n", "local.yaml\n  tallyard:registry-token: glpat-0123456789abcdef012\n"),
        ),
    ),
    Example(
        "override-expired",
        before=(("vision: {tier: bronze, ", f"vision: {{tier: bronze, {OVERRIDE}, "),),
        platform=(("UNTIL", "2026-01-31"),),
    ),
    Example("user-added", platform=(("chen.yu: {}}", "chen.yu: {}, wang.fang: {}}"),)),
    Example("nothing", platform=(("\ntiers:", "\n# What projects get.\ntiers:"),)),
)
WAIVED = Example(
    "project-removed-and-waived",
    lines=2 * (GONE,),
    platform=(
        (VISION, ""),
        (
            "\ntiers:",
            (
                "\nwaivers:\n  - {rule: queues-removed, objects: [ClusterQueue/vision-*], "
                f"until: {SOON}, reason: its jobs have ended}}\ntiers:"
            ),
        ),
    ),
)
# Further ones that rules find, to see how many have their line.
FURTHER = (
    Example(
        "pins-unverified",
        lines=2 * (("pins-verified", "digest: unverified"),),
        versions=((f"sha256:{64 * 'a'}", "unverified"), (f"sha256:{64 * 'b'}", "unverified")),
    ),
    Example(
        "queue-of-a-tier-removed",
        lines=(("queues-removed", "nlp: {tier: gold"),),
        platform=((", inference: {RTX: 4}", ""),),
    ),
    Example(
        "preemptible-above-others",
        lines=(("priorities-ordered", "name: urgent, value: 20000"),),
        platform=(
            (
                "preemptible: true}",
                "preemptible: true}\n  - {name: urgent, value: 20000, preemptible: true}",
            ),
        ),
    ),
)
# What the rules would refuse is refused by the spec's own checks, if the spec alone causes it:
# quota-within-capacity, priorities-ordered, projects-granted (twice), projects-in-table.
OF_THE_SPEC = (
    Example(
        "more-cards-than-there-are",
        lines=(("SPEC501", "gold: {weight: 4"),),
        platform=(("training: {A100: 8}", "training: {A100: 32}"),),
    ),
    Example(
        "lender-outranked",
        lines=(("SPEC308", "elastic: {borrows-from"),),
        platform=(("value: 10, preemptible", "value: 3000, preemptible"),),
    ),
    Example(
        "no-tier",
        lines=(("SPEC104", "vision: {users"),),
        platform=(("vision: {tier: bronze, ", "vision: {"),),
    ),
    Example(
        "no-limit-of-time",
        lines=(("SPEC104", "bronze: {weight"),),
        platform=((", max-time: 8h", ""),),
    ),
    Example(
        "no-user",
        lines=(("SPEC112", "users: {}"),),
        platform=(("users: {zhao.min: {}}", "users: {}"),),
    ),
)
EVERY = (*EXAMPLES, WAIVED, *FURTHER)


def make(example: Example, reviewing: Reviewing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the change in the working tree."""
    repo = reviewing.repo
    if example.before:
        repo.change(*((old, new.replace("UNTIL", "2100-12-31")) for old, new in example.before))
        repo.commit()
    changes = tuple((o.replace("UNTIL", "2100-12-31"), new) for o, new in example.platform)
    repo.change(*changes)
    repo.change(*example.local, name=LOCAL)
    repo.change(*example.stack, name="stacks/Pulumi.local.yaml")
    repo.change(*example.versions, name="stacks/versions.yaml")
    if example.objects:
        rendered = _second_side_changed(example.objects)
        for module in (review_steps, spec_diff_objects):
            monkeypatch.setattr(module, "render", rendered)


def _second_side_changed(
    change: Callable[[tuple[Manifest, ...]], tuple[Manifest, ...]],
) -> Callable[[Platform], tuple[Manifest, ...]]:
    sides: list[Platform] = []

    def rendered(platform: Platform) -> tuple[Manifest, ...]:
        if not any(platform is each for each in sides):
            sides.append(platform)
        # A command asks for the side before first.
        is_before = len(sides) % 2 == 1 and platform is sides[-1]
        before = is_before or any(platform is each for each in sides[::2])
        return render(platform) if before else change(render(platform))

    return rendered


@pytest.mark.parametrize("example", [*EXAMPLES, WAIVED], ids=lambda each: each.name)
def test_what_a_reviewer_reads_of_a_change(
    example: Example,
    reviewing: Reviewing,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    make(example, reviewing, monkeypatch)
    text = reviewing.review("-o", "markdown")
    assert reviewing.codes == [example.code]
    same_as_file(dated(text), f"{example.name}.md", request)


def test_the_same_in_chinese(
    reviewing: Reviewing, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    make(WAIVED, reviewing, monkeypatch)
    text = reviewing.review("-o", "markdown", lang="zh")
    same_as_file(dated(text), f"{WAIVED.name}.zh.md", request)


def test_every_kept_comment_is_of_an_example() -> None:
    kept = {file.name for file in (DATA / "changes").iterdir()}
    names = {f"{each.name}.md" for each in (*EXAMPLES, WAIVED)}
    assert len(EXAMPLES) == 12
    assert kept == names | {f"{WAIVED.name}.zh.md"}


@cache
def schema() -> Any:
    return json.loads((DATA / "sarif-2.1.0.schema.json").read_text())


@pytest.mark.parametrize("example", EVERY, ids=lambda each: each.name)
def test_its_sarif_is_valid_and_leads_to_files_of_the_repository(
    example: Example, reviewing: Reviewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(example, reviewing, monkeypatch)
    log = reviewing.sarif()
    jsonschema.Draft202012Validator(
        schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(log)
    (run,) = log["runs"]
    assert {"error", "warning"} >= {each["level"] for each in run["results"]}
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        file = reviewing.repo.root / place["artifactLocation"]["uri"]
        lines = file.read_text().splitlines()
        assert place["region"]["startLine"] <= len(lines)
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]


def test_nine_of_ten_violations_that_a_spec_causes_have_the_line_that_causes_them(
    repo: Repo,
    api_server: ApiServer,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of all examples but those in which the objects differ from what the spec asks for."""
    with_pins(repo)
    base = repo.git("rev-parse", "HEAD").strip()
    sample = [each for each in (*EVERY, *OF_THE_SPEC) if not each.objects]
    missed, number = [], 0
    for example in sample:
        repo.git("checkout", "--quiet", "--force", base)
        repo.git("branch", "--force", "main", base)
        repo.git("checkout", "--quiet", "main")
        make(example, Reviewing(repo, api_server, capsys), monkeypatch)
        found = violations(repo, capsys)
        # Each is found, and nothing else.
        assert [name for name, _ in found] == [name for name, _ in example.lines], example.name
        number += len(found)
        for (_, line), (name, text) in zip(found, example.lines, strict=True):
            missed += [] if text in line else [(example.name, name)]
    assert number >= 15
    assert len(missed) / number <= 0.1, missed


def violations(repo: Repo, capsys: Captured) -> list[tuple[str, str]]:
    """Return what a review finds: the rule or code, and the whole line that it points at."""
    code = run(["review", "main", "-o", "json", "--no-cluster", "--error-format", "json"])
    told = capsys.readouterr()
    if code == ExitCode.USAGE:
        found = [(each["code"], each) for each in json.loads(told.out or told.err)["items"]]
    else:
        found = [(each["rule"], each) for each in json.loads(told.out)["findings"]]
    return [(name, _line(repo, each)) for name, each in found]


def _line(repo: Repo, at: Mapping[str, Any]) -> str:
    """Return the line that something points at; an empty one where it points at none."""
    if not at["file"] or not at["line"]:
        return ""
    lines = (repo.root / str(at["file"])).read_text().splitlines()
    return lines[int(at["line"]) - 1]
