"""`pulumi up` in the lab, with a stand-in for Pulumi that tells what it was given."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab import processes, pulumi_log, stack
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

        self.done_told: list[str] = []

    def step(self, text: str) -> None:
        self.told.append(text)

    def done(self, text: str) -> None:
        self.done_told.append(text)


def test_progress_counts_what_is_done_and_the_log_keeps_all(make: Make) -> None:
    made = make(
        "echo ' +  kubernetes:core/v1:Namespace nlp creating (0s)'; echo\n"
        "echo ' +  kubernetes:core/v1:Namespace nlp created (0.08s)'\n"
        "echo ' ~  kubernetes:core/v1:Service x updated (1s)' >&2"
    )
    listener = _Listener()
    made.up(listener)
    assert [text for text in listener.told if text.startswith("pulumi up: 2 objects, ")]
    # Once for the stack's creation and once for the up itself.
    assert made.log.read_text().count("Namespace nlp created") == 2


def test_the_stack_is_created_once_and_the_up_asks_nothing(make: Make, tmp_path: Path) -> None:
    made = make(
        'backend="${PULUMI_BACKEND_URL#file://}" && backend="${backend%%\\?*}"\n'
        'mkdir -p "$backend/.pulumi/stacks/tallyard"\n'
        'echo "{\\"checkpoint\\": {}}" > '
        '"$backend/.pulumi/stacks/tallyard/local.json"'
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
    made.up(Silence())
    told = dict(line.split("=", 1) for line in made.log.read_text().splitlines())
    root = made.folder.root
    people = [root / "kubeconfigs" / name for name in ("operator", "li.wei", "admin")]
    assert told["KUBECONFIG"] == ":".join(map(str, people))
    assert told["TALLYARD_KUBE_CONTEXT"] == "tallyard-demo"
    assert told["PULUMI_BACKEND_URL"] == f"file://{root / 'pulumi'}?metadata=skip"
    assert told["PULUMI_HOME"] == str(root / "pulumi-home")
    assert told["TALLYARD_KUEUE_MANAGER"] == str(root / "kueue" / "manager.json")
    assert told["TALLYARD_JOBSET_MANAGER"] == str(root / "jobset" / "manager.json")
    assert told["TALLYARD_LAB"] == "demo"
    assert told["KUBECACHEDIR"] == str(root / "kubectl-cache")


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


@pytest.fixture
def pulumi_at_work(tmp_path: Path) -> Iterator[int]:
    """The pid of a program that is called as Pulumi is."""
    program = tmp_path / "other" / "pulumi"
    program.parent.mkdir()
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    with subprocess.Popen([str(program), "60"]) as process:
        yield process.pid
        process.kill()


def _lock(made: Stack, content: str) -> Path:
    lock = made.folder.pulumi / ".pulumi/locks/organization/tallyard/local/x.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(content)
    return lock


def test_a_lock_whose_pulumi_works_is_respected(make: Make, pulumi_at_work: int) -> None:
    made = make("true")
    lock = _lock(made, json.dumps({"pid": pulumi_at_work}))
    made.up(Silence())
    assert lock.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', "\x00\xff", None])
def test_a_lock_of_nobody_and_of_another_program_is_removed(
    make: Make, content: str | None
) -> None:
    """The last one names a pid that is another program's by now: this one's."""
    made = make("true")
    lock = _lock(made, json.dumps({"pid": os.getpid()}) if content is None else content)
    made.up(Silence())
    assert not lock.exists()


def _damaged(made: Stack, content: str | None) -> Path:
    state = made.folder.pulumi / ".pulumi/stacks/tallyard/local.json"
    state.parent.mkdir(parents=True)
    if content is not None:
        state.write_text(content)
    return state


@pytest.mark.parametrize("content", ["", '{"version":3,"checkp', "[]", None])
def test_in_place_of_a_damaged_state_the_one_before_is_taken(
    make: Make, content: str | None
) -> None:
    made = make("true")
    state = _damaged(made, content)
    before = '{"checkpoint": {"latest": {"resources": []}}}'
    state.with_name("local.json.bak").write_text(before)
    made.up(Silence())
    assert state.read_text() == before


@pytest.mark.parametrize("content", ["", None])
def test_one_of_before_the_first_up_takes_its_place_only_while_that_is_not_done(
    make: Make, content: str | None
) -> None:
    """It knows of nothing: what the spec has lost since would stay in the cluster for ever."""
    made = make("true")
    state = _damaged(made, content)
    state.with_name("local.json.bak").write_text('{"checkpoint": {}}')
    with pytest.raises(LabError, match="cannot be read"):
        made.up(Silence())
    made.file.update(lambda found: replace(found, begun="a hash"))
    made.up(Silence())
    assert state.read_text() == '{"checkpoint": {}}'


def test_a_first_up_that_left_half_a_file_and_no_state_is_simply_done_again(make: Make) -> None:
    made = make("true")
    state = _damaged(made, None)
    state.with_name("local.json.bak").write_text("{")
    made.file.update(lambda found: replace(found, begun="a hash"))
    made.up(Silence())


def test_a_damaged_state_with_none_before_it_is_told_with_what_helps(
    make: Make, tmp_path: Path
) -> None:
    made = make("true")
    state = _damaged(made, "")
    state.with_name("local.json.bak").write_text("{")
    with pytest.raises(LabError, match="cannot be read") as caught:
        made.up(Silence())
    assert caught.value.log == state
    assert "`tally lab down`, then `tally lab up`" in caught.value.advice
    assert not (tmp_path / "calls").exists()


# A command that is ended as `tally` is. Its Pulumi takes its time to end.
COMMAND = """
import sys
from pathlib import Path
from lab.folder import LabFolder
from lab.report import Silence
from lab.stack import Stack
from lab.state import StateFile
from tallyard.cli import main
class Told(Silence):
    def done(self, text):
        print(text, file=sys.stderr)
base, tools = map(Path, sys.argv[1:])
folder = LabFolder(base, "demo")
main.run = lambda _: Stack(folder, StateFile(folder), tools, base).up(Told())
main.main()
"""


@dataclass(frozen=True)
class _Interrupted:
    """A command that was interrupted, and interrupted again."""

    code: int
    told: str
    seconds: float
    pulumi: processes.Process


def _interrupt(made: Stack, runs: Path, *more: signal.Signals) -> _Interrupted:
    """Run a command until its Pulumi works, and send it Ctrl-C and then the others."""
    command = [sys.executable, "-c", COMMAND, str(made.folder.base), str(made.tools)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 30
            while not runs.exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            pulumi = made.file.current().process(stack.NAME)
            assert pulumi is not None
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            for number in more:
                time.sleep(0.3)
                process.send_signal(number)
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    return _Interrupted(process.returncode, told, time.monotonic() - begin, pulumi)


STOPPING = "stopping: Pulumi finishes what is under way; Ctrl-C again ends it at once\n"


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_leave_pulumi_behind(
    make: Make, tmp_path: Path, second: signal.Signals
) -> None:
    made = make(
        f"trap 'sleep 1; touch {tmp_path}/ended; exit 1' TERM\n"
        f"touch {tmp_path}/runs; while :; do sleep 0.05; done"
    )
    seen = _interrupt(made, tmp_path / "runs", second, second)
    assert (seen.code, seen.told) == (8, STOPPING + "cancelled\n")
    assert (tmp_path / "ended").exists()
    assert not processes.is_running(seen.pulumi)
    assert made.file.current().process(stack.NAME) is None


def test_the_first_ctrl_c_says_what_is_waited_for_and_the_second_ends_it(
    make: Make, tmp_path: Path
) -> None:
    """A Pulumi that is deaf to being asked, as one that waits for a request is."""
    made = make(f"trap '' TERM INT; touch {tmp_path}/runs; while :; do sleep 0.05; done")
    seen = _interrupt(made, tmp_path / "runs", signal.SIGINT)
    assert (seen.code, seen.told) == (8, STOPPING + "cancelled\n")
    assert seen.seconds < stack.CANCEL_SECONDS_MAX / 2
    assert not processes.is_running(seen.pulumi)
    assert made.file.current().process(stack.NAME) is None


def test_after_one_ctrl_c_pulumi_is_ended_in_any_case(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "CANCEL_SECONDS_MAX", 0.3)
    made = make("trap '' TERM; while :; do sleep 0.05; done")
    seen: list[processes.Process] = []
    listener = _Listener()

    def check() -> None:
        if process := made.file.current().process(stack.NAME):
            seen.append(process)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.up(listener, check)
    assert listener.done_told == [STOPPING.strip()]
    assert not processes.is_running(seen[0])


def test_an_up_that_waits_names_what_for_in_its_progress_and_in_its_error(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spec has lost a project whose job still runs."""
    monkeypatch.setattr(pulumi_log, "QUIET_SECONDS", 0.2)
    monkeypatch.setattr(stack, "UP_SECONDS_MAX", 1.0)
    kind = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
    made = make(
        'case "$*" in *select*) exit;; esac\n'
        f"echo ' -  {kind} clusterqueue/vision-training deleting (0s)'; exec sleep 60"
    )
    listener = _Listener()
    with pytest.raises(LabError, match="does not end") as caught:
        made.up(listener)
    waits = "waits for ClusterQueue vision-training to be deleted"
    assert any(re.fullmatch(rf"pulumi up: 0 objects, \d s; {waits}", t) for t in listener.told)
    assert caught.value.why.endswith(f"; it {waits}")
    assert "docs/operations.md" in caught.value.advice


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
