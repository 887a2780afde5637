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
from tallyard.languages import Language
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
