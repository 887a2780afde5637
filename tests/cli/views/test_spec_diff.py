"""A diff in words: in both languages, at any width, and as Markdown that no name can break."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallyard.cli import session
from tallyard.cli.views.spec_diff import sections
from tallyard.cli.views.spec_diff_facts import _CAUSES, label
from tallyard.cli.views.spec_diff_markdown import escaped, markdown
from tallyard.cli.views.spec_diff_values import delta_text, duration, moment, value_text
from tallyard.cli.words import word
from tallyard.render.immutable import removed, replaced
from tallyard.render.platform import render
from tallyard.spec.changes.change import Change, Rank, Through, Value
from tallyard.spec.changes.facts import KINDS, Fact, Unit
from tallyard.spec.changes.whole import changes
from tallyard.spec.load import load
from tallyard.spec.model import CoreHours, Period
from tests.spec.specs import DATA, changed

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def chinese() -> None:
    session.begin(session.Lang.ZH, no_color=True)


@pytest.mark.usefixtures("chinese")
def test_every_fact_and_every_cause_has_a_chinese_name() -> None:
    labels = [label(fact) for fact in Fact]
    assert all(not each.isascii() or each == "vCPU" for each in labels)
    assert set(_CAUSES) == set(Through)
    assert all("因" in word(text) for text in _CAUSES.values())


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
            ("1000/day", "7000/week", ""),
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
        (Fact.LASTS, 100, None, ("100h", "", "")),
    ],
)
def test_values_are_written_as_in_the_spec_and_differences_with_their_sign(
    fact: Fact, before: Value, after: Value, shown: tuple[str, str, str]
) -> None:
    session.begin(session.Lang.EN, no_color=True)
    change = Change(fact, (), before, after)
    unit = KINDS.get(fact, (Unit.WORD, 0))[0]
    assert change.unit is unit
    assert (value_text(before, unit), value_text(after, unit), delta_text(change)) == shown


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (90, "1m30s"), (3661, "1h1m1s")])
def test_a_time_is_written_exactly(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_the_end_of_an_override_is_told_as_it_is_written_in_the_spec() -> None:
    """`until: 2026-12-31` holds to the end of that day in the platform's time zone."""
    assert moment(datetime(2026, 12, 31, 16, tzinfo=UTC), "Asia/Shanghai") == "2026-12-31"
    half = datetime(2026, 12, 31, 10, tzinfo=UTC)
    assert moment(half, "Asia/Shanghai") == "2026-12-31 18:00 (Asia/Shanghai)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("`code` *b* _i_ ~s~ #1 $m$", r"\`code\` \*b\* \_i\_ \~s\~ \#1 \$m\$"),
        ("\\|", r"\\\|"),
        ("@all", "@<!-- -->all"),
        ("two\nlines\x1b[2J", r"two lines \[2J"),
    ],
)
def test_in_markdown_a_text_is_what_it_is(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_each_project_has_one_table_and_hosts_are_folded_away(tmp_path: Path) -> None:
    session.begin(session.Lang.EN, no_color=True)
    folder = DATA / "diff"
    texts = {name: (folder / f"{name}.yaml").read_text() for name in ("platform", "local")}
    before = load(folder / "local.yaml", NOW).platform
    texts["local"] = changed(texts["local"], "a100-[00-01]", "a100-[00-02]")
    texts["platform"] = changed(texts["platform"], "rate: 30,", "rate: 33,")
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    after = load(tmp_path / "local.yaml", NOW).platform
    assert before is not None
    assert after is not None
    sides = render(before), render(after)
    told = sections(changes(before, after, NOW), replaced(*sides), removed(*sides))
    page = markdown("local", "", told).splitlines()
    projects = page[page.index("### Projects") : page.index("### For everybody")]
    assert [line for line in projects if line.startswith("#### ")] == ["#### nlp", "#### vision"]
    assert sum(line.startswith("| ---") for line in projects) == 2
    folded = page[page.index("<details>") : page.index("</details>")]
    assert folded[1:3] == ["<summary>Hosts</summary>", ""]
    assert any("new a100-02" in line for line in folded)
    widths = {line.count("|") for line in page if line.startswith("|")}
    assert widths == {6}
