from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallyard.cli import pins as command
from tallyard.cli.exit_codes import ExitCode
from tallyard.registry.client import Limits
from tallyard.spec.versions import read_versions
from tests.registry.fake import Answer, FakeRegistry, image_index, manifest

PINS = """\
# What is deployed.
kubernetes: {{version: 1.36.3, floor: "1.36", reason: r}}
charts:
  app:
    source: oci://{host}/charts/app
    version: 1.0.0+one  # a plus
    digest: {chart}
    floor: 1.0.0
    reason: r
images:
  app:
    source: {host}/team/app
    version: v1
    digest: {image}
    floor: v1
    reason: r
"""


def _file(
    tmp_path: Path, host: str, *, chart: str = "unverified", image: str = "unverified"
) -> Path:
    file = tmp_path / "versions.yaml"
    file.write_text(PINS.format(host=host, chart=chart, image=image), encoding="utf-8")
    return file


def _fill(registry: FakeRegistry) -> tuple[str, str]:
    """Put both in the registry and return their digests, the chart's first."""
    chart = registry.put("charts/app", "1.0.0_one", manifest())
    image = registry.put("team/app", "v1", image_index())
    return chart.digest, image.digest


@contextmanager
def _untouched(file: Path) -> Iterator[None]:
    before = (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino)
    yield
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert list(file.parent.iterdir()) == [file]


def test_unverified_pins_are_filled_and_every_other_line_stays(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    chart, image = _fill(registry)
    file = _file(tmp_path, registry.host)
    assert command.pins(file, check=False, limits=limits) == ExitCode.OK
    assert file.read_text() == PINS.format(host=registry.host, chart=chart, image=image)
    assert read_versions(file).unverified() == ()
    said = capsys.readouterr()
    assert [line.split() for line in said.out.splitlines()] == [
        ["PIN", "VERSION", "DIGEST", "WAS"],
        ["charts.app", "1.0.0+one", chart, "unverified"],
        ["images.app", "v1", image, "unverified"],
    ]
    assert said.err == f"{file}: wrote the digest of charts.app, images.app.\n"


def test_a_second_run_changes_nothing(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    chart, image = _fill(registry)
    file = _file(tmp_path, registry.host, chart=chart, image=image)
    with _untouched(file):
        assert command.pins(file, check=False, limits=limits) == ExitCode.OK
        assert command.pins(file, check=True, limits=limits) == ExitCode.OK
    said = capsys.readouterr()
    assert said.out.count("the same") == 4
    assert "all 2 digests are as the registries have them" in said.err


def test_check_writes_nothing_and_says_that_something_would_change(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    chart, image = _fill(registry)
    file = _file(tmp_path, registry.host, chart=chart)
    with _untouched(file):
        assert command.pins(file, check=True, limits=limits) == ExitCode.CHANGES
    said = capsys.readouterr()
    assert image in said.out
    assert "images.app would change" in said.err


def test_one_lookup_that_fails_keeps_the_whole_file_as_it_was(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    chart, _ = _fill(registry)
    del registry.contents["team/app", "v1"]
    file = _file(tmp_path, registry.host)
    with _untouched(file):
        assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
    said = capsys.readouterr()
    assert chart in said.out
    assert "not looked up" in said.out
    assert f"{file}:13: images.app.version: {registry.host}/team/app:v1: there is no" in said.err
    assert "Check `source` and `version`" in said.err
    assert f"{file} was not changed: 1 of 2 lookups failed." in said.err


def test_every_lookup_that_fails_is_told_at_once(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.put("charts/app", "1.0.0_one", image_index())
    file = _file(tmp_path, registry.host)
    with _untouched(file):
        assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{file}:5: charts.app.source: " in said.err
    assert "not a Helm chart" in said.err
    assert f"{file}:13: images.app.version: " in said.err


def test_a_verified_tag_that_moved_is_an_error_and_nothing_is_written(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    _, old = _fill(registry)
    file = _file(tmp_path, registry.host, image=old)
    new = registry.put("team/app", "v1", image_index("other content")).digest
    with _untouched(file):
        assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
        assert command.pins(file, check=True, limits=limits) == ExitCode.FAILED
    said = capsys.readouterr()
    assert said.out.splitlines()[2].split()[2:] == [new, old]
    assert f"{file}:14: images.app.digest: THE TAG HAS MOVED" in said.err
    assert f"was verified as {old} and is {new} now" in said.err
    assert "--accept-moved" in said.err


def test_a_moved_tag_is_taken_when_a_person_says_so(
    registry: FakeRegistry, tmp_path: Path, limits: Limits
) -> None:
    chart, old = _fill(registry)
    file = _file(tmp_path, registry.host, image=old)
    new = registry.put("team/app", "v1", image_index("other content")).digest
    with _untouched(file):
        accepted = command.pins(file, check=True, accept_moved=True, limits=limits)
        assert accepted == ExitCode.CHANGES
    assert command.pins(file, check=False, accept_moved=True, limits=limits) == ExitCode.OK
    assert file.read_text() == PINS.format(host=registry.host, chart=chart, image=new)


def test_a_wrong_digest_of_the_registrys_is_never_written(
    registry: FakeRegistry, tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    _fill(registry)
    registry.claimed = image_index("another").digest
    file = _file(tmp_path, registry.host)
    with _untouched(file):
        assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
    assert "Do not pin it" in capsys.readouterr().err


def test_without_a_network_there_is_one_sentence(
    tmp_path: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        # Bound and not listening: nobody else can open the port, and nobody answers.
        taken.bind(("127.0.0.1", 0))
        file = _file(tmp_path, f"127.0.0.1:{taken.getsockname()[1]}")
        with _untouched(file):
            assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
    said = capsys.readouterr()
    assert said.out == ""
    (sentence,) = said.err.splitlines()
    assert f"{file} was not changed: no registry can be reached (127.0.0.1: " in sentence
    assert sentence.endswith("then run it again.")


def test_silence_ends_with_the_code_for_a_timeout_and_is_waited_for_once(
    registry: FakeRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _fill(registry)
    registry.hang = True
    file = _file(tmp_path, registry.host)
    with _untouched(file):
        code = command.pins(file, check=False, limits=Limits(read_seconds=0.2))
    assert code == ExitCode.TIMEOUT
    assert len(registry.requests) == 1
    assert capsys.readouterr().err.count("did not answer in time") == 2


def test_a_busy_registry_that_recovers_is_no_error(
    registry: FakeRegistry, tmp_path: Path, limits: Limits
) -> None:
    _fill(registry)
    registry.instead.append(Answer(503))
    file = _file(tmp_path, registry.host)
    assert command.pins(file, check=False, limits=limits) == ExitCode.OK


def test_every_source_that_cannot_be_looked_up_is_told_before_anything_is_asked(
    registry: FakeRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path, registry.host)
    text = file.read_text().replace("/team/app", "/Team/app").replace("/charts/app", "")
    file.write_text(text)
    with _untouched(file):
        assert command.pins(file, check=False) == ExitCode.USAGE
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[:2] for line in said] == [
        [f"{file}:5", "charts.app.source"],
        [f"{file}:12", "images.app.source"],
    ]
    assert registry.requests == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"kubernetes: [", "versions.yaml"),
        (b"kubernetes: 1\n", "kubernetes"),
        (b"\xff\xfe", "is not UTF-8"),
        (
            b"kubernetes: {version: '1', floor: '1', reason: r}\ncharts: {}\nimages: {}\n",
            "nothing to pin",
        ),
    ],
)
def test_a_file_that_holds_no_pins_is_a_fault_of_the_file(
    content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "versions.yaml"
    file.write_bytes(content)
    with _untouched(file):
        assert command.pins(file, check=False) == ExitCode.USAGE
    assert why in capsys.readouterr().err


def test_a_file_that_is_not_there_is_said_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.pins(tmp_path / "none.yaml", check=False) == ExitCode.USAGE
    assert "there is no such file" in capsys.readouterr().err


def test_an_edit_during_the_lookup_is_not_overwritten(
    registry: FakeRegistry,
    tmp_path: Path,
    limits: Limits,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _fill(registry)
    file = _file(tmp_path, registry.host)
    answer = registry.answer
    edited = file.read_text() + "# A person was here.\n"

    def edit_then_answer(request: object) -> Answer:
        file.write_text(edited)
        return answer(request)  # type: ignore[arg-type]

    monkeypatch.setattr(registry, "answer", edit_then_answer)
    assert command.pins(file, check=False, limits=limits) == ExitCode.FAILED
    assert file.read_text() == edited
    assert "edited it during the lookup" in capsys.readouterr().err


def _start(file: Path, *flags: str, before: str = "") -> subprocess.Popen[str]:
    """Start the command as `make pins` does, after some Python of a test's own."""
    program = f"{before}\nfrom tallyard.cli.main import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", program, "spec", "pins", str(file), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_the_command_runs_as_a_process_of_its_own(registry: FakeRegistry, tmp_path: Path) -> None:
    chart, image = _fill(registry)
    file = _file(tmp_path, registry.host)
    out, _ = (checked := _start(file, "--check")).communicate(timeout=60)
    assert checked.returncode == 7
    assert image in out
    _, err = (written := _start(file)).communicate(timeout=60)
    assert (written.returncode, err.count("wrote")) == (ExitCode.OK, 1)
    assert file.read_text() == PINS.format(host=registry.host, chart=chart, image=image)


def test_a_disk_without_room_leaves_the_file_and_no_rest_behind(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    """The process may write no file beyond ten bytes, as if the disk were full."""
    _fill(registry)
    file = _file(tmp_path, registry.host)
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))"
    with _untouched(file):
        _, err = (run := _start(file, before=full)).communicate(timeout=60)
    assert run.returncode == ExitCode.FAILED
    assert "cannot be written: File too large" in err
    assert "Traceback" not in err


def test_ctrl_c_leaves_the_file_and_says_so(registry: FakeRegistry, tmp_path: Path) -> None:
    registry.hang = True
    file = _file(tmp_path, registry.host)
    with _untouched(file):
        run = _start(file)
        end = time.monotonic() + 60
        while not registry.requests and time.monotonic() < end:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    assert run.returncode == ExitCode.CANCELLED
    assert err.startswith("cancelled; ")


def test_an_unknown_flag_is_a_fault_of_the_command_line(tmp_path: Path) -> None:
    _, err = (run := _start(tmp_path / "versions.yaml", "--force")).communicate(timeout=60)
    assert run.returncode == ExitCode.USAGE
    assert "--force" in err
