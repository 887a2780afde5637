"""What a change breaks in what renders the policies is found by rules that do not ask it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.policies.checkout import Edit, edited_checkout

_POLICIES = "tallyard/render/admission/policies.py"
_ASKED = """
from pathlib import Path
from policies.planned import Planned
from policies.rules import review
from tallyard.render.platform import render
from tallyard.spec.load import load
from tallyard.spec.versions import read_versions

platform = load(Path("stacks/local.yaml")).platform
versions = read_versions(Path("stacks/versions.yaml"))
planned = Planned((), tuple(render(platform)), platform, versions, is_lab=True)
for found in review(planned, ["policies-bound"]).open:
    print(found.text.english)
"""


def _told(folder: Path, edits: Iterable[Edit]) -> list[str]:
    """Return what is told of a copy of the code, by the copy's own rules."""
    copy = edited_checkout(folder, edits)
    done = subprocess.run(
        [sys.executable, "-c", _ASKED],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_of_the_code_as_it_is_nothing_is_told(tmp_path: Path) -> None:
    assert _told(tmp_path, ()) == []


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            Edit(
                _POLICIES,
                '    f"!(request.userInfo.username in',
                '    f"false && !(request.userInfo.username in',
            ),
            "has another condition under which it is asked: remove it",
        ),
        (
            Edit(
                _POLICIES,
                '("batch", "v1", ("jobs", "cronjobs"), _ALWAYS)',
                '("batch", "v9", ("jobs", "cronjobs"), _ALWAYS)',
            ),
            (
                "does not look at CREATE batch/v1 cronjobs, CREATE batch/v1 jobs, UPDATE batch/v1 "
                "cronjobs, UPDATE batch/v1 jobs: add them"
            ),
        ),
    ],
    ids=["who is looked at", "in which version"],
)
def test_what_the_code_renders_otherwise_is_told_of_both_policies(
    edit: Edit, told: str, tmp_path: Path
) -> None:
    assert _told(tmp_path, [edit]) == [
        f"MutatingAdmissionPolicy tallyard-stamp {told}",
        f"ValidatingAdmissionPolicy tallyard-lock {told}",
    ]
