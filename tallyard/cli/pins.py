"""`make pins`: look up every digest of `stacks/versions.yaml` and write what is new.

One rule for the file: a run that ends in an error leaves it as it was. So nothing is
written when one lookup fails, nor when a verified tag has moved, even where other pins could
have been filled; stdout has the table of what was found either way.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from tallyard.cli.exit_codes import ExitCode
from tallyard.registry import lookup, pinfile, update
from tallyard.registry.client import Limits, RegistryClient
from tallyard.registry.faults import Fault, RegistryError
from tallyard.registry.lookup import Found
from tallyard.registry.reference import Reference, SourceError
from tallyard.registry.update import Change, Pin
from tallyard.spec.versions import VersionsError, read_text, read_versions

_FAILED = "not looked up"
# Which key of the pin a person looks at first.
_KEY: Mapping[Fault, str] = {Fault.NOT_FOUND: "version"}


def pins(
    versions: Path,
    *,
    check: bool,
    accept_moved: bool = False,
    limits: Limits | None = None,
    tls: ssl.SSLContext | None = None,
) -> int:
    """Look up every chart's and image's digest and write the new ones.

    Args:
        versions: The file with the pins.
        check: Write nothing; say by the exit code whether something would be written.
        accept_moved: Take the new digest of a verified tag that has moved.
        limits: How long to wait; None is for a person at a terminal.
        tls: Whom to trust; None is whom the machine trusts.

    Returns:
        An exit code: OK; FAILED for a lookup that failed, a moved tag or a file that cannot
        be written; USAGE for a file with faults; CHANGES only with `check`; TIMEOUT when
        nothing but silence was in the way.
    """
    try:
        text = read_text(versions)
        listed = update.pins(read_versions(versions))
        references = _references(versions, text, listed)
        found = _look_up(listed, references, limits, tls)
        _print_table(found)
        return _settle(versions, text, found, check=check, accept_moved=accept_moved)
    except VersionsError as error:
        _say(str(error))
        return ExitCode.USAGE
    except RegistryError as error:
        _say(f"{error} {versions} was not changed.")
        return ExitCode.FAILED


def _references(versions: Path, text: str, listed: tuple[Pin, ...]) -> Mapping[str, Reference]:
    if not listed:
        raise VersionsError(f"{versions}: lists no chart and no image, so there is nothing to pin.")
    references: dict[str, Reference] = {}
    faults: list[str] = []
    for pin in listed:
        try:
            references[pin.path] = pin.reference()
        except SourceError as error:
            faults.append(f"{_at(versions, text, pin.path, 'source')}: {error}")
    if faults:
        raise VersionsError("\n".join(faults))
    return references


def _look_up(
    listed: tuple[Pin, ...],
    references: Mapping[str, Reference],
    limits: Limits | None,
    tls: ssl.SSLContext | None,
) -> Found:
    console = Console(stderr=True)
    with RegistryClient(limits, tls) as client, console.status("") as status:
        return lookup.look_up(listed, references, client, status.update)


def _print_table(found: Found) -> None:
    if not found.digests:
        return
    rows = [("PIN", "VERSION", "DIGEST", "WAS")]
    for pin in found.pins:
        digest = found.digests.get(pin.path, _FAILED)
        was = "the same" if digest == pin.digest else pin.digest
        rows.append((pin.path, pin.version, digest, was))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())  # noqa: T201


def _settle(
    versions: Path, text: str, found: Found, *, check: bool, accept_moved: bool
) -> ExitCode:
    if found.errors:
        _say_failures(versions, text, found)
        return _failure_code(found)
    moved, filled = found.changed(Change.MOVED), found.changed(Change.FILLED)
    if moved and not accept_moved:
        for pin in moved:
            _say(_moved(versions, text, pin, found.digests[pin.path]))
        _say(f"{versions} was not changed.")
        return ExitCode.FAILED
    changes = {pin.path: found.digests[pin.path] for pin in (*filled, *moved)}
    if not changes:
        _say(f"{versions}: all {len(found.pins)} digests are as the registries have them.")
        return ExitCode.OK
    new = _rewritten(versions, text, changes)
    if check:
        _say(f"{versions}: {', '.join(changes)} would change. Run `make pins` to write it.")
        return ExitCode.CHANGES
    return _write(versions, text, new, changes)


def _failure_code(found: Found) -> ExitCode:
    faults = {error.fault for error in found.errors.values()}
    return ExitCode.TIMEOUT if faults == {Fault.TIMEOUT} else ExitCode.FAILED


def _say_failures(versions: Path, text: str, found: Found) -> None:
    errors = tuple(found.errors.values())
    offline = {error.fault for error in errors} == {Fault.UNREACHABLE} and not found.digests
    if offline:
        # Without a network every pin fails alike: that is one thing to say, not twenty.
        whys = "; ".join(dict.fromkeys(error.detail for error in errors))
        _say(
            f"{versions} was not changed: no registry can be reached ({whys}); check the network, "
            "and HTTPS_PROXY if there is a proxy, then run it again."
        )
        return
    for path, error in found.errors.items():
        key = _KEY.get(error.fault, "source")
        _say(f"{_at(versions, text, path, key)}: {error}")
    _say(f"{versions} was not changed: {len(errors)} of {len(found.pins)} lookups failed.")


def _moved(versions: Path, text: str, pin: Pin, digest: str) -> str:
    return (
        f"{_at(versions, text, pin.path, 'digest')}: "
        f"THE TAG HAS MOVED: {pin.reference()} was verified as {pin.digest} and is {digest} now "
        "(somebody has published other content under the same version). Find out who and why "
        "before anything is deployed; then take it with --accept-moved. If you have raised the "
        "version yourself, write `digest: unverified` and run it again."
    )


def _at(versions: Path, text: str, path: str, key: str) -> str:
    line = update.line(text, path, key)
    place = versions if line is None else f"{versions}:{line}"
    return f"{place}: {path}.{key}"


def _rewritten(versions: Path, text: str, changes: Mapping[str, str]) -> str:
    try:
        return update.rewrite(text, changes)
    except VersionsError as error:
        raise VersionsError(f"{versions}: {error}") from error


def _write(versions: Path, text: str, new: str, changes: Mapping[str, str]) -> ExitCode:
    if read_text(versions) != text:
        _say(f"{versions} was not changed: somebody has edited it during the lookup. Run it again.")
        return ExitCode.FAILED
    try:
        pinfile.replace(versions, new)
    except OSError as error:
        _say(
            f"{versions} was not changed: it cannot be written: {error.strerror}. Check the "
            "rights of its folder and the room on the disk, then run it again."
        )
        return ExitCode.FAILED
    _say(f"{versions}: wrote the digest of {', '.join(changes)}.")
    return ExitCode.OK


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201
