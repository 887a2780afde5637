"""The pins of this stack, refused where images would be pulled by a digest nobody knows."""

from __future__ import annotations

from infra.settings import Settings
from tallyard.spec.versions import Versions, VersionsError, read_versions


def deployed_versions(told: Settings) -> Versions:
    """Return the pins.

    A stack whose managers run outside the cluster pulls nothing, so its digests may be
    unverified; every other stack wants them all.

    Raises:
        VersionsError: naming each pin that is not fit.
    """
    versions = read_versions(told.versions)
    unverified = versions.unverified()
    if unverified and not told.outside:
        pins = "\n".join(f"  {path}: unverified" for path in unverified)
        raise VersionsError(
            f"{told.versions}: these digests have not been looked up, and this stack would "
            f"pull what they stand for:\n{pins}\n"
            "Run `make pins` where the image registry can be reached, read the change, commit it."
        )
    return versions
