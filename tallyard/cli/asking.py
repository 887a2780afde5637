"""A person types a word before something happens that cannot simply be undone."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import sys

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts


def ask(word: str) -> None:
    """Let the person type a word.

    Raises:
        Complaint: There is nobody to ask, or another word was typed.
    """
    zh = session.lang() == "zh"
    if not sys.stdin.isatty():
        what = "没有可以询问的人" if zh else "there is nobody to ask"
        why = "标准输入不是终端" if zh else "standard input is no terminal"
        todo = "确认无误后加上 --yes" if zh else "add --yes when it is what you want"
        raise Complaint(ExitCode.USAGE, Parts("", what, why, todo))
    prompt = f"输入 {word} 以继续：" if zh else f"Type {word} to go on: "
    session.err().print(prompt, end="")
    if sys.stdin.readline().strip() != word:
        what = "未做任何更改" if zh else "nothing was changed"
        raise Complaint(ExitCode.CANCELLED, Parts("", what, "", ""))
