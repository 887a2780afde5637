"""The command line as a whole: built from the table of commands, run, its end mapped.

Holds no rule of the platform. Whatever a command raises ends here, as four parts on stderr
and an exit code.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from typing import Annotated

from cyclopts import App, CycloptsError, Group, Parameter

from tallyard.cli import errors, session
from tallyard.cli.commands import COMMANDS, GROUPS
from tallyard.cli.exit_codes import ExitCode, of_fault
from tallyard.cli.stack import SpecRefused
from tallyard.cluster.faults import ClusterError, Parts

_EVERYWHERE = Group("Everywhere", sort_key=100)
_EXAMPLE = "Example: {example}"


def run_application(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    session.begin(None, no_color=False)
    try:
        result = build().meta(
            list(argv), exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - where all failures are told
        return _end(error, argv)
    return result if isinstance(result, int) else ExitCode.OK


def _end(error: BaseException, argv: Sequence[str]) -> ExitCode:
    match error:
        case CycloptsError():
            errors.tell(_usage(error))
            code = ExitCode.USAGE
        case ClusterError():
            errors.tell(error.parts(session.lang(), options_of(argv)))
            code = of_fault(error.fault)
        case errors.Complaint():
            errors.tell(error.parts)
            code = error.code
        case SpecRefused():
            code = error.code
        case ImportError():
            # A package is missing that only this command needs; `main` says what to do.
            raise error
        case KeyboardInterrupt():
            sys.stderr.write(_CANCELLED[session.lang()] + "\n")
            code = ExitCode.CANCELLED
        case BrokenPipeError():
            # The reader (`head`) has seen enough. Python would complain once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = ExitCode.OK
        case _:
            code = errors.tell_bug(error, argv)
    return code


def options_of(argv: Sequence[str]) -> frozenset[str]:
    """Return the options of the command that a command line names."""
    _, apps, _ = build().parse_commands(list(argv))
    found = apps[-1].assemble_argument_collection()
    return frozenset(name for argument in found for name in argument.names)


def build() -> App:
    """Return the command line; the modules of the commands are not imported yet."""
    app = App(
        name="tally",
        help="GPU quotas, queues and jobs of a Tallyard platform.",
        help_epilogue=_EXAMPLE.format(example="tally queue"),
        help_format="plaintext",
        version=lambda: f"tally {installed_version('tallyard')}",
        suppress_keyboard_interrupt=False,
    )
    groups = {name: App(name=name, help=text) for name, text in GROUPS.items()}
    for name, group in groups.items():
        first = next(c for c in COMMANDS if c.path[0] == name)
        group.help_epilogue = _EXAMPLE.format(example=first.example)
        app.command(group)
    for command in COMMANDS:
        *parents, leaf = command.path
        (groups[parents[0]] if parents else app).command(
            command.target,
            name=leaf,
            help=command.summary,
            help_epilogue=_EXAMPLE.format(example=command.example),
        )
    app.register_install_completion_command(help="Install the completion of your shell.")
    _launch_with_choices(app)
    app.meta.suppress_keyboard_interrupt = False
    return app


def _launch_with_choices(app: App) -> None:
    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        lang: Annotated[
            session.Lang | None,
            Parameter(group=_EVERYWHERE, help="Language; without it that of the locale."),
        ] = None,
        no_color: Annotated[
            bool,
            Parameter(group=_EVERYWHERE, negative=(), help="No colour, as with NO_COLOR."),
        ] = False,
    ) -> object:
        chosen = session.begin(lang, no_color=no_color)
        console = session.out() if not chosen.color else None
        return app(
            tokens,
            console=console,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )


_CANCELLED = {
    "en": "cancelled; nothing more was done. Run the same command again to go on.",
    "zh": "已取消，未再做任何事。重新运行同一命令即可继续。",
}


def _usage(error: CycloptsError) -> Parts:
    chain = " ".join(("tally", *(error.command_chain or ())))
    error.verbose = False
    zh = session.lang() == "zh"
    return Parts(
        where=chain,
        what="命令行有误" if zh else "the command line is wrong",
        why=" ".join(str(error).split()),
        todo=f"`{chain} --help` 有说明和示例"
        if zh
        else f"`{chain} --help` shows the options and an example",
    )
