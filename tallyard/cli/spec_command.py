"""`tally spec …`: the spec checked, rendered, explained."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, emit, to_yaml
from tallyard.cli.problems import ErrorForm, print_aside
from tallyard.cli.schema_check import refuse_faults
from tallyard.cli.stack import Stack, load_or_refuse, overlay
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.render.manifest import Manifest
    from tallyard.spec.model import Platform

_VERSIONS = Path("stacks/versions.yaml")
_SCHEDULER_FILE = "kube-scheduler.yaml"

type File = Annotated[Path | None, Parameter(help="The environment's file, instead of -s.")]


def validate(
    file: File = None,
    /,
    *,
    stack: Stack | None = None,
    server: Annotated[
        bool, Parameter(negative=(), help="Also ask the cluster, by a dry run that keeps nothing.")
    ] = False,
    context: Annotated[
        str | None,
        Parameter(
            help="Context of the kubeconfig, one that may apply the platform; in a lab's shell "
            "that of its administrator.",
        ),
    ] = None,
    kubeconfig: Annotated[
        str | None, Parameter(help="Kubeconfig; without it KUBECONFIG or ~/.kube/config.")
    ] = None,
    error_format: ErrorForm = None,
) -> None:
    """Check the spec: every error at once, with its place.

    The objects that it asks for are rendered and compared with the schemas of Kubernetes
    and of Kueue's chart; what could not be compared is named.
    """
    from tallyard.render.platform import render as rendered  # noqa: PLC0415

    path = overlay(file, stack)
    platform, _ = load_or_refuse(path, error_format)
    manifests = rendered(platform)
    unchecked = refuse_faults(path, manifests)
    if server:
        # In a lab's shell the current context is the operator's, who may only look.
        ours = None if kubeconfig else os.environ.get("TALLYARD_KUBE_CONTEXT")
        _refuse_refusals(manifests, context or ours or None, kubeconfig)
    summary = _summary(path, platform, len(manifests), unchecked=unchecked, server=server)
    print_aside(summary, error_format)


def render(
    file: File = None,
    /,
    *,
    stack: Stack | None = None,
    output_dir: Annotated[
        Path | None, Parameter(help="A folder for one file each; without it stdout.")
    ] = None,
    scheduler: Annotated[
        bool,
        Parameter(negative=(), help="Print the configuration for kube-scheduler instead."),
    ] = False,
    error_format: ErrorForm = None,
) -> None:
    """Print the Kubernetes objects that the spec asks for.

    With --output-dir they are written into the folder, one file each, below a folder for each
    namespace; files of objects that are no longer asked for are removed from it, and a folder
    that holds anything else is refused. With --scheduler it is the file that a cluster's administrator gives to
    kube-scheduler by its --config, so that work fills hosts as the quotas expect; no API
    object can say that.
    """
    from tallyard.cli import manifest_folder  # noqa: PLC0415
    from tallyard.render.platform import render as rendered  # noqa: PLC0415
    from tallyard.render.scheduler import configuration  # noqa: PLC0415

    platform, _ = load_or_refuse(
        overlay(file, stack), error_format, is_stdout_free=output_dir is not None
    )
    if scheduler:
        files = {_SCHEDULER_FILE: configuration(platform)}
    else:
        files = {each.path: each.object for each in rendered(platform)}
    if output_dir is None:
        sys.stdout.write("---\n".join(to_yaml(dict(each)) for each in files.values()))
        return
    # The scheduler's file and the objects may share a folder; each run is about its own.
    removed = manifest_folder.write(
        files, output_dir, lambda name: (name == _SCHEDULER_FILE) is not scheduler
    )
    if session.lang() == "zh":
        told = f"已将 {len(files)} 个对象写入 {output_dir}（删除 {removed} 个）"
    else:
        told = f"{len(files)} objects written to {output_dir} ({removed} removed)"
    print_aside(told, error_format)


def schema(which: Literal["platform", "overlay"] = "platform", /) -> None:
    """Print the JSON Schema of the spec, for editors.

    Args:
        which: The platform's file, or the environment's (overlay).
    """
    from tallyard.spec import schema as schemas  # noqa: PLC0415

    chosen = schemas.platform_schema() if which == "platform" else schemas.overlay_schema()
    sys.stdout.write(schemas.text(chosen))


def explain(key: str = "", /, *, output: Output = Format.TABLE) -> None:
    """Explain a key of the spec, or the code of an error.

    Args:
        key: The key's path as in messages, e.g. tiers.gold.cards, or a code, e.g. SPEC101;
            without it, all keys of both files.
        output: How to print: table, json or yaml.
    """
    from tallyard.cli import code_explanation, explanation  # noqa: PLC0415

    if code_explanation.is_code(key):
        page = code_explanation.explained(key)
        emit(output, code_explanation.body(page), lambda: code_explanation.show(page))
        return
    found = explanation.explained(key)
    emit(output, explanation.body(found), lambda: explanation.show(found))


def pins(
    versions: Annotated[Path, Parameter(help="The file with the pins.")] = _VERSIONS,
    /,
    *,
    check: Annotated[
        bool, Parameter(negative=(), help="Write nothing; exit code 7 if it would change.")
    ] = False,
    accept_moved: Annotated[
        bool, Parameter(negative=(), help="Take the new content of a verified tag that moved.")
    ] = False,
) -> int:
    """Look up the digests of all charts and images, and write the new ones."""
    from tallyard.cli.pins import pins as look_up  # noqa: PLC0415

    return look_up(versions, check=check, accept_moved=accept_moved)


def _refuse_refusals(
    manifests: tuple[Manifest, ...], context: str | None, kubeconfig: str | None
) -> None:
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.cluster.dry_run import server_dry_run  # noqa: PLC0415

    with connect(context, kubeconfig) as connection:
        refusals = server_dry_run((each.object for each in manifests), connection)
        where = connection.where
    if refusals:
        zh = session.lang() == "zh"
        what = (
            f"集群拒绝了 {len(refusals)} 个对象" if zh else f"the cluster refuses {len(refusals)}"
        )
        todo = (
            "按原因修改 spec；不可变的字段需要新名称"
            if zh
            else "change the spec by these reasons; what is immutable needs a new name"
        )
        why = "\n    ".join(f"{r.kind} {r.name}: {r.why}" for r in refusals)
        raise Complaint(ExitCode.APPLY_FAILED, Parts(where, what, why, todo))


# Each as the word that is said for several.
_COUNTED = ("pools", "projects", "hosts", "objects")


def _summary(
    path: Path, platform: Platform, objects: int, *, unchecked: tuple[str, ...], server: bool
) -> str:
    numbers = {
        "path": path,
        "pools": len(platform.pools),
        "projects": len(platform.projects),
        "hosts": len(platform.nodes),
        "objects": objects,
    }
    if session.lang() == "zh":
        text = "{path}: 正确：{pools} 个资源池，{projects} 个项目，{hosts} 台主机，{objects} 个对象"
        parts = (
            "" if unchecked else "，模式已核对",
            "，集群已接受（试运行）" if server else "",
        )
    else:
        counted = (f"{numbers[key]} {key if numbers[key] != 1 else key[:-1]}" for key in _COUNTED)
        text = f"{{path}}: good: {', '.join(counted)}"
        parts = (
            "" if unchecked else ", schemas checked",
            ", the cluster would take them" if server else "",
        )
    return "\n  ".join((text.format(**numbers) + "".join(parts), *unchecked))
