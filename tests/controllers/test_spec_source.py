"""The spec goes into the cluster by `pulumi up` and comes out of it the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tallyard import labels
from tallyard.controllers.spec_source import read_spec
from tallyard.render.controllers import SpecFile, spec_manifest
from tallyard.spec.load import load
from tests.running_lab import OVERLAY

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
STACKS = OVERLAY.parent
BASE = SpecFile("platform.yaml", (STACKS / "platform.yaml").read_text())


def _config(name: str, text: str, base: SpecFile = BASE) -> Mapping[str, Any]:
    return spec_manifest(SpecFile(name, text), base).object


@pytest.mark.parametrize("name", ["local.yaml", "prod.yaml"])
def test_the_shipped_specs_are_the_same_in_the_cluster(name: str) -> None:
    read = read_spec(_config(name, (STACKS / name).read_text()), NOW)
    assert read.platform == load(STACKS / name, NOW).platform
    assert read.platform is not None
    assert read.fault == ""


@pytest.mark.parametrize(
    ("overlay", "base", "told"),
    [
        ("local.yaml", "platform.yaml", "../elsewhere/platform.yaml"),
        ("local.yaml", "local.yaml", "../local.yaml"),
        ("环境 1.yaml", "平台.yaml", "平台.yaml"),
        ("local.yaml", "my platform.yaml", '"my platform.yaml" # ours'),
    ],
)
def test_files_of_any_name_and_place_are_found_in_the_cluster(
    overlay: str, base: str, told: str
) -> None:
    text = OVERLAY.read_text().replace("base: platform.yaml", f"base: {told}")
    config = _config(overlay, text, SpecFile(base, BASE.text))
    read = read_spec(config, NOW)
    assert read.platform == load(OVERLAY, NOW).platform, read.fault
    written = config["data"][config["metadata"]["annotations"][labels.OVERLAY]]
    assert [a for a, b in zip(written.splitlines(), text.splitlines(), strict=True) if a != b] in (
        [],
        [line for line in written.splitlines() if line.startswith("base:")],
    )


def test_what_is_wrong_is_told_with_the_place_in_the_file_and_not_in_a_folder_of_ours() -> None:
    text = OVERLAY.read_text().replace("pool: training", "pool: traning", 1)
    read = read_spec(_config("local.yaml", text), NOW)
    assert read.platform is None
    assert "local.yaml:5:" in read.fault
    assert "traning" in read.fault
    assert "tallyard-spec-" not in read.fault
    assert "\n" not in read.fault


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"metadata": {}}, "names none of its files"),
        ({"metadata": {"annotations": {labels.OVERLAY: "x"}}, "data": {}}, "names none"),
        (
            {"metadata": {"annotations": {labels.OVERLAY: "x"}}, "data": {"x": "", "../y": ""}},
            "no name of a file",
        ),
        ({"metadata": {"annotations": {labels.OVERLAY: "x"}}, "data": {"x": ""}}, "x:1:1"),
    ],
)
def test_a_config_map_that_holds_no_spec_is_told(config: Mapping[str, Any], told: str) -> None:
    read = read_spec(config, NOW)
    assert read.platform is None
    assert told in read.fault
    assert "pulumi up" not in read.fault, "what to do is said by who tells of it"


def test_a_fault_is_told_in_chinese_too() -> None:
    """The files' own words stay as they are."""
    wrong = _config("local.yaml", OVERLAY.read_text().replace("pool: training", "pool: x", 1))
    others: tuple[Mapping[str, Any], ...] = (
        {"metadata": {}},
        {**wrong, "data": {**wrong["data"], "../y": ""}},
        wrong,
    )
    for config in others:
        fault = read_spec(config, NOW, "zh").fault
        assert re.search(r"[\u4e00-\u9fff]", fault)
        assert not re.search(r"names none|no name of|error", fault)
    assert "详细说明" in read_spec(wrong, NOW, "zh").fault


def test_nothing_is_left_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    read_spec(_config("local.yaml", OVERLAY.read_text()), NOW)
    assert list(tmp_path.iterdir()) == []
