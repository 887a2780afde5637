"""The first command on a fresh machine, with programs on PATH that behave as told.

`uv` and the Pythons are scripts here: what is under test is what the bootstrap looks for, in
which order it does things, and what it says when they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMON = [
    "awk",
    "bash",
    "cat",
    "chmod",
    "cksum",
    "date",
    "df",
    "dirname",
    "env",
    "grep",
    "ln",
    "mkdir",
    "mv",
    "rm",
    "sh",
    "sleep",
    "tr",
    "touch",
]  # what a bare system has

UV = """#!/bin/sh
case "$1" in
  --version) echo "uv {version}"; exit 0 ;;
esac
echo "$*" >>"{calls}"
{body}
if [ "$1" = venv ]; then
  for last in "$@"; do :; done
  mkdir -p "$last/bin"; touch "$last/pyvenv.cfg"; ln -sf "{python}" "$last/bin/python"
fi
"""


@dataclass(frozen=True)
class FreshMachine:
    """A copy of the checkout, a home and a PATH that holds little."""

    checkout: Path
    home: Path
    programs: Path
    calls: Path

    def program(self, name: str, script: str) -> Path:
        """Put a program on PATH."""
        path = self.programs / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        return path

    def python(self, name: str, version: str, folder: Path | None = None) -> Path:
        """Make a Python that claims a version and is otherwise the one that runs the tests."""
        path = (folder or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'#!/bin/sh\ncase "$2" in *version_info*) echo {version}; exit 0 ;; esac\n'
            f'exec "{sys.executable}" "$@"\n',
            encoding="utf-8",
        )
        path.chmod(0o755)
        return path

    def uv(self, version: str = "0.13.9", body: str = "") -> None:
        """Put a uv on PATH that records what it is asked."""
        python = self.python("venv-python", "3.13", self.home)
        self.program("uv", UV.format(version=version, calls=self.calls, body=body, python=python))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the bootstrap."""
        return subprocess.Popen(
            ("bash", str(self.checkout / "lab/bootstrap.sh"), *arguments),
            env={"PATH": str(self.programs), "HOME": str(self.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the bootstrap to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def uv_calls(self) -> list[str]:
        """Return what uv was asked, but for its version."""
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> FreshMachine:
    made = FreshMachine(*(tmp_path / name for name in ("checkout", "home", "bin", "calls")))
    (made.checkout / "lab").mkdir(parents=True)
    (made.checkout / "requirements").mkdir()
    made.home.mkdir()
    made.programs.mkdir()
    shutil.copy(ROOT / "lab/bootstrap.sh", made.checkout / "lab")
    shutil.copy(ROOT / "pyproject.toml", made.checkout)
    for lock in ("lock.txt", "bootstrap.txt"):
        shutil.copy(ROOT / "requirements" / lock, made.checkout / "requirements")
    for name in COMMON:
        found = shutil.which(name, path=os.defpath + os.pathsep + os.environ["PATH"])
        assert found, f"this system has no {name}"
        (made.programs / name).symlink_to(found)
    return made


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a failed run ends with, checked for being all that it says."""
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("bootstrap: ")]
    assert len(lines) == 1, done.stderr
    assert done.stderr.endswith(f"{lines[0]}\n")
    return lines[0]


def test_without_a_python_it_says_how_to_get_one(machine: FreshMachine) -> None:
    text = sentence(machine.run())
    assert "Python 3.13 (or 3.12) was not found" in text
    assert "uv python install 3.13" in text


def test_an_old_python_is_not_taken(machine: FreshMachine) -> None:
    machine.python("python3", "3.11")
    assert "was not found" in sentence(machine.run())


def test_a_shim_that_exits_127_is_passed_over(machine: FreshMachine) -> None:
    machine.program("python3.13", "#!/bin/sh\necho 'pyenv: not installed' >&2\nexit 127\n")
    other = machine.python("python3.12", "3.12")
    machine.uv()
    assert machine.run().returncode == 0
    assert machine.uv_calls()[0] == (
        f"venv --no-project --clear --python {other} {machine.checkout}/.venv"
    )


def test_python_3_13_in_the_pyenv_folder_goes_before_3_12_on_path(machine: FreshMachine) -> None:
    machine.python("python3.12", "3.12")
    folder = machine.home / ".pyenv/versions/3.13.0/bin"
    newer = machine.python("python3.13", "3.13", folder)
    machine.uv()
    assert machine.run().returncode == 0
    assert f"--python {newer} " in machine.uv_calls()[0]


def test_a_python_that_uv_manages_is_found(machine: FreshMachine) -> None:
    folder = machine.home / ".local/share/uv/python/cpython-3.12.9-linux-x86_64-gnu/bin"
    managed = machine.python("python3.12", "3.12", folder)
    machine.uv()
    assert machine.run().returncode == 0
    assert f"--python {managed} " in machine.uv_calls()[0]


def test_packages_come_from_the_lock_by_hash_and_then_the_project(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    assert machine.run().returncode == 0
    python = machine.checkout / ".venv/bin/python"
    assert machine.uv_calls()[1:] == [
        f"pip sync --python {python} --compile-bytecode --require-hashes requirements/lock.txt",
        f"pip install --python {python} --no-deps --no-build-isolation --editable .",
    ]


def test_a_second_run_does_nothing_until_a_lock_changes(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    assert machine.run().returncode == 0
    first = machine.uv_calls()
    again = machine.run()
    assert (again.returncode, again.stderr) == (0, "")
    assert machine.uv_calls() == first
    with (machine.checkout / "requirements/lock.txt").open("a", encoding="utf-8") as lock:
        lock.write("# changed\n")
    assert machine.run().returncode == 0
    assert len(machine.uv_calls()) == len(first) + 2  # the environment itself is kept


def test_a_python_without_venv_and_no_uv_is_one_sentence(machine: FreshMachine) -> None:
    machine.program(
        "python3.13",
        '#!/bin/sh\ncase "$2" in *version_info*) echo 3.13; exit 0 ;; *ensurepip*) exit 1 ;; esac\n'
        f'exec "{sys.executable}" "$@"\n',
    )
    text = sentence(machine.run())
    assert "lacks the modules venv and ensurepip" in text
    assert "apt install python3.13-venv" in text


def test_an_old_uv_on_path_is_not_used(machine: FreshMachine) -> None:
    """Without ensurepip a private uv cannot be made either, which shows that it was tried."""
    machine.program(
        "python3.13",
        '#!/bin/sh\ncase "$2" in *version_info*) echo 3.13; exit 0 ;; *ensurepip*) exit 1 ;; esac\n'
        f'exec "{sys.executable}" "$@"\n',
    )
    machine.uv(version="0.4.30")
    assert "lacks the modules" in sentence(machine.run())
    assert machine.uv_calls() == []


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("error: No space left on device (os error 28)", "the disk is full"),
        ("cause: dns error: failed to lookup address", "the package index cannot be reached"),
        ("error: Hash mismatch for `rich==15.0.0`", "hash stands in the lock"),
        ("error: Permission denied (os error 13)", "may not be written by this user"),
        ("error: something else", "see the log for the reason"),
    ],
)
def test_a_failing_installation_is_one_sentence_with_its_log(
    machine: FreshMachine, message: str, told: str
) -> None:
    machine.python("python3.13", "3.13")
    machine.uv(body=f"[ $1 = pip ] && {{ echo '{message}' >&2; exit 2; }}")
    text = sentence(machine.run())
    assert told in text
    log = Path(text.rsplit("Log: ", 1)[1])
    assert message in log.read_text(encoding="utf-8")
    machine.uv()  # mended: the next run goes on
    assert machine.run().returncode == 0


def test_a_broken_virtual_environment_is_made_anew(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    assert machine.run().returncode == 0
    (machine.checkout / ".venv/bin/python").unlink()
    done = machine.run()
    assert done.returncode == 0
    assert "broken or old; making it anew" in done.stderr
    assert len([call for call in machine.uv_calls() if call.startswith("venv ")]) == 2


def test_a_folder_that_is_no_virtual_environment_is_left_alone(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    (machine.checkout / ".venv").mkdir()
    (machine.checkout / ".venv/thesis.txt").write_text("mine", encoding="utf-8")
    assert "is in the way: it is no virtual environment" in sentence(machine.run())
    assert (machine.checkout / ".venv/thesis.txt").read_text(encoding="utf-8") == "mine"


def test_a_cache_that_cannot_be_made_is_one_sentence(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    (machine.home / ".cache").write_text("a file, not a folder", encoding="utf-8")
    assert "name another in TALLYARD_CACHE" in sentence(machine.run())


def test_of_two_at_once_one_waits_and_finds_all_done(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv(body='[ "$1" = venv ] && sleep 2')
    both = [machine.start(), machine.start()]
    told = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("waiting for it" in text for text in told) == 1
    assert len([call for call in machine.uv_calls() if call.startswith("venv ")]) == 1


def test_without_a_home_the_cache_must_be_named(machine: FreshMachine, tmp_path: Path) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    script = ("bash", str(machine.checkout / "lab/bootstrap.sh"))
    environ = {"PATH": str(machine.programs)}
    done = subprocess.run(script, env=environ, text=True, capture_output=True, check=False)
    assert "name a folder of yours in TALLYARD_CACHE" in sentence(done)
    assert done.stderr.count("\n") == 1
    environ["TALLYARD_CACHE"] = str(tmp_path / "named")
    done = subprocess.run(script, env=environ, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "named" / "logs").iterdir())


def test_what_a_failed_installation_of_uv_left_is_removed(machine: FreshMachine) -> None:
    """Its own at once, that of one that was killed at the next run."""
    machine.program(
        "python3.13",
        '#!/bin/sh\ncase "$*" in *version_info*) echo 3.13; exit 0 ;; *ensurepip*) exit 0 ;;\n'
        '  "-m venv"*) mkdir -p "$3/bin"; exit 1 ;; esac\n'
        f'exec "{sys.executable}" "$@"\n',
    )
    folder = machine.home / ".cache/tallyard/bootstrap"
    killed = folder / "123-456.new.99"
    killed.mkdir(parents=True)
    assert "making a private folder for uv failed" in sentence(machine.run())
    assert list(folder.iterdir()) == []


def test_a_stamp_that_cannot_be_removed_is_one_sentence(machine: FreshMachine) -> None:
    """As on a read-only disk: `rm` says the same of a folder in its way, to root as well."""
    machine.python("python3.13", "3.13")
    machine.uv()
    assert machine.run().returncode == 0
    stamp = machine.checkout / ".venv/.tallyard-stamp"
    stamp.unlink()
    stamp.mkdir()
    done = machine.run()
    assert "may not be changed by this user" in sentence(done)
    assert "rm:" not in done.stderr


def test_the_newest_twenty_logs_are_kept(machine: FreshMachine) -> None:
    machine.python("python3.13", "3.13")
    machine.uv()
    logs = machine.home / ".cache/tallyard/logs"
    logs.mkdir(parents=True)
    for number in range(30):
        (logs / f"bootstrap-202501{number:02d}T000000-1.log").touch()
    (logs / "etcd-x.log").touch()
    assert machine.run().returncode == 0
    left = sorted(path.name for path in logs.glob("bootstrap-2025*"))
    assert left == [f"bootstrap-202501{number:02d}T000000-1.log" for number in range(10, 30)]
    assert (logs / "etcd-x.log").exists()
