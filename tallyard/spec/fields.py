"""The kinds of value that the spec's keys take, and how a key is described.

A kind says how its text looks; what it means as a number is `units.py`'s. Each refusal has a
type of its own, which `value_faults.py` turns into a code.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from tallyard import units
from tallyard.catalog.rules import RULES, WAIVABLE
from tallyard.spec import moments
from tallyard.spec.hosts import RANGE_PATTERN

EFFECT = "x-tallyard-effect"
ORIGIN = "x-tallyard-origin"
PER_ENVIRONMENT = "x-tallyard-per-environment"
LEAST = "x-tallyard-least"
MOST = "x-tallyard-most"

NOT_ENFORCED = "(Checked and compared; nothing enforces it yet.)"

# Limits of Kubernetes: RFC 1123 labels and label values have at most 63 characters.
NAME_LENGTH_MAX = 63
DNS_LABEL_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_VALUE_PATTERN = r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_DOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
RESOURCE_PATTERN = rf"^{_DOMAIN}/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
RESOURCE_PREFIX_PATTERN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[-A-Za-z0-9_.]*)?$"
REGISTRY_PATTERN = rf"^{_DOMAIN}(:[1-9][0-9]{{0,4}})?(/[a-z0-9]([-a-z0-9._]*[a-z0-9])?)*$"
# What people say; one line of letters (of any script), digits and signs, no blank around it.
# No control characters, and none that cannot be seen: two names that look alike must be alike.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff"
SPOKEN_PATTERN = rf"^[^\s{_UNSEEN}]([^{_UNSEEN}]*[^\s{_UNSEEN}])?$"
LOGIN_PATTERN = rf"^[^\s{_UNSEEN}]+$"
PERCENT_PATTERN = r"^[0-9]{1,4}%$"
CORE_HOURS_PATTERN = r"^[0-9]{1,12}/(day|week|month)$"
MOMENT_PATTERN = (
    r"^2[0-9]{3}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?)?$"
)
# Each letter of a name can be a wildcard, the kind is said; the names of roles may have colons.
_KIND = r"[A-Z][A-Za-z0-9]*"
_NAME = r"([A-Za-z0-9._:*?-]|\[!?[A-Za-z0-9._:-]+\])+"
OBJECT_PATTERN = rf"^{_KIND}(/{_NAME}){{1,2}}$"
ZONE_PATTERN = r"^[A-Za-z][A-Za-z0-9_+/-]*$"

# Figures above these are slips of the finger; no host or cluster has them.
CARDS_PER_HOST_MAX = 64
CARDS_MAX = 1_000_000
CPU_MAX = 4_096
WEIGHT_MAX = 1_000
CORE_HOURS_MAX = 10**9
RATE_MAX = 100_000
# A rate is rounded to a thousandth of a core-hour, the unit of the ledger's amounts.
RATE_MIN = 0.001
_DECIMALS_MAX = 3
OVERCOMMIT_MAX = 10
# Each turn holds the cards for as long as work may take to start.
REQUEUES_MAX = 100
# More slices than this leave a card of 24Gi less than 1.5Gi for each.
SLICES_MAX = 16
# User classes may not go higher: Kubernetes keeps what is above for the system's own.
PRIORITY_MAX = 1_000_000_000
PRIORITY_MIN = -(2**31)
# A kind and a namespace have at most 63 letters, a name 253; wildcards only make them shorter.
_OBJECT_LENGTH_MAX = 400
# In the order of the table.
_RULE_NAMES = [name for name in RULES if name in WAIVABLE]
# Below this a quantity is almost surely a number without its unit.
QUANTITY_BYTES_MIN = 2**20


def key(
    description: str,
    *,
    effect: str = "",
    enforced: bool = True,
    origin: str = "",
    per_environment: bool = False,
    filled: str = "",
    **rest: Any,
) -> Any:
    """Describe a key.

    Args:
        description: What the key is, for people.
        effect: What it changes in the cluster or in the books.
        enforced: Whether something holds people to it by now; else the effect says that not.
        origin: Where its default comes from: a rule of thumb, a vendor, a measurement.
        per_environment: Whether an environment's file may say it.
        filled: minItems or minProperties of a section that may not be empty: `faults.py`
            checks it, so that an empty section does not hide what else is wrong.
        rest: What pydantic's `Field` takes.
    """
    told = effect if enforced else f"{effect} {NOT_ENFORCED}"
    extra: dict[str, Any] = {EFFECT: told} if effect else {}
    if origin:
        extra[ORIGIN] = origin
    if per_environment:
        extra[PER_ENVIRONMENT] = True
    if filled:
        extra[filled] = 1
    return Field(description=description, json_schema_extra=extra or None, **rest)


def _whole_bytes(text: str) -> str:
    try:
        amount = units.parse_bytes(text)
    except units.QuantityError as error:
        raise PydanticCustomError("quantity_inexact", "not a whole number of bytes") from error
    if amount < QUANTITY_BYTES_MIN:
        raise PydanticCustomError("quantity_small", "less than 1Mi")
    return text


def _within(parse: Callable[[str], int], least: str, most: str) -> AfterValidator:
    """Return a check that a text's figure lies in a range, whose ends are texts as well."""
    bounds = (parse(least), parse(most))

    def check(text: str) -> str:
        if not bounds[0] <= parse(text) <= bounds[1]:
            raise PydanticCustomError(
                "out_of_range", "not {least} to {most}", {"least": least, "most": most}
            )
        return text

    return AfterValidator(check)


def _fine_number(value: float) -> float:
    exponent = Decimal(repr(value)).as_tuple().exponent
    if isinstance(exponent, int) and -exponent > _DECIMALS_MAX and value % 1:
        raise PydanticCustomError("too_fine", "more than three decimals")
    return value


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise PydanticCustomError("no_such_moment", "not in the calendar") from error
    return text


def _rule(text: str) -> str:
    if text in RULES and text not in WAIVABLE:
        raise PydanticCustomError("rule_not_waivable", "a rule that no waiver reaches")
    if text not in RULES:
        raise PydanticCustomError("rule_unknown", "no such rule")
    return text


def _zone(text: str) -> str:
    if text not in moments.zones():
        raise PydanticCustomError("zone_unknown", "no such time zone")
    return text


type DnsLabel = Annotated[str, Field(pattern=DNS_LABEL_PATTERN, max_length=NAME_LENGTH_MAX)]
type LabelValue = Annotated[str, Field(pattern=LABEL_VALUE_PATTERN, max_length=NAME_LENGTH_MAX)]
type Spoken = Annotated[str, Field(pattern=SPOKEN_PATTERN, max_length=NAME_LENGTH_MAX)]
type Reason = Annotated[str, Field(pattern=SPOKEN_PATTERN, max_length=200)]
type Login = Annotated[str, Field(pattern=LOGIN_PATTERN, max_length=256)]
type Resource = Annotated[str, Field(pattern=RESOURCE_PATTERN, max_length=253)]
type ResourcePrefix = Annotated[str, Field(pattern=RESOURCE_PREFIX_PATTERN, max_length=253)]
type Registry = Annotated[str, Field(pattern=REGISTRY_PATTERN, max_length=253)]
type HostRange = Annotated[str, Field(pattern=RANGE_PATTERN, min_length=1)]
type Quantity = Annotated[str, Field(pattern=units.QUANTITY_PATTERN), AfterValidator(_whole_bytes)]
type Cards = Annotated[int, Field(ge=0, le=CARDS_MAX)]
type Cpu = Annotated[int, Field(ge=1, le=CPU_MAX)]
type Rate = Annotated[float, Field(ge=RATE_MIN, le=RATE_MAX), AfterValidator(_fine_number)]
type Factor = Annotated[float, Field(ge=1, le=OVERCOMMIT_MAX), AfterValidator(_fine_number)]
type Moment = Annotated[str, Field(pattern=MOMENT_PATTERN), AfterValidator(_moment)]
type RuleName = Annotated[
    str, Field(json_schema_extra={"enum": list(_RULE_NAMES)}), AfterValidator(_rule)
]
type ObjectPattern = Annotated[str, Field(pattern=OBJECT_PATTERN, max_length=_OBJECT_LENGTH_MAX)]
type Zone = Annotated[str, Field(pattern=ZONE_PATTERN, max_length=64), AfterValidator(_zone)]


def _texts(pattern: str, least: str, most: str) -> Any:
    """Return what a text's schema says: its form, and the ends of its range in words."""
    return Field(pattern=pattern, min_length=1, json_schema_extra={LEAST: least, MOST: most})


type CoreHours = Annotated[
    str,
    _texts(CORE_HOURS_PATTERN, "1/month", f"{CORE_HOURS_MAX}/month"),
    _within(units.core_hours_amount, "1/month", f"{CORE_HOURS_MAX}/month"),
]
type Share = Annotated[
    str, _texts(PERCENT_PATTERN, "1%", "100%"), _within(units.parse_percent, "1%", "100%")
]
type Charged = Annotated[
    str, _texts(PERCENT_PATTERN, "0%", "100%"), _within(units.parse_percent, "0%", "100%")
]
type Burst = Annotated[
    str, _texts(PERCENT_PATTERN, "1%", "1000%"), _within(units.parse_percent, "1%", "1000%")
]
# The longest work of a platform that still gives cards back; the shortest that is worth a freeze.
type WorkTime = Annotated[
    str, _texts(units.DURATION_PATTERN, "1m", "90d"), _within(units.parse_duration, "1m", "90d")
]
type ShortTime = Annotated[
    str, _texts(units.DURATION_PATTERN, "0s", "1d"), _within(units.parse_duration, "0s", "1d")
]
# Kueue refuses no time at all, and a gang that takes longer has idled its cards for a day.
type StartTime = Annotated[
    str, _texts(units.DURATION_PATTERN, "1s", "1d"), _within(units.parse_duration, "1s", "1d")
]
# What is older is in the books and in nobody's mind.
type KeepTime = Annotated[
    str, _texts(units.DURATION_PATTERN, "1s", "365d"), _within(units.parse_duration, "1s", "365d")
]
