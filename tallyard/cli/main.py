"""The entry point of `tally`: what must hold before and after every command.

Only the standard library is imported at once, so that a damaged installation can still say so.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Buffer, Sequence
from contextlib import suppress
from types import FrameType

FAILED = 1
CANCELLED = 8
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TEXTS = {
    "cancelled": {"en": "cancelled", "zh": "已取消"},
    "damaged": {
        "en": "error: the virtual environment is damaged ({detail}): remove .venv, run make again",
        "zh": "错误： 虚拟环境已损坏（{detail}）：删除 .venv，再运行 make",
    },
    "output": {
        "en": "error: the output cannot be written ({detail})",
        "zh": "错误： 无法写出结果（{detail}）",
    },
}


class OutputError(BaseException):
    """The results cannot be written. No handler on the way can do anything about it."""


class NobodyReads(BaseException):
    """Whoever read the results (`head`) has seen enough."""


def main() -> None:
    """Run the command line of this process and exit."""
    _mend_streams()
    _take_signals()
    code = 0
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        # Ctrl-C while modules are still being imported; later `run_application` tells it.
        code = _told("cancelled", CANCELLED)
    except ImportError as error:
        code = _told("damaged", FAILED, detail=str(error))
    except OutputError as error:
        _forget_output()
        code = _told("output", FAILED, detail=str(error))
    except NobodyReads:
        from tallyard.cli import session  # noqa: PLC0415

        _forget_output()
        code = code or session.expected()
    sys.exit(code)


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    if list(argv) == ["--version"]:
        # Scripts ask this often; it should not cost the import of the command line.
        from importlib.metadata import version  # noqa: PLC0415

        sys.stdout.write(f"tally {version('tallyard')}\n")
        return 0
    from tallyard.cli.application import run_application  # noqa: PLC0415

    return run_application(argv)


def _take_signals() -> None:
    """Let the first signal end the command as Ctrl-C does, with all that it has started.

    Later ones change nothing: an impatient second Ctrl-C would break off the clean-up, and
    what was started would go on. What whoever started us wants ignored stays ignored.
    """
    for number in _ENDINGS:
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _end)


def _end(_number: int, _frame: FrameType | None) -> None:
    for number in _ENDINGS:
        # Not SIG_IGN, which programs that are started would inherit.
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


class _Results(io.FileIO):
    """Standard output. Its failures pass by all who would take them for their own."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError as error:
            raise NobodyReads from error
        except OSError as error:
            raise OutputError(error.strerror or str(error)) from error


class _Asides(io.FileIO):
    """Standard error. What cannot be said is not worth failing for."""

    def write(self, data: Buffer, /) -> int:
        with suppress(OSError):
            return super().write(data) or 0
        return memoryview(data).nbytes


def _mend_streams() -> None:
    """Make the standard streams ones that can be written to, whatever they were given as.

    A closed one becomes the null device: the next file that is opened would take its number.
    What the encoding has no sign for is escaped.
    """
    # Python has None for those that are closed.
    closed = [n for n, s in enumerate((sys.stdin, sys.stdout, sys.stderr)) if s is None]
    for number in closed:
        null = os.open(os.devnull, os.O_RDWR)
        if null != number:
            os.dup2(null, number)
            os.close(null)
        os.set_inheritable(number, True)
    if 0 in closed:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _stream(sys.stdout, _Results(1, "w", closefd=False))
    sys.stderr = _stream(sys.stderr, _Asides(2, "w", closefd=False))


def _stream(before: io.TextIOBase | object | None, raw: io.FileIO) -> io.TextIOWrapper:
    """Return a stream like the one before, on another file."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=isinstance(raw, _Asides) or raw.isatty(),
    )


def _forget_output() -> None:
    """Let what is still to be written go nowhere; Python would complain once more at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _told(what: str, code: int, **values: str) -> int:
    """Say in one sentence how it ended, and return the exit code."""
    from tallyard.cli import session  # noqa: PLC0415

    # Not the choice of the command line, which may not have been read by now.
    lang = session.default_lang(os.environ)
    sys.stderr.write(_TEXTS[what][lang].format(**values) + "\n")
    return code


if __name__ == "__main__":
    main()
