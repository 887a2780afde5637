"""Why something of the store failed, in our own words; what a database said is as it said it."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from typing import NamedTuple

from tallyard.languages import Language


class Why(NamedTuple):
    """One reason in both languages; called with what it is about, it is told of that."""

    en: str
    zh: str

    def __call__(self, *about: object) -> Why:
        """Return the reason with its gaps filled."""
        return Why(self.en.format(*about), self.zh.format(*about))

    def told(self, lang: Language) -> str:
        """Return it in one language."""
        return self.zh if lang == "zh" else self.en


# Of a journal.
CHANGED = Why("transaction {} was changed", "交易 {} 已被改动")
UNREADABLE = Why("transaction {} cannot be read: {}", "无法读取交易 {}：{}")
OTHERWISE = Why(
    "transaction {}: its command comes to something else", "交易 {}：其命令得出的分录不同"
)
NOT_POSSIBLE = Why("transaction {}: {}", "交易 {}：{}")
SOME_ARE_THERE = Why("{} transactions of {} are there", "{1} 笔交易中只有 {0} 笔")
ENDS_OTHERWISE = Why("the journal does not end as the head says", "日志的结尾与表 head 的记录不符")
NO_HEAD = Why("the table head is empty", "表 head 为空")
BAD_HEAD = Why("the head's number is {!r}", "表 head 中的序号为 {!r}")
BAD_ROW = Why("a row cannot be read: {}", "有一行无法读取：{}")
NO_MOMENT = Why("{} is of no moment that there is: {!r}", "{} 的时刻不存在：{!r}")
CONTENT = Why("what is in it cannot be read: {}", "其中的内容无法读取：{}")

# Of a backup.
NOT_EMPTY = Why("the store is not empty", "账本不是空的")
REFUSED = Why("the store refuses what is in it: {}", "账本拒绝其中的内容：{}")
ENDS_AT = Why("it ends at transaction {} of {}", "它在第 {} 笔交易处结束，应有 {} 笔")
FIRST_LINE = Why("its first line is none of ours: {}", "其第一行不是我们写的：{}")
OTHER_FORMAT = Why(
    "its format is {}, and this program reads {}", "其格式为 {}，而本程序读取的是 {}"
)
LINE = Why("line {} is not whole: {}", "第 {} 行不完整：{}")
STORE_IS_BEHIND = Why(
    "the store ends at transaction {}, and the backup at {}",
    "账本在第 {} 笔交易处结束，备份在第 {} 笔",
)
OTHER_TRANSACTION = Why("the store has another transaction {}", "账本的第 {} 笔交易与备份不同")

# Of tables.
NO_TABLES = Why("there are no tables in it yet", "其中还没有表")
OTHER_VERSION = Why(
    "they are of {}, and this program works with {}", "表的版本为 {}，而本程序使用 {}"
)
NONE_OF_OURS = Why("it has no table of a ledger; it has {}", "其中没有账本的表；有 {}")
BAD_VERSIONS = Why(
    "the table {}, which says what the others are, {}", "说明其他表版本的表 {} 有误：{}"
)
NO_VERSION = Why("its version is {!r}, which no tally writes", "其版本为 {!r}，tally 不会写出")
TABLES_GONE = Why("tables are gone: {}", "缺少表：{}")

# Of an address.
NO_ADDRESS = Why(
    "it is no address such as postgresql://user@host/name",
    "这不是 postgresql://user@host/name 形式的地址",
)
AT_IN_HOST = Why(
    "its host has an @ in it; one in a password is written %40",
    "主机名中有 @；密码中的 @ 要写成 %40",
)
NEITHER = Why("{!r} is neither sqlite nor postgresql", "{!r} 既不是 sqlite 也不是 postgresql")
HOST_OF_A_FILE = Why("a file has no host; write {}", "文件没有主机；请写 {}")
NO_FILE_NAMED = Why("it names no file", "没有写明文件")
IN_MEMORY = Why(
    "what is in memory is gone when the command ends", "内存中的内容在命令结束后就没有了"
)
NO_URI = Why("a file is named without {}, or as ./{}", "文件名不带 {}，或写成 ./{}")
ONE_OPTION = Why("the only option of a file is ?mode=ro", "文件只有一个选项：?mode=ro")
NO_FILE = Why("there is no file {}", "没有文件 {}")

# Of what a disk allows.
MAY_NOT_BE_WRITTEN = Why("neither the file nor its folder may be written", "文件及其文件夹都不可写")
NO_LOG = Why(
    "its file system takes no log of SQLite's (it is in mode {})",
    "其文件系统不支持 SQLite 的日志（模式为 {}）",
)
