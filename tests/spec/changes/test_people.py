"""People who come, go, move, and what they may use."""

from __future__ import annotations

from tallyard.spec.changes.change import (
    Cause,
    Through,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.whole import changes
from tallyard.spec.model import User
from tests.spec.changes.conftest import KEY, NOW, Load, facts_of, project_of


def test_people_come_and_go_and_have_shares_of_their_own(loaded: Load) -> None:
    users = "{li.wei: {logins: [li], share: 30%}, wang.fang: {}}, default-user: li.wei"
    after = loaded(('{li.wei: {logins: ["oidc:li.wei"]}, chen.yu: {}}', users))
    (project,) = changes(loaded(), after, NOW).projects
    assert facts_of(project.changes) == {
        "share li.wei": (100, 30, -70),
        "user li.wei": (("oidc:li.wei",), ("li",), None),
        "user wang.fang": (None, ("wang.fang",), None),
        "user chen.yu": (("chen.yu",), None, None),
        "default-user": (None, "li.wei", None),
    }


def test_who_goes_from_one_project_to_another_is_told_of_both(loaded: Load) -> None:
    after = loaded((", chen.yu: {}", ""), ("{zhao.min: {}}", "{zhao.min: {}, chen.yu: {}}"))
    found = changes(loaded(), after, NOW)
    told = {each.key: [change.cause for change in each.changes] for each in found.projects}
    assert told == {
        "nlp": [Cause(Through.TO_PROJECT, "vision")],
        "vision": [Cause(Through.FROM_PROJECT, "nlp")],
    }


def test_who_comes_into_two_projects_moves_into_neither(loaded: Load) -> None:
    robots = f"{KEY}\n  robots: {{tier: bronze, users: {{chen.yu: {{}}}}}}"
    users = ("{zhao.min: {}}", "{zhao.min: {}, chen.yu: {}}")
    after = loaded((", chen.yu: {}", ""), (KEY, robots.replace(*users)))
    causes = {
        change.cause
        for each in changes(loaded(), after, NOW).projects
        for change in each.changes
        if change.fact is Fact.USER
    }
    assert causes == {None}


def test_people_without_a_share_of_their_own_follow_their_project(loaded: Load) -> None:
    found = changes(loaded(), loaded(("max-time: 8h", "max-time: 8h, user-share: 60%")), NOW)
    assert facts_of(project_of(found, "vision").changes) == {"user-share": (100, 60, -40)}
    assert all(isinstance(each, User) for each in loaded().projects["vision"].users)
