"""What is taken out of a review that everybody may read: where servers are. Pure.

A comment on a pull request and its findings beside the lines can be public. What Pulumi, its policy
pack and a cluster that does not answer say there is in their own words, with addresses in them;
on a terminal and in JSON they stay.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import ipaddress
import re
from dataclasses import replace

from tallyard.cli.review_fields import FieldText
from tallyard.cli.review_verdict import Review

ADDRESS = "(address)"
# What ends a sentence ends an address that stands at its end.
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'`<>()，。；、]*[^\s\"'`<>()，。；、.,:;!?]")
# How Go and Python name a host that they cannot find: without a port.
_LOOKED_UP = re.compile(r"(?<=\blookup )[\w.-]*\w|(?<=\bhost=['\"])[^'\"]+")
_IP_BRACKETED = re.compile(r"\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%\w+)?\](?::\d+)?")
_IP = re.compile(r"(?<![\w:./-])(?=[0-9A-Fa-f:.]*\d)[0-9A-Fa-f:.]{2,}[0-9A-Fa-f:](?:%\w+)?")
_IP_PORT = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w-]|\.\d)")
# One that has a letter: neither a time of day nor the place `file.yaml:12:3`.
_HOST_PORT = re.compile(
    r"(?<![\w/.:@-])(?=[\w.-]*[A-Za-z])[A-Za-z0-9](?:[\w.-]*\w)?"
    r"(?<!\.py)(?<!\.yaml)(?<!\.yml)(?<!\.json)(?<!\.toml)(?<!\.go)(?<!\.md):\d{2,5}(?!\w|[:.]\d)"
)


def without_addresses(text: str) -> str:
    """Return a text in which URLs, IP addresses and hosts with a port are one fixed word."""
    for pattern in (_URL, _LOOKED_UP, _IP_BRACKETED, _IP_PORT, _HOST_PORT):
        text = pattern.sub(ADDRESS, text)
    return _IP.sub(lambda found: ADDRESS if _is_ip(found[0]) else found[0], text)


def public(review: Review) -> Review:
    """Return a review that everybody may read."""
    plan, jobs = review.plan, review.jobs
    return replace(
        review,
        pack=tuple(replace(each, message=without_addresses(each.message)) for each in review.pack),
        plan=replace(
            plan,
            errors=tuple(map(without_addresses, plan.errors)),
            warnings=tuple(map(without_addresses, plan.warnings)),
            changes=tuple(
                replace(each, fields=tuple(map(_public_field, each.fields)))
                for each in plan.changes
            ),
        ),
        jobs=replace(
            jobs,
            where=without_addresses(jobs.where),
            not_asked=without_addresses(jobs.not_asked),
        ),
    )


def _public_field(found: FieldText) -> FieldText:
    before, after = (
        None if each is None else without_addresses(each) for each in (found.before, found.after)
    )
    return FieldText(found.field, before, after)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.rstrip(":"))
    except ValueError:
        return False
    return True
