"""Where in a person's files a finding comes from."""

from __future__ import annotations

from dataclasses import dataclass

from policies.finding import Finding, Source
from tallyard.spec.places import Places
from tallyard.spec.problem import Location


@dataclass(frozen=True)
class FindingPlaces:
    """The places of the keys of a spec and of its versions."""

    spec: Places
    versions: Places

    def of(self, finding: Finding) -> Location | None:
        """Return where a finding comes from; None where no key of a person's says it."""
        if finding.location is not None or not finding.path:
            return finding.location
        places = self.versions if finding.source is Source.VERSIONS else self.spec
        return places.at(finding.path)
