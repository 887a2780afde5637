"""Work without an end: one window after the other is frozen, used, and settled or owed. Pure.

A window is counted from the moment at which the first pod of the work ran. What runs goes on when
the next one cannot be frozen: it becomes a debt when it is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tallyard.controllers.admission.cost import NoHosts
from tallyard.controllers.admission.steps import Ask, Known, Step, Stop
from tallyard.ledger import uses
from tallyard.ledger import work as rules
from tallyard.ledger.commands import AnyCommand, Settle
from tallyard.ledger.uses import Use
from tallyard.ledger.work import Charge
from tallyard.spec.model import Platform


def due(platform: Platform, known: Known, at: int) -> Iterator[Step]:
    """Yield what the windows need while it runs: those that are over closed, the next one frozen."""
    begun = known.begun
    if begun is None:
        return
    length = platform.freeze.window_seconds
    for number in range(known.closed, rules.windows_due(platform, begun, at)):
        record = known.freezes.get(known.work.window(number))
        if begun + (number + 1) * length <= at:
            yield from _closed(platform, known, number, at)
        elif record and not record.is_open and known.seen.is_active:
            # It was stopped and settled, and somebody has let it in again.
            yield Stop()
            return
        elif record is None and not isinstance(known.quote, NoHosts):
            rate_milli = known.given.rate_milli if known.given else known.quote.rate_milli
            freeze = rules.window_of(platform, known.work, rate_milli, number)
            yield Ask((freeze,), or_go_on=True)


def rest(platform: Platform, known: Known, at: int) -> Iterator[Step]:
    """Yield what closes all windows of work that is over."""
    begun = known.begun
    last = 1 if begun is None else rules.windows_due(platform, begun, at)
    for number in range(known.closed, last):
        yield from _closed(platform, known, number, at)


def _closed(platform: Platform, known: Known, number: int, at: int) -> Iterator[Step]:
    """Yield what settles a window that is over, or makes a debt of it where it was not frozen."""
    within = tuple(_within(platform, known, number, at))
    used = uses.amount(within, at)
    record = known.freezes.get(known.work.window(number))
    if record and record.is_open:
        amount = min(used, record.amount)
        settle = Settle(key=f"settle/{record.id}", freeze=record.id, amount=amount)
        commands: tuple[AnyCommand, ...] = (settle, *uses.refunds(within, record.id, amount))
        yield Ask(commands)
    elif record is None and used and number not in known.owed:
        charge = Charge(number, used)
        yield Ask((rules.owe_of(known.work, charge, known.debt_max),), or_go_on=True)


def _within(platform: Platform, known: Known, number: int, at: int) -> Iterator[Use]:
    """Yield the uses as far as they fall into a window."""
    length = platform.freeze.window_seconds
    begins = (known.begun or 0) + number * length
    ends = min(begins + length, at)
    for use in known.uses:
        began, ended = max(use.began, begins), min(use.ended or at, ends)
        if began < ended:
            # What was cut off was cut off in the window in which it ended.
            is_last = use.ended is not None and use.ended <= ends
            yield replace(use, began=began, ended=ended, reason=use.reason if is_last else "")
