"""A spec as it is in the working tree or at a revision of git. Nothing is written or checked out.

The two files of an environment are read out of git's objects into a temporary folder that
mirrors the repository's place, and are loaded there by the same code as those of the working
tree; what is wrong with them is told as `REV:stacks/platform.yaml:41:14`.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.git import complaint, git, words
from tallyard.failures import one_line
from tallyard.spec.load import Loaded, load
from tallyard.spec.source import read
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Scalar, child

_REFS_MAX = 5_000
_REFS_SHOWN_MAX = 8


@dataclass(frozen=True)
class Repository:
    """A repository of git; `root` is the real path of its top folder."""

    root: Path


@dataclass(frozen=True)
class Revision:
    """A commit, by the name that a person gave it."""

    name: str
    commit: str


@dataclass(frozen=True)
class Side:
    """An environment at a revision; None for the working tree.

    `loaded` is None where the environment's file is not there.
    """

    revision: Revision | None
    loaded: Loaded | None


def repository(path: Path) -> Repository:
    """Return the repository that a file lies in, or would lie in.

    Raises:
        Complaint: There is no git, or no repository, or git refuses it.
    """
    try:
        folder = next(each for each in path.absolute().parents if each.is_dir())
    except OSError as error:
        # The working folder has been deleted.
        detail = error.strerror or str(error)
        raise complaint("no-repository", str(path), detail=detail) from error
    found = git(folder, "rev-parse", "--show-toplevel")
    root = os.fsdecode(found.stdout).removesuffix("\n")
    if found.returncode or not root:
        raise complaint("no-repository", str(folder), detail=words(found))
    return Repository(Path(root).resolve())


def revision(repo: Repository, name: str) -> Revision:
    """Return the commit that a name stands for: a branch, a tag, a hash, HEAD~1.

    Raises:
        Complaint: There is none.
    """
    # Git lets no name begin with a dash, and would take this one for an option.
    if name and not name.startswith("-") and name.isprintable():
        found = git(repo.root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        commit = found.stdout.decode("ascii", "replace").strip()
        if not found.returncode and commit.isalnum():
            return Revision(name, commit)
    raise _no_revision(repo, name)


def in_working_tree(overlay: Path, now: datetime) -> Side:
    """Return an environment as its files are now."""
    return Side(None, load(overlay, now) if os.path.lexists(overlay) else None)


def at_revision(repo: Repository, at: Revision, overlay: Path, now: datetime) -> Side:
    """Return an environment as it is at a revision.

    Args:
        repo: The repository.
        at: The revision.
        overlay: The environment's file in the working tree, where it need not be.
        now: The moment at which overrides hold or have ended.

    Raises:
        Complaint: The file lies outside of the repository, or there is no room for a copy.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="tally-") as made:
            mirror = Path(made).resolve()
            # What leads out of a repository is refused by the loader, here as there.
            (mirror / ".git").mkdir()
            for inside in _inside(repo, overlay):
                if _copy(repo, at, inside, mirror):
                    _copy_base(repo, at, inside, mirror)
                    loaded = load(mirror / inside, now)
                    return Side(at, loaded.renamed(_names(loaded, at, mirror)))
            return Side(at, None)
    except OSError as error:
        detail = error.strerror or str(error)
        raise complaint("no-room", str(error.filename or ""), detail=detail) from error


def _inside(repo: Repository, overlay: Path) -> tuple[str, ...]:
    """Return the paths that a file may have from the repository's root, with slashes.

    The folder may be a link today and have been none at the revision, or the other way round.
    """
    named = Path(os.path.normpath(overlay.absolute()))
    real = overlay.absolute().parent.resolve() / overlay.name
    found = [
        path.relative_to(repo.root).as_posix()
        for path in dict.fromkeys((named, real))
        if path.is_relative_to(repo.root)
    ]
    if not found:
        raise complaint("outside", str(overlay), root=str(repo.root))
    return tuple(found)


def _copy(repo: Repository, at: Revision, path: str, mirror: Path) -> bool:
    """Put a file of a revision into the mirror; return whether there is one."""
    kind, content = _object(repo, at, path)
    target = mirror / path
    if kind == "blob":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    elif kind == "tree":
        target.mkdir(parents=True, exist_ok=True)
    return kind in {"blob", "tree"}


def _copy_base(repo: Repository, at: Revision, overlay: str, mirror: Path) -> None:
    """Put the platform's file into the mirror, where the environment's says which one it is."""
    source = read(mirror / overlay, Path(overlay))
    node = child(source.tree, "base") if source.tree else None
    base = node.value if isinstance(node, Scalar) else None
    if not isinstance(base, str) or not base or "\0" in base or posixpath.isabs(base):
        return
    path = posixpath.normpath(posixpath.join(posixpath.dirname(overlay), base))
    if path != ".." and not path.startswith("../"):
        _copy(repo, at, path, mirror)


def _object(repo: Repository, at: Revision, path: str) -> tuple[str, bytes]:
    """Return what stands at a path of a revision: its kind, and a file's content.

    Links within the repository are followed. The kind is `blob`, `tree`, `symlink` for a link
    that leads out of it (the content is where to), or another word for nothing.
    """
    name = os.fsencode(f"{at.commit}:{path}")
    if b"\n" in name:
        # The list of names that git reads has one on each line.
        found = git(repo.root, "cat-file", "blob", os.fsdecode(name))
        return ("missing", b"") if found.returncode else ("blob", found.stdout)
    found = git(repo.root, "cat-file", "--batch", "--follow-symlinks", stdin=name + b"\n")
    if found.returncode:
        raise complaint("unreadable", f"{at.name}:{path}", detail=words(found))
    head, _, rest = found.stdout.partition(b"\n")
    parts = head.split(b" ")
    if head.endswith(b" missing"):
        return "missing", b""
    # Links say their kind and size; objects their hash, kind and size.
    kind = parts[0] if parts[0] in {b"symlink", b"dangling", b"loop", b"notdir"} else parts[1]
    return kind.decode("ascii", "replace"), rest[: int(parts[-1])]


def _names(loaded: Loaded, at: Revision, mirror: Path) -> Mapping[Path, Path]:
    """Return what the files of the temporary folder are called to people."""
    names = {}
    for file in loaded.files:
        absolute = Path(os.path.abspath(file))  # noqa: PTH100 - links stay as they are
        if absolute.is_relative_to(mirror):
            names[file] = Path(f"{at.name}:{absolute.relative_to(mirror).as_posix()}")
    return names


def _no_revision(repo: Repository, name: str) -> Complaint:
    found = git(
        repo.root,
        "for-each-ref",
        f"--count={_REFS_MAX}",
        "--format=%(refname:short)",
        *("refs/heads", "refs/tags", "refs/remotes"),
    )
    refs = found.stdout.decode("utf-8", "replace").splitlines()
    shallow = git(repo.root, "rev-parse", "--is-shallow-repository")
    why = "shallow" if shallow.stdout.strip() == b"true" else "unknown"
    likely = nearest(name, refs)
    zh = session.lang() == "zh"
    if likely:
        todo = f"是否指 {likely}？" if zh else f'do you mean "{likely}"?'
    elif refs:
        some = ("、" if zh else ", ").join(refs[:_REFS_SHOWN_MAX])
        todo = f"可用：{some}" if zh else f"name one of: {some}"
    else:
        todo = "先提交一次" if zh else "make a first commit"
    if why == "shallow":
        more = "`git fetch --unshallow`"
        todo = f"{more} 取回其余历史；{todo}" if zh else f"{more} fetches the rest; {todo}"
    told = complaint(why, str(repo.root), name=one_line(name))
    return Complaint(ExitCode.NOT_FOUND, replace(told.parts, todo=todo))
