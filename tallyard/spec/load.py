"""From the path of an environment's file to a platform, or to everything that is wrong."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from tallyard.spec import checks, references, resolve
from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.draft import Draft, written_names
from tallyard.spec.model import Platform
from tallyard.spec.problem import Location, Problem
from tallyard.spec.shape import Shaped, root_key, shape, unread
from tallyard.spec.source import Source, read
from tallyard.spec.tree import Scalar, child

# All of them are errors, each with a search for the nearest name, and nobody reads so far.
REFERENCES_TOLD_MAX = 1_000
_SUFFIXES = frozenset({".yaml", ".yml"})
_TOO_MUCH = frozenset({"SPEC036", "SPEC037"})
# The bounds keep a text of blanks or of one line from taking long.
_BASE_LINE = re.compile(
    r"^base:[ \t]{1,20}(?P<quote>[\"']?)(?P<name>[^\"'#\s][^\"'#\n]{0,999}?)(?P=quote)"
    r"[ \t]{0,100}(#.*)?\r?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Loaded:
    """What was found in a spec.

    `platform` is None when a problem is an error. `problems` are those of all files, in
    the order of `files` and of lines; the platform's file comes first. `texts` holds each
    file that could be read, for excerpts.
    """

    platform: Platform | None
    problems: tuple[Problem, ...]
    files: tuple[Path, ...]
    texts: Mapping[Path, str] = field(default_factory=dict)

    def renamed(self, names: Mapping[Path, Path]) -> Loaded:
        """Return the same with other names of files, in what its problems say too.

        Args:
            names: The new names by the ones that they have; others stay.
        """

        def said(value: object) -> object:
            if isinstance(value, Path):
                return names.get(value, value)
            if isinstance(value, str):
                for file, name in names.items():
                    value = value.replace(str(file), str(name))
            return value

        def problem(each: Problem) -> Problem:
            file = names.get(each.location.file, each.location.file)
            values = {key: said(value) for key, value in each.values.items()}
            return replace(each, location=replace(each.location, file=file), values=values)

        return Loaded(
            self.platform,
            tuple(map(problem, self.problems)),
            tuple(names.get(file, file) for file in self.files),
            {names.get(file, file): text for file, text in self.texts.items()},
        )


def load(overlay: Path, now: datetime | None = None) -> Loaded:
    """Read, check and resolve an environment and the platform it is based on.

    Args:
        overlay: The environment's file, e.g. `stacks/local.yaml`.
        now: The moment, with its offset, at which overrides hold or have ended; the present
            one where it is None.

    Returns:
        The platform or the problems. No content of a file makes it raise; paths in it are
        relative to the working folder where they lie below it.
    """
    file = _shown(overlay)
    source = read(overlay, file)
    kind = child(source.tree, "kind") if source.tree else None
    if isinstance(kind, Scalar) and kind.text == "Platform":
        return _loaded(None, [source], [Problem("SPEC040", kind.location, "kind", {"file": file})])
    base = _base(source, overlay)
    sources = [base, source] if base else [source]
    shaped_overlay = _shaped(OverlayKeys, source)
    shaped_platform = _shaped(PlatformKeys, base) if base else None
    problems = [*_problems(shaped_platform), *_problems(shaped_overlay)]
    # An environment that cannot be read hides nothing that is wrong with the platform itself.
    environment = shaped_overlay or unread(OverlayKeys, source.file)
    draft = _draft(shaped_platform, environment, sources, now or datetime.now(UTC))
    if draft is None:
        return _loaded(None, sources, problems)
    unknown = list(islice(references.problems(draft), REFERENCES_TOLD_MAX + 1))
    problems += unknown[:REFERENCES_TOLD_MAX]
    if len(unknown) > REFERENCES_TOLD_MAX:
        at = unknown[0].location
        first = Location(at.file, 1, 1)
        problems.append(Problem("SPEC037", first, "", {"limit": REFERENCES_TOLD_MAX}))
    problems += checks.problems(draft)
    return _loaded(draft, sources, problems)


def _shown(path: Path) -> Path:
    try:
        return path.resolve().relative_to(Path.cwd().resolve())
    except (OSError, RuntimeError, ValueError):
        return Path(os.path.normpath(path))


def _base(source: Source, overlay: Path) -> Source | None:
    """Read the platform's file; None where the overlay does not say which one it is."""
    node = child(source.tree, "base") if source.tree else _base_line(source)
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.value:
        return None
    path = overlay.parent / node.value
    asked_at = Problem("", node.location, node.path)
    if _shown(path) == source.file:
        problem = Problem("SPEC041", node.location, node.path, {"found": node.text})
        return Source(source.file, source.text, None, (problem,))
    if _is_foreign(path, overlay):
        problem = Problem("SPEC043", node.location, node.path, {"found": node.text})
        # Nothing of such a file may be shown: whoever writes a spec need not be allowed to read it.
        return Source(_shown(path), "", None, (problem,))
    base = read(path, _shown(path), asked_at)
    return replace(base, problems=_absent(base, node, overlay)) if base.is_absent else base


def _is_foreign(path: Path, overlay: Path) -> bool:
    """Return whether a file is there that is no YAML file of the overlay's repository.

    Without a repository the overlay may name files of the folder above its own.
    """
    try:
        folder, target = overlay.absolute().parent.resolve(), path.resolve()
        repository = next(
            (each for each in (folder, *folder.parents) if (each / ".git").exists()), None
        )
        is_ours = target.is_relative_to(repository or folder.parent)
        return target.is_file() and not (is_ours and target.suffix in _SUFFIXES)
    except (OSError, RuntimeError, ValueError):
        return False  # what cannot be found cannot be read, which is told by itself


def _absent(base: Source, node: Scalar, overlay: Path) -> tuple[Problem, ...]:
    """Return what is wrong with a platform's file that is not there, and how it may be called."""
    (problem,) = base.problems
    elsewhere = _seen_from_elsewhere(node.text, overlay)
    if elsewhere:
        return (replace(problem, code="SPEC042", values={"file": base.file, "nearest": elsewhere}),)
    near = os.path.basename(str(problem.values["nearest"]))  # noqa: PTH119 - it may be no path
    likely = os.path.join(os.path.dirname(node.text), near) if near else ""  # noqa: PTH118, PTH120
    return (replace(problem, values={**problem.values, "nearest": likely}),)


def _seen_from_elsewhere(name: str, overlay: Path) -> str:
    """Return how the overlay calls a file that its author names from another folder."""
    folder = overlay.parent
    try:
        if Path(name).name != overlay.name and (folder / Path(name).name).is_file():
            return Path(name).name
        if Path(name).is_file():
            return os.path.relpath(name, folder)
    except (OSError, ValueError):
        pass
    return ""


def _base_line(source: Source) -> Scalar | None:
    """Return the name of the platform's file from a text that could not be read to its end.

    It is what a line by itself says, if that is not the line of the fault. A text that holds
    too much is another kind of file, and reading the next one takes as long again.
    """
    if _TOO_MUCH & {problem.code for problem in source.problems}:
        return None
    found = list(islice(_BASE_LINE.finditer(source.text), 2))
    if len(found) != 1:
        return None
    name, at = found[0]["name"], found[0].start("name")
    line = source.text.count("\n", 0, at) + 1
    if line in {problem.location.line for problem in source.problems}:
        return None
    column = at - source.text.rfind("\n", 0, at)
    return Scalar(Location(source.file, line, column), "base", name, name)


def _shaped[K: (PlatformKeys, OverlayKeys)](model: type[K], source: Source) -> Shaped[K] | None:
    return shape(model, source.tree) if source.tree is not None else None


def _problems(shaped: Shaped[PlatformKeys] | Shaped[OverlayKeys] | None) -> tuple[Problem, ...]:
    return shaped.problems if shaped else ()


def _draft(
    platform: Shaped[PlatformKeys] | None,
    overlay: Shaped[OverlayKeys],
    sources: Iterable[Source],
    now: datetime,
) -> Draft | None:
    if platform is None:
        return None
    written = tuple(source.tree for source in sources if source.tree is not None)
    unsure = {root_key(problem.path) for source in sources for problem in source.problems}
    return Draft(platform, overlay, written, written_names(written[0]), frozenset(unsure), now)


def _loaded(draft: Draft | None, sources: list[Source], problems: list[Problem]) -> Loaded:
    """Put what was found in order. What stands where the text itself is unclear is left out:
    it is the same fault once more."""
    files = tuple(dict.fromkeys(source.file for source in sources))
    told = [problem for source in sources for problem in source.problems]
    unclear = {problem.location for problem in told}
    told += [problem for problem in problems if problem.location not in unclear]
    order = {file: index for index, file in enumerate(files)}
    told.sort(key=lambda each: (order[each.location.file], each.location, each.path, each.code))
    has_errors = any(problem.is_error for problem in told)
    return Loaded(
        platform=None if draft is None or has_errors else resolve.platform(draft),
        problems=tuple(told),
        files=files,
        texts={source.file: source.text for source in sources if source.text},
    )
