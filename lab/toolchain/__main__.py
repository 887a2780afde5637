"""`python -m lab.toolchain`: ensure the toolchain and print where its programs are."""

from __future__ import annotations

import signal
import sys

from lab.toolchain.ensure import ToolchainError, ensure
from lab.toolchain.progress import report_to

INTERRUPTED = 130


def main() -> int:
    """Run it; problems are one message on stderr."""
    # Ended politely, a build must take its compilers with it; an exception does that.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        toolchain = ensure(report_to())
    except ToolchainError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        print("Interrupted. What was compiled is kept; the next run goes on.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    for name, path in toolchain.programs.items():
        print(f"{name}\t{path}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
