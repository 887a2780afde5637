"""Tiers, projects and their people: who may use how much."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tallyard.spec.fields import (
    WEIGHT_MAX,
    Cards,
    Charged,
    CoreHours,
    DnsLabel,
    LabelValue,
    Login,
    Moment,
    Reason,
    Share,
    WorkTime,
    key,
)
from tallyard.spec.keys import Keys


class TierKeys(Keys):
    """A class of quota that projects share."""

    weight: int = key(
        "The share of idle cards that a project of the tier gets, relative to the others.",
        effect="The fair sharing weight of its ClusterQueues.",
        ge=1,
        le=WEIGHT_MAX,
    )
    core_hours: CoreHours = key(
        "The core-hours that a project gets, per day, week or month: 600000/month.",
        effect="What its jobs can freeze and are charged to.",
        enforced=False,
        alias="core-hours",
    )
    max_time: WorkTime = key(
        "The longest time limit that a job may have, e.g. 72h.",
        effect="A job that asks for more is refused.",
        alias="max-time",
    )
    user_share: Share = key(
        "The part of the project's core-hours that one user may have frozen and charged.",
        effect="The limit of each user who has no `share`.",
        enforced=False,
        origin="a project shares among its people as it likes",
        alias="user-share",
        default="100%",
    )
    rollover: Charged = key(
        "The part of a period's core-hours that may still be used in the next period.",
        effect="What is left beyond it expires at the end of the period.",
        enforced=False,
        origin="cards that stood idle last month cannot be used this month",
        default="0%",
    )
    cards: dict[DnsLabel, dict[LabelValue, Cards]] = key(
        "Pool, model, number: the cards that each project of the tier owns. "
        "A pool that is not named is not granted.",
        effect="The nominal quota of the project's ClusterQueue in that pool.",
    )
    borrow: dict[DnsLabel, Cards] = key(
        "Pool, number: the cards of each model that a queue may use beyond its own.",
        effect="The borrowing limit of the ClusterQueue.",
        origin="a queue keeps to its own cards unless it is said",
        default={},
    )


class UserKeys(Keys):
    """A person; the key is a legal label value and stands in labels and books."""

    logins: Annotated[tuple[Login, ...], Field(min_length=1)] | None = key(
        "What the API server calls the person; the key itself where none is given.",
        effect="The subjects of the RoleBinding in the project's namespace.",
        default=None,
    )
    share: Share | None = key(
        "The part of the project's core-hours that this user may have frozen and charged; "
        "the tier's user-share if it is not said. All shares may add up to more than 100%.",
        effect="The limit on this user's account.",
        enforced=False,
        default=None,
    )
    admin: bool = key(
        "Whether the person looks after the project.",
        effect="Beside what a member may do: service accounts, and who else is a member.",
        origin="a member works and lets others work",
        default=False,
    )


class OverrideKeys(Keys):
    """Other limits for one project until a moment; then its tier's hold again."""

    cards: dict[DnsLabel, dict[LabelValue, Cards]] = key(
        "Pool, model, number: the cards that replace the tier's.",
        effect="The nominal quota until then.",
        origin="what is not named stays as the tier has it",
        default={},
    )
    borrow: dict[DnsLabel, Cards] = key(
        "Pool, number: the borrowing that replaces the tier's.",
        effect="The borrowing limit until then.",
        origin="what is not named stays as the tier has it",
        default={},
    )
    core_hours: CoreHours | None = key(
        "The core-hours that replace the tier's.", alias="core-hours", default=None
    )
    max_time: WorkTime | None = key(
        "The longest time limit that replaces the tier's.", alias="max-time", default=None
    )
    until: Moment = key(
        "The last day on which it holds, or the moment at which it ends: 2026-12-31, "
        "2026-12-31T18:00, 2026-12-31T18:00+08:00.",
        effect="At that moment the tier's limits are back, without anybody's `pulumi up`; what runs goes on.",
    )
    reason: Reason = key("Why, in a few words.", effect="Shown wherever the limits are shown.")


class ProjectKeys(Keys):
    """A team; the key is what people say."""

    id: DnsLabel | None = key(
        "The name in labels, namespace and books; it survives a rename of the key.",
        effect="The namespace, and the first part of each ClusterQueue's name.",
        default=None,
    )
    tier: DnsLabel = key("The class of quota that the project has.")
    default_user: LabelValue | None = key(
        "Who pays for what a service account or an unknown login submits; without one it is refused.",
        effect="The user's label of such work.",
        alias="default-user",
        default=None,
    )
    users: dict[LabelValue, UserKeys] = key(
        "The people of the project.", min_length=1, effect="Who may submit into its queues."
    )
    overrides: tuple[OverrideKeys, ...] = key(
        "Other limits for a time.",
        effect="They replace the tier's until they end.",
        default=(),
    )
