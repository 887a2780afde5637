"""What is judged before a build, and what a machine without Go is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.toolchain import pins, preflight
from lab.toolchain.preflight import GIB, Disk, Facts, judge
from tests.lab.toolchain.conftest import GoMachine

FLOOR = (1, 26, 6)
CACHE = Disk(Path("/home/li/.cache/tallyard"), "TALLYARD_CACHE", 1, 20 * GIB, 2 * GIB)
MODULES = Disk(Path("/data/go/mod"), "GOMODCACHE", 2, 20 * GIB, 5 * GIB)


def test_a_good_machine_has_no_fault() -> None:
    assert judge(Facts((1, 26, 6), 8 * GIB, (CACHE, MODULES)), pins.SETS, FLOOR) == ()


def test_all_faults_are_told_at_once() -> None:
    full = Disk(CACHE.folder, CACHE.purpose, 1, 1 * GIB, 2 * GIB)
    faults = judge(Facts((), 2 * GIB, (full,)), pins.SETS, FLOOR)
    assert len(faults) == 3
    assert faults[0] == ("No Go was found and none could be installed; install Go 1.26.6 or later.")
    assert faults[1].startswith("2.0 GiB of memory are available and building pulumi-kubernetes")
    assert "1.0 GiB are free and a build takes up to 2.0 GiB" in faults[2]
    assert "/home/li/.cache/tallyard (TALLYARD_CACHE, 2.0 GiB)" in faults[2]


def test_an_old_go_is_named_with_what_is_needed() -> None:
    (fault,) = judge(Facts((1, 22, 1), None, ()), pins.SETS, FLOOR)
    assert fault == "Go 1.22.1 is too old: the pinned modules need 1.26.6. Install a newer one."


def test_memory_is_asked_for_what_is_missing_only() -> None:
    small = [s for s in pins.SETS if s.name == "etcd"]
    assert judge(Facts(FLOOR, 2 * GIB, ()), small, FLOOR) == ()
    assert len(judge(Facts(FLOOR, 2 * GIB, ()), pins.SETS, FLOOR)) == 1


def test_folders_on_one_disk_need_their_sum() -> None:
    both = (
        Disk(Path("/a"), "TALLYARD_CACHE", 1, 6 * GIB, 2 * GIB),
        Disk(Path("/b"), "GOCACHE", 1, 6 * GIB, 5 * GIB),
    )
    (fault,) = judge(Facts(FLOOR, None, both), pins.SETS, FLOOR)
    assert "6.0 GiB are free and a build takes up to 7.0 GiB" in fault
    apart = (both[0], Disk(Path("/b"), "GOCACHE", 2, 6 * GIB, 5 * GIB))
    assert judge(Facts(FLOOR, None, apart), pins.SETS, FLOOR) == ()


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:   8388608 kB\n", encoding="utf-8")
    limit = tmp_path / "memory.max"
    assert preflight.available_memory(meminfo, limit) == 8 * GIB
    limit.write_text("max\n", encoding="utf-8")
    (tmp_path / "memory.current").write_text(f"{GIB}\n", encoding="utf-8")
    assert preflight.available_memory(meminfo, limit) == 8 * GIB
    limit.write_text(f"{3 * GIB}\n", encoding="utf-8")
    assert preflight.available_memory(meminfo, limit) == 2 * GIB


def test_a_new_enough_go_on_path_is_used(machine: GoMachine) -> None:
    machine.go()
    go, version = preflight.find_go(machine.environ, lambda: pytest.fail("not needed"))
    assert (go, version) == (machine.root / "bin/go", (1, 26, 8))


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 127\n", "#!/bin/sh\necho go version go1.20\n"])
def test_a_go_that_is_old_or_does_not_run_is_replaced(machine: GoMachine, script: str) -> None:
    machine.go()
    brought = machine.root / "brought"
    (machine.root / "bin/go").rename(brought)
    machine.program("go", script)
    assert preflight.find_go(machine.environ, lambda: brought) == (brought, (1, 26, 8))


def test_a_persons_flags_do_not_hide_a_go(tmp_path: Path) -> None:
    """Go answers nothing, not even its version, when it cannot read them."""
    go = tmp_path / "go"
    go.write_text(
        '#!/bin/sh\ncase "$GOFLAGS" in -mod=readonly) ;; *) echo bad >&2; exit 2 ;; esac\n'
        "echo go version go1.26.6 linux/amd64\n"
    )
    go.chmod(0o755)
    environ = {"PATH": "/usr/bin:/bin", "GOFLAGS": "no flag at all"}
    assert preflight.version_of(go, environ) == (1, 26, 6)
