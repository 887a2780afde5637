"""The sentence for a freeze that does not fit, letter for letter."""

from __future__ import annotations

import pytest

from tallyard.languages import Language
from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.refusals import NotEnough, OverCap
from tallyard.ledger.sentences import Quote, Relief, sentence
from tests.ledger.ledgers import H

QUOTE = Quote("1 x RTX-4090", 12_000, 7200, 12_000, 300)
SHORT = Quote("1 x RTX-4090", 16_000, 300)
RELIEF = Relief("train-7", 96 * H, 2400)
NLP = Account("nlp")


def test_the_golden_sentence() -> None:
    assert sentence(NotEnough(NLP, 25 * H, 185 * H // 10), QUOTE, "en", relief=RELIEF) == (
        "insufficient core-hours to freeze: need 25.00 (24.00 for 1 x RTX-4090 x 2h00m @ 12.00/h, "
        "1.00 for up to 5m of wait), available 18.50 in project nlp; --time 1h27m fits, or wait "
        "for job train-7 (frees 96.00 in about 40 min)"
    )


def test_its_chinese_twin_begins_with_the_users_own_clause() -> None:
    said = sentence(NotEnough(NLP, SHORT.job, H), SHORT, "zh")
    assert said.startswith("GPU配额已不够预冻结，冻结时间5.00 min，折合1.33核时")  # noqa: RUF001
    assert "项目 nlp 可用 1.00 核时" in said
    assert "可改用 --time 3m" in said


@pytest.mark.parametrize(
    ("account", "place"),
    [
        (CLUSTER, "in the cluster"),
        (NLP, "in project language"),
        (Account("nlp", "li.wei"), "in the share of li.wei in project language"),
    ],
)
def test_the_level_that_is_short_is_named_as_people_call_it(account: Account, place: str) -> None:
    said = sentence(NotEnough(account, 25 * H, H), QUOTE, "en", names={"nlp": "language"})
    assert f"available 1.00 {place}; " in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_there_is_always_a_way_out(lang: Language) -> None:
    said = sentence(NotEnough(NLP, 25 * H, 0), QUOTE, lang)
    assert {"en": "ask for fewer cards", "zh": "请减少卡数"}[lang] in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_waiting_helps_only_what_can_ever_fit(lang: Language) -> None:
    for cap, helps in ((30, True), (20, False)):
        refusal = OverCap("nlp", "training", 25 * H, cap * H, 10 * H)
        said = sentence(refusal, QUOTE, lang, relief=RELIEF)
        assert ("train-7" in said) is helps
        assert all(number in said for number in (f"{cap}.00", "10.00", "25.00"))


@pytest.mark.parametrize(
    ("available", "fits"),
    [(25 * H, 7200), (13 * H, 3600), (13 * H - 1, 3540), (H, 0), (H + 12_000 * 59, 0), (0, 0)],
)
def test_the_time_that_fits_is_in_whole_minutes_and_does_fit(available: int, fits: int) -> None:
    assert QUOTE.seconds_that_fit(available) == fits
