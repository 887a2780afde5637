"""What is made of Pulumi's lines: counts, and the object that it waits for."""

from __future__ import annotations

import pytest

from lab.pulumi_log import QUIET_SECONDS, PulumiLog, causes

QUEUE = " -  kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue clusterqueue/vision-training "
LOCAL = " -  kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue localqueue/vision/training "
LATER = QUIET_SECONDS + 1


@pytest.fixture
def log() -> PulumiLog:
    return PulumiLog(0.0)


def test_what_pulumi_has_worked_on_for_a_while_is_named(log: PulumiLog) -> None:
    log.hear(f"{QUEUE}deleting (0s) \n{QUEUE}deleting (1s) Resource scheduled for deletion\n", 0)
    assert not log.waits_for(QUIET_SECONDS - 1)
    assert log.waits_for(LATER) == "waits for ClusterQueue vision-training to be deleted"
    log.hear(f"{QUEUE}deleted (12s) \n", LATER)
    assert not log.waits_for(3 * LATER)
    assert log.done == 1


def test_the_first_is_named_and_the_others_are_counted(log: PulumiLog) -> None:
    made = " +  kubernetes:apps/v1:Deployment deployment/kueue-system/manager creating (0s)\n"
    log.hear(f"{LOCAL}deleting (0s) \n{made}", 0)
    assert log.waits_for(LATER) == "waits for LocalQueue vision/training (and 1 more) to be deleted"


def test_each_object_that_is_done_or_begun_is_progress(log: PulumiLog) -> None:
    log.hear(f"{QUEUE}deleting (0s) \n", 0)
    log.hear(f"{LOCAL}deleting (0s) \n", 8)
    assert not log.waits_for(LATER)
    log.hear(f"{LOCAL}deleted (1s) \n", LATER)
    assert not log.waits_for(LATER + 5)
    assert log.waits_for(2 * LATER) == "waits for ClusterQueue vision-training to be deleted"


def test_a_line_that_comes_in_pieces_is_heard_once(log: PulumiLog) -> None:
    for piece in (" +  kubernetes:core/v1:Namespace name", "space/nlp crea", "ted (0.08s)\n", "\n"):
        log.hear(piece, 0)
    assert log.done == 1


def test_the_stack_itself_is_not_waited_for_and_what_failed_is_over(log: PulumiLog) -> None:
    log.hear(" +  pulumi:pulumi:Stack tallyard-local creating (0s)\n", 0)
    assert not log.waits_for(LATER)
    log.hear(f"{QUEUE}deleting (0s)\n{QUEUE}**deleting failed** error: timed out\n", 0)
    assert not log.waits_for(LATER)
    assert log.done == 0


def test_other_lines_tell_nothing(log: PulumiLog) -> None:
    log.hear("@ updating....\n\n    kubernetes:core/v1:Namespace deleted\nDiagnostics:\n", 0)
    assert (log.done, log.waits_for(LATER)) == (0, "")


def test_the_causes_of_a_run_are_told_once_each() -> None:
    assert causes(["error: a", "  b", "", "error: a", "  b"]) == "error: a b"
