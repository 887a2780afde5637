"""What a folder can hold in the place of the two files: nothing, a folder, a pipe, a loop of links."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Locked:
    """A file that nobody may read (but root, whom no permission stops)."""

    data: bytes


class Special(Enum):
    """What is neither a file nor a link."""

    FOLDER = "folder"
    PIPE = "pipe"


type Piece = bytes | Link | Locked | Special
type Pieces = dict[str, Piece]
type Mutator = Callable[[random.Random, Pieces], None]

_PLATFORM, _LOCAL = "platform.yaml", "local.yaml"
_MISSING = (
    *("platfrom.yaml", "platform.yml", "gone/platform.yaml", "platform.yaml/x", "~/platform.yaml"),
    *(
        "/platform.yaml",
        "$HOME/x.yaml",
        "*.yaml",
        '""',
        '" "',
        "'platform.yaml '",
        "系统.yaml",
        "x" * 300,
    ),
    *(
        "a/" * 400 + "x",
        "../" * 40 + "x",
        '"platform\\0.yaml"',
        '"plat\\nform.yaml"',
        '"\\u202e.yaml"',
    ),
    *(
        "file:///platform.yaml",
        "https://example.com/platform.yaml",
        "PLATFORM.YAML",
        "{found}",
        "x" * 5_000,
    ),
)
_DEVICES = (
    *("/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/stdin", "/dev/tty", "/dev"),
    *("/proc/self/mem", "/proc/self/fd/0", "/proc/self/fd", "/proc", "/proc/self/root"),
)


def make(path: str, piece: Piece) -> None:
    """Make one piece in the file system."""
    match piece:
        case bytes():
            _write(path, piece)
        case Link():
            os.symlink(piece.target, path)  # noqa: PTH211 - the paths are texts on purpose
        case Locked():
            _write(path, piece.data)
            os.chmod(path, 0)  # noqa: PTH101
        case Special.FOLDER:
            os.mkdir(path)  # noqa: PTH102
        case Special.PIPE:
            os.mkfifo(path)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:  # noqa: PTH123
        stream.write(data)


def base_is_a_folder(rng: random.Random, pieces: Pieces) -> None:
    pieces["sub"] = Special.FOLDER
    _base(pieces, rng.choice((".", "..", "/", "sub", "sub/", "./.", "sub/..")))


def base_is_itself(rng: random.Random, pieces: Pieces) -> None:
    pieces["me"] = Link(_LOCAL)
    names = (
        _LOCAL,
        f"./{_LOCAL}",
        f".//{_LOCAL}",
        "me",
        f"x/../{_LOCAL}",
        "/proc/self/cwd/local.yaml",
    )
    _base(pieces, rng.choice(names))


def base_is_missing(rng: random.Random, pieces: Pieces) -> None:
    _base(pieces, rng.choice(_MISSING))


def base_is_a_device(rng: random.Random, pieces: Pieces) -> None:
    device = rng.choice(_DEVICES)
    if rng.random() < 0.5:
        pieces[_PLATFORM] = Link(device)
    else:
        _base(pieces, device)


def base_is_no_text(rng: random.Random, pieces: Pieces) -> None:
    _base(
        pieces,
        rng.choice(
            ("[platform.yaml]", "{a: b}", "1", "null", "true", "NO", "*a", "|\n  a\n  b", "1.5")
        ),
    )


def a_pipe(rng: random.Random, pieces: Pieces) -> None:
    pieces["pipe"] = Special.PIPE
    piece = rng.choice((Special.PIPE, Link("pipe")))
    pieces[rng.choice((_PLATFORM, _LOCAL))] = piece


def a_folder_for_a_file(rng: random.Random, pieces: Pieces) -> None:
    pieces["sub"] = Special.FOLDER
    pieces[rng.choice((_PLATFORM, _LOCAL))] = rng.choice((Special.FOLDER, Link("sub"), Link(".")))


def a_file_is_gone(rng: random.Random, pieces: Pieces) -> None:
    gone = rng.choice((_PLATFORM, _LOCAL))
    if rng.random() < 0.5:
        pieces[gone] = Link(rng.choice(("gone", "gone/gone", "/proc/self/fd/99", "x" * 300)))
    else:
        pieces[rng.choice(("platform.yml", "locale.yaml"))] = pieces.pop(gone)


def links_in_a_loop(rng: random.Random, pieces: Pieces) -> None:
    name = rng.choice((_PLATFORM, _LOCAL))
    if rng.random() < 0.5:
        pieces[name] = Link(name)
        return
    pieces |= {name: Link("a"), "a": Link("b"), "b": Link(rng.choice(("a", name, "b/x")))}


def a_long_chain_of_links(rng: random.Random, pieces: Pieces) -> None:
    """Reach a file by more links than Linux follows (40), or by fewer."""
    name = rng.choice((_PLATFORM, _LOCAL))
    length = rng.choice((3, 39, 41, 100))
    pieces["c0"] = pieces[name]
    pieces |= {f"c{number}": Link(f"c{number - 1}") for number in range(1, length)}
    pieces[name] = Link(f"c{length - 1}")


def one_file_for_both(rng: random.Random, pieces: Pieces) -> None:
    match rng.randrange(4):
        case 0:
            pieces[_PLATFORM] = Link(_LOCAL)
        case 1:
            pieces[_LOCAL] = Link(_PLATFORM)
        case 2:
            pieces[_PLATFORM] = pieces[_LOCAL]
        case _:
            pieces[_LOCAL] = pieces[_PLATFORM]


def swapped_files(_rng: random.Random, pieces: Pieces) -> None:
    pieces[_PLATFORM], pieces[_LOCAL] = pieces[_LOCAL], pieces[_PLATFORM]


def locked(rng: random.Random, pieces: Pieces) -> None:
    name = rng.choice((_PLATFORM, _LOCAL))
    data = pieces[name]
    assert isinstance(data, bytes)
    pieces[name] = Locked(data)


def _base(pieces: Pieces, value: str) -> None:
    """Let the environment name another base."""
    local = pieces[_LOCAL]
    assert isinstance(local, bytes)
    text = re.sub(rb"(?m)^base:.*\n?", b"", local)
    pieces[_LOCAL] = f"base: {value}\n".encode() + text


MUTATORS: tuple[Mutator, ...] = (
    base_is_a_folder,
    base_is_itself,
    base_is_missing,
    base_is_a_device,
    base_is_no_text,
    a_pipe,
    a_folder_for_a_file,
    a_file_is_gone,
    links_in_a_loop,
    a_long_chain_of_links,
    one_file_for_both,
    swapped_files,
    locked,
)
