"""A rule of the admission policies: one thing that is stamped, or one that is refused.

The tables of both (`stamps.py`, `locks_*.py`) are what the policies, their reference page and
their tests are made from.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallyard.catalog.rules import RULES
from tallyard.render.admission import cel


@dataclass(frozen=True)
class Stamp:
    """What is written into an object before it is stored.

    Attributes:
        name: A slug.
        does: What it writes, in English and Chinese.
        patches: A CEL expression of a list of JSONPatch; several stamps are applied in the
            order of their table.
    """

    name: str
    does: tuple[str, str]
    patches: str


@dataclass(frozen=True)
class Lock:
    """What is refused.

    Attributes:
        name: As the table of rules has it; the sentences end with it.
        faults: A CEL expression of a list of sentences, empty where nothing is wrong: each says
            what was found and what to do.
    """

    name: str
    faults: str

    @property
    def because(self) -> tuple[str, str]:
        """Return why it is refused, in English and Chinese."""
        return RULES[self.name].because


def fresh(items: str) -> str:
    """Return what is found in, or done to, a pod template, nothing where it was not written."""
    return cel.where("variables.isFresh", f"({items})")


def of_fresh_template(name: str, faults: str) -> Lock:
    """Return a lock of a template that has just been written; Kueue adds to it later."""
    return Lock(name, fresh(faults))
