"""The texts of the errors about a cluster."""

from __future__ import annotations

import re

import pytest

from tallyard.cluster.faults import ClusterError, Fault


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_fault_has_all_four_parts_in_both_languages(fault: Fault, lang: str) -> None:
    parts = ClusterError(fault, "context demo", name="x", detail="the reason").parts(lang)
    for part in (parts.where, parts.what, parts.why, parts.todo):
        assert part
        assert "{" not in part
    assert bool(re.search(r"[\u4e00-\u9fff]", parts.what + parts.todo)) is (lang == "zh")
