"""A journal with one of many things in it."""

from __future__ import annotations

from tallyard.ledger.commands import Adjust, GrantCluster, Merge, Refund, SetPrice, Settle
from tests.ledger.ledgers import DECEMBER, NOVEMBER, H, freeze_of, grant_of

COMMANDS = (
    GrantCluster(key="c", grant="2026-11", amount=999 * H, starts=NOVEMBER, expires=DECEMBER),
    grant_of("g", "nlp", 100 * H, {"li.wei": 100, "chen.yu": 50}),
    SetPrice(key="p", model="A100", rate_milli=30_000, since=NOVEMBER),
    freeze_of("f", "train-7", 24 * H, wait=H),
    Settle(key="s", freeze="train-7", amount=20 * H),
    Refund(key="r", freeze="train-7", amount=5 * H, reason="node failure", by="zhao.min"),
    Adjust(key="a", project="nlp", grant="2026-11", amount=-3 * H, reason="lent"),
    grant_of("v", "vision", 10 * H, {"zhao.min": 100}),
    Merge(key="m", source="vision", target="nlp"),
)
