"""Mutants of specs, the short form of `make soak-mutants`; and whether it would see a fault."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tallyard.render.platform import render
from tallyard.spec.load import Loaded, load
from tallyard.spec.problem import Location, Problem
from tests.soak import limits, mutant_trial
from tests.spec import sanity
from tests.spec.mutations import bases, kind_of, kinds, mutant
from tests.spec.mutations_of_files import Piece
from tests.spec.specs import LOCAL, PLATFORM, STACKS, changed, load_texts

ROOT = Path(__file__).parents[2]
# The least number that has each kind.
COUNT, PROCESSES, SEED = 260, 4, 1
DIGESTED = 60


def test_mutants_load_or_are_refused_with_a_place() -> None:
    command = [sys.executable, "-m", "tests.soak.mutants", str(COUNT), "--seed", str(SEED)]
    run = subprocess.run(
        [*command, "--processes", str(PROCESSES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{COUNT} mutants of seed {SEED}: 0 failed" in run.stdout
    assert f"exit 2 {PROCESSES}" in run.stdout or "exit 0" in run.stdout


def test_each_kind_has_its_share() -> None:
    assert {kind_of(number) for number in range(COUNT)} == set(kinds())


def test_a_mutant_differs_from_its_base() -> None:
    files = {base.name: (base.platform, base.local) for base in bases()}
    for number in range(COUNT // 2):
        made = mutant(SEED, number)
        named = ("platform.yaml", "local.yaml")
        assert len(made.pieces) != 2 or tuple(map(made.pieces.get, named)) != files[made.base]


def test_a_mutant_is_the_same_in_another_process() -> None:
    script = f"from tests.spec.test_mutants import digest; print(digest({SEED}))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Shanghai", "LANG": "zh_CN.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == digest(SEED)
    assert digest(SEED) != digest(SEED + 1)


def digest(seed: int) -> str:
    """Return a digest of the first mutants of a seed."""
    every = [sorted(mutant(seed, number).pieces.items()) for number in range(DIGESTED)]
    return hashlib.sha256(repr(every).encode()).hexdigest()


@pytest.mark.parametrize("base", bases()[:3], ids=lambda base: base.name)
def test_the_sound_bases_pass(base: object, tmp_path: Path) -> None:
    pieces: dict[str, Piece] = {
        "platform.yaml": base.platform,  # type: ignore[attr-defined]
        "local.yaml": base.local,  # type: ignore[attr-defined]
    }
    replace(mutant(SEED, 0), pieces=pieces).write(str(tmp_path))
    outcome = mutant_trial.in_process(tmp_path)
    assert (outcome.ending, outcome.codes, outcome.faults) == ("loads", (), ())


def _raises(_: Path) -> Loaded:
    raise KeyError("tiers")


def _dawdles(_: Path) -> Loaded:
    time.sleep(5)
    raise AssertionError


def _swallows_the_alarm(_: Path) -> Loaded:
    try:
        time.sleep(5)
    except BaseException:  # noqa: BLE001 - as a careless library does
        time.sleep(5)
    raise AssertionError


def _wastes(path: Path) -> Loaded:
    bytearray(mutant_trial.MEMORY_BYTES_MAX)[::4096] = b"x" * (
        mutant_trial.MEMORY_BYTES_MAX // 4096 + 1
    )
    return load(path)


@pytest.mark.parametrize(
    ("loader", "fault"),
    [
        (_raises, "KeyError in test_mutants.py"),
        (_dawdles, "more than 0.3 s, last in test_mutants.py"),
        (_swallows_the_alarm, "more than 0.3 s, last in test_mutants.py"),
        (_wastes, "MB of memory"),
    ],
)
def test_what_a_mutant_must_not_do_is_seen(
    loader: Callable[[Path], Loaded],
    fault: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mutant_trial, "load", loader)
    monkeypatch.setattr(mutant_trial, "SECONDS_MAX", 2.0 if loader is _wastes else 0.3)
    load_texts(tmp_path)
    outcome = mutant_trial.in_process(tmp_path)
    assert any(fault in each for each in outcome.faults), outcome


def test_a_process_that_fails_is_seen(tmp_path: Path) -> None:
    folder, logs = tmp_path / "spec", tmp_path / "logs"
    folder.mkdir()
    logs.mkdir()
    load_texts(folder)
    (folder / "tallyard").mkdir()
    (folder / "tallyard" / "__init__.py").write_text("raise RuntimeError('broken')")
    # `python -m` looks into the working folder first.
    outcome = mutant_trial.as_process(folder, logs, "C.UTF-8")
    assert outcome.ending == "exit 1"
    assert any("a traceback" in fault for fault in outcome.faults)


@pytest.mark.parametrize("lang", ["C.UTF-8", "zh_CN.UTF-8"])
def test_a_process_that_refuses_is_no_fault(lang: str, tmp_path: Path) -> None:
    folder, logs = tmp_path / "spec", tmp_path / "logs"
    folder.mkdir()
    logs.mkdir()
    load_texts(folder, local=changed(LOCAL, "pool: domestic", "pool: foreign"))
    outcome = mutant_trial.as_process(folder, logs, lang)
    assert (outcome.ending, outcome.faults) == ("exit 2", ())


def test_a_problem_that_is_told_wrongly_is_seen(tmp_path: Path) -> None:
    loaded = load_texts(tmp_path, changed(PLATFORM, "weight: 1", "weight: 0"))
    assert list(sanity.faults_of_loaded(loaded)) == list(sanity.faults_of_messages(loaded)) == []
    (problem,) = loaded.problems
    file = problem.location.file

    def faults(*problems: Problem) -> str:
        wrong = replace(loaded, problems=problems)
        return " ".join((*sanity.faults_of_loaded(wrong), *sanity.faults_of_messages(wrong)))

    assert "errors: 0" in faults()
    assert "told twice" in faults(problem, problem)
    assert "where the file has nothing" in faults(replace(problem, location=Location(file, 999, 1)))
    assert "where the file has nothing" in faults(replace(problem, location=Location(file, 1, 999)))
    elsewhere = replace(problem, location=Location(Path("other.yaml"), 1, 1))
    assert "which was not read" in faults(elsewhere)
    later = replace(problem, location=Location(file, 1, 1))
    assert "not in the order" in faults(problem, later)


def test_names_that_are_rendered_twice_are_seen() -> None:
    platform = load(STACKS / "local.yaml").platform
    assert platform is not None
    manifests = render(platform)
    assert list(sanity.faults_of_rendered(manifests)) == []
    assert "rendered twice" in " ".join(sanity.faults_of_rendered((*manifests, manifests[0])))


def test_the_peak_of_memory_is_that_of_the_work_alone() -> None:
    limits.forget_peak()
    before = limits.peak_bytes()
    waste = bytearray(b"x") * 50_000_000
    assert limits.peak_bytes() - before > 40_000_000
    del waste
    limits.forget_peak()
    assert limits.peak_bytes() - before < 10_000_000
