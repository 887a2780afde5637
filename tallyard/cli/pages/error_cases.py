r"""The slips in `tests/data/spec/broken`: what a file says about itself in its head.

The head's lines are the first of the file: `# en: LINE` and `# zh: LINE` for each line that
is told, and `# fix: OLD => NEW` for what mends it. OLD stands once below the head; `\n`, `\t`
and `\uXXXX` in OLD and NEW are those characters, and a line of which a fix leaves nothing is
dropped.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tallyard.cli.pages.made import CHECKOUT
from tallyard.languages import LANGUAGES, Language
from tallyard.spec.excerpt import cut, numbered

FOLDER = Path("tests/data/spec/broken")

_HEAD = re.compile(r"# (en|zh|fix): ?(.*)")
_PLACE = re.compile(r"(\S+\.yaml):(\d+):(\d+)\s")
_CODE = re.compile(r"\[(SPEC\d{3})\]$")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nt]))")
# A body of so many lines is shown whole where the place is in the other file.
_LINES_WHOLE_MAX = 8


class FixError(ValueError):
    """A fix does not say exactly one place of its file."""


@dataclass(frozen=True)
class Case:
    """One file of the set.

    `told` are the expected lines by language; `head` is how many lines the head has; `fixes`
    are pairs of what stands there and what stands there instead.
    """

    file: Path
    text: str
    head: int
    told: dict[str, tuple[str, ...]]
    fixes: tuple[tuple[str, str], ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the code of each expected line."""
        found = (_CODE.search(line) for line in self.told["en"])
        return tuple(match[1] for match in found if match)

    @property
    def name(self) -> str:
        """Return the file as it is called when it is loaded: `local.yaml`, `platform.yaml`."""
        return f"{self.file.stem.partition('-')[0]}.yaml"

    def line_of(self, code: str, lang: Language) -> str:
        """Return the first expected line of a code."""
        return self.told[lang][self.codes.index(code)]

    def mended(self) -> str:
        """Return the text after all fixes.

        Raises:
            FixError: One of them does not fit.
        """
        lines = self.text.split("\n")
        head, body = lines[: self.head], "\n".join(lines[self.head :])
        for old, new in self.fixes:
            if not old or body.count(old) != 1:
                raise FixError(f"{self.file.name}: {old!r} stands {body.count(old)} times")
            before, _, after = body.partition(old)
            begin, end = before.rpartition("\n"), after.partition("\n")
            mended = f"{begin[2]}{new}{end[0]}"
            # An emptied line goes with the line break in front of it.
            rest = f"{end[1]}{end[2]}"
            body = f"{begin[0]}{begin[1]}{mended}{rest}" if mended.strip() else begin[0] + rest
        return "\n".join((*head, body))

    def wrong(self, code: str, width: int | None = None) -> tuple[str, ...]:
        """Return the lines around the place that a code is told for, numbered, with a caret.

        Args:
            code: One of `codes`.
            width: The cells that a line may have; None for any.
        """
        place = _PLACE.match(self.line_of(code, "en"))
        if place and place[1] == self.name and int(place[2]) > self.head:
            line, column = int(place[2]), int(place[3])
            return numbered(self.text, line, column, first=self.head + 1, width=width)
        body = self.text.rstrip("\n").split("\n")[self.head :]
        return tuple(cut(line, 1, width)[0] for line in body[:_LINES_WHOLE_MAX])

    def right(self, width: int | None = None) -> tuple[str, ...]:
        """Return the mended lines with their neighbours; none without fixes."""
        return tuple(self._right(width)) if self.fixes else ()

    def _right(self, width: int | None) -> Iterator[str]:
        before = self.text.rstrip("\n").split("\n")[self.head :]
        after = self.mended().rstrip("\n").split("\n")[self.head :]
        changed: dict[int, int] = {}
        near: set[int] = set()
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes():
            if kind != "equal":
                near |= set(range(max(j1 - 1, 0), min(j2, len(after) - 1) + 1))
                pairs = zip(before[i1:i2], after[j1:j2], strict=False)
                changed |= {j1 + n: _first_change(*pair) for n, pair in enumerate(pairs)}
        last = min(near, default=0) - 1
        for number in sorted(near):
            if number > last + 1:
                yield "# …"
            yield cut(after[number], changed.get(number, 1), width)[0]
            last = number


def read(file: Path) -> Case:
    """Return what a file says about itself."""
    # A byte order mark may be what is wrong with the file.
    text = file.read_bytes().decode("utf-8")
    told: dict[str, list[str]] = {lang: [] for lang in LANGUAGES}
    fixes: list[tuple[str, str]] = []
    head = 0
    for line in text.removeprefix("\ufeff").split("\n"):
        match = _HEAD.fullmatch(line.rstrip("\r"))
        if not match:
            break
        head += 1
        if match[1] == "fix":
            old, _, new = match[2].partition(" =>")
            fixes.append((_unescaped(old), _unescaped(new.removeprefix(" "))))
        else:
            told[match[1]].append(match[2])
    return Case(file, text, head, {k: tuple(v) for k, v in told.items()}, tuple(fixes))


def read_all(checkout: Path = CHECKOUT) -> tuple[Case, ...]:
    """Return every case of a checkout, by name; none where there is no such folder."""
    return tuple(read(file) for file in sorted((checkout / FOLDER).glob("*.yaml")))


def example(code: str, cases: tuple[Case, ...]) -> Case | None:
    """Return the case that shows a code best: mended, and with nothing else before it."""
    found = [case for case in cases if code in case.codes]
    ranked = sorted(
        found,
        key=lambda case: (not case.fixes, case.codes[0] != code, len(case.codes), case.file.name),
    )
    return ranked[0] if ranked else None


def _first_change(before: str, after: str) -> int:
    """Return the column at which two lines begin to differ, counted from 1."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(after)) + 1


def _unescaped(text: str) -> str:
    named = {"n": "\n", "t": "\t"}
    return _ESCAPE.sub(lambda found: named.get(found[2]) or chr(int(found[1], 16)), text)
