"""What Pulumi's policy pack found, from Pulumi's log of events. Pure.

`pulumi preview --json` leaves out what policies say; its log (`--event-log`) has it, one event
on each line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tallyard.catalog.rules import RULES
from tallyard.cli.review_verdict import PackFinding

# How such a line goes on behind its number and time; the lines of others can be megabytes.
_POLICY = b'"policyEvent":{'
_EVENT = re.compile(rb'\{.{0,200}?"[a-z]\w*Event": ?\{')
_HEAD_BYTES = 200
# Pulumi's own marks for colours.
_COLOURS = re.compile(r"<\{%[^%]*%\}>")
_MANDATORY = "mandatory"


def is_event(line: bytes) -> bool:
    """Return whether a line is one of the log, whatever it tells of."""
    return _EVENT.match(line) is not None


def pack_finding(line: bytes) -> PackFinding | None:
    """Return what an event says of a policy; None where it says nothing of one.

    Args:
        line: One line of the log.
    """
    if _POLICY not in line[:_HEAD_BYTES]:
        return None
    try:
        event: Any = json.loads(line)["policyEvent"]
        name = str(event["policyName"])
        rule = RULES.get(name)
        # Pulumi puts the policy's description before what the policy says.
        said = plain_words(str(event["message"])).removeprefix(rule.because[0] if rule else "")
        return PackFinding(
            name,
            said.strip(),
            str(event.get("resourceUrn") or ""),
            event.get("enforcementLevel") == _MANDATORY,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def plain_words(text: str) -> str:
    """Return what Pulumi says as one line without marks for colours."""
    return " ".join(_COLOURS.sub("", text).split())
