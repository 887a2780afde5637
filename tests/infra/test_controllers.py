"""Which image the controllers run from must be said, by its digest."""

from __future__ import annotations

import pytest

from infra.controllers import ImageError, required_image

DIGEST = "0" * 64


def test_a_repository_with_a_digest_is_an_image() -> None:
    for repository in ("registry.example.com/tallyard/controllers", "localhost:5000/c", "c"):
        image = f"{repository}@sha256:{DIGEST}"
        assert required_image(image) == image


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, "it is not set"),
        ("", "it is not set"),
        ("registry.example.com/tallyard/controllers:1.0", "names no digest"),
        ("registry.example.com/c@sha256:unverified", "names no digest"),
        (f"registry.example.com/c@sha256:{DIGEST}0", "names no digest"),
        (f"@sha256:{DIGEST}", "names no digest"),
    ],
)
def test_anything_else_is_refused_with_what_to_do(found: str | None, told: str) -> None:
    with pytest.raises(ImageError) as refused:
        required_image(found)
    assert told in str(refused.value)
    assert "pulumi config set tallyard:controllers-image" in str(refused.value)
    assert "Containerfile" in str(refused.value)
