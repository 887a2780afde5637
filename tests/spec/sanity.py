"""What must hold for whatever a spec's files are: of what was found, and of what is rendered."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tallyard.languages import Language
from tallyard.render.manifest import Manifest
from tallyard.spec.load import Loaded
from tallyard.spec.messages import PROBLEMS_SHOWN_MAX, report, sentence
from tallyard.spec.problem import Problem
from tallyard.spec.texts import TEXTS

LANGUAGES: tuple[Language, ...] = ("en", "zh")
# A path and some names, each shortened; more would be somebody's megabyte.
LINE_LENGTH_MAX = 2_500
_PLACEHOLDERS = {
    code: {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}
    for code, texts in TEXTS.items()
}
# RFC 1123; of RBAC's names and label keys the parts between colons and slashes.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def faults_of_loaded(loaded: Loaded) -> Iterator[str]:
    """Yield what is wrong with the outcome itself, a sentence each."""
    errors = [problem for problem in loaded.problems if problem.is_error]
    if (loaded.platform is None) != bool(errors):
        yield f"a platform: {loaded.platform is not None}, errors: {len(errors)}"
    if not 1 <= len(loaded.files) <= 2:
        yield f"{len(loaded.files)} files were read"
    order = {file: index for index, file in enumerate(loaded.files)}
    at = [
        (order.get(p.location.file, -1), p.location.line, p.location.column)
        for p in loaded.problems
    ]
    if at != sorted(at):
        yield "the problems are not in the order of files and lines"
    lines = {file: text.split("\n") for file, text in loaded.texts.items()}
    for problem in loaded.problems:
        yield from _faults_of_place(problem, order, lines)


def faults_of_messages(loaded: Loaded) -> Iterator[str]:
    """Yield what is wrong with the messages in either language."""
    shown = loaded.problems[:PROBLEMS_SHOWN_MAX]
    for lang in LANGUAGES:
        lines = report(loaded.problems, lang, loaded.texts).splitlines()
        if len(lines) > 3 * len(shown) + 1 or len(lines) < len(shown):
            yield f"{len(lines)} lines ({lang}) about {len(shown)} problems"
        yield from (f"not printable: {line!a}" for line in lines if not line.isprintable())
        yield from (f"{len(x)} characters: {x[:80]!a}" for x in lines if len(x) > LINE_LENGTH_MAX)
        told = [(each.location, each.path, sentence(each, lang)) for each in shown]
        yield from (f"told twice: {each!a}" for each in _repeated(told))
        for problem, (_, _, text) in zip(shown, told, strict=True):
            yield from _faults_of_sentence(problem, text)


def faults_of_rendered(manifests: Iterable[Manifest]) -> Iterator[str]:
    """Yield names that repeat or that Kubernetes would not take."""
    every = tuple(manifests)
    keys = [(each.kind, each.namespace, each.name) for each in every]
    yield from (f"rendered twice: {each}" for each in _repeated(keys))
    # Some file systems take two names that differ in capitals only for one.
    yield from (f"one file for two: {x}" for x in _repeated([m.path.lower() for m in every]))
    for each in every:
        names = (*each.name.split(":"), each.namespace or "default")
        yield from (f"{each.kind}: name {name!a}" for name in names if not _NAME.fullmatch(name))
        labels: Mapping[str, str] = each.object["metadata"].get("labels", {})
        yield from (f"label {k}: {v!a}" for k, v in labels.items() if not _LABEL.fullmatch(str(v)))


def _faults_of_place(
    problem: Problem, order: Mapping[Path, int], lines: Mapping[Path, list[str]]
) -> Iterator[str]:
    at = problem.location
    if problem.code not in TEXTS:
        yield f"unknown code {problem.code}"
    if at.file not in order:
        yield f"{problem.code} is told in {str(at.file)!a}, which was not read"
        return
    text = lines.get(at.file, [""])
    if not (1 <= at.line <= len(text) and 1 <= at.column <= len(text[at.line - 1]) + 1):
        yield f"{problem.code} is told at {at.line}:{at.column}, where the file has nothing"


def _faults_of_sentence(problem: Problem, text: str) -> Iterator[str]:
    if len(text) < 20 and text.isascii():
        yield f"{problem.code} says next to nothing: {text!a}"
    written = " ".join(map(str, problem.values.values()))
    for name in _PLACEHOLDERS.get(problem.code, ()):
        if f"{{{name}}}" in text and f"{{{name}}}" not in written:
            yield f"{problem.code} has a place that nothing filled in: {text!a}"


def _repeated[T](items: Iterable[T]) -> list[T]:
    seen: set[T] = set()
    return [item for item in items if item in seen or seen.add(item)]  # type: ignore[func-returns-value]
