"""What holds for every command: its streams, its signals, and a sentence when all is broken."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TALLY = (sys.executable, "-m", "tallyard.cli.main")


def _run(shell: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `tally` in a shell that arranges its streams; `$@` is the command."""
    return subprocess.run(
        ("bash", "-c", shell, "bash", *TALLY, *arguments),
        env={**os.environ, "LC_ALL": "C.UTF-8", **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("spec", "--help")])
def test_a_full_disk_under_the_output_is_one_sentence(arguments: tuple[str, ...]) -> None:
    done = _run('"$@" >/dev/full', *arguments)
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written (No space left on device)\n"


def test_that_sentence_is_also_told_in_chinese() -> None:
    done = _run('"$@" >/dev/full', "--version", LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
    assert done.stderr.endswith("错误： 无法写出结果（No space left on device）\n")


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    done = _run('"$@" | head -1; exit ${PIPESTATUS[0]}', "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("form", ["json", "github"])
def test_a_spec_that_is_refused_stays_refused_when_nobody_reads_on(
    form: str, tmp_path: Path
) -> None:
    spec = tmp_path / "local.yaml"
    spec.write_text("base: none.yaml\nnodes: 1\n")
    arguments = ("spec", "validate", str(spec), "--error-format", form)
    done = _run('"$@" | true; exit ${PIPESTATUS[0]}', *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(closed: str) -> None:
    assert _run(f'"$@" {closed}', "--version").returncode == 0
    assert _run(f'"$@" {closed}', "no-such-command").returncode == 2


def test_a_file_that_is_opened_never_becomes_a_closed_stream(tmp_path: Path) -> None:
    """Without a stand-in it would take the number, and be written to by mistake."""
    script = (
        "from tallyard.cli import main\n"
        "def run(argv):\n"
        f"    file = open({str(tmp_path / 'file')!r}, 'w')\n"
        "    print('a result', flush=True)\n"
        "    return file.fileno()\n"
        "main.run = run\n"
        "main.main()\n"
    )
    done = subprocess.run(
        ("bash", "-c", '"$@" >&- 2>&-', "bash", sys.executable, "-c", script), check=False
    )
    assert done.returncode > 2
    assert (tmp_path / "file").read_text() == ""


def test_errors_that_cannot_be_written_change_no_exit_code() -> None:
    assert _run('"$@" 2>/dev/full', "no-such-command").returncode == 2


def test_what_an_encoding_has_no_sign_for_is_escaped() -> None:
    done = _run(
        '"$@"', "lab", "status", "--name", "nobody", "--lang", "zh", PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 6
    assert "\\u" in done.stdout


def test_a_damaged_virtual_environment_is_one_sentence() -> None:
    """A package's folder was deleted."""
    script = (
        "import sys\nsys.modules['cyclopts'] = None\n"
        "from tallyard.cli import main\nsys.argv = ['tally', 'queue']\nmain.main()\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", script),
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the virtual environment is damaged" in done.stderr
    assert done.stderr.endswith("remove .venv, run make again\n")
