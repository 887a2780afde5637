"""A figure in another form is guessed if it can be meant one way only."""

from __future__ import annotations

import time

import pytest

from tallyard import units
from tallyard.spec import guesses


@pytest.mark.parametrize(
    ("code", "written", "meant"),
    [
        ("SPEC124", "3 days", "3d"),
        ("SPEC124", "72 hours", "72h"),
        ("SPEC124", "1.5h", "1h30m"),
        ("SPEC124", "1 hour 30 minutes", "1h30m"),
        ("SPEC124", "PT4H", "4h"),
        ("SPEC124", "3天", "3d"),
        ("SPEC124", "2w", "14d"),
        ("SPEC125", 0.4, "40%"),
        ("SPEC125", 30, "30%"),
        ("SPEC125", "60 %", "60%"),
        ("SPEC126", "600,000/month", "600000/month"),
        ("SPEC126", "600000 per month", "600000/month"),
        ("SPEC126", "600k core-hours/Month", "600000/month"),
        ("SPEC126", "600000核时/月", "600000/month"),
        ("SPEC127", "31.12.2026", "2026-12-31"),
        ("SPEC127", "2026/1/5", "2026-01-05"),
        ("SPEC127", "2026年12月31日", "2026-12-31"),
        ("SPEC127", "2026-12-31 18:00", "2026-12-31T18:00"),
        ("SPEC127", 20261231, "2026-12-31"),
        ("SPEC130", "asia/shanghai", "Asia/Shanghai"),
        ("SPEC130", "Shanghai", "Asia/Shanghai"),
        ("SPEC130", "UTC+8", "Asia/Shanghai"),
        ("SPEC132", "https://Registry.example.com/team/", "registry.example.com/team"),
        ("SPEC133", "RDMA/*", "rdma/"),
        ("SPEC117", "40GB", "40G"),
        ("SPEC117", "2TB", "2T"),
        ("SPEC117", "512 mb", "512M"),
        ("SPEC117", "16KB", "16k"),
        ("SPEC117", "16KiB", "16Ki"),
        ("SPEC117", "1.5TiB", "1.5Ti"),
        ("SPEC117", "20 GiB", "20Gi"),
        ("SPEC117", 64, "64Gi"),
        ("SPEC114", "NVIDIA", "nvidia"),
        ("SPEC114", "bronze_small", "bronze-small"),
        ("SPEC116", "A100 40GB", "A100-40GB"),
        ("SPEC403", "h100-00..23", "h100-[00-23]"),
        ("SPEC403", "H100_00..23", "h100-[00-23]"),
        ("SPEC403", "GPU_00", "gpu-00"),
        ("SPEC403", "GPU-01-02", "gpu-01-02"),
        ("SPEC405", "h100-00-23", "h100-[00-23]"),
        ("SPEC115", "h100-{00..23}", "h100-[00-23]"),
        ("SPEC115", "h100-[00..23]", "h100-[00-23]"),
        ("SPEC115", "h100-[00:23]", "h100-[00-23]"),
        ("SPEC115", "h100-(00-23)", "h100-[00-23]"),
        ("SPEC115", "h100-[00-23", "h100-[00-23]"),
        ("SPEC115", "h100-00 to 23", "h100-[00-23]"),
        ("SPEC115", "a-[0..9].corp.example", "a-[0-9].corp.example"),
    ],
)
def test_what_was_meant_is_guessed(code: str, written: object, meant: str) -> None:
    assert guesses.likely(code, written) == meant


@pytest.mark.parametrize(
    ("written", "equal"), [("2TB", 2 * 10**12), ("40GB", 40 * 10**9), ("40GiB", 40 * 2**30)]
)
def test_a_quantity_is_guessed_in_the_unit_that_is_equal(written: str, equal: int) -> None:
    assert units.parse_bytes(guesses.likely("SPEC117", written)) == equal


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("SPEC124", 72),
        ("SPEC124", "soon"),
        ("SPEC124", "-30s"),
        ("SPEC124", "3 days or so"),
        ("SPEC125", "half"),
        ("SPEC125", "2.5%"),
        ("SPEC125", 1.5),
        ("SPEC126", 30_000),
        ("SPEC126", "360000/year"),
        ("SPEC127", "end of Q2"),
        ("SPEC127", "31.02.2026"),
        ("SPEC130", "Atlantis"),
        ("SPEC117", 80_000_000),
        ("SPEC117", "a lot"),
        ("SPEC114", "语言组"),
        ("SPEC125", True),
        ("SPEC125", None),
        ("SPEC106", "8 cards"),
        ("SPEC115", "h100-[23..00]"),
        ("SPEC115", "h100"),
        ("SPEC403", "主机"),
        ("SPEC405", "h100-23-00"),
        ("SPEC405", "h100-7"),
    ],
)
def test_what_can_be_meant_in_two_ways_is_not_guessed(code: str, written: object) -> None:
    assert guesses.likely(code, written) == ""


def test_a_very_long_text_is_not_guessed_at() -> None:
    begin = time.process_time()
    assert guesses.likely("SPEC126", "30" + " " * 100_000 + "000/month") == ""
    assert time.process_time() - begin < 1
