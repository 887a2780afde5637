"""Which cluster, as whom."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallyard.cluster import kubeconfig as kubeconfigs
from tallyard.cluster.faults import ClusterError, Fault
from tests.cluster.conftest import WriteKubeconfig


def _refused(path: Path | str, context: str | None = None) -> ClusterError:
    with pytest.raises(ClusterError) as raised:
        kubeconfigs.choose(context, str(path))
    return raised.value


def test_the_current_context_is_taken_with_its_namespace(kubeconfig: WriteKubeconfig) -> None:
    chosen = kubeconfigs.choose(None, str(kubeconfig("https://a:1", namespace="nlp")))
    assert (chosen.cluster.server, chosen.context.namespace) == ("https://a:1", "nlp")


def test_of_several_files_the_first_that_names_something_wins(
    kubeconfig: WriteKubeconfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KUBECONFIG=one:two, as kubectl reads it."""
    files = [kubeconfig("https://one:1", name="one"), kubeconfig("https://two:1", name="two")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(str(file) for file in files))
    assert kubeconfigs.choose().cluster.server == "https://one:1"
    assert kubeconfigs.choose("two").cluster.server == "https://two:1"


def test_files_that_a_kubeconfig_names_are_beside_it(
    kubeconfig: WriteKubeconfig, tmp_path: Path
) -> None:
    path = kubeconfig("https://a:1", cluster={"certificate-authority": "ca.crt"})
    assert kubeconfigs.choose(None, str(path)).cluster.certificate_auth == str(tmp_path / "ca.crt")


def test_there_is_no_file(tmp_path: Path) -> None:
    error = _refused(tmp_path / "none")
    assert error.fault is Fault.NO_KUBECONFIG
    assert error.parts().where.endswith("none")


def test_in_the_shell_of_a_lab_that_is_gone_the_lab_is_named_and_not_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "demo" / "kubeconfigs" / name for name in ("operator", "li.wei")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, files)))
    monkeypatch.setenv("TALLYARD_LAB", "demo")
    with pytest.raises(ClusterError) as raised:
        kubeconfigs.choose()
    parts = raised.value.parts()
    assert (parts.what, parts.todo) == ("the lab demo is not up", "`tally lab up` starts it")
    assert str(tmp_path) not in f"{parts.where}{parts.what}{parts.why}"
    # A file of somebody's own is not the lab's.
    assert _refused(tmp_path / "mine").fault is Fault.NO_KUBECONFIG


def test_a_context_that_is_in_none_of_several_files_does_not_list_the_files(
    kubeconfig: WriteKubeconfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [kubeconfig("https://one:1", name="one"), kubeconfig("https://two:1", name="two")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(str(file) for file in files))
    with pytest.raises(ClusterError) as raised:
        kubeconfigs.choose("nosuch")
    assert raised.value.parts().where == "KUBECONFIG (2 files)"
    assert raised.value.parts().why == "it has: one, two"


def test_a_context_that_is_not_there_is_answered_with_those_that_are(
    kubeconfig: WriteKubeconfig,
) -> None:
    error = _refused(kubeconfig("https://a:1", name="demo"), "prod")
    assert error.fault is Fault.NO_CONTEXT
    assert "prod" in error.parts().what
    assert "demo" in error.parts().why


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "just text",
        "a: [b",
        "clusters: [{}]",
        "clusters: 5",
        "current-context: x\ncontexts: [{name: x, context: {cluster: y}}]",
        "current-context: x\ncontexts: [{name: x, context: 5}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\nclusters: [{name: y, cluster: {}}]",
        "\x00",
    ],
)
def test_a_file_that_is_no_kubeconfig_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    error = _refused(path)
    assert error.fault is Fault.BAD_KUBECONFIG
    assert error.parts().where.startswith(str(path))
    assert error.parts().why


def test_a_yaml_error_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("clusters:\n  - name: a\n :b")
    assert _refused(path).parts().where == f"{path}:3:2"
