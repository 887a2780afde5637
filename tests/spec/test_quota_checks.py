"""Cards: no more are promised than there are, unless the spec says so, and none twice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.spec.specs import LOCAL, NOW, PLATFORM, changed
from tests.spec.variations import INFERENCE, loaded, told, values, varied, with_override

OVERCOMMIT = changed(PLATFORM, "tiers:", "overcommit: {cards: 1.5}\ntiers:")
# One host of 8 A100, two tiers whose projects own 6 of them each.
EIGHT = varied(LOCAL, ("a100-[00-01]", "a100-00"), ('"r[0-1]"', "r0"))
TWO_TIERS = varied(PLATFORM, ("{A100: 8}", "{A100: 6}"), ("{A100: 2}", "{A100: 6}"))


def test_two_tiers_of_six_in_a_pool_of_eight_are_refused_with_the_sum(tmp_path: Path) -> None:
    """A quota larger than the cluster: Kueue would promise 12 cards of 8 in silence."""
    found = values(tmp_path, TWO_TIERS.replace("borrow: {training: 4}, ", ""), EIGHT)
    assert (found["total"], found["installed"], found["limit"]) == (12, 8, 8)
    assert found["terms"] == "gold 6 x 1 + bronze 6 x 1"


@pytest.mark.parametrize("file", ["platform", "environment"])
def test_two_tiers_of_six_in_a_pool_of_eight_are_right_with_overcommit(
    tmp_path: Path, file: str
) -> None:
    """A quota larger than the cluster, said aloud: 12 is exactly 8 x 1.5."""
    said = "overcommit: {cards: 1.5}\n"
    platform = varied(TWO_TIERS, ("borrow: {training: 4}, ", ""))
    local = EIGHT + said if file == "environment" else EIGHT
    if file == "platform":
        platform = changed(platform, "tiers:", f"{said}tiers:")
    assert loaded(tmp_path, platform, local).overcommit.cards_milli == 1500


def test_an_overcommit_that_is_a_thousandth_too_small_is_refused(tmp_path: Path) -> None:
    """8 x 1.499 is 11.992, of which 11 whole cards may be promised."""
    platform = varied(TWO_TIERS, ("borrow: {training: 4}, ", ""))
    found = values(tmp_path, platform, EIGHT + "overcommit: {cards: 1.499}\n")
    assert (found["total"], found["limit"]) == (12, 11)


def test_half_a_card_is_not_promised(tmp_path: Path) -> None:
    """5 cards and 1.5: 7 may be promised, not 8."""
    local = varied(EIGHT, ("A100, cards: 8", "A100, cards: 5")) + "overcommit: {cards: 1.5}\n"
    seven = varied(  # and bronze has 2
        PLATFORM,
        ("{A100: 8}", "{A100: 5}"),
        ("borrow: {training: 4}, ", ""),
        ("200000/month", "150000/month"),
    )
    assert told(tmp_path, seven, local) == []
    eight = changed(seven, "{A100: 2}", "{A100: 3}")
    assert told(tmp_path, eight, local) == [("SPEC501", "tiers.gold.cards.training.A100")]


def test_the_environments_overcommit_replaces_the_platforms_key_by_key(tmp_path: Path) -> None:
    """Of what it does not name the platform's word counts; 1 is a word too."""
    much = changed(OVERCOMMIT, "{A100: 2}", "{A100: 16}")
    assert told(tmp_path, much) == []
    other = loaded(tmp_path, much, LOCAL + "overcommit: {core-hours: 1.5}\n").overcommit
    assert (other.cards_milli, other.core_hours_milli) == (1500, 1500)
    strict = LOCAL + "overcommit: {cards: 1}\n"
    assert [code for code, _ in told(tmp_path, much, strict)] == ["SPEC501"]


def test_exactly_what_is_installed_may_be_promised(tmp_path: Path) -> None:
    full = varied(PLATFORM, ("{A100: 2}", "{A100: 8}"))
    assert told(tmp_path, full) == []
    assert told(tmp_path, changed(full, "{A100: 8}}, core", "{A100: 9}}, core")) == [
        ("SPEC501", "tiers.bronze.cards.training.A100")
    ]


def test_a_tier_counts_for_each_of_its_projects(tmp_path: Path) -> None:
    """Gold twice is 16, and bronze 2 more; the largest term is gold's."""
    second = changed(PLATFORM, "  vision: {", "  speech: {tier: gold, users: {sun.li: {}}}\n  vision: {")  # fmt: skip
    found = values(tmp_path, second)
    assert found["terms"] == "gold 8 x 2 + bronze 2 x 1"


def test_a_tier_without_a_project_is_not_counted(tmp_path: Path) -> None:
    more = changed(PLATFORM, "projects:", "  silver: {weight: 2, cards: {training: {A100: 16}}, core-hours: 60000/month, max-time: 8h}\nprojects:")  # fmt: skip
    assert told(tmp_path, more) == [("SPEC505", "tiers.silver")]


def test_an_override_counts_instead_of_its_tier_while_it_holds(tmp_path: Path) -> None:
    """14 and bronze's 2 are the 16 installed; gold's 8 are not there besides."""
    full = with_override("{cards: {training: {A100: 14}}, until: 2026-12-31, reason: release}")
    assert told(tmp_path, full) == []
    over = full.replace("A100: 14", "A100: 15")
    found = values(tmp_path, over)
    assert found["terms"] == "nlp.overrides[0] 15 x 1 + bronze 2 x 1"


def test_an_override_that_has_ended_does_not_count(tmp_path: Path) -> None:
    ended = with_override("{cards: {training: {A100: 99}}, until: 2026-08-31, reason: release}")
    assert told(tmp_path, ended) == [("SPEC609", "projects.nlp.overrides[0].until")]
    before = datetime(2026, 8, 31, 23, 59, 59, tzinfo=UTC)
    assert [code for code, _ in told(tmp_path, ended, now=before)] == ["SPEC501"]


def test_an_override_can_make_room(tmp_path: Path) -> None:
    much = changed(PLATFORM, "{A100: 2}", "{A100: 12}")
    assert [code for code, _ in told(tmp_path, much)] == ["SPEC501"]
    room = with_override("{cards: {training: {A100: 4}}, until: 2026-12-31, reason: room}", much)
    assert "SPEC501" not in {code for code, _ in told(tmp_path, room)}


def given_for_a_time(until: str) -> str:
    """Let vision have, until then, the cards that nlp does without to the end of the year."""
    room = with_override("{cards: {training: {A100: 4}}, until: 2026-12-31, reason: room}")
    own = f"overrides: [{{cards: {{training: {{A100: 12}}}}, until: {until}, reason: r}}]"
    return changed(room, "{tier: bronze,", f"{{tier: bronze, {own},")


@pytest.mark.parametrize("until", ["2026-12-31", "2026-12-31T23:59", "2026-10-01"])
def test_what_an_override_frees_may_be_given_until_it_ends(tmp_path: Path, until: str) -> None:
    assert told(tmp_path, given_for_a_time(until)) == []


def test_what_an_override_frees_is_not_given_for_longer(tmp_path: Path) -> None:
    """Nobody would change a word, and a minute after the year's end the spec would be refused."""
    longer = given_for_a_time("2027-01-01T00:01")
    found = values(tmp_path, longer)
    assert (found["until"], found["total"], found["limit"]) == ("2026-12-31", 20, 16)
    assert found["terms"] == "vision.overrides[0] 12 x 1 + gold 8 x 1"
    assert told(tmp_path, longer) == [("SPEC518", "projects.nlp.overrides[0].cards.training.A100")]
    that_day = told(tmp_path, longer, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert [code for code, _ in that_day] == ["SPEC609", "SPEC501"]


def test_an_override_of_no_cards_frees_all_of_them(tmp_path: Path) -> None:
    """Then gold's 8 are there again, beside bronze's 15."""
    none = with_override(
        "{cards: {training: {A100: 0}}, until: 2026-10-31, reason: room}",
        varied(PLATFORM, ("{A100: 2}", "{A100: 15}"), ("borrow: {training: 4}, ", "")),
    )
    found = values(tmp_path, none)
    assert (found["until"], found["total"]) == ("2026-10-31", 23)


def test_no_end_is_judged_where_the_time_zone_is_mistyped(tmp_path: Path) -> None:
    zone = changed(given_for_a_time("2027-02-01"), "accelerators:", "time-zone: Asia/Shanghay\naccelerators:")  # fmt: skip
    assert [path for _, path in told(tmp_path, zone)] == ["time-zone"]


def test_an_overrides_borrowing_where_its_tier_has_no_queue_is_told_once(tmp_path: Path) -> None:
    own = "overrides: [{borrow: {domestic: 2}, until: 2026-12-31, reason: r}]"
    vision = changed(INFERENCE, "{tier: bronze,", f"{{tier: bronze, {own},")
    assert told(tmp_path, vision) == [("SPEC613", "projects.vision.overrides[0].borrow.domestic")]


def test_a_sliced_card_is_one_card_however_many_slices_it_has(tmp_path: Path) -> None:
    sliced = varied(
        PLATFORM,
        ("[A100], priority", "[A100], sharing: {time-slicing: 4}, priority"),
        ("borrows-from: training", "borrows-from: domestic"),
        ("{A100: 2}", "{A100: 8}"),
    )
    assert told(tmp_path, sliced) == []
    assert [code for code, _ in told(tmp_path, sliced.replace("A100: 8}}, c", "A100: 9}}, c"))] == [
        "SPEC501"
    ]


def test_too_few_hosts_are_told_once(tmp_path: Path) -> None:
    """One card a host instead of eight: promises, borrowing and core-hours would all be off."""
    local = changed(LOCAL, "A100, cards: 8", "A100, cards: 1")
    much = changed(PLATFORM, "200000/month", "300000/month")
    assert [code for code, _ in told(tmp_path, much, local)] == ["SPEC501"]


def test_a_group_in_the_wrong_place_is_not_told_as_a_sum(tmp_path: Path) -> None:
    local = LOCAL + LOCAL.splitlines()[2].replace("[00-01]", "[02-03]") + "\n"
    half = local.replace("training, model: A100", "domestic, model: A100", 1)
    full = changed(PLATFORM, "{A100: 2}", "{A100: 16}")
    assert told(tmp_path, full, local) == []
    assert told(tmp_path, full, half) == [("SPEC408", "nodes[0].model")]


def test_a_model_without_hosts_does_not_hide_a_sum_in_another_pool(tmp_path: Path) -> None:
    local = "".join(line for line in LOCAL.splitlines(keepends=True) if "bi-00" not in line)
    much = changed(PLATFORM, "{A100: 2}", "{A100: 9}")
    assert [code for code, _ in told(tmp_path, much, local)] == ["SPEC316", "SPEC501"]


def test_all_that_others_own_may_be_borrowed(tmp_path: Path) -> None:
    """16 are installed and gold owns 8: borrowing 8 more has an effect, 9 has not."""
    most = changed(PLATFORM, "borrow: {training: 4}", "borrow: {training: 8}")
    assert told(tmp_path, most) == []
    more = changed(PLATFORM, "borrow: {training: 4}", "borrow: {training: 9}")
    assert told(tmp_path, more) == [("SPEC508", "tiers.gold.borrow.training")]


def test_an_overrides_borrowing_is_compared_with_its_own_cards(tmp_path: Path) -> None:
    both = "{cards: {training: {A100: 14}}, borrow: {training: 3}, until: 2026-12-31, reason: r}"
    assert told(tmp_path, with_override(both)) == [
        ("SPEC508", "projects.nlp.overrides[0].borrow.training")
    ]
    assert told(tmp_path, with_override(both.replace("training: 3", "training: 2"))) == []


def test_a_pool_with_burst_has_no_other_limit(tmp_path: Path) -> None:
    assert told(tmp_path, changed(INFERENCE, "{training: 4}", "{training: 4, domestic: 2}")) == [
        ("SPEC507", "tiers.gold.borrow.domestic")
    ]


def test_a_borrower_can_neither_be_granted_nor_lend(tmp_path: Path) -> None:
    borrow = changed(PLATFORM, "{training: 4}", "{elastic: 4}")
    assert told(tmp_path, borrow) == [("SPEC502", "tiers.gold.borrow.elastic")]
    cards = with_override("{cards: {elastic: {A100: 4}}, until: 2026-12-31, reason: agents}")
    assert told(tmp_path, cards) == [("SPEC502", "projects.nlp.overrides[0].cards.elastic")]


def test_tiers_that_differ_in_one_number_are_two(tmp_path: Path) -> None:
    silver = "  silver: {weight: 1, cards: {training: {A100: 2}}, core-hours: 30000/month, max-time: 9h}\nprojects:"  # fmt: skip
    two = varied(
        PLATFORM,
        ("projects:", silver),
        ("  vision: {", "  speech: {tier: silver, users: {sun.li: {}}}\n  vision: {"),
    )
    assert told(tmp_path, two) == []
    same = changed(two, "max-time: 9h", "max-time: 480m")
    assert told(tmp_path, same) == [("SPEC506", "tiers.silver")]


def test_the_present_moment_is_the_files_if_nobody_says_another(tmp_path: Path) -> None:
    """The moment of these tests lies before the end of the overrides that hold in them."""
    assert datetime(2026, 8, 31, tzinfo=UTC) < NOW < datetime(2026, 12, 31, tzinfo=UTC)
    assert told(tmp_path) == []
