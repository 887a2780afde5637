"""All Workloads and pods as they were last seen. No I/O."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tallyard.cluster.sights import Sight, sight_of
from tallyard.cluster.watch import Listed, Seen
from tallyard.cluster.workloads import Workload, read
from tallyard.units import QuantityError

_LOG = logging.getLogger(__name__)

type Item = Mapping[str, Any]


class Scene:
    """One thread's. `works` and `items` are the Workloads, read and as the API has them, by uid."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        self.works: dict[str, Workload] = {}
        self._sights: dict[str, Sight] = {}
        # A pod of each Workload, by namespace and name.
        self._whose: dict[tuple[str, str], Sight] = {}
        # Those that are there and cannot be read.
        self._unread: set[str] = set()
        self._has_works = self._has_pods = False

    @property
    def is_whole(self) -> bool:
        """Say whether all has been seen once: before that, what is missing is not gone."""
        return self._has_works and self._has_pods

    @property
    def sights(self) -> Collection[Sight]:
        """Return all pods of Workloads."""
        return self._sights.values()

    def is_there(self, uid: str) -> bool:
        """Say whether there is such a Workload, one that cannot be read too."""
        return uid in self.works or uid in self._unread

    def see_workloads(self, seen: Seen) -> set[str]:
        """Take what was seen of the Workloads and return which are new, changed or gone."""
        if isinstance(seen, Listed):
            before = self.works
            self.items, self.works, self._unread = {}, {}, set()
            self._has_works = True
            for item in seen.items:
                self.take(item)
            gone = before.keys() - self.works.keys()
            return gone | {
                uid
                for uid, work in self.works.items()
                if uid not in before or before[uid].version != work.version
            }
        uid = str(seen.item["metadata"]["uid"])
        if seen.is_gone:
            self.items.pop(uid, None)
            self.works.pop(uid, None)
            self._unread.discard(uid)
        else:
            self.take(seen.item)
        return {uid}

    def see_pods(self, seen: Seen) -> set[str]:
        """Take what was seen of the pods and return which Workloads are known to be whose by it."""
        if isinstance(seen, Listed):
            self._has_pods = True
            found = [sight for sight in map(sight_of, seen.items) if sight]
            self._sights = {sight.pod: sight for sight in found}
            self._whose.clear()
            return self._identified(found)
        uid = str(seen.item["metadata"]["uid"])
        sight = None if seen.is_gone else sight_of(seen.item)
        if sight is None:
            self._sights.pop(uid, None)
            return set()
        self._sights[uid] = sight
        return self._identified([sight])

    def _identified(self, sights: Iterable[Sight]) -> set[str]:
        """Take from pods whose work is that of which its Workload does not say it."""
        self._whose |= {(each.namespace, each.workload): each for each in sights if each.project}
        found = set()
        for uid, work in self.works.items():
            if not work.project and (each := self._whose.get((work.namespace, work.name))):
                self.works[uid] = replace(work, project=each.project, user=each.user)
                found.add(uid)
        return found

    def take(self, item: Item) -> None:
        """Take a Workload as the API server has just given it back."""
        try:
            seen = read(item)
        except (KeyError, QuantityError) as error:
            # Kueue's own webhook lets none through; whoever went past it gets no quota by us.
            meta = item["metadata"]
            _LOG.error("Workload %s/%s: %r", meta.get("namespace"), meta.get("name"), error)
            self._unread.add(str(meta["uid"]))
            return
        self._unread.discard(seen.uid)
        # A StatefulSet's pods carry the labels, and the Workload that Kueue makes of them has none.
        if not seen.project and (one := self._whose.get((seen.namespace, seen.name))):
            seen = replace(seen, project=one.project, user=one.user)
        known = self.works.get(seen.uid)
        # The answer to a write may be newer than what the watch still tells.
        if known is None or _is_newer(seen.version, known.version):
            self.items[seen.uid], self.works[seen.uid] = item, seen


def _is_newer(version: str, than: str) -> bool:
    """Say whether a version is not older: etcd counts up, and nothing else is asked of them."""
    return not (version.isdecimal() and than.isdecimal()) or int(version) >= int(than)
