"""What else of its queue a waiting job could have now, and what that would cost. Pure.

A job is never moved to a dearer model by itself, so whoever waits is told of it.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard import labels, units
from tallyard.cli.views.asks import Ask
from tallyard.cli.views.quotas import Quota
from tallyard.cluster.conditions import Object

# What Kueue says where cards or places are short. Another model is no help against the rest:
# a queue that is stopped, a name that is wrong.
_SHORT = ("insufficient", "topology")


@dataclass(frozen=True)
class OtherModel:
    """A model that has as many cards (or slices) free as the job asks for.

    `rate_milli` is what one of them costs for one hour, in thousandths of a core-hour, and
    `asked_rate_milli` the same of the model that the job names; None where a flavor says no rate.
    """

    model: str
    free: int
    rate_milli: int | None
    asked_rate_milli: int | None
    is_slice: bool = False

    def text(self, lang: str) -> str:
        """Return a clause that says what is free, at what price, and how to ask for it."""
        words = {
            "model": self.model,
            "free": self.free,
            "price": self._price(lang),
            "key": labels.GPU_MODEL,
            "measure": "个" if self.is_slice else "张",
        }
        return {
            "en": "{model} has {free} free{price}: name it by nodeSelector {key}",
            "zh": "{model} 有 {free} {measure}空闲{price}：可用 nodeSelector {key} 指定",
        }[lang].format(**words)

    def _price(self, lang: str) -> str:
        if self.rate_milli is None or self.asked_rate_milli is None:
            return ""
        here, there = map(units.thousandths, (self.rate_milli, self.asked_rate_milli))
        en, zh = ("slice", "切片") if self.is_slice else ("card", "卡")
        return {
            "en": f", at {here} instead of {there} core-hours a {en} and hour",
            "zh": f"，每{zh}时 {here} 核时而不是 {there} 核时",
        }[lang]


def others(
    message: str, asked_model: str, ask: Ask, quotas: Iterable[Quota], rates: Mapping[str, int]
) -> tuple[OtherModel, ...]:
    """Return the other models, the cheapest first.

    Args:
        message: Why Kueue says that the job waits.
        asked_model: What the job's node selector names; one that names none is given any.
        ask: What it asks for.
        quotas: Of its queue.
        rates: As from `rates_of`.
    """
    if not ask.cards or not asked_model or not any(word in message for word in _SHORT):
        return ()
    same = [quota for quota in quotas if quota.resource == ask.resource]
    asked = next((rates.get(q.flavor) for q in same if q.model == asked_model), None)
    is_slice = labels.is_sliced(ask.resource or "")
    found = [
        OtherModel(quota.model, quota.free, rates.get(quota.flavor), asked, is_slice)
        for quota in same
        if quota.model != asked_model and quota.free is not None and quota.free >= ask.cards
    ]
    return tuple(sorted(found, key=lambda one: (one.rate_milli or 0, one.model)))


def rates_of(flavors: Mapping[str, Object]) -> Mapping[str, int]:
    """Return what a card or slice of each flavor costs for an hour, in thousandths."""
    said = {
        name: (flavor["metadata"].get("annotations") or {}).get(labels.RATE)
        for name, flavor in flavors.items()
    }
    return {name: units.parse_thousandths(str(rate)) for name, rate in said.items() if rate}
