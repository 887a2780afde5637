"""The spec from the cluster: the ConfigMap that `pulumi up` wrote becomes a platform again."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tallyard import labels
from tallyard.cluster.watch import Listed, Seen
from tallyard.languages import Language
from tallyard.spec.in_force import ends, platform_at
from tallyard.spec.load import Loaded, load
from tallyard.spec.messages import closing, report
from tallyard.spec.model import Platform

# What a ConfigMap's key is made of: no separator of folders, so no file lands elsewhere.
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")

_NO_OVERLAY: Mapping[Language, str] = {
    "en": "the annotation {} names none of its files",
    "zh": "注解 {} 没有指向其中任何文件",
}
_NO_FILE: Mapping[Language, str] = {
    "en": 'its key "{}" is no name of a file',
    "zh": "其中的键“{}”不是文件名",
}


@dataclass(frozen=True)
class SpecRead:
    """What was made of a ConfigMap: a spec, or what is wrong with it in one paragraph.

    Attributes:
        loaded: the spec, its files called by their names alone; None where there is none in it.
        fault: why there is no platform; empty where there is one.
    """

    loaded: Loaded | None
    fault: str

    @property
    def platform(self) -> Platform | None:
        """Return what the spec means; None where something is wrong with it."""
        return self.loaded.platform if self.loaded is not None else None


def read_spec(config: Mapping[str, Any], now: datetime, lang: Language = "en") -> SpecRead:
    """Load the spec that a ConfigMap holds.

    Args:
        config: The ConfigMap as the API has it.
        now: The moment at which its overrides hold.
        lang: The language of the fault.

    Returns:
        Never more than one of the two; no content makes it raise.
    """
    data = config.get("data") or {}
    overlay = str((config["metadata"].get("annotations") or {}).get(labels.OVERLAY))
    if overlay not in data:
        return SpecRead(None, _NO_OVERLAY[lang].format(labels.OVERLAY))
    odd = [key for key in data if not _KEY.fullmatch(key) or key in {".", ".."}]
    if odd:
        return SpecRead(None, _NO_FILE[lang].format(odd[0]))
    with tempfile.TemporaryDirectory(prefix="tallyard-spec-") as folder:
        root = Path(folder)
        for key, text in data.items():
            (root / key).write_text(text, encoding="utf-8")
        loaded = load(root / overlay, now)
    return _read(loaded.renamed({file: Path(file.name) for file in loaded.files}), lang)


def _read(loaded: Loaded, lang: Language) -> SpecRead:
    if loaded.platform is not None:
        return SpecRead(loaded, "")
    told = f"{report(loaded.problems, lang)}\n{closing(loaded.problems, lang)}"
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return SpecRead(loaded, " ".join(lines))


class SpecInForce:
    """The spec as it is followed: the last good one, as it means things now.

    What is wrong with one is told by who follows it for the hosts.
    """

    def __init__(self) -> None:
        self._seen: object = None
        self._read: Platform | None = None
        self._platform: Platform | None = None
        self._until: datetime | None = None

    def see(self, seen: Seen, now: datetime) -> bool:
        """Take what was seen of the ConfigMap and return whether another spec is followed."""
        items = seen.items if isinstance(seen, Listed) else () if seen.is_gone else (seen.item,)
        for config in items:
            content = (config.get("data"), config["metadata"].get("annotations"))
            if content == self._seen:
                continue
            self._seen = content
            if platform := read_spec(config, now).platform:
                self._read, self._platform = platform, None
                return True
        return False

    def at(self, now: datetime) -> Platform | None:
        """Return what it means now; None before one was seen.

        The same object until an override ends, so that what was made of it can be kept.
        """
        if self._read is None:
            return None
        if self._platform is None or (self._until is not None and now >= self._until):
            self._platform = platform_at(self._read, now)
            self._until = next((end for end in ends(self._read) if end > now), None)
        return self._platform
