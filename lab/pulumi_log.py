"""What Pulumi's lines tell: how many objects are done, what it waits for, why it failed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

# A healthy cluster makes or deletes an object in less, but for Kueue's start.
QUIET_SECONDS = 10.0
_CAUSES_SHOWN_MAX = 6
# How Pulumi tells of one object, at its begin, while it waits, and when it is done with it:
# ` -  kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue clusterqueue/nlp-training deleting (1s)`.
# The program names every object by its kind in small letters, its namespace and its name.
_LINE = re.compile(
    r"^ *[-+~]+ +(?P<provider>\w+):\S*?(?P<kind>\w+) (?:[a-z]+/)?(?P<name>\S+)"
    r" \**(?P<verb>creat|updat|delet|replac)(?:(?P<is_begun>ing)(?P<failed> failed)?|ed)\b"
)


class PulumiLog:
    """Follows the lines of one run.

    A line may come in pieces: it is heard when its end has come.
    """

    def __init__(self, now: float) -> None:
        self.done = 0
        self._moved_at = now
        self._piece = ""
        self._under_way: dict[tuple[str, str], str] = {}

    def hear(self, text: str, now: float) -> None:
        """Take what was written since the last time."""
        *lines, self._piece = (self._piece + text).split("\n")
        for line in lines:
            if found := _LINE.match(line):
                self._take(found, now)

    def waits_for(self, now: float) -> str:
        """Return what Pulumi has waited for a while, as a clause; empty while it gets on."""
        if not self._under_way or now - self._moved_at < QUIET_SECONDS:
            return ""
        (kind, name), verb = next(iter(self._under_way.items()))
        more = len(self._under_way) - 1
        others = f" (and {more} more)" if more else ""
        return f"waits for {kind} {name}{others} to be {verb}ed"

    def _take(self, found: re.Match[str], now: float) -> None:
        what = found["kind"], found["name"]
        if not found["is_begun"] or found["failed"]:
            self.done += not found["failed"]
            self._under_way.pop(what, None)
            self._moved_at = now
        # What only holds others together, as the stack does, is under way as long as they are.
        elif found["provider"] == "kubernetes" and what not in self._under_way:
            self._under_way[what] = found["verb"]
            self._moved_at = now


def causes(text: Iterable[str]) -> str:
    """Return the lines of a failed run that say why, as one text.

    Each diagnostic runs from its `error:` to an empty line; of a traceback the last line tells.
    """
    lines = [line.strip() for line in text]
    found: list[str] = []
    for number, line in enumerate(lines):
        if _is_error(line):
            rest = list(takewhile(lambda at: at and not _is_error(at), lines[number + 1 :]))
            told = rest[-1:] if any(at.startswith("Traceback") for at in rest) else rest
            found.append(" ".join([line, *told]))
    return "; ".join(list(dict.fromkeys(found))[:_CAUSES_SHOWN_MAX])


def _is_error(line: str) -> bool:
    return line.lower().startswith(("error:", "panic:"))
