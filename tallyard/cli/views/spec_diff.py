"""What differs between two specs, in words: sections of rows, for the table and for Markdown.

Pure, but for the language of the run. How the sections are laid out is `spec_diff_table`'s and
`spec_diff_markdown`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallyard.cli.views.spec_diff_facts import (
    facts_section,
    project_block,
    subject_block,
    tier_block,
)
from tallyard.cli.views.spec_diff_hosts import hosts_section, supply_section
from tallyard.cli.views.spec_diff_parts import ARROW, Block, Row, Section, joined
from tallyard.cli.words import word, words
from tallyard.render.immutable import Fate, Removed, Replaced
from tallyard.spec.changes.whole import Changes


def sections(
    found: Changes, replaced: tuple[Replaced, ...], removed: tuple[Removed, ...]
) -> tuple[Section, ...]:
    """Return the sections that have something to tell, in the order in which people look."""
    every = (
        facts_section(word("Tiers"), map(tier_block, found.tiers)),
        facts_section(word("Projects"), (project_block(each, found) for each in found.projects)),
        facts_section(word("For everybody"), map(subject_block, found.everybody)),
        hosts_section(found.hosts),
        supply_section(found.supply),
        _replaced(replaced),
        _removed(removed),
    )
    return tuple(each for each in every if any(_has_content(block) for block in each.blocks))


def _has_content(block: Block) -> bool:
    return bool(block.title or block.rows)


def _replaced(found: tuple[Replaced, ...]) -> Section:
    rows = tuple(
        Row(
            (
                each.kind,
                _object_name(each.namespace, each.name),
                field.field,
                f"{field.before} {ARROW} {field.after}",
                word(_WAYS_OUT.get(each.kind, _USUAL_WAY_OUT)),
            )
        )
        for each in found
        for field in each.fields
    )
    headings = (*words("KIND", "NAME", "FIELD", "CHANGE"), "")
    title = word("Objects that cannot be changed, only deleted and made again")
    return Section(title, headings, (Block("", (), rows),))


def _removed(found: tuple[Removed, ...]) -> Section:
    by_kind: dict[tuple[str, Fate], list[str]] = {}
    for each in found:
        by_kind.setdefault((each.kind, each.fate), []).append(
            _object_name(each.namespace, each.name)
        )
    rows = tuple(
        Row((kind, str(len(names)), f"{word(_FATES[fate])}: {joined(names)}"))
        for (kind, fate), names in by_kind.items()
    )
    headings = (*words("KIND", "NUMBER"), "")
    title = word("Objects that are no longer asked for")
    return Section(title, headings, (Block("", (), rows),), right=(1,))


def _object_name(namespace: str | None, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


_FATES: Mapping[Fate, str] = {
    Fate.KEPT: "left in the cluster",
    Fate.PROTECTED: "protected, `pulumi up` refuses",
    Fate.DELETED: "deleted",
}
_USUAL_WAY_OUT = "give it a new name, beside the old one"
_WAYS_OUT: Mapping[str, str] = dict.fromkeys(
    ("PriorityClass", "WorkloadPriorityClass"),
    "leave this priority, add another name with the new value, and move the pools to it",
)
