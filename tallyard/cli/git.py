"""Git, asked and never told to write, and what people read when it cannot answer."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts
from tallyard.failures import one_line

# A partial clone fetches what it lacks, which takes longer than reading a disk.
_GIT_SECONDS_MAX = 60
_WORDS_OF_GIT_MAX = 300
# A hook of git sets these for the repository that it runs in, seen from there: what
# `git rev-parse --local-env-vars` lists, and the prefix.
_OF_HOOKS = frozenset(
    {
        *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS"),
        *("GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE"),
        *("GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS"),
        *("GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR"),
        "GIT_INTERNAL_SUPER_PREFIX",
    }
)


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, without a terminal and in English; nothing that we run writes.

    Args:
        folder: Where.
        arguments: The command.
        stdin: What it reads.

    Raises:
        Complaint: It is not there, or does not answer in time.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(
            command,
            input=stdin,
            env=environment,
            capture_output=True,
            check=False,
            timeout=_GIT_SECONDS_MAX,
        )
    except subprocess.TimeoutExpired as error:
        told = complaint("no-answer", str(folder), seconds=str(_GIT_SECONDS_MAX))
        raise Complaint(ExitCode.TIMEOUT, told.parts) from error
    except OSError as error:
        raise complaint("no-git", str(folder), detail=error.strerror or str(error)) from error


def words(found: subprocess.CompletedProcess[bytes]) -> str:
    """Return what git says about a failure, in one line."""
    text = found.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
    return one_line(text, _WORDS_OF_GIT_MAX)


def complaint(case: str, where: str, **values: str) -> Complaint:
    """Return the complaint of a case; `values` fill in its text."""
    what, why, todo = (text.format(**values) for text in _TEXTS[session.lang()][case])
    code = ExitCode.USAGE if case in _OF_THE_SPEC else ExitCode.FAILED
    return Complaint(code, Parts(where, what, why, todo))


_OF_THE_SPEC = frozenset({"outside"})
_TEXTS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "en": {
        "no-git": (
            "revisions cannot be read",
            "git cannot be started: {detail}",
            "install git, or put it into PATH",
        ),
        "no-answer": (
            "git did not answer",
            "it was ended after {seconds} seconds",
            "try `git status` there; a partial clone may wait for its server",
        ),
        "no-repository": (
            "there are no revisions here",
            "git says: {detail}",
            "run this in a clone of the repository that holds the spec",
        ),
        "outside": (
            "this file has no revisions",
            "it lies outside of the repository {root}",
            "run this in the repository that holds it",
        ),
        "no-room": (
            "the files of a revision cannot be copied to read them",
            "{detail}",
            "free some space there, or name another folder in TMPDIR",
        ),
        "unreadable": (
            "the file cannot be read out of the repository",
            "git says: {detail}",
            "`git fsck` tells whether the repository is whole",
        ),
        "unknown": ('there is no revision "{name}"', "no branch, tag or commit has this name", ""),
        "shallow": (
            'there is no revision "{name}"',
            "no branch, tag or commit has this name in this clone, which is shallow",
            "",
        ),
    },
    "zh": {
        "no-git": ("无法读取版本", "无法启动 git：{detail}", "安装 git，或把它加入 PATH"),
        "no-answer": (
            "git 没有回应",
            "{seconds} 秒后已终止",
            "在该处运行 `git status`；部分克隆可能在等待服务器",
        ),
        "no-repository": ("这里没有版本", "git 报告：{detail}", "请在存放规格的仓库克隆中运行"),
        "outside": ("此文件没有版本", "它位于仓库 {root} 之外", "请在存放它的仓库中运行"),
        "no-room": (
            "无法复制某个版本的文件以便读取",
            "{detail}",
            "在该处腾出空间，或用 TMPDIR 指定另一个文件夹",
        ),
        "unreadable": (
            "无法从仓库读出文件",
            "git 报告：{detail}",
            "`git fsck` 可检查仓库是否完整",
        ),
        "unknown": ("没有版本“{name}”", "没有分支、标签或提交叫此名", ""),
        "shallow": ("没有版本“{name}”", "此克隆为浅克隆，其中没有分支、标签或提交叫此名", ""),
    },
}
