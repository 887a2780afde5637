"""The pins are read, and what is wrong with them is told with its place and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec.versions import VersionsError, read_text, read_versions

SHIPPED = Path(__file__).resolve().parents[2] / "stacks" / "versions.yaml"
PINS = """\
kubernetes: {version: 1.36.3, floor: "1.36", reason: because}
charts:
  kueue:
    source: oci://example.test/charts/kueue
    version: 0.17.0
    digest: unverified
    floor: 0.17.0
    reason: because
images: {}
"""


def _faults(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "versions.yaml"
    file.write_text(text)
    with pytest.raises(VersionsError) as refused:
        read_versions(file)
    return [line.removeprefix(f"{tmp_path}/") for line in str(refused.value).splitlines()]


def test_the_shipped_pins_can_be_read() -> None:
    assert read_versions(SHIPPED).charts["kueue"].source.startswith("oci://")


def test_the_pins_of_these_tests_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text(PINS)
    assert read_versions(file).unverified() == ("charts.kueue.digest",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "digest: unverified",
            "digest: sha256:abc",
            (
                "versions.yaml:6: charts.kueue.digest: 'sha256:abc' is no digest; that is sha256: "
                "and 64 digits of 0-9 and a-f. Write `unverified`, then run `make pins`."
            ),
        ),
        (
            "    digest: unverified\n",
            "",
            (
                "versions.yaml:3: charts.kueue.digest: it is missing. Write it: `unverified` until "
                "`make pins` has looked it up."
            ),
        ),
        (
            "floor: 0.17.0",
            "floor: 0.17",
            (
                "versions.yaml:7: charts.kueue.floor: 0.17 is not text. Put it in quotes, or write "
                "the lowest version that will do."
            ),
        ),
        (
            "oci://example.test/",
            "https://example.test/",
            (
                "versions.yaml:4: charts.kueue.source: 'https://example.test/charts/kueue' is not "
                "where a chart is pulled from. Write oci://HOST/PATH."
            ),
        ),
        (
            "images: {}",
            "images: {}\nimage: {}",
            "versions.yaml:10: image: there is no such key. Correct its name, or delete it.",
        ),
        (
            "images: {}",
            "images: [a]",
            (
                "versions.yaml:9: images: a list stands where keys with values belong. Write them as "
                "the others are."
            ),
        ),
    ],
)
def test_a_fault_is_one_line_with_place_path_what_and_a_way_out(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in PINS
    assert _faults(tmp_path, PINS.replace(old, new)) == [told]


def test_all_faults_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = PINS.replace("digest: unverified", "digest: latest").replace("images: {}\n", "")
    places = [line.split(": ")[0:2] for line in _faults(tmp_path, f"{text}x: 1\n")]
    assert places == [
        ["versions.yaml:1", "images"],
        ["versions.yaml:6", "charts.kueue.digest"],
        ["versions.yaml:9", "x"],
    ]


def test_what_is_not_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    (fault,) = _faults(tmp_path, "kubernetes: {}\ncharts: [\n")
    assert fault.startswith("versions.yaml:3: it is not YAML: ")


@pytest.mark.parametrize("old", ["1.36.3", "  kueue:", "because\nimages: {}"])
@pytest.mark.parametrize(
    "new", ["2026-13-99", "  5:", "? [a, b]", "null", "\x00", "&a [*a]", "!x y"]
)
def test_whatever_stands_there_is_told_and_is_no_fault_of_ours(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in PINS
    file = tmp_path / "versions.yaml"
    file.write_text(PINS.replace(old, new))
    with pytest.raises(VersionsError, match=r"versions\.yaml"):
        read_versions(file)


def test_an_empty_file_is_one_fault(tmp_path: Path) -> None:
    (fault,) = _faults(tmp_path, "")
    assert fault.startswith("versions.yaml:1: (the whole file): nothing stands where keys")


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(VersionsError, match=r"there is no such file.*name the file"):
        read_text(tmp_path / "none.yaml")
    with pytest.raises(VersionsError, match="Is a directory"):
        read_text(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"a: \xfc")
    with pytest.raises(VersionsError, match="byte 3 is not UTF-8"):
        read_text(tmp_path / "latin.yaml")
