"""The small valid spec of `tests/data/spec/valid`, and a way to load a variation of it."""

from __future__ import annotations

from pathlib import Path

from tallyard.spec.load import Loaded, load

DATA = Path(__file__).parents[1] / "data" / "spec"
STACKS = Path(__file__).parents[2] / "stacks"
PLATFORM = (DATA / "valid" / "platform.yaml").read_text()
LOCAL = (DATA / "valid" / "local.yaml").read_text()


def load_texts(
    folder: Path, platform: str | bytes = PLATFORM, local: str | bytes = LOCAL
) -> Loaded:
    """Write the two files into a folder and load the environment."""
    for name, text in (("platform.yaml", platform), ("local.yaml", local)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(folder / "local.yaml")


def changed(text: str, old: str, new: str) -> str:
    """Replace the one place where `old` stands."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)
