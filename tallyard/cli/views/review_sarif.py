"""A review as SARIF 2.1.0, which GitHub and editors show beside the lines.

The form is that of the OASIS standard (sarif-schema-2.1.0.json).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from policies.rules import RULES as REVIEWED
from tallyard.catalog.rules import RULES, Rule, Severity
from tallyard.cli import session
from tallyard.cli.review_verdict import PackFinding, Review, ToldFinding
from tallyard.cli.views.review import waiver_text
from tallyard.cli.views.review_addresses import public, without_addresses
from tallyard.cli.views.review_fields import versions_section
from tallyard.cli.views.spec_diff_parts import COLON
from tallyard.cli.words import word
from tallyard.cluster.faults import Parts
from tallyard.spec.messages import meaning, sentence, title
from tallyard.spec.problem import WARNINGS, Location, Problem

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Mapping[Severity, str] = {Severity.MANDATORY: "error", Severity.ADVISORY: "warning"}
_ROOT = "%SRCROOT%"
_NAMES = tuple(REVIEWED)
_NUMBER = re.compile(r"\d+")

# From a place to its file's path from the root of the repository.
type Paths = Callable[[Location], str]


def sarif(review: Review, version: str, stack: str, fallback: Location, path: Paths) -> Any:
    """Return the log: one run with all rules and all findings, and what Pulumi fails on.

    Args:
        review: What was found.
        version: That of this program.
        stack: The environment, which tells the runs for several of them apart.
        fallback: Where a finding is shown that no key of a person's says: GitHub takes none
            without a place.
        path: Gives the path of a place's file.
    """
    review = public(review)
    return _log(
        (version, stack),
        rules=_rules(),
        invocation=_invocation(review),
        results=list(_results(review, fallback, path)),
    )


def sarif_of_problems(found: Iterable[tuple[Problem, str]], version: str, stack: str) -> Any:
    """Return the log of a spec that has errors: a rule for each code, a result for each problem.

    Args:
        found: Each with its file's path from the root of the repository.
        version: That of this program.
        stack: The environment.
    """
    every = tuple(found)
    codes = tuple(dict.fromkeys(each.code for each, _ in every))
    names = _fingerprints((each.code, each.path, file) for each, file in every)
    return _log(
        (version, stack),
        rules=[_code(code) for code in codes],
        invocation=_failed(()),
        results=[
            {
                **_problem(each, file, codes.index(each.code)),
                "partialFingerprints": {"tallyFinding/v1": name},
            }
            for (each, file), name in zip(every, names, strict=True)
        ],
    )


def sarif_of_complaint(parts: Parts, version: str, stack: str) -> Any:
    """Return the log of anything else that keeps a review from being made: no result at all."""
    texts = (parts.where, parts.what, parts.why, parts.todo)
    text = without_addresses(COLON[session.lang()].join(filter(None, texts)))
    return _log((version, stack), rules=_rules(), invocation=_failed((text,)), results=[])


def _log(
    of: tuple[str, str],
    *,
    rules: list[dict[str, Any]],
    invocation: dict[str, Any],
    results: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a log of one run, of a version of this program for an environment."""
    version, stack = of
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "tally review", "version": version, "rules": rules}},
                "automationDetails": {"id": f"tally-review/{stack}/"},
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation],
                "results": results,
            }
        ],
    }


def _failed(texts: Iterable[str]) -> dict[str, Any]:
    return {
        "executionSuccessful": False,
        "toolExecutionNotifications": list(_notifications("error", texts)),
    }


def _notifications(level: str, texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    yield from ({"level": level, "message": {"text": _plain(text)}} for text in texts)


def _code(code: str) -> dict[str, Any]:
    lang = session.lang()
    return {
        "id": code,
        "shortDescription": {"text": title(code, lang)},
        "fullDescription": {"text": meaning(code, lang)},
        "defaultConfiguration": {"level": "warning" if code in WARNINGS else "error"},
    }


def _problem(problem: Problem, file: str, index: int) -> dict[str, Any]:
    return {
        "ruleId": problem.code,
        "ruleIndex": index,
        "level": "error" if problem.is_error else "warning",
        "message": {"text": _plain(sentence(problem, session.lang()))},
        "locations": [_location(problem.location, lambda _: file, problem.path)],
        "properties": {"hasPlace": True},
    }


def _results(review: Review, fallback: Location, path: Paths) -> Iterator[dict[str, Any]]:
    """Yield all findings, each under a name of its own."""
    keys = [_key(each, path) for each in review.findings]
    results = [_result(each, review.zone, fallback, path) for each in review.findings]
    keys += [(each.rule, each.urn, each.message) for each in review.pack]
    results += [_pack_result(each, fallback, path) for each in review.pack]
    for result, name in zip(results, _fingerprints(keys), strict=True):
        yield {**result, "partialFingerprints": {"tallyFinding/v1": name}}


def _invocation(review: Review) -> dict[str, Any]:
    """Return how it went: that Pulumi fails is no finding of a rule's."""
    colon = COLON[session.lang()]
    texts = [f"{word('Pulumi itself fails')}{colon}{error}" for error in review.plan.errors]
    refused = word("protected, `pulumi up` refuses")
    texts += [f"{each.kind} {each.title}{colon}{refused}" for each in review.protected]
    warnings = [f"{word('Pulumi warns')}{colon}{each}" for each in review.plan.warnings]
    versions = versions_section(review)
    notes = [f"{versions.title}{colon}{e}" for e in versions.blocks[0].notes] if versions else []
    return {
        "executionSuccessful": not review.fails,
        "toolExecutionNotifications": [
            *_notifications("error", texts),
            *_notifications("warning", warnings),
            *_notifications("note", notes),
        ],
    }


def _rules() -> list[dict[str, Any]]:
    return [_rule(RULES[name]) for name in _NAMES]


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


def _pack_result(found: PackFinding, fallback: Location, path: Paths) -> dict[str, Any]:
    """Return what only Pulumi's policy pack found; a rule of another pack is not in our list."""
    index = {"ruleIndex": _NAMES.index(found.rule)} if found.rule in _NAMES else {}
    severity = Severity.MANDATORY if found.is_mandatory else Severity.ADVISORY
    return {
        "ruleId": found.rule,
        **index,
        "level": _LEVELS[severity],
        "message": {"text": _plain(found.message or found.rule)},
        "locations": [_location(fallback, path, found.urn)],
        "properties": {"hasPlace": False},
    }


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


def _key(told: ToldFinding, path: Paths) -> tuple[str, ...]:
    """Return what a finding is told apart by; not its line, which moves."""
    finding = told.finding
    file = path(told.location) if told.location else ""
    return finding.name, finding.subject, finding.path, file, finding.text.english


def _fingerprints(found: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a name for each finding that stays while lines and amounts change.

    Those that are alike but for a number are counted in their order.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for each in found:
        key = tuple(_NUMBER.sub("0", part) for part in each)
        seen[key] += 1
        yield hashlib.sha256("\n".join((*key, str(seen[key]))).encode()).hexdigest()[:32]
