"""What programs read from us: every field of every document, word for word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tallyard.cli import documents
from tallyard.cli.output import Format, emit
from tallyard.cli.views.jobs import job_rows, one, pods_of
from tallyard.cli.views.queue import queue_view
from tallyard.cluster.jobs import Submitted
from tallyard.cluster.kueue import Queues
from tallyard.cluster.timeline import timeline
from tests.cli.conftest import NOW


def _text(
    content: Mapping[str, Any], capsys: pytest.CaptureFixture[str], form: Format = Format.JSON
) -> str:
    emit(form, content, lambda: None)
    return capsys.readouterr().out


def test_the_document_of_queues(
    queues: Queues, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert _text(documents.queue_list(queue_view(queues, NOW)), capsys) == snapshot


def test_the_document_of_jobs(
    submitted: Submitted, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert _text(documents.job_list(job_rows(submitted, NOW)), capsys) == snapshot


def test_the_document_of_one_job(
    submitted: Submitted,
    moment: Mapping[str, Any],
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    work = one(submitted, "train-fill")
    assert work is not None
    row = job_rows(submitted, NOW)[submitted.work.index(work)]
    lives = {w["metadata"]["name"]: timeline(w, pods_of(work, w)) for w in work.workloads}
    waited_for = dict.fromkeys(lives, "waits for 2 more")
    content = documents.job(row, lives, waited_for, moment["events"])
    assert _text(content, capsys, Format.YAML) == snapshot


def test_yaml_says_the_same_as_json(queues: Queues, capsys: pytest.CaptureFixture[str]) -> None:
    content = documents.queue_list(queue_view(queues, NOW, "zh"))
    as_json = json.loads(_text(content, capsys))
    assert yaml.safe_load(_text(content, capsys, Format.YAML)) == as_json
    assert list(as_json)[:2] == ["apiVersion", "kind"]


def test_the_language_changes_reasons_and_nothing_else(queues: Queues) -> None:
    english = documents.queue_list(queue_view(queues, NOW, "en"))
    chinese = documents.queue_list(queue_view(queues, NOW, "zh"))
    assert english["items"] == chinese["items"]
    for one_row, other in zip(english["waiting"], chinese["waiting"], strict=True):
        assert one_row["reason"] != other["reason"]
        assert {**one_row, "reason": ""} == {**other, "reason": ""}


def test_events_stand_in_the_order_of_the_time_that_is_shown(submitted: Submitted) -> None:
    """As texts, `08:00:00.5Z` would stand before `08:00:00Z`, and a series' last time is its own."""
    about = {"involvedObject": {"kind": "Job", "name": "train-fill"}}
    made = {"metadata": {"creationTimestamp": "2026-12-01T08:00:00Z"}}
    events: list[dict[str, Any]] = [
        {**about, **made, "reason": "third", "eventTime": "2026-12-01T08:00:00.500000Z"},
        {**about, **made, "reason": "second", "lastTimestamp": "2026-12-01T08:00:00Z"},
        {
            **about,
            **made,
            "reason": "last",
            "eventTime": "2026-12-01T07:00:00.000000Z",
            "series": {"count": 9, "lastObservedTime": "2026-12-01T08:00:09.000000Z"},
        },
        {**about, "metadata": {"creationTimestamp": "2026-12-01T07:59:59Z"}, "reason": "first"},
    ]
    told = documents.job(job_rows(submitted, NOW)[0], {}, {}, events)["events"]
    assert [event["reason"] for event in told] == ["first", "second", "third", "last"]
    assert [event["at"][11:] for event in told] == [
        *("07:59:59Z", "08:00:00Z", "08:00:00Z", "08:00:09Z"),
    ]
