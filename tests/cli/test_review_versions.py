"""Another version of what is deployed is a change, though the spec means the same."""

from __future__ import annotations

import json

from tests.cli.reviewed import Reviewing
from tests.cli.test_review import document
from tests.cli.test_review_sarif import sarif_run

OTHER = (
    ("version: v0.17.0", "version: v0.17.2"),
    (f"sha256:{64 * 'b'}", f"sha256:{64 * 'c'}"),
)
SAID = f"images.kueue v0.17.0 sha256:{12 * 'b'} → v0.17.2 sha256:{12 * 'c'}"


def test_another_version_is_listed_in_every_form(reviewing: Reviewing) -> None:
    reviewing.repo.change(*OTHER, name="stacks/versions.yaml")
    text = reviewing.review("--no-cluster")
    assert f"\nVersions\n  {SAID}\n" in text
    about = "The spec means the same as before. Versions of what is deployed differ."
    assert about in text
    assert "Nothing but what the other versions bring." in text
    comment = reviewing.review("--no-cluster", "-o", "markdown")
    assert f"### Versions\n\n- {SAID}\n" in comment
    assert about in comment
    assert f"\n版本\n  {SAID}\n" in reviewing.review("--no-cluster", lang="zh")
    (invocation,) = sarif_run(reviewing, "--no-cluster")["invocations"]
    assert invocation["executionSuccessful"] is True
    (note,) = invocation["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("note", f"Versions: {SAID}")
    (found,) = document(reviewing, "--no-cluster")["versions"]
    source = "registry.example.com/kueue"
    assert found == {
        "pin": "images.kueue",
        "before": {"version": "v0.17.0", "source": source, "digest": f"sha256:{64 * 'b'}"},
        "after": {"version": "v0.17.2", "source": source, "digest": f"sha256:{64 * 'c'}"},
    }


def test_a_pin_that_comes_or_goes_has_one_side(reviewing: Reviewing) -> None:
    text = (reviewing.repo.root / "stacks" / "versions.yaml").read_text()
    image = (
        "  more: {source: registry.example.com/more, version: v1, digest: "
        f"sha256:{64 * 'd'}, floor: v1, reason: a test}}\n"
    )
    reviewing.repo.write("stacks/versions.yaml", text + image)
    said = f"images.more — → v1 registry.example.com/more sha256:{12 * 'd'}"
    assert said in reviewing.review("--no-cluster")


def test_a_side_without_the_file_and_pins_that_are_alike_say_nothing(
    reviewing: Reviewing,
) -> None:
    text = (reviewing.repo.root / "stacks" / "versions.yaml").read_text()
    reviewing.repo.write("stacks/versions.yaml", f"# A comment.\n{text}")
    assert "Versions" not in reviewing.review("--no-cluster")
    reviewing.repo.git("rm", "--quiet", "--cached", "stacks/versions.yaml")
    reviewing.repo.git("commit", "--quiet", "--message", "none")
    found = json.loads(reviewing.review("--no-cluster", "-o", "json"))
    assert found["versions"] == []
