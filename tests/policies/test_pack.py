"""The policy pack in real previews of a lab, each of a copy of the checkout; nothing is changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lab.folder import CHECKOUT
from policies.pack import policies
from policies.rules import RULES
from tallyard.catalog.rules import RULES as TABLE
from tallyard.catalog.rules import Severity
from tests.policies.checkout import Edit, edited_checkout, preview
from tests.policies.edits import ALLOWED, DENIED
from tests.running_lab import RunningLab

PASSES = "✅ tallyard@"

# What is told of each of what is edited in, and where it comes from.
TOLD = {
    "objects-replaced": (
        "stacks/platform.yaml:28: WorkloadPriorityClass training cannot be changed (value: 10000 → "
        "20000), and `pulumi up` refuses to delete it: give the new one a new name"
    ),
    "priorities-ordered": (
        "stacks/platform.yaml:28: Kueue's priority training is 20000 and the kubelet's is 10000: "
        "make both from the spec"
    ),
    "quota-within-capacity": (
        "stacks/platform.yaml:81: 128 RTX-4090 in pool inference are promised, most of them by "
        "nlp-inference, and 8 are installed: promise less, or say `overcommit`"
    ),
    "grants-kept": (
        "stacks/platform.yaml:94: queue nlp-training has stopPolicy Hold, which the spec does not give "
        "it: make it from the spec"
    ),
    "projects-granted": (
        "stacks/platform.yaml:95: project nlp has no defaults for its pods: give it a tier in the "
        "spec"
    ),
    "projects-in-table": (
        "stacks/platform.yaml:99: the admission policies' table has no project vision: make it from "
        "the spec"
    ),
    "policies-bound": (
        "ValidatingAdmissionPolicyBinding tallyard-lock only tells and lets through: set "
        "validationActions [Deny]"
    ),
    "tenants-fenced": (
        "ClusterRole tallyard:member, which users hold, may write localqueues.kueue.x-k8s.io: take "
        "it out"
    ),
    "images-pinned": (
        "stacks/platform.yaml:69: container controllers of Deployment controllers runs image "
        "registry.example.com/tallyard/controllers:1.0, whose tag can be moved: write its digest, "
        "REPOSITORY:TAG@sha256:DIGEST"
    ),
    "cards-elsewhere": (
        "Pod default/stray is of no project and asks for nvidia.com/gpu: submit it in the namespace "
        "of a project, through its queue"
    ),
    "pins-verified": (
        "stacks/versions.yaml:15: charts.kueue.digest is `unverified`: look it up by `make pins`"
    ),
    "secrets-hidden": (
        "stacks/Pulumi.local.yaml:5: tallyard:registry-token stands in plain text: write it by "
        "`pulumi config set --secret`, or name a Secret that is made beside it, and give out "
        "another one"
    ),
}
# What else one of them is told of: of an object of the spec's, and of one of a chart's.
TOLD_TOO = (
    (
        "stacks/platform.yaml:94: Namespace nlp is not labelled "
        "pod-security.kubernetes.io/enforce=restricted, by which its work is looked at: restore "
        "the label [policies-bound]"
    ),
    (
        "ValidatingWebhookConfiguration kueue-validating-webhook-configuration leaves work out by "
        "matchPolicy Exact: restore it in vclusterqueue.kb.io, vdeployment.kb.io, vjob.kb.io, "
        "vjobset.kb.io, vpod.kb.io, vstatefulset.kb.io, vworkload.kb.io [policies-bound]"
    ),
)
QUEUES_REMOVED = (
    "queue vision-training goes away, and is half deleted until its last job has ended: let its "
    "jobs end first, `tally jobs -p vision` shows them [queues-removed]"
)


def _told(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_shipped_stack_passes(full_lab: RunningLab) -> None:
    done = preview(full_lab, CHECKOUT, "--refresh")
    told = _told(done)
    assert done.returncode == 0, told
    assert PASSES in told
    assert not [name for name in RULES if f"[{name}]" in told]


def test_what_each_rule_denies_stops_the_preview_with_its_place(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    mandatory = {n for n in RULES if TABLE[n].severity is Severity.MANDATORY}
    assert set(TOLD) == mandatory
    done = preview(full_lab, edited_checkout(tmp_path, DENIED), "--refresh")
    told = _told(done)
    assert done.returncode != 0
    assert PASSES not in told
    for name, sentence in TOLD.items():
        assert f"{sentence} [{name}]" in told
        assert TABLE[name].because[0] in told
    for sentence in TOLD_TOO:
        assert sentence in told
    # Of what lands in a project's namespace the API server's own policies say so.
    assert "[queue-named]" in told
    # What is secret is not said once more.
    assert "hunter-2-hunter" not in told


def test_what_each_rule_allows_passes_and_a_queue_that_goes_is_only_told(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    copy = edited_checkout(tmp_path, ALLOWED)
    secret = ("config", "set", "--cwd", str(copy), "--secret", "tallyard:token", "hunter-2-hunter")
    kept = full_lab.pulumi(*secret)
    assert kept.returncode == 0, kept.stderr
    done = preview(full_lab, copy, "--refresh")
    told = _told(done)
    assert done.returncode == 0, told
    assert QUEUES_REMOVED in told
    assert "advisory" in told
    assert "mandatory" not in told
    assert {name for name in RULES if f"[{name}]" in told} == {"queues-removed"}


def test_a_stack_that_has_no_state_yet_is_reviewed_too(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    backend = f"file://{tmp_path}/state"
    copy = edited_checkout(tmp_path, [Edit("templates/validating-binding.yaml.j2", "Deny", "Warn")])
    made = ("stack", "select", "--create", "--cwd", str(copy))
    assert full_lab.pulumi(*made, PULUMI_BACKEND_URL=backend).returncode == 0
    done = preview(full_lab, copy, PULUMI_BACKEND_URL=backend)
    told = _told(done)
    assert done.returncode != 0
    assert f"{TOLD['policies-bound']} [policies-bound]" in told
    assert "objects-replaced" not in told


def test_without_pulumi_on_the_path_one_sentence_says_so(full_lab: RunningLab) -> None:
    path = [each for each in os.environ["PATH"].split(os.pathsep) if not _has_pulumi(each)]
    done = preview(full_lab, CHECKOUT, PATH=os.pathsep.join(path))
    told = _told(done)
    assert done.returncode != 0
    sentence = (
        "what is there now cannot be read (there is no program `pulumi` on the PATH), so it cannot "
        "be told what would be deleted, or deleted and made again: make `pulumi stack export` work "
        "here"
    )
    assert told.count(sentence) == 1


def _has_pulumi(folder: str) -> bool:
    return (Path(folder) / "pulumi").exists()


def test_of_a_spec_that_is_refused_the_program_tells_all_that_is_wrong_and_the_pack_nothing(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    copy = edited_checkout(tmp_path, [Edit("stacks/local.yaml", "nodes:", "nods:")])
    done = preview(full_lab, copy)
    told = _told(done)
    assert done.returncode != 0
    assert 'Did you mean "nodes"?' in told
    assert not [name for name in RULES if f"[{name}]" in told]


@pytest.mark.parametrize("name", RULES)
def test_each_rule_is_a_policy_with_its_reason(name: str) -> None:
    (found,) = [each for each in policies() if each.name == name]
    rule = TABLE[name]
    assert found.description == rule.because[0]
    assert found.enforcement_level is not None
    assert found.enforcement_level.value == str(rule.severity)
    assert (found.url or "") == rule.incident
