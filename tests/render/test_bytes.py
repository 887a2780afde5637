"""The same spec gives the same bytes, whatever surrounds the process.

`make soak-bytes` does the same under both versions of Python. Here the digests of the shipped
stacks are committed, so that whichever version runs the tests must come to the same ones.
"""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.soak import bytes as surroundings


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    """What ten processes said of the same specs."""
    folder = tmp_path_factory.mktemp("specs")
    surroundings.write_specs(folder)
    return surroundings.outputs(Path(sys.executable), folder)


def test_ten_seeds_meet_each_locale_in_each_time_zone() -> None:
    met = list(surroundings.surroundings())
    assert [each["PYTHONHASHSEED"] for each in met] == [str(seed) for seed in range(10)]
    pairs = {(each["LC_ALL"], each["TZ"]) for each in met}
    assert len(pairs) == len(surroundings.LOCALES) * len(surroundings.ZONES) == 4


def test_every_surrounding_gives_the_same_bytes(outputs: tuple[bytes, ...]) -> None:
    assert len(outputs) == 10
    assert len(set(outputs)) == 1


def test_what_was_compared_is_there(outputs: tuple[bytes, ...]) -> None:
    """Three specs were rendered, with names as they are written, and one refused."""
    assert surroundings.endings(outputs[0]) == surroundings.ENDINGS
    text = outputs[0].decode()
    for name in ("语言模型", "ldap:李伟", "oidc:𠮷田@corp.example", "'1e3'"):
        assert name in text
    assert len(re.findall(r" \[SPEC[0-9]+\]$", text, re.MULTILINE)) > 3


def test_the_shipped_stacks_have_these_digests(
    outputs: tuple[bytes, ...], snapshot: SnapshotAssertion
) -> None:
    local, prod, *_ = re.split(rb"^# .*\n", outputs[0], flags=re.MULTILINE)
    assert local.startswith(b"apiVersion: ")
    assert prod.startswith(b"apiVersion: ")
    assert {"local": sha256(local).hexdigest(), "prod": sha256(prod).hexdigest()} == snapshot
