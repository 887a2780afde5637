"""The folder that `tally spec render --output-dir` writes: only ours, and only what is asked for.

A file in it lists what was written. By it we know the folder again, and which files stand for
objects that the spec no longer asks for.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import to_yaml
from tallyard.cluster.faults import Parts

MARKER = ".tallyard-manifests"
# Every file is written under this name first, so that none is ever half there.
_FRESH = f"{MARKER}.new"
_HEADING = "# Written by `tally spec render`, which removes these files when they are out of date."


def write(
    files: Mapping[str, Mapping[str, Any]], folder: Path, is_kept: Callable[[str], bool]
) -> int:
    """Make a folder hold exactly these files beside what was never ours; return how many went.

    Args:
        files: The objects by their path in the folder.
        folder: It is made where it is missing.
        is_kept: Says of a file of an earlier run whether it is none of this run's business.

    Raises:
        Complaint: The folder holds something and is not ours, is written by another run, leads
            elsewhere by a link, or cannot be written.
    """
    before = _known(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _refuse_links(folder, (*before, *files))
            # Both lists at first: whatever is interrupted, the next run knows each file of ours.
            _mark(folder, {*before, *files})
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                _put(folder, name, to_yaml(dict(content)))
            gone = [name for name in before if name not in files and not is_kept(name)]
            removed = [name for name in gone if _remove(folder, name)]
            _mark(folder, {*before, *files} - set(gone))
    except OSError as error:
        raise _unwritable(error, folder) from error
    return len(removed)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder; the system forgets the lock with the process."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(folder) from None
        yield
    finally:
        os.close(handle)


def _refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder below that is a link: what is written there would lie elsewhere."""
    parents = {parent for name in names for parent in PurePosixPath(name).parents}
    links = sorted(
        str(parent) for parent in parents if str(parent) != "." and (folder / parent).is_symlink()
    )
    if links:
        raise _leads_out(folder / links[0])


def _put(folder: Path, name: str, text: str) -> None:
    """Write a file whole or not at all; a link in its place is replaced and not followed."""
    fresh = folder / _FRESH
    try:
        fresh.unlink(missing_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(folder / name)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _known(folder: Path) -> tuple[str, ...]:
    """Return what an earlier run wrote; nothing for a folder that is new or empty."""
    try:
        # What is no text in it stands for no file of ours.
        lines = (folder / MARKER).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        if folder.is_dir() and any(entry.name != _FRESH for entry in folder.iterdir()):
            raise _foreign(folder) from None
        return ()
    except OSError as error:
        raise _unwritable(error, folder) from error
    return tuple(line for line in lines if line and not line.startswith("#") and _is_inside(line))


def _is_inside(name: str) -> bool:
    """Say whether a name stays in the folder, whoever has edited the list."""
    path = PurePosixPath(name)
    return name.isprintable() and not path.is_absolute() and ".." not in path.parts


def _mark(folder: Path, names: Iterable[str]) -> None:
    _put(folder, MARKER, "\n".join((_HEADING, *sorted(names), "")))


def _remove(folder: Path, name: str) -> bool:
    path = folder / name
    existed = path.is_file()
    path.unlink(missing_ok=True)
    for parent in path.relative_to(folder).parents[:-1]:
        with suppress(OSError):  # others of ours, or of somebody else, are still in it
            (folder / parent).rmdir()
    return existed


def _taken(folder: Path) -> Complaint:
    zh = session.lang() == "zh"
    what = "另一个 render 正在写入该文件夹" if zh else "another render writes into this folder now"
    todo = "等待其结束，或另选文件夹" if zh else "wait for it, or choose another folder"
    return Complaint(ExitCode.FAILED, Parts(str(folder), what, "", todo))


def _leads_out(link: Path) -> Complaint:
    zh = session.lang() == "zh"
    what = "该文件夹是一个链接" if zh else "this folder is a link"
    why = "写入其中的文件会落在别处" if zh else "what is written into it would lie somewhere else"
    todo = (
        "删除该链接，或用 --output-dir 选择新的文件夹"
        if zh
        else "delete the link, or choose a new folder with --output-dir"
    )
    return Complaint(ExitCode.FAILED, Parts(str(link), what, why, todo))


def _foreign(folder: Path) -> Complaint:
    zh = session.lang() == "zh"
    what = "该文件夹已有其他内容" if zh else "the folder holds something else"
    why = (
        f"其中没有 {MARKER}，而过时的文件会被删除"
        if zh
        else f"it has no {MARKER}, and files that are out of date would be removed from it"
    )
    todo = (
        "用 --output-dir 选择新的或空的文件夹"
        if zh
        else "choose a new or an empty folder with --output-dir"
    )
    return Complaint(ExitCode.FAILED, Parts(str(folder), what, why, todo))


def _unwritable(error: OSError, folder: Path) -> Complaint:
    zh = session.lang() == "zh"
    what = "无法写入文件" if zh else "the file cannot be written"
    todo = (
        "用 --output-dir 选择可写的文件夹"
        if zh
        else "choose a folder with --output-dir that you may write"
    )
    where = str(error.filename or folder)
    return Complaint(ExitCode.FAILED, Parts(where, what, error.strerror or str(error), todo))
