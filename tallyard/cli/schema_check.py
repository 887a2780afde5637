"""The rendered objects against the schemas of Kubernetes and of Kueue, as far as they are here.

What could not be compared is said in plain words; it is never passed over.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.render.manifest import Manifest


def refuse_faults(overlay: Path, manifests: tuple[Manifest, ...]) -> tuple[str, ...]:
    """Compare all objects with their schemas; return what was not compared, and why.

    Args:
        overlay: The environment's file; `versions.yaml` beside it says which Kubernetes.
        manifests: What was rendered.

    Raises:
        Complaint: When an object does not fit, or `versions.yaml` cannot be read.
    """
    from tallyard.render.check import check, crd_schemas  # noqa: PLC0415

    versions = overlay.parent / "versions.yaml"
    chart = _kueue_chart()
    kubernetes = _kubernetes(versions)
    faults = check(
        manifests, crds=crd_schemas(chart) if chart is not None else None, kubernetes=kubernetes
    )
    zh = session.lang() == "zh"
    if faults:
        what = "渲染出的对象不合其模式" if zh else "rendered objects do not fit their schemas"
        todo = "这是 tally 的缺陷，请报告" if zh else "this is a fault of tally: please report it"
        why = "\n    ".join(str(fault) for fault in faults)
        raise Complaint(ExitCode.USAGE, Parts(str(overlay), what, why, todo))
    notes = []
    if kubernetes is None:
        notes.append(
            f"Kubernetes 自身的对象未核对：没有 {versions}，不知其版本"
            if zh
            else f"Kubernetes' own kinds not checked: there is no {versions}, which says the version"
        )
    if chart is None:
        notes.append(
            "Kueue 的对象未核对：没有其 chart，先运行 `tally lab toolchain`"
            if zh
            else "Kueue's kinds not checked: its chart is not here, `tally lab toolchain` brings it"
        )
    return tuple(notes)


def _kueue_chart() -> Path | None:
    from lab.toolchain import pins  # noqa: PLC0415
    from lab.toolchain.cache import Cache, default_root  # noqa: PLC0415

    kueue = next(tool_set for tool_set in pins.SETS if tool_set.name == "kueue")
    entry = Cache(default_root(os.environ)).find(kueue, files_only=True)
    return None if entry is None else entry.copy("kueue-chart")


def _kubernetes(versions: Path) -> str | None:
    from tallyard.spec.versions import VersionsError, read_versions  # noqa: PLC0415

    if not versions.exists():
        return None
    try:
        return read_versions(versions).kubernetes.version
    except VersionsError as error:
        zh = session.lang() == "zh"
        what = "版本文件有误" if zh else "the file of the pinned versions is wrong"
        todo = "按上述各行修改" if zh else "correct each line as it says"
        why = "\n    ".join(str(error).splitlines())
        raise Complaint(ExitCode.USAGE, Parts(str(versions), what, why, todo)) from error
