"""Loading: everything that is wrong comes out of one run, and nothing makes it raise."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tallyard.languages import Language
from tallyard.spec.load import Loaded, load
from tallyard.spec.messages import report, sentence
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts


def test_the_faults_of_both_files_come_out_in_file_order(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "[block, rack, host]", "[rack, block, host]")
    platform = changed(platform, "weight: 1", "weight: 0")
    platform = changed(platform, "tier: bronze", "tier: bronce")
    local = changed(LOCAL, "pool: domestic", "pool: foreign")
    local = changed(local, "memory: 1Ti", "memory: 1T8")
    loaded = load_texts(tmp_path, platform, local)
    assert loaded.platform is None
    assert [(p.location.file.name, p.location.line, p.code) for p in loaded.problems] == [
        ("platform.yaml", 7, "SPEC313"),
        ("platform.yaml", 18, "SPEC111"),
        ("platform.yaml", 21, "SPEC203"),
        ("local.yaml", 3, "SPEC117"),
        ("local.yaml", 4, "SPEC202"),
    ]


def test_a_file_that_is_no_yaml_does_not_hide_the_faults_of_the_other(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "[block, rack, host]", "[block")
    loaded = load_texts(tmp_path, platform, changed(LOCAL, "cpu: 128", "cpu: many"))
    assert [problem.code for problem in loaded.problems] == ["SPEC012", "SPEC106"]


BROKEN_OVERLAYS = {
    "a bracket": ("rack: r2}", "rack: r2", "SPEC012"),
    "a tab": ("  - {hosts: bi-00", "\t- {hosts: bi-00", "SPEC007"),
    "too deep": ("rack: r2}", f"rack: {'[' * 30}{']' * 30}}}", "SPEC024"),
}


@pytest.mark.parametrize("slip", BROKEN_OVERLAYS)
def test_an_environment_that_cannot_be_read_does_not_hide_the_faults_of_the_platform(
    tmp_path: Path, slip: str
) -> None:
    """Shape, references and meaning of the platform are told; nothing that needs hosts is."""
    old, new, code = BROKEN_OVERLAYS[slip]
    local = LOCAL.replace(old, new, 1)
    loaded = load_texts(tmp_path, PLATFORM, local)
    assert [problem.code for problem in loaded.problems] == [code]
    platform = changed(PLATFORM, "[block, rack, host]", "[rack, block, host]")
    platform = changed(platform, "weight: 1", "weight: 0")
    platform = changed(platform, "tier: bronze", "tier: bronce")
    loaded = load_texts(tmp_path, platform, local)
    assert loaded.platform is None
    assert [(p.location.file.name, p.code) for p in loaded.problems] == [
        ("platform.yaml", "SPEC313"),
        ("platform.yaml", "SPEC111"),
        ("platform.yaml", "SPEC203"),
        ("local.yaml", code),
    ]


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        ("base: platform.yaml", True),
        ('base: "platform.yaml"  # the one', True),
        ("base: 'platform.yaml'", True),
        ("base: platform.yaml\r", True),
        ("  base: platform.yaml", False),
        ("base: platform.yaml: x", False),
        ("base: platform.yaml\nbase: other.yaml", False),
        ("#base: platform.yaml", False),
        ("base:", False),
    ],
)
def test_the_platform_of_a_text_that_is_no_yaml_is_what_one_line_says(
    tmp_path: Path, line: str, *, is_read: bool
) -> None:
    loaded = load_texts(tmp_path, local=f"{line}\nnodes: [\n")
    assert (len(loaded.files) == 2) == is_read, loaded.problems
    assert all(problem.location.file.name == "local.yaml" for problem in loaded.problems)


@pytest.mark.parametrize(
    ("base", "meant"),
    [
        ("stacks/platform.yaml", "platform.yaml"),
        ("shared/common.yaml", "../shared/common.yaml"),
    ],
)
def test_a_base_that_is_seen_from_another_folder_is_told_as_seen_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("stacks", "shared"):
        (tmp_path / folder).mkdir()
    (tmp_path / "shared" / "common.yaml").write_text(PLATFORM)
    loaded = load_texts(tmp_path / "stacks", local=changed(LOCAL, "platform.yaml", base))
    (problem,) = loaded.problems
    assert (problem.code, problem.path) == ("SPEC042", "base")
    assert problem.values["nearest"] == meant
    mended = load_texts(tmp_path / "stacks", local=changed(LOCAL, "platform.yaml", meant))
    assert mended.problems == ()


def test_a_mistyped_base_in_another_folder_is_suggested_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "shared.yaml").write_text(PLATFORM)
    local = changed(LOCAL, "platform.yaml", "../sharde.yaml")
    (problem,) = load_texts(tmp_path / "stacks", local=local).problems
    assert (problem.code, problem.values["nearest"]) == ("SPEC001", "../shared.yaml")


def test_paths_are_shown_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stacks").mkdir()
    loaded = load_texts(tmp_path / "stacks")
    assert loaded.files == (Path("stacks/platform.yaml"), Path("stacks/local.yaml"))
    assert set(loaded.texts) == set(loaded.files)


def test_a_base_in_another_folder_is_found_from_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "shared.yaml").write_text(PLATFORM)
    overlay = tmp_path / "stacks" / "here.yaml"
    overlay.write_text(changed(LOCAL, "platform.yaml", "../shared.yaml"))
    loaded = load(overlay)
    assert loaded.problems == ()
    assert loaded.files[0] == tmp_path / "shared.yaml"


def test_a_warning_alone_does_not_withhold_the_platform(tmp_path: Path) -> None:
    unsold = "  H100: {vendor: nvidia, memory: 80Gi, rate: 90, origin: vendor}\n"
    platform = changed(PLATFORM, "  A100: {", f"{unsold}  A100: {{")
    loaded = load_texts(tmp_path, platform)
    assert [problem.is_error for problem in loaded.problems] == [False]
    assert loaded.platform is not None


def test_a_thousand_faults_are_found_and_the_report_is_bounded(tmp_path: Path) -> None:
    groups = "".join(f"  - {{hosts: h{n}, pool: p{n}, rack: 1}}\n" for n in range(1_000))
    loaded = load_texts(tmp_path, local=f"base: platform.yaml\nnodes:\n{groups}")
    codes = Counter(problem.code for problem in loaded.problems)
    assert loaded.problems[0].code == "SPEC037"
    assert codes == {"SPEC037": 1, "SPEC104": 1_500, "SPEC105": 500, "SPEC202": 1_000}
    text = report(loaded.problems, "en", loaded.texts)
    assert text.count("\n") <= 300
    assert text.endswith("… and 2901 more")


LANGUAGES: tuple[Language, ...] = ("en", "zh")


def assert_sane(loaded: Loaded, texts: dict[str, str]) -> None:
    """Whatever the input: a platform or errors, and every problem can be told."""
    assert (loaded.platform is None) == any(problem.is_error for problem in loaded.problems)
    for problem in loaded.problems:
        lines = texts[problem.location.file.name].count("\n") + 1
        assert 1 <= problem.location.line <= lines
        assert problem.location.column >= 1
        assert "{found}" not in sentence(problem, "en") + sentence(problem, "zh")
    for lang in LANGUAGES:
        lines_shown = report(loaded.problems, lang, loaded.texts).splitlines()
        assert all(line.isprintable() for line in lines_shown)
        assert len(lines_shown) <= 3 * len(loaded.problems)


_SCRAPS = st.sampled_from(
    [
        *("[", "]", "{", "}", ":", ": ", ", ", "- ", "\n", "\n  ", "\t", '"', "'", "#", "|", ">"),
        *("&a ", "*a", "!!str ", "---\n", "...", "? ", "%", "@", "\x00", "\ufeff", "\r", "\u2028"),
        *("null", "NO", "1e9", "010", "-1", "99999999999999999999", "0.5", "true", "~", "<<: "),
        *("[00-99999]", "[9-1]", "系统", "\U0001f600", "\\", '"\\u0000"', '"\\x1b[31m"', "cpu"),
        *("training", "elastic", "A100", "nlp", "gold", "borrows-from: ", "models: ", "users: "),
    ]
)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """A text after a few edits: pieces cut out, scraps put in, pieces copied elsewhere."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        piece = draw(st.one_of(st.just(""), _SCRAPS, st.text(max_size=5)))
        if draw(st.booleans()):
            piece, target = text[start:end], draw(st.integers(0, len(text)))
            text = text[:target] + piece + text[target:]
        else:
            text = text[:start] + piece + text[end:]
    return text


@given(mutated(PLATFORM), mutated(LOCAL))
@settings(max_examples=150, deadline=None)
def test_loading_never_raises_on_mutated_text(platform: str, local: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        encoded = [text.encode("utf-8", "surrogatepass") for text in (platform, local)]
        loaded = load_texts(Path(folder), platform=encoded[0], local=encoded[1])
        assert_sane(loaded, {"platform.yaml": platform, "local.yaml": local})


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**7),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["training", "elastic", "cpu", "A100", "gold", "h-[0-9]", "4Gi", "0.1Ki", "x" * 70]
    ),
    st.just([]),
    st.just({}),
    st.lists(st.sampled_from(["A100", "BI-V150", 1]), max_size=3),
    st.dictionaries(
        st.sampled_from(["training", "A100", "cards", "x"]), st.integers(0, 9), max_size=2
    ),
)


@st.composite
def replanted(draw: st.DrawFn, data: Any) -> Any:
    """The same data with a few values replaced, removed, renamed or doubled."""
    for _ in range(draw(st.integers(1, 3))):
        data = _replant(draw, data)
    return data


def _replant(draw: st.DrawFn, data: Any) -> Any:
    if not isinstance(data, (dict, list)) or not data or draw(st.integers(0, 4)) == 0:
        return draw(_VALUES)
    if isinstance(data, list):
        index = draw(st.integers(0, len(data) - 1))
        return [*data[:index], _replant(draw, data[index]), *data[index:]]
    key = draw(st.sampled_from(sorted(data, key=str)))
    rest = {name: value for name, value in data.items() if name != key}
    match draw(st.sampled_from(["into", "into", "into", "cut", "rename"])):
        case "cut":
            return rest
        case "rename":
            return {**rest, draw(st.sampled_from(["models", "pool", "x", "NO", "A b"])): data[key]}
    return {**rest, key: _replant(draw, data[key])}


@given(replanted(yaml.safe_load(PLATFORM)), replanted(yaml.safe_load(LOCAL)["nodes"]))
@settings(max_examples=150, deadline=None)
def test_loading_never_raises_on_wrong_values(platform: Any, nodes: Any) -> None:
    texts = {
        "platform.yaml": yaml.safe_dump(platform, allow_unicode=True),
        "local.yaml": yaml.safe_dump({"base": "platform.yaml", "nodes": nodes}),
    }
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_texts(Path(folder), texts["platform.yaml"], texts["local.yaml"])
        assert_sane(loaded, texts)


def test_a_broken_entry_is_told_its_wrong_references_as_well(tmp_path: Path) -> None:
    group = (
        '{hosts: h0, pool: traning, model: A80, cards: "8", cpu: 1, memory: 1Ti, block: b, rack: r}'
    )
    loaded = load_texts(tmp_path, local=f"base: platform.yaml\nnodes:\n  - {group}\n")
    told = {(problem.path, problem.code) for problem in loaded.problems}
    assert {
        ("nodes[0].pool", "SPEC202"),
        ("nodes[0].model", "SPEC201"),
        ("nodes[0].cards", "SPEC106"),
    } <= told


@pytest.mark.parametrize(
    ("unseen", "code"),
    [
        *(("\u202e", "SPEC121"), ("\u2066", "SPEC121"), ("\ue000", "SPEC121")),
        *(("\u200b", "SPEC008"), ("\u00ad", "SPEC008")),
    ],
)
def test_a_login_with_a_character_that_cannot_be_seen_is_refused(
    tmp_path: Path, unseen: str, code: str
) -> None:
    loaded = load_texts(tmp_path, changed(PLATFORM, "oidc:li.wei", f"oidc:li{unseen}.wei"))
    assert [problem.code for problem in loaded.problems] == [code]
