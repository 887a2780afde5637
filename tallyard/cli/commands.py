"""Every command: where it lives, what it does in one line, one example. Data.

The command line, the reference (`docs/cli.md`) and the tests are made from this table; the
modules behind it are imported only when their command runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command. `target` is `module:function`."""

    path: tuple[str, ...]
    target: str
    summary: str
    example: str


GROUPS: Mapping[str, str] = {
    "spec": "Check and print what the YAML asks for.",
    "node": "The hosts: which take work, and why the others do not.",
    "ledger": "The books of core-hours: look at them, recount them, keep them safe.",
    "lab": "A real control plane on this machine, with simulated hosts.",
}

COMMANDS: tuple[Command, ...] = (
    Command(
        ("queue",),
        "tallyard.cli.queue_command:queue",
        "Show the queues with their quotas, and the waiting jobs with the reason.",
        "tally queue -p nlp",
    ),
    Command(
        ("jobs",),
        "tallyard.cli.jobs_command:jobs",
        "Show the jobs and services with their state, nodes and reason.",
        "tally jobs train-2gpu",
    ),
    Command(
        ("review",),
        "tallyard.cli.review_command:review",
        "Show whether a change of the spec may pass, what it does, and whom it concerns now.",
        "tally review main -s prod --no-cluster -o markdown",
    ),
    Command(
        ("spec", "validate"),
        "tallyard.cli.spec_command:validate",
        "Check the spec: every error at once, with its place.",
        "tally spec validate -s local",
    ),
    Command(
        ("spec", "render"),
        "tallyard.cli.spec_command:render",
        "Print the Kubernetes objects that the spec asks for.",
        "tally spec render -s local --output-dir manifests",
    ),
    Command(
        ("spec", "diff"),
        "tallyard.cli.diff_command:diff",
        "Show what each project gains or loses between two revisions of the spec.",
        "tally spec diff main -s prod",
    ),
    Command(
        ("spec", "schema"),
        "tallyard.cli.spec_command:schema",
        "Print the JSON Schema of the spec, for editors.",
        "tally spec schema",
    ),
    Command(
        ("spec", "explain"),
        "tallyard.cli.spec_command:explain",
        "Explain a key of the spec, or the code of a mistake.",
        "tally spec explain tiers",
    ),
    Command(
        ("spec", "pins"),
        "tallyard.cli.spec_command:pins",
        "Look up the digests of all charts and images, and write the new ones.",
        "tally spec pins --check",
    ),
    Command(
        ("drain",),
        "tallyard.cli.drain_command:drain",
        "Let no queue take work any more, and take back what runs.",
        "tally drain -s prod",
    ),
    Command(
        ("node", "check"),
        "tallyard.cli.node_command:check",
        "Show each host with what keeps it from work.",
        "tally node check",
    ),
    Command(
        ("ledger", "verify"),
        "tallyard.cli.ledger_command:verify",
        "Recount every balance from the journal.",
        "tally ledger verify --store ledger.db",
    ),
    Command(
        ("ledger", "tail"),
        "tallyard.cli.ledger_command:tail",
        "Show the last transactions of the journal.",
        "tally ledger tail -n 50 --store ledger.db",
    ),
    Command(
        ("ledger", "backup"),
        "tallyard.cli.ledger_command:backup",
        "Write the whole journal to a file, while others go on writing.",
        "tally ledger backup ledger.jsonl --store ledger.db",
    ),
    Command(
        ("ledger", "since"),
        "tallyard.cli.ledger_command:since",
        "Show what a store has done since a backup: what would be missing after restoring it.",
        "tally ledger since ledger.jsonl --store ledger.db",
    ),
    Command(
        ("ledger", "restore"),
        "tallyard.cli.ledger_command:restore",
        "Bring the books of a backup back into an empty store.",
        "tally ledger restore ledger.jsonl --store new.db",
    ),
    Command(
        ("ledger", "export"),
        "tallyard.cli.export_command:export",
        "Write the journal as CSV, or what was charged in FOCUS format.",
        "tally ledger export november.csv --since 2026-11-01 --until 2026-12-01",
    ),
    Command(
        ("ledger", "migrate"),
        "tallyard.cli.ledger_command:migrate",
        "Make a store's tables, or bring them to this version.",
        "tally ledger migrate --store ledger.db",
    ),
    Command(
        ("ledger", "release-finalizers"),
        "tallyard.cli.release_command:release_finalizers",
        "Let Workloads go that are being deleted while the controllers are away for good.",
        "tally ledger release-finalizers -n nlp",
    ),
    Command(
        ("lab", "up"),
        "tallyard.cli.lab_command:up",
        "Start the lab, or repair it.",
        "tally lab up",
    ),
    Command(
        ("lab", "down"),
        "tallyard.cli.lab_command:down",
        "End the lab and remove what it made.",
        "tally lab down",
    ),
    Command(
        ("lab", "status"),
        "tallyard.cli.lab_command:status",
        "Show which parts of the lab run.",
        "tally lab status -o json",
    ),
    Command(
        ("lab", "logs"),
        "tallyard.cli.lab_command:logs",
        "Print the log of one part of the lab.",
        "tally lab logs kueue",
    ),
    Command(
        ("lab", "toolchain"),
        "tallyard.cli.lab_command:toolchain",
        "Show the programs that the lab uses, and build those that are missing.",
        "tally lab toolchain",
    ),
    Command(
        ("lab", "preview"),
        "tallyard.cli.lab_command:preview",
        "Review what `pulumi up` would change in the lab, by a real preview.",
        "tally lab preview",
    ),
    Command(
        ("version",),
        "tallyard.cli.version_command:version",
        "Print the versions of tally and of what it works with.",
        "tally version -o json",
    ),
    Command(
        ("completion",),
        "tallyard.cli.completion_command:completion",
        "Print the completion script of a shell.",
        "tally completion bash > ~/.local/share/bash-completion/completions/tally",
    ),
)
