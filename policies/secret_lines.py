"""What one line tells: a setting, a command, an address, JSON.

Code has the same signs and tells nothing by them: `connect(password=password)`. Sentences have
them too: of these only what is no word counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policies.secret_shapes import shape
from policies.secret_values import is_filled_in, is_name, is_plain, is_sentence
from policies.secret_words import is_header, is_secret, is_told_under, may_name

# The patterns are linear in time: a run is begun at its start only, or has an end.
#
# A line of a file of variables. With blanks around it is also how programs are written, and
# those have dots and brackets.
_LINE = re.compile(
    r"\s*(?:(?:export|declare|const|let|var|ENV)\s+)?(?P<key>[\w.:-]+)(?P<sign>\s*=\s*)(?P<value>.+)"
)
_BARE = re.compile(r"[\"']?[^\s\"'$`<(\[{=~].*")
_SPACED = re.compile(r"\"[^\"$]+\"[;,]?|'[^'$]+'[;,]?|[^\s.\"'()\[\]{}$]+")
_REMARK = re.compile(r"\s[#;]")
_CALL = re.compile(r"\w[(\[]")
# `settings.PASSWORD,` and `password)`: a value in a program.
_VARIABLE = re.compile(r"(?:[A-Za-z_]+|[A-Za-z_]\w*(?:\.\w+)+)(?:\)+[,;]?|,)")
# `--token=…`, `host=db password=…`, `?access_token=…&`.
_SETTING = re.compile(
    r"(?<![\w.-])(?P<key>[\w.-]+)="
    r"(?=\\{0,3}(?P<quote>[\"']?)(?P<value>[^\s\"'`,;&$=~?:\\][^\s\"'`,;&=\\]{0,199})(?P<end>,?\s?))"
)
_JSON = re.compile(
    r"[\"'](?P<key>[\w./:-]{1,100})\\{0,3}[\"']\s{0,9}:\s{0,9}"
    r"\\{0,3}[\"'](?P<value>[^\"'\\]{1,200})"
)
_OPTION = re.compile(
    r"(?:^|\s)--?(?P<key>[\w.-]{1,100})\s{1,9}[\"']?(?P<value>[^\s\"'$`-][^\s\"'`]{0,199})"
)
_AUTHORIZATION = re.compile(
    r"\b(?P<key>(?:proxy-)?authorization)\\{0,3}[\"']?\s{0,9}[:=,]?\s{0,9}\\{0,3}[\"']?"
    r"(?:bearer|basic|token|digest|apikey)\s{1,9}(?P<value>[^\s\"'`\\]{1,200})",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(?:^|\s)(?:-H|--header)[\s=]{0,9}[\"']?(?P<key>[\w-]{1,100}):"
    r"\s{0,9}(?P<value>[^\s\"'`]{1,200})"
)
_SCHEMES = frozenset({"bearer", "basic", "token", "digest", "apikey"})
_USER = re.compile(
    r"(?:^|\s)(?P<key>-[A-Za-z]{0,8}[uU]\s{1,9}|-[uU]|--(?:proxy-)?user[\s=]{1,9})"
    r"[\"']?[^\s\"':$/]{1,100}:(?P<value>[^\s\"'$`/][^\s\"'`]{0,199})"
)
# `1000:1000` and `web:web`, who a process runs as, and `registry:5000/x`.
_GROUP = re.compile(r"\d+|[a-z_-]+|.*/.*")
# By which an address is signed, so that whoever has it is let in.
_SIGNED = frozenset({"sig", "signature", "x-amz-signature", "x-goog-signature"})
_WORD = re.compile(r"[A-Za-z]+[.,:;!?)]*")


class Told(NamedTuple):
    """What a line tells: the key, empty where there is none, and its place in the line."""

    key: str
    place: int


def told(line: str) -> Told | None:
    """Return what a line tells; None where it tells nothing."""
    if (place := shape(line)) is not None:
        return Told("", place)
    return _assigned(line) or next(_told_in(line, is_command=False), None)


def is_told(words: Sequence[str]) -> bool:
    """Return whether the words of a command tell a secret."""
    return any(
        shape(line) is not None or any(_told_in(line, is_command=True))
        for line in " ".join(words).splitlines()
    )


def _assigned(line: str) -> Told | None:
    """Return what a whole line tells that is a setting."""
    found = _LINE.fullmatch(line.rstrip()) if "=" in line else None
    # `--token=…` is an option, and of those some name a Secret.
    if found is None or found["key"].startswith("-"):
        return None
    value = _REMARK.split(found["value"], maxsplit=1)[0].strip()
    pattern = _BARE if found["sign"] == "=" else _SPACED
    if not pattern.fullmatch(value) or _CALL.search(value) or _VARIABLE.fullmatch(value):
        return None
    is_open = is_told_under(found["key"], value.rstrip(";,").strip("\"'"))
    return Told(found["key"], found.start("key")) if is_open else None


def _told_in(line: str, *, is_command: bool) -> Iterator[Told]:
    """Yield what parts of a line tell."""
    found = list(_written(line))
    if found and not is_command and is_sentence(line):
        found = [each for each in found if not _WORD.fullmatch(each[1])]
    for key, _, place in found:
        yield Told(key, place)
    yield from _quoted(line)


def _written(line: str) -> Iterator[tuple[str, str, int]]:
    """Yield keys and values of which the key says that the value is secret, and the place."""
    for found in _SETTING.finditer(line) if "=" in line else ():
        if _is_setting(found):
            yield found["key"].lstrip("-"), found["value"], found.start()
    for found in _OPTION.finditer(line) if "-" in line else ():
        if _is_option(found["key"], found["value"]):
            yield found["key"], found["value"], found.start("key")
    for pattern in (_AUTHORIZATION, _HEADER):
        for found in pattern.finditer(line) if " " in line else ():
            if _is_header(found["key"], found["value"]):
                yield found["key"], found["value"], found.start("key")


def _quoted(line: str) -> Iterator[Told]:
    """Yield what is told by signs that no sentence has."""
    if ":" not in line:
        return
    for found in _JSON.finditer(line) if '"' in line or "'" in line else ():
        if is_secret(found["key"], found["value"]):
            yield Told(found["key"], found.start("key"))
    by_curl = "curl" in line
    for found in _USER.finditer(line) if "-" in line else ():
        if _is_user(found["value"], by_curl=by_curl):
            yield Told("", found.start("key"))


def _is_setting(found: re.Match[str]) -> bool:
    key, value = found["key"].lstrip("-"), found["value"]
    before = found.string[max(found.start() - 1, 0)]
    is_signed = before in "?&" and key.lower() in _SIGNED
    is_open = is_plain(value) if is_signed else is_told_under(key, value)
    if not is_open or is_filled_in(value):
        return False
    if not found["quote"] and _is_code(value, found["end"], found.end("value"), found.string):
        return False
    # `SECRET=…` in capitals is a variable, and those hold values.
    return key.isupper() or not (may_name(key) and is_name(value))


def _is_code(value: str, end: str, place: int, line: str) -> bool:
    # `a,password=x,ssl=true` goes on behind the comma without a blank, programs do not.
    is_last = end.startswith(",") and (len(end) > 1 or place + 1 == len(line))
    return bool(_CALL.search(value) or _VARIABLE.fullmatch(value + "," * is_last))


def _is_option(key: str, value: str) -> bool:
    if not is_told_under(key, value) or is_filled_in(value):
        return False
    # `--token TOKEN`, as help texts have it, and `--secret id=…`, by which a secret is only meant.
    if value.isupper() and value.lower().endswith(re.split(r"[_.-]", key.lower())[-1]):
        return False
    if may_name(key) and (is_name(value) or ":" in value or "=" in value):
        return False
    return not _CALL.search(value)


def _is_header(key: str, value: str) -> bool:
    if value.lower() in _SCHEMES or "$" in value or is_filled_in(value):
        return False
    return is_plain(value) if is_header(key) else is_told_under(key, value)


def _is_user(password: str, *, by_curl: bool) -> bool:
    if not is_plain(password) or is_filled_in(password) or password.isdigit():
        return False
    return by_curl or not _GROUP.fullmatch(password)
