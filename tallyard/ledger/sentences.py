"""A freeze that does not fit, as a person reads it: what was asked, what is left, the way out.

The same text is the check's message, the event and the log, in English and Chinese.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tallyard.languages import Language
from tallyard.ledger.accounts import Account, Level
from tallyard.ledger.amounts import of_rate, rate_text, text
from tallyard.ledger.refusals import NotEnough, OverCap

_MINUTE = 60
_HOUR = 3600


@dataclass(frozen=True)
class Quote:
    """What work would freeze: its rate (thousandths an hour) for its limit, and its wait.

    `asked` is how people say it, e.g. `1 x RTX-4090`; times are in seconds.
    """

    asked: str
    rate_milli: int
    seconds: int
    wait_rate_milli: int = 0
    wait_seconds: int = 0

    @property
    def job(self) -> int:
        """Return what the work itself freezes."""
        return of_rate(self.rate_milli, self.seconds)

    @property
    def wait(self) -> int:
        """Return what the wait freezes at most."""
        return of_rate(self.wait_rate_milli, self.wait_seconds)

    def seconds_that_fit(self, amount: int) -> int:
        """Return the longest limit in whole minutes that an amount pays, with the wait."""
        if amount <= self.wait or not self.rate_milli:
            return 0
        return min(self.seconds, (amount - self.wait) // self.rate_milli) // _MINUTE * _MINUTE


@dataclass(frozen=True)
class Relief:
    """A job that gives core-hours back when it ends: its name, how much, in how many seconds."""

    job: str
    amount: int
    seconds: int


def sentence(
    refusal: NotEnough | OverCap,
    quote: Quote,
    lang: Language,
    *,
    names: Mapping[str, str] | None = None,
    relief: Relief | None = None,
) -> str:
    """Say why work cannot be frozen, and what would help.

    Args:
        refusal: What the ledger answered.
        quote: What was to be frozen.
        lang: The language.
        names: The projects' names by id, where they differ.
        relief: The running work of the same project that ends first.
    """
    names = names or {}
    return (
        _chinese(refusal, quote, names, relief)
        if lang == "zh"
        else _english(refusal, quote, names, relief)
    )


def _english(
    refusal: NotEnough | OverCap, quote: Quote, names: Mapping[str, str], relief: Relief | None
) -> str:
    parts = f"{text(quote.job)} for {quote.asked} x {_time(quote.seconds)}"
    parts += f" @ {rate_text(quote.rate_milli)}/h"
    if quote.wait:
        parts += f", {text(quote.wait)} for up to {_short(quote.wait_seconds)} of wait"
    need = f"need {text(refusal.need)} ({parts})"
    if isinstance(refusal, NotEnough):
        where = _place(refusal.account, names)
        found = f"available {text(refusal.available)} {where}"
        return f"insufficient core-hours to freeze: {need}, {found}" + _way_out(
            quote, refusal.available, relief
        )
    project = names.get(refusal.project, refusal.project)
    found = (
        f"one queue of project {project} may have {text(refusal.cap)} frozen, "
        f"and {refusal.queue} has {text(refusal.frozen)}"
    )
    return f"over the cap of the queue: {need}, {found}" + _way_out(
        quote, refusal.cap - refusal.frozen, relief if refusal.can_ever_fit else None
    )


def _way_out(quote: Quote, amount: int, relief: Relief | None) -> str:
    ways = []
    if fits := quote.seconds_that_fit(amount):
        ways.append(f"--time {_time(fits)} fits")
    if relief:
        frees = f"frees {text(relief.amount)} in about {_about(relief.seconds)}"
        ways.append(f"wait for job {relief.job} ({frees})")
    if not ways:
        ways.append("ask for fewer cards or less time, or ask an administrator for a grant")
    return f"; {', or '.join(ways)}"


def _chinese(
    refusal: NotEnough | OverCap, quote: Quote, names: Mapping[str, str], relief: Relief | None
) -> str:
    minutes = _cents(Fraction(quote.seconds + (quote.wait_seconds if quote.wait else 0), _MINUTE))
    if isinstance(refusal, NotEnough):
        first = f"GPU配额已不够预冻结，冻结时间{minutes} min，折合{text(refusal.need)}核时"
        where = _place_zh(refusal.account, names)
        found = f"{where}可用 {text(refusal.available)} 核时"
        amount, later = refusal.available, relief
    else:
        first = f"超出队列的冻结上限，冻结时间{minutes} min，折合{text(refusal.need)}核时"
        project = names.get(refusal.project, refusal.project)
        found = (
            f"项目 {project} 的每个队列最多冻结 {text(refusal.cap)} 核时，"
            f"{refusal.queue} 已冻结 {text(refusal.frozen)}"
        )
        amount, later = refusal.cap - refusal.frozen, relief if refusal.can_ever_fit else None
    parts = f"{quote.asked} × {_time(quote.seconds)}，每小时 {rate_text(quote.rate_milli)}"
    if quote.wait:
        parts += f"，其中等待最多 {_short(quote.wait_seconds)}：{text(quote.wait)}"
    return f"{first}（{parts}）；{found}；{_way_out_zh(quote, amount, later)}"


def _way_out_zh(quote: Quote, amount: int, relief: Relief | None) -> str:
    ways = []
    if fits := quote.seconds_that_fit(amount):
        ways.append(f"可改用 --time {_time(fits)}")
    if relief:
        ways.append(
            f"等作业 {relief.job} 结束（约 {_about_zh(relief.seconds)}后释放 {text(relief.amount)}）"
        )
    return "，或".join(ways) or "请减少卡数或时间，或向管理员申请核时"


def _place(account: Account, names: Mapping[str, str]) -> str:
    project = names.get(account.project, account.project)
    return {
        Level.CLUSTER: "in the cluster",
        Level.PROJECT: f"in project {project}",
        Level.USER: f"in the share of {account.user} in project {project}",
    }[account.level]


def _place_zh(account: Account, names: Mapping[str, str]) -> str:
    project = names.get(account.project, account.project)
    return {
        Level.CLUSTER: "集群",
        Level.PROJECT: f"项目 {project} ",
        Level.USER: f"项目 {project} 中 {account.user} 的份额",
    }[account.level]


def _time(seconds: int) -> str:
    """Return a limit as `--time` takes it: `2h00m`, `45m`, and below a minute `30s`."""
    hours, rest = divmod(seconds, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    tail = f"{rest}s" if rest else ""
    if hours:
        return f"{hours}h{minutes:02}m{tail}"
    return f"{minutes}m{tail}" if minutes else f"{rest}s"


def _short(seconds: int) -> str:
    return _time(seconds).removesuffix("00m") if seconds % _HOUR == 0 else _time(seconds)


def _about(seconds: int) -> str:
    minutes = max(1, round(seconds / _MINUTE))
    return f"{minutes} min" if minutes < 2 * _MINUTE else f"{round(minutes / _MINUTE)} h"


def _about_zh(seconds: int) -> str:
    return _about(seconds).replace("min", "分钟").replace("h", "小时")


def _cents(number: Fraction) -> str:
    cents = round(number * 100)
    return f"{cents // 100}.{cents % 100:02}"
