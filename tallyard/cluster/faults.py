"""What can go wrong between us and the API server, as a person reads it.

One exception, `ClusterError`; its `fault` says which case it is, its parts say where, what,
why and what to do, in English and Chinese. Nothing here does I/O.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tallyard.labels import KUEUE_VERSION


class Fault(StrEnum):
    """The cases that a person can do something different about."""

    NO_KUBECONFIG = "no-kubeconfig"
    BAD_KUBECONFIG = "bad-kubeconfig"
    NO_CONTEXT = "no-context"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    SERVER_CERTIFICATE = "server-certificate"
    UNAUTHORIZED = "unauthorized"
    EXPIRED = "expired"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    NO_SUCH_KIND = "no-such-kind"
    NO_PROJECT = "no-project"
    BAD_PROJECT = "bad-project"
    NOT_YOURS = "not-yours"
    LAB_DOWN = "lab-down"
    TOO_MANY_PROJECTS = "too-many-projects"
    CONFLICT = "conflict"
    REFUSED = "refused"
    SERVER_FAILED = "server-failed"


@dataclass(frozen=True)
class Parts:
    """The four parts of an error."""

    where: str
    what: str
    why: str
    todo: str


class ClusterError(Exception):
    """The API server could not be asked, or did not give what was asked.

    `values` fills the text: `where` always; `detail`, `server`, `name`, `count` and
    `limit` where the case has them.
    """

    def __init__(self, fault: Fault, where: str, **values: str) -> None:
        self.fault = fault
        self.where = where
        self.values: Mapping[str, str] = values
        super().__init__(f"{self.parts().what}: {self.parts().why}")

    def parts(self, lang: str = "en", options: Collection[str] | None = None) -> Parts:
        """Return the four parts.

        Args:
            lang: `en` or `zh`.
            options: The options of the command that failed; what to do names no other. None
                for all.
        """
        what, why, todo = _TEXTS[lang][self.fault]
        todo = _IF_OPTION.sub(
            lambda match: match[2] if options is None or match[1] in options else "", todo
        )
        values = {**dict.fromkeys(_VALUES, ""), **self.values}
        return Parts(self.where, what.format(**values), why.format(**values), todo.format(**values))


# `[-p:text]` is for commands that have the option -p.
_IF_OPTION = re.compile(r"\[(--?[a-z-]+):([^\]]*)\]")
_VALUES = ("detail", "server", "name", "count", "limit")
_TEXTS: Mapping[str, Mapping[Fault, tuple[str, str, str]]] = {
    "en": {
        Fault.NO_KUBECONFIG: (
            "no kubeconfig",
            "the file does not exist",
            "set KUBECONFIG to your file (the lab writes .lab/default/kubeconfigs/<user>), or ask your administrator for one",
        ),
        Fault.BAD_KUBECONFIG: (
            "the kubeconfig cannot be used",
            "{detail}",
            "mend the file, or set KUBECONFIG to another one",
        ),
        Fault.NO_CONTEXT: (
            'the context "{name}" is not in the kubeconfig',
            "{detail}",
            "choose one of these[--context: with --context]",
        ),
        Fault.UNREACHABLE: (
            "the cluster cannot be reached",
            "{detail}",
            "check that it runs (`tally lab status` for the lab) and that this is its address[--context:, or choose another with --context]",
        ),
        Fault.TIMEOUT: (
            "the cluster did not answer",
            "{detail}",
            "try again; when it stays so, the API server or the network is overloaded",
        ),
        Fault.SERVER_CERTIFICATE: (
            "the cluster's certificate is not trusted",
            "{detail}",
            "the kubeconfig is probably of an earlier cluster at this address: fetch a new one (`tally lab up` writes the lab's)",
        ),
        Fault.UNAUTHORIZED: (
            "the cluster does not know you",
            "the API server refused the credentials of this kubeconfig",
            "log in again or fetch a new kubeconfig",
        ),
        Fault.EXPIRED: (
            "your certificate has expired",
            "{detail}",
            "fetch a new kubeconfig (`tally lab up` writes the lab's anew)",
        ),
        Fault.FORBIDDEN: (
            "you may not do this",
            "{detail}",
            "[-p:name your own project with -p, or ][--server:choose a context that may apply the platform with --context, or ]ask your administrator for the right",
        ),
        Fault.NOT_FOUND: (
            "{name} is not there",
            "{detail}",
            "check the name[-p: and the project (-p)]",
        ),
        Fault.NO_SUCH_KIND: (
            "the cluster does not know {name}",
            f"Kueue is not installed, or not in a version with the API {KUEUE_VERSION}",
            "install the platform first (`make up` for the lab, `pulumi up` elsewhere)",
        ),
        Fault.NO_PROJECT: (
            'there is no project "{name}" in the cluster',
            "the queues of the cluster belong to: {detail}",
            "name one of these with -p, by its key or its id",
        ),
        Fault.BAD_PROJECT: (
            '"{name}" is no name of a project',
            "a project is named by its key, or by its id of lower-case letters, digits and dashes",
            "name one with -p; `tally queue` shows those that you may see",
        ),
        Fault.NOT_YOURS: (
            "the project {name} is not yours",
            "you may read: {detail}",
            "name one of these with -p, or ask your administrator to let you in",
        ),
        Fault.LAB_DOWN: (
            "the lab {name} is not up",
            "this shell is set up for it, and its kubeconfigs are not there",
            "`tally lab up` starts it",
        ),
        Fault.TOO_MANY_PROJECTS: (
            "which projects are yours cannot be found out",
            "you may not read all, and the cluster has {count} projects; up to {limit} are asked one by one",
            "name your project with -p, or set it as the namespace of your context (kubectl config set-context --current --namespace ID)",
        ),
        Fault.CONFLICT: (
            "{name} was changed by somebody else",
            "{detail}",
            "run the same command again",
        ),
        Fault.REFUSED: (
            "the API server refused",
            "{detail}",
            "read the reason above; the server's log says more",
        ),
        Fault.SERVER_FAILED: (
            "the API server could not do it now",
            "{detail}",
            "try again; when it stays so, it is overloaded, or what it asks in turn (etcd, a webhook) does not answer: its log says more",
        ),
    },
    "zh": {
        Fault.NO_KUBECONFIG: (
            "没有 kubeconfig",
            "文件不存在",
            "把 KUBECONFIG 设为您的文件（实验环境写在 .lab/default/kubeconfigs/<用户>），或向管理员索取",
        ),
        Fault.BAD_KUBECONFIG: (
            "kubeconfig 无法使用",
            "{detail}",
            "修正该文件，或把 KUBECONFIG 设为另一个",
        ),
        Fault.NO_CONTEXT: (
            "kubeconfig 中没有上下文“{name}”",
            "{detail}",
            "选择其中之一[--context:（--context）]",
        ),
        Fault.UNREACHABLE: (
            "无法连接集群",
            "{detail}",
            "确认集群在运行（实验环境用 `tally lab status`）且地址正确[--context:，或用 --context 选择另一个]",
        ),
        Fault.TIMEOUT: (
            "集群没有回应",
            "{detail}",
            "请重试；若一直如此，则 API 服务器或网络过载",
        ),
        Fault.SERVER_CERTIFICATE: (
            "集群的证书不受信任",
            "{detail}",
            "该 kubeconfig 可能属于此地址上的旧集群：请取新的（`tally lab up` 会写实验环境的）",
        ),
        Fault.UNAUTHORIZED: (
            "集群不认识您",
            "API 服务器拒绝了此 kubeconfig 的凭据",
            "请重新登录或取新的 kubeconfig",
        ),
        Fault.EXPIRED: (
            "您的证书已过期",
            "{detail}",
            "请取新的 kubeconfig（`tally lab up` 会重写实验环境的）",
        ),
        Fault.FORBIDDEN: (
            "您无权执行此操作",
            "{detail}",
            "[-p:用 -p 指定自己的项目，或][--server:用 --context 选择可应用平台的上下文，或]向管理员申请权限",
        ),
        Fault.NOT_FOUND: ("找不到 {name}", "{detail}", "检查名称[-p:和项目（-p）]"),
        Fault.NO_SUCH_KIND: (
            "集群不认识 {name}",
            f"没有安装 Kueue，或其版本没有 {KUEUE_VERSION} 接口",
            "先安装平台（实验环境 `make up`，其他环境 `pulumi up`）",
        ),
        Fault.NO_PROJECT: (
            "集群中没有项目“{name}”",
            "集群的队列属于：{detail}",
            "用 -p 指定其中之一，写 key 或 id 均可",
        ),
        Fault.BAD_PROJECT: (
            "“{name}”不是项目名称",
            "项目以 key 或 id 指定，id 只含小写字母、数字和连字符",
            "用 -p 指定一个项目；`tally queue` 列出您可见的项目",
        ),
        Fault.NOT_YOURS: (
            "项目 {name} 不是您的",
            "您可读取：{detail}",
            "用 -p 指定其中之一，或请管理员授权",
        ),
        Fault.LAB_DOWN: (
            "实验环境 {name} 未启动",
            "本终端为它而设，但其 kubeconfig 不存在",
            "用 `tally lab up` 启动",
        ),
        Fault.TOO_MANY_PROJECTS: (
            "无法得知哪些项目是您的",
            "您无权读取全部，而集群有 {count} 个项目；逐个询问的上限是 {limit}",
            "用 -p 指定您的项目，或把它设为上下文的命名空间（kubectl config set-context --current --namespace ID）",
        ),
        Fault.CONFLICT: ("{name} 已被他人修改", "{detail}", "重新运行同一命令"),
        Fault.REFUSED: ("API 服务器拒绝了请求", "{detail}", "请看上面的原因；服务器日志有更多信息"),
        Fault.SERVER_FAILED: (
            "API 服务器暂时无法处理请求",
            "{detail}",
            "请重试；若一直如此，则它已过载，或它所依赖的 etcd、webhook 没有回应：服务器日志有更多信息",
        ),
    },
}
