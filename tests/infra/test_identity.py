from __future__ import annotations

import pytest

from infra.identity import WrongClusterError, check, uid_in


def test_the_uid_is_found_on_the_component_that_keeps_it() -> None:
    resources = {
        "urn:pulumi:local::tallyard::pulumi:pulumi:Stack::tallyard-local": {
            "type": "pulumi:pulumi:Stack",
            "outputs": {"uid": "another"},
        },
        "urn:pulumi:local::tallyard::tallyard:infra:Cluster::cluster": {
            "type": "tallyard:infra:Cluster",
            "outputs": {"uid": "1111"},
        },
    }
    assert uid_in(resources) == "1111"


def test_a_stack_that_has_never_been_up_has_no_uid() -> None:
    assert uid_in({}) is None


@pytest.mark.parametrize("recorded", [None, "1111"])
def test_the_stacks_own_cluster_and_a_first_one_are_let_through(recorded: str | None) -> None:
    check(recorded, "1111", "context prod")


def test_another_cluster_is_refused_by_name_with_what_to_do() -> None:
    with pytest.raises(WrongClusterError) as refused:
        check("1111", "2222", "context staging, https://127.0.0.1:6443")
    text = str(refused.value)
    assert text.startswith("context staging, https://127.0.0.1:6443 is not this stack's cluster")
    assert "1111" in text
    assert "2222" in text
    assert "Nothing was changed. Choose the right kubeconfig" in text
