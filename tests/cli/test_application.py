"""The command as it is run: exit codes, stdout and stderr apart, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tallyard.cli import errors
from tests.cli.conftest import answers_of
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

ROOT = Path(__file__).parents[2]
TALLY = (sys.executable, "-m", "tallyard.cli.main")
ESCAPE = "\x1b"


def _environment(home: Path, **more: str) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH",) if key in os.environ}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", **more}


def _tally(home: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*TALLY, *argv],
        env=_environment(home, **more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout
    return done


def _four_parts(stderr: str) -> list[str]:
    return [line.split(":")[0].strip() for line in stderr.splitlines()]


@pytest.fixture
def demo(api_server: ApiServer, kubeconfig: WriteKubeconfig, moment: Mapping[str, Any]) -> Path:
    """A kubeconfig for a cluster in the moment of `data/cluster.yaml`, as a user of nlp."""
    api_server.answers |= answers_of(moment)
    return kubeconfig(api_server.url, namespace="nlp")


def test_queue_prints_its_table_on_stdout_and_nothing_else(demo: Path, tmp_path: Path) -> None:
    done = _tally(tmp_path, "queue", KUBECONFIG=str(demo))
    assert (done.returncode, done.stderr) == (0, "")
    assert "24/16" in done.stdout
    assert "waits for 2 more A800-SXM4-80GB in queue nlp-training" in done.stdout
    assert ESCAPE not in done.stdout


def test_queue_as_json_is_one_document(demo: Path, tmp_path: Path) -> None:
    done = _tally(tmp_path, "queue", "-o", "json", KUBECONFIG=str(demo))
    content = json.loads(done.stdout)
    assert (content["apiVersion"], content["kind"]) == ("tally/v1", "QueueList")
    assert [row["name"] for row in content["waiting"]][1:] == ["train-waits", "too-large"]


def test_a_job_shows_its_timeline_and_its_own_events(demo: Path, tmp_path: Path) -> None:
    done = _tally(tmp_path, "jobs", "train-fill", KUBECONFIG=str(demo))
    assert done.returncode == 0
    for word in ("submitted", "reserved", "admitted", "bound", "running", "a800-00, a800-01"):
        assert word in done.stdout
    assert "Pod/train-fill-0" in done.stdout
    assert "Suspended" not in done.stdout


def test_a_job_says_what_it_waited_for_under_its_submission(
    demo: Path, api_server: ApiServer, moment: Mapping[str, Any], tmp_path: Path
) -> None:
    """Kueue's last Pending event of its workload, which stays when the job has run."""
    event = {
        "metadata": {"name": "e9", "namespace": "nlp", "creationTimestamp": "2026-12-01T08:00:00Z"},
        "involvedObject": {"kind": "Workload", "name": "job-train-fill-11111"},
        "reason": "Pending",
        "message": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor training-a800-sxm4-80gb-4d5e6f, 24 more needed",
        "lastTimestamp": "2026-12-01T08:00:00Z",
    }
    api_server.answers["/api/v1/namespaces/nlp/events"] = [*moment["events"], event]
    table = _tally(tmp_path, "jobs", "train-fill", KUBECONFIG=str(demo)).stdout.splitlines()
    (at,) = (number for number, line in enumerate(table) if line.startswith("waited"))
    assert table[at - 1].startswith("submitted")
    assert table[at].endswith("waits for 24 more A800-SXM4-80GB in queue nlp-training")
    whole = _tally(tmp_path, "jobs", "train-fill", "-o", "json", KUBECONFIG=str(demo)).stdout
    (life,) = json.loads(whole)["timelines"]
    assert life["waitedFor"] == "waits for 24 more A800-SXM4-80GB in queue nlp-training"


def test_the_events_of_an_earlier_job_of_the_same_name_are_left_out(
    demo: Path, tmp_path: Path
) -> None:
    done = _tally(tmp_path, "jobs", "train-waits", "-o", "json", KUBECONFIG=str(demo))
    events = json.loads(done.stdout)["events"]
    assert [(event["reason"], event["count"]) for event in events] == [
        ("Suspended", 1),
        ("Pending", 3),
    ]


def test_a_job_that_is_not_there_ends_with_6_and_the_nearest_name(
    demo: Path, tmp_path: Path
) -> None:
    done = _tally(tmp_path, "jobs", "train-wait", KUBECONFIG=str(demo))
    assert (done.returncode, done.stdout) == (6, "")
    assert "did you mean train-waits?" in done.stderr


def test_chinese_by_option_and_by_locale(demo: Path, tmp_path: Path) -> None:
    by_option = _tally(tmp_path, "jobs", "--lang", "zh", KUBECONFIG=str(demo))
    by_locale = _tally(tmp_path, "jobs", KUBECONFIG=str(demo), LC_ALL="zh_CN.UTF-8")
    assert "作业" in by_option.stdout
    assert by_option.stdout.splitlines()[0] == by_locale.stdout.splitlines()[0]


def test_after_a_destroy_the_queues_and_jobs_say_that_there_is_no_platform(
    demo: Path, api_server: ApiServer, tmp_path: Path
) -> None:
    """To whoever is not the administrator, the server only says that they may not."""
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    del api_server.answers[kueue]
    for path in list(api_server.answers):
        api_server.answers[path] = refusal(403, "forbidden")
    for command in ("queue", "jobs"):
        done = _tally(tmp_path, command, KUBECONFIG=str(demo))
        assert (done.returncode, done.stdout) == (6, "")
        assert "Kueue is not installed" in done.stderr
        assert "install the platform first" in done.stderr
        assert "name your own project" not in done.stderr


def test_a_queue_that_is_held_is_told_apart_from_one_that_does_not_work(
    demo: Path, api_server: ApiServer, tmp_path: Path
) -> None:
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    path = f"{kueue}/clusterqueues"
    api_server.answers[path] = [
        {**queue, "spec": {**queue["spec"], "stopPolicy": "HoldAndDrain"}}
        if queue["metadata"]["name"] == "nlp-training"
        else queue
        for queue in api_server.answers[path]
    ]
    told = _tally(tmp_path, "queue", KUBECONFIG=str(demo)).stdout
    assert "training (on hold)" in told
    assert "domestic (inactive)" in told
    assert (
        "training (暂停)" in _tally(tmp_path, "queue", "--lang", "zh", KUBECONFIG=str(demo)).stdout
    )


@pytest.mark.parametrize(
    ("status", "code"),
    [(refusal(401, "Unauthorized"), 3), (refusal(403, "forbidden"), 3), (refusal(500, "no"), 1)],
)
def test_a_cluster_that_refuses(
    demo: Path, api_server: ApiServer, tmp_path: Path, status: dict[str, Any], code: int
) -> None:
    api_server.answers["/apis/kueue.x-k8s.io/v1beta2/namespaces/nlp/localqueues"] = status
    done = _tally(tmp_path, "queue", KUBECONFIG=str(demo))
    assert (done.returncode, done.stdout) == (code, "")
    assert _four_parts(done.stderr) == ["error", "where", "why", "do"]


def test_no_kubeconfig_at_all(tmp_path: Path) -> None:
    done = _tally(tmp_path, "queue")
    assert (done.returncode, done.stdout) == (3, "")
    assert _four_parts(done.stderr) == ["error", "where", "why", "do"]
    assert "KUBECONFIG" in done.stderr


def test_a_kubeconfig_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a: [b")
    done = _tally(tmp_path, "jobs", KUBECONFIG=str(tmp_path / "config"))
    assert (done.returncode, done.stdout) == (3, "")
    assert "it is not YAML" in done.stderr


def test_a_server_that_is_not_there(kubeconfig: WriteKubeconfig, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = kubeconfig(f"https://127.0.0.1:{port}", namespace="nlp")
    done = _tally(tmp_path, "queue", KUBECONFIG=str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing listens" in done.stderr


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("quue",), 'Did you mean "queue"?'),
        (("spec", "rendr"), 'Did you mean "render"?'),
        (("queue", "--projct", "nlp"), "Did you mean --project?"),
        (("queue", "-o", "xml"), "json"),
        (("jobs", "a", "b"), "b"),
        (("lab", "logs"), "component"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_a_way_out(
    tmp_path: Path, argv: tuple[str, ...], said: str
) -> None:
    done = _tally(tmp_path, *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert said.lower() in done.stderr.lower()
    assert "--help" in done.stderr.splitlines()[-1]


def test_a_broken_spec_ends_with_2_and_its_problems_are_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("base: none.yaml\nnods: []\n")
    done = _tally(tmp_path, "spec", "validate", str(tmp_path / "bad.yaml"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "bad.yaml:" in done.stderr


def test_the_shipped_spec_is_good_and_can_be_rendered_into_a_folder(tmp_path: Path) -> None:
    good = _tally(tmp_path, "spec", "validate")
    assert (good.returncode, good.stderr) == (0, "")
    done = _tally(tmp_path, "spec", "render", "--output-dir", str(tmp_path / "out"))
    assert done.returncode == 0
    assert (tmp_path / "out" / "cluster" / "clusterqueue-nlp-training.yaml").is_file()


def test_version_is_quick_to_say_and_does_not_import_the_command_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tallyard.cli.main", "--version"],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("tally ")
    assert "tallyard.cli.main" in done.stderr or "importlib.metadata" in done.stderr
    assert "cyclopts" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(tmp_path: Path, shell: str) -> None:
    done = _tally(tmp_path, "completion", shell)
    assert done.returncode == 0
    for name in ("queue", "jobs", "validate", "toolchain"):
        assert name in done.stdout


def test_colour_is_used_on_request_only_where_no_color_is_not_set(
    demo: Path, tmp_path: Path
) -> None:
    """FORCE_COLOR makes rich believe in a terminal."""
    coloured = _tally(tmp_path, "queue", KUBECONFIG=str(demo), FORCE_COLOR="1")
    assert ESCAPE in coloured.stdout
    for more in ({"NO_COLOR": "1"}, {}):
        argv = ("queue",) if more else ("queue", "--no-color")
        plain = _tally(tmp_path, *argv, KUBECONFIG=str(demo), FORCE_COLOR="1", **more)
        assert f"{ESCAPE}[3" not in plain.stdout


def test_a_fault_of_ours_is_one_sentence_and_a_report(demo: Path, tmp_path: Path) -> None:
    """The server sends a Workload that is none."""
    done = _tally(
        tmp_path,
        "queue",
        KUBECONFIG=str(demo),
        PYTHONPATH=str(_broken(tmp_path)),
    )
    assert (done.returncode, done.stdout) == (255, "")
    assert len(done.stderr.splitlines()) == 1
    report = Path(done.stderr.split()[-1])
    assert report.is_relative_to(tmp_path)
    assert "ZeroDivisionError" in report.read_text()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_a_report_never_goes_through_a_name_that_somebody_has_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder of one's own can be made, so the report lies where everybody may write."""
    (tmp_path / "state").touch()
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    reports = {errors._write_report(ValueError("x"), ["queue"]) for _ in range(3)}
    assert len(reports) == 3
    assert {Path(report) for report in reports} == set(shared.iterdir())


def test_tables_show_what_people_call_a_project_and_json_its_id_too(
    demo: Path, tmp_path: Path
) -> None:
    for command in ("queue", "jobs"):
        table = _tally(tmp_path, command, "-p", "language", KUBECONFIG=str(demo)).stdout
        assert " language " in table
        assert " nlp " not in table
        by_id = _tally(tmp_path, command, "-p", "nlp", "-o", "json", KUBECONFIG=str(demo))
        row = json.loads(by_id.stdout)["items"][0]
        assert (row["project"], row["projectKey"]) == ("nlp", "language")


def test_a_project_that_is_not_there_ends_with_6_and_the_projects_that_are(
    demo: Path, tmp_path: Path
) -> None:
    done = _tally(tmp_path, "queue", "-p", "langauge", KUBECONFIG=str(demo))
    assert (done.returncode, done.stdout) == (6, "")
    assert 'no project "langauge"' in done.stderr
    assert "belong to: language" in done.stderr


def _broken(tmp_path: Path) -> Path:
    """Return a folder that makes the view of queues divide by zero, before anything is printed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import tallyard.cli.views.queue as q\nq.queue_view = lambda *_: 1 / 0\n"
    )
    return tmp_path


def test_ctrl_c_ends_with_8_and_a_sentence(
    demo: Path, api_server: ApiServer, tmp_path: Path
) -> None:
    api_server.delay_seconds = 3.0
    process = subprocess.Popen(
        [*TALLY, "queue"],
        env=_environment(tmp_path, KUBECONFIG=str(demo)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not api_server.asked and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (8, "")
    assert err.startswith("cancelled")
    assert len(err.splitlines()) == 1


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    """`tally spec schema | head -1`."""
    process = subprocess.Popen(
        [*TALLY, "spec", "schema"],
        env=_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 0
