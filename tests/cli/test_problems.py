# ruff: noqa: RUF001 - Chinese has its own punctuation
"""How a spec's problems are told: for people, line by line, for programs, for GitHub."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tallyard.cli.main import run
from tallyard.cli.problems import ErrorFormat, document, short, workflow_commands
from tallyard.spec.problem import Location, Problem
from tests.spec.specs import LOCAL, PLATFORM, changed

TALLY = [sys.executable, "-m", "tallyard.cli.main"]
WRONG = "local.yaml:3:73  nodes[0].cpu"


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run in an empty folder, and not as a step of GitHub Actions."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    write()


def write(platform: str = PLATFORM, local: str = LOCAL) -> None:
    Path("platform.yaml").write_text(platform)
    Path("local.yaml").write_text(local)


def write_an_error_and_a_warning() -> None:
    """A figure in words, and an accelerator that no pool has."""
    unsold = "  H100: {vendor: nvidia, memory: 80Gi, rate: 60, origin: vendor}\ntopology"
    write(
        changed(PLATFORM, "topology", unsold),
        changed(LOCAL, "cpu: 128", "cpu: many"),
    )


def validate(*arguments: str) -> int:
    return run(["spec", "validate", "local.yaml", *arguments])


def problem(code: str = "SPEC111", path: str = "tiers.gold.weight", **values: object) -> Problem:
    return Problem(code, Location(Path("stacks/platform.yaml"), 3, 7), path, values)


def test_in_full_the_line_and_the_place_are_shown_and_all_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_an_error_and_a_warning()
    assert validate() == 2
    out, err = capsys.readouterr()
    assert out == ""
    warning, _, _, error, line, caret, last = err.splitlines()
    assert "accelerators.H100: warning: " in warning
    assert error.startswith(f'{WRONG}: "many" is not a whole number.')
    assert line[caret.index("^") :].startswith("many")
    assert last == "1 error, 1 warning. `tally spec explain SPEC106` says more."


def test_the_last_line_is_chinese_where_the_language_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_an_error_and_a_warning()
    assert validate("--lang", "zh") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "1 个错误，1 个警告。详细说明：tally spec explain SPEC106"


def test_in_short_each_problem_is_one_line_and_there_is_no_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    groups = "".join(f"  - {{hosts: h{n}, pool: p{n}, rack: 1}}\n" for n in range(60))
    write(local=f"base: platform.yaml\nnodes:\n{groups}")
    assert validate("--error-format", "short") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 250
    assert all(re.fullmatch(r"\S+:\d+:\d+  \S+: .* \[SPEC\d{3}\]", line) for line in lines)
    assert validate() == 2
    *_, more, last = capsys.readouterr().err.splitlines()
    assert more == f"… and {len(lines) - 100} more; --error-format short shows them all"
    assert last.startswith(f"{len(lines)} errors. ")


def test_as_json_nothing_else_stands_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    write_an_error_and_a_warning()
    assert validate("--error-format", "json") == 2
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert (told["kind"], told["errors"], told["warnings"]) == ("ProblemList", 1, 1)
    assert told["items"][1] == {
        "code": "SPEC106",
        "severity": "error",
        "file": "local.yaml",
        "line": 3,
        "column": 73,
        "path": "nodes[0].cpu",
        "found": "many",
        "allowed": None,
        "nearest": None,
        "message": '"many" is not a whole number. '
        "Write digits only, without quotes, point or unit.",
        "page": "docs/errors/SPEC106.md",
    }


def test_as_json_a_good_spec_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate("--error-format", "json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["errors"], told["warnings"], told["items"]) == (0, 0, [])
    assert err.startswith("local.yaml: good: ")


def test_json_says_what_is_allowed_and_what_is_nearest() -> None:
    problems = (
        problem(found=0, least=1, most=1000),
        problem("SPEC101", key="wieght", nearest="weight", choices=["cards", "weight"]),
        problem("SPEC104", key="weight", place="tiers.NAME.weight"),
        problem("SPEC109", found=[]),
    )
    items = document(problems, "en")["items"]
    told = [(item["found"], item["allowed"], item["nearest"]) for item in items]
    assert told == [
        (0, {"least": 1, "most": 1000}, None),
        ("wieght", {"choices": ["cards", "weight"]}, "weight"),
        # Nobody has found a key that is missing.
        (None, None, None),
        ([], None, None),
    ]


def test_json_has_no_number_that_json_does_not_have() -> None:
    content = document([problem("SPEC106", found=float("inf"))], "en")
    assert json.loads(json.dumps(content, allow_nan=False))["items"][0]["found"] == "inf"


def test_only_the_message_follows_the_language() -> None:
    one = problem(found=0, least=1, most=1000)
    english, chinese = (document([one], lang)["items"][0] for lang in ("en", "zh"))
    assert {key for key in english if english[key] != chinese[key]} == {"message"}


def test_for_github_a_problem_is_one_command_beside_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_an_error_and_a_warning()
    assert validate("--error-format", "github") == 2
    out, err = capsys.readouterr()
    assert err == ""
    warning, error = out.splitlines()
    assert warning.startswith("::warning file=platform.yaml,line=7,col=3,title=SPEC315 ")
    assert error == (
        "::error file=local.yaml,line=3,col=73,title=SPEC106 nodes[0].cpu::"
        '"many" is not a whole number. Write digits only, without quotes, point or unit.'
    )


def test_what_would_end_a_command_or_a_property_is_escaped(tmp_path: Path) -> None:
    odd = Problem(
        "SPEC105", Location(Path("a,b:c.yaml"), 1, 1), 'pools."50%,:\r\n"', {"found": "50%\n::x"}
    )
    (command,) = workflow_commands([odd], "en", tmp_path)
    properties, _, message = command.removeprefix("::error ").partition("::")
    assert "file=a%2Cb%3Ac.yaml," in properties
    assert 'title=SPEC105 pools."50%25%2C%3A%0D%0A"' in properties
    assert message.startswith('"50%25\\u000a::x" is not a text.')
    assert "\n" not in command


def test_github_is_told_paths_from_the_checkout(tmp_path: Path) -> None:
    (command,) = workflow_commands([problem("SPEC112")], "en", tmp_path.parent)
    assert f"file={tmp_path.name}/stacks/platform.yaml," in command
    (command,) = workflow_commands([problem("SPEC112")], "en", tmp_path / "elsewhere")
    assert "file=stacks/platform.yaml," in command


def test_in_actions_the_report_goes_to_stderr_and_the_commands_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_an_error_and_a_warning()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert validate() == 2
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["::warning", "::error"]
    assert err.splitlines()[-1].startswith("1 error, 1 warning.")
    assert validate("--error-format", "full") == 2
    assert capsys.readouterr().out == ""


def test_a_line_of_the_spec_is_no_command_to_the_runner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(local="base: platform.yaml\n  ::stop-commands::x\n'##[group]': {}\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert validate() == 2
    err = capsys.readouterr().err
    assert "stop-commands" in err
    assert not [line for line in err.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in err


def test_only_warnings_let_the_spec_through(capsys: pytest.CaptureFixture[str]) -> None:
    unsold = "  H100: {vendor: nvidia, memory: 80Gi, rate: 60, origin: vendor}\ntopology"
    write(changed(PLATFORM, "topology", unsold))
    assert validate() == 0
    out, err = capsys.readouterr()
    assert out.startswith("local.yaml: good: ")
    assert err.splitlines()[-1] == "1 warning. `tally spec explain SPEC315` says more."


@pytest.mark.parametrize("form", [None, *ErrorFormat])
def test_what_is_rendered_to_stdout_is_never_mixed_with_what_is_told(
    form: ErrorFormat | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert run(["spec", "render", "local.yaml"]) == 0
    rendered = capsys.readouterr().out
    unsold = "  H100: {vendor: nvidia, memory: 80Gi, rate: 60, origin: vendor}\ntopology"
    write(changed(PLATFORM, "topology", unsold))
    chosen = ["--error-format", form.value] if form else []
    assert run(["spec", "render", "local.yaml", *chosen]) == 0
    out, err = capsys.readouterr()
    assert out == rendered
    assert "SPEC315" in err


def test_a_spec_that_is_not_rendered_leaves_stdout_to_the_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_an_error_and_a_warning()
    assert run(["spec", "render", "local.yaml", "--error-format", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["errors"] == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "has_colour"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        (("--no-color",), {}, False),
    ],
)
def test_errors_are_red_and_warnings_yellow_on_a_terminal(
    arguments: tuple[str, ...], environment: dict[str, str], *, has_colour: bool
) -> None:
    write_an_error_and_a_warning()
    told = on_a_terminal(*arguments, **environment)
    assert ("\x1b[1;31m[SPEC106]" in told, "\x1b[1;33m[SPEC315]" in told) == (has_colour,) * 2
    assert "SPEC106" in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_terminal_nothing_is_wider_than_it(lang: str) -> None:
    from rich.cells import cell_len  # noqa: PLC0415

    write(
        changed(PLATFORM, "name: small", "name: 系统核数量系统核数量系统核数量系统核数量, x: [1"),
        changed(LOCAL, "cpu: 128", 'cpu: "系统核数量系统核数量"'),
    )
    told = on_a_terminal("--lang", lang, "--no-color")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", told).splitlines()
    assert len(lines) > 5
    assert max(map(cell_len, lines)) <= 80
    assert any(line.startswith("local.yaml:3:73  nodes[0].cpu: ") for line in lines)


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Return what is printed where stderr is a terminal of 80 columns."""
    import os  # noqa: PLC0415
    import pty  # noqa: PLC0415

    parent, child = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "TERM", "COLUMNS"}}
    with subprocess.Popen(
        [*TALLY, "spec", "validate", "local.yaml", *arguments],
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
        stdout=subprocess.DEVNULL,
        stderr=child,
    ):
        os.close(child)
        told = b""
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                # Linux says so when the other side is closed.
                break
            if not piece:
                break
            told += piece
    os.close(parent)
    return told.decode()


def test_short_lines_are_those_of_the_full_report() -> None:
    (line,) = short([problem(found=0, least=1, most=1000)], "en")
    assert line.startswith("stacks/platform.yaml:3:7  tiers.gold.weight: 0 is out of range")
    assert line.endswith(" [SPEC111]")
