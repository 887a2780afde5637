"""The contracts about imports leave no module out."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

import grimp

CONTRACTS = Path(__file__).resolve().parents[1] / ".importlinter"
ROOT = "tallyard.cluster"
FOR_INFRA = {f"{ROOT}.{name}" for name in ("client", "drain", "faults", "hand_edits", "identity")}


def test_infra_may_use_what_it_looks_at_and_takes_back_and_no_other_module() -> None:
    contracts = ConfigParser()
    contracts.read(CONTRACTS)
    forbidden = set(contracts["importlinter:contract:infra"]["forbidden_modules"].split())
    graph = grimp.build_graph("tallyard", cache_dir=None)
    modules = graph.find_descendants(ROOT)
    assert modules >= FOR_INFRA
    needed = {
        other
        for module in FOR_INFRA
        for other in graph.find_upstream_modules(module)
        if other in modules
    }
    assert {name for name in forbidden if name.startswith(ROOT)} == modules - FOR_INFRA - needed
