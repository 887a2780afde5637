"""Waivers: which rule of the review is not held against which objects, why, and until when."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tallyard.spec.fields import Moment, ObjectPattern, Reason, RuleName, key
from tallyard.spec.keys import Keys


class WaiverKeys(Keys):
    """An exception from one rule of the review until a moment; then the rule holds again."""

    rule: RuleName = key("The rule, by the name that its findings end with.")
    objects: Annotated[tuple[ObjectPattern, ...], Field(min_length=1)] = key(
        "What it is waived for, as Kind/name, or Kind/namespace/name where an object has one; `*`, "
        "`?` and `[ab]` stand for other letters of a name. A finding that is about no object is "
        "named in the same way: Pin/charts.kueue.digest, Setting/tallyard:token.",
    )
    reason: Reason = key("Why, in a few words.")
    until: Moment = key(
        "The last day on which it holds, or the moment at which it ends: 2026-12-31, "
        "2026-12-31T18:00, 2026-12-31T18:00+08:00."
    )
