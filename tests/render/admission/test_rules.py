"""The tables of rules: each says its part in two languages, and no two are alike."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.rule import Lock, Stamp, of_fresh_template
from tallyard.render.admission.stamps import STAMPS

RULES: tuple[Lock | Stamp, ...] = (*FIRST, *LOCKS, *STAMPS)
ALL_LOCKS = (*FIRST, *LOCKS)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def _words(rule: Lock | Stamp) -> tuple[str, str]:
    return rule.does if isinstance(rule, Stamp) else rule.because


def test_no_two_rules_have_one_name() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) > 30
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_a_slug_and_has_words_in_both_languages(rule: Lock | Stamp) -> None:
    english, chinese = _words(rule)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert _CHINESE.search(chinese)
    assert not _CHINESE.search(english)
    # They stand in tables and before a full stop.
    assert not re.search(r"[.。|\n]$|\|", f"{english}{chinese}")


@pytest.mark.parametrize("lock", ALL_LOCKS, ids=lambda lock: lock.name)
def test_each_sentence_says_what_to_do(lock: Lock) -> None:
    """What was found stands before a colon or a semicolon, what to do behind it."""
    literals = [text for text in re.findall(r"'((?:[^'\\]|\\.)*)'", lock.faults) if " " in text]
    assert literals
    assert any(re.search(r"[:;,] |must be", text) for text in literals)


def test_every_parenthesis_of_a_rule_is_closed_in_it() -> None:
    texts = chain((k.faults for k in ALL_LOCKS), (s.patches for s in STAMPS))
    for text in texts:
        code = re.sub(r"'(?:[^'\\]|\\.)*'", "''", text)
        for opened, closed in ("()", "[]", "{}"):
            assert code.count(opened) == code.count(closed), text


def test_a_lock_of_a_fresh_template_is_quiet_about_what_kueue_wrote() -> None:
    lock = of_fresh_template("x", "a + b")
    assert lock.faults == "(variables.isFresh ? (a + b) : [])"
