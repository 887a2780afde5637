"""What is code in a comment: our own commands and keys, and nothing that somebody else has named."""

from __future__ import annotations

import pytest

from tallyard.cli.views.spec_diff_markdown import with_code


@pytest.mark.parametrize(
    "text",
    [
        "`pulumi up` refuses it",
        "end it (`kubectl delete job -n vision segment`) first",
        "write `id: nlp-7f` in it, by `pulumi config set --secret`",
        "an `unverified` pin; Leave it in `priorities`",
        "`tally jobs -p vision` shows them",
    ],
)
def test_commands_and_keys_of_ours_are_code(text: str) -> None:
    assert with_code(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see `x`", r"see \`x\`"),
        ("a`b: `pulumi up` refuses it", r"a\`b: `pulumi up` refuses it"),
        ("`pulumi up` refuses `*x*`", r"`pulumi up` refuses \`\*x\*\`"),
        # Neither a cell nor a span ends where a name wants it to.
        ("`tally jobs -p a|b`", r"\`tally jobs -p a\|b\`"),
        ("`tally jobs -p a``<b>`", r"\`tally jobs -p a\`\`&lt;b&gt;\`"),
        ("`kubectl delete job <img src=x>`", r"\`kubectl delete job &lt;img src=x&gt;\`"),
        ("`tally jobs -p @everyone`", r"\`tally jobs -p @<!-- -->everyone\`"),
        ("``pulumi up``", r"\`\`pulumi up\`\`"),
    ],
)
def test_a_name_with_backticks_does_not_break_out(text: str, shown: str) -> None:
    assert with_code(text) == shown
