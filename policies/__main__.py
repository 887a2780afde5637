"""The policy pack, by `--policy-pack policies`. No rule lives here."""

from __future__ import annotations

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.pack import policies

PolicyPack(
    name="tallyard",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=list(policies()),
)
