"""Checks of the environment's hosts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tallyard import labels
from tallyard.spec import guesses, hosts
from tallyard.spec.document import HostsKeys
from tallyard.spec.draft import Draft, bad_host
from tallyard.spec.fields import LABEL_VALUE_PATTERN, NAME_LENGTH_MAX
from tallyard.spec.problem import Problem

_WRITTEN_MAX = 4 * hosts.HOSTS_MAX
_LABEL_VALUE = re.compile(LABEL_VALUE_PATTERN)


def names(draft: Draft) -> Iterator[Problem]:
    """Host names are legal, each stands once, and there are not more than a cluster holds."""
    group_of: dict[str, int] = {}
    written = 0
    for index, group in enumerate(draft.overlay.keys.nodes):
        steps = ("nodes", index, "hosts")
        try:
            found = hosts.expand(group.hosts, hosts.HOSTS_MAX - len(group_of))
        except hosts.RangeError as error:
            # The limit is the whole environment's, however much of it this group has left.
            values = {**error.values, "limit": hosts.HOSTS_MAX}
            yield draft.problem(error.code, *steps, **values)
            continue
        written += len(found)
        if written > _WRITTEN_MAX:
            return  # hosts that stand twice, and the first thousands of them are told
        bad = bad_host(group.hosts)
        if bad is not None:
            likely = guesses.likely("SPEC403", group.hosts)
            yield draft.problem("SPEC403", *steps, found=bad, nearest=likely)
            continue
        # One problem for each group that has some of the hosts too.
        twice: dict[int, str] = {}
        for name in found:
            other = group_of.setdefault(name, index)
            if other != index:
                twice.setdefault(other, name)
        repeated = next((name for name, count in Counter(found).items() if count > 1), None)
        if repeated is not None:
            twice.setdefault(index, repeated)
        yield from (_twice(draft, name, first, index) for first, name in twice.items())
        if len(group_of) > hosts.HOSTS_MAX:
            yield draft.problem("SPEC402", *steps, found=group.hosts, limit=hosts.HOSTS_MAX)
            return  # each further host would be one too many


def _twice(draft: Draft, name: str, first: int, second: int) -> Problem:
    """Return what is wrong with a host that stands in two groups, by how the groups differ.

    Two pools or two models mean two flavors that select one host: its cards would be counted
    twice.
    """
    groups = draft.overlay.keys.nodes
    old, new = groups[first], groups[second]
    line = draft.line("nodes", first, "hosts")
    values: dict[str, object] = {"found": name, "line": line}
    if old.pool != new.pool:
        values |= {"pool": new.pool, "other_pool": old.pool}
        return draft.problem("SPEC414", "nodes", second, "hosts", **values)
    if old.model != new.model:
        values |= {"model": new.model, "other": old.model}
        return draft.problem("SPEC413", "nodes", second, "hosts", **values)
    return draft.problem("SPEC404", "nodes", second, "hosts", **values)


def places(draft: Draft) -> Iterator[Problem]:
    """Racks and blocks can be shared out over the hosts, and are legal label values."""
    for index, group in enumerate(draft.overlay.keys.nodes):
        # Over hosts whose name is told nothing is spread.
        count = 0 if bad_host(group.hosts) is not None else hosts.count(group.hosts)
        for key, text in (("block", group.block), ("rack", group.rack)):
            try:
                found = hosts.ends(text)
                bad = next((name for name in found if not _is_label_value(name)), None)
                if bad is not None:
                    yield draft.problem("SPEC116", "nodes", index, key, found=bad)
            except hosts.RangeError as error:
                yield draft.problem(error.code, "nodes", index, key, **error.values)
                count = 0
        if count:
            yield from _spread(draft, index, group, count)


def _is_label_value(name: str) -> bool:
    return len(name) <= NAME_LENGTH_MAX and _LABEL_VALUE.fullmatch(name) is not None


def _spread(draft: Draft, index: int, group: HostsKeys, count: int) -> Iterator[Problem]:
    try:
        hosts.check_spread(count, group.rack, group.block)
    except hosts.RangeError as error:
        key = "block" if error.code == "SPEC406" else "rack"
        # `h100-00-23` is the name of one host, where 24 were meant.
        likely = guesses.likely("SPEC405", group.hosts) if count == 1 else ""
        values = {**error.values, "nearest": likely}
        yield draft.problem(error.code, "nodes", index, key, **values)


def cards(draft: Draft) -> Iterator[Problem]:
    """A host has the cards that its pool lists; a host of the CPU pool has none."""
    for index, group in enumerate(draft.overlay.keys.nodes):
        if group.pool == labels.CPU_POOL:
            # A pool of this name is told; its hosts may well have cards.
            if labels.CPU_POOL not in draft.platform.keys.pools:
                yield from _without_cards(draft, index, group)
        else:
            yield from _with_cards(draft, index, group)


def _without_cards(draft: Draft, index: int, group: HostsKeys) -> Iterator[Problem]:
    for key, value in (("model", group.model), ("cards", group.cards)):
        if value is not None:
            yield draft.problem_at_key("SPEC409", "nodes", index, key, key=key)


def _with_cards(draft: Draft, index: int, group: HostsKeys) -> Iterator[Problem]:
    if group.pool not in draft.names.get("pools", ()):
        return  # told as a reference; whether it was to be a pool with cards is not known
    pool = draft.platform.keys.pools.get(group.pool)
    if pool is not None and pool.borrows_from is not None:
        yield draft.problem(
            "SPEC407", "nodes", index, "pool", found=group.pool, lender=pool.borrows_from
        )
        return
    for key, value in (("model", group.model), ("cards", group.cards)):
        if value is None:
            yield draft.problem("SPEC410", "nodes", index, key=key, pool=group.pool)
    models = draft.owned_models(group.pool)
    is_known = group.model in draft.names.get("accelerators", ())
    if models is not None and is_known and group.model not in models:
        yield draft.problem(
            *("SPEC408", "nodes", index, "model"),
            found=group.model,
            pool=group.pool,
            choices=models,
        )


def links(draft: Draft) -> Iterator[Problem]:
    """The hosts of one flavor link their cards in one way: work cannot choose among them.

    Hosts whose links nobody has looked up contradict nobody.
    """
    first: dict[tuple[str, str | None], tuple[str, int]] = {}
    for index, group in enumerate(draft.overlay.keys.nodes):
        if group.links is None:
            continue
        if group.pool == labels.CPU_POOL:
            yield draft.problem_at_key("SPEC409", "nodes", index, "links", key="links")
            continue
        place = (group.pool, group.model)
        other, other_index = first.setdefault(place, (group.links, index))
        if other != group.links:
            yield draft.problem(
                *("SPEC415", "nodes", index, "links"),
                found=group.links,
                other=other,
                line=draft.line("nodes", other_index),
                model=group.model,
                pool=group.pool,
            )


def racks(draft: Draft) -> Iterator[Problem]:
    """A rack lies in one block, whichever groups of hosts stand in it."""
    block_of: dict[str, tuple[str, int]] = {}
    for index, group in enumerate(draft.overlay.keys.nodes):
        told = False
        for block, rack in _racks(group):
            other, other_index = block_of.setdefault(rack, (block, index))
            if other != block and not told:
                told = True
                yield draft.problem(
                    *("SPEC416", "nodes", index, "rack"),
                    found=rack,
                    block=block,
                    other=other,
                    line=draft.line("nodes", other_index),
                )


def _racks(group: HostsKeys) -> tuple[tuple[str, str], ...]:
    """Return the block of each rack; nothing where `places` tells that there is no such order."""
    if bad_host(group.hosts) is not None:
        return ()
    try:
        hosts.check_spread(hosts.count(group.hosts), group.rack, group.block)
        # As many hosts as racks: each stands once, however many hosts there are.
        return hosts.spread(hosts.count(group.rack), group.rack, group.block)
    except hosts.RangeError:
        return ()


def models_present(draft: Draft) -> Iterator[Problem]:
    """Each model of a pool stands in at least one host of the environment."""
    groups = draft.overlay.keys.nodes
    if not draft.is_sound("nodes") or not all(_is_placed(draft, group) for group in groups):
        return
    present = {(group.pool, group.model) for group in groups}
    for name in draft.platform.keys.pools:
        for index, model in enumerate(draft.owned_models(name) or ()):
            if (name, model) not in present:
                yield draft.problem(
                    *("SPEC316", "pools", name, "models", index),
                    found=model,
                    pool=name,
                    overlay=draft.overlay.tree.location.file,
                )


def _is_placed(draft: Draft, group: HostsKeys) -> bool:
    """Return whether the hosts' model is in their pool; the others are told by themselves."""
    models = draft.owned_models(group.pool)
    return group.pool == labels.CPU_POOL or (models is not None and group.model in models)


def cpu_hosts(draft: Draft) -> Iterator[Problem]:
    """CPU hosts and a pool that uses them go together (hosts nobody uses: a warning)."""
    known = {labels.CPU_POOL, *draft.names.get("pools", ())}
    are_known = all(group.pool in known for group in draft.overlay.keys.nodes)
    if not draft.is_sound("nodes", "pools") or not are_known:
        return
    indexes = [i for i, g in enumerate(draft.overlay.keys.nodes) if g.pool == labels.CPU_POOL]
    users = [name for name, pool in draft.platform.keys.pools.items() if pool.cpu]
    if users and not indexes:
        overlay = draft.overlay.tree.location.file
        yield draft.problem_at_key("SPEC411", "pools", users[0], "cpu", overlay=overlay)
    if indexes and not users:
        yield draft.problem("SPEC412", "nodes", indexes[0], "pool")


CHECKS = (names, places, racks, cards, links, models_present, cpu_hosts)
