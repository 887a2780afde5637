"""Why a host is kept from new work, as a person reads it, in English and Chinese. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """The ways in which a host and the spec can differ.

    What one that is not in the spec `HAS` follows `NOT_IN_SPEC`: only hosts of the spec may.
    """

    LABEL_MISSING = "label-missing"
    LABEL_DIFFERS = "label-differs"
    LABEL_TOO_MUCH = "label-too-much"
    TAINT_MISSING = "taint-missing"
    TAINT_DIFFERS = "taint-differs"
    TAINT_TOO_MUCH = "taint-too-much"
    CARDS_DIFFER = "cards-differ"
    CARDS_TOO_MUCH = "cards-too-much"
    NOT_IN_SPEC = "not-in-spec"
    HAS_CARDS = "has-cards"
    HAS_LABEL = "has-label"
    HAS_TAINT = "has-taint"
    NOT_IN_CLUSTER = "not-in-cluster"


@dataclass(frozen=True)
class Reason:
    """One difference. `key` is a label, a taint or a resource; texts are as the API has them."""

    cause: Cause
    key: str = ""
    found: str = ""
    wanted: str = ""

    def text(self, lang: str = "en") -> str:
        """Return it as one clause, in `en` or `zh`."""
        return _TEXTS[lang][self.cause].format(key=self.key, found=self.found, wanted=self.wanted)


def sentence(reasons: Iterable[Reason], lang: str = "en") -> str:
    """Return all reasons as one sentence without its full stop; empty without any."""
    return ("；" if lang == "zh" else "; ").join(reason.text(lang) for reason in reasons)


_TEXTS: Mapping[str, Mapping[Cause, str]] = {
    "en": {
        Cause.LABEL_MISSING: "the label {key} is missing, the spec says {wanted}",
        Cause.LABEL_DIFFERS: "the label {key} is {found}, the spec says {wanted}",
        Cause.LABEL_TOO_MUCH: "the label {key} is {found}, and by the spec the host has no cards",
        Cause.TAINT_MISSING: "the taint {key} is missing, the spec says {wanted}",
        Cause.TAINT_DIFFERS: "the taint is {found}, the spec says {wanted}",
        Cause.TAINT_TOO_MUCH: "the taint is {found}, and by the spec the host has no cards",
        Cause.CARDS_DIFFER: "it offers {found} {key}, by the spec it has {wanted}",
        Cause.CARDS_TOO_MUCH: "it offers {found} {key}, by the spec it has none of that",
        Cause.NOT_IN_SPEC: "it is not in the spec",
        Cause.HAS_CARDS: "it has {found} {key}",
        Cause.HAS_LABEL: "it has the label {key}={found}",
        Cause.HAS_TAINT: "it has the taint {found}",
        Cause.NOT_IN_CLUSTER: "the cluster has no node of this name",
    },
    "zh": {
        Cause.LABEL_MISSING: "缺少标签 {key}，规格要求 {wanted}",
        Cause.LABEL_DIFFERS: "标签 {key} 为 {found}，规格要求 {wanted}",
        Cause.LABEL_TOO_MUCH: "标签 {key} 为 {found}，而规格中该主机没有卡",
        Cause.TAINT_MISSING: "缺少污点 {key}，规格要求 {wanted}",
        Cause.TAINT_DIFFERS: "污点为 {found}，规格要求 {wanted}",
        Cause.TAINT_TOO_MUCH: "污点为 {found}，而规格中该主机没有卡",
        Cause.CARDS_DIFFER: "提供 {found} 个 {key}，规格中为 {wanted}",
        Cause.CARDS_TOO_MUCH: "提供 {found} 个 {key}，规格中没有",
        Cause.NOT_IN_SPEC: "不在规格中",
        Cause.HAS_CARDS: "有 {found} 个 {key}",
        Cause.HAS_LABEL: "有标签 {key}={found}",
        Cause.HAS_TAINT: "有污点 {found}",
        Cause.NOT_IN_CLUSTER: "集群中没有这个名称的节点",
    },
}
