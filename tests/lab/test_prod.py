"""The example of a production: its fleet in a lab, and its own stack against a real API server."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lab import certificates
from lab.folder import CHECKOUT, private_folder
from lab.toolchain.ensure import Toolchain, install_provider, link
from tallyard import labels
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.review_command import ReviewFormat
from tallyard.cli.review_lab import review_lab
from tallyard.spec.load import load
from tests.lab import work
from tests.policies.checkout import Edit, edited_checkout
from tests.registry.fake import FakeRegistry, image_index
from tests.running_lab import RunningLab

PROD = CHECKOUT / "stacks" / "prod.yaml"
MODEL = "A800-SXM4-80GB"
CARDS = 8
IMAGE = "registry.example.com/tallyard/controllers"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    """A second lab with the fleet and the platform of production."""
    platform = load(PROD).platform
    assert platform is not None
    base = tmp_path_factory.mktemp("prod")
    running = RunningLab(base / "labs", "prod", platform, toolchain, overlay=PROD)
    try:
        running.up(None)
        yield running
    finally:
        running.down()


def test_every_host_of_the_fleet_is_there_and_open(lab: RunningLab) -> None:
    platform = load(PROD).platform
    assert platform is not None

    def closed() -> list[str]:
        return [
            host["metadata"]["name"]
            for host in lab.get("nodes")["items"]
            if any(
                taint["key"] == labels.UNVERIFIED_TAINT for taint in host["spec"].get("taints", ())
            )
        ]

    names = {host["metadata"]["name"] for host in lab.get("nodes")["items"]}
    assert names == {node.name for node in platform.nodes}
    assert len(names) == 88
    work.wait(lambda: not closed())


def test_what_is_deployed_is_what_the_spec_says(
    lab: RunningLab, capsys: pytest.CaptureFixture[str]
) -> None:
    code = review_lab(lab.folder, PROD, ReviewFormat.TABLE)
    told = capsys.readouterr()
    assert code == ExitCode.OK, told.out
    assert "Nothing is refused, nothing to tell." in told.out
    again = lab.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert again.returncode == 0, again.stdout


def test_work_runs_on_its_hosts(lab: RunningLab) -> None:
    """A gang gets whole hosts side by side: here a rack is the first number of four."""
    gang = work.job("wide", "training", CARDS, namespace="nlp", pods=2, model=MODEL)
    small = work.job("small", "training", 1, namespace="vision", model="A100-SXM4-40GB")
    try:
        work.submit(lab, gang, user="li.wei")
        work.submit(lab, small, user="zhao.min")
        work.wait(lambda: len(work.running(lab, "wide", "nlp")) == 2)
        work.wait(lambda: len(work.running(lab, "small", "vision")) == 1)
        first, second = (
            int(host.removeprefix("a800-")) for host in work.hosts_of(lab, "wide", "nlp")
        )
        assert first != second
        assert first // 4 == second // 4
    finally:
        work.remove(lab, gang, small)


@pytest.fixture
def registry(tmp_path: Path, toolchain: Toolchain) -> Iterator[tuple[FakeRegistry, dict[str, str]]]:
    """A registry with the charts, and the digest of each; its authority is in `ca.crt`."""
    server = certificates.webhook(
        certificates.Webhook("registry", "tallyard", "registry.example.com"),
        dt.datetime.now(dt.UTC),
    )
    (tmp_path / "ca.crt").write_bytes(server.authority.certificate)
    (tmp_path / "server.pem").write_bytes(server.server.certificate + server.server.key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem")
    with FakeRegistry(tls) as serving:
        folders = {"kueue": toolchain.kueue_chart, "jobset": toolchain.jobset_chart}
        yield (
            serving,
            {name: serving.put_chart(name, folder).digest for name, folder in folders.items()},
        )


def test_the_stack_of_production_is_previewed_with_charts_from_a_registry(
    shared_lab: RunningLab,
    registry: tuple[FakeRegistry, dict[str, str]],
    toolchain: Toolchain,
    tmp_path: Path,
) -> None:
    """As it is shipped, but for the digests and the image that only its owner can name.

    It is not applied: its managers would run as pods, and a lab's hosts run none.
    """
    serving, digests = registry
    image = f"{IMAGE}@{image_index('ours').digest}"
    copy = _checkout(tmp_path, serving, digests, image)
    link(toolchain, private_folder(tmp_path / "bin"))
    install_provider(toolchain, private_folder(tmp_path / "pulumi"))
    made = _prod(shared_lab, copy, "stack", "init", "prod")
    assert made.returncode == 0, made.stderr
    pack = ("--policy-pack", str(copy / "policies"))
    done = _prod(shared_lab, copy, "preview", "--stack", "prod", *pack, "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    steps = json.loads(done.stdout)["steps"]
    assert {step["op"] for step in steps} == {"create"}
    objects = [
        step["newState"].get("inputs", {})
        for step in steps
        if step["newState"]["type"].startswith("kubernetes:")
    ]
    running = {
        each["metadata"]["name"]: each["spec"]
        for each in objects
        if each.get("kind") == "Deployment"
    }
    assert set(running) == {"controllers", "jobset-controller", "kueue-controller-manager"}
    for name, spec in running.items():
        assert spec["replicas"] == 2, name
        for container in spec["template"]["spec"]["containers"]:
            assert "@sha256:" in container["image"], name
    [ours] = running["controllers"]["template"]["spec"]["containers"]
    assert ours["image"] == image
    # A controller fills the Secret of its certificate; what a chart brings in it is not ours.
    secrets = [each for each in objects if each.get("kind") == "Secret"]
    assert len(secrets) == 2
    assert not any("data" in each for each in secrets)
    queues = {each["metadata"]["name"] for each in objects if each.get("kind") == "ClusterQueue"}
    assert {"nlp-training", "vision-training"} <= queues


def _checkout(folder: Path, serving: FakeRegistry, digests: Mapping[str, str], image: str) -> Path:
    """Copy the checkout and fill in what the owner of a production does."""
    edits = [
        Edit(
            "stacks/versions.yaml",
            f"oci://registry.k8s.io/{name}/charts/{name}\n",
            f"oci://{serving.host}/{name}\n",
        )
        for name in digests
    ]
    copy = edited_checkout(folder, edits)
    pins = copy / "stacks" / "versions.yaml"
    text = pins.read_text()
    for digest in (*digests.values(), image_index().digest, image_index("two").digest):
        text = text.replace("digest: unverified", f"digest: {digest}", 1)
    pins.write_text(text)
    stack = copy / "stacks" / "Pulumi.prod.yaml"
    stack.write_text(f"{stack.read_text()}  tallyard:controllers-image: {image}\n")
    return copy


def _prod(lab: RunningLab, copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Pulumi as production's owner does: no word of a lab is in the shell."""
    own = copy.parent
    shutil.copy(lab.folder.admin, own / "kubeconfig")
    (own / "state").mkdir(exist_ok=True)
    told = {
        "HOME": str(own),
        "KUBECONFIG": str(own / "kubeconfig"),
        "PATH": os.pathsep.join(
            (str(own / "bin"), str(CHECKOUT / ".venv" / "bin"), os.environ["PATH"])
        ),
        "PULUMI_BACKEND_URL": f"file://{own}/state?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": "example",
        "PULUMI_HOME": str(own / "pulumi"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SSL_CERT_FILE": str(own / "ca.crt"),
    }
    return subprocess.run(
        [str(own / "bin" / "pulumi"), *arguments, "--non-interactive"],
        cwd=copy,
        env=told,
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
    )
