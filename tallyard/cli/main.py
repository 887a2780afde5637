"""The entry point of `tally`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

CANCELLED = 8


def main() -> None:
    """Run the command line of this process and exit."""
    # Ended politely, a build or a lab takes its own programs with it, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # Ctrl-C while modules are still being imported; later `run_application` tells it.
        sys.stderr.write("cancelled\n")
        code = CANCELLED
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


if __name__ == "__main__":
    main()
