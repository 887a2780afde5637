"""`tally spec …`: the spec checked, rendered, explained."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, document, emit, print_line, to_yaml
from tallyard.cli.stack import Stack, load_or_refuse, overlay
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.render.manifest import Manifest
    from tallyard.spec.explain import Explanation
    from tallyard.spec.model import Platform

_VERSIONS = Path("stacks/versions.yaml")

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
    and of Kueue's chart, as far as the toolchain has been built.
    """
    from tallyard.render.platform import render as rendered  # noqa: PLC0415

    path = overlay(file, stack)
    platform, _ = load_or_refuse(path)
    manifests = rendered(platform)
    checked = _refuse_faults(path, manifests)
    if server:
        _refuse_refusals(manifests, context, kubeconfig)
    print_line(_summary(path, platform, len(manifests), checked=checked, server=server))


def render(
    file: File = None,
    /,
    *,
    stack: Stack | None = None,
    output: Annotated[
        Path | None,
        Parameter(name=["--output", "-o"], help="A folder for one file each; else stdout."),
    ] = None,
) -> None:
    """Print the Kubernetes objects that the spec asks for.

    With -o they are written into the folder, one file each, below a folder for each namespace.
    """
    from tallyard.render.platform import render as rendered  # noqa: PLC0415

    platform, _ = load_or_refuse(overlay(file, stack))
    manifests = rendered(platform)
    if output is None:
        sys.stdout.write("---\n".join(to_yaml(dict(each.object)) for each in manifests))
        return
    _write(manifests, output)
    print_line(f"{len(manifests)} -> {output}")


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
        what, _, hint = str(error).partition(". ")
        raise Complaint(
            ExitCode.NOT_FOUND, Parts("", what, "", hint or "`tally spec explain`")
        ) from error
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


def _write(manifests: Iterable[Manifest], folder: Path) -> None:
    for each in manifests:
        path = folder / each.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_yaml(dict(each.object)), encoding="utf-8")
        except OSError as error:
            zh = session.lang() == "zh"
            what = "无法写入文件" if zh else "the file cannot be written"
            todo = "用 -o 选择可写的文件夹" if zh else "choose a folder with -o that you may write"
            raise Complaint(
                ExitCode.FAILED, Parts(str(path), what, error.strerror or str(error), todo)
            ) from error


def _refuse_faults(path: Path, manifests: tuple[Manifest, ...]) -> bool:
    """Compare with the schemas; return False where Kueue's are not on this machine."""
    import os  # noqa: PLC0415

    from lab.toolchain import pins  # noqa: PLC0415
    from lab.toolchain.cache import Cache, default_root  # noqa: PLC0415
    from tallyard.render.check import check, crd_schemas  # noqa: PLC0415
    from tallyard.spec.versions import read_versions  # noqa: PLC0415

    kueue = next(tool_set for tool_set in pins.SETS if tool_set.name == "kueue")
    entry = Cache(default_root(os.environ)).find(kueue, files_only=True)
    versions = path.parent / "versions.yaml"
    if entry is None or not versions.is_file():
        return False
    faults = check(
        manifests,
        crds=crd_schemas(entry.copy("kueue-chart")),
        kubernetes=read_versions(versions).kubernetes.version,
    )
    if faults:
        zh = session.lang() == "zh"
        what = "渲染出的对象不合其模式" if zh else "rendered objects do not fit their schemas"
        todo = "这是 tally 的缺陷，请报告" if zh else "this is a fault of tally: please report it"
        why = "\n    ".join(str(fault) for fault in faults)
        raise Complaint(ExitCode.USAGE, Parts(str(path), what, why, todo))
    return True


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


def _summary(path: Path, platform: Platform, objects: int, *, checked: bool, server: bool) -> str:
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
            "，模式已核对" if checked else "，模式未核对（先运行 `tally lab toolchain`）",
            "，集群已接受（试运行）" if server else "",
        )
    else:
        text = "{path}: good: {pools} pools, {projects} projects, {hosts} hosts, {objects} objects"
        parts = (
            ", schemas checked" if checked else ", schemas not checked (run `tally lab toolchain`)",
            ", the cluster would take them" if server else "",
        )
    return text.format(**numbers) + "".join(parts)
