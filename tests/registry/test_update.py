from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tallyard.registry import update
from tallyard.registry.manifest import Artifact
from tallyard.registry.update import Change, Pin
from tallyard.spec.versions import VersionsError, read_versions

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64
SHIPPED = Path(__file__).parents[2] / "stacks" / "versions.yaml"
TEXT = """\
# Above everything.
---
kubernetes: {version: 1.36.3, floor: "1.36", reason: r}

charts:
    app:   # indented by four
        digest:   "unverified"   # behind the value
        source: oci://registry.example.com/charts/app
        version: 1.0.0
images:
  app: {source: registry.example.com/app, version: v1, digest: unverified, floor: v1}
  # The last line has no end.
  other: {source: registry.example.com/other, version: v1, digest: unverified, floor: v1}"""


def _pin(digest: str) -> Pin:
    return Pin("images.app", Artifact.IMAGE, "registry.example.com/app", "v1", digest)


def test_a_digest_fills_an_unverified_pin() -> None:
    assert _pin("unverified").change(ONE) is Change.FILLED


def test_a_verified_pin_that_is_found_again_is_the_same() -> None:
    assert _pin(ONE).change(ONE) is Change.SAME


def test_a_verified_pin_with_another_digest_has_moved() -> None:
    assert _pin(ONE).change(TWO) is Change.MOVED


def test_every_chart_and_image_that_ships_is_a_pin_that_can_be_looked_up() -> None:
    pins = update.pins(read_versions(SHIPPED))
    data = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    expected = [f"{section}.{name}" for section in ("charts", "images") for name in data[section]]
    assert expected
    assert [pin.path for pin in pins] == expected
    assert all(pin.reference().tag for pin in pins)


def test_a_new_digest_changes_its_own_characters_and_no_other() -> None:
    new = update.rewrite(TEXT, {"images.app": ONE, "charts.app": TWO})
    assert new == TEXT.replace('"unverified"', TWO).replace(
        "version: v1, digest: unverified", f"version: v1, digest: {ONE}", 1
    )


def test_the_shipped_file_keeps_every_line_but_those_of_the_digests() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    pins = update.pins(read_versions(SHIPPED))
    new = update.rewrite(text, {pin.path: ONE for pin in pins})
    pairs = zip(text.splitlines(), new.splitlines(), strict=True)
    changed = [(old, fresh) for old, fresh in pairs if old != fresh]
    assert len(changed) == len(pins)
    assert {fresh for _, fresh in changed} == {f"    digest: {ONE}"}


def test_line_ends_and_a_byte_order_mark_stay_as_they_are() -> None:
    text = "\ufeff" + TEXT.replace("\n", "\r\n")
    new = update.rewrite(text, {"images.other": ONE})
    assert new == text.replace("unverified, floor: v1}", f"{ONE}, floor: v1}}").replace(
        ONE, "unverified", 1
    )


def test_nothing_to_write_is_the_text_itself() -> None:
    assert update.rewrite(TEXT, {}) == TEXT


def test_an_older_digest_is_replaced() -> None:
    filled = update.rewrite(TEXT, {"images.app": ONE})
    assert update.rewrite(filled, {"images.app": TWO}) == filled.replace(ONE, TWO)


@pytest.mark.parametrize("path", ["images.app", "images.other"])
@pytest.mark.parametrize(
    "images",
    [
        "  app: &same {digest: unverified}\n  other: *same\n",
        "  app: {digest: &same unverified}\n  other: {digest: *same}\n",
        "  app: &same {digest: unverified}\n  other: {<<: *same, version: v1}\n",
    ],
)
def test_pins_that_share_a_digest_through_an_anchor_are_refused(images: str, path: str) -> None:
    text = f"images:\n{images}"
    assert yaml.safe_load(text)["images"]["other"]["digest"] == "unverified"
    with pytest.raises(VersionsError, match="write"):
        update.rewrite(text, {path: ONE})


def test_a_line_is_counted_from_one() -> None:
    assert update.line(TEXT, "charts.app", "digest") == 7
    assert update.line(TEXT, "images.other", "version") == 13
    assert update.line(TEXT, "images.app", "reason") is None
