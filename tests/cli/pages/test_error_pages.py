# ruff: noqa: RUF001 - Chinese has its own punctuation
"""A page for each code: what it holds, and what is noticed when it does not hold any more."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tallyard.cli.main import run
from tallyard.cli.pages import error_pages
from tallyard.cli.pages.error_cases import FOLDER, read_all
from tallyard.cli.pages.error_pages import NOT_IN_TEXTS, faults, files, markdown, page, write
from tallyard.cli.pages.made import CHECKOUT
from tallyard.cli.problems import PAGES
from tallyard.spec.messages import meaning
from tallyard.spec.problem import WARNINGS
from tallyard.spec.texts import TEXTS

CASES = read_all()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The slips and their pages in a folder of their own, and one test that names the rest."""
    shutil.copytree(CHECKOUT / FOLDER, tmp_path / FOLDER)
    (tmp_path / "tests" / "test_rest.py").write_text(" ".join(sorted(NOT_IN_TEXTS)))
    write(tmp_path)
    return tmp_path


def new_faults(checkout: Path, before: set[str]) -> list[str]:
    return [fault for fault in faults(checkout) if fault not in before]


def test_the_committed_pages_are_those_that_are_made() -> None:
    committed = {
        file.relative_to(CHECKOUT): file.read_text() for file in (CHECKOUT / PAGES).glob("*")
    }
    assert committed == files(CASES)


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_a_page_says_what_a_code_means_and_what_to_do(code: str) -> None:
    text = markdown(page(code, CASES))
    unescaped = re.sub(r"\\([*_<\[\]])", r"\1", text)
    assert text.startswith(f"# {code}: ")
    assert f"\n> {meaning(code)}\n" in unescaped
    assert f"\n> {meaning(code, 'zh')}\n" in unescaped
    assert ("\nA warning: " in text) == (code in WARNINGS)
    assert ("## Right" in text) != ("## What to do" in text)
    assert ("## Wrong" in text) == (code not in NOT_IN_TEXTS)


def test_the_index_lists_every_code_once_under_its_hundred() -> None:
    index = error_pages.index()
    assert re.findall(r"^\| \[(SPEC\d{3})\]\(\1\.md\)", index, re.MULTILINE) == sorted(TEXTS)
    assert re.findall(r"^## (\d)xx: \w", index, re.MULTILINE) == sorted({c[4] for c in TEXTS})


def test_a_page_that_was_changed_lost_or_left_over_is_named(checkout: Path) -> None:
    before = set(faults(checkout))
    (checkout / PAGES / "SPEC101.md").write_text("mine\n")
    (checkout / PAGES / "SPEC102.md").unlink()
    (checkout / PAGES / "SPEC999.md").write_text("old\n")
    assert new_faults(checkout, before) == [
        "docs/errors/SPEC101.md is stale",
        "docs/errors/SPEC102.md is missing",
        "docs/errors/SPEC999.md is left over: there is no such code",
    ]
    write(checkout)
    assert new_faults(checkout, before) == []


def test_a_code_that_no_slip_shows_is_named(checkout: Path) -> None:
    before = set(faults(checkout))
    for case in CASES:
        if "SPEC401" in case.codes:
            (checkout / FOLDER / case.file.name).unlink()
    assert "no file of tests/data/spec/broken shows SPEC401" in new_faults(checkout, before)


def test_a_code_that_no_slip_can_show_needs_a_test(checkout: Path) -> None:
    before = set(faults(checkout))
    (checkout / "tests" / "test_rest.py").write_text(" ".join(sorted(NOT_IN_TEXTS - {"SPEC005"})))
    assert new_faults(checkout, before) == ["no test names SPEC005"]


def test_a_slip_that_expects_what_is_no_code_is_named(checkout: Path) -> None:
    before = set(faults(checkout))
    (checkout / FOLDER / "local-x.yaml").write_text("# en: local.yaml:1:1  No. [SPEC098]\n")
    told = new_faults(checkout, before)
    assert told == ["local-x.yaml expects SPEC098, which is no code"]


def test_a_code_that_crowds_out_the_others_is_named(checkout: Path) -> None:
    before = set(faults(checkout))
    for number in range(9):
        text = "# en: local.yaml:1:1  No. [SPEC404]\n# zh: local.yaml:1:1  否。 [SPEC404]\n"
        (checkout / FOLDER / f"local-zz-{number}.yaml").write_text(text)
    assert any(
        re.fullmatch(r"\d+ files show SPEC404 first; at most 8 may", fault)
        for fault in new_faults(checkout, before)
    )


def test_a_fix_that_fits_no_place_is_named(checkout: Path) -> None:
    text = "# en: local.yaml:1:1  No. [SPEC199]\n# zh: 否。 [SPEC199]\n# fix: x => y\na: 1\n"
    (checkout / FOLDER / "local-x.yaml").write_text(text)
    assert list(faults(checkout))[-1] == "a fix does not fit: local-x.yaml: 'x' stands 0 times"


def test_a_code_is_explained_with_a_wrong_and_a_right_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "SPEC401"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("SPEC401  (error)\n  The range in VALUE runs backwards: ")
    wrong, _, right = out.partition("\nright:\n")
    assert '"a100-[01-00]"' in wrong
    assert '"a100-[00-01]"' in right
    assert out.endswith("\npage: docs/errors/SPEC401.md\n")


def test_a_code_is_explained_in_chinese_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", "spec315", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("SPEC315  (警告)\n")
    assert "警告：加速卡 " in out
    assert "\n正确写法：\n" in out


def test_a_code_without_an_example_says_in_words_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["spec", "explain", "SPEC005"]) == 0
    assert "\nwhat to do:\n  Save the file as UTF-8: " in capsys.readouterr().out


def test_a_code_is_explained_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "explain", "SPEC401", "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told)[:4] == ["apiVersion", "kind", "code", "severity"]
    assert (told["kind"], told["severity"]) == ("ErrorCode", "error")
    assert told["wrong"]["message"].endswith("[SPEC401]")
    assert (CHECKOUT / told["wrong"]["file"]).is_file()
    assert (CHECKOUT / told["page"]).is_file()
    assert any('"a100-[00-01]"' in line for line in told["right"])


@pytest.mark.parametrize(
    ("asked", "near"), [("SPEC1O1", "SPEC101"), ("SPEC100", "SPEC101"), ("spec9999", "SPEC")]
)
def test_a_code_that_does_not_exist_ends_with_6_and_the_nearest(
    asked: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "explain", asked]) == 6
    err = capsys.readouterr().err
    assert f'There is no error code "{asked}"' in err
    assert f'Did you mean "{near}' in err


def test_what_is_explained_works_outside_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["spec", "explain", "SPEC401"]) == 0
    assert "\nright:\n" in capsys.readouterr().out
