"""`tally spec`: checked, rendered, explained; the pieces themselves have their own tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tallyard.cli.main import run
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

STACK = str(Path(__file__).parents[2] / "stacks" / "local.yaml")
QUEUE = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/nlp-training"


def test_what_is_rendered_to_stdout_is_what_is_written_into_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "render", STACK]) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert run(["spec", "render", STACK, "-o", str(tmp_path)]) == 0
    written = [yaml.safe_load(file.read_text()) for file in tmp_path.rglob("*.yaml")]
    assert len(printed) > 30

    def key(each: dict[str, object]) -> str:
        return json.dumps(each, sort_keys=True)

    assert sorted(printed, key=key) == sorted(written, key=key)


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cluster").write_text("a file where a folder should be")
    assert run(["spec", "render", STACK, "-o", str(tmp_path)]) == 1
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


@pytest.mark.parametrize("which", ["platform", "overlay"])
def test_the_schema_is_the_committed_one(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "schema", which]) == 0
    committed = Path(__file__).parents[2] / "schemas" / f"{which}.schema.json"
    assert capsys.readouterr().out == committed.read_text()
