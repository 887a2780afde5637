"""Whose core-hours: the cluster's, a project's, a user's in a project. They nest.

A user's account is what its share of the project's core-hours allows, so the users' grants may
add up to more than the project's. What is frozen and charged is the same money at all three.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """The three levels, widest first."""

    CLUSTER = "cluster"
    PROJECT = "project"
    USER = "user"


class Account(Struct, frozen=True, order=True, gc=False, omit_defaults=True):
    """One account; `project` is the id, which survives a rename, and empty for the cluster."""

    project: str = ""
    user: str = ""

    @property
    def level(self) -> Level:
        """Return which of the three it is."""
        if self.user:
            return Level.USER
        return Level.PROJECT if self.project else Level.CLUSTER

    def __str__(self) -> str:
        return "/".join(part for part in (self.project, self.user) if part) or Level.CLUSTER


CLUSTER = Account()


def chain(project: str, user: str) -> tuple[Account, Account, Account]:
    """Return the accounts that move together for work of a user, widest first."""
    return (CLUSTER, Account(project), Account(project, user))
