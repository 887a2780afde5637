"""`docs/admission.md`: what a person writes, what is filled in, what is refused and how that reads.

It is made from the table of rules; the examples are the cases by which the rules are tested.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tallyard import labels
from tallyard.cli.pages.made import CHECKOUT, NOTE
from tallyard.languages import Language
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.rule import Lock
from tallyard.render.admission.stamps import STAMPS

PAGES: Mapping[Language, Path] = {
    "en": Path("docs/admission.md"),
    "zh": Path("docs/admission.zh.md"),
}
CASES = Path("tests/data/admission/locks")
_SHORTEST = Path("examples/train-2gpu.yaml")
_NAMES: Mapping[Language, str] = {"en": "English", "zh": "中文"}

_TEXTS: Mapping[str, Mapping[Language, str]] = {
    "title": {"en": "What you submit", "zh": "提交作业"},
    "intro": {
        "en": "A Job, JobSet, CronJob, Deployment, StatefulSet or Pod in your project's namespace "
        "is completed and checked by the API server before it is stored. `kubectl create "
        "--dry-run=server -o yaml -f FILE` shows what it would be, and changes nothing.",
        "zh": "项目命名空间中的 Job、JobSet、CronJob、Deployment、StatefulSet 和 Pod，"
        "在保存之前由 API 服务器补全并检查。`kubectl create --dry-run=server -o yaml -f FILE` "
        "显示补全后的样子，不做任何更改。",
    },
    "short": {"en": "The shortest Job", "zh": "最短的 Job"},
    "short-intro": {
        "en": "A queue by its label, the pod, and how many cards. Without cards it needs no queue "
        "either.",
        "zh": "一个队列标签、Pod 和卡数。不用卡时连队列也不用写。",
    },
    "asked": {"en": "What you can ask for", "zh": "可以提出的要求"},
    "asked-head": {"en": "| write | what it does |", "zh": "| 写法 | 作用 |"},
    "stamped": {"en": "What is filled in", "zh": "自动补全的内容"},
    "stamped-intro": {
        "en": "What you write yourself is kept, but for whose work it is and its priority, and for "
        "times and retries beyond your queue's bounds.",
        "zh": "自己写了的会保留；作业归属和优先级除外，超出队列上限的时间和重试次数也除外。",
    },
    "stamped-head": {"en": "| rule | what |", "zh": "| 规则 | 内容 |"},
    "refused": {"en": "What is refused", "zh": "会被拒绝的内容"},
    "refused-intro": {
        "en": "All that is wrong is told at once. Each sentence ends with the rule's name; here is "
        "why each rule is there, and how it reads.",
        "zh": "所有问题一次说完。每句话以规则名结尾（API 服务器不知道读者的语言，因此是英文）。"
        "以下说明每条规则的原因和它的说法。",
    },
}
_PLACES: Mapping[str, Mapping[Language, str]] = {
    "label": {"en": "label", "zh": "标签"},
    "annotation": {"en": "annotation", "zh": "注解"},
    "nodeSelector": {"en": "nodeSelector", "zh": "nodeSelector"},
}
# Where it is written, what, and what it does.
_ASKED: tuple[tuple[str, str, Mapping[Language, str]], ...] = (
    (
        "label",
        f"`{labels.QUEUE_NAME}: training`",
        {
            "en": "the queue, required for work with cards; `tally queue` lists yours",
            "zh": "队列，用卡的作业必须写；`tally queue` 列出您的队列",
        },
    ),
    (
        "label",
        f'`{labels.MAX_EXEC_TIME}: "3600"`',
        {
            "en": "the time limit in seconds: what runs longer is stopped",
            "zh": "时限（秒）：超时即停止",
        },
    ),
    (
        "nodeSelector",
        "`gpu.model: A800-SXM4-80GB`",
        {"en": "one model", "zh": "指定型号"},
    ),
    (
        "annotation",
        f"`{labels.GPU_MEMORY_LEAST}: 40Gi`",
        {
            "en": "any model of the queue whose cards have so much memory or more",
            "zh": "队列中显存不少于此数的任一型号",
        },
    ),
    (
        "annotation",
        f"`{labels.WITHIN}: rack`",
        {
            "en": "all pods together on one level of the topology",
            "zh": "所有 Pod 放在拓扑的同一级之内",
        },
    ),
    (
        "label",
        f'`{labels.AGENT}: "true"`',
        {
            "en": "a program starts these pods by itself; the queue may bound how many at once",
            "zh": "这些 Pod 由程序自行启动；队列可限制同时的数量",
        },
    ),
)


def files(checkout: Path = CHECKOUT) -> Mapping[Path, str]:
    """Return the page in each language, by its path from the checkout."""
    return {PAGES[lang]: page(lang, checkout) for lang in PAGES}


def page(lang: Language, checkout: Path = CHECKOUT) -> str:
    """Return the whole page.

    Args:
        lang: In which language.
        checkout: The folder with the cases and the example.
    """
    return "\n".join(_lines(lang, checkout)) + "\n"


def refusal(lock: Lock, checkout: Path = CHECKOUT) -> str:
    """Return how a refusal by a lock reads: the first of its cases.

    Raises:
        LookupError: none of its cases is refused.
    """
    cases: Mapping[str, Any] = yaml.safe_load((checkout / CASES / f"{lock.name}.yaml").read_text())
    return f"{cases['denied'][0]['says']} [{lock.name}]"


def _lines(lang: Language, checkout: Path) -> Iterator[str]:
    other: Language = "en" if lang == "zh" else "zh"
    yield f"# {_TEXTS['title'][lang]}"
    yield ""
    yield NOTE
    yield ""
    yield f"[{_NAMES[other]}]({PAGES[other].name})"
    yield ""
    yield _TEXTS["intro"][lang]
    yield from _section("short", lang)
    yield from _shortest(checkout)
    yield from _section("asked", lang)
    yield from _table("asked", _asked(lang), lang)
    yield from _section("stamped", lang)
    index = int(lang == "zh")
    yield from _table("stamped", ((f"`{s.name}`", s.does[index]) for s in STAMPS), lang)
    yield from _section("refused", lang)
    for lock in (*FIRST, *LOCKS):
        yield ""
        yield f"### `{lock.name}`"
        yield ""
        yield _sentence(lock.because[index], lang)
        yield ""
        yield from ("```text", refusal(lock, checkout), "```")


def _section(name: str, lang: Language) -> Iterator[str]:
    yield ""
    yield f"## {_TEXTS[name][lang]}"
    if intro := _TEXTS.get(f"{name}-intro"):
        yield ""
        yield intro[lang]


def _shortest(checkout: Path) -> Iterator[str]:
    text = (checkout / _SHORTEST).read_text(encoding="utf-8")
    yield ""
    yield "```yaml"
    yield from (line for line in text.splitlines() if not line.startswith("#"))
    yield "```"


def _asked(lang: Language) -> Iterator[tuple[str, str]]:
    for place, what, does in _ASKED:
        yield f"{_PLACES[place][lang]} {what}", does[lang]


def _table(name: str, rows: Iterator[tuple[str, str]], lang: Language) -> Iterator[str]:
    yield ""
    yield _TEXTS[f"{name}-head"][lang]
    yield "| --- | --- |"
    yield from (f"| {key} | {text} |" for key, text in rows)


def _sentence(text: str, lang: Language) -> str:
    return f"{text}。" if lang == "zh" else f"{text[0].upper()}{text[1:]}."
