"""Facts and values of a diff as people read them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tallyard.cli import session
from tallyard.cli.views.spec_diff_facts import _CAUSES, label
from tallyard.cli.views.spec_diff_values import delta_text, duration, value_text
from tallyard.cli.words import word
from tallyard.spec.changes.change import Change, Lasting, Rank, Through, Value
from tallyard.spec.changes.facts import KINDS, NAME, Fact, Unit
from tallyard.spec.model import CoreHours, Period
from tallyard.spec.schema import at, places, platform_schema


@pytest.mark.usefixtures("chinese")
def test_every_fact_and_every_cause_has_a_chinese_name() -> None:
    labels = [label(fact) for fact in Fact]
    assert all(not each.isascii() or each == "vCPU" for each in labels)
    assert set(_CAUSES) == set(Through)
    assert not any(word(text).isascii() for text in _CAUSES.values())


@pytest.mark.usefixtures("chinese")
def test_words_that_the_spec_offers_are_said_in_chinese() -> None:
    """The schema says which there are; a new one without its word would raise."""
    count = 0
    for fact, (unit, _) in KINDS.items():
        if unit in {Unit.CHOICE, Unit.CHOICES}:
            choices = _choices(fact.value)
            count += len(choices)
            value: Value = choices if unit is Unit.CHOICES else choices[0]
            shown = value_text(value, unit)
            assert not any(each in shown for each in choices), fact
            assert all(value_text(each, Unit.CHOICE) != each for each in choices)
    assert count >= 12


def _choices(key: str) -> tuple[str, ...]:
    """Return the words that a key of the platform's file can have, wherever it stands."""
    whole = platform_schema()
    (place,) = {each for each in places(whole) if each[-1] == key and len(each) < 4}
    node = at(whole, place) or {}
    node = node.get("items", node)
    return tuple(node["enum"])


@pytest.mark.usefixtures("chinese")
def test_a_tier_is_never_called_a_mere_level() -> None:
    texts = [word(text) for text in (*_CAUSES.values(), "tier", "Tiers")]
    assert sum("等级" in each for each in texts) >= 4
    assert all("配额等级" in each for each in texts if "等级" in each)


@pytest.mark.parametrize(
    ("fact", "before", "after", "shown"),
    [
        (Fact.CARDS, 16, 24, ("16", "24", "+8")),
        (Fact.CARDS, None, 2, ("", "2", "+2")),
        (Fact.CARDS, 2, None, ("2", "", "-2")),
        (
            Fact.CORE_HOURS,
            CoreHours(600_000, Period.MONTH),
            CoreHours(800_000, Period.MONTH),
            ("600000/month", "800000/month", "+200000 (+33%)"),
        ),
        (
            Fact.CORE_HOURS,
            CoreHours(1_000, Period.DAY),
            CoreHours(7_000, Period.WEEK),
            ("1000/day", "7000/week", "as much an hour"),
        ),
        (
            Fact.CORE_HOURS,
            CoreHours(1_000_000, Period.MONTH),
            CoreHours(33_334, Period.DAY),
            ("1000000/month", "33334/day", "+1%"),
        ),
        (
            Fact.CORE_HOURS,
            CoreHours(50_000, Period.MONTH),
            CoreHours(50_000, Period.DAY),
            ("50000/month", "50000/day", "+2944%"),
        ),
        (
            Fact.CORE_HOURS,
            CoreHours(10_000, Period.DAY),
            CoreHours(69_999, Period.WEEK),
            ("10000/day", "69999/week", "-<1%"),
        ),
        (Fact.RATE, 30_000, 33_500, ("30", "33.5", "+3.5 (+12%)")),
        (Fact.MAX_TIME, 72 * 3600, 5400, ("72h", "1h30m", "-70h30m")),
        (Fact.USER_SHARE, 100, 60, ("100%", "60%", "-40 pp")),
        (Fact.INCLUDES_MEMORY, 2**32, 2**33, ("4Gi", "8Gi", "+4Gi (+100%)")),
        (Fact.OVERCOMMIT_CARDS, 1000, 1500, ("1", "1.5", "+0.5")),
        (Fact.PRIORITY, Rank("a", 10), Rank("a", 20), ("a 10", "a 20", "+10")),
        (Fact.PRIORITY, Rank("a", 10), Rank("b", 20), ("a 10", "b 20", "")),
        (Fact.PRIORITY, None, Rank("b", 20), ("", "b 20", "")),
        (Fact.MODELS, ("A", "B"), ("B",), ("A, B", "B", "")),
        (Fact.PREEMPTIBLE, False, True, ("no", "yes", "")),
        (Fact.DEFAULT_USER, None, "li", ("", "li", "")),
        (Fact.SHARING, 1, 4, ("exclusive", "4 slices", "")),
        (Fact.BORROWED, "keep", "reclaim", ("keep", "reclaim", "")),
        (
            Fact.LASTS,
            Lasting(190, Period.MONTH, Fraction(26, 100)),
            Lasting(6, Period.DAY, Fraction(27, 100)),
            ("190h of a month", "6h of a day", "+4%"),
        ),
        (
            Fact.LASTS,
            Lasting(200, Period.MONTH, Fraction(200, 730)),
            Lasting(100, Period.MONTH, Fraction(100, 730)),
            ("200h of a month", "100h of a month", "-100h (-50%)"),
        ),
        (Fact.LASTS, None, Lasting(24, Period.DAY, Fraction(1)), ("", "all of a day", "")),
    ],
)
def test_values_are_written_as_in_the_spec_and_differences_with_their_sign(
    fact: Fact, before: Value, after: Value, shown: tuple[str, str, str]
) -> None:
    session.begin(session.Lang.EN, no_color=True)
    change = Change(fact, (), before, after)
    unit = KINDS.get(fact, NAME)[0]
    assert change.unit is unit
    assert (value_text(before, unit), value_text(after, unit), delta_text(change)) == shown


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (90, "1m30s"), (3661, "1h1m1s")])
def test_a_time_is_written_exactly(seconds: int, text: str) -> None:
    assert duration(seconds) == text
