"""The nearest valid name, for people who mistyped one, or who think of it by another word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

# Below this likeness a suggestion confuses more than it helps.
_LIKENESS_MIN = 0.7
# People shorten the long names of cards: A80 for A800-SXM4-80GB.
_BEGINNING_MIN = 2
# Comparing is quadratic in the length; no name of the spec is longer.
_LENGTH_MAX = 100
# Of more names than this only the first are looked at, of fewer than this the likeness.
_NAMES_MAX = 300
_LIKENED_MAX = 100

_SEPARATORS = str.maketrans("", "", "-_ ")
# What other tools, or the Chinese text of the same page, call a key of the spec.
OTHER_WORDS = {
    **dict.fromkeys(("gpu", "gpus", "quota", "卡", "卡数", "配额"), ("cards",)),
    **dict.fromkeys(("mem", "ram", "内存", "显存"), ("memory",)),
    **dict.fromkeys(("names", "usernames", "subjects", "登录名"), ("logins",)),
    **dict.fromkeys(("timeout", "timelimit", "walltime", "时限"), ("max-time",)),
    **dict.fromkeys(("hours", "budget", "grant", "核时", "额度"), ("core-hours",)),
    **dict.fromkeys(("end", "ends", "expires", "deadline", "截止", "到期"), ("until",)),
    **dict.fromkeys(("why", "comment", "note", "原因", "说明"), ("reason",)),
    **dict.fromkeys(("type", "gpumodel", "型号"), ("model", "models")),
    **dict.fromkeys(("pool", "queue", "partition", "资源池"), ("pool", "pools")),
    **dict.fromkeys(("class", "quotaclass", "等级", "配额等级"), ("tier", "tiers")),
    **dict.fromkeys(("teams", "groups", "项目"), ("projects",)),
    **dict.fromkeys(("members", "people", "用户"), ("users",)),
    **dict.fromkeys(("gputypes", "gpumodels", "加速卡"), ("accelerators",)),
    **dict.fromkeys(("machines", "servers", "主机"), ("nodes", "hosts")),
    **dict.fromkeys(("price", "cost", "费率", "单价"), ("rate",)),
    **dict.fromkeys(("source", "来源"), ("origin",)),
    **dict.fromkeys(("interconnect", "link", "互联"), ("links",)),
    **dict.fromkeys(("timezone", "tz", "时区"), ("time-zone",)),
    **dict.fromkeys(("权重",), ("weight",)),
    **dict.fromkeys(("优先级",), ("priority", "priorities")),
    **dict.fromkeys(("份额", "占比"), ("share", "user-share")),
    **dict.fromkeys(("厂商", "manufacturer"), ("vendor",)),
    **dict.fromkeys(("机架",), ("rack",)),
    **dict.fromkeys(("exceptions", "exemptions", "豁免"), ("waivers",)),
    **dict.fromkeys(("policy", "规则"), ("rule",)),
    **dict.fromkeys(("resources", "targets", "对象"), ("objects",)),
}


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return the valid name that is most like the given one or begins so, or an empty text."""
    names = tuple(islice(valid, _NAMES_MAX))
    by_fold = {candidate.casefold(): candidate for candidate in names}
    wanted = name.casefold()[:_LENGTH_MAX]
    if wanted in by_fold:
        return by_fold[wanted]
    letters = _letters(wanted)
    by_letters = {fold.translate(_SEPARATORS): found for fold, found in by_fold.items()}
    if letters in by_letters:
        return by_letters[letters]
    meant = [word for word in OTHER_WORDS.get(letters, ()) if word in names]
    if meant:
        return meant[0]
    longer = [candidate for candidate in by_fold if candidate.startswith(wanted)]
    if longer and len(wanted) >= _BEGINNING_MIN:
        return by_fold[min(longer, key=len)]
    if len(names) > _LIKENED_MAX:
        return ""
    found = difflib.get_close_matches(wanted, by_fold, n=1, cutoff=_LIKENESS_MIN)
    return by_fold[found[0]] if found else ""


def _letters(name: str) -> str:
    """Return a name without what other habits of spelling change: max_time, maxTime."""
    return name.casefold().translate(_SEPARATORS)
