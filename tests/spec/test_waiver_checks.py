"""Waivers: whom they cover, until when, in both files, and that nothing is waived twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tallyard.catalog.rules import RULES, WAIVABLE
from tallyard.spec import schema
from tallyard.spec.waiver import Waiver
from tests.spec.specs import LOCAL, NOW, PLATFORM, changed, load_texts
from tests.spec.variations import loaded, told, values

RULE = "objects-replaced"
# The last day of 2026 ends in Shanghai eight hours before it ends in UTC.
END = datetime(2026, 12, 31, 16, tzinfo=UTC)
SHANGHAI = changed(PLATFORM, "accelerators:", "time-zone: Asia/Shanghai\naccelerators:")


def entry(
    objects: str = "ClusterQueue/*",
    until: str = "2026-12-31",
    rule: str = RULE,
    reason: str = "new cards",
) -> str:
    """Return an entry of the list."""
    return f"{{rule: {rule}, objects: [{objects}], reason: {reason}, until: {until}}}"


def waived(text: str, *entries: str) -> str:
    """Return a file with waivers."""
    return f"{text}waivers: [{', '.join(entries)}]\n"


def waiver(*objects: str) -> Waiver:
    return Waiver(RULE, objects, "new cards", END, "waivers[0]")


def test_a_waiver_is_of_one_rule() -> None:
    found = waiver("ClusterQueue/*")
    assert found.covers(RULE, "ClusterQueue", None, "nlp-training")
    assert not found.covers("images-pinned", "ClusterQueue", None, "nlp-training")


def test_what_is_about_no_object_is_covered_by_no_pattern() -> None:
    assert not waiver("ClusterQueue/*", "LocalQueue/*/*").covers(RULE, "", None, "")


@pytest.mark.parametrize(
    ("pattern", "covered", "left"),
    [
        ("ClusterQueue/nlp-training", ["ClusterQueue//nlp-training"], ["ClusterQueue//nlp"]),
        (
            "ResourceFlavor/training-a800-*",
            ["ResourceFlavor//training-a800-b0", "ResourceFlavor//training-a800-"],
            ["ResourceFlavor//training-a800", "ResourceFlavor//my-training-a800-b0"],
        ),
        (
            "LocalQueue/nlp/*",
            ["LocalQueue/nlp/training"],
            ["LocalQueue/nlp2/training", "LocalQueue//training", "LocalQueue//nlp/training"],
        ),
        ("LocalQueue/*", ["LocalQueue//x"], ["LocalQueue/nlp/x"]),
        ("LocalQueue/*/t?", ["LocalQueue/nlp/t1"], ["LocalQueue/nlp/t", "LocalQueue/nlp/t10"]),
        ("Pin/charts.kueue.digest", ["Pin//charts.kueue.digest"], ["Pin//charts.jobset.digest"]),
        ("Job/nlp/[ab]1", ["Job/nlp/a1", "Job/nlp/b1"], ["Job/nlp/c1", "Job/nlp/[ab]1"]),
        ("Job/nlp/[!ab]1", ["Job/nlp/c1"], ["Job/nlp/a1"]),
        ("ClusterQueue/NLP", [], ["ClusterQueue//nlp"]),
        ("ClusterQueue/a.b", ["ClusterQueue//a.b"], ["ClusterQueue//a-b"]),
        ("ClusterRole/tallyard:user", ["ClusterRole//tallyard:user"], ["Role/a/tallyard:user"]),
    ],
)
def test_a_pattern_covers_part_by_part(pattern: str, covered: list[str], left: list[str]) -> None:
    found = waiver("Namespace/none-of-these", pattern)
    for each in (*covered, *left):
        kind, namespace, name = each.split("/", 2)
        assert found.covers(RULE, kind, namespace or None, name) is (each in covered), each


def test_an_empty_namespace_is_none() -> None:
    """Manifests and Pulumi say it in either way."""
    assert waiver("ClusterQueue/nlp").covers(RULE, "ClusterQueue", "", "nlp")


def test_the_waivers_of_both_files_hold_together(tmp_path: Path) -> None:
    platform = waived(PLATFORM, entry(rule="images-pinned"), entry("ClusterQueue/a"))
    found = loaded(tmp_path, platform, waived(LOCAL, entry("ClusterQueue/b"))).waivers
    assert [(each.rule, each.objects) for each in found] == [
        ("images-pinned", ("ClusterQueue/*",)),
        (RULE, ("ClusterQueue/a",)),
        (RULE, ("ClusterQueue/b",)),
    ]
    assert [(each.path, each.is_of_environment) for each in found] == [
        ("waivers[0]", False),
        ("waivers[1]", False),
        ("waivers[0]", True),
    ]
    assert {each.reason for each in found} == {"new cards"}
    assert {each.until for each in found} == {datetime(2027, 1, 1, tzinfo=UTC)}


def test_either_file_can_have_waivers_alone(tmp_path: Path) -> None:
    assert loaded(tmp_path).waivers == ()
    assert len(loaded(tmp_path, waived(PLATFORM, entry())).waivers) == 1
    assert len(loaded(tmp_path, local=waived(LOCAL, entry())).waivers) == 1


def test_where_a_waiver_stands_is_no_part_of_what_it_says(tmp_path: Path) -> None:
    here = loaded(tmp_path, waived(PLATFORM, entry())).waivers
    assert here == loaded(tmp_path, local=waived(LOCAL, entry())).waivers


@pytest.mark.parametrize("in_environment", [False, True])
def test_a_waiver_holds_to_the_last_second_of_its_day_in_the_platforms_time_zone(
    tmp_path: Path, *, in_environment: bool
) -> None:
    platform = SHANGHAI if in_environment else waived(SHANGHAI, entry())
    local = waived(LOCAL, entry()) if in_environment else LOCAL
    before = load_texts(tmp_path, platform, local, END - timedelta(seconds=1))
    assert before.problems == ()
    assert before.platform is not None
    assert [each.until for each in before.platform.waivers] == [END]
    after = load_texts(tmp_path, platform, local, END)
    assert after.platform is not None
    assert after.platform.waivers == ()
    (problem,) = after.problems
    assert (problem.code, problem.path, problem.is_error) == ("SPEC701", "waivers[0].until", False)
    assert problem.location.file.name == ("local.yaml" if in_environment else "platform.yaml")


def test_a_waiver_of_a_year_is_an_exception_still(tmp_path: Path) -> None:
    """366 days after noon of the first of September."""
    year = waived(PLATFORM, entry(until="2027-09-02T12:00"))
    assert told(tmp_path, year) == []
    more = waived(PLATFORM, entry(until="2027-09-02T12:01"))
    assert told(tmp_path, more) == [("SPEC702", "waivers[0].until")]
    assert load_texts(tmp_path, more).platform is None


def test_no_waiver_has_ended_where_the_time_zone_is_mistyped(tmp_path: Path) -> None:
    """UTC stands in for it, and by that an end may have passed or not."""
    zone = changed(PLATFORM, "accelerators:", "time-zone: Asia/Shanghay\naccelerators:")
    over = waived(zone, entry(until="2026-08-31"))
    assert [path for _, path in told(tmp_path, over)] == ["time-zone"]


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        ("Job/a/b", "Job/a/b", "waivers[1].objects[0]"),
        ("Job/a/b, Job/a/c", "Job/a/d, Job/a/c", "waivers[1].objects[1]"),
        ("Job/a/b, Job/a/b", "Job/a/c", "waivers[0].objects[1]"),
    ],
)
def test_what_is_waived_twice_is_refused_at_the_second(
    tmp_path: Path, first: str, second: str, place: str
) -> None:
    two = waived(PLATFORM, entry(first), entry(second, "2026-10-31"))
    assert told(tmp_path, two) == [("SPEC703", place)]
    assert values(tmp_path, two) == {"rule": RULE, "other": "2026-12-31"}


def test_what_the_platforms_file_waives_the_environment_cannot_waive_again(tmp_path: Path) -> None:
    local = waived(LOCAL, entry("Job/a/b", "2026-10-31"))
    (problem,) = load_texts(tmp_path, waived(PLATFORM, entry("Job/a/b")), local).problems
    assert (problem.code, problem.path) == ("SPEC703", "waivers[0].objects[0]")
    assert problem.location.file.name == "local.yaml"


def test_other_objects_or_another_rule_is_no_repetition(tmp_path: Path) -> None:
    several = waived(PLATFORM, entry("Job/a/b"), entry("Job/a/*"), entry(rule="images-pinned"))
    assert len(loaded(tmp_path, several).waivers) == 3


def test_what_has_ended_is_not_repeated(tmp_path: Path) -> None:
    two = waived(PLATFORM, entry(until="2026-08-31"), entry())
    assert told(tmp_path, two) == [("SPEC701", "waivers[0].until")]
    found = load_texts(tmp_path, two, now=NOW).platform
    assert found is not None
    assert [each.path for each in found.waivers] == ["waivers[1]"]


def test_of_a_broken_entry_the_others_keep_their_places(tmp_path: Path) -> None:
    three = waived(PLATFORM, entry("nothing"), entry("Job/a/b"), entry("Job/a/b"))
    assert told(tmp_path, three) == [
        ("SPEC141", "waivers[0].objects[0]"),
        ("SPEC703", "waivers[2].objects[0]"),
    ]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_rules_of_the_review_can_be_waived_and_no_others(tmp_path: Path, rule: str) -> None:
    found = told(tmp_path, waived(PLATFORM, entry(rule=rule)))
    assert found == ([] if rule in WAIVABLE else [("SPEC206", "waivers[0].rule")])


def test_an_editor_offers_exactly_the_rules_that_can_be_waived() -> None:
    for whole in (schema.platform_schema(), schema.overlay_schema()):
        offered = (schema.at(whole, ("waivers", 0, "rule")) or {})["enum"]
        assert set(offered) == WAIVABLE
        assert len(offered) == len(WAIVABLE)


@pytest.mark.parametrize(
    ("rule", "nearest"),
    [
        ("object-replaced", "objects-replaced"),
        ("Images_Pinned", "images-pinned"),
        ("policies", "policies-bound"),
        ("zzz", ""),
    ],
)
def test_an_unknown_rule_is_told_with_the_nearest(tmp_path: Path, rule: str, nearest: str) -> None:
    spec = waived(PLATFORM, entry(rule=rule))
    assert told(tmp_path, spec) == [("SPEC205", "waivers[0].rule")]
    assert values(tmp_path, spec)["nearest"] == nearest


@pytest.mark.parametrize(
    ("pattern", "nearest"),
    [
        ("ClusterQueue", None),
        ('"*/nlp"', None),
        ('"*Queue/nlp"', None),
        ("clusterqueue/nlp", None),
        ("ClusterQueue/", None),
        ("Job/a/b/c", None),
        ('"Job/a/[b"', None),
        ("ClusterQueue nlp", "ClusterQueue/nlp"),
        ('"ClusterQueue: nlp"', "ClusterQueue/nlp"),
        ("ClusterQueue:nlp", "ClusterQueue/nlp"),
        ("ClusterQueue / nlp", "ClusterQueue/nlp"),
        ("Job a b", "Job/a/b"),
        ("ClusterRole tallyard:user", "ClusterRole/tallyard:user"),
    ],
)
def test_what_names_no_objects_is_told_with_what_was_meant(
    tmp_path: Path, pattern: str, nearest: str | None
) -> None:
    spec = waived(PLATFORM, entry(pattern))
    assert told(tmp_path, spec) == [("SPEC141", "waivers[0].objects[0]")]
    assert values(tmp_path, spec).get("nearest") == nearest
