"""Which stacks' files belong to the environment that is reviewed."""

from __future__ import annotations

import os

from tests.cli.reviewed import Reviewing
from tests.cli.test_review import document


def test_every_stack_of_the_environment_is_read_on_both_kinds_of_side(
    reviewing: Reviewing,
) -> None:
    written = "  tallyard:registry-token: glpat-0123456789abcdef012\n"
    text = (reviewing.repo.root / "stacks" / "Pulumi.local.yaml").read_text()
    reviewing.repo.write("stacks/Pulumi.eu.yaml", text + written)
    other = text.replace("local.yaml", "prod.yaml")
    assert other != text
    reviewing.repo.write("stacks/Pulumi.elsewhere.yaml", other + written)
    reviewing.repo.write("stacks/Pulumi.broken.yaml", "config: [")
    (finding,) = document(reviewing, "--no-cluster")["findings"]
    assert (finding["rule"], finding["file"]) == ("secrets-hidden", "stacks/Pulumi.eu.yaml")
    reviewing.repo.git("checkout", "--quiet", "-b", "change")
    reviewing.repo.commit()
    (reviewing.repo.root / "stacks" / "Pulumi.eu.yaml").unlink()
    (finding,) = document(reviewing, "change", "--no-cluster")["findings"]
    assert (finding["file"], finding["line"]) == (
        "change:stacks/Pulumi.eu.yaml",
        len(text.splitlines()) + 1,
    )


def test_what_is_no_text_in_a_file_hides_nothing_else_of_it(reviewing: Reviewing) -> None:
    """A comment in GBK, as an editor of another time writes it, and a secret."""
    file = reviewing.repo.root / "stacks" / "Pulumi.local.yaml"
    secret = b"  tallyard:registry-token: glpat-0123456789abcdef012\n  # \xc1\xee\n"
    file.write_bytes(file.read_bytes() + secret)
    (finding,) = document(reviewing, "--no-cluster")["findings"]
    assert (finding["rule"], finding["file"]) == ("secrets-hidden", "stacks/Pulumi.local.yaml")


def test_a_pipe_among_the_stacks_is_not_waited_for(reviewing: Reviewing) -> None:
    os.mkfifo(reviewing.repo.root / "stacks" / "Pulumi.pipe.yaml")
    assert document(reviewing, "--no-cluster")["findings"] == []


def test_one_stack_that_is_no_lab_is_enough_for_the_rules_about_images(
    reviewing: Reviewing,
) -> None:
    reviewing.repo.change((f"sha256:{64 * 'a'}", "unverified"), name="stacks/versions.yaml")
    text = (reviewing.repo.root / "stacks" / "Pulumi.local.yaml").read_text()
    lab = ("config:\n", "config:\n  tallyard:lab: true\n")
    reviewing.repo.change(lab, name="stacks/Pulumi.local.yaml")
    reviewing.repo.commit()
    assert document(reviewing, "--no-cluster")["refused"] == 0
    reviewing.repo.write("stacks/Pulumi.eu.yaml", text)
    assert document(reviewing, "--no-cluster")["refused"] == 1
