"""`tally spec`: checked, rendered, explained; the pieces themselves have their own tests."""

# ruff: noqa: RUF001 - Chinese has its own punctuation

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from rich.cells import cell_len

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
    (file,) = tmp_path.glob("*.yaml")
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
    (tmp_path / "file").write_text("a file where a folder should be")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path / "file")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"where: {tmp_path / 'file'}" in err


def test_files_of_objects_that_are_no_longer_asked_for_are_removed(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "manifests"
    assert run(["spec", "render", str(spec), "--output-dir", str(folder)]) == 0
    assert f"42 objects written to {folder} (0 removed)" in capsys.readouterr().out
    (folder / "notes.txt").write_text("mine")
    assert run(["spec", "render", str(spec), "--scheduler", "--output-dir", str(folder)]) == 0
    platform = spec.parent / "platform.yaml"
    content = yaml.safe_load(platform.read_text())
    del content["projects"]["vision"]
    platform.write_text(yaml.safe_dump(content))
    capsys.readouterr()
    assert run(["spec", "render", str(spec), "--output-dir", str(folder)]) == 0
    told = re.search(r"(\d+) objects written to .* \((\d+) removed\)", capsys.readouterr().out)
    assert told is not None
    assert int(told[1]) + int(told[2]) == 42
    assert int(told[2]) > 0
    # What is not of this run stays: a person's file, and the scheduler's.
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"notes.txt", "kube-scheduler.yaml"} <= left
    assert not any("vision" in name for name in left)
    assert not (folder / "vision").exists()
    assert len(left) == int(told[1]) + 3


def test_a_folder_that_holds_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(":")[0].strip() for line in err.splitlines()] == [
        *("error", "where", "why", "do"),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_list_of_files_that_leads_out_of_the_folder_removes_nothing_there(
    tmp_path: Path,
) -> None:
    folder, outside = tmp_path / "manifests", tmp_path / "thesis.txt"
    folder.mkdir()
    outside.write_text("mine")
    (folder / ".tallyard-manifests").write_text(f"../thesis.txt\n{outside}\n")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    assert outside.read_text() == "mine"


def test_a_list_that_is_no_text_names_no_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".tallyard-manifests").write_bytes(b"\xff\xfe\nnlp\x00/x.yaml\n")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0


def test_what_is_written_does_not_follow_links_out_of_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "manifests", tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.txt").write_text("mine")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    one = folder / "nlp" / "localqueue-training.yaml"
    content = one.read_text()
    one.unlink()
    one.symlink_to(outside / "thesis.txt")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    assert (one.is_symlink(), one.read_text()) == (False, content)
    shutil.rmtree(folder / "nlp")
    (folder / "nlp").symlink_to(outside)
    capsys.readouterr()
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 1
    assert "this folder is a link" in capsys.readouterr().err
    assert [path.name for path in outside.iterdir()] == ["thesis.txt"]
    assert (outside / "thesis.txt").read_text() == "mine"


def test_two_renders_into_one_folder_do_not_mix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
        assert "another render writes into this folder now" in capsys.readouterr().err
    finally:
        os.close(handle)
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0


def test_a_list_that_could_not_be_written_whole_is_the_old_one(tmp_path: Path) -> None:
    """As on a full disk: nothing is left half written."""
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0
    marker = tmp_path / ".tallyard-manifests"
    before = marker.read_text()
    (tmp_path / ".tallyard-manifests.new").mkdir()
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
    assert marker.read_text() == before


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


def test_a_key_is_explained_in_words_and_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", "nodes.rack"]) == 0
    assert "rack" in capsys.readouterr().out
    assert run(["spec", "explain", "tiers.gold.cards", "-o", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["path"]) == ("Explanation", "tiers.gold.cards")


def test_a_name_with_dots_is_understood_without_quotes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for key in ("projects.nlp.users.li.wei.logins", 'projects.nlp.users."li.wei".logins'):
        assert run(["spec", "explain", key]) == 0
        assert capsys.readouterr().out.startswith('projects.nlp.users."li.wei".logins  (list')


def test_without_a_key_those_of_both_files_are_listed_with_their_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "tiers         Classes of quota." in lines
    assert "nodes         The hosts of the environment." in lines
    assert any(line.startswith("base ") for line in lines)


def test_what_an_author_names_is_neither_required_nor_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "tiers.gold"]) == 0
    assert "required" not in capsys.readouterr().out
    assert run(["spec", "explain", "nodes[3].rack"]) == 0
    assert "required:        yes" in capsys.readouterr().out


def test_a_key_is_explained_in_chinese_and_its_labels_line_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "pools.training.borrowed", "--lang", "zh"]) == 0
    head, text, *facts = capsys.readouterr().out.splitlines()
    assert head == "pools.training.borrowed  keep 或 reclaim"
    assert text == "  队列借用的卡在所有者需要时如何处理。"
    labels = [fact.partition("：")[0].strip() for fact in facts]
    assert labels == ["必填", "默认值", "默认值来源", "作用", "因环境而异"]
    columns = {cell_len(re.match(r" +.*?： +", fact)[0]) for fact in facts}  # type: ignore[index]
    assert columns == {15}


def test_on_a_terminal_a_chinese_fact_goes_on_below_its_first_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert run(["spec", "explain", "price.uneven", "--lang", "zh", "--no-color"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= 50
    first = next(line for line in lines if line.startswith("  作用："))
    after = lines[lines.index(first) + 1]
    assert after.startswith(" " * 15)
    assert after[15] != " "


def test_every_label_in_english_lines_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", "pools.training.borrowed"]) == 0
    _, _, *facts = capsys.readouterr().out.splitlines()
    assert len(facts) == 5
    assert {len(re.match(r" +.*?: +", fact)[0]) for fact in facts} == {19}  # type: ignore[index]


def test_of_the_keys_below_one_the_first_sentence_is_told_in_either_language(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "tiers.gold"]) == 0
    out = capsys.readouterr().out
    assert "cards       Pool, model, number: the cards that each project of the tier owns.\n" in out
    assert "max-time    The longest time limit that a job may have, e.g. 72h.\n" in out
    assert run(["spec", "explain", "tiers.gold", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert "  下级键：\n键          说明\n" in out
    assert "cards       资源池、型号、数量：该等级的每个项目自有的卡。\n" in out
    assert "max-time    作业可设的最长时限，例如 72h。\n" in out


def test_the_keys_of_both_files_are_listed_in_chinese(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "--lang", "zh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "tiers         各个配额等级。" in lines
    assert "nodes         该环境的主机。" in lines
    assert not [line for line in lines if line.endswith(".")]


def test_the_data_of_a_key_keep_their_names_and_have_texts_of_the_language(
    capsys: pytest.CaptureFixture[str],
) -> None:
    read = {}
    for lang in ("en", "zh"):
        assert run(["spec", "explain", "price.wait", "-o", "json", "--lang", lang]) == 0
        read[lang] = json.loads(capsys.readouterr().out)
    assert list(read["en"]) == list(read["zh"])
    assert (read["en"]["text"], read["zh"]["text"]) == ("What waiting costs.", "等待如何计费。")
    assert list(read["zh"]["keyTexts"]) == ["charged", "up-to"]
    assert all(text.endswith("。") for text in read["zh"]["keyTexts"].values())


@pytest.mark.parametrize(
    ("key", "place"), [("hosts", "nodes[].hosts"), ("weight", "tiers.NAME.weight")]
)
def test_a_key_without_its_path_is_answered_with_its_place(
    key: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "explain", key]) == 6
    assert f"do you mean {place}?" in capsys.readouterr().err


@pytest.mark.parametrize("key", ['"', ".", "..", "[", ".pools", "pools.", 'pools."', "a..b"])
def test_what_is_no_path_is_no_key(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", key]) == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert f'no key "{key}"' in err


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("pools.training.burts", "burst"),
        ("tiers.gold.max-tme", "max-time"),
        ("accelerators.A100.rat", "rate"),
        ("projects.nlp.users.anna.logn", "logins"),
    ],
)
def test_a_mistyped_key_below_a_name_is_no_part_of_the_name(
    key: str, nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "explain", key]) == 6
    assert f'Did you mean "{nearest}"?' in capsys.readouterr().err


@pytest.mark.parametrize("key", ["pools.training.sharing.x", "pools.training.models.0"])
def test_the_name_of_a_pool_has_no_dots(key: str) -> None:
    assert run(["spec", "explain", key]) == 6


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
