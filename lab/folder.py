"""Where one lab keeps its things. All of them lie in one folder, so that ending a lab can
remove them all; nothing is written to a person's home."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError

CHECKOUT = Path(__file__).resolve().parent.parent
DEFAULT_NAME = "default"
# Whose kubeconfigs every lab has; every other one is called as its user.
ADMIN = "admin"
OPERATOR = "operator"
# A lab's name becomes a folder's name and a context's name; a DNS label is legal in both.
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
# kwokctl cuts its work folder at the first blank; PATH and KUBECONFIG end theirs at a colon.
_PLAIN_PATH = re.compile(r"[\w./@+-]+")
# Set on all folders: they hold private keys.
FOLDER_MODE = 0o700


@dataclass(frozen=True)
class LabFolder:
    """The paths of one lab. `base` holds all labs of a checkout, usually `.lab/`."""

    base: Path
    name: str

    @property
    def root(self) -> Path:
        """Return the folder that holds everything of this lab."""
        return self.base / self.name

    @property
    def lock(self) -> Path:
        """Return the lock; it lies beside the root, because `down` removes the root."""
        return self.base / f"{self.name}.lock"

    @property
    def state(self) -> Path:
        """Return the record of ports and processes."""
        return self.root / "lab.json"

    @property
    def kwok(self) -> Path:
        """Return the work folder that kwokctl is given."""
        return self.root / "kwok"

    @property
    def cluster(self) -> Path:
        """Return where kwokctl keeps this cluster: keys, etcd's data, pids, logs."""
        return self.kwok / "clusters" / self.name

    @property
    def kubeconfigs(self) -> Path:
        """Return the folder with one kubeconfig a person."""
        return self.root / "kubeconfigs"

    @property
    def admin(self) -> Path:
        """Return the administrator's kubeconfig."""
        return self.kubeconfigs / ADMIN

    @property
    def operator(self) -> Path:
        """Return the operator's kubeconfig."""
        return self.kubeconfigs / OPERATOR

    @property
    def kueue(self) -> Path:
        """Return the folder of Kueue's manager."""
        return self.root / "kueue"

    def told(self, manager: str) -> Path:
        """Return the file that tells the Pulumi program where a manager is.

        It lies in that manager's own folder, as `kueue` is Kueue's.
        """
        return self.root / manager / "manager.json"

    @property
    def pulumi(self) -> Path:
        """Return the folder of the stack's state."""
        return self.root / "pulumi"

    @property
    def pulumi_home(self) -> Path:
        """Return the folder that Pulumi keeps its plugins in."""
        return self.root / "pulumi-home"

    @property
    def tools(self) -> Path:
        """Return the folder of programs that is first on PATH in this lab."""
        return self.root / "bin"

    @property
    def kubectl_cache(self) -> Path:
        """Return where kubectl keeps what it learnt of the API, instead of in a home."""
        return self.root / "kubectl-cache"

    @property
    def logs(self) -> Path:
        """Return the folder of the logs of what the lab itself starts."""
        return self.root / "logs"

    @property
    def environment(self) -> Path:
        """Return the file that a shell reads to work with this lab."""
        return self.root / "env"


def lab_folder(name: str, base: Path | None = None) -> LabFolder:
    """Return the paths of the lab of this name; nothing is created.

    Args:
        name: a DNS label of at most 40 characters.
        base: the folder of all labs; default `.lab/` in the checkout.

    Raises:
        LabError: the name is no DNS label.
    """
    if not _NAME.fullmatch(name):
        raise LabError(
            f"the lab's name {name!r} is not possible",
            why="a name is 1 to 40 lower-case letters, digits and dashes inside",
            advice="Choose another one, e.g. demo-2",
        )
    return LabFolder(_labs(base).absolute(), name)


def names(base: Path | None = None) -> tuple[str, ...]:
    """Return the names of the labs that are there, running or not."""
    return tuple(sorted(each.parent.name for each in _labs(base).glob("*/lab.json")))


def require_plain_path(folder: LabFolder) -> None:
    """Refuse a place in which the lab's programs would not find their own files.

    Raises:
        LabError: the path has a blank or another character that some program cuts it at.
    """
    path = str(folder.root)
    if not _PLAIN_PATH.fullmatch(path):
        odd = "".join(sorted(set(_PLAIN_PATH.sub("", path))))
        raise LabError(
            f"a lab cannot run in {path!r}",
            why=f"the path has {odd!r} in it, and some of the lab's programs cut it there",
            advice="Move the checkout to a path of letters, digits and . / _ - + @ only",
        )


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner can read, and return it."""
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        OSError: it cannot be written; the error names the file, also where the disk is full.
    """
    private_folder(path.parent)
    half = path.with_name(f".{path.name}.half")
    half.unlink(missing_ok=True)
    try:
        half.touch(mode=0o600)
        half.write_bytes(content)
        half.replace(path)
    except OSError as error:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        # A write that fails does not know what it wrote to.
        error.filename, error.filename2 = str(path), None
        raise


def _labs(base: Path | None) -> Path:
    return base or CHECKOUT / ".lab"
