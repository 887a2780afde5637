"""`python -m tallyard.controllers`."""

from __future__ import annotations

import sys

from tallyard.controllers.main import main

sys.exit(main(sys.argv[1:]))
