"""One kubeconfig a person: the administrator, the operators, and the spec's users.

`pulumi up` runs as the administrator. The controllers, our own programs and the example users
do not: whoever is in the group system:masters passes every check, and a lab full of such would
prove nothing about access.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

from lab import certificates
from lab.certificates import Pair
from lab.folder import ADMIN, OPERATOR, LabFolder, write_private
from tallyard import labels
from tallyard.spec.model import Project

# X.509 allows no longer common name.
LOGIN_LENGTH_MAX = 64


def logins(projects: Iterable[Project]) -> dict[str, str]:
    """Return the login of each user by the user's name in the spec, the first where several.

    A login that no certificate can carry is left out; that user cannot be played in a lab.
    """
    users = [user for project in projects for user in project.users]
    chosen = {user.name: next(iter(user.logins), user.name) for user in users}
    return {
        name: login
        for name, login in chosen.items()
        if len(login) <= LOGIN_LENGTH_MAX and name not in {ADMIN, OPERATOR}
    }


def left_out(projects: Iterable[Project]) -> tuple[str, ...]:
    """Return who has no kubeconfig of his own, and why; each one a clause."""
    users = [user for project in projects for user in project.users]
    chosen = {user.name: next(iter(user.logins), user.name) for user in users}
    told = []
    for user in users:
        login = next(iter(user.logins), user.name)
        if user.name in {ADMIN, OPERATOR}:
            told.append(f"{user.name} (the lab's own {user.name} is called so)")
        elif len(login) > LOGIN_LENGTH_MAX:
            told.append(f"{user.name} (a login of more than {LOGIN_LENGTH_MAX} characters)")
        elif login != chosen[user.name]:
            told.append(f"{user.name} as {login} (the file is that of {chosen[user.name]})")
    return tuple(dict.fromkeys(told))


def kubeconfig(
    name: str, server: str, authority: bytes, pair: Pair, namespace: str | None = None
) -> dict[str, object]:
    """Return a kubeconfig with one context and everything inside it."""
    context: dict[str, str] = {"cluster": name, "user": name}
    if namespace:
        context["namespace"] = namespace
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {
                "name": name,
                "cluster": {"server": server, "certificate-authority-data": _text(authority)},
            }
        ],
        "users": [
            {
                "name": name,
                "user": {
                    "client-certificate-data": _text(pair.certificate),
                    "client-key-data": _text(pair.key),
                },
            }
        ],
        "contexts": [{"name": name, "context": context}],
    }


def of_token(admin: Path, token: str) -> bytes:
    """Return the administrator's kubeconfig with the bearer of a token in his place."""
    config = json.loads(admin.read_bytes())
    config["users"][0]["user"] = {"token": token}
    return json.dumps(config, indent=2).encode()


def account_of(kubeconfig: Path) -> str:
    """Return the uid of the service account whose token a kubeconfig has; empty for none."""
    try:
        token = json.loads(kubeconfig.read_bytes())["users"][0]["user"]["token"]
        # What is said in a token (RFC 7519) is its second part, without the padding.
        said = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        return str(said["kubernetes.io"]["serviceaccount"]["uid"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""


def context(folder: LabFolder, person: str | None = None) -> str:
    """Return the name of a person's context, the administrator's without one."""
    return f"tallyard-{folder.name}" + (f"-{person}" if person else "")


def write_all(folder: LabFolder, server: str, projects: Collection[Project]) -> None:
    """Write the kubeconfigs of all people; one that fits already is left as it is.

    Args:
        folder: the lab, whose control plane has made its keys.
        server: the API server's address.
        projects: whose users get one each.
    """
    keys = folder.cluster / "pki"
    authority = Pair((keys / "ca.crt").read_bytes(), (keys / "ca.key").read_bytes())
    admin = Pair((keys / "admin.crt").read_bytes(), (keys / "admin.key").read_bytes())
    own = context(folder)
    _write(folder.admin, kubeconfig(own, server, authority.certificate, admin))
    people: dict[str, tuple[str, tuple[str, ...]]] = {
        name: (login, ()) for name, login in logins(projects).items()
    }
    people[OPERATOR] = (OPERATOR, (labels.OPERATOR_GROUP,))
    homes = _homes(projects)
    now = dt.datetime.now(dt.UTC)
    for name, (login, groups) in people.items():
        path = folder.kubeconfigs / name
        home = homes.get(name)
        if not _fits(path, server, authority.certificate, home, now):
            pair = certificates.client(login, groups, authority, now)
            own = context(folder, name)
            _write(path, kubeconfig(own, server, authority.certificate, pair, home))
    for path in folder.kubeconfigs.iterdir():
        if path.name not in {*people, ADMIN}:
            _remove(path)


def _homes(projects: Iterable[Project]) -> dict[str, str]:
    """Return the namespace of each user who is in one project only, by the user's name."""
    of: dict[str, set[str]] = {}
    for project in projects:
        for user in project.users:
            of.setdefault(user.name, set()).add(project.namespace)
    return {name: next(iter(found)) for name, found in of.items() if len(found) == 1}


def _fits(
    path: Path, server: str, authority: bytes, namespace: str | None, now: dt.datetime
) -> bool:
    try:
        config = json.loads(path.read_bytes())
        cluster = config["clusters"][0]["cluster"]
        certificate = config["users"][0]["user"]["client-certificate-data"]
        home = config["contexts"][0]["context"].get("namespace")
        wanted = {"server": server, "certificate-authority-data": _text(authority)}
        fits = cluster == wanted and home == namespace
        return fits and certificates.is_fresh(base64.b64decode(certificate), now)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def _write(path: Path, config: dict[str, object]) -> None:
    if path.is_dir() and not path.is_symlink():
        _remove(path)
    # JSON is YAML as well, and needs no decision about quoting.
    write_private(path, json.dumps(config, indent=2).encode())


def _remove(path: Path) -> None:
    """Remove what lies where only kubeconfigs belong, also a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
