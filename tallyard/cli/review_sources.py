"""What a review reads beside the spec: the pins, the stacks' own files, and where keys stand."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from policies.places import FindingPlaces
from policies.stack_file import StackFileError, stack_file
from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.git import git
from tallyard.cli.revision import Repository, Side
from tallyard.cluster.faults import Parts
from tallyard.spec.load import Loaded
from tallyard.spec.places import Places, places_of
from tallyard.spec.problem import Location
from tallyard.spec.source import parse
from tallyard.spec.versions import Versions, VersionsError, parse_versions

_VERSIONS = "versions.yaml"
_STACKS = "Pulumi.*.yaml"
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True)
class Beside:
    """The files beside an environment's: the pins, and those of the stacks.

    Attributes:
        pins: the pins.
        stack: the file of a stack that is one of the environment's, whatever stands in it.
        overlay: the environment's file, for which the folder of `stack` is searched for further
            stacks that name it; None where the one is all.
    """

    pins: Path
    stack: Path
    overlay: Path | None = None

    @classmethod
    def of(cls, overlay: Path) -> Beside:
        """Return those in its own folder; one stack is called as the environment."""
        folder = overlay.parent
        return cls(folder / _VERSIONS, folder / f"Pulumi.{overlay.stem}.yaml", overlay)


@dataclass(frozen=True)
class Sources:
    """What stands in files on one side of a review.

    Attributes:
        versions: the pins.
        places: where the keys of the spec and of the pins stand.
        is_lab: whether every stack's file says that it is a lab's.
        texts: every text that a person writes for this environment, by the name it is shown by.
    """

    versions: Versions
    places: FindingPlaces
    is_lab: bool
    texts: Mapping[Path, str]


def sources_of(repo: Repository, side: Side, loaded: Loaded, beside: Beside) -> Sources:
    """Read the files beside an environment, as they are on its side.

    Args:
        repo: The repository.
        side: The working tree or a revision.
        loaded: The spec of that side.
        beside: The files beside it.

    Raises:
        Complaint: The pins are not there, or cannot be used.
    """
    text, stacks = _text(repo, side, beside.pins), _stacks(repo, side, beside)
    versions = _versions(shown(side, beside.pins), text)
    tree = parse(text or "", shown(side, beside.pins)).tree
    texts = dict(loaded.texts)
    for file, content in {**({} if text is None else {beside.pins: text}), **stacks}.items():
        texts[shown(side, file)] = content
    places = FindingPlaces(places_of(loaded), Places(tree, None, frozenset()))
    return Sources(versions, places, _are_labs(stacks) or False, texts)


def was_no_lab(repo: Repository, side: Side, beside: Beside) -> bool:
    """Return whether the environment was one that pulls its images.

    A change that makes a lab of it is judged as before: the line would else switch off the very
    rules that it is looked at by.
    """
    return _are_labs(_stacks(repo, side, beside)) is False


def versions_of(repo: Repository, side: Side, beside: Beside) -> Versions | None:
    """Return the pins of a side; None where they are not there or something is wrong with them."""
    # The spec of a cluster is no revision of git's, and has no pins beside it.
    if side.revision is not None and not _COMMIT.fullmatch(side.revision.commit):
        return None
    text = _text(repo, side, beside.pins)
    try:
        return None if text is None else parse_versions(text, beside.pins)
    except VersionsError:
        return None


def shown(side: Side, file: Path) -> Path:
    """Return what a file is called to people: one of a revision begins with its name."""
    name = Path(os.path.relpath(file)) if file.is_absolute() else file
    return name if side.revision is None else Path(f"{side.revision.name}:{name.as_posix()}")


def from_root(repo: Repository, side: Side, location: Location) -> str:
    """Return a place's file by its path from the root of the repository, with slashes."""
    file = location.file.as_posix()
    if side.revision is not None and file.startswith(f"{side.revision.name}:"):
        return file.removeprefix(f"{side.revision.name}:")
    # Links stay as they are written: a scanner's reader looks for the name that git has.
    absolute = Path(os.path.abspath(location.file))  # noqa: PTH100
    for path in (absolute, absolute.parent.resolve() / absolute.name):
        if path.is_relative_to(repo.root):
            return path.relative_to(repo.root).as_posix()
    return file


def _text(repo: Repository, side: Side, file: Path) -> str | None:
    """Return the text of a file on a side; None where it is not there or is no file."""
    if side.revision is None:
        try:
            # Whatever is no text in it, as in a revision: the rest is looked at. A pipe would
            # be waited for without end.
            return file.read_bytes().decode("utf-8", "replace") if file.is_file() else None
        except OSError:
            return None
    inside = from_root(repo, Side(None, None), Location(file, 1, 1))
    found = git(repo.root, "cat-file", "blob", f"{side.revision.commit}:{inside}")
    return None if found.returncode else found.stdout.decode("utf-8", "replace")


def _stacks(repo: Repository, side: Side, beside: Beside) -> dict[Path, str]:
    """Return the texts of the stacks that an environment is brought up by, its own first."""
    folder = beside.stack.parent
    names = [] if beside.overlay is None else sorted(_names(repo, side, folder))
    found = {}
    for file in dict.fromkeys((beside.stack, *(folder / name for name in names))):
        text = _text(repo, side, file)
        if text is not None and (file == beside.stack or _is_of(text, beside)):
            found[file] = text
    return found


def _names(repo: Repository, side: Side, folder: Path) -> list[str]:
    """Return the names of all stacks' files in a folder on a side."""
    if side.revision is None:
        return [each.name for each in folder.glob(_STACKS)]
    inside = from_root(repo, Side(None, None), Location(folder / _VERSIONS, 1, 1))
    above = inside.removesuffix(_VERSIONS).rstrip("/")
    listed = git(repo.root, "ls-tree", "-z", "--name-only", f"{side.revision.commit}:{above}")
    names = listed.stdout.decode("utf-8", "replace").split("\0") if not listed.returncode else ()
    return [each for each in names if fnmatchcase(each, _STACKS)]


def _is_of(text: str, beside: Beside) -> bool:
    """Return whether a stack's file names the environment; one that is no YAML names none."""
    try:
        named = stack_file(text).overlay
    except StackFileError:
        return False
    where = os.path.normpath(beside.stack.parent / named)
    return bool(named) and beside.overlay is not None and where == os.path.normpath(beside.overlay)


def _versions(file: Path, text: str | None) -> Versions:
    """Return the pins of a text.

    Raises:
        Complaint: There is none, or something is wrong with it.
    """
    if text is None:
        zh = session.lang() == "zh"
        why = "没有该文件，或其内容不是文本" if zh else "there is no such file, or it is no text"
        raise _no_versions(file, why)
    try:
        return parse_versions(text, file)
    except VersionsError as error:
        raise _no_versions(file, " ".join(str(error).splitlines())) from error


def _no_versions(file: Path, why: str) -> Complaint:
    zh = session.lang() == "zh"
    what = "部署版本无法读取" if zh else "what is deployed cannot be read"
    todo = "按原因中所写修正该文件" if zh else "mend the file as it says"
    return Complaint(ExitCode.USAGE, Parts(str(file), what, why, todo))


def _are_labs(stacks: Mapping[Path, str]) -> bool | None:
    """Return whether all stacks are labs': one that pulls its images is enough. None of none."""
    return all(map(_is_lab, stacks.values())) if stacks else None


def _is_lab(text: str) -> bool:
    """Return whether a stack's file says that the stack is a lab's; one that is no YAML does not."""
    try:
        return stack_file(text).is_lab
    except StackFileError:
        return False
