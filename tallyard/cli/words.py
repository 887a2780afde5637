"""The words of the tables in both languages."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping

from tallyard.cli import session

_ZH: Mapping[str, str] = {
    "QUEUE": "队列",
    "PROJECT": "项目",
    "MODEL": "型号",
    "USED/QUOTA": "已用/配额",
    "BORROWED": "借用",
    "PENDING": "等待",
    "ADMITTED": "已准入",
    "PLACE": "位次",
    "JOB": "作业",
    "USER": "用户",
    "ASKS": "申请",
    "WAITED": "已等",
    "REASON": "原因",
    "CARDS": "卡",
    "STATE": "状态",
    "NODE": "节点",
    "TIME": "时长",
    "STEP": "步骤",
    "AT": "时刻",
    "AFTER": "间隔",
    "NOTE": "说明",
    "OBJECT": "对象",
    "EVENT": "事件",
    "MESSAGE": "消息",
    "POOL": "资源池",
    "HOSTS": "主机",
    "PART": "部件",
    "PID": "进程",
    "PORT": "端口",
    "MIB": "MiB",
    "PROGRAM": "程序",
    "VERSION": "版本",
    "PATH": "路径",
    "FREE": "可用",
    "KEY": "键",
    "TEXT": "说明",
    "required": "必填",
    "default": "默认值",
    "effect": "作用",
    "per environment": "因环境而异",
    "keys": "下级键",
    "yes": "是",
    "no": "否",
    "ready": "就绪",
    "down": "未运行",
    "waited": "曾等待",
    "waiting": "等待",
    "admitted": "已准入",
    "running": "运行中",
    "evicted": "被收回",
    "finished": "完成",
    "failed": "失败",
    "submitted": "提交",
    "reserved": "占到配额",
    "bound": "落到节点",
    "inactive": "停用",
    "no limit": "不限",
    "Nobody waits.": "无人等待。",
    "No queues here.": "这里没有队列。",
    "No jobs here.": "这里没有作业。",
    "Waiting:": "等待中：",
}


def word(text: str) -> str:
    """Return a word of a table in the language of this run."""
    return _ZH[text] if session.lang() == "zh" else text


def words(*texts: str) -> tuple[str, ...]:
    """Return several words of a table."""
    return tuple(word(text) for text in texts)
