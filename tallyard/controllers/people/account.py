"""A user's own account as other programs read it. Pure.

The words and the units are those of `tally`'s documents: core-hours as text with two decimals,
moments in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tallyard import labels
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import text
from tallyard.ledger.figures import figures
from tallyard.ledger.periods import rfc3339
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.store.owning import Own
from tallyard.spec.model import Platform, Project


def accounts(platform: Platform, login: str) -> Iterator[tuple[Project, Account]]:
    """Yield the projects in which a login is a user, with the user's account there."""
    for project in platform.projects.values():
        for user in project.users:
            if login in user.logins:
                yield project, Account(project.id, user.name)


def document(
    login: str, found: Iterable[tuple[Project, Account, Own]], at: int
) -> Mapping[str, Any]:
    """Return what a login has in each of its projects."""
    return {
        "apiVersion": labels.API,
        "kind": "Account",
        "login": login,
        "at": rfc3339(at),
        "projects": [_project(project, account, own, at) for project, account, own in found],
    }


def _project(project: Project, account: Account, own: Own, at: int) -> Mapping[str, Any]:
    return {
        "project": project.key,
        "user": account.user,
        **figures(own.lots, own.owed, at),
        "freezes": [_freeze(each) for each in own.freezes],
    }


def _freeze(record: FreezeRecord) -> Mapping[str, Any]:
    return {
        "id": record.id,
        "job": record.job,
        "queue": record.queue,
        "purpose": record.purpose.value,
        "at": rfc3339(record.made),
        "open": record.is_open,
        "frozen": text(record.amount),
        "charged": text(record.charged),
        "refunded": text(record.refunded),
    }
