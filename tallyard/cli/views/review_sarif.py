"""A review as SARIF 2.1.0, which GitHub and editors show beside the lines.

The form is that of the OASIS standard (sarif-schema-2.1.0.json).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from policies.rules import RULES as REVIEWED
from tallyard.catalog.rules import RULES, Rule, Severity
from tallyard.cli import session
from tallyard.cli.review_verdict import Review, ToldFinding
from tallyard.cli.views.review import waiver_text
from tallyard.spec.problem import Location

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Mapping[Severity, str] = {Severity.MANDATORY: "error", Severity.ADVISORY: "warning"}
_ROOT = "%SRCROOT%"
_NAMES = tuple(REVIEWED)

# From a place to its file's path from the root of the repository.
type Paths = Callable[[Location], str]


def sarif(review: Review, version: str, stack: str, fallback: Location, path: Paths) -> Any:
    """Return the log: one run with all rules and all findings.

    Args:
        review: What was found.
        version: That of this program.
        stack: The environment, which tells the runs for several of them apart.
        fallback: Where a finding is shown that no key of a person's says: GitHub takes none
            without a place.
        path: Gives the path of a place's file.
    """
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tally review",
                        "version": version,
                        "rules": [_rule(RULES[name]) for name in _NAMES],
                    }
                },
                "automationDetails": {"id": f"tally-review/{stack}/"},
                "columnKind": "unicodeCodePoints",
                "results": [_result(each, review.zone, fallback, path) for each in review.findings],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    because = rule.because[session.lang() == "zh"]
    seen = f" ({rule.incident})" if rule.incident else ""
    found = {
        "id": rule.name,
        "shortDescription": {"text": because},
        "fullDescription": {"text": f"{because}{seen}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }
    return found | ({"helpUri": rule.incident} if rule.incident else {})


def _result(told: ToldFinding, zone: str, fallback: Location, path: Paths) -> dict[str, Any]:
    finding, waiver = told.finding, told.waiver
    subject = finding.subject
    found: dict[str, Any] = {
        "ruleId": finding.name,
        "ruleIndex": _NAMES.index(finding.name),
        "level": _LEVELS[finding.rule.severity],
        "message": {"text": _plain(finding.text[session.lang() == "zh"])},
        "locations": [_location(told.location or fallback, path, subject)],
        # Lines move; a finding stays the same one.
        "partialFingerprints": {"tallyFinding/v1": _hash(finding.name, subject, finding.path)},
        "properties": {"hasPlace": told.location is not None},
    }
    if waiver is not None:
        suppression: dict[str, Any] = {
            "kind": "external",
            "status": "accepted",
            "justification": f"{waiver_text(waiver, zone)}: {waiver.reason}",
        }
        if told.waiver_location is not None:
            suppression["location"] = _location(told.waiver_location, path, "")
        found["suppressions"] = [suppression]
    return found


def _location(at: Location, path: Paths, subject: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path(at)), "uriBaseId": _ROOT},
            "region": {"startLine": at.line, "startColumn": at.column},
        }
    }
    if subject:
        found["logicalLocations"] = [{"fullyQualifiedName": subject, "kind": "resource"}]
    return found


def _plain(text: str) -> str:
    """Return a message in which nothing is a link or a place to fill in (SARIF 3.11.5, 3.11.6)."""
    escaped = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return escaped.replace("{", "{{").replace("}", "}}")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
