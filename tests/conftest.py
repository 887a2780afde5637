"""What every test may need: the toolchain, from its cache."""

from __future__ import annotations

import sys

import pytest

from lab.toolchain.ensure import Toolchain, ensure
from lab.toolchain.progress import report_to


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """The lab's programs; built on first use, which `make test` has done before."""
    return ensure(report_to(sys.stderr))
