"""Which cluster, as whom: from a path, from KUBECONFIG, from the usual file.

As kubectl does it: KUBECONFIG may name several files, of which the first one that has a
name wins. Reads files only; opens no connection.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError

from tallyard.cluster.faults import ClusterError, Fault
from tallyard.failures import one_line

_USUAL = "~/.kube/config"
_SECTIONS = (("clusters", "cluster"), ("contexts", "context"), ("users", "user"))
# Paths in a kubeconfig are relative to its own folder; merged, they must say so themselves.
_FILE_KEYS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def choose(context: str | None = None, path: str | None = None) -> SingleConfig:
    """Return the cluster and user to use.

    Args:
        context: A context's name; None takes the file's current one.
        path: A kubeconfig; None takes KUBECONFIG, else `~/.kube/config`.

    Raises:
        ClusterError: When there is no file, it cannot be read, or lacks the context.
    """
    source = path or os.environ.get("KUBECONFIG") or _USUAL
    files = [Path(part).expanduser() for part in source.split(os.pathsep) if part]
    present = [file for file in files if file.is_file()]
    if not present:
        lab = os.environ.get("TALLYARD_LAB", "")
        if lab and files and all(file.parent.parent.name == lab for file in files):
            raise ClusterError(Fault.LAB_DOWN, f"the shell of the lab {lab}", name=lab)
        raise ClusterError(Fault.NO_KUBECONFIG, source)
    merged = _merge([_read(file) for file in present])
    where = str(present[0]) if len(present) == 1 else f"KUBECONFIG ({len(present)} files)"
    return _pick(merged, context, where)


def in_cluster() -> SingleConfig:
    """Return the cluster that this pod runs in, as its service account.

    Its token is read from its file again when it has run out.

    Raises:
        ClusterError: When this is no pod with a service account.
    """
    try:
        single = KubeConfig.from_service_account().get()
    except (ConfigError, KeyError, OSError) as error:
        raise ClusterError(
            Fault.BAD_KUBECONFIG, "the pod's service account", detail=one_line(error)
        ) from error
    if single is None:
        raise ClusterError(Fault.BAD_KUBECONFIG, "the pod's service account", detail="it is empty")
    return single


def _read(file: Path) -> Mapping[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else str(file)
        raise ClusterError(
            Fault.BAD_KUBECONFIG, where, detail=f"it is not YAML: {error.problem}"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ClusterError(Fault.BAD_KUBECONFIG, str(file), detail=one_line(error)) from error
    if not isinstance(content, dict):
        raise ClusterError(
            Fault.BAD_KUBECONFIG, str(file), detail="it holds no mapping of clusters and contexts"
        )
    return {
        "current-context": content.get("current-context"),
        **{section: _entries(content, section, body, file) for section, body in _SECTIONS},
    }


def _entries(
    content: Mapping[str, Any], section: str, body: str, file: Path
) -> list[Mapping[str, Any]]:
    """Return the entries of a section, each known to have a name and a body."""
    entries = content.get(section) or []
    for entry in entries if isinstance(entries, list) else [None]:
        if not (
            isinstance(entry, dict) and entry.get("name") and isinstance(entry.get(body), dict)
        ):
            detail = f"{section} is not a list of entries with a name and a {body}"
            raise ClusterError(Fault.BAD_KUBECONFIG, str(file), detail=detail)
        for name in _FILE_KEYS:
            if isinstance(entry[body].get(name), str):
                entry[body][name] = str(file.parent / entry[body][name])
    return list(entries)


def _merge(contents: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    merged: dict[str, Any] = {section: {} for section, _ in _SECTIONS}
    current = None
    for content in contents:
        current = current or content["current-context"]
        for section, _ in _SECTIONS:
            for entry in content[section]:
                merged[section].setdefault(entry["name"], entry)
    lists = {section: list(entries.values()) for section, entries in merged.items()}
    return {"current-context": current, **lists}


def _pick(merged: Mapping[str, Any], context: str | None, source: str) -> SingleConfig:
    names = [entry["name"] for entry in merged["contexts"]]
    wanted = context or merged["current-context"]
    if not wanted:
        raise ClusterError(
            Fault.BAD_KUBECONFIG, source, detail="it has no current-context and none was given"
        )
    if wanted not in names:
        detail = f"it has: {', '.join(names)}" if names else "it has no contexts"
        raise ClusterError(Fault.NO_CONTEXT, source, name=str(wanted), detail=detail)
    try:
        single = KubeConfig.from_dict(dict(merged)).get(wanted)
    except KeyError as error:
        raise ClusterError(
            Fault.BAD_KUBECONFIG,
            source,
            detail=f'the context "{wanted}" names {error}, which the file does not have',
        ) from error
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise ClusterError(Fault.BAD_KUBECONFIG, source, detail=one_line(error)) from error
    servers = {entry["name"]: entry["cluster"].get("server") for entry in merged["clusters"]}
    if single is None or not servers.get(single.context.cluster):
        raise ClusterError(
            Fault.BAD_KUBECONFIG, source, detail=f'the context "{wanted}" has no server'
        )
    # lightkube asserts that there is a user; a cluster behind a proxy needs none.
    return single if single.user else single._replace(user=User())
