"""The record of a lab: whole or told to be broken, and changed by one command at a time."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from lab.errors import BusyError, StateError
from lab.folder import LabFolder, lab_folder
from lab.processes import Process
from lab.report import Silence
from lab.state import StateFile, locked

ETCD = Process("etcd", 12, 345, "/tools/etcd", "/logs/etcd.log")
KUEUE_WITHOUT_PORTS = (
    '{"name": "demo", "processes": [{"name": "kueue", "pid": 1, "started": 1, '
    '"executable": "x", "log": "x"}], "ports": {"kueue-webhook": 1}}'
)


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    return lab_folder("demo", tmp_path / "labs")


def test_what_is_recorded_is_read_back(folder: LabFolder) -> None:
    file = StateFile(folder)
    file.update(lambda s: s.with_process(ETCD).with_ports({"etcd": 1}).with_ports({"kwok": 2}))
    state = StateFile(folder).current()
    assert state.process("etcd") == ETCD
    assert dict(state.ports or {}) == {"etcd": 1, "kwok": 2}
    assert state.name == "demo"


def test_a_lab_that_is_not_there_has_no_record_and_looking_makes_none(folder: LabFolder) -> None:
    assert StateFile(folder).read() is None
    assert StateFile(folder).current().processes == ()
    assert not folder.base.exists()


def test_a_new_process_takes_the_place_of_the_old_one(folder: LabFolder) -> None:
    file = StateFile(folder)
    again = Process("etcd", 99, 400, "/tools/etcd", "/logs/etcd.log")
    file.update(lambda s: s.with_process(ETCD))
    assert file.update(lambda s: s.with_process(again)).processes == (again,)
    assert file.update(lambda s: s.without_process("etcd")).processes == ()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        '{"name": "demo", "processes": [{"name": "etcd"}]}',
        '{"name": "demo", "processes": 3}',
        '{"name": "other"}',
        '{"name": "demo", "version": 2}',
        '{"name": "demo", "ports": {"etcd": -5}}',
        '{"name": "demo", "ports": {"etcd": 0}}',
        '{"name": "demo", "ports": {"etcd": 65536}}',
        '{"name": "demo", "has_cluster": true}',
        '{"name": "demo", "has_cluster": true, "ports": {"etcd": 1, "kwok": 2}}',
        KUEUE_WITHOUT_PORTS,
        KUEUE_WITHOUT_PORTS.replace("kueue", "jobset"),
        "\x00\xff",
    ],
)
def test_a_broken_record_is_one_clear_message(folder: LabFolder, content: str) -> None:
    StateFile(folder).update(lambda s: s)
    folder.state.write_text(content)
    with pytest.raises(StateError) as caught:
        StateFile(folder).current()
    assert "tally lab down --name demo" in str(caught.value)
    assert str(folder.state) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_record_is_recovered_from_its_copy(folder: LabFolder) -> None:
    file = StateFile(folder)
    file.update(lambda s: s.with_process(ETCD))
    folder.state.write_text("{")
    assert file.recover().processes == (ETCD,)


def test_what_an_incomplete_record_still_tells_is_recovered(folder: LabFolder) -> None:
    file = StateFile(folder)
    state = file.update(lambda s: s.with_process(ETCD))
    content = {**json.loads(folder.state.read_text()), "has_cluster": True}
    folder.state.write_text(json.dumps(content))
    assert file.recover().processes == state.processes


def test_a_lost_record_is_read_from_its_copy(folder: LabFolder) -> None:
    file = StateFile(folder)
    file.update(lambda s: s.with_process(ETCD))
    folder.state.unlink()
    assert file.recover().processes == (ETCD,)
    assert file.update(lambda s: s.with_ports({"etcd": 1})).processes == (ETCD,)
    assert json.loads(folder.state.read_text())["processes"][0]["pid"] == 12


def test_a_lost_record_with_a_broken_copy_is_no_lab(folder: LabFolder) -> None:
    file = StateFile(folder)
    file.update(lambda s: s.with_process(ETCD))
    folder.state.unlink()
    folder.state.with_suffix(".json.copy").write_text("{")
    assert file.read() is None


def test_a_full_disk_does_not_keep_anybody_from_the_lock(
    folder: LabFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with locked(folder, Silence(), seconds_max=0.3):
        second = locked(folder, Silence(), seconds_max=0.3)
        with pytest.raises(BusyError, match="is in use"), second:
            pass


def test_changes_of_several_threads_are_all_kept(folder: LabFolder) -> None:
    file = StateFile(folder)

    def add(number: int) -> None:
        process = Process(str(number), number, 1, "x", "x")
        file.update(lambda s: s.with_process(process))

    threads = [threading.Thread(target=add, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.current().processes) == 20


def _count(base: Path, turns: int) -> None:
    folder = lab_folder("demo", base)
    for _ in range(turns):
        with locked(folder, Silence(), seconds_max=30):
            path = base.parent / "number"
            number = int(path.read_text())
            time.sleep(0.002)
            path.write_text(str(number + 1))


def test_only_one_command_works_on_a_lab_and_the_lock_leaves_nothing(folder: LabFolder) -> None:
    """Each counts on without another's lock; a lost update would make the sum too small."""
    (folder.base.parent / "number").write_text("0")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_count, args=(folder.base, 10)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (folder.base.parent / "number").read_text() == "30"
    assert not folder.base.exists()


def test_who_waits_too_long_is_told_who_is_at_work(folder: LabFolder) -> None:
    told: list[str] = []

    class _Listener(Silence):
        def step(self, text: str) -> None:
            told.append(text)

    with locked(folder, Silence()):
        second = locked(folder, _Listener(), seconds_max=0.3)
        with pytest.raises(BusyError, match="is in use"), second:
            pass
        assert len(told) == 1
    with locked(folder, Silence(), seconds_max=0.3):
        assert folder.lock.exists()


def test_the_record_can_be_read_by_other_programs(folder: LabFolder) -> None:
    StateFile(folder).update(lambda s: s.with_process(ETCD).with_ports({"etcd": 1}))
    content = json.loads(folder.state.read_text())
    assert content["ports"] == {"etcd": 1}
    assert content["processes"][0]["pid"] == 12
