"""`tally spec`: checked, rendered, explained; the pieces themselves have their own tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tallyard.cli.main import run
from tallyard.render.scheduler import configuration
from tallyard.spec.model import Platform
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

STACK = str(Path(__file__).parents[2] / "stacks" / "local.yaml")
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
    (file,) = tmp_path.iterdir()
    assert yaml.safe_load(file.read_text()) == printed


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The shipped spec in a folder of its own, and no toolchain on this machine."""
    shipped = Path(STACK).parent
    for name in ("platform.yaml", "local.yaml", "versions.yaml"):
        (tmp_path / name).write_text((shipped / name).read_text())
    return tmp_path / "local.yaml"


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


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cluster").write_text("a file where a folder should be")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert str(tmp_path / "cluster") in err


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


def test_a_key_is_explained_in_words_and_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", "nodes.rack"]) == 0
    assert "rack" in capsys.readouterr().out
    assert run(["spec", "explain", "tiers.gold.cards", "-o", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["path"]) == ("Explanation", "tiers.gold.cards")


def test_a_key_that_does_not_exist_ends_with_6_and_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "tirs"]) == 6
    assert 'Did you mean "tiers"?' in capsys.readouterr().err
    assert run(["spec", "explain", "tirs", "--lang", "zh"]) == 6
    err = capsys.readouterr().err
    assert '规格中没有键 "tirs"' in err
    assert '是否想写 "tiers"' in err


@pytest.mark.parametrize("which", ["platform", "overlay"])
def test_the_schema_is_the_committed_one(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "schema", which]) == 0
    committed = Path(__file__).parents[2] / "schemas" / f"{which}.schema.json"
    assert capsys.readouterr().out == committed.read_text()
