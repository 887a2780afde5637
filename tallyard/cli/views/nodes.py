"""The rows of `tally node check`: each host, its state, and why. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallyard.controllers.hosts.reasons import sentence
from tallyard.controllers.hosts.survey import Host
from tallyard.controllers.hosts.verdict import State


@dataclass(frozen=True)
class HostRow:
    """One host. `pool` and `model` are the spec's, empty where it names none.

    `reason` is empty for a host that is as it should be. `is_open` says whether it takes new
    work now, as far as the gate is concerned; None where the cluster has no such node.
    """

    name: str
    pool: str
    model: str
    state: State
    is_open: bool | None
    reason: str

    @property
    def is_right(self) -> bool:
        """Return whether the host is as in the spec and open for work."""
        return self.state is State.RELEASED and self.is_open is True


def host_rows(hosts: Iterable[Host], lang: str) -> tuple[HostRow, ...]:
    """Return the rows in the order of the hosts, with reasons in `en` or `zh`."""
    return tuple(_row(host, lang) for host in hosts)


def _row(host: Host, lang: str) -> HostRow:
    why = [sentence(host.verdict.reasons, lang), _of_gate(host, lang)]
    return HostRow(
        name=host.name,
        pool=host.spec.pool if host.spec else "",
        model=(host.spec.model or "") if host.spec else "",
        state=host.verdict.state,
        is_open=None if host.is_kept_off is None else not host.is_kept_off,
        reason=("；" if lang == "zh" else "; ").join(part for part in why if part),
    )


def _of_gate(host: Host, lang: str) -> str:
    """Return in what the cluster differs from what the gate would do; nothing where it agrees."""
    if host.is_as_gated:
        return ""
    return _GATE[lang][host.verdict.is_tainted]


_GATE = {
    "en": {
        True: "and yet it is open for work: do the controllers run?",
        False: "as in the spec, and the host gate has not opened it: do the controllers run?",
    },
    "zh": {
        True: "却仍可接收作业：控制器在运行吗？",
        False: "与规格一致，但主机准入尚未放行：控制器在运行吗？",
    },
}
