"""How a lack of quota or of room is said: with the model of card and the numbers. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tallyard.cli.views.asks import is_card
from tallyard.cli.views.quotas import Quota


@dataclass(frozen=True)
class Facts:
    """What is known beside the message: the queue, its quotas by flavor, the cards asked."""

    queue: str = ""
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    cards: int = 0

    def model(self, flavor: str) -> str:
        """Return the card model that a flavor stands for, or the flavor's own name."""
        quota = self.quotas.get(flavor)
        return flavor if quota is None or quota.is_cpu else quota.model


def needs_more(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that a quota is used up for now."""
    quota = facts.quotas.get(match["flavor"])
    words = {
        "what": _amount(match["n"], match["resource"], match["flavor"], facts, lang),
        "queue": _in_queue(facts, lang),
    }
    text = {"en": "waits for {what}{queue}", "zh": "等待{queue}{what}"}[lang].format(**words)
    if quota is None or not is_card(match["resource"]):
        return text
    return f"{text}{'：' if lang == 'zh' else ': '}{_usage(quota, facts.cards, lang)}"


def _amount(n: str, resource: str, flavor: str, facts: Facts, lang: str) -> str:
    if is_card(resource):
        thing = facts.model(flavor)
    else:
        hosts = facts.model(flavor)
        unit = {"cpu": "vCPU"}.get(resource, resource)
        thing = {"en": f"{unit} on {hosts} hosts", "zh": f"{unit}({hosts} 主机）"}[lang]
    return {
        "en": f"{n} more {thing}",
        "zh": f"再有 {n} {'张' if is_card(resource) else ''} {thing}",
    }[lang].replace("  ", " ")


def _in_queue(facts: Facts, lang: str) -> str:
    if not facts.queue:
        return ""
    return {"en": f" in queue {facts.queue}", "zh": f"队列 {facts.queue} "}[lang]


def _usage(quota: Quota, asked: int, lang: str) -> str:
    used, nominal, borrowed = quota.used, quota.nominal, quota.borrowed
    if borrowed:
        text = {
            "en": f"{used} in use, the quota of {nominal} and {borrowed} borrowed",
            "zh": f"已用 {used}（配额 {nominal}，借用 {borrowed}）",
        }
    else:
        text = {"en": f"{used} of {nominal} in use", "zh": f"{nominal} 中已用 {used}"}
    if asked and used + asked <= nominal:
        lent = {"en": ", the rest is lent to other queues", "zh": "，其余借给了其他队列"}
        return text[lang] + lent[lang]
    return text[lang]


def too_large(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that more is asked than the queue could ever have."""
    words = {
        "n": _total(match["assumed"], match["n"]),
        "most": match["most"],
        "thing": facts.model(match["flavor"])
        if is_card(match["resource"])
        else {"cpu": "vCPU"}.get(match["resource"], match["resource"]),
        "queue": _in_queue(facts, lang),
    }
    return {
        "en": "can never run as it is: asks for {n} {thing}, and at most {most} can be had{queue}",
        "zh": "按此永远无法运行：申请 {n} {thing}，{queue}最多可得 {most}",
    }[lang].format(**words)


def _total(assumed: str, n: str) -> str:
    """Return what the pod sets ask for together where both are plain counts."""
    if assumed.isdecimal() and n.isdecimal():
        return str(int(assumed) + int(n))
    return n


def no_place(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that there is quota but no host, or group of hosts, with room."""
    del facts
    words = {"n": match["n"], "some": match.groupdict().get("some")}
    if words["some"]:
        text = {
            "en": "only {some} of {n} pods find a place together",
            "zh": "{n} 个 Pod 中只有 {some} 个能放在一起",
        }
    else:
        text = {
            "en": "no host (or group of hosts) has room for its {n} pod(s) as asked",
            "zh": "没有主机（组）能按要求容纳其 {n} 个 Pod",
        }
    return text[lang].format(**words) + _excluded(match["why"], lang)


def _excluded(why: str | None, lang: str) -> str:
    """Return the hosts that were left out and for what, from Kueue's statistics."""
    if not why:
        return ""
    total = re.search(r"Total nodes: (\d+)", why)
    parts = [_exclusion(m, lang) for m in _EXCLUSION.finditer(why)]
    if not parts:
        return ""
    hosts = total[1] if total else "?"
    joined = (", " if lang == "en" else "、").join(parts)
    return {"en": f" (of {hosts} hosts: {joined})", "zh": f"（{hosts} 台主机中：{joined}）"}[lang]


_EXCLUSION = re.compile(
    r'(?P<kind>nodeSelector|affinity|topologyDomain|taint "(?P<taint>[^"]*)"'
    r'|resource "(?P<resource>[^"]*)"): (?P<n>\d+)'
)


def _exclusion(match: re.Match[str], lang: str) -> str:
    n = match["n"]
    if match["resource"]:
        return {
            "en": f"{n} without enough free {match['resource']}",
            "zh": f"{n} 台空闲 {match['resource']} 不足",
        }[lang]
    if match["taint"]:
        return {"en": f"{n} tainted {match['taint']}", "zh": f"{n} 台有污点 {match['taint']}"}[lang]
    words = {
        "nodeSelector": {"en": "do not match the selector", "zh": "台不符合节点选择"},
        "affinity": {"en": "do not match the affinity", "zh": "台不符合节点亲和"},
        "topologyDomain": {"en": "in other racks or blocks", "zh": "台在其他机架或机房块"},
    }
    return f"{n} {words[match['kind']][lang]}"
