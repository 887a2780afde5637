"""`tally spec`: checked and rendered; the pieces themselves have their own tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tallyard.cli.main import run
from tallyard.render.scheduler import configuration
from tallyard.spec.model import Platform
from tests.cli.specs import LOCAL, PLATFORM, STACK
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

QUEUE = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/nlp-training"


def test_what_is_rendered_to_stdout_is_what_is_written_into_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "render", STACK]) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0
    written = [yaml.safe_load(file.read_text()) for file in tmp_path.rglob("*.yaml")]
    assert len(printed) > 30

    def key(each: dict[str, object]) -> str:
        return json.dumps(each, sort_keys=True)

    assert sorted(printed, key=key) == sorted(written, key=key)


def test_the_schedulers_configuration_is_printed_or_written_instead_of_the_objects(
    tmp_path: Path, platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "render", STACK, "--scheduler"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["kind"] == "KubeSchedulerConfiguration"
    assert printed == configuration(platform)
    arguments = ["spec", "render", STACK, "--scheduler", "--output-dir", str(tmp_path)]
    assert run(arguments) == 0
    (file,) = tmp_path.glob("*.yaml")
    assert yaml.safe_load(file.read_text()) == printed


@pytest.fixture
def no_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLYARD_CACHE", str(tmp_path / "empty"))


@pytest.mark.usefixtures("no_chart")
def test_without_kueues_chart_the_rest_is_checked_and_the_gap_is_said(
    spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["spec", "validate", str(spec)]) == 0
    _, *notes = capsys.readouterr().out.splitlines()
    (note,) = notes
    assert note.startswith("  Kueue's kinds not checked")
    assert "`tally lab toolchain`" in note
    monkeypatch.setattr("tallyard.render.priorities._description", lambda *_, **__: 7)
    assert run(["spec", "validate", str(spec)]) == 2
    assert "description" in capsys.readouterr().err


@pytest.mark.usefixtures("no_chart")
def test_without_the_pins_the_missing_file_is_named(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (spec.parent / "versions.yaml").unlink()
    assert run(["spec", "validate", str(spec)]) == 0
    said = capsys.readouterr().out
    assert f"there is no {spec.parent / 'versions.yaml'}" in said
    assert "schemas checked" not in said


def test_pins_that_are_wrong_are_told_with_their_lines(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = spec.parent / "versions.yaml"
    file.write_text(file.read_text().replace("digest: unverified", "digest: latest"))
    assert run(["spec", "validate", str(spec)]) == 2
    err = capsys.readouterr().err
    assert re.search(r"versions\.yaml:\d+: charts\.kueue\.digest: 'latest' is no digest", err)
    assert "Traceback" not in err


def test_the_stacks_of_the_working_folder_count_before_those_of_the_checkout(
    spec: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(["spec", "validate"]) == 0
    assert capsys.readouterr().out.startswith(f"{STACK}: good")
    (elsewhere / "stacks").mkdir()
    for name in ("platform.yaml", "local.yaml", "versions.yaml"):
        (elsewhere / "stacks" / name).write_text((spec.parent / name).read_text())
    assert run(["spec", "validate"]) == 0
    assert capsys.readouterr().out.startswith("stacks/local.yaml: good")


def test_in_a_labs_shell_the_server_is_asked_as_the_one_who_may_apply(
    api_server: ApiServer,
    kubeconfig: WriteKubeconfig,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(api_server.url)))
    monkeypatch.setenv("TALLYARD_KUBE_CONTEXT", "the-administrator")
    arguments = ["spec", "validate", STACK, "--server"]
    assert run(arguments) == 3
    assert 'context "the-administrator" is not in' in capsys.readouterr().err
    assert run([*arguments, "--context", "demo"]) == 0


def test_who_may_not_apply_is_told_of_options_that_the_command_has(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.answers[QUEUE] = refusal(403, 'User "li.wei" cannot patch resource "clusterqueues"')
    path = str(kubeconfig(api_server.url))
    assert run(["spec", "validate", STACK, "--server", "--kubeconfig", path]) == 3
    todo = capsys.readouterr().err.splitlines()[-1]
    assert "a context that may apply the platform with --context" in todo
    assert "-p" not in todo.split()


def test_the_server_is_asked_and_its_refusals_end_with_4(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["spec", "validate", STACK, "--server", "--kubeconfig"]
    path = str(kubeconfig(api_server.url))
    assert run([*arguments, path]) == 0
    assert "the cluster would take them" in capsys.readouterr().out
    api_server.answers[QUEUE] = refusal(422, "spec.cohortName: Invalid value")
    assert run([*arguments, path]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "ClusterQueue nlp-training" in err
    assert "spec.cohortName: Invalid value" in err


def test_a_file_and_an_environment_are_not_both_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "validate", STACK, "-s", "prod"]) == 2
    assert f"write {STACK} or -s prod, not both" in capsys.readouterr().err
    assert run(["spec", "validate", STACK]) == 0


@pytest.mark.parametrize("which", ["platform", "overlay"])
def test_the_schema_is_the_committed_one(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "schema", which]) == 0
    committed = Path(__file__).parents[2] / "schemas" / f"{which}.schema.json"
    assert capsys.readouterr().out == committed.read_text()


def test_one_of_a_kind_is_said_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The small spec without its second project."""
    alone = "\n".join(line for line in PLATFORM.splitlines() if "vision:" not in line)
    for name, text in (("platform.yaml", alone), ("local.yaml", LOCAL)):
        (tmp_path / name).write_text(text)
    assert run(["spec", "validate", str(tmp_path / "local.yaml")]) == 0
    assert re.search(r"good: 4 pools, 1 project, 5 hosts, \d+ objects", capsys.readouterr().out)
