"""`tally ledger release-finalizers`: let Workloads go that wait for controllers which are away."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.asking import ask
from tallyard.cli.output import Format, Output, document, emit, print_line
from tallyard.cli.target import Context, Kubeconfig

if TYPE_CHECKING:
    from tallyard.cluster.client import Connection
    from tallyard.cluster.finalizers import Kept

_WORD = "release"


def release_finalizers(
    *,
    namespace: Annotated[
        str | None,
        Parameter(name=["--namespace", "-n"], help="Only in this namespace; else in all."),
    ] = None,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative=(), help="Do not ask.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    output: Output = Format.TABLE,
) -> None:
    """Let Workloads go that are being deleted and wait until their end is on record.

    The controllers do that by themselves, a second after the last pod has ended. This is for the
    day on which they are away for good and a namespace must go: only what is being deleted is
    touched, and nothing in the ledger. When they are back, they settle such work within a minute
    by what they had seen of it.
    """
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.cluster.finalizers import kept, release  # noqa: PLC0415

    with connect(context, kubeconfig) as connection:
        found = kept(connection, namespace)
        if found:
            _tell(connection, found)
            if not yes:
                ask(_WORD)
        changed = release(connection, found)
    released = [each for each in found if each not in changed]
    emit(output, _document(released, changed), lambda: _print(released, changed))


def _tell(connection: Connection, found: Sequence[Kept]) -> None:
    counts = _by_namespace(found)
    if session.lang() == "zh":
        lines = (
            f"{connection.where}：{len(found)} 个 Workload 正在删除，等待记账：{counts}",
            "释放后，账本中的冻结由控制器恢复后按已观察到的用量结算。",
        )
    else:
        lines = (
            f"{connection.where}: {len(found)} Workloads wait for their end to be on record: {counts}",
            "Released, their freezes are settled by what was seen of them once the controllers run.",
        )
    for line in lines:
        session.err().print(line, soft_wrap=True)


def _by_namespace(found: Sequence[Kept]) -> str:
    counts = Counter(each.namespace for each in found)
    return ", ".join(f"{namespace} {count}" for namespace, count in sorted(counts.items()))


def _document(released: Sequence[Kept], changed: Sequence[Kept]) -> Mapping[str, object]:
    return document(
        "Release",
        {
            name: [{"namespace": each.namespace, "name": each.name} for each in some]
            for name, some in (("released", released), ("changed", changed))
        },
    )


def _print(released: Sequence[Kept], changed: Sequence[Kept]) -> None:
    zh = session.lang() == "zh"
    if not released and not changed:
        print_line("没有等待记账的 Workload。" if zh else "No Workload waits to be let go.")
    for each in released:
        told = "已释放" if zh else "released"
        print_line(f"{told} {each.namespace}/{each.name}")
    for each in changed:
        told = "期间有变化，未释放" if zh else "has changed meanwhile, and is kept:"
        print_line(f"{told} {each.namespace}/{each.name}")
    if changed:
        print_line("再次运行即可。" if zh else "Run it again for these.")
