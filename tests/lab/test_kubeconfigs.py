"""One kubeconfig a person, none of them an administrator by accident."""

from __future__ import annotations

import base64
import datetime as dt
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from lab import certificates
from lab.folder import LabFolder, lab_folder, write_private
from lab.kubeconfigs import left_out, logins, write_all
from tallyard.spec.model import CoreHours, Limits, Period, Project, Tier, User
from tests.running_lab import RunningLab

SERVER = "https://127.0.0.1:12345"
LIMITS = Limits({}, {}, CoreHours(1, Period.MONTH), 3600, 100, 0)


def user(name: str, *known_as: str) -> User:
    return User(name, known_as, 100)


def project(key: str, *users: User) -> Project:
    return Project(key, key, Tier("gold", 1, LIMITS), users, None, (), LIMITS)


NLP = project("nlp", user("li.wei", "oidc:li.wei@corp.example", "li.wei"), user("chen.yu"))


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    folder = lab_folder("demo", tmp_path)
    made = certificates.cluster(dt.datetime.now(dt.UTC))
    for name, content in made.files("admin").items():
        write_private(folder.cluster / "pki" / name, content)
    return folder


def _subject(path: Path) -> str:
    user = json.loads(path.read_text())["users"][0]["user"]
    pem = base64.b64decode(user["client-certificate-data"])
    return x509.load_pem_x509_certificate(pem).subject.rfc4514_string()


def test_a_user_logs_in_by_the_first_name_that_the_server_knows() -> None:
    assert logins([NLP]) == {"li.wei": "oidc:li.wei@corp.example", "chen.yu": "chen.yu"}


def test_a_login_that_no_certificate_can_carry_is_left_out() -> None:
    assert logins([replace(NLP, users=(user("long", "x" * 65),))]) == {}


def test_a_user_who_is_called_like_the_administrator_does_not_become_it() -> None:
    assert logins([replace(NLP, users=(user("admin"), user("operator")))]) == {}


def test_everyone_gets_a_file_that_only_the_owner_of_the_lab_can_read(folder: LabFolder) -> None:
    write_all(folder, SERVER, [NLP])
    files = {path.name: path for path in folder.kubeconfigs.iterdir()}
    assert set(files) == {"admin", "operator", "li.wei", "chen.yu"}
    for path in files.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert json.loads(path.read_text())["clusters"][0]["cluster"]["server"] == SERVER
    assert _subject(files["admin"]) == "CN=kwok-admin,O=system:masters"
    assert _subject(files["operator"]) == "CN=operator,O=tallyard:operators"
    assert _subject(files["li.wei"]) == "CN=oidc:li.wei@corp.example"


def test_files_that_fit_are_kept_and_those_of_other_servers_and_people_are_not(
    folder: LabFolder,
) -> None:
    write_all(folder, SERVER, [NLP])
    before = (folder.kubeconfigs / "li.wei").read_bytes()
    write_all(folder, SERVER, [NLP])
    assert (folder.kubeconfigs / "li.wei").read_bytes() == before
    write_all(folder, SERVER.replace("12345", "23456"), [replace(NLP, users=NLP.users[:1])])
    assert (folder.kubeconfigs / "li.wei").read_bytes() != before
    assert not (folder.kubeconfigs / "chen.yu").exists()


def test_who_is_in_one_project_works_in_its_namespace_without_naming_it(
    folder: LabFolder,
) -> None:
    both = replace(NLP, key="vision", id="vision", users=NLP.users[:1])
    write_all(folder, SERVER, [NLP, both])
    context = {
        name: json.loads((folder.kubeconfigs / name).read_text())["contexts"][0]["context"]
        for name in ("li.wei", "chen.yu", "operator", "admin")
    }
    assert context["chen.yu"]["namespace"] == "nlp"
    assert all("namespace" not in context[name] for name in ("li.wei", "operator", "admin"))


def test_the_api_server_takes_people_for_who_they_are(shared_lab: RunningLab) -> None:
    for user, login, groups in (
        ("admin", "kwok-admin", {"system:masters"}),
        ("operator", "operator", {"tallyard:operators"}),
        ("li.wei", "oidc:li.wei@corp.example", set[str]()),
    ):
        told = shared_lab.kubectl("auth", "whoami", "-o", "json", user=user)
        assert told.returncode == 0, told.stderr
        info = json.loads(told.stdout)["status"]["userInfo"]
        assert info["username"] == login
        assert set(info["groups"]) == groups | {"system:authenticated"}


@pytest.mark.parametrize("user", ["operator", "li.wei"])
def test_nobody_but_the_administrator_may_do_everything(shared_lab: RunningLab, user: str) -> None:
    assert shared_lab.kubectl("auth", "can-i", "*", "*").stdout.strip() == "yes"
    assert shared_lab.kubectl("auth", "can-i", "*", "*", user=user).stdout.strip() == "no"


def test_a_folder_in_the_place_of_a_kubeconfig_is_replaced(folder: LabFolder) -> None:
    for name in ("admin", "li.wei", "gone"):
        (folder.kubeconfigs / name / "inside").mkdir(parents=True)
    write_all(folder, SERVER, [NLP])
    assert "oidc:li.wei@corp.example" in _subject(folder.kubeconfigs / "li.wei")
    assert (folder.kubeconfigs / "admin").is_file()
    assert not (folder.kubeconfigs / "gone").exists()


@pytest.mark.parametrize("content", ["[]", "{}", '{"clusters": 3}', "\x00"])
def test_a_damaged_kubeconfig_is_written_anew(folder: LabFolder, content: str) -> None:
    write_private(folder.kubeconfigs / "li.wei", content.encode())
    write_all(folder, SERVER, [NLP])
    assert "oidc:li.wei@corp.example" in _subject(folder.kubeconfigs / "li.wei")


def test_who_gets_no_kubeconfig_is_told_with_the_reason() -> None:
    assert left_out([NLP]) == ()
    other = project("vision", user("li.wei", "li.wei@other.example"))
    odd = replace(NLP, users=(user("admin"), user("long", "x" * 65), *NLP.users))
    assert left_out([odd, other]) == (
        "admin (the lab's own admin is called so)",
        "long (a login of more than 64 characters)",
        "li.wei as oidc:li.wei@corp.example (the file is that of li.wei@other.example)",
    )
