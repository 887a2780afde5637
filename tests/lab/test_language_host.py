"""The stand-in language host: its decisions, and real runs of the engine through it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from pulumi.runtime.proto import language_pb2

from lab import language_host
from lab.toolchain.ensure import Toolchain, ensure, link
from lab.toolchain.found import LANGUAGE_HOST
from lab.toolchain.progress import report_to

VENV = Path(sys.prefix)

PROJECT = """\
name: probe
runtime: {{name: python, options: {{virtualenv: {virtualenv}}}}}
main: infra/
"""
PROGRAM = """\
import pulumi
config = pulumi.Config()
print("hello from the program")
pulumi.export("answer", config.require_int("question") + 1)
pulumi.export("token", config.require_secret("token"))
"""


def _request(**options: object) -> language_pb2.RunRequest:
    info = language_pb2.ProgramInfo(
        root_directory="/w", program_directory="/w/infra", entry_point="."
    )
    request = language_pb2.RunRequest(
        project="tallyard", stack="local", monitor_address="127.0.0.1:1", parallel=16, info=info
    )
    for name, value in options.items():
        setattr(request, name, value)
    return request


def test_the_program_is_run_as_the_executor_wants_it() -> None:
    command = language_host.program_command(
        Path("/v/bin/python"), Path("/t/exec"), "127.0.0.1:2", _request(dryRun=True)
    )
    assert command == (
        "/v/bin/python",
        "-u",
        "/t/exec",
        *("--monitor", "127.0.0.1:1", "--engine", "127.0.0.1:2"),
        *("--project", "tallyard", "--root_directory", "/w", "--stack", "local"),
        *("--pwd", "/w/infra", "--dry_run", "true", "--parallel", "16"),
        ".",
    )


def test_configuration_goes_by_environment_and_the_virtual_environment_first_on_path() -> None:
    request = _request()
    request.config["probe:question"] = "41"
    request.configSecretKeys.append("probe:token")
    environment = language_host.program_environment(
        {"PATH": "/usr/bin"}, Path("/w/.venv/bin/python"), request
    )
    assert environment == {
        "PATH": f"/w/.venv/bin{os.pathsep}/usr/bin",
        "VIRTUAL_ENV": "/w/.venv",
        "PULUMI_CONFIG": '{"probe:question": "41"}',
        "PULUMI_CONFIG_SECRET_KEYS": '["probe:token"]',
    }


def test_the_virtual_environment_is_relative_to_its_own_yaml(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / "policies").mkdir()
    found = language_host.interpreter(tmp_path / "policies", "../.venv")
    assert found.samefile(python)
    assert language_host.interpreter(tmp_path, "") == Path(sys.executable)
    with pytest.raises(language_host.HostError, match=r"names no virtual environment.*make up"):
        language_host.interpreter(tmp_path, "elsewhere")


@pytest.mark.parametrize(
    ("returncode", "error", "bail"),
    [
        (0, "", False),
        (32, "", True),
        (1, "the program ended with exit code 1", False),
        (-signal.SIGKILL, "the program was ended by SIGKILL", False),
    ],
)
def test_the_end_of_a_program_is_told(returncode: int, error: str, bail: bool) -> None:  # noqa: FBT001
    response = language_host.run_response(returncode)
    assert (response.error, response.bail) == (error, bail)


@dataclass(frozen=True)
class Probe:
    """A small project with a state of its own, and the engine on PATH."""

    folder: Path
    environ: Mapping[str, str]

    def command(self, *arguments: str) -> tuple[str, ...]:
        """Return the command line of one run of the engine."""
        return (f"{self.folder.parent}/bin/pulumi", *arguments, "--non-interactive")

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the engine; both of its outputs are in `stdout`."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=dict(self.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the engine as a shell does in the foreground: leading its process group."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=dict(self.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def program(self, text: str) -> None:
        """Write the Pulumi program."""
        (self.folder / "infra").mkdir(exist_ok=True)
        (self.folder / "infra/__main__.py").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    """The real toolchain; its cache makes this quick."""
    made = ensure(report_to())
    if made.language_exec is None:
        # An official Pulumi is on PATH. The stand-in is tested all the same, with a built one.
        own = os.pathsep.join(
            folder
            for folder in os.environ["PATH"].split(os.pathsep)
            if not (Path(folder) / LANGUAGE_HOST).exists()
        )
        made = ensure(report_to(), {**os.environ, "PATH": own})
    return made


@pytest.fixture
def probe(tmp_path: Path, toolchain: Toolchain) -> Probe:
    """The project with an initialised stack `dev`."""
    link(toolchain, tmp_path / "bin")
    for name in ("state", "home", "project"):
        (tmp_path / name).mkdir()
    made = Probe(
        tmp_path / "project",
        {
            "PATH": f"{tmp_path}/bin{os.pathsep}{os.defpath}",
            "HOME": str(tmp_path / "home"),
            "PULUMI_HOME": str(tmp_path / "home/.pulumi"),
            "PULUMI_BACKEND_URL": f"file://{tmp_path}/state",
            "PULUMI_CONFIG_PASSPHRASE": "public",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        },
    )
    relative = os.path.relpath(VENV, made.folder)
    (made.folder / "Pulumi.yaml").write_text(PROJECT.format(virtualenv=relative), encoding="utf-8")
    made.program(PROGRAM)
    for arguments in (
        ("stack", "init", "dev"),
        ("config", "set", "question", "41"),
        ("config", "set", "--secret", "token", "hush-hush"),
    ):
        done = made.pulumi(*arguments)
        assert done.returncode == 0, done.stdout
    return made


def test_up_runs_the_program_and_a_preview_then_expects_no_change(probe: Probe) -> None:
    up = probe.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout
    assert "hello from the program" in up.stdout
    assert "answer: 42" in up.stdout
    assert "hush-hush" not in up.stdout
    assert "warning" not in up.stdout.lower()
    assert "from $PATH" not in up.stdout
    again = probe.pulumi("preview", "--expect-no-changes")
    assert again.returncode == 0, again.stdout
    assert "1 unchanged" in again.stdout


def test_an_error_in_the_program_is_shown_and_up_fails(probe: Probe) -> None:
    probe.program("import pulumi\nraise ValueError('the rate is missing')\n")
    up = probe.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode != 0
    assert "ValueError: the rate is missing" in up.stdout
    assert "infra/__main__.py" in up.stdout
    assert "language_host" not in up.stdout


def test_a_missing_virtual_environment_is_one_sentence(probe: Probe) -> None:
    (probe.folder / "Pulumi.yaml").write_text(
        PROJECT.format(virtualenv="nowhere"), encoding="utf-8"
    )
    up = probe.pulumi("preview")
    assert up.returncode != 0
    assert "names no virtual environment" in up.stdout
    assert "Traceback" not in up.stdout


def test_ctrl_c_ends_the_program_without_a_traceback(probe: Probe, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    probe.program(
        "import os, time\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}} ')\n"
        "time.sleep(60)\n"
    )
    process = probe.start("up", "--yes", "--skip-preview")
    deadline = time.monotonic() + 30
    while not (pids.exists() and pids.read_text(encoding="utf-8").endswith(" ")):
        assert time.monotonic() < deadline, "the program did not start"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "update canceled" in out
    assert "Traceback" not in out
    assert "KeyboardInterrupt" not in out
    assert all(_is_gone(int(pid)) for pid in pids.read_text(encoding="utf-8").split())


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_host_whose_engine_was_killed_ends_by_itself(tmp_path: Path) -> None:
    """The engine is a shell here, which is killed while its host waits to be asked."""
    port = tmp_path / "port"
    host = f'"{sys.executable}" "{language_host.__file__}" --exec /nowhere 127.0.0.1:1'
    engine = subprocess.Popen(
        ("sh", "-c", f'{host} >"{port}" & echo $!; wait'), stdout=-1, text=True
    )
    assert engine.stdout is not None
    pid = int(engine.stdout.readline())
    deadline = time.monotonic() + 30
    while not (port.exists() and port.read_text(encoding="utf-8").strip().isdigit()):
        assert time.monotonic() < deadline, "the host told no port"
        time.sleep(0.05)
    engine.kill()
    engine.wait()
    assert _is_gone(pid)


def test_a_policy_pack_is_started_and_its_words_reach_the_person(probe: Probe) -> None:
    """The pack fails at once, which needs no policy library: its output must still be seen."""
    pack = probe.folder / "policies"
    pack.mkdir()
    relative = os.path.relpath(VENV, pack)
    (pack / "PulumiPolicy.yaml").write_text(
        f"runtime: {{name: python, options: {{virtualenv: {relative}}}}}\n", encoding="utf-8"
    )
    (pack / "__main__.py").write_text("raise ValueError('no rule today')\n", encoding="utf-8")
    preview = probe.pulumi("preview", "--policy-pack", "policies")
    assert preview.returncode != 0
    assert "ValueError: no rule today" in preview.stdout
