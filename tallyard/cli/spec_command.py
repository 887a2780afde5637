"""`tally spec …`: the spec checked, rendered, explained."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, document, emit, print_line, to_yaml
from tallyard.cli.schema_check import refuse_faults
from tallyard.cli.stack import Stack, load_or_refuse, overlay
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.render.manifest import Manifest
    from tallyard.spec.explain import Explanation
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
    context: Annotated[str | None, Parameter(help="Context of the kubeconfig.")] = None,
    kubeconfig: Annotated[
        str | None, Parameter(help="Kubeconfig; without it KUBECONFIG or ~/.kube/config.")
    ] = None,
) -> None:
    """Check the spec: every error at once, with its place.

    The objects that it asks for are rendered and compared with the schemas of Kubernetes
    and of Kueue's chart; what could not be compared is named.
    """
    from tallyard.render.platform import render as rendered  # noqa: PLC0415

    path = overlay(file, stack)
    platform, _ = load_or_refuse(path)
    manifests = rendered(platform)
    unchecked = refuse_faults(path, manifests)
    if server:
        _refuse_refusals(manifests, context, kubeconfig)
    print_line(_summary(path, platform, len(manifests), unchecked=unchecked, server=server))


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
) -> None:
    """Print the Kubernetes objects that the spec asks for.

    With --output-dir they are written into the folder, one file each, below a folder for each
    namespace. With --scheduler it is the file that a cluster's administrator gives to
    kube-scheduler by its --config, so that work fills hosts as the quotas expect; no API
    object can say that.
    """
    from tallyard.render.platform import render as rendered  # noqa: PLC0415
    from tallyard.render.scheduler import configuration  # noqa: PLC0415

    platform, _ = load_or_refuse(overlay(file, stack))
    if scheduler:
        files = {_SCHEDULER_FILE: configuration(platform)}
    else:
        files = {each.path: each.object for each in rendered(platform)}
    if output_dir is None:
        sys.stdout.write("---\n".join(to_yaml(dict(each)) for each in files.values()))
        return
    _write(files, output_dir)
    print_line(f"{len(files)} -> {output_dir}")


def schema(which: Literal["platform", "overlay"] = "platform", /) -> None:
    """Print the JSON Schema of the spec, for editors.

    Args:
        which: The platform's file, or the environment's (overlay).
    """
    from tallyard.spec import schema as schemas  # noqa: PLC0415

    chosen = schemas.platform_schema() if which == "platform" else schemas.overlay_schema()
    sys.stdout.write(schemas.text(chosen))


def explain(key: str = "", /, *, output: Output = Format.TABLE) -> None:
    """Explain a key of the spec.

    Args:
        key: The key's path as in messages, e.g. tiers.gold.cards; without it, the whole file.
        output: How to print: table, json or yaml.
    """
    from tallyard.spec.explain import UnknownKeyError  # noqa: PLC0415
    from tallyard.spec.explain import explain as explained  # noqa: PLC0415

    try:
        found = explained(key)
    except UnknownKeyError as error:
        lang = session.lang()
        todo = error.hint(lang) or "`tally spec explain`"
        raise Complaint(ExitCode.NOT_FOUND, Parts("", error.what(lang), "", todo)) from error
    content = document(
        "Explanation",
        {
            "path": found.path,
            "text": found.text,
            "type": found.type,
            "required": found.is_required,
            "default": found.default,
            "effect": found.effect,
            "perEnvironment": found.is_per_environment,
            "keys": list(found.keys),
        },
    )
    emit(output, content, lambda: _print_explanation(found))


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


def _print_explanation(found: Explanation) -> None:
    print_line(f"{found.path or 'platform.yaml'}  ({found.type})")
    print_line(f"  {found.text}")
    rows = [
        ("required", "yes" if found.is_required else "no"),
        ("default", found.default or ""),
        ("effect", found.effect),
        ("per environment", "yes" if found.is_per_environment else "no"),
        ("keys", ", ".join(found.keys)),
    ]
    for name, text in rows:
        if text:
            print_line(f"  {name + ':':<17}{text}")


def _write(files: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_yaml(dict(content)), encoding="utf-8")
        except OSError as error:
            zh = session.lang() == "zh"
            what = "无法写入文件" if zh else "the file cannot be written"
            todo = (
                "用 --output-dir 选择可写的文件夹"
                if zh
                else "choose a folder with --output-dir that you may write"
            )
            raise Complaint(
                ExitCode.FAILED, Parts(str(path), what, error.strerror or str(error), todo)
            ) from error


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
        text = "{path}: good: {pools} pools, {projects} projects, {hosts} hosts, {objects} objects"
        parts = (
            "" if unchecked else ", schemas checked",
            ", the cluster would take them" if server else "",
        )
    return "\n  ".join((text.format(**numbers) + "".join(parts), *unchecked))
