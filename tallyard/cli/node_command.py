"""`tally node check`: each host of the spec and each foreign one, and what keeps it from work."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tallyard import labels
from tallyard.cli import documents, session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, emit, print_line, print_table
from tallyard.cli.target import Context, Kubeconfig
from tallyard.cli.views.nodes import HostRow, host_rows
from tallyard.cli.words import word, words
from tallyard.cluster.faults import ClusterError, Fault, Parts

if TYPE_CHECKING:
    from tallyard.cluster.client import Connection
    from tallyard.spec.model import Platform


def check(
    *,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    output: Output = Format.TABLE,
) -> int:
    """Show each host with what keeps it from work.

    Compares the nodes with the spec in the cluster, which `pulumi up` writes, by the rules of
    the host gate, and says where the gate has not acted on them. Exit code 7 when a host is not
    as in the spec, or not open.
    """
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.cluster.kinds import Node  # noqa: PLC0415
    from tallyard.controllers.hosts.survey import survey  # noqa: PLC0415

    with connect(context, kubeconfig) as connection:
        platform = _platform(connection)
        hosts = survey(platform, connection.list(Node))
    rows = host_rows(hosts, session.lang())
    code = ExitCode.OK if all(row.is_right for row in rows) else ExitCode.CHANGES
    session.expect(code)
    emit(output, documents.host_list(rows), lambda: _print(rows))
    return code


def _platform(connection: Connection) -> Platform:
    from tallyard.cluster.kinds import ConfigMap  # noqa: PLC0415
    from tallyard.controllers.spec_source import read_spec  # noqa: PLC0415

    where = f"{labels.SYSTEM_NAMESPACE}/{labels.SPEC_CONFIG} ({connection.where})"
    zh = session.lang() == "zh"
    try:
        config = connection.get(ConfigMap, labels.SPEC_CONFIG, labels.SYSTEM_NAMESPACE)
    except ClusterError as error:
        if error.fault is not Fault.NOT_FOUND:
            raise
        what = "集群中没有规格" if zh else "the cluster has no spec"
        why = "找不到该 ConfigMap" if zh else "there is no such ConfigMap"
        raise Complaint(ExitCode.NOT_FOUND, Parts(where, what, why, _todo())) from error
    read = read_spec(config, datetime.now(UTC), session.lang())
    if read.platform is None:
        what = "集群中的规格无法加载" if zh else "the spec in the cluster cannot be loaded"
        raise Complaint(ExitCode.FAILED, Parts(where, what, read.fault, _todo()))
    return read.platform


def _todo() -> str:
    if session.lang() == "zh":
        return "`pulumi up` 会写入（实验环境用 `tally lab up`）"
    return "`pulumi up` writes it (`tally lab up` in the lab)"


def _print(rows: Iterable[HostRow]) -> None:
    lines = list(rows)
    print_table(
        words("NODE", "POOL", "MODEL", "STATE", "REASON"),
        [
            (row.name, row.pool, row.model or "-", word(row.state.value), row.reason)
            for row in lines
        ],
    )
    right = sum(row.is_right for row in lines)
    print_line()
    if session.lang() == "zh":
        print_line(f"{len(lines)} 台主机中 {right} 台与规格一致且可接收作业。")
    else:
        print_line(f"{right} of {len(lines)} hosts are as in the spec and open for work.")
