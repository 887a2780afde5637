"""Every form of "why not" that Kueue 0.17.0 writes, and our words for it. Data.

Read from its scheduler (`pkg/scheduler`, `flavorassigner`), its caches (`pkg/cache`) and
its workload controller (`pkg/controller/core`). With a new version of Kueue, compare the
format strings there with this table; a form that is missing here is shown as it is.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tallyard import labels
from tallyard.cli.shortage import Facts, left_out, needs_more, no_place, too_large
from tallyard.cluster.drain import HOLD_AND_DRAIN

type Speaker = Callable[[re.Match[str], Facts, str], str]


@dataclass(frozen=True)
class Shape:
    """One form of message.

    `aside` marks what a flavor says that the job never asked for; it is only worth saying
    when nothing else is.
    """

    pattern: re.Pattern[str]
    say: Speaker
    aside: bool


def _plain(en: str, zh: str) -> Speaker:
    """Return a speaker that fills in the groups, with flavors turned into models."""

    def say(match: re.Match[str], facts: Facts, lang: str) -> str:
        groups = {k: v or "" for k, v in match.groupdict().items()}
        if "flavor" in groups:
            groups["model"] = facts.model(groups["flavor"])
        return {"en": en, "zh": zh}[lang].format(**groups)

    return say


_HELD = {
    "en": "the queue is held by an administrator{how}: it waits until the queue is opened again",
    "zh": "队列已被管理员暂停{how}：待队列重新开放后继续",
}
_DRAINED = {"en": " (drained)", "zh": "（已停空）"}


def _held_or(en: str, zh: str) -> Speaker:
    """Return a speaker that knows of a queue that somebody holds, and else says this."""
    otherwise = _plain(en, zh)

    def say(match: re.Match[str], facts: Facts, lang: str) -> str:
        if not facts.stop_policy:
            return otherwise(match, facts, lang)
        how = _DRAINED[lang] if facts.stop_policy == HOLD_AND_DRAIN else ""
        return _HELD[lang].format(how=how)

    return say


def _shape(pattern: str, say: Speaker | tuple[str, str], *, aside: bool = False) -> Shape:
    speaker = say if callable(say) else _plain(*say)
    return Shape(re.compile(pattern), speaker, aside)


_WHY = r"(?P<why>\. Total nodes: \d+; excluded: (?:(?:nodeSelector|affinity|topologyDomain|(?:taint|resource) \"[^\"]*\"): \d+(?:, )?)+)?"

SHAPES: tuple[Shape, ...] = (
    _shape(
        r"insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+), (?P<n>\S+) more needed",
        needs_more,
    ),
    _shape(
        r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+), previously considered podsets requests \((?P<assumed>[^)]*)\) \+ current podset request \((?P<n>[^)]*)\) > maximum capacity \((?P<most>[^)]*)\)",
        too_large,
    ),
    _shape(
        r'topology "[^"]*" doesn\'t allow to fit any of (?P<n>\d+) (?:pod|slice)\(s\)' + _WHY,
        no_place,
    ),
    _shape(
        r'topology "[^"]*" allows to fit only (?P<some>\d+) out of (?P<n>\d+) (?:pod|slice)\(s\)'
        + _WHY,
        no_place,
    ),
    _shape(
        r'topology "[^"]*" doesn\'t allow to fit(?P<layers>(?:; \d+/\d+ slice\(s\) fit on level [^\s;.]+(?:\.[^\s;]+)*)*)',
        (
            "its groups of pods do not fit together{layers}",
            "其 Pod 分组无法放在一起{layers}",
        ),
    ),
    _shape(
        r"no requested topology level(?: for (?:slices|additional slice layer))?: (?P<level>\S+)",
        (
            "asks for the topology level {level}, which this platform does not have",
            "申请的拓扑层级 {level} 在本平台不存在",
        ),
    ),
    _shape(
        r"no topology domains at level: (?P<level>\S+)",
        ("no host has the label {level}", "没有主机带有标签 {level}"),
    ),
    _shape(
        r'Flavor "(?P<flavor>[^"]+)" does not contain the requested level',
        (
            "the hosts with {model} do not have the topology level that it asks for",
            "{model} 主机没有所申请的拓扑层级",
        ),
    ),
    _shape(
        r'Flavor "(?P<flavor>[^"]+)" (?:does not support|supports only) TopologyAwareScheduling',
        (
            "the hosts with {model} do not fit the topology it asks for",
            "{model} 主机与所申请的拓扑不符",
        ),
        aside=True,
    ),
    _shape(
        r'Flavor "(?P<flavor>[^"]+)" information missing in TAS cache',
        ("Kueue has not yet seen the hosts with {model}", "Kueue 尚未读到 {model} 主机"),
    ),
    _shape(
        r"flavor (?P<flavor>\S+) doesn't match node affinity",
        left_out,
        aside=True,
    ),
    _shape(
        r"untolerated taint (?P<taint>.+?) in flavor (?P<flavor>[^\s,]+)",
        (
            "does not tolerate the taint of {model} ({taint})",
            "不容忍 {model} 的污点（{taint}）",
        ),
        aside=True,
    ),
    _shape(
        r"flavor (?P<flavor>\S+) not found",
        (
            "the queue names the flavor {flavor}, which does not exist: tell your administrator",
            "队列引用的 flavor {flavor} 不存在：请联系管理员",
        ),
    ),
    _shape(
        r"resource (?P<resource>\S+) unavailable in ClusterQueue",
        (
            "this queue gives no {resource}: use a queue that has it (`tally queue`)",
            "此队列不提供 {resource}：请用有该资源的队列（`tally queue`）",
        ),
    ),
    _shape(
        r"could not assign (?P<flavor>\S+) flavor since the original workload is assigned: (?P<was>\S+)",
        ("must stay on {was}", "必须留在 {was}"),
        aside=True,
    ),
    _shape(
        r"LocalQueue  doesn't exist",
        (
            f"names no queue: set the label {labels.QUEUE_NAME} (`tally queue` lists them)",
            f"未指定队列：请设置标签 {labels.QUEUE_NAME}（`tally queue` 列出队列）",
        ),
    ),
    _shape(
        r"LocalQueue (?P<name>\S+) doesn't exist",
        (
            f"there is no queue {{name}} in this project: see `tally queue` and correct the label {labels.QUEUE_NAME}",
            f"本项目没有队列 {{name}}：用 `tally queue` 查看并改正标签 {labels.QUEUE_NAME}",
        ),
    ),
    _shape(
        r"(?:The )?(?P<which>Local|Cluster)Queue (?P<name>\S+ )?is stopped",
        _held_or(
            "the queue {name}is stopped by an administrator",
            "队列{name}被管理员停用",
        ),
    ),
    _shape(
        r"(?:Local|Cluster)Queue (?P<name>\S+) is (?:terminating or missing|inactive)",
        _held_or(
            "the queue {name} is not ready: tell your administrator",
            "队列 {name} 不可用：请联系管理员",
        ),
    ),
    _shape(
        r"ClusterQueue (?P<name>\S+) (?:doesn't exist|not found)",
        (
            "the queue {name} does not exist: tell your administrator",
            "队列 {name} 不存在：请联系管理员",
        ),
    ),
    _shape(
        r"Workload namespace doesn't match ClusterQueue selector",
        ("this queue belongs to another project", "此队列属于另一个项目"),
    ),
    _shape(
        r"The workload has failed admission checks",
        ("an admission check refused it", "准入检查拒绝了它"),
    ),
    _shape(
        r"Admission is gated by: (?P<gate>.+)",
        ("is held back by {gate}", "被 {gate} 暂缓"),
    ),
    _shape(
        r"AdmissionGatedBy cleared, waiting for quota reservation",
        ("is no longer held back and is about to be looked at", "不再暂缓，即将处理"),
    ),
    _shape(
        r"waiting for all admitted workloads to be in PodsReady condition",
        (
            "waits until the pods of the job before it are ready",
            "等待前一个作业的 Pod 就绪",
        ),
    ),
    _shape(
        r"Workload no longer fits after processing another workload",
        ("another job was just ahead of it; it is tried again", "另一作业刚先占用；将重试"),
    ),
    _shape(
        r"Workload has overlapping preemption targets with another workload",
        (
            "another job is just taking the same place; it is tried again",
            "另一作业正要占用同一位置；将重试",
        ),
    ),
    _shape(
        r"Workload requires preemption, but it's gated",
        (
            "could only run by stopping others, which is not allowed now",
            "只有停止其他作业才能运行，而目前不允许",
        ),
    ),
    _shape(
        r"Failed to admit workload: (?P<detail>.+)",
        ("could not be admitted and is tried again: {detail}", "准入失败，将重试：{detail}"),
    ),
    _shape(
        r"Could not obtain workload namespace: (?P<detail>.+)",
        ("its namespace could not be read: {detail}", "无法读取其命名空间：{detail}"),
    ),
    _shape(
        r"cannot find replacement assignment for unhealthy node: (?P<node>\S+)",
        ("its host {node} failed and no other has room", "其主机 {node} 故障且无替换"),
    ),
    _shape(
        r"resources validation failed: (?P<detail>.+)",
        ("its requests are not valid: {detail}", "其资源申请无效：{detail}"),
    ),
    _shape(
        r"resources didn't satisfy LimitRange constraints: (?P<detail>.+)",
        (
            "its requests are outside the project's limits: {detail}",
            "其资源申请超出项目限制：{detail}",
        ),
    ),
    _shape(
        r"DynamicResourceAllocation feature does not support use of resource claims",
        ("resource claims are not supported here", "此处不支持 resource claims"),
    ),
    _shape(
        r"The workload has not all checks ready",
        ("holds its quota and waits for an admission check", "已占配额，等待准入检查"),
    ),
    _shape(
        r"The workload has no reservation(?: and not all checks ready)?",
        ("has no quota yet", "尚未获得配额"),
    ),
    _shape(
        r"exceeding the maximum execution time",
        ("has reached its time limit", "已达时间上限"),
    ),
    _shape(
        r"exceeding the maximum number of re-queuing retries",
        (
            "its pods were not ready in time, again and again; it is no longer tried",
            "其 Pod 多次未能及时就绪，不再重试",
        ),
    ),
    _shape(
        r"Admission check\(s\): (?P<checks>.+), were rejected",
        ("was refused by {checks}", "被 {checks} 拒绝"),
    ),
    _shape(
        r"The workload is deactivated(?: due to (?!$))?(?=exceeding|Admission check)",
        ("was stopped", "已被停止"),
    ),
    _shape(
        r"The workload is deactivated",
        ("is switched off (spec.active is false)", "已停用（spec.active 为 false）"),
    ),
    _shape(
        r"Exceeded the PodsReady timeout (?P<name>\S+)",
        (
            "its pods were not ready in time; its quota was given back",
            "其 Pod 未能及时就绪，配额已归还",
        ),
    ),
    _shape(
        r"At least one admission check is false",
        ("an admission check took its place away", "准入检查收回了它的位置"),
    ),
    _shape(
        r"Preempted to accommodate a workload \(UID: [^)]*\) due to (?P<cause>[^;]+)(?:; preemptor path: \S+; preemptee path: \S+)?",
        (
            "was stopped for a job that had the right to its place ({cause})",
            "为有权占用其位置的作业而停止（{cause}）",
        ),
    ),
    _shape(
        r"Workload eviction triggered due to multiple TAS assigned node failures, including: (?P<nodes>.+)",
        ("its hosts failed ({nodes})", "其主机故障（{nodes}）"),
    ),
    _shape(
        r"Job has reached the specified backoff limit",
        ("its pods failed as often as they may", "其 Pod 失败次数已达上限"),
    ),
    _shape(
        r"Job was active longer than specified deadline",
        ("ran longer than its activeDeadlineSeconds", "运行超过其 activeDeadlineSeconds"),
    ),
    _shape(
        r"Workload was evicted as there was no replacement for unhealthy node\(s\): (?P<nodes>.+)",
        (
            "its host failed ({nodes}) and no other had room",
            "其主机故障（{nodes}）且无替换",
        ),
    ),
)
