"""That what is deployed is exactly what was looked at."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policies.finding import Finding, Source, Text, about
from policies.planned import Planned, at, mappings

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_DIGEST = re.compile(r"[^@\s]+@sha256:[0-9a-f]{64}")
# The schema of a kind has fields of these names, and no pods.
_POD_LESS = frozenset({"CustomResourceDefinition"})


def images_pinned(planned: Planned) -> Iterator[Finding]:
    """Each image that is pulled is named by its digest.

    Seen: a tag that was moved to another build; half of the replicas ran the one, half the other.
    """
    for each in planned.after:
        # The lab's controllers run beside its cluster; their Deployments have no pods.
        if planned.is_lab and at(each.object, "spec", "replicas") == 0:
            continue
        for user, (english, chinese), image in _images(each.object):
            if not _DIGEST.fullmatch(image):
                text = Text(
                    f"{english} {user} of {each.kind} {each.name} runs image "
                    f"{image or '(none)'}, whose tag can be moved: write its digest, "
                    "REPOSITORY:TAG@sha256:DIGEST",
                    f"{each.kind} {each.name} 的{chinese} {user} 使用镜像 "
                    f"{image or '（空）'}，其标签可以被改动：请写明摘要 "
                    "REPOSITORY:TAG@sha256:DIGEST",
                )
                path, source = _pin(planned, image)
                yield about("images-pinned", text, each, path, source)


def containers(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all containers of an object that has any, of whatever kind it is."""
    return [
        container
        for pod in pods(content)
        for part in _CONTAINERS
        for container in mappings(pod, part)
    ]


def _images(content: Mapping[str, Any]) -> Iterator[tuple[str, Text, str]]:
    """Yield what uses an image, what it is, and the image."""
    for container in containers(content):
        yield str(container.get("name")), _CONTAINER, _text(container.get("image"))
    for pod in pods(content):
        for volume in mappings(pod, "volumes"):
            if at(volume, "image") is not None:
                yield str(volume.get("name")), _VOLUME, _text(at(volume, "image", "reference"))


_CONTAINER, _VOLUME = Text("container", "容器"), Text("volume", "卷")


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def pods(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the pods that an object is or makes: whatever has a list of containers."""
    if content.get("kind") in _POD_LESS:
        return
    left: list[Any] = [content]
    while left:
        found = left.pop()
        if isinstance(found, Mapping):
            if any(mappings(found, part) for part in _CONTAINERS):
                yield found
            left += found.values()
        elif isinstance(found, list | tuple):
            left += found


def _pin(planned: Planned, image: str) -> tuple[str, Source]:
    """Return where a person would write the digest."""
    repository = _repository(image)
    for name, pin in planned.versions.images.items():
        if repository == pin.source:
            return f"images.{name}.digest", Source.VERSIONS
    registry = planned.platform.defaults.registry
    if registry and image.startswith(f"{registry}/"):
        return "defaults.registry", Source.SPEC
    return "", Source.SPEC


def _repository(image: str) -> str:
    """Return an image's name without tag and digest; a colon before a slash is a port's."""
    host, slash, name = image.partition("@")[0].rpartition("/")
    return f"{host}{slash}{name.partition(':')[0]}"


def pins_verified(planned: Planned) -> Iterator[Finding]:
    """No environment that pulls anything does so by a digest that nobody has looked up."""
    if planned.is_lab:
        return
    for path in planned.versions.unverified():
        text = Text(
            f"{path} is `unverified`: look it up by `make pins`",
            f"{path} 为 unverified：请运行 `make pins` 查取",
        )
        yield Finding(
            "pins-verified",
            text,
            kind="Pin",
            object_name=path,
            path=path,
            source=Source.VERSIONS,
        )
