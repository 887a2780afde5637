"""`docs/cli.md`: the commands, made from the command line itself."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console

from tallyard.cli.application import build
from tallyard.cli.commands import COMMANDS, Command
from tallyard.cli.exit_codes import MEANINGS
from tallyard.cli.output import API_VERSION
from tallyard.cli.pages.made import NOTE

PAGE = Path("docs/cli.md")
_WIDTH = 100

_DOCUMENTS = (
    ("tally queue", "QueueList", "`items` (queues with `quotas`), `waiting`"),
    ("tally jobs", "JobList", "`items`"),
    ("tally jobs NAME", "Job", "the job, its `timelines`, its `events`"),
    (
        "tally spec explain KEY",
        "Explanation",
        "one key of the spec: `path`, `text`, `type`, `default`, `effect`, the `keys` below it",
    ),
    ("tally spec explain SPEC101", "ErrorCode", "one code, `wrong` and `right`"),
    (
        "tally spec validate --error-format json",
        "ProblemList",
        "`items`, the number of `errors` and `warnings`",
    ),
    (
        "tally spec diff",
        "SpecDiff",
        (
            "the sides `before` and `after`, read `at` one moment; `presence` of the environment, "
            "whether anything has `changed`; `renames`, `tiers`, `projects`, what is for "
            "`everybody`, `hosts` and their `moves`, `slices` of a card by pool, `supply` of "
            "cards, `coreHours` a month, `waivers`, new `flavors`, objects `replaced` and "
            "`removed`, new `warnings`"
        ),
    ),
    (
        "tally review -o json",
        "Review",
        (
            "how many `findings` are `refused`, `told` and `waived`; what only the policy `pack` "
            "found; the `plan` (`source`, `errors`, `changes` with their `deed` and `fields`), the "
            "`versions` that differ, the `jobs` that are affected with their `losses`, the queues "
            "that `pulumi up` `waitsFor`, the `diff` as a SpecDiff; also of `tally lab preview`"
        ),
    ),
    ("tally lab status", "LabStatus", "the lab and its `components`"),
    ("tally lab toolchain", "ToolchainList", "`items`"),
    (
        "tally drain",
        "Drain",
        "the `queues` held, whether all is `drained`, how many are `waiting` by project, `leftovers`",
    ),
    (
        "tally ledger tail",
        "LedgerTail",
        "`items`: transactions, `amount` below nothing where an account loses it; with `-f` lines",
    ),
    (
        "tally ledger since",
        "LedgerSince",
        "where the backup ends (`backupSeq`, `backupDigest`), `count` and `items` since",
    ),
    (
        "tally ledger verify",
        "LedgerVerdict",
        "how many `transactions`, `entries`, `lots`, `freezes` there are; `digest`, `faults`",
    ),
    ("tally version", "Version", "`versions`"),
)


def files() -> Mapping[Path, str]:
    """Return the page by its path from the checkout."""
    return {PAGE: page()}


def page() -> str:
    """Return the whole page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "# The command `tally`"
    yield ""
    yield NOTE
    yield ""
    yield "Results go to stdout, everything else to stderr. Errors say where, what, why and what to"
    yield "do. `NO_COLOR` or `--no-color` switches colour off; `--lang en|zh` chooses the language,"
    yield "which is otherwise that of `LC_ALL`, `LC_MESSAGES` or `LANG`. `tally completion bash`"
    yield "(`zsh`, `fish`) prints the completion script, `tally --install-completion` installs it."
    yield "The language is that of tables, reasons and errors; this help, `spec explain`'s texts of"
    yield "keys, the lab's progress and what other programs say stay English."
    yield ""
    yield "On a terminal, what has no room beside the rest of a row stands indented below it, and the"
    yield "column of projects is left out where there is one. Piped tables never change with the width."
    yield ""
    yield "The cluster is that of `KUBECONFIG` (several files as for kubectl) or `~/.kube/config`."
    yield "Without `-p` a command is about the namespace of the kubeconfig's context; where that"
    yield "names none, about every project that you may see."
    yield ""
    yield from _exit_codes()
    yield from _formats()
    for command in COMMANDS:
        yield from _command(command)


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes"
    yield ""
    yield "| code | meaning |"
    yield "| --- | --- |"
    yield from (f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items())
    yield ""


def _formats() -> Iterator[str]:
    yield "## Documents"
    yield ""
    yield f"`-o json` and `-o yaml` print one document with `apiVersion: {API_VERSION}` and a `kind`."
    yield "Fields are added, never renamed or removed. Amounts are integers: cards, or thousandths"
    yield "of a vCPU where `unit` is `milliCPU`, or of a core-second where it is"
    yield "`core-second/1000` (3,600,000 are a core-hour); a `borrowMax` of null is no limit, a `free` of null is"
    yield "not known, a `place` of null is work whose queue does not exist. Times are RFC 3339 in UTC,"
    yield "spans are whole seconds, states are English words; only `reason` and `waitedFor` follow the"
    yield "language."
    yield ""
    yield "`free` is what the queue could be given now: its unused quota and what its cohort has to"
    yield "lend, up to `borrowMax` of each model by itself. It is worked out as Kueue does, from the"
    yield "quotas and reservations of all queues and cohorts; who may not read the cohorts sees `?`,"
    yield "because nothing else tells what the others leave. A plain user may not read hosts either, so"
    yield "that one pod is larger than every host is told as a fact to those only who may."
    yield ""
    yield "| command | kind | holds |"
    yield "| --- | --- | --- |"
    yield from (f"| `{command}` | `{kind}` | {holds} |" for command, kind, holds in _DOCUMENTS)
    yield ""


def _command(command: Command) -> Iterator[str]:
    yield f"## tally {' '.join(command.path)}"
    yield ""
    yield "```console"
    yield f"$ tally {' '.join(command.path)} --help"
    yield from help_of(command).splitlines()
    yield "```"
    yield ""


def help_of(command: Command) -> str:
    """Return the help of a command as it is printed without a terminal."""
    text = io.StringIO()
    console = Console(file=text, width=_WIDTH, no_color=True, highlight=False)
    build().meta(
        [*command.path, "--help"],
        console=console,
        exit_on_error=False,
        result_action="return_value",
    )
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())
