"""What work costs, and how core-hours are frozen for it."""

from __future__ import annotations

from typing import Literal

from tallyard.spec.fields import Charged, Share, ShortTime, WorkTime, key
from tallyard.spec.keys import Keys


class WaitKeys(Keys):
    """What waiting in a queue costs."""

    charged: Charged = key(
        "The part of a job's rate that its wait costs.",
        effect="A freeze of its own beside the job's.",
        enforced=False,
        origin="rule of thumb: who holds a place pays for it as for the card",
        default="100%",
    )
    up_to: ShortTime = key(
        "The most of a wait that is charged; the rest is free.",
        effect="The most that the wait can cost, frozen before it begins.",
        enforced=False,
        origin="rule of thumb: five minutes are the user's, more is the platform's fault",
        alias="up-to",
        default="5m",
    )


class PriceKeys(Keys):
    """What work costs; a core-hour is one vCPU and 1 GiB for one hour."""

    uneven: Literal["larger", "mean"] = key(
        "What a pod pays whose vCPU and GiB differ: the larger of the two numbers, or their mean.",
        effect="The rate of CPU work, and of what a pod asks beyond what its cards include.",
        enforced=False,
        origin="rule of thumb: who takes the larger one leaves a rest that nobody can use",
        default="larger",
    )
    wait: WaitKeys = key("What waiting costs.", default=WaitKeys())


class FastLaneKeys(Keys):
    """Short work that may go past the cap."""

    up_to: ShortTime = key(
        "The longest time limit of work in the fast lane.",
        effect="Such work may use what is left when the queue's cap is reached.",
        enforced=False,
        origin="rule of thumb: a quarter of an hour tests a job before it runs",
        alias="up-to",
        default="15m",
    )


class FreezeKeys(Keys):
    """How core-hours are frozen before work runs."""

    cap: Share = key(
        "The part of a project's core-hours that one queue may have frozen at once.",
        effect="A job that alone exceeds it is refused.",
        enforced=False,
        origin="rule of thumb: three queues cannot starve a fourth",
        default="30%",
    )
    fast_lane: FastLaneKeys = key(
        "Short work may go past the cap.", alias="fast-lane", default=FastLaneKeys()
    )
    max_time_default: WorkTime = key(
        "The time limit of a job that names none.",
        effect="Such a job is stopped after it, or after its tier's `max-time` if that is shorter.",
        origin="rule of thumb: half a working day",
        alias="max-time-default",
        default="4h",
    )
    window: WorkTime = key(
        "How long ahead open-ended work is frozen for, again and again.",
        effect="What a service has frozen at any time.",
        enforced=False,
        origin="rule of thumb: long enough to react, short enough not to hoard",
        default="1h",
    )
    debt_max: Charged = key(
        "How far a service may run into debt, in per cent of the project's core-hours.",
        effect="Beyond it no new work of the project starts; the service runs on.",
        enforced=False,
        origin="rule of thumb: about a day and a half of a month",
        alias="debt-max",
        default="5%",
    )
