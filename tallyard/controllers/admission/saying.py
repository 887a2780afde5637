"""What stands on a Workload's check, for who waits for it. Pure.

The text is English, as all that the API server tells people is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tallyard.controllers.admission.cost import NoHosts
from tallyard.controllers.admission.steps import Known
from tallyard.ledger.amounts import text
from tallyard.ledger.refusals import Reason, Refusal, Refused
from tallyard.ledger.sentences import Relief, sentence

# What an administrator has to do something about; `{}` is what it is about, found and bound.
_CONTRADICTIONS: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.IN_DEBT: (
            "project {0} owes {1} core-hours for services that went on without any; new work waits "
            "until that is repaid from its next grant, or an administrator grants more"
        ),
        Reason.PROJECT_CLOSED: "project {0}: it was merged, and takes no new work",
        Reason.AMOUNT: "what it asks comes to an amount that the ledger does not take: {0}",
    }
)
_OTHER = "the ledger refuses the freeze ({reason}: {0}); tell an administrator"


def frozen(known: Known) -> str:
    """Return what a check says of work that may run."""
    amount = sum(record.amount for record in known.freezes.values() if record.is_open)
    if not known.freezes and not isinstance(known.quote, NoHosts):
        # It has just been frozen, by this quote.
        amount = known.quote.job + known.quote.wait
    return f"{text(amount)} core-hours are frozen"


def never(fault: NoHosts) -> str:
    """Return what a check says of work that can never run."""
    return (
        f"pod set {fault.pod_set} fits no hosts of queue {fault.queue}: ask for what they have, or "
        "use another queue (`tally queue` lists them)"
    )


def refused(known: Known, refusal: Refusal, names: Mapping[str, str], relief: Relief | None) -> str:
    """Return what a check says of work that waits for core-hours.

    Args:
        known: The work.
        refusal: What the ledger answered.
        names: The projects' names by id.
        relief: The running work of the same project that ends first.
    """
    if isinstance(refusal, Refused):
        told = _CONTRADICTIONS.get(refusal.reason, _OTHER)
        subject = names.get(refusal.subject, refusal.subject)
        return told.format(subject, text(refusal.found), reason=refusal.reason.value)
    if isinstance(known.quote, NoHosts):
        return never(known.quote)
    return sentence(refusal, known.quote, "en", names=names, relief=relief)
