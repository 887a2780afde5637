"""The words of a review in both languages."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping

from tallyard.cli import session

_ZH: Mapping[str, str] = {
    "Refused": "拒绝",
    "Told": "提示",
    "Waived": "已豁免",
    "Pulumi's policy pack": "Pulumi 策略包",
    "What would be done": "将执行的操作",
    "Jobs that it affects now": "当前受影响的作业",
    "Why": "原因",
    "Seen": "案例",
    "Waived until": "豁免至",
    "WHAT": "动作",
    "KIND": "类别",
    "NUMBER": "数量",
    "JOB": "作业",
    "PROJECT": "项目",
    "USER": "用户",
    "QUEUE": "队列",
    "STATE": "状态",
    "CARDS": "卡",
    "protected, `pulumi up` refuses": "受保护，`pulumi up` 会拒绝",
    "replaced": "删除重建",
    "deleted": "删除",
    "changed": "修改",
    "created": "新建",
    "left in the cluster": "留在集群中",
    "no place in a file": "文件中无对应位置",
    "Nothing.": "无。",
    "None.": "无。",
    "Nothing is refused, nothing to tell.": "没有拒绝，也没有提示。",
    "Pulumi itself fails": "Pulumi 自身报错",
    "The spec means the same as before.": "规格的含义与之前相同。",
    (
        "Pulumi's preview broke off; what it has not come to follows from the objects that the "
        "spec asks for."
    ): "Pulumi 的预览中途失败；它没有到达的部分由规格所要求的对象推出。",
    "Pulumi says so, by a preview.": "以上来自 Pulumi 的预览。",
    (
        "This follows from the objects that the spec asks for. The charts, the controllers, the copy "
        "of the spec and drift in the cluster are not in it; a preview by Pulumi shows them."
    ): (
        "以上由规格所要求的对象推出，不含 chart、控制器、集群中的规格副本以及集群的漂移；"
        "这些由 Pulumi 的预览显示。"
    ),
}


def said(text: str) -> str:
    """Return a text of a review in the language of this run."""
    return _ZH[text] if session.lang() == "zh" else text
