"""A preview by Pulumi: what its events say of policies, and what it says where it fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.folder import LabFolder
from lab.report import Silence
from policies.finding import Finding, Text
from policies.messages import WAIVED
from tallyard.cli import review_preview
from tallyard.cli.review_pack import pack_finding
from tallyard.cli.review_preview import preview
from tallyard.cli.review_verdict import PackFinding, ToldFinding, beside
from tallyard.spec.waiver import Waiver

BECAUSE = "whoever may write to a registry can move a tag to another image"
EVENT = {
    "policyEvent": {
        "resourceUrn": "urn:pulumi:local::tallyard::x::kueue",
        "message": f"<{{%reset%}}>{BECAUSE}\nan image by tag [images-pinned]<{{%reset%}}>\n",
        "policyName": "images-pinned",
        "enforcementLevel": "mandatory",
    }
}
FOUND = PackFinding(
    "images-pinned", "an image by tag [images-pinned]", "urn:pulumi:local::tallyard::x::kueue", True
)

type Fake = Callable[[str], LabFolder]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Give a lab whose `pulumi` is a script; `$EVENTS` is the file of its events."""

    def make(script: str) -> LabFolder:
        folder = LabFolder(tmp_path, "fake")
        folder.tools.mkdir(parents=True)
        program = folder.tools / "pulumi"
        head = 'while [ "$1" != --event-log ]; do shift; done; EVENTS=$2\n'
        program.write_text(f"#!/bin/sh\n{head}{script}\n")
        program.chmod(0o700)
        monkeypatch.setattr("lab.stack.environment", lambda *_: {"PATH": os.environ["PATH"]})
        return folder

    return make


def test_an_event_of_a_policy_is_read_without_colours_and_description() -> None:
    assert pack_finding(json.dumps(EVENT, separators=(",", ":")).encode()) == FOUND


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"policyEvent":{}}', b'{"x":1}'])
def test_another_line_says_nothing_of_a_policy(line: bytes) -> None:
    assert pack_finding(line) is None


def test_a_preview_gives_its_plan_and_what_the_pack_found_once(fake: Fake, tmp_path: Path) -> None:
    event = json.dumps(EVENT, separators=(",", ":"))
    folder = fake(
        f"cat >> $EVENTS <<'E'\n{event}\n{event}\nE\n"
        'echo \'{"steps": [], "diagnostics": [{"severity": "error", "message": '
        '"error: preview failed"}]}\'; exit 1'
    )
    found = preview(folder, tmp_path / "local.yaml", Silence())
    assert found.pack == (FOUND,)
    assert (found.code, found.plan.errors) == (1, ())


def test_what_pulumi_says_where_it_fails_is_kept(fake: Fake, tmp_path: Path) -> None:
    folder = fake(
        'echo \'{"diagnostics": [{"severity": "info#err", "message": "ImportError: x"}]}\'; '
        'echo "error: policy pack failed to start" >&2; exit 1'
    )
    found = preview(folder, tmp_path / "local.yaml", Silence())
    assert found.plan.errors == ("error: policy pack failed to start ImportError: x",)


def test_a_pulumi_that_says_nothing_readable_is_told_in_its_own_words(
    fake: Fake, tmp_path: Path
) -> None:
    folder = fake('echo "error: no stack named local" >&2; exit 1')
    with pytest.raises(LabError) as told:
        preview(folder, tmp_path / "local.yaml", Silence())
    assert "no stack named local" in told.value.why


def test_a_pulumi_that_does_not_end_is_ended(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_preview, "SECONDS_MAX", 0.5)
    folder = fake(f"echo $$ > {tmp_path}/pid; exec sleep 60")
    with pytest.raises(LabError, match="does not end"):
        preview(folder, tmp_path / "local.yaml", Silence())
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_pack_is_only_told_of_what_the_rules_did_not_find() -> None:
    text = Text("an image by tag", "按标签的镜像")
    same = ToldFinding(Finding("images-pinned", text, "Job", "x"), None)
    other = ToldFinding(Finding("pins-verified", text, "Pin", "x"), None)
    assert beside([FOUND], [same]) == ()
    assert beside([FOUND], [other]) == (FOUND,)
    chinese = PackFinding("images-pinned", "a.yaml:3: 按标签的镜像 [images-pinned]", "", True)
    assert beside([chinese], [same]) == ()
    waived = PackFinding(WAIVED, "an image by tag [images-pinned] Waived until then", "", False)
    waiver = Waiver("images-pinned", ("Job/x",), "a mirror", datetime.now(UTC), "waivers[0]")
    assert beside([waived], [same]) == (waived,)
    assert beside([waived], [replace(same, waiver=waiver)]) == ()
