"""How the pack says what was found: the place, the sentence, and what waives it."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
from pathlib import Path

from policies.finding import Finding
from policies.places import FindingPlaces
from tallyard.languages import language_of
from tallyard.spec import moments
from tallyard.spec.waiver import Waiver

# The policy by which the pack tells what is waived. No rule of the catalog, as nobody can waive it.
WAIVED = "waived"
PROJECT = Path(__file__).resolve().parents[1]


def message(finding: Finding, places: FindingPlaces) -> str:
    """Return a finding with its place, in the language of the locale."""
    place = places.of(finding)
    where = f"{shown(place.file)}:{place.line}: " if place else ""
    return f"{where}{finding.sentence(language_of(os.environ))}"


def waived_until(waiver: Waiver, zone: str) -> str:
    """Return why something is waived, and until when: the last day, or a moment of the zone."""
    until = moments.until(waiver.until, zone)
    if language_of(os.environ) == "zh":
        return f"豁免至 {until}：{waiver.reason}"
    return f"Waived until {until}: {waiver.reason}"


def shown(file: Path) -> Path:
    """Return a file as a person names it in the checkout, whatever folder a pack runs in."""
    whole = file.absolute()
    return whole.relative_to(PROJECT) if whole.is_relative_to(PROJECT) else whole
