"""What is not let through, by which gate and why: the one table of rules.

A pull request is looked at by the policy pack and by `tally review`, what people submit by the
API server. The rules themselves stand with their gate: `policies/rules_of_*.py` and
`tallyard/render/admission/locks_of_*.py`, each under the name that it has here.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Gate(StrEnum):
    """Where a rule is asked."""

    REVIEW = "review"
    ADMISSION = "admission"


class Severity(StrEnum):
    """Whether a finding stops what it was found in, or is only told."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        name: a slug; every message ends with it, and a waiver in the spec names it.
        gates: where it is asked.
        severity: what a finding means. What the API server refuses is refused.
        because: why there is such a rule, in English and Chinese.
        incident: where the like of it has happened, as an address; empty where it is plain.
    """

    name: str
    gates: frozenset[Gate]
    severity: Severity
    because: tuple[str, str]
    incident: str = ""


def _review(
    name: str,
    because: tuple[str, str],
    incident: str = "",
    severity: Severity = Severity.MANDATORY,
) -> Rule:
    return Rule(name, frozenset({Gate.REVIEW}), severity, because, incident)


def _lock(name: str, because: tuple[str, str], incident: str = "") -> Rule:
    return Rule(name, frozenset({Gate.ADMISSION}), Severity.MANDATORY, because, incident)


_KUEUE = "https://github.com/kubernetes-sigs/kueue/issues"
_PULUMI = "https://github.com/pulumi/pulumi-kubernetes/issues"

_REVIEWED = (
    _review(
        "priorities-ordered",
        (
            "work that may be stopped must stand below all that may not, or it stops others",
            "可被抢占的优先级必须低于不可被抢占的，否则它会抢占别人",
        ),
        f"{_KUEUE}/3909",
    ),
    _review(
        "quota-within-capacity",
        (
            "Kueue admits what the sum of its quotas allows, whether or not there are such cards",
            "Kueue 按配额之和准入作业，而不管这些卡是否真的存在",
        ),
        f"{_KUEUE}/3210",
    ),
    _review(
        "objects-replaced",
        (
            "deleting an object and making it again under its name may end with neither of the two",
            "以同名删除并重建对象，可能最后两个都不在",
        ),
        f"{_PULUMI}/4522",
    ),
    _review(
        "queues-removed",
        (
            "a queue that goes away stays half deleted until what runs in it has ended",
            "队列被删除后会停在删除中，直到其中的作业结束",
        ),
        f"{_KUEUE}/1253",
        Severity.ADVISORY,
    ),
    _review(
        "images-pinned",
        (
            "whoever may write to a registry can move a tag to another image",
            "能写入镜像仓库的人可以把标签指向另一个镜像",
        ),
    ),
    _review(
        "pins-verified",
        (
            "an `unverified` pin stands for whatever is served under that version today",
            "unverified 意味着该版本今天提供什么就用什么",
        ),
    ),
    _review(
        "projects-granted",
        (
            "a project without a tier has neither a queue nor a limit of time",
            "没有等级的项目既没有队列，也没有时限",
        ),
    ),
    _review(
        "secrets-hidden",
        (
            "what stands in a plain value is in the repository, the state and the logs for ever",
            "写成明文的密钥会永远留在仓库、状态和日志中",
        ),
        f"{_PULUMI}/1118",
    ),
    _review(
        "policies-bound",
        (
            "a policy that is not bound, or fails open, lets everything through in silence",
            "策略缺少绑定或失败时放行，一切都会悄悄通过",
        ),
    ),
    _review(
        "locks-changed",
        (
            "what an expression lets through no rule can tell, so a person reads what has changed",
            "表达式放行什么，规则无法判断，因此改动要由人查看",
        ),
        severity=Severity.ADVISORY,
    ),
    _review(
        "projects-in-table",
        (
            "the admission policies refuse all work of a namespace that their table does not know",
            "准入策略会拒绝其表中没有的命名空间的全部作业",
        ),
    ),
    _review(
        "tenants-fenced",
        (
            "who may write a queue, a quota or a policy gives cards to himself",
            "能写队列、配额或策略的人可以给自己分卡",
        ),
        f"{_KUEUE}/4421",
    ),
    _review(
        "grants-kept",
        (
            "what a queue reaches beyond its grant is taken from other projects, in silence",
            "队列超出授予范围的部分，会悄悄取自其他项目",
        ),
    ),
)
# What the API server refuses, in the order in which it is told.
_ADMITTED = (
    _lock(
        "project-known",
        (
            "what the spec does not name has no queue and no account",
            "规格中没有的项目，没有队列，也没有账户",
        ),
    ),
    _lock(
        "form-whole",
        (
            "into what has not the form of its kind nothing can be filled in",
            "不符合该类型格式的对象无法补全",
        ),
    ),
    _lock(
        "size-bounded",
        (
            "an object is looked at whole, and the API server gives that a bounded time",
            "对象要整体检查，而 API 服务器给检查的时间有上限",
        ),
    ),
    _lock(
        "user-known",
        (
            "work is paid for by a user of the spec, and a login that it does not know has none",
            "作业由规格中的用户付费；规格不认识的登录名没有对应的用户",
        ),
    ),
    _lock(
        "labels-kept",
        (
            "who pays, how long it may run and which queue it is in were decided when it was sent",
            "由谁付费、可运行多久、在哪个队列，在提交时就已确定",
        ),
    ),
    _lock(
        "owners-true",
        (
            "Kueue lets what belongs to admitted work run without a queue",
            "Kueue 会让从属于已准入作业的对象不经队列直接运行",
        ),
    ),
    _lock(
        "kueue-keys",
        (
            "by its own labels and annotations Kueue can be told to look away",
            "通过 Kueue 自己的标签和注解可以让 Kueue 不管理该作业",
        ),
    ),
    _lock(
        "keys-known",
        (
            "a label or an annotation that nothing reads would be a wish that nobody hears",
            "没有程序读取的标签或注解等于没写",
        ),
    ),
    _lock(
        "suspend-kept",
        (
            "a job that is started by hand runs before its queue has room for it",
            "手动启动的作业会在队列有空位之前运行",
        ),
    ),
    _lock(
        "queue-named",
        (
            "what names no queue would wait for ever, or run beside all quotas",
            "不写队列的作业会永远等待，或绕过配额运行",
        ),
    ),
    _lock(
        "queue-own",
        ("a queue of another project is paid for by that project", "其他项目的队列由其他项目付费"),
    ),
    _lock(
        "services-end",
        (
            "what never ends may not hold cards that others are promised in turn",
            "不会结束的服务不得占用需轮流使用的卡",
        ),
    ),
    _lock(
        "time-limited",
        (
            "what a job costs is frozen for its whole limit, so it has one, within its tier's",
            "作业的费用按整个时限预冻结，因此必须有时限，且不超过等级的上限",
        ),
    ),
    _lock(
        "agent-pods",
        (
            "a program that starts pods by itself can start them without end",
            "自行启动 Pod 的程序可能无止境地启动",
        ),
    ),
    _lock(
        "within-known",
        ("a level that is not there would bind nothing together", "不存在的层级不会起任何作用"),
    ),
    _lock(
        "cards-asked",
        (
            "work without cards on a host with cards takes the room beside them",
            "不用卡的作业跑在有卡的主机上会占用为卡预留的 CPU 和内存",
        ),
    ),
    _lock(
        "cards-offered",
        ("a job whose queue has no such cards waits for ever", "队列没有这种卡，作业会永远等待"),
    ),
    _lock(
        "cards-alike",
        (
            "no host has two kinds of card, so such a pod can never be placed",
            "没有主机同时有两种卡，这样的 Pod 永远放不下",
        ),
    ),
    _lock(
        "cards-fit",
        (
            "a pod for which no host is large enough waits for ever and holds its quota",
            "没有主机放得下的 Pod 会永远等待，并占住配额",
        ),
    ),
    _lock(
        "model-chosen",
        (
            "without a model Kueue takes the next dearer one in silence",
            "不写型号时 Kueue 会悄悄换用更贵的型号",
        ),
    ),
    _lock(
        "model-offered",
        (
            "a job for a model that its queue has not waits for ever",
            "队列没有该型号，作业会永远等待",
        ),
    ),
    _lock(
        "hosts-by-queue",
        (
            "by other labels a job would hold quota for hosts on which it can never be placed",
            "按其他标签选择，作业会占住配额却永远放不到主机上",
        ),
    ),
    _lock(
        "taints-kept",
        (
            "taints keep a pool's hosts for its own queues, and unverified ones for nobody",
            "污点把资源池的主机留给自己的队列，未核验的主机不给任何人",
        ),
    ),
    _lock(
        "scheduler-asked",
        (
            "a pod that names its host is placed without a queue and without room",
            "自己写明主机的 Pod 不经队列、不看余量就被放置",
        ),
    ),
    _lock(
        "neighbours-own",
        (
            "one small pod that wants others away would keep a whole pool from another project",
            "一个排斥他人的小 Pod 就能把整个资源池挡在其他项目之外",
        ),
    ),
    _lock(
        "claims-none",
        (
            "Kueue does not count devices that are claimed, so no quota would hold",
            "Kueue 不统计以 claim 申请的设备，配额会失效",
        ),
    ),
    _lock(
        "priority-given",
        (
            "who goes first is the queue's to say, also to the scheduler and the kubelet",
            "谁先运行由队列决定，对调度器和 kubelet 也一样",
        ),
    ),
    _lock(
        "rights-few",
        (
            "Pod Security `restricted` refuses such pods only after the job was taken",
            "Pod 安全标准 restricted 要到作业被接收之后才会拒绝这样的 Pod",
        ),
    ),
)

# What both see.
_ASKED_TWICE = (
    Rule(
        "cards-elsewhere",
        frozenset(Gate),
        Severity.MANDATORY,
        (
            "cards outside the projects' namespaces are in no queue, and nobody pays for them",
            "项目命名空间之外的卡不经任何队列，也没有人付费",
        ),
    ),
)

RULES: Mapping[str, Rule] = {rule.name: rule for rule in (*_REVIEWED, *_ASKED_TWICE, *_ADMITTED)}
# Those that an entry in the spec can waive.
WAIVABLE: frozenset[str] = frozenset(
    rule.name for rule in RULES.values() if Gate.REVIEW in rule.gates
)
