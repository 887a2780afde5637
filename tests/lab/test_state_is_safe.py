"""The state: untouched when the cluster is away or another one, and never with a secret in it.

On a stack of one's own with a passphrase that is really secret, by its own project folder.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.settings import ENDING
from lab.folder import CHECKOUT
from lab.stack import STACK, environment
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.spec.model import Platform
from tests.own_stack import run_commands
from tests.running_lab import RunningLab

# By which way each canary comes near a run; the kubeconfig's token is one too.
WAYS = ("environment", "secret-of-a-user", "secret-of-the-system", "passphrase", "configuration")
ACCOUNT = "canary"
UP = ("up", "--yes", "--skip-preview")
PREVIEW = ("preview", "--refresh", "--run-program")
COMMANDS = {
    "up": UP,
    "up-refresh": (*UP, "--refresh", "--run-program"),
    "preview": PREVIEW,
    "refresh": ("refresh", "--yes", "--skip-preview", "--run-program"),
    "destroy": ("destroy", "--yes", "--skip-preview", "--run-program"),
}


@dataclass(frozen=True)
class Owned:
    """A lab with the platform in it, made from a project folder by an account with a token."""

    lab: RunningLab
    project: Path
    canaries: Mapping[str, str]
    told: str

    def run(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """Run Pulumi as its owner does."""
        tools = self.lab.folder.tools
        return subprocess.run(
            [str(tools / "pulumi"), *arguments, "--stack", STACK, "--non-interactive"],
            cwd=self.project,
            env={
                **os.environ,
                **environment(self.lab.folder, tools),
                **_variables(self.project, self.canaries),
                **changes,
            },
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            check=False,
            timeout=300,
        )

    @property
    def file(self) -> Path:
        """Return the file of the state."""
        (file,) = self.lab.folder.pulumi.glob(f".pulumi/stacks/**/{STACK}.json")
        return file

    @property
    def state(self) -> bytes:
        """Return the state as it is written, but for when and in which order Pulumi wrote it.

        Pulumi writes a state before it runs a program, the stack itself first, and once more
        when that has failed, with the time.
        """
        content = json.loads(self.file.read_bytes())
        latest = content["checkpoint"]["latest"]
        del latest["manifest"]["time"]
        latest["resources"].sort(key=lambda resource: str(resource["urn"]))
        return json.dumps(content).encode()


@pytest.fixture(scope="module")
def owned(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[Owned]:
    """Make the platform with everything that is secret beside it, and show what was told."""
    folder = tmp_path_factory.mktemp("owned")
    canaries = {way: f"canary-{way}-{secrets.token_hex(12)}" for way in WAYS}
    lab = RunningLab(folder, "owned", platform, toolchain)
    project = _project(folder / "project")
    try:
        lab.up()
        canaries["token"] = _token(lab, project)
        changes = _variables(project, canaries)
        set_ = ("config", "set", "--secret", "canary", canaries["configuration"])
        lab.up(
            lambda parts: run_commands(
                parts, [("stack", "init"), set_, UP], project=project, changes=changes
            )
        )
        for way, namespace in (
            ("secret-of-a-user", "nlp"),
            ("secret-of-the-system", labels.SYSTEM_NAMESPACE),
        ):
            literal = f"--from-literal=key={canaries[way]}"
            made = lab.kubectl("create", "secret", "generic", way, literal, "-n", namespace)
            assert made.returncode == 0, made.stderr
        yield Owned(lab, project, canaries, _told(lab, project, canaries))
    finally:
        lab.down()


def _told(lab: RunningLab, project: Path, canaries: Mapping[str, str]) -> str:
    """Return all that is told by previews and by an `up` that refreshes."""
    owned = Owned(lab, project, canaries, "")
    told = []
    for command in ((*PREVIEW, "--diff"), (*PREVIEW, "--json"), COMMANDS["up-refresh"]):
        done = owned.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        told += [done.stdout, done.stderr]
    return "\n".join(told)


def _project(folder: Path) -> Path:
    """Make a project folder: the same program, a stack file without anybody's salt."""
    (folder / "stacks").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_bytes((CHECKOUT / "Pulumi.yaml").read_bytes())
    for name in ("infra", ".venv"):
        (folder / name).symlink_to(CHECKOUT / name)
    shipped = (CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml").read_text().splitlines(keepends=True)
    own = [line for line in shipped if not line.startswith("encryptionsalt")]
    (folder / "stacks" / f"Pulumi.{STACK}.yaml").write_text("".join(own))
    return folder


def _token(lab: RunningLab, project: Path) -> str:
    """Make an administrator with a token and its kubeconfig; return the token."""
    account = f"default:{ACCOUNT}"
    role = ("--clusterrole", "cluster-admin", "--serviceaccount", account)
    for command in (
        ("serviceaccount", ACCOUNT, "-n", "default"),
        ("clusterrolebinding", ACCOUNT, *role),
    ):
        done = lab.kubectl("create", *command)
        assert done.returncode == 0, done.stderr
    token = lab.kubectl("create", "token", ACCOUNT, "-n", "default").stdout.strip()
    assert len(token) > 100
    content = json.loads(lab.folder.admin.read_text())
    content["users"][0]["user"] = {"token": token}
    (project / "kubeconfig").write_text(json.dumps(content))
    return token


def _variables(project: Path, canaries: Mapping[str, str]) -> dict[str, str]:
    return {
        "KUBECONFIG": str(project / "kubeconfig"),
        "PULUMI_CONFIG_PASSPHRASE": canaries["passphrase"],
        "REGISTRY_PASSWORD": canaries["environment"],
    }


def _forms(secret: str) -> tuple[bytes, ...]:
    """Return how a secret may be written down, the ends left out that depend on its place."""
    encoded = base64.b64encode(secret.encode())
    return secret.encode(), encoded[:-4]


def _finds(secret: str, content: bytes) -> bool:
    return any(form in content for form in _forms(secret))


@pytest.mark.parametrize("way", [*WAYS, "token"])
def test_no_secret_is_in_the_state_the_output_the_logs_or_an_annotation(
    owned: Owned, way: str
) -> None:
    lab, secret = owned.lab, owned.canaries[way]
    exported = owned.run("stack", "export", "--show-secrets").stdout
    assert len(exported) > 1_000_000
    backend = [p for p in lab.folder.pulumi.glob(".pulumi/**/*") if p.is_file()]
    logs = [*lab.folder.logs.glob("*.log")]
    assert len(backend) > 2
    assert len(logs) > 3
    places = {str(path): path.read_bytes() for path in (*backend, *logs)}
    places |= {"export": exported.encode(), "output": owned.told.encode()}
    places["annotations"] = json.dumps(_annotations(lab)).encode()
    assert [place for place, content in places.items() if _finds(secret, content)] == []


def test_the_search_finds_what_is_there(owned: Owned) -> None:
    (found,) = (owned.lab.get("secret", "secret-of-a-user", "-n", "nlp"),)
    assert _finds(owned.canaries["secret-of-a-user"], json.dumps(found).encode())
    assert _finds(owned.canaries["token"], (owned.project / "kubeconfig").read_bytes())


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("cluster", ["unreachable", "another"])
def test_a_cluster_that_is_away_or_another_leaves_the_state_as_it_is(
    owned: Owned, shared_lab: RunningLab, cluster: str, command: tuple[str, ...]
) -> None:
    """The context has the name of the right one, as with clusters that one tool has made."""
    before, bytes_before = owned.state, owned.file.read_bytes()
    done = owned.run(
        *command,
        KUBECONFIG=str(_kubeconfig(owned, shared_lab, cluster)),
        **({ENDING: STACK} if command[0] == "destroy" else {}),
    )
    told = done.stdout + done.stderr
    assert done.returncode != 0, told
    sentence = {"unreachable": "cannot be reached", "another": "is not this stack's cluster"}
    # Told as it happens too; what a person reads at the end has it once.
    assert told.partition("Diagnostics:")[2].count(sentence[cluster]) == 1
    assert "Traceback" not in told
    assert owned.state == before
    assert len(before) > 1_000_000
    # Each other command writes it once more when it fails, with another time.
    if command[0] == "preview":
        assert owned.file.read_bytes() == bytes_before


def _kubeconfig(owned: Owned, other: RunningLab, cluster: str) -> Path:
    content: dict[str, Any] = json.loads((owned.project / "kubeconfig").read_text())
    if cluster == "another":
        theirs = json.loads(other.folder.admin.read_text())
        content["clusters"][0]["cluster"] = theirs["clusters"][0]["cluster"]
        content["users"][0]["user"] = theirs["users"][0]["user"]
    else:
        content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    path = owned.project / f"kubeconfig-{cluster}"
    path.write_text(json.dumps(content))
    return path


def _annotations(lab: RunningLab) -> list[Mapping[str, str]]:
    names = lab.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    items = lab.get(",".join(names), "-A")["items"]
    assert len(items) > 200
    return [each["metadata"].get("annotations") or {} for each in items]
