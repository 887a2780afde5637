"""`tally spec diff`: what people and programs read of a change."""

from __future__ import annotations

import json
import sys

import pytest
import yaml
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from tallyard.cli.main import run
from tests.cli.specs import LOCAL, MORE_FOR_GOLD, PLATFORM, Captured, Repo, diff_of
from tests.spec.specs import SOON, dated

# All that a reviewer may meet in one change.
MUCH = (
    MORE_FOR_GOLD,
    ("borrow: {training: 4}", "borrow: {training: 2}"),
    ("core-hours: 200000/month", "core-hours: 300000/month"),
    ("max-time: 24h", "max-time: 36h"),
    ("rate: 30,", "rate: 33,"),
    ("name: training, value: 1000", "name: training, value: 2000"),
    ("chen.yu: {}}", 'wang.fang: {logins: ["oidc:wang.fang"], share: 40%}}'),
    (
        "  vision: {tier: bronze, users: {zhao.min: {}}}",
        (
            "  sight: {id: vision, tier: bronze, users: {zhao.min: {}}, overrides: "
            "[{max-time: 12h, until: 2100-12-31, reason: a paper}]}\n"
            "  robots: {tier: bronze, users: {sun.na: {}}}"
        ),
    ),
    (
        "\ntiers",
        (
            "\nwaivers: [{rule: objects-replaced, objects: [ResourceFlavor/training-*, "
            f"ClusterQueue/nlp-training], reason: new cards, until: {SOON}}}]\ntiers"
        ),
    ),
)


def test_what_people_read_of_a_large_change(
    repo: Repo, capsys: Captured, snapshot: SnapshotAssertion
) -> None:
    repo.change(*MUCH)
    repo.change(("a100-[00-01]", "a100-[00-02]"), name="stacks/local.yaml")
    assert run(["spec", "diff"]) == 0
    assert dated(capsys.readouterr().out) == snapshot
    assert run(["spec", "diff", "-o", "markdown"]) == 0
    assert dated(capsys.readouterr().out) == snapshot
    assert run(["--lang", "zh", "spec", "diff"]) == 0
    assert dated(capsys.readouterr().out) == snapshot


def test_the_document_of_a_large_change(
    repo: Repo, capsys: Captured, snapshot: SnapshotAssertion
) -> None:
    repo.change(*MUCH)
    found = dict(diff_of(capsys))
    assert found.pop("at").endswith("Z")
    assert dated(json.dumps(found, indent=2)) == snapshot
    assert run(["spec", "diff", "-o", "yaml"]) == 0
    as_yaml = yaml.safe_load(capsys.readouterr().out)
    as_yaml.pop("at")
    assert as_yaml == found


def test_the_document_says_what_a_program_would_have_to_guess(repo: Repo, capsys: Captured) -> None:
    """Names, moves, periods, slices, and on which side an override has ended."""
    override = "[{max-time: 12h, until: UNTIL, reason: a paper}]"
    vision = "  vision: {tier: bronze, "
    own = f"{vision}overrides: {override}, "
    repo.change((vision, own.replace("UNTIL", "2100-12-31")))
    repo.commit()
    repo.change(
        ("2100-12-31", "2026-01-31"),
        ("  bronze: {", "  copper: {"),
        ("tier: bronze", "tier: copper"),
        ("30000/month", "985/day"),
        ("burst: 50%", "sharing: {time-slicing: 4}"),
        ("RTX: {vendor: nvidia, memory: 24Gi", "RTX: {vendor: nvidia, memory: 48Gi"),
        ("\ntiers", "\novercommit: {cards: 1.5, core-hours: 1}\ntiers"),
    )
    moved = "{hosts: a100-01, pool: domestic, model: BI-V150, cards: 8, cpu: 128, memory: 1Ti, "
    repo.change(
        ('"a100-[00-01]"', "a100-00"),
        ('"r[0-1]"', "r0"),
        ("nodes:", f"nodes:\n  - {moved}block: b0, rack: r0}}"),
        name="stacks/local.yaml",
    )
    found = diff_of(capsys)
    assert found["renames"] == []
    assert {each["name"]: each["presence"] for each in found["tiers"]} == {
        "copper": "added",
        "bronze": "removed",
    }
    project = next(each for each in found["projects"] if each["key"] == "vision")
    (change,) = project["overrides"]
    assert [change[side]["isOver"] for side in ("before", "after")] == [False, True]
    grant, lasts = (
        next(each for each in project["changes"] if each["fact"] == fact)
        for fact in ("core-hours", "lasts")
    )
    assert (grant["delta"], grant["percent"], grant["effect"]) == (None, 0, "loss")
    assert lasts["before"] == {"hours": 500, "period": "month", "percent": 68}
    assert lasts["after"] == {"hours": 16, "period": "day", "percent": 68}
    pool = next(each for each in found["everybody"] if each["kind"] == "pool")
    sharing = next(each for each in pool["changes"] if each["fact"] == "sharing")
    assert (sharing["before"], sharing["after"]) == ("exclusive", {"time-slicing": 4})
    assert found["slices"] == {"inference": 4}
    assert found["moves"] == [
        {
            "hosts": ["a100-01"],
            "before": {"pool": "training", "model": "A100"},
            "after": {"pool": "domestic", "model": "BI-V150"},
        }
    ]
    (flavor,) = found["flavors"]
    assert (flavor["pool"], flavor["model"]) == ("inference", "RTX")
    assert flavor["before"] != flavor["after"]
    assert {each["after"]["allowed"] for each in found["supply"]} == {12, 24}
    assert "SPEC612" not in {each["code"] for each in found["warnings"]}


def test_a_new_name_is_said_and_everything_else_is_no_difference(
    repo: Repo, capsys: Captured
) -> None:
    repo.change(("  bronze: {", "  copper: {"), ("tier: bronze", "tier: copper"))
    found = diff_of(capsys)
    assert found["renames"] == [{"kind": "tier", "before": "bronze", "after": "copper"}]
    assert found["changed"]
    assert found["tiers"] == found["projects"] == found["removed"] == found["warnings"] == []
    assert run(["--lang", "zh", "spec", "diff"]) == 0
    assert "配额等级 bronze 改名为 copper" in capsys.readouterr().out


def test_the_working_tree_is_compared_with_the_last_commit_unless_revisions_are_named(
    repo: Repo, capsys: Captured
) -> None:
    repo.git("branch", "before")
    repo.change(MORE_FOR_GOLD)
    commit = repo.commit()
    assert not diff_of(capsys)["changed"]
    repo.change(("weight: 1", "weight: 2"))
    facts = {
        arguments: [
            each["fact"]
            for tier in diff_of(capsys, *arguments)["tiers"]
            for each in tier["changes"]
        ]
        for arguments in ((), ("before",), ("before", "main"), ("main", "before"), (commit,))
    }
    assert facts == {
        (): ["weight"],
        ("before",): ["cards", "weight"],
        ("before", "main"): ["cards"],
        ("main", "before"): ["cards"],
        (commit,): ["weight"],
    }
    backwards = diff_of(capsys, "main", "before")
    assert backwards["before"] == {"revision": "main", "commit": commit, "exists": True}
    assert backwards["tiers"][0]["changes"][0]["effect"] == "loss"


def test_the_exit_code_tells_of_a_difference_only_where_it_is_asked_to(repo: Repo) -> None:
    assert run(["spec", "diff", "--exit-code"]) == 0
    repo.change(MORE_FOR_GOLD)
    assert run(["spec", "diff"]) == 0
    assert run(["spec", "diff", "--exit-code"]) == 7
    assert run(["spec", "diff", "--exit-code", "-o", "json"]) == 7


def test_comments_order_and_formatting_are_no_difference_and_it_is_said(
    repo: Repo, capsys: Captured
) -> None:
    assert run(["spec", "diff", "--exit-code"]) == 0
    assert "No difference: the files are the same." in capsys.readouterr().out
    first, second = PLATFORM.splitlines()[-2:]
    repo.change((f"{first}\n{second}", f"  # the teams\n{second}\n{first}"), ("24h", "1d"))
    assert run(["spec", "diff", "--exit-code"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "Nothing changes in meaning: only comments, order or formatting differ."
    ]
    assert run(["--lang", "zh", "spec", "diff", "-o", "markdown"]) == 0
    assert "含义没有任何变化" in capsys.readouterr().out


def test_a_project_with_another_id_is_told_of_its_namespaces(repo: Repo, capsys: Captured) -> None:
    repo.change(("  vision: {tier", "  vision: {id: sight, tier"))
    assert run(["spec", "diff"]) == 0
    out = capsys.readouterr().out
    assert "id vision → sight: a new namespace sight with queues of its own" in out
    assert "the namespace vision stays with what is in it, and nothing moves over" in out
    assert "vision  removed" not in out
    (project,) = diff_of(capsys)["projects"]
    assert (project["id"], project["idBefore"], project["changes"]) == ("sight", "vision", [])


def test_an_environment_that_comes_or_goes_is_told_as_such(repo: Repo, capsys: Captured) -> None:
    repo.write("stacks/big site.yaml", LOCAL)
    added = diff_of(capsys, "-s", "big site")
    assert (added["presence"], added["before"]["exists"]) == ("added", False)
    assert {each["presence"] for each in added["projects"]} == {"added"}
    assert added["removed"] == added["replaced"] == []
    repo.commit()
    repo.git("rm", "--quiet", "stacks/big site.yaml")
    assert run(["spec", "diff", "-s", "big site", "--exit-code"]) == 7
    out = capsys.readouterr().out
    assert "The environment is removed: working tree has none." in out
    assert "left in the cluster: nlp, vision" in out
    gone = diff_of(capsys, "-s", "big site")
    assert {each["presence"] for each in gone["projects"]} == {"removed"}
    assert {"kind": "Namespace", "name": "nlp", "namespace": None, "fate": "kept"} in gone[
        "removed"
    ]


def test_an_environment_that_is_nowhere_is_told_with_the_nearest_one(
    repo: Repo, capsys: Captured
) -> None:
    assert repo.root.is_dir()
    assert run(["spec", "diff", "-s", "locale"]) == 6
    err = capsys.readouterr().err
    assert "there is no environment locale" in err
    assert "do you mean -s local?" in err


def test_errors_of_the_older_side_are_told_with_their_places_there(
    repo: Repo, capsys: Captured
) -> None:
    repo.change(("weight: 1", "weight: heavy"))
    repo.change(("cpu: 128", "cpu: many"), name="stacks/local.yaml")
    repo.commit()
    repo.write("stacks/platform.yaml", PLATFORM)
    repo.write("stacks/local.yaml", LOCAL)
    assert run(["spec", "diff", "--error-format", "short"]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert out == ""
    assert first.startswith("HEAD:stacks/platform.yaml:21:")
    assert second.startswith("HEAD:stacks/local.yaml:3:")
    assert run(["spec", "diff"]) == 2
    err = capsys.readouterr().err
    assert "weight: heavy" in err
    assert "tally-" not in err
    assert run(["spec", "diff", "HEAD~1", "--exit-code"]) == 0


def test_errors_of_both_sides_come_out_in_one_run(repo: Repo, capsys: Captured) -> None:
    repo.change(("weight: 1", "weight: heavy"))
    repo.commit()
    repo.change(("tier: gold", "tier: golden"))
    assert run(["spec", "diff", "HEAD", "--error-format", "json"]) == 2
    files = {item["file"] for item in json.loads(capsys.readouterr().out)["items"]}
    assert files == {"HEAD:stacks/platform.yaml", "stacks/platform.yaml"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_no_line_is_too_long_and_gains_and_losses_are_coloured(
    width: int, lang: str, repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.change(*MUCH)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run(["--lang", lang, "spec", "diff"]) == 0
    coloured = capsys.readouterr().out
    assert "\x1b[32m+4\x1b[0m" in coloured
    assert "\x1b[31m-2\x1b[0m" in coloured
    assert run(["--lang", lang, "--no-color", "spec", "diff"]) == 0
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert max(map(cell_len, plain.splitlines())) <= width


def test_piped_output_has_no_colour(repo: Repo, capsys: Captured) -> None:
    repo.change(*MUCH)
    assert run(["spec", "diff"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_in_markdown_a_name_is_text_and_nothing_else(repo: Repo, capsys: Captured) -> None:
    """A project may be called anything that can be seen; a reviewer's page must survive it."""
    evil = "<img src=x onerror=y>|`a`@all [x](y)"
    repo.change(("  vision: {tier", f'  "{evil}": {{id: vision, tier'), ("weight: 1", "weight: 2"))
    assert run(["spec", "diff", "-o", "markdown"]) == 0
    out = capsys.readouterr().out
    (heading,) = (line for line in out.splitlines() if line.startswith("#### ") and "img" in line)
    assert heading == r"#### &lt;img src=x onerror=y&gt;\|\`a\`@<!-- -->all \[x\](y)"
    assert "<img" not in out
    assert "|`" not in out
