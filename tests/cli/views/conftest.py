"""What tests of views have in common."""

from __future__ import annotations

import pytest

from tallyard.cli import session


@pytest.fixture
def chinese() -> None:
    """Let the run speak Chinese."""
    session.begin(session.Lang.ZH, no_color=True)
