"""What differs between two specs, in words: sections of rows, for the table and for Markdown.

Pure, but for the language of the run. How the sections are laid out is `spec_diff_table`'s and
`spec_diff_markdown`'s.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable

from tallyard.cli import session
from tallyard.cli.views.spec_diff_facts import (
    facts_section,
    project_block,
    subject_block,
    tier_block,
)
from tallyard.cli.views.spec_diff_hosts import hosts_section
from tallyard.cli.views.spec_diff_notices import notices_section
from tallyard.cli.views.spec_diff_objects import Objects, removed_section, replaced_section
from tallyard.cli.views.spec_diff_parts import Block, Row, Section
from tallyard.cli.views.spec_diff_supply import supply_section
from tallyard.cli.views.spec_diff_waivers import waivers_section
from tallyard.cli.words import word, words
from tallyard.spec.changes.renames import Rename
from tallyard.spec.changes.whole import Changes
from tallyard.spec.messages import sentence
from tallyard.spec.problem import Problem


def sections(
    found: Changes, objects: Objects, warnings: tuple[Problem, ...]
) -> tuple[Section, ...]:
    """Return the sections that have something to tell, in the order in which people look.

    Args:
        found: What differs.
        objects: What happens to objects that cannot simply be changed.
        warnings: Those that the spec had not before.
    """
    tiers = [each for each in found.renames if each.kind == "tier"]
    others = [each for each in found.renames if each.kind != "tier"]
    every = (
        notices_section(found, objects),
        facts_section(
            word("Tiers"), (_renames(tiers), *(tier_block(each, found) for each in found.tiers))
        ),
        facts_section(word("Projects"), (project_block(each, found) for each in found.projects)),
        facts_section(
            word("For everybody"), (_renames(others), *map(subject_block, found.everybody))
        ),
        waivers_section(found),
        hosts_section(found.hosts, found.moves),
        supply_section(found),
        replaced_section(objects.replaced),
        removed_section(objects.removed),
        _warnings(warnings),
    )
    return tuple(each for each in every if any(map(_has_content, each.blocks)))


def _has_content(block: Block) -> bool:
    return bool(block.title or block.rows or block.notes or block.lines)


def _renames(renames: Iterable[Rename]) -> Block:
    return Block("", (), (), tuple(map(_rename, renames)))


def _rename(rename: Rename) -> str:
    zh = session.lang() == "zh"
    kind, old, new = word(rename.kind), rename.before, rename.after
    said = f"{kind} {old} 改名为 {new}" if zh else f"{kind} {old} is now called {new}"
    match rename.kind:
        case "pool":
            more = (
                "；其队列以新名称新建，旧队列会被删除，作业须写新队列名"
                if zh
                else "; its queues are new ones of that name, the old ones are deleted, and work has "
                "to name the new"
            )
        case "accelerator":
            more = (
                f"；主机的标签 gpu.model 用新名称，写明 {old} 的作业将找不到主机"
                if zh
                else f"; hosts have it in gpu.model, and work that names {old} finds none"
            )
        case _:
            more = ""
    return said + more


def _warnings(warnings: tuple[Problem, ...]) -> Section:
    rows = tuple(
        Row(
            (
                each.code,
                f"{each.location.file}:{each.location.line}:{each.location.column}",
                each.path,
                sentence(each, session.lang()),
            )
        )
        for each in warnings
    )
    headings = (*words("CODE", "FILE", "KEY"), "")
    return Section(word("New warnings"), headings, (Block("", (), rows),))
