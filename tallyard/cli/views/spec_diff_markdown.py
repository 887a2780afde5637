"""The sections of a diff as Markdown, for a comment on a pull request.

A name from the spec is text and nothing else: it opens no table cell, no tag and no link, and
calls nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tallyard.catalog.rules import RULES
from tallyard.cli import session
from tallyard.cli.views.spec_diff_parts import SEPARATOR, Block, Row, Section
from tallyard.spec.texts import TEXTS

_SIGNS = re.compile(r"[\\`*_\[\]#|~$]")
# What GitHub and GitLab make a link of without being asked (GFM, "autolinks"), and where it is
# broken: behind the scheme, behind `www`, and before the host of an address of mail.
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=@)|(?<=www)(?=\.)", re.IGNORECASE)
# A command of a program that we name, and keys as our sentences have them. No pattern takes what
# ends a span of code or a cell of a table, or begins mathematics.
_COMMAND = r"(?:git|kubectl|make|pulumi|tally) [\w./:=,+ -]*[\w./]"
_OUR_SPANS = re.compile(r"`([^`{}|$\\@]+)`")
_KEYS = {"id", "priorities", "unverified"}.union(
    *(_OUR_SPANS.findall(text) for texts in TEXTS.values() for text in texts),
    *(_OUR_SPANS.findall(text) for rule in RULES.values() for text in rule.because),
)
_CODE = re.compile(
    rf"(?<!`)`({_COMMAND}|id: [\w-]+|{'|'.join(map(re.escape, sorted(_KEYS)))})`(?!`)"
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown(title: str, about: str, sections: tuple[Section, ...]) -> str:
    """Return the whole comment.

    Args:
        title: Its heading; text.
        about: A sentence below it; text, it may be empty.
        sections: What is told.
    """
    lines = [f"## {escaped(title)}", ""]
    if about:
        lines += [with_code(about), ""]
    for section in sections:
        lines += section_lines(section)
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """Return Markdown that shows a text as it is, on one line."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    signs = _SIGNS.sub(r"\\\g<0>", printable)
    plain = "".join(_ENTITIES.get(letter, letter) for letter in signs)
    # GitHub calls people by an @ however it is written, and escaped addresses stay links; not
    # where a comment parts them.
    return _LINKS.sub("<!-- -->", plain)


def with_code(text: str) -> str:
    """Return Markdown that shows a text as it is, but for commands and keys, which are code.

    Only what we ourselves write between backticks is: a name with backticks in it stays text.
    """
    parts = _CODE.split(text)
    # What stands at the odd places is what the pattern has caught.
    return "".join(f"`{part}`" if index % 2 else escaped(part) for index, part in enumerate(parts))


def section_lines(section: Section) -> Iterator[str]:
    """Yield the lines of one section; one of details is folded."""
    if section.is_detail:
        yield "<details>"
        yield f"<summary>{escaped(section.title)}</summary>"
        yield ""
    else:
        yield f"### {escaped(section.title)}"
        yield ""
    for block in section.blocks:
        yield from _block(block, section)
    if section.is_detail:
        yield "</details>"
        yield ""


def _block(block: Block, section: Section) -> Iterator[str]:
    if block.title:
        yield f"#### {escaped(block.title)}"
        yield ""
        if block.facts:
            yield escaped(SEPARATOR[session.lang()].join(block.facts))
            yield ""
    if block.notes:
        yield from (f"- {with_code(note)}" for note in block.notes)
        yield ""
    if block.rows:
        yield from _table(section.headings, block.rows, section.right)
        yield ""
    if block.lines:
        # A sign at the beginning would open a list of its own.
        yield from (f"- \\{escaped(line)}" for line in block.lines)
        yield ""


def _table(headings: tuple[str, ...], rows: Iterable[Row], right: tuple[int, ...]) -> Iterator[str]:
    yield _cells(headings)
    yield _cells("---:" if index in right else "---" for index in range(len(headings)))
    yield from (_cells(map(with_code, row.cells)) for row in rows)


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
