"""What a reviewer has to know before all details: refusals, likely slips, what has to be done."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tallyard.cli import session
from tallyard.cli.views.spec_diff_objects import NewFlavor, Objects
from tallyard.cli.views.spec_diff_parts import ARROW, Block, Section, joined, place
from tallyard.cli.views.spec_diff_waivers import waiver_notices
from tallyard.cli.words import word
from tallyard.render.fates import Fate
from tallyard.spec.changes.change import Presence
from tallyard.spec.changes.hosts import Move, ranges
from tallyard.spec.changes.projects import ProjectChange
from tallyard.spec.changes.whole import Changes

# Both objects of a priority are told as one thing.
_OF_PRIORITY = "PriorityClass"


def notices_section(found: Changes, objects: Objects) -> Section:
    """Return what stands above everything else."""
    notes = tuple(_notices(found, objects))
    return Section(word("Before you apply this"), (), (Block("", (), (), notes),))


def ways_of(move: Move) -> tuple[str, str]:
    """Return where hosts were and where they are; the models only where these differ."""
    if move.model_before == move.model:
        return move.pool_before, move.pool
    return place(move.pool_before, move.model_before), place(move.pool, move.model)


def _notices(found: Changes, objects: Objects) -> Iterator[str]:
    yield from _refusals(objects)
    # Of an environment that goes as a whole nothing is applied.
    if found.environment is not Presence.REMOVED:
        yield from _lost_priorities(objects)
    yield from waiver_notices(found)
    yield from _likely_renames(found.projects)
    yield from map(_move, found.moves)
    if objects.flavors:
        yield _flavors(objects.flavors)


def _refusals(objects: Objects) -> Iterator[str]:
    for each in objects.replaced:
        if each.kind != _OF_PRIORITY or not each.is_refused:
            continue
        for field in each.fields:
            if session.lang() == "zh":
                yield (
                    f"`pulumi up` 会拒绝优先级 {each.name} 的新值（{field.before} {ARROW} "
                    f"{field.after}），且不做任何改动：它的两个对象受保护，运行中的作业保留旧值。"
                    f"请保留 {each.name} 原样，以另一个名称新增值为 {field.after} 的优先级，"
                    "再让资源池改用它"
                )
            else:
                yield (
                    f"`pulumi up` refuses priority {each.name} {field.before} {ARROW} "
                    f"{field.after} before it does anything: its two objects are protected, for "
                    f"running work keeps the old value. Leave {each.name} as it is, add a priority "
                    f"of another name with {field.after}, and move the pools to it"
                )


def _lost_priorities(objects: Objects) -> Iterator[str]:
    for each in objects.removed:
        if each.kind == _OF_PRIORITY and each.fate is Fate.PROTECTED:
            yield (
                f"`pulumi up` 会拒绝删除优先级 {each.name}，且不做任何改动：它的两个对象受保护。"
                "请把它留在 priorities 中，不必有资源池使用它"
                if session.lang() == "zh"
                else f"`pulumi up` refuses to delete priority {each.name} before it does anything: "
                "its two objects are protected. Leave it in `priorities`; no pool has to use it"
            )


def _likely_renames(projects: Iterable[ProjectChange]) -> Iterator[str]:
    for each in projects:
        if each.rename_of is not None:
            old, new, id_before = each.rename_of.key, each.key, each.rename_of.id
            yield (
                f"项目 {old} 消失，{new} 出现，配额等级相同、成员大致相同。如果这是改名，请在 {new} "
                f"中写 `id: {id_before}`；否则 {old} 的队列会被删除，其命名空间留在原处"
                if session.lang() == "zh"
                else f"project {old} goes and {new} comes, of the same tier and with mostly the "
                f"same people. If this is a rename, write `id: {id_before}` in {new}; otherwise the "
                f"queues of {old} are deleted, and its namespace stays behind"
            )


def _move(move: Move) -> str:
    hosts, (old, new) = joined(ranges(move.hosts)), ways_of(move)
    if session.lang() == "zh":
        return f"{hosts} 从 {old} 移到 {new}：请先排空"
    verb = "moves" if len(move.hosts) == 1 else "move"
    return f"{hosts} {verb} from {old} to {new}: drain first"


def _flavors(flavors: tuple[NewFlavor, ...]) -> str:
    places = joined(place(each.pool, each.model) for each in flavors)
    if session.lang() == "zh":
        return f"{places}：新 flavor 与旧的并存；运行中的作业留在旧的上，新作业用新的"
    noun = "a new flavor comes" if len(flavors) == 1 else "new flavors come"
    return f"{places}: {noun} beside the old; running work stays on the old, new work gets the new"
