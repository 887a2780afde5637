"""How long admitted work may take to start, and how long what has ended is kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tallyard.spec.fields import REQUEUES_MAX, KeepTime, ShortTime, StartTime, key
from tallyard.spec.keys import Keys


class GangKeys(Keys):
    """Admitted work starts whole, or gives its cards back."""

    start_within: StartTime = key(
        "How long all pods of admitted work may take to be ready, and to be ready again when "
        "one of them has failed.",
        effect="Then they are stopped, the cards go back and the work waits for another turn "
        "(Kueue's waitForPodsReady).",
        per_environment=True,
        origin="rule of thumb: a large image on a new host takes 40 minutes",
        alias="start-within",
        default="1h",
    )
    requeues: Annotated[int, Field(ge=0, le=REQUEUES_MAX)] = key(
        "How often work that did not start in time gets another turn.",
        effect="After that it is stopped for good, until `retention.stopped` removes it.",
        per_environment=True,
        origin="rule of thumb: a fault that outlasts four hosts is in the work itself",
        default=3,
    )
    requeue_after: ShortTime = key(
        "How long such work waits before its next turn; twice as long each time, up to 1h.",
        effect="Meanwhile others can have the cards.",
        per_environment=True,
        origin="Kueue's own default",
        alias="requeue-after",
        default="1m",
    )


class RetentionKeys(Keys):
    """How long what has ended is kept, for people to look at."""

    finished: KeepTime = key(
        "How long a job is kept after it has succeeded or failed.",
        effect="Then the job, its pods and Kueue's record are removed; a job may name its own "
        "ttlSecondsAfterFinished.",
        per_environment=True,
        origin="rule of thumb: who asks about a job asks within the week",
        default="7d",
    )
    stopped: KeepTime = key(
        "How long a job is kept that was stopped for good: at its time limit, or because it "
        "never started in time.",
        effect="Kueue then removes the job itself with its pods; it would stay suspended for ever.",
        per_environment=True,
        origin="rule of thumb: who asks about a job asks within the week",
        default="7d",
    )
