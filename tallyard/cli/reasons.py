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
from tallyard.cli.shortage import Facts

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
    said = list(dict.fromkeys(_sentences(body, facts, lang)))
    return ("; " if lang == "en" else "；").join(said) + tail


def _sentences(body: str, facts: Facts, lang: str) -> Iterator[str]:
    text = _PREFIX.sub(", ", body).strip(" ,")
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
    yield from found


def _of_all(shape: Shape, matches: list[re.Match[str]], facts: Facts, lang: str) -> str:
    """Return what is said of several flavors alike, in one sentence with all their models."""
    models = [facts.model(match["flavor"]) for match in matches]
    return shape.say(matches[0], facts, lang).replace(models[0], ", ".join(models))


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
    if match["n"]:
        tail = {
            "en": "; {n} running job(s) of lower priority are being stopped for it",
            "zh": "；正在为其停止 {n} 个低优先级作业",
        }[lang].format(n=match["n"])
    else:
        tail = {
            "en": "; stopping {n} job(s) for it failed and is tried again",
            "zh": "；为其停止 {n} 个作业失败，将重试",
        }[lang].format(n=match["failed"])
    return _TAIL.sub("", body), tail
