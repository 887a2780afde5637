"""How a lack of quota or of room is said: with the model of card and the numbers. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tallyard import units
from tallyard.cli.views.asks import is_card
from tallyard.cli.views.quotas import Quota


@dataclass(frozen=True)
class Facts:
    """What is known beside the message: the queue, its quotas by flavor, the cards asked.

    `pool` is the queue as people name it in their jobs, `asked_model` the model that the job
    names. `per_pod` is the most that one pod asks of each resource (thousandths for cpu), and
    `largest` the most that one host of a flavor has; None where the hosts may not be read.
    `is_now` is false for a message of the past, which the quotas of now do not explain.
    `stop_policy` is Kueue's word for how the queue is held; empty where it is open.
    """

    queue: str = ""
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    cards: int = 0
    pool: str = ""
    asked_model: str = ""
    per_pod: Mapping[str, int] = field(default_factory=dict)
    largest: Mapping[str, Mapping[str, int]] | None = None
    is_now: bool = True
    stop_policy: str = ""

    def wanted(self) -> tuple[str, ...]:
        """Return the flavors that the job could run on: those of its model, else all."""
        named = tuple(f for f in self.quotas if self.model(f) == self.asked_model)
        return named or tuple(self.quotas)

    def thing(self, flavor: str, lang: str) -> str:
        """Return what people call a card, or a slice, of a flavor."""
        quota = self.quotas.get(flavor)
        return self.model(flavor) if quota is None or quota.is_cpu else quota.thing(lang)

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
    if quota is None or not is_card(match["resource"]) or not facts.is_now:
        return text
    return f"{text}{'：' if lang == 'zh' else ': '}{_usage(quota, facts.cards, lang)}"


def _amount(n: str, resource: str, flavor: str, facts: Facts, lang: str) -> str:
    if is_card(resource):
        thing = facts.thing(flavor, lang)
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


# What a sentence begins with that no waiting helps against.
NEVER: Mapping[str, str] = {"en": "can never run as it is: ", "zh": "按此永远无法运行："}


def too_large(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that more is asked than the queue could ever have."""
    hosts = facts.model(match["flavor"])
    thing = {"cpu": "vCPU"}.get(match["resource"], match["resource"])
    on_hosts = {"en": f"{thing} on {hosts} hosts", "zh": f"{thing}（{hosts} 主机）"}[lang]
    words = {
        "n": _total(match["assumed"], match["n"]),
        "most": match["most"],
        "thing": facts.thing(match["flavor"], lang) if is_card(match["resource"]) else on_hosts,
        "queue": _in_queue(facts, lang),
    }
    text = {
        "en": "asks for {n} {thing}, and at most {most} can be had{queue}",
        "zh": "申请 {n} {thing}，{queue}最多可得 {most}",
    }[lang]
    return NEVER[lang] + text.format(**words)


def left_out(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that the job selects other hosts than the queue has."""
    models = [quota.model for quota in facts.quotas.values() if not quota.is_cpu]
    if facts.asked_model and models and facts.asked_model not in models:
        words = {"asked": facts.asked_model, "queue": facts.pool or facts.queue}
        return {
            "en": "{asked} is not in queue {queue}, which has {models}",
            "zh": "队列 {queue} 没有 {asked}，它有 {models}",
        }[lang].format(models=(", " if lang == "en" else "、").join(models), **words)
    model = facts.model(match["flavor"])
    return {
        "en": f"its node selector or affinity leaves out {model}",
        "zh": f"其节点选择或亲和排除了 {model}",
    }[lang]


def _total(assumed: str, n: str) -> str:
    """Return what the pod sets ask for together where both are plain counts."""
    if assumed.isdecimal() and n.isdecimal():
        return str(int(assumed) + int(n))
    return n


def no_place(match: re.Match[str], facts: Facts, lang: str) -> str:
    """Say that there is quota but no host, or group of hosts, with room."""
    if resource := _lacking(match["why"]):
        return _no_host(resource, int(match["n"]), facts, lang)
    words = {"n": match["n"], "some": match.groupdict().get("some")}
    words["pods"] = "pod" if words["n"] == "1" else "pods"
    if words["some"]:
        text = {
            "en": "only {some} of {n} pods find a place together",
            "zh": "{n} 个 Pod 中只有 {some} 个能放在一起",
        }
    else:
        text = {
            "en": "no host (or group of hosts) has room for its {n} {pods} as asked",
            "zh": "没有主机（组）能按要求容纳其 {n} 个 Pod",
        }
    return text[lang].format(**words) + _excluded(match["why"], lang)


def _lacking(why: str | None) -> str:
    """Return the resource of which every host has too little free; empty where there is none."""
    total = re.search(r"Total nodes: (\d+)", why or "")
    lacks = [match for match in _EXCLUSION.finditer(why or "") if match["resource"]]
    return next((m["resource"] for m in lacks if total and m["n"] == total[1]), "")


def _no_host(resource: str, pods: int, facts: Facts, lang: str) -> str:
    """Say that no host has enough for one pod, and when it is known, that none ever has."""
    asked = facts.per_pod.get(resource, 0)
    words = {
        "asked": _of_host(asked, resource, lang) if asked else resource,
        "pool": facts.pool or facts.queue,
        "pods": {"en": "its pod" if pods == 1 else f"any of its {pods} pods", "zh": "一个 Pod"}[
            lang
        ],
    }
    if facts.largest is not None:
        most = max((facts.largest.get(f, {}).get(resource, 0) for f in facts.wanted()), default=0)
        if most and asked > most:
            text = {
                "en": "one pod asks for {asked}, the largest host of {pool} has {most}",
                "zh": "一个 Pod 申请 {asked}，{pool} 最大的主机有 {most}",
            }[lang]
            return NEVER[lang] + text.format(
                most=_of_host(most, resource, lang, bare=True), **words
            )
    text = {
        "en": "no host of {pool} has {asked} free for {pods}",
        "zh": "{pool} 没有主机能为{pods}空出 {asked}",
    }[lang].format(**words)
    if _is_idle(resource, facts):
        return (
            text
            + {
                "en": ", though none is in use: ask for less in one pod",
                "zh": "，虽然无人使用：请减少单个 Pod 的申请",
            }[lang]
        )
    return text


def _is_idle(resource: str, facts: Facts) -> bool:
    """Say whether all of what the job could run on is known to be free now."""
    quotas = [facts.quotas[flavor] for flavor in facts.wanted()]
    told = [quota for quota in quotas if quota.resource == resource]
    return facts.is_now and bool(told) and all(q.is_idle for q in told)


def _of_host(amount: int, resource: str, lang: str, *, bare: bool = False) -> str:
    if is_card(resource):
        unit = {"en": " card" if amount == 1 else " cards", "zh": " 张卡"}[lang]
        return str(amount) if bare else f"{amount}{unit}"
    if resource == "cpu":
        return units.vcpu(amount) if bare else f"{units.vcpu(amount)} vCPU"
    text = units.format_bytes(amount)
    return text if bare else f"{text} {resource}"


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
