"""Queues that go while work runs in them: what has to be done before `pulumi up` waits in vain."""

from __future__ import annotations

from tests.cli.reviewed import Reviewing, Work, answers
from tests.cli.test_review import REMOVED, document

WAITS = "`pulumi up` waits at most 10 minutes for queue vision-training to be empty"
# The tier of nlp loses its pool inference, in which one job runs.
NO_INFERENCE = (", inference: {RTX: 4}", "")


def test_work_that_runs_in_a_queue_that_goes_is_named_with_what_ends_it(
    reviewing: Reviewing,
) -> None:
    reviewing.repo.change(REMOVED)
    said = (
        f"{WAITS} and then fails: end segment (`kubectl delete job -n vision segment`) first, or "
        "wait for it"
    )
    text = reviewing.review()
    below = text.partition("\nBefore you apply this\n")[2]
    assert said in below
    # What only waits holds nothing, and its queue is deleted at once.
    assert "for queue vision-elastic" not in text
    assert f"### Before you apply this\n\n- {said}\n" in reviewing.review("-o", "markdown")
    chinese = reviewing.review(lang="zh")
    assert "直到队列 vision-training 清空" in chinese
    assert "请先结束 segment" in chinese
    (waits,) = document(reviewing)["waitsFor"]
    assert (waits["queue"], [each["name"] for each in waits["jobs"]]) == (
        "vision-training",
        ["segment"],
    )


def test_a_tier_that_loses_a_pool_is_no_other_case(reviewing: Reviewing) -> None:
    reviewing.repo.change(NO_INFERENCE)
    text = reviewing.review()
    assert "queue nlp-inference to be empty" in text
    assert "end chat (`kubectl delete job -n nlp chat`) first" in text


def test_of_many_jobs_five_are_named(reviewing: Reviewing) -> None:
    work = tuple(
        Work(f"train-{n}", "vision", "zhao.min", "training", 1, "A100", ("a100-00",))
        for n in range(7)
    )
    reviewing.server.answers |= answers(work)
    reviewing.repo.change(REMOVED)
    text = reviewing.review()
    assert text.count("kubectl delete job") == 5
    assert (
        "train-4 (`kubectl delete job -n vision train-4`) and 2 more (`tally jobs -p vision`) "
        "first, or wait for them"
    ) in text


def test_without_a_cluster_one_sentence_says_what_is_so_if_anything_runs(
    reviewing: Reviewing,
) -> None:
    reviewing.repo.change(REMOVED)
    said = "if anything runs in queues vision-training, vision-elastic, `pulumi up` waits at most"
    assert said in reviewing.review("--no-cluster")
    assert "队列 vision-training、vision-elastic 中仍有作业在运行" in reviewing.review(
        "--no-cluster", lang="zh"
    )
    assert document(reviewing, "--no-cluster")["waitsFor"] == []


def test_an_empty_queue_and_one_that_stays_are_not_waited_for(reviewing: Reviewing) -> None:
    reviewing.repo.change(("training: {A100: 8}", "training: {A100: 4}"))
    for given in ((), ("--no-cluster",)):
        assert "waits at most" not in reviewing.review(*given)
    reviewing.server.answers |= answers((Work("over", "vision", "x", "training", is_over=True),))
    reviewing.repo.change(REMOVED)
    assert "waits at most" not in reviewing.review()
