"""`pulumi up` in the lab, with a stand-in for Pulumi that tells what it was given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import processes, stack
from lab.errors import LabError
from lab.folder import lab_folder, write_private
from lab.report import Silence
from lab.stack import Stack
from lab.state import StateFile

Make = Callable[[str], Stack]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a stack whose Pulumi is a shell script."""

    def make(script: str) -> Stack:
        program = tmp_path / "bin" / "pulumi"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{script}\n')
        program.chmod(0o755)
        folder = lab_folder("demo", tmp_path / "labs")
        return Stack(folder, StateFile(folder), program.parent, tmp_path)

    return make


class _Listener(Silence):
    def __init__(self) -> None:
        self.told: list[str] = []

    def step(self, text: str) -> None:
        self.told.append(text)


def test_progress_is_told_line_by_line_and_kept_in_the_log(make: Make) -> None:
    made = make("echo ' +  Namespace nlp created'; echo; echo ' +  Cohort cluster created' >&2")
    listener = _Listener()
    made.up(listener)
    expected = ["+  Namespace nlp created", "+  Cohort cluster created"]
    # Once for the stack's creation and once for the up itself.
    assert listener.told == expected * 2
    assert made.log.read_text().count("Namespace nlp created") == 2


def test_the_stack_is_created_once_and_the_up_asks_nothing(make: Make, tmp_path: Path) -> None:
    made = make(
        'mkdir -p "${PULUMI_BACKEND_URL#file://}/.pulumi/stacks/tallyard"\n'
        'touch "${PULUMI_BACKEND_URL#file://}/.pulumi/stacks/tallyard/local.json"'
    )
    made.up(Silence())
    made.up(Silence())
    calls = [line.split(" ", 2)[2] for line in (tmp_path / "calls").read_text().splitlines()]
    up = "up --stack local --yes --skip-preview --non-interactive"
    assert calls == ["stack select --create local", up, up]


def test_a_shell_works_as_the_operator_and_only_pulumi_is_told_the_administrators_context(
    make: Make,
) -> None:
    made = make("env | grep -E 'KUBE|PULUMI|TALLYARD'")
    for name in ("admin", "li.wei", "operator"):
        write_private(made.folder.kubeconfigs / name, b"{}")
    listener = _Listener()
    made.up(listener)
    told = dict(line.split("=", 1) for line in listener.told)
    root = made.folder.root
    people = [root / "kubeconfigs" / name for name in ("operator", "li.wei", "admin")]
    assert told["KUBECONFIG"] == ":".join(map(str, people))
    assert told["TALLYARD_KUBE_CONTEXT"] == "tallyard-demo"
    assert told["PULUMI_BACKEND_URL"] == f"file://{root / 'pulumi'}"
    assert told["PULUMI_HOME"] == str(root / "pulumi-home")
    assert told["TALLYARD_KUEUE_MANAGER"] == str(root / "kueue" / "manager.json")
    assert told["TALLYARD_LAB"] == "demo"


def test_a_failure_names_its_causes_its_log_and_the_way_on(make: Make) -> None:
    made = make("echo 'error: no such flavor'; echo 'error: no such flavor'; exit 3")
    with pytest.raises(LabError) as caught:
        made.up(Silence())
    assert caught.value.why == "error: no such flavor"
    assert caught.value.log == made.log
    assert "run `up` again" in caught.value.advice


def test_a_failure_of_several_lines_is_told_whole_and_of_a_traceback_its_last(make: Make) -> None:
    log = "error: two digests:\\n  charts.kueue\\n\\nerror: unhandled\\n  Traceback (\\n  KeyError: 1\\n"
    with pytest.raises(LabError) as caught:
        make(f"printf '{log}'; exit 1").up(Silence())
    assert caught.value.why == "error: two digests: charts.kueue; error: unhandled KeyError: 1"


def test_a_failure_of_an_earlier_run_is_not_told_again(make: Make, tmp_path: Path) -> None:
    made = make(f"test -e {tmp_path}/second || {{ echo 'error: old'; exit 1; }}; exit 7")
    with pytest.raises(LabError, match="old"):
        made.up(Silence())
    (tmp_path / "second").touch()
    with pytest.raises(LabError) as caught:
        made.up(Silence())
    assert caught.value.why == "it ended with 7"


def test_what_the_check_raises_ends_pulumi(make: Make) -> None:
    made = make("exec sleep 60")
    seen: list[processes.Process] = []

    def check() -> None:
        if process := made.file.current().process(stack.NAME):
            seen.append(process)
            raise LabError("Kueue's manager ended", why="x", advice="y")

    begin = time.monotonic()
    with pytest.raises(LabError, match="manager ended"):
        made.up(Silence(), check)
    assert time.monotonic() - begin < 10
    # The shell has become `sleep`, under the same pid.
    assert processes.identify(stack.NAME, seen[0].pid, made.log) is None
    assert made.file.current().process(stack.NAME) is None


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_lock_is_broken_only_when_its_owner_is_gone(
    make: Make, tmp_path: Path, *, is_alive: bool
) -> None:
    made = make("true")
    locks = made.folder.pulumi / ".pulumi" / "locks" / "organization" / "tallyard" / "local"
    locks.mkdir(parents=True)
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    pid = os.getpid() if is_alive else ended.pid
    (locks / "x.json").write_text(json.dumps({"pid": pid}))
    made.up(Silence())
    assert ("cancel --stack local --yes" in (tmp_path / "calls").read_text()) is not is_alive


def test_a_shell_that_reads_the_environment_file_works_with_the_lab(make: Make) -> None:
    made = make("true")
    stack.write_environment(made.folder, made.tools)
    command = f". {made.folder.environment}; command -v pulumi; echo $KUBECONFIG; echo $PATH"
    shell = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"PATH": "/usr/bin:/bin"},
        text=True,
        capture_output=True,
        check=True,
    )
    pulumi, kubeconfig, path = shell.stdout.split()
    assert pulumi == str(made.tools / "pulumi")
    assert kubeconfig.split(":")[0] == str(made.folder.kubeconfigs / "operator")
    assert path == f"{made.tools}:{sys.prefix}/bin:/usr/bin:/bin"
