"""Why a job waits, in plain words. Pure.

Kueue writes its reasons for its own operators: names of flavors and resources, several
joined in one line. `kueue_messages.py` lists the forms; here a message is taken apart by
them and put together again. What no form matches is shown as it is, never dropped.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Iterator

from tallyard.cli.kueue_messages import SHAPES, Shape
from tallyard.cli.shortage import NEVER, Facts

_PREFIX = re.compile(r"(?:; )?couldn't assign flavors to pod set [^:]+: ")
_PREVIOUSLY = re.compile(r"^(?:Previously: )+")
_TAIL = re.compile(
    r"\. Pending the preemption of (?P<n>\d+) workload\(s\)"
    r"|\. Preempting (?P<failed>\d+) workload\(s\) failed, will retry\."
)


def explain(message: str, facts: Facts, lang: str = "en") -> str:
    """Return a message of Kueue's in plain words.

    Args:
        message: A condition's message, as Kueue wrote it.
        facts: What is known about the queue and the job.
        lang: `en` or `zh`.
    """
    body, tail = _split_tail(_PREVIOUSLY.sub("", message.strip()), lang)
    parts = (part for part in _PREFIX.split(body) if part.strip(" ,"))
    said = list(dict.fromkeys(s for part in parts for s in _of_pod_set(part, facts, lang)))
    return ("; " if lang == "en" else "；").join(_never_once(said, lang)) + tail


def _of_pod_set(text: str, facts: Facts, lang: str) -> list[str]:
    """Return what is said of one pod set; one flavor that may do some day is hope enough."""
    said = list(_sentences(text.strip(" ,"), facts, lang))
    never = NEVER[lang]
    if all(sentence.startswith(never) for sentence in said):
        return said
    return [sentence.removeprefix(never) for sentence in said]


def _never_once(said: list[str], lang: str) -> list[str]:
    """Return the sentences with a beginning that all share only at the first."""
    never = NEVER[lang]
    if not all(sentence.startswith(never) for sentence in said):
        return said
    return [*said[:1], *(sentence.removeprefix(never) for sentence in said[1:])]


def _sentences(text: str, facts: Facts, lang: str) -> Iterator[str]:
    found: list[str] = []
    asides: dict[Shape, list[re.Match[str]]] = {}
    position = 0
    for match, shape in _matches(text):
        _keep_unknown(text[position : match.start()], found)
        if shape.aside:
            asides.setdefault(shape, []).append(match)
        else:
            found.append(shape.say(match, facts, lang))
        position = match.end()
    _keep_unknown(text[position:], found)
    if not found:
        found = [_of_all(shape, each, facts, lang) for shape, each in asides.items()]
    yield from _with_all_hosts(found, lang)


def _with_all_hosts(found: list[str], lang: str) -> list[str]:
    """Return the sentences, one that comes again with other hosts left out told once with all."""
    opening, comma = {"en": (" (of ", "; of "), "zh": ("（", "；")}[lang]
    ends = {"en": ")", "zh": "）"}[lang]
    told: dict[str, list[str]] = {}
    for sentence in found:
        head, bracket, rest = sentence.rpartition(opening)
        is_split = bool(bracket) and sentence.endswith(ends)
        rests = told.setdefault(head if is_split else sentence, [])
        if is_split and rest[:-1] not in rests:
            rests.append(rest[:-1])
    return [f"{h}{opening}{comma.join(r)}{ends}" if r else h for h, r in told.items()]


def _of_all(shape: Shape, matches: list[re.Match[str]], facts: Facts, lang: str) -> str:
    """Return what is said of several flavors alike, in one sentence with all their models."""
    said = dict.fromkeys(shape.say(match, facts, lang) for match in matches)
    if len(said) == 1:
        return next(iter(said))
    models = [facts.model(match["flavor"]) for match in matches]
    return next(iter(said)).replace(models[0], ", ".join(models))


def _matches(text: str) -> Iterator[tuple[re.Match[str], Shape]]:
    position = 0
    while position < len(text):
        hits = [(m, s) for s in SHAPES if (m := s.pattern.search(text, position))]
        if not hits:
            return
        match, shape = min(hits, key=lambda hit: (hit[0].start(), -hit[0].end()))
        yield match, shape
        position = match.end()


def _keep_unknown(piece: str, found: list[str]) -> None:
    words = piece.strip(" ,;.")
    if words:
        found.append(words)


def _split_tail(body: str, lang: str) -> tuple[str, str]:
    match = _TAIL.search(body)
    if match is None:
        return body, ""
    n = match["n"] or match["failed"]
    jobs = "job" if n == "1" else "jobs"
    if match["n"]:
        are = "is" if n == "1" else "are"
        tail = {
            "en": f"; {n} running {jobs} of lower priority {are} being stopped for it",
            "zh": f"；正在为其停止 {n} 个低优先级作业",
        }[lang]
    else:
        tail = {
            "en": f"; stopping {n} {jobs} for it failed and is tried again",
            "zh": f"；为其停止 {n} 个作业失败，将重试",
        }[lang]
    return _TAIL.sub("", body), tail
