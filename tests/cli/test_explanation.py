# ruff: noqa: RUF001 - Chinese has its own punctuation
"""`tally spec explain`: a key as people type it, and what they read of it."""

from __future__ import annotations

import json
import re
import sys

import pytest
from rich.cells import cell_len

from tallyard.cli.main import run


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
