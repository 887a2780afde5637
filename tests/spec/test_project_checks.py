"""Projects and people: whose names end up in namespaces, queues and labels."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from tests.spec.specs import LOCAL, PLATFORM, changed
from tests.spec.variations import told, values, varied


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


def with_queues(projects: int, pools: int) -> str:
    """Add pools that borrow, so that each project has a queue in each, and projects."""
    more = "".join(f"  e{n}: {{borrows-from: training, priority: elastic}}\n" for n in range(pools))
    people = "".join(f"  t{n}: {{tier: none, users: {{u{n}: {{}}}}}}\n" for n in range(projects))
    none = "  none: {weight: 2, cards: {training: {A100: 0}}, core-hours: 10/month, max-time: 8h}\n"
    return varied(
        PLATFORM,
        ("defaults:", f"{more}defaults:"),
        ("projects:\n", f"{none}projects:\n{people}"),
    )


def test_more_queues_than_a_cluster_holds_are_refused_with_the_numbers(tmp_path: Path) -> None:
    """One pool that owns and one that borrows besides: 98 x 200, and nlp 201 and vision 200."""
    assert told(tmp_path, with_queues(98, 198)) == [("SPEC616", "projects")]
    found = values(tmp_path, with_queues(98, 198))
    assert (found["found"], found["projects"], found["pools"]) == (20_001, 100, 201)
    assert told(tmp_path, with_queues(97, 198)) == []


def test_a_great_many_queues_are_counted_and_not_named(tmp_path: Path) -> None:
    """A name for each of 4 million would take more than a gigabyte."""
    spec = with_queues(2_000, 2_000)
    tracemalloc.start()
    assert told(tmp_path, spec) == [("SPEC616", "projects")]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300_000_000
