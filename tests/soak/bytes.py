"""The same spec, the same bytes: over hash seeds, locales, time zones and Python's versions.

Usage: .venv/bin/python -m tests.soak.bytes

Renders the shipped stacks and a spec with much in it, and tells the mistakes of a broken one,
in a new process for each of ten surroundings, under Python 3.12 and under 3.13. Each version
gets an environment of its own from the lock, which is removed again. All outputs must be
equal. The short form of it in `make test` is `tests/render/test_bytes.py`, under one version.
"""

from __future__ import annotations

import difflib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from lab.folder import CHECKOUT
from lab.toolchain.cache import default_root

VERSIONS = ("3.12", "3.13")
STACKS = ("local", "prod")
LOCALES = ("C", "zh_CN.UTF-8")
ZONES = ("UTC", "Asia/Shanghai")
SEEDS = 10
PROCESSES = 2
# A process needs about two seconds; a busy machine takes its time.
SECONDS_MAX = 120
LINES_SHOWN = 20
# What an override's end may not be: far, or over.
_OVERRIDE_DAYS = 90
# How each command ends, by the last part of its line.
ENDINGS = ("local.yaml: 0", "prod.yaml: 0", "full.yaml: 0", "broken.yaml --lang en: 2")
_CHILD = """
import sys
from tallyard.cli.main import run
for line in sys.argv[1:]:
    code = run(line.split(" "))
    sys.stdout.flush()
    sys.stderr.flush()
    print(f"# {line.split('/')[-1]}: {code}", flush=True)
"""


def surroundings() -> Iterator[Mapping[str, str]]:
    """Yield the environment of each process: every seed, and each locale in each zone."""
    ours = {key: value for key, value in os.environ.items() if not _is_of_python(key)}
    for seed in range(SEEDS):
        chosen = {
            "LC_ALL": LOCALES[seed % 2],
            "LANG": LOCALES[seed % 2],
            "TZ": ZONES[seed // 2 % 2],
        }
        yield {**ours, **chosen, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(CHECKOUT)}


def _is_of_python(key: str) -> bool:
    return key.startswith("PYTHON") or key in {"VIRTUAL_ENV", "LANGUAGE", "LC_CTYPE"}


def outputs(python: Path, folder: Path) -> tuple[bytes, ...]:
    """Return what each process says about the same specs.

    Args:
        python: The interpreter, which has the locked packages.
        folder: Where `write_specs` was.

    Raises:
        subprocess.CalledProcessError: A process ended with an error of its own.
    """
    lines = [f"spec render {overlay}" for overlay in overlays(folder)]
    lines.append(f"spec validate {folder / 'broken.yaml'} --lang en")

    def said(environment: Mapping[str, str]) -> bytes:
        return subprocess.run(
            [python, "-c", _CHILD, *lines],
            cwd=CHECKOUT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX,
        ).stdout

    with ThreadPoolExecutor(PROCESSES) as pool:
        return tuple(pool.map(said, surroundings()))


def endings(said: bytes) -> tuple[str, ...]:
    """Return how each command of a process ended; `ENDINGS` where all is as it should be."""
    lines = said.decode(errors="replace").splitlines()
    return tuple(line.removeprefix("# ") for line in lines if line.startswith("# "))


def overlays(folder: Path) -> tuple[Path, ...]:
    """Return the environments that are rendered: the shipped ones, and the full one."""
    return (*(Path("stacks") / f"{stack}.yaml" for stack in STACKS), folder / "full.yaml")


def write_specs(folder: Path) -> None:
    """Write a spec with many names in other scripts, and one with several mistakes."""
    shipped = (CHECKOUT / "stacks" / "platform.yaml").read_text(encoding="utf-8")
    head, _, _ = shipped.partition("\nprojects:")
    until = datetime.now(UTC).date() + timedelta(days=_OVERRIDE_DAYS)
    nodes = (CHECKOUT / "stacks" / "prod.yaml").read_text(encoding="utf-8")
    (folder / "platform.yaml").write_text(
        head + _PROJECTS.replace("UNTIL", str(until)), encoding="utf-8"
    )
    for name, base in (("full", "platform"), ("broken", "wrong")):
        text = nodes.replace("base: platform.yaml", f"base: {base}.yaml")
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "wrong.yaml").write_text(head + _WRONG, encoding="utf-8")


_PROJECTS = """
projects:
  语言模型:
    id: nlp
    tier: gold
    default-user: zoe
    users:
      li.wei: {logins: ["oidc:li.wei@corp.example", "ldap:李伟"], share: 40%}
      zoe: {}
      chen.yu: {logins: ["oidc:𠮷田@corp.example"]}
  "no":
    tier: bronze
    users: {zhao.min: {}, sun.lei: {share: 5%}}
    overrides:
      - {cards: {training: {A100-SXM4-40GB: 3}}, until: UNTIL, reason: 发布}
  "1e3": {id: e3, tier: bronze, users: {zhao.min: {}}}
  "a: b": {id: ab, tier: bronze, users: {"007": {}, "on": {}, x_y: {}}}
"""
_WRONG = """
projects:
  one: {tier: golden, users: {li.wei: {share: 400%}, chen.yu: {login: [x]}}}
  two: {id: one, tiers: gold, users: {}}
  three: {tier: bronze, default-user: nobody, users: {zhao.min: {}, "zhao min": {}}}
"""


def main() -> int:
    """Compare, and say which interpreters were used."""
    found = {version: interpreter(version) for version in VERSIONS}
    missing = [version for version, path in found.items() if path is None]
    if missing:
        print(f"FAIL  no Python {' and no '.join(missing)} on PATH, in pyenv or in uv's folder")
        return 1
    uv = subprocess.run(
        ["bash", CHECKOUT / "lab" / "bootstrap.sh", "--uv"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    root = default_root(os.environ)
    root.mkdir(parents=True, exist_ok=True)
    said: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="soak-bytes-", dir=root) as name:
        folder = Path(name)
        write_specs(folder)
        for version, path in found.items():
            assert path is not None, version
            python = _environment(uv, path, folder / version)
            said += outputs(python, folder)
            print(f"Python {_full_version(python)} at {path}: {_told(said[-SEEDS:])}", flush=True)
    _print_differences(said)
    is_good = len(set(said)) == 1 and endings(said[0]) == ENDINGS
    print(f"{'PASS' if is_good else 'FAIL'}  {len(said)} processes: {_told(said)}")
    return 0 if is_good else 1


def _print_differences(said: Sequence[bytes]) -> None:
    """Print the lines in which outputs differ from the first, or how the first failed."""
    first, *others = [each.decode(errors="replace").splitlines() for each in dict.fromkeys(said)]
    if endings(said[0]) != ENDINGS:
        print("\n".join(first[-LINES_SHOWN:]))
    for other in others:
        lines = difflib.unified_diff(first, other, lineterm="", n=0)
        print("\n".join(itertools.islice(lines, LINES_SHOWN)))


def _told(said: Sequence[bytes]) -> str:
    digests = sorted({sha256(each).hexdigest()[:16] for each in said})
    return f"{len(said[0]):,} bytes, {' and '.join(digests)}"


def interpreter(version: str) -> Path | None:
    """Return a Python of this version, from where `lab/bootstrap.sh` looks, or None."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    on_path = (shutil.which(name) for name in (f"python{version}", "python3", "python"))
    candidates = (
        *(Path(path) for path in (sys.executable, *on_path) if path),
        *sorted(pyenv.glob(f"{version}*/bin/python{version}")),
        *sorted(managed.glob(f"cpython-{version}*/bin/python{version}")),
    )
    return next((path for path in candidates if _full_version(path).startswith(version)), None)


def _full_version(python: Path) -> str:
    """Return the version; nothing for what cannot be run, as a shim may not."""
    ask = [str(python), "-c", "import platform; print(platform.python_version())"]
    try:
        told = subprocess.run(ask, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return str(told.stdout).strip()


def _environment(uv: str, python: Path, folder: Path) -> Path:
    """Make an environment with the locked packages; return its interpreter."""
    made = folder / "bin" / "python"
    lock = CHECKOUT / "requirements" / "lock.txt"
    sync = (uv, "pip", "sync", "--quiet", "--python", made, "--require-hashes", lock)
    offline = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    for command in ((uv, "venv", "--quiet", "--no-project", "--python", python, folder), sync):
        subprocess.run(command, check=True, env=offline)
    return made


if __name__ == "__main__":
    sys.exit(main())
