"""What an editor shows of the spec: completion, hover and underlines, from the real language server.

Usage: .venv/bin/python -m tests.soak.editor     (needs node and npm; the first run installs)

VS Code's YAML extension, coc.nvim and Neovim's lspconfig all run this server. It opens copies
of the shipped files as they stand, modelines and all, with the committed schemas beside them.
A `¦` in a text is the cursor.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallyard.spec import schema
from tallyard.spec.editor_schema import facts_of
from tallyard.spec.tree import Steps
from tests.soak.language_server import VERSION, EditorError, LanguageServer, install, running

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = {"platform": schema.platform_schema(), "local": schema.overlay_schema()}
# The protocol's number for an item that is a key.
KEY = 10
SHOWN_CHARACTERS = 96


@dataclass(frozen=True)
class Seen:
    """One thing that was looked at: what an editor showed, and what is wrong with it."""

    what: str
    where: str
    shown: str
    fault: str = ""


@dataclass(frozen=True)
class Desk:
    """A folder with the files, and the server that looks at them."""

    folder: Path
    server: LanguageServer

    def text(self, name: str) -> str:
        """Return a shipped file's text."""
        return (self.folder / "stacks" / f"{name}.yaml").read_text(encoding="utf-8")

    def open(self, name: str, text: str) -> tuple[str, int, int]:
        """Open a text beside the shipped files; return its address, and line and column of `¦`."""
        before, cursor, after = text.partition("¦")
        path = self.folder / "stacks" / f"{name}-{hash(text) & 0xFFFFFFFF:08x}.yaml"
        self.server.open(path.as_uri(), before + after)
        if not cursor:
            return path.as_uri(), 0, 0
        return path.as_uri(), before.count("\n"), len(before.rpartition("\n")[2])


def main() -> int:
    """Look at everything, print it, and say whether it was as it should be."""
    try:
        program = install()
        with tempfile.TemporaryDirectory(prefix="tallyard-editor-") as folder:
            for part in ("stacks", "schemas"):
                shutil.copytree(REPOSITORY / part, Path(folder) / part)
            with running(program) as server:
                seen = tuple(_all(Desk(Path(folder), server)))
    except EditorError as error:
        print(error, file=sys.stderr)
        return 1
    for each in seen:
        print(f"{'FAULT' if each.fault else 'good':<6}{each.what:<12}{each.where:<44}{each.shown}")
        if each.fault:
            print(f"      {each.fault}")
    faults = sum(bool(each.fault) for each in seen)
    print(f"yaml-language-server {VERSION}: {len(seen)} looked at, {faults} with a fault")
    return 1 if faults else 0


def _all(desk: Desk) -> Iterator[Seen]:
    yield from _keys(desk)
    yield from _values(desk)
    yield from _hovers(desk)
    yield from _underlines(desk)


# Where, the file, the section whose head the lines are put at, the lines, the place that they
# are in, and the keys that stand there already. Without a section they are all of the file.
_KEYS: tuple[tuple[str, str, str, str, Steps, set[str]], ...] = (
    ("the root of a platform", "platform", "", "¦\n", (), set()),
    ("the root of an environment", "local", "", "¦\n", (), set()),
    ("a pool", "platform", "pools", "  new:\n    ¦", ("pools", "new"), set()),
    ("a pool, in brackets", "platform", "pools", "  new: {work: batch, p¦}", ("pools", "new"), {"work"}),
    ("sharing", "platform", "pools", "  new:\n    sharing:\n      ¦", ("pools", "new", "sharing"), set()),
    ("an accelerator", "platform", "accelerators", "  NEW:\n    ¦", ("accelerators", "NEW"), set()),
    ("a project", "platform", "projects", "  new:\n    ¦", ("projects", "new"), set()),
    ("an override", "platform", "projects", "  new:\n    overrides:\n      - ¦", ("projects", "new", "overrides", 0), set()),
    ("a group of hosts", "local", "nodes", "  - ¦", ("nodes", 0), set()),
    ("a group of hosts, in brackets", "local", "nodes", "  - {hosts: new, p¦}", ("nodes", 0), {"hosts"}),
)  # fmt: skip


def _keys(desk: Desk) -> Iterator[Seen]:
    """Complete keys: all that can stand there are offered, and what is written is a key."""
    for where, name, section, lines, place, there in _KEYS:
        modeline, _, rest = desk.text(name).partition("\n")
        text = f"{modeline}\n{_below(rest, section, lines) if section else lines}"
        items = desk.server.completion(*desk.open(name, text))
        written = {item["label"]: item["insertText"] for item in items if item.get("kind") == KEY}
        expected = set((schema.at(SCHEMAS[name], place) or {})["properties"]) - there
        # Within brackets the server leaves the colon to the author where no value is known.
        useless = [
            f"{key} writes {text!r}"
            for key, text in written.items()
            if "null" in text or not (text.startswith(f"{key}:") or "brackets" in where)
        ]
        fault = _difference(expected, written) or "; ".join(useless)
        yield Seen("keys", where, _listed(written), fault)


_VALUES: tuple[tuple[str, str, str, str, set[str]], ...] = (
    ("borrowed:", "platform", "pools", "  new:\n    borrowed: ¦", {"keep", "reclaim"}),
    ("work:", "platform", "pools", "  new:\n    work: ¦", {"batch", "inference"}),
    ("sharing:", "platform", "pools", "  new:\n    sharing: ¦", {"exclusive", "time-slicing"}),
    ("core-hours:", "platform", "tiers", "  new:\n    core-hours: ¦", {"30000/month"}),
    ("memory:", "local", "nodes", "  - memory: ¦", {"64Gi"}),
    ("links:", "local", "nodes", "  - links: ¦", {"nvswitch", "nvlink", "pcie"}),
)


def _values(desk: Desk) -> Iterator[Seen]:
    """Complete values: the words that can stand there, or what the value looks like."""
    texts = [
        (where, name, _below(desk.text(name), section, lines), expected)
        for where, name, section, lines, expected in _VALUES
    ]
    platform, levels = desk.text("platform"), {"block", "rack", "host"}
    for form in ("topology: [¦]", "topology:\n  - ¦"):
        text = _changed(platform, "topology: [block, rack, host]", form)
        texts.append((repr(form), "platform", text, levels))
    for where, name, text, expected in texts:
        items = desk.server.completion(*desk.open(name, text))
        offered = [str(item["label"]) for item in items]
        yield Seen("values", where, _listed(sorted(offered)), _difference(expected, offered))


def _hovers(desk: Desk) -> Iterator[Seen]:
    """Rest on a key: its text and all that is known of it are shown."""
    cases: tuple[tuple[str, str, str, Steps], ...] = (
        ("platform", "po¦ols:\n", "pools:\n", ("pools",)),
        ("platform", "borr¦owed: keep", "borrowed: keep", ("pools", "x", "borrowed")),
        ("platform", "sha¦ring: exclusive", "borrowed: keep", ("pools", "x", "sharing")),
        ("platform", "time-sl¦icing: 4", "time-slicing: 4", ("pools", "x", "sharing", "time-slicing")),
        ("platform", "c¦ap: 30%", "cap: 30%", ("freeze", "cap")),
        ("platform", "default-u¦ser: zhao", "default-user: zhao", ("projects", "x", "default-user")),
        ("local", "ba¦se: platform.yaml", "base: platform.yaml", ("base",)),
        ("local", "- {ho¦sts: bi-00", "- {hosts: bi-00", ("nodes", 0, "hosts")),
    )  # fmt: skip
    for name, new, old, place in cases:
        node = schema.at(SCHEMAS[name], place) or {}
        text = _changed(desk.text(name), old, new)
        shown = desk.server.hover(*desk.open(name, text)).replace("\\", "")
        told = [str(node["description"]), *facts_of(node).values()]
        missing = [each for each in told if each not in shown]
        fault = f"not shown: {'; '.join(missing)}" if missing else ""
        facts = ", ".join(["text", *facts_of(node)])
        yield Seen("hover", ".".join(map(str, place)), f"{facts.lower()}", fault)


def _underlines(desk: Desk) -> Iterator[Seen]:
    """Open good and bad files: only the bad line is underlined, and the fault named."""
    for name in ("platform", "local", "prod"):
        found = desk.server.diagnostics(desk.open(name, desk.text(name))[0])
        shown = _listed(each["message"] for each in found) or "nothing underlined"
        yield Seen("underlines", f"stacks/{name}.yaml", shown, shown if found else "")
    cases = (
        ("an unknown key", "platform", "borrowed: keep", "borowed: keep", "borowed"),
        ("a word that cannot be", "platform", "borrowed: keep", "borrowed: kept", '"reclaim"'),
        ("a wrong type", "platform", "pods-per-agent: 10", "pods-per-agent: ten", "integer"),
        ("out of range", "platform", "{time-slicing: 4}", "{time-slicing: 1}", "minimum of 2"),
        ("a missing key", "platform", "max-time: 72h\n", "\n", "max-time"),
        ("a key without a value", "platform", "borrowed: keep", "burst:", "string"),
        ("a key of the other file", "platform", "metadata:", "nodes: []\nmetadata:", "nodes"),
        ("an unknown key of hosts", "local", "{hosts: bi-00", "{host: bi-00", "host "),
        ("a missing key of hosts", "local", "{hosts: bi-00, pool: domestic", "{hosts: bi-00", "pool"),
    )  # fmt: skip
    for where, name, old, new, named in cases:
        found = desk.server.diagnostics(desk.open(name, _changed(desk.text(name), old, new))[0])
        messages = [str(each["message"]) for each in found]
        fault = "" if any(named in each for each in messages) else f"{named} is not named"
        yield Seen("underlines", where, _listed(_placed(found)), fault)


def _placed(found: list[dict[str, Any]]) -> Iterator[str]:
    for each in found:
        start = each["range"]["start"]
        yield f"{start['line'] + 1}:{start['character'] + 1} {each['message']}"


def _below(text: str, section: str, new: str) -> str:
    """Insert lines at the head of a section of the root."""
    return _changed(text, f"\n{section}:\n", f"\n{section}:\n{new}\n")


def _changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def _difference(expected: set[str], found: Iterable[str]) -> str:
    offered = set(found)
    parts = (("not offered", expected - offered), ("offered", offered - expected))
    return "; ".join(f"{what}: {', '.join(sorted(names))}" for what, names in parts if names)


def _listed(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


if __name__ == "__main__":
    sys.exit(main())
