"""A file becomes a tree: bytes, characters, YAML events, nodes. Nothing about meaning.

The tree is built here from the parser's flat events, not by PyYAML's own composer: that one
follows aliases, calls itself once per level and reads numbers as YAML 1.1 does.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tallyard.spec import scalars, syntax
from tallyard.spec.problem import Location, Problem
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Entry, Scalar, Sequence, Table, Tree, key_path

# A platform of 5,000 hosts and 1,000 projects has about 1 MB.
FILE_BYTES_MAX = 4_000_000
# The deepest place of the spec is seven levels down.
DEPTH_MAX = 20
# Keys, values, lists and mappings: 10,000 users take about 60,000, and so many take a second.
NODES_MAX = 100_000
# More faults in one text mean that it is another kind of file.
FAULTS_MAX = 10_000

_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_TAB_INDENT = re.compile(r"^ *\t[ \t]*(?=[^\s#])", re.MULTILINE)
# What YAML calls not printable, and the line ends that editors do not count.
_BAD_CHARACTER = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)"
)


@dataclass(frozen=True)
class Source:
    """A file that was read: its text for excerpts, its tree, and what is wrong with it.

    `tree` is None when the file could not be read to its end as YAML.
    """

    file: Path
    text: str
    tree: Table | None
    problems: tuple[Problem, ...]

    @property
    def is_absent(self) -> bool:
        """Whether there is no such file."""
        return any(problem.code == "SPEC001" for problem in self.problems)


def read(path: Path, shown: Path, asked_at: Problem | None = None) -> Source:
    """Read one file.

    Args:
        path: The file to open.
        shown: What messages call it.
        asked_at: The place (and key's path) that a problem with opening the file is
            told at; the file itself where it is None.

    Returns:
        The source. Nothing is raised: whatever is wrong is among its problems.
    """
    data = _bytes(path, shown)
    if isinstance(data, Problem):
        where = asked_at or data
        problem = Problem(data.code, where.location, where.path, data.values)
        return Source(shown, "", None, (problem,))
    text = _text(data, shown)
    if isinstance(text, Problem):
        return Source(shown, data.decode("utf-8", "replace"), None, (text,))
    return parse(text, shown)


def parse(text: str, file: Path) -> Source:
    """Build the tree of a text; see `read`."""
    refused = _characters(text, file)
    if refused:
        return Source(file, text, None, (refused,))
    builder = _Builder(file)
    try:
        tree = builder.document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        builder.problems.append(syntax.problem(error, text, file, _LOADER))
        tree = None
    except yaml.YAMLError as error:
        builder.tell("SPEC010", Location(file, 1, 1), "", detail=str(error))
        tree = None
    return Source(file, text, tree, tuple(builder.problems))


def _bytes(path: Path, shown: Path) -> bytes | Problem:
    at = Location(shown, 1, 1)
    try:
        # A link that leads nowhere, or to itself, is there and no file.
        if not path.exists() and not path.is_symlink():
            likely = _neighbour(path)
            near = str(shown.with_name(likely)) if likely else ""
            return Problem("SPEC001", at, "", {"file": shown, "nearest": near})
        if not path.is_file():
            return Problem("SPEC002", at, "", {"file": shown})
        with path.open("rb") as stream:
            data = stream.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None)
        reason = errno.errorcode.get(number, "") if isinstance(number, int) else ""
        return Problem("SPEC003", at, "", {"file": shown, "reason": reason or "ValueError"})
    if len(data) > FILE_BYTES_MAX:
        return Problem("SPEC004", at, "", {"file": shown, "limit": FILE_BYTES_MAX})
    return data


def _neighbour(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.glob("*.yaml")]
    except OSError:
        return ""
    return nearest(path.name, names)


def _text(data: bytes, shown: Path) -> str | Problem:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Problem("SPEC005", Location(shown, 1, 1), "", {"encoding": " (UTF-16)"})
    try:
        # Some Windows editors put a byte order mark in front; it carries nothing.
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return Problem("SPEC005", Location(shown, line, column), "", {"encoding": ""})


def _characters(text: str, file: Path) -> Problem | None:
    bad = _BAD_CHARACTER.search(text)
    if bad:
        name = f"U+{ord(bad.group()):04X}"
        return Problem("SPEC008", _place(text, bad.start(), file), "", {"character": name})
    tabs = list(_TAB_INDENT.finditer(text))
    if tabs:
        at = _place(text, text.index("\t", tabs[0].start()), file)
        return Problem("SPEC007", at, "", {"count": len(tabs)})
    return None


def _place(text: str, offset: int, file: Path) -> Location:
    line = text.count("\n", 0, offset) + 1
    return Location(file, line, offset - text.rfind("\n", 0, offset))


class _TooMuchError(Exception):
    """A limit was passed; the rest of the file is not looked at."""


class _Builder:
    """Builds a tree from events, and collects what is wrong on the way."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.nodes = 0

    def tell(self, code: str, location: Location, path: str, **values: object) -> None:
        self.problems.append(Problem(code, location, path, values))
        if len(self.problems) >= FAULTS_MAX:
            first = Location(self.file, 1, 1)
            self.problems.append(Problem("SPEC037", first, "", {"limit": FAULTS_MAX}))
            raise _TooMuchError

    def document(self, events: Iterator[Any]) -> Table | None:
        tree: Tree | None = None
        count = 0
        try:
            for event in events:
                if isinstance(event, yaml.DocumentStartEvent):
                    count += 1
                    if count > 1:
                        self.tell("SPEC009", self._at(event), "")
                        break
                    tree = self._node(next(events), events, "", 1)
        except _TooMuchError:
            return None
        return self._checked_root(tree)

    def _checked_root(self, tree: Tree | None) -> Table | None:
        if tree is None or (isinstance(tree, Scalar) and tree.text == ""):
            self.tell("SPEC006", Location(self.file, 1, 1), "")
            return None
        if not isinstance(tree, Table):
            self.tell("SPEC025", tree.location, "")
            return None
        return tree

    def _at(self, event: Any) -> Location:
        return Location(self.file, event.start_mark.line + 1, event.start_mark.column + 1)

    def _node(self, event: Any, events: Iterator[Any], path: str, depth: int) -> Tree:
        at = self._at(event)
        self.nodes += 1
        if depth > DEPTH_MAX or self.nodes > NODES_MAX:
            code, limit = ("SPEC024", DEPTH_MAX) if depth > DEPTH_MAX else ("SPEC036", NODES_MAX)
            self.tell(code, at, path, limit=limit)
            raise _TooMuchError
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.tell("SPEC020", at, path, name=event.anchor)
        if getattr(event, "tag", None) is not None:
            self.tell("SPEC021", at, path, tag=event.tag)
        if isinstance(event, yaml.MappingStartEvent):
            return self._table(at, events, path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(at, events, path, depth)
        return self._scalar(event, at, path)

    def _scalar(self, event: Any, at: Location, path: str) -> Scalar:
        if isinstance(event, yaml.AliasEvent):
            return Scalar(at, path, f"*{event.anchor}", None)
        if event.style:
            return Scalar(at, path, event.value, event.value)
        value, code = scalars.read(event.value)
        if code:
            self.tell(code, at, path, found=event.value)
        return Scalar(at, path, event.value, value)

    def _sequence(self, at: Location, events: Iterator[Any], path: str, depth: int) -> Sequence:
        items: list[Tree] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, f"{path}[{len(items)}]", depth + 1))
        return Sequence(at, path, tuple(items))

    def _table(self, at: Location, events: Iterator[Any], path: str, depth: int) -> Table:
        entries: dict[str, Entry] = {}
        before: Entry | None = None
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, events, path, depth)
            value = self._node(next(events), events, key.path, depth + 1)
            first = entries.setdefault(key.text, Entry(key, value))
            if first.key is not key:
                line = first.key.location.line
                self.tell("SPEC022", key.location, key.path, key=key.text, line=line)
            elif _is_alone(key, value) and before is not None:
                self._rejoin(entries, before, first)
            before = first
        return Table(at, path, entries)

    def _rejoin(self, entries: dict[str, Entry], before: Entry, rest: Entry) -> None:
        """Tell `{cards: 1,5}` as one slip: the comma has cut a number in two."""
        if not _is_number(before.value):
            return
        if self.problems and self.problems[-1].location == rest.key.location:
            del self.problems[-1]  # it was told as a key that is no text
        del entries[rest.key.text]
        at, path = before.value.location, before.value.path
        self.tell("SPEC035", at, path, found=rest.key.text)

    def _key(self, event: Any, events: Iterator[Any], path: str, depth: int) -> Scalar:
        at = self._at(event)
        if not isinstance(event, yaml.ScalarEvent):
            node = self._node(event, events, path, depth + 1)
            if not isinstance(event, yaml.AliasEvent):
                self.tell("SPEC023", at, path)
            return Scalar(at, path, f"?{node.location.line}:{node.location.column}", None)
        here = key_path(path, event.value)
        before = len(self.problems)
        # Nearly all keys: the way through `_node` would make each of them twice.
        if depth < DEPTH_MAX and event.anchor is None and event.tag is None:
            self.nodes += 1
            key: Tree = self._scalar(event, at, here)
        else:
            key = self._node(event, events, here, depth + 1)
        if isinstance(key, Scalar) and isinstance(key.value, str):
            return key
        if before == len(self.problems):
            self.tell("SPEC033", at, here, found=event.value)
        return Scalar(at, here, event.value, event.value)


def _is_alone(key: Scalar, value: Tree) -> bool:
    """Return whether a key begins with a digit and has no value."""
    return key.text[:1].isdigit() and isinstance(value, Scalar) and value.text == ""


def _is_number(value: Tree) -> bool:
    return isinstance(value, Scalar) and type(value.value) in {int, float}
