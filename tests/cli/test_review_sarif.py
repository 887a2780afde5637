"""A review as SARIF: what the pack found, what everybody may read, what tells findings apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from tallyard.cli.exit_codes import ExitCode
from tests.cli.reviewed import DATA, Reviewing
from tests.cli.test_review import events_file, plan_file

SCHEMA = json.loads((DATA / "sarif-2.1.0.schema.json").read_text())


def sarif_run(reviewing: Reviewing, *arguments: str) -> Mapping[str, Any]:
    """Return the one run of a log, which is valid."""
    log = json.loads(reviewing.review("-o", "sarif", *arguments))
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    (found,) = log["runs"]
    return dict(found)


def test_sarif_has_what_the_pack_alone_found(reviewing: Reviewing, tmp_path: Path) -> None:
    """At the first line of the environment's file, since the pack tells no place of a person's."""
    log = events_file(
        tmp_path,
        ("images-pinned", "mandatory", "an image by tag [images-pinned]"),
        ("of-another-pack", "advisory", "what we do not know"),
    )
    found = sarif_run(reviewing, "--no-cluster", "--events", str(log))
    assert reviewing.codes == [ExitCode.POLICY]
    ours, other = found["results"]
    assert (ours["ruleId"], ours["level"]) == ("images-pinned", "error")
    assert found["tool"]["driver"]["rules"][ours["ruleIndex"]]["id"] == "images-pinned"
    assert "an image by tag" in ours["message"]["text"]
    assert (other["ruleId"], other["level"]) == ("of-another-pack", "warning")
    assert "ruleIndex" not in other
    for each in (ours, other):
        assert each["properties"] == {"hasPlace": False}
        place = each["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "stacks/local.yaml"
        assert place["region"] == {"startLine": 1, "startColumn": 1}


def test_where_the_api_server_is_stays_out_of_what_everybody_may_read(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    said = "context prod, https://10.0.0.1:6443 is not this stack's cluster"
    plan = plan_file(tmp_path, [], diagnostics=[{"severity": "error", "message": said}])
    log = events_file(tmp_path, ("images-pinned", "advisory", "asked of api.prod.corp:6443"))
    given = ("--no-cluster", "--plan", str(plan), "--events", str(log), "-o")
    for output in ("markdown", "sarif"):
        text = reviewing.review(*given, output)
        assert "context prod, (address) is not this stack's cluster" in text
        assert "asked of (address)" in text
        assert "10.0.0.1" not in text
        assert "prod.corp" not in text
    for output in ("table", "json"):
        text = " ".join(reviewing.review(*given, output).split())
        assert said in text
        assert "asked of api.prod.corp:6443" in text


def test_two_secrets_are_two_findings_and_stay_the_same_where_lines_move(
    reviewing: Reviewing,
) -> None:
    stack = "stacks/Pulumi.local.yaml"
    first, second, alike = (f"glpat-{n}123456789abcdef0123" for n in range(3))
    secrets = f"  tallyard:a-token: {first}\n  tallyard:b-token: {second}\n"
    text = (reviewing.repo.root / stack).read_text()
    comments = f"# {first}\n# {alike}\n"

    def names() -> list[str]:
        results = sarif_run(reviewing, "--no-cluster")["results"]
        return [each["partialFingerprints"]["tallyFinding/v1"] for each in results]

    reviewing.repo.write(stack, f"{comments}{text}{secrets}")
    before = names()
    assert len(set(before)) == len(before) == 4
    reviewing.repo.write(stack, f"# more\n\n{comments}{text}{secrets}")
    assert names() == before
    # The same in another file is another one.
    reviewing.repo.write("stacks/Pulumi.eu.yaml", text + secrets)
    assert len(set(names())) == 6
