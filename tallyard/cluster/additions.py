"""What somebody has added by hand to an object: more elements of a list, another restriction.

Pulumi's provider compares as many elements of a list as it once wrote, and no field that it never
wrote. So one more subject of a RoleBinding, or a match condition that lets a policy look away,
is nothing to it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallyard.cluster.conditions import Object

type Path = tuple[str | int, ...]

# Of these nothing is filled in by the server but single values and empty selectors: whatever else
# stands in a field that was never written is somebody's.
_CLOSED = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "PriorityClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)
# The server's own, and `metadata`, where everybody may add.
_NOT_OURS = frozenset({"apiVersion", "kind", "metadata", "status"})
_ABSENT = object()


@dataclass(frozen=True)
class Addition:
    """A field or an element of a list that was not written by us; `path` is in the live object."""

    path: Path
    value: Any

    @property
    def field(self) -> str:
        """Return the path as a person reads it: `rules[0].verbs[2]`."""
        return "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path
        ).removeprefix(".")

    @property
    def pointer(self) -> str:
        """Return the path as a JSON pointer (RFC 6901)."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in self.path)
        return "".join(f"/{step}" for step in steps)


def may_have_any(applied: Object) -> bool:
    """Say whether an object is of a form to which something can be added unseen."""
    return applied.get("kind") in _CLOSED or any(
        _holds_list(value) for key, value in applied.items() if key not in _NOT_OURS
    )


def additions(applied: Object, live: Object) -> tuple[Addition, ...]:
    """Return what is in a live object beyond what was applied, by its path.

    What was changed in place is no addition: Pulumi sees it.

    Args:
        applied: The object as it was sent.
        live: The object as the API server has it.
    """
    skipped = _NOT_OURS
    if "aggregationRule" in live:
        # The rules of such a role are put together by a controller.
        skipped |= {"rules"}
    sent, found = (
        {key: value for key, value in each.items() if key not in skipped}
        for each in (applied, live)
    )
    return tuple(_in_mapping(sent, found, (), is_closed=live.get("kind") in _CLOSED))


def removal(found: Sequence[Addition]) -> list[dict[str, Any]]:
    """Return the JSON patch (RFC 6902) that takes additions of one object out again.

    Elements are removed and none is written: so no field manager comes to own what another
    release would then be unable to take away. Each is compared first, so that none but these goes.
    """
    # The last first: what is taken out before an element would move it.
    last_first = sorted(found, key=_order, reverse=True)
    return [
        {"op": op, "path": each.pointer} | ({"value": each.value} if op == "test" else {})
        for each in last_first
        for op in ("test", "remove")
    ]


def covers(live: Any, applied: Any) -> bool:
    """Return whether all that was applied is there; elements of a list in any order, and others too."""
    if isinstance(applied, Mapping):
        return isinstance(live, Mapping) and all(
            covers(live.get(key, _ABSENT), value) for key, value in applied.items()
        )
    if _is_list(applied):
        return _is_list(live) and len(_found(applied, live)) == len(applied)
    return bool(live == applied)


def _order(addition: Addition) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (0, step) for step in addition.path]


def _in_mapping(
    applied: Object, live: Object, path: Path, *, is_closed: bool
) -> Iterator[Addition]:
    for key, value in live.items():
        place = (*path, key)
        was = applied.get(key, _ABSENT)
        if was is not _ABSENT and was is not None:
            yield from _within(was, value, place, is_closed=is_closed)
        elif is_closed and (value is True or (_is_collection(value) and value)):
            yield Addition(place, value)


def _within(applied: Any, live: Any, path: Path, *, is_closed: bool) -> Iterator[Addition]:
    if isinstance(applied, Mapping) and isinstance(live, Mapping):
        yield from _in_mapping(applied, live, path, is_closed=is_closed)
    elif _is_list(applied) and _is_list(live):
        pairs, others = _paired(applied, live)
        for was, at in pairs:
            yield from _within(applied[was], live[at], (*path, at), is_closed=is_closed)
        yield from (Addition((*path, at), live[at]) for at in others)


def _paired(applied: Sequence[Any], live: Sequence[Any]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return which element of one list is which of the other, and those that are left over.

    Those that are there as they were applied find each other wherever they stand; of what was
    edited the first is taken for the first.
    """
    pairs = _found(applied, live)
    edited = [was for was in range(len(applied)) if was not in pairs]
    left = [at for at in range(len(live)) if at not in pairs.values()]
    return [*pairs.items(), *zip(edited, left, strict=False)], left[len(edited) :]


def _found(applied: Sequence[Any], live: Sequence[Any]) -> dict[int, int]:
    """Return where the elements are that are there as they were applied."""
    left, found = list(range(len(live))), {}
    for was, element in enumerate(applied):
        at = next((at for at in left if covers(live[at], element)), None)
        if at is not None:
            left.remove(at)
            found[was] = at
    return found


def _holds_list(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_list, value.values()))
    return _is_list(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_collection(value: Any) -> bool:
    return _is_list(value) or isinstance(value, Mapping)
