"""A diff in words: in both languages, at any width, and as Markdown that no name can break."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tallyard.cli import session
from tallyard.cli.views.spec_diff import sections
from tallyard.cli.views.spec_diff_markdown import escaped, markdown
from tallyard.cli.views.spec_diff_notices import ways_of
from tallyard.cli.views.spec_diff_objects import objects
from tallyard.cli.views.spec_diff_parts import Section
from tallyard.spec.changes.hosts import Move
from tallyard.spec.changes.warnings import new_warnings
from tallyard.spec.changes.whole import changes
from tallyard.spec.load import load
from tests.spec.specs import DATA, changed

NOW = datetime(2026, 12, 1, tzinfo=UTC)


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


@pytest.mark.parametrize(
    "text",
    [
        "see www.github.com and https://github.com/x",
        "http://example.com ftp://ftp.gnu.org/gnu HTTPS://GITHUB.COM WWW.GITHUB.COM",
        "mail root@kernel.org, mailto:a.b-c_d@kernel.org, xmpp:a@jabber.org/room",
        "(www.github.com) *www.github.com _https://github.com ~www.github.com",
        "ssh://git@github.com:22/x",
    ],
)
def test_no_address_in_a_text_becomes_a_link_in_markdown(text: str) -> None:
    """A comment parts each: GFM links what stands together in one text, escaped or not."""
    parts = [
        html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part))
        for part in escaped(text).split("<!-- -->")
    ]
    assert "".join(parts) == text
    # How all that GFM recognizes begins, and an address of mail goes on.
    begins = re.compile(r"://|www\.|@\w", re.IGNORECASE)
    assert begins.search(text)
    assert not [part for part in parts if begins.search(part)]


type Told = Callable[..., tuple[Section, ...]]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """Return what is told of some texts that are replaced in the small spec, in English."""
    session.begin(session.Lang.EN, no_color=True)
    folder = DATA / "diff"

    def sections_of(*pairs: tuple[str, str], before: tuple[tuple[str, str], ...] = ()) -> Any:
        sides = []
        for name, replacements in (("before", before), ("after", pairs)):
            for file in ("platform", "local"):
                text = (folder / f"{file}.yaml").read_text()
                for old, new in replacements:
                    text = changed(text, old, new) if old in text else text
                (tmp_path / name).mkdir(exist_ok=True)
                (tmp_path / name / f"{file}.yaml").write_text(text)
            sides.append(load(tmp_path / name / "local.yaml", NOW))
        was, now = (side.platform for side in sides)
        assert was is not None, sides[0].problems
        assert now is not None, sides[1].problems
        warnings = new_warnings(sides[0].problems, sides[1].problems)
        return sections(changes(was, now, NOW), objects(was, now), warnings)

    return sections_of


def _section(told: tuple[Section, ...], title: str) -> Section:
    (found,) = (each for each in told if each.title == title)
    return found


def _rows(section: Section) -> list[tuple[str, ...]]:
    return [row.cells for block in section.blocks for row in block.rows]


def _notes(section: Section) -> list[str]:
    return [note for block in section.blocks for note in block.notes]


FIRST = "Before you apply this"


def test_each_project_has_one_table_and_hosts_are_folded_away(told: Told) -> None:
    found = told(("a100-[00-01]", "a100-[00-02]"), ("rate: 30,", "rate: 33,"))
    page = markdown("local", "", found).splitlines()
    projects = page[page.index("### Projects") : page.index("### For everybody")]
    assert [line for line in projects if line.startswith("#### ")] == ["#### nlp", "#### vision"]
    assert sum(line.startswith("| ---") for line in projects) == 2
    folded = page[page.index("<details>") : page.index("</details>")]
    assert folded[1:3] == ["<summary>Hosts</summary>", ""]
    assert any("new a100-02" in line for line in folded)
    widths = {line.count("|") for line in page if line.startswith("|")}
    assert widths == {6}


def test_a_refused_priority_stands_first_with_its_way_out_and_nothing_says_otherwise(
    told: Told,
) -> None:
    found = told(("training, value: 1000", "training, value: 2000"))
    assert found[0].title == FIRST
    (note,) = _notes(found[0])
    assert "`pulumi up` refuses priority training 1000 → 2000" in note
    assert "add a priority of another name with 2000" in note
    page = markdown("local", "", found)
    assert "deleted and made again" not in page
    kinds = {row[0]: row[-1] for row in _rows(_section(found, "Objects that cannot be changed"))}
    assert "Kubernetes takes no other value" in kinds["PriorityClass"]
    assert "Kueue would take another value" in kinds["WorkloadPriorityClass"]
    assert all("refuses" in each for each in kinds.values())
    ranks = [row for row in _rows(_section(found, "Projects")) if row[0].startswith("priority ")]
    assert ranks
    assert {row[-1] for row in ranks} == {"`pulumi up` refuses it"}


def test_a_priority_that_goes_is_refused_too(told: Told) -> None:
    more = ("  - {name: elastic", "  - {name: spare, value: 7}\n  - {name: elastic")
    (note,) = _notes(told(before=(more,))[0])
    assert "refuses to delete priority spare" in note


def test_hosts_that_move_stand_above_the_details(told: Told) -> None:
    move = (
        "nodes:\n  - {hosts: 'a100-[00-01]', pool: domestic, model: BI-V150, cards: 8, "
        "cpu: 128, memory: 1Ti, block: b0, rack: r0}"
    )
    fewer = ('"a100-[00-01]", pool', '"a100-[02-03]", pool')
    found = told(("nodes:", move), fewer)
    assert _notes(found[0]) == [
        "a100-[00-01] move from training A100 to domestic BI-V150: drain first"
    ]
    assert [row[-1] for row in _rows(_section(found, "Hosts"))] == [
        "a100-[00-01] from training A100",
        "new a100-[02-03]; a100-[00-01] to domestic BI-V150",
    ]
    page = markdown("local", "", found)
    assert page.index("drain first") < page.index("<details>")


def test_between_pools_of_one_model_only_the_pools_are_named() -> None:
    assert ways_of(Move(("l-1",), "serving", "slices", "L40S", "L40S")) == ("serving", "slices")
    assert ways_of(Move(("l-1",), "cpu", "slices", None, "L40S")) == ("cpu", "slices L40S")


def test_a_flavor_that_comes_beside_another_is_told_before_all(told: Told) -> None:
    found = told(("RTX: {vendor: nvidia, memory: 24Gi", "RTX: {vendor: nvidia, memory: 48Gi"))
    (note,) = _notes(found[0])
    assert note == (
        "inference RTX: a new flavor comes beside the old; running work stays on the old, new work "
        "gets the new"
    )
    (note,) = _notes(told(("topology: [block, rack, host]", "topology: [rack, host]"))[0])
    assert note.startswith("training A100, inference RTX, domestic BI-V150, cpu: new flavors come")


def test_a_key_that_is_changed_without_an_id_is_asked_about(told: Told) -> None:
    found = told(("  vision: {tier", "  sight: {tier"))
    (note,) = _notes(found[0])
    assert "write `id: vision` in sight; otherwise the queues of vision are deleted" in note
    assert any("`id: vision`" in each for each in _notes(_section(found, "Projects")))


def test_the_id_that_is_asked_for_is_the_old_projects_own(told: Told) -> None:
    own = ("  vision: {tier", "  vision: {id: v-1, tier")
    (note,) = _notes(told(("  vision: {tier", "  sight: {tier"), before=(own,))[0])
    assert note.startswith("project vision goes and sight comes")
    assert "write `id: v-1` in sight" in note


def test_a_new_name_is_one_line_with_what_it_costs(told: Told) -> None:
    found = told(
        ("  bronze: {", "  silver: {"),
        ("tier: bronze", "tier: silver"),
        ("  elastic: {", "  stretchy: {"),
    )
    (tier,), (pool,) = (_notes(_section(found, title)) for title in ("Tiers", "For everybody"))
    assert tier == "tier bronze is now called silver"
    assert pool == (
        "pool elastic is now called stretchy; its queues are new ones of that name, the old "
        "ones are deleted, and work has to name the new"
    )
    assert _rows(_section(found, "Tiers")) == _rows(_section(found, "For everybody")) == []


SLICED = ("burst: 50%", "sharing: {time-slicing: 4}")


TWICE = ("inference: {RTX: 4}", "inference: {RTX: 8}")


def test_of_sliced_cards_the_slices_are_told_too(told: Told) -> None:
    found = told(SLICED, TWICE, before=(SLICED,))
    cards = "cards inference RTX"
    for title, note in (("Tiers", ""), ("Projects", "; through tier gold")):
        (row,) = (row for row in _rows(_section(found, title)) if row[0] == cards)
        assert row[-1] == f"8 cards = 32 slices{note}"
    supply = _rows(_section(found, "Cards and core-hours"))
    assert supply[0] == ("inference RTX", "8", "4 → 8", "4 → 0", "8 cards = 32 slices")


@pytest.mark.parametrize(
    ("before", "after", "row"),
    [
        ((), (SLICED,), ("sharing", "exclusive", "4 slices", "", "")),
        ((SLICED,), (), ("sharing", "4 slices", "exclusive", "", "")),
    ],
)
def test_how_a_pool_shares_its_cards_is_said_as_the_spec_does(
    before: tuple[tuple[str, str], ...],
    after: tuple[tuple[str, str], ...],
    row: tuple[str, ...],
    told: Told,
) -> None:
    found = told(*after, before=before)
    assert row in _rows(_section(found, "For everybody"))
    notes = [each[-1] for each in _rows(_section(found, "Cards and core-hours"))]
    assert notes[0] == ("8 cards = 32 slices" if after else "8 cards = 32 slices → 8 cards")


def test_what_may_be_granted_has_a_column_where_it_is_not_what_there_is(told: Told) -> None:
    found = told(("\ntiers", "\novercommit: {cards: 1.5, core-hours: 1}\ntiers"))
    section = _section(found, "Cards and core-hours")
    assert section.headings == (
        *("POOL", "INSTALLED", "MAY BE GRANTED", "GRANTED", "NOT GRANTED"),
        "",
    )
    assert _rows(section)[0] == ("training A100", "16", "16 → 24", "10", "6", "")
    plain = _section(told(TWICE), "Cards and core-hours")
    assert plain.headings == ("POOL", "INSTALLED", "GRANTED", "NOT GRANTED", "")
    assert _rows(plain)[-1] == (
        *("core-hours a month", "486513", "230000", "256513"),
        "installed: what all cards give at 90% availability",
    )


def test_warnings_that_were_there_before_are_not_told_again(told: Told) -> None:
    short = ("30000/month", "1000/month")
    found = told(short)
    (row,) = _rows(_section(found, "New warnings"))
    assert row[0] == "SPEC509"
    assert row[1].endswith("/after/platform.yaml:21:65")
    assert row[2] == "tiers.bronze.core-hours"
    assert "SPEC509" in markdown("local", "", found)
    assert "New warnings" not in {each.title for each in told(short, TWICE, before=(short,))}


def test_an_override_is_over_on_the_side_on_which_it_has_ended(told: Told) -> None:
    def until(day: str) -> tuple[str, str]:
        override = f"[{{max-time: 12h, until: {day}, reason: a paper}}]"
        return "vision: {tier: bronze,", f"vision: {{tier: bronze, overrides: {override},"

    found = told(until("2026-11-29"), before=(until("2026-12-31"),))
    (block,) = _section(found, "Projects").blocks
    assert block.lines == (
        "- override until 2026-12-31 (a paper): max-time 12h",
        "+ override that has ended on 2026-11-29 (a paper): max-time 12h",
    )


def test_who_moves_between_projects_is_neither_new_nor_gone(told: Told) -> None:
    found = told((", chen.yu: {}", ""), ("{zhao.min: {}}", "{zhao.min: {}, chen.yu: {}}"))
    rows = [row for row in _rows(_section(found, "Projects")) if "chen.yu" in row[0]]
    assert [row[-2:] for row in rows] == [
        ("moved", "to project vision"),
        ("moved", "from project nlp"),
    ]


WAIVER = "{rule: images-pinned, objects: [Job/nlp/*], reason: a mirror|x, until: 2026-12-31}"


def waived(*entries: str) -> tuple[str, str]:
    return "\ntiers", f"\nwaivers: [{', '.join(entries)}]\ntiers"


def test_a_waiver_that_comes_stands_at_the_top_and_in_its_section(told: Told) -> None:
    found = told(waived(WAIVER))
    said = "for Job/nlp/* until 2026-12-31 (a mirror|x)"
    assert found[0].title == FIRST
    assert _notes(found[0]) == [f"the rule images-pinned is waived {said}"]
    (block,) = _section(found, "Waivers").blocks
    assert block.lines == (f"+ images-pinned {said}",)
    page = markdown("local", "", found)
    assert (
        r"- the rule images-pinned is waived for Job/nlp/\* until 2026-12-31 (a mirror\|x)" in page
    )
    assert r"- \+ images-pinned for Job/nlp/\*" in page


def test_a_waiver_is_told_in_chinese_too(told: Told) -> None:
    session.begin(session.Lang.ZH, no_color=True)
    (note,) = _notes(told(waived(WAIVER), before=())[0])
    assert note == "规则 images-pinned 被豁免：Job/nlp/*，到 2026-12-31 为止（a mirror|x）"  # noqa: RUF001


def test_a_waiver_that_is_prolonged_stands_at_the_top_too(told: Told) -> None:
    longer = WAIVER.replace("2026-12-31", "2027-03-31")
    found = told(waived(longer), before=(waived(WAIVER),))
    (note,) = _notes(found[0])
    assert note.startswith(
        "the waiver of the rule images-pinned says something else: for Job/nlp/*"
    )
    (block,) = _section(found, "Waivers").blocks
    assert [line[:1] for line in block.lines] == ["-", "+"]


def test_a_waiver_that_goes_is_told_below_and_no_warning_stands_above(told: Told) -> None:
    found = told(before=(waived(WAIVER),))
    assert [each.title for each in found] == ["Waivers"]
    (block,) = found[0].blocks
    assert block.lines == ("- images-pinned for Job/nlp/* until 2026-12-31 (a mirror|x)",)


def test_a_waiver_that_has_ended_by_its_change_is_told_as_gone_and_as_a_warning(told: Told) -> None:
    over = WAIVER.replace("2026-12-31", "2026-11-29")
    found = told(waived(over), before=(waived(WAIVER),))
    assert [each.title for each in found] == ["Waivers", "New warnings"]
