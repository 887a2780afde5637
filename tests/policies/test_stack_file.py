"""What is read of a stack's own file."""

from __future__ import annotations

import pytest

from policies.stack_file import StackFile, StackFileError, stack_file


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("config:\n  tallyard:overlay: prod.yaml\n", StackFile("prod.yaml", is_lab=False)),
        (
            "config: {tallyard:lab: true, tallyard:overlay: local.yaml}",
            StackFile("local.yaml", is_lab=True),
        ),
        ('config: {"tallyard:lab": "true"}', StackFile("", is_lab=True)),
        ("config: {tallyard:lab: 1, tallyard:overlay: 5}", StackFile("", is_lab=False)),
        ("config: [a]", StackFile("", is_lab=False)),
        ("", StackFile("", is_lab=False)),
    ],
)
def test_a_stack_says_which_environment_it_is_and_whether_a_labs(
    text: str, found: StackFile
) -> None:
    assert stack_file(text) == found


def test_what_is_no_yaml_is_told_in_one_line() -> None:
    with pytest.raises(StackFileError) as told:
        stack_file("config: [")
    assert "\n" not in str(told.value)
