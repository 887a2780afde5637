"""What editors, converters and bad disks do to a file: bytes that are no text, or another one."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterable

type Mutator = Callable[[random.Random, bytes], bytes]

_CONTROLS = ("\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\ufffe")
_NO_UTF_8 = (
    b"\xff",
    b"\xc0\xaf",
    b"\xe2\x82",
    b"\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xf4\x90\x80\x80",
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "cp037")


def applied(rng: random.Random, chosen: Iterable[Mutator], data: bytes) -> bytes:
    """Apply some of the mutators in turn."""
    for each in chosen:
        data = each(rng, data)
    return data


def other_bytes(rng: random.Random, data: bytes) -> bytes:
    mutable = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        if mutable:
            mutable[rng.randrange(len(mutable))] = rng.randrange(256)
    return bytes(mutable)


def other_bits(rng: random.Random, data: bytes) -> bytes:
    mutable = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if mutable:
            mutable[rng.randrange(len(mutable))] ^= 1 << rng.randrange(7)
    return bytes(mutable)


def cut_short(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut_at_the_front(rng: random.Random, data: bytes) -> bytes:
    return data[rng.randrange(len(data) + 1) :]


def nothing_or_noise(rng: random.Random, data: bytes) -> bytes:
    del data
    blank = (
        b"",
        b"\n",
        b" ",
        b" \n\n",
        b"\t",
        b"#",
        b"---",
        b"...",
        b"---\n...\n",
        b"\x00" * 5_000,
    )
    return rng.choice((*blank, rng.randbytes(rng.randint(1, 3_000))))


def nul_bytes(rng: random.Random, data: bytes) -> bytes:
    return _put(rng, data, b"\x00" * rng.choice((1, 1, 512)))


def byte_order_marks(rng: random.Random, data: bytes) -> bytes:
    mark = "\ufeff".encode()
    return rng.choice((mark + data, mark * 2 + data, _put(rng, data, mark), data + mark))


def other_encoding(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(_ENCODINGS), "replace")


def letters_of_another_encoding(rng: random.Random, data: bytes) -> bytes:
    return _put(rng, data, rng.choice(("système".encode("latin-1"), "系统".encode("gbk"))))


def lone_surrogates(rng: random.Random, data: bytes) -> bytes:
    return _put(rng, data, chr(rng.randint(0xD800, 0xDFFF)).encode("utf-8", "surrogatepass"))


def bytes_that_are_no_utf_8(rng: random.Random, data: bytes) -> bytes:
    return _put(rng, data, rng.choice(_NO_UTF_8))


def control_characters(rng: random.Random, data: bytes) -> bytes:
    return _put(rng, data, rng.choice(_CONTROLS).encode())


def other_line_ends(rng: random.Random, data: bytes) -> bytes:
    end = rng.choice((b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c", "\x85".encode()))
    some = rng.random() < 0.3
    lines = data.split(b"\n")
    ends = (b"\n" if some and rng.random() < 0.5 else end for _ in lines)
    return b"".join(line + each for line, each in zip(lines, ends, strict=True))


def tabs(rng: random.Random, data: bytes) -> bytes:
    match rng.randrange(4):
        case 0:
            return data.replace(b"  ", b"\t")
        case 1:
            return data.replace(b": ", b":\t")
        case 2:
            return data.replace(b"\n", b"\t\n", rng.randint(1, 20))
    return _put(rng, data, b"\t")


def compressed(rng: random.Random, data: bytes) -> bytes:
    packed = gzip.compress(data, mtime=0)
    return rng.choice((packed, packed[10:], b"PK\x03\x04" + packed, b"\x7fELF\x02\x01\x01" + data))


def _put(rng: random.Random, data: bytes, piece: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + piece + data[at:]
    return data


MUTATORS: tuple[Mutator, ...] = (
    other_bytes,
    other_bits,
    cut_short,
    cut_at_the_front,
    nothing_or_noise,
    nul_bytes,
    byte_order_marks,
    other_encoding,
    letters_of_another_encoding,
    lone_surrogates,
    bytes_that_are_no_utf_8,
    control_characters,
    other_line_ends,
    tabs,
    compressed,
)
