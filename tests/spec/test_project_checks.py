"""Projects and people: whose names end up in namespaces, queues and labels."""

from __future__ import annotations

from pathlib import Path

from tests.spec.specs import LOCAL, PLATFORM, changed
from tests.spec.variations import told, varied


def test_a_queue_that_the_project_does_not_have_takes_no_name(tmp_path: Path) -> None:
    """nlp-a has no queue in `b`, or it would be called like nlp's in `a-b`."""
    pools = varied(
        PLATFORM,
        ("  domestic: {models", "  a-b: {models"),
        ("domestic: {BI-V150: 4}", "a-b: {BI-V150: 4}"),
        ("  vision: {", "  nlp-a: {"),
    )
    local = changed(LOCAL, "pool: domestic", "pool: a-b")
    assert told(tmp_path, pools, local) == []


def test_two_queues_of_one_name_are_refused(tmp_path: Path) -> None:
    """That of nlp in `a-elastic` and that of nlp-a in `elastic`."""
    two = varied(
        PLATFORM,
        ("  elastic: {", "  a-elastic: {borrows-from: training, priority: elastic}\n  elastic: {"),
        ("  vision: {", "  nlp-a: {"),
    )
    assert told(tmp_path, two) == [("SPEC606", "projects.nlp-a")]


def test_a_queues_name_may_have_exactly_63_characters(tmp_path: Path) -> None:
    """The longest of vision is in `training`: a dash and 8 letters."""
    longest = "v" * (63 - len("-training"))
    assert told(tmp_path, changed(PLATFORM, "  vision: {", f"  {longest}: {{")) == []
    assert told(tmp_path, changed(PLATFORM, "  vision: {", f"  {longest}v: {{")) == [
        ("SPEC607", f"projects.{longest}v")
    ]


def test_one_person_may_be_in_two_projects_with_the_same_logins(tmp_path: Path) -> None:
    """In another order they are the same."""
    both = varied(
        PLATFORM,
        ('logins: ["oidc:li.wei"]', 'logins: ["oidc:li.wei", "cert:li.wei"]'),
        ("zhao.min: {}", 'zhao.min: {}, li.wei: {logins: ["cert:li.wei", "oidc:li.wei"]}'),
    )
    assert told(tmp_path, both) == []


def test_a_login_under_two_names_is_told_once(tmp_path: Path) -> None:
    shared = changed(PLATFORM, "zhao.min: {}", 'wei: {logins: ["oidc:li.wei"]}')
    assert told(tmp_path, shared) == [("SPEC604", "projects.vision.users.wei.logins[0]")]


def test_an_id_lets_a_project_be_called_anything(tmp_path: Path) -> None:
    named = changed(PLATFORM, "  vision: {", "  视觉 (CV): {id: vision, ")
    assert told(tmp_path, named) == []


def test_an_id_may_begin_like_a_reserved_one(tmp_path: Path) -> None:
    assert told(tmp_path, changed(PLATFORM, "  vision: {", "  kubeflow: {")) == []
