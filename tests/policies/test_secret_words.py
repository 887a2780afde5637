"""What is taken for a secret and what is not. None of these is a real one.

What has the form of a real one is put together here, so that nobody who looks through this
repository for keys finds it.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policies.rules import review
from tallyard.render.manifest import Manifest
from tests.policies.cases import shipped_plan

_LINE_LENGTH = 100_000
_SECONDS_MAX = 1.0


def _told(*contents: Mapping[str, Any], text: str = "") -> list[str]:
    """Return what the rule says of objects and of a file."""
    after = tuple(Manifest({"metadata": {"name": "x"}, **content}) for content in contents)
    texts = {Path("a.yaml"): text}
    planned = replace(shipped_plan("local"), before=(), after=after, texts=texts)
    return [each.sentence("en") for each in review(planned, ["secrets-hidden"]).open]


def _env(name: str, value: Any) -> Mapping[str, Any]:
    containers = [{"name": "main", "env": [{"name": name, "value": value}]}]
    return {"kind": "Pod", "spec": {"containers": containers}}


def _args(*words: str) -> Mapping[str, Any]:
    return {"kind": "Pod", "spec": {"containers": [{"name": "main", "args": list(words)}]}}


def _annotated(key: str, value: str) -> Mapping[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "x", "annotations": {key: value}}}


def _config(**data: str) -> Mapping[str, Any]:
    return {"kind": "ConfigMap", "data": data}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


NAMES = (
    *("SECRET_KEY", "DJANGO_SECRET_KEY", "SECRET_KEY_BASE", "PGPASSWORD", "MYSQL_PWD", "DB_PASS"),
    *("SMTP_PASS", "PASSWORDS", "REGISTRY_AUTH", "GITHUB_PAT", "ENCRYPTION_KEY", "SIGNING_KEY"),
    *("SSH_KEY", "S3_SECRET_KEY", "secretKey", "SECRET_ACCESS_KEY", "aws_secret_access_key"),
    *("PASSWORD_BASE64", "dbpassword", "AccountKey", "API_TOKENS", "pass", "WEBHOOK_SECRET"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_seen_wherever_it_stands(name: str) -> None:
    assert _told(_env(name, "hunter2"))
    assert _told({"kind": "Database", "spec": {name: "hunter2"}})
    assert _told(_config(**{name: "hunter2"}))
    assert _told(_config(env=f"HOST=db\n{name}=hunter2\n"))
    assert _told(_config(ini=f"[db]\n{name} = hunter2  # ours\n"))
    assert _told(_env("OPTIONS", f"host=db {name}=hunter2 user=u"))
    assert _told(_env("OPTIONS", json.dumps({"db": [{name: "hunter2"}]})))
    assert _told(_args("sh", "-c", f"{name}=hunter2 serve"))
    assert _told(text=f"config:\n  tallyard:{name}: hunter2\n")


_PEM = "-----BEGIN {}PRIVATE KEY{}-----"
SHAPES = (
    "ghr_" + "a" * 36,
    "npm_" + "a" * 36,
    "AIza" + "a" * 35,
    "LTAI" + "a" * 16,
    "LTAI" + "a" * 24,
    "AKID" + "a" * 32,
    "dckr_pat_" + "a" * 27,
    "nvapi-" + "a" * 64,
    "pul-" + "a" * 40,
    _PEM.format("PGP ", " BLOCK"),
    _PEM.format("ENCRYPTED ", ""),
    _base64(_PEM.format("RSA ", "") + "\nMII\n"),
    _base64("-----BEGIN CERTIFICATE-----\nMII\n" + _PEM.format("", "")),
    "redis://:hunter2@redis:6379/0",
    "root:hunter2@tcp(db:3306)/tally",
)


@pytest.mark.parametrize("value", SHAPES)
def test_a_form_is_seen_under_any_name(value: str) -> None:
    assert _told(_env("X", value))
    assert _told(_annotated("example.com/note", f"it is {value} for all"))
    assert _told(_args("--x", value))
    assert _told(_config(file=f"a: 1\nb: {value}\n"))
    assert _told(text=f"# {value}\n")


LINES = (
    '{"password":"x"}',
    '{"store":{"db":[{"user":"u","password":"x"}]}}',
    '{"env":[{"name":"PASSWORD","value":"x"}]}',
    '{"passwords":["x","y"]}',
    '{"headers":{"Authorization":"Bearer abc"}}',
    f'{{"auths":{{"registry.example.com":{{"auth":"{_base64("u:p")}"}}}}}}',
    "{'password': 'x'}",
    r'"{\"password\":\"x\"}"',
    "host=db user=u password=x",
    "Server=db;Uid=u;Pwd=x;",
    "redis:6379,password=hunter2,ssl=True",
    "jdbc:mysql://db/x?user=u&password=x",
    "curl -H 'Authorization: Bearer abc' https://api.example.com",
    'curl --header="Authorization: Basic abc" https://api.example.com',
    "curl -H 'PRIVATE-TOKEN: abc' https://api.example.com",
    "curl -u user:pass https://api.example.com",
    "curl -su user:pass https://api.example.com",
    "curl --user user:pass https://api.example.com",
    "https://api.example.com/x?access_token=abc",
    "https://api.example.com/x?a=b&api_key=abc",
    "https://store.example.com/x?sv=1&sig=abc",
    "https://store.example.com/x?X-Amz-Signature=abc",
    "helm install x --set auth.password=x",
    "kubectl create secret generic s --from-literal=password=x",
    "serve --db-password hunter2",
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_seen_wherever_it_stands(line: str) -> None:
    assert _told(_annotated("example.com/note", line))
    assert _told(_env("X", line))
    assert _told(_config(x=line))
    assert _told(_config(x=f"# a file\n{line}\n"))


# What a file is told by, and a command need not be.
_OF_COMMANDS = [line for line in LINES if line[0] not in '{"']


@pytest.mark.parametrize("line", _OF_COMMANDS)
def test_a_command_is_seen_as_words_and_in_a_shells_text(line: str) -> None:
    assert _told(_args(*(word.strip("'\"") for word in line.split())))
    assert _told(_args("sh", "-c", f"set -e\n{line}\n"))
    assert _told(_args("sh", "-c", f"for each in a b; do {line}; done"))


def test_a_header_is_seen_as_one_word_of_a_list() -> None:
    assert _told(_args("curl", "-H", "Authorization: Bearer abc", "https://api.example.com"))
    assert _told(_args("curl", "-H", "X-API-Key: abc", "https://api.example.com"))


# By name and value: what is let pass under a name that says secret.
HARMLESS = (
    ("IMAGE_TOKEN", "<image>"),
    ("TOKEN", "<your token>"),
    ("UNKNOWN_TOKEN", "[UNK]"),
    ("DOCUMENT_TOKEN", "<|endoftext|>"),
    ("BEGIN_OF_TEXT_TOKEN", "begin"),
    ("END_OF_TEXT_TOKEN", "end"),
    ("TOKEN", "/var/run/secrets/tokens/x"),
    ("TOKEN", "./token"),
    ("PASSWORD", "/run/password.txt"),
    ("PASSWORD", "file:///run/password"),
    ("PASSWORD_FILE", "/run/password"),
    ("TOKEN_ENDPOINT", "hunter2"),
    ("TOKEN", "https://login.example.com/token"),
    ("PASSWORD", "${PASSWORD:-}"),
    ("HF_TOKEN", "$HF_TOKEN"),
    ("PASSWORD", "${{ secrets.PASSWORD }}"),
    ("PASSWORD", "vault:secret/data/x#password"),
    ("password", "ask the admin"),
    ("password", "见管理员"),
    ("ssh_key", "ssh-ed25519 AAAAC3Nza tally"),
    ("max_tokens", "4096"),
    ("tokens", "4096"),
    ("token_budget", "4096"),
    ("token_budget", 4096),
    ("stop_tokens", "</s>"),
    ("secretName", "webhook-server-cert"),
    ("tokenExpirationSeconds", "3600"),
    ("automountServiceAccountToken", "false"),
    ("proxy_pass", "server"),
    ("first_pass", "3"),
    ("REGISTRY_AUTH", "htpasswd"),
    ("auth", "basic"),
    ("auth", "keycloak:8080"),
    ("tls.secret", "cert"),
)


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_a_value_that_tells_nothing_is_let_pass_under_any_name(name: str, value: Any) -> None:
    assert not _told(_env(name, value))
    assert not _told({"kind": "Database", "spec": {name: value}})
    assert not _told(_config(**{name: str(value)}))
    assert not _told(_config(file=f"a: 1\n{name}: {json.dumps(value)}\n"))
    assert not _told(_env("X", json.dumps({name: value})))
    assert not _told(text=f"config:\n  tallyard:{name}: {json.dumps(value)}\n")


PASSING = (
    "--webhook-secret=cert",
    "--webhook-secret-name=webhook-server-cert2",
    "--webhook-secret=kueue-system/webhook-server-cert",
    "--token=/var/run/secrets/token",
    "--password-file=/run/password",
    "--max-num-batched-tokens=4096",
    "--image-token=<image>",
    "--auth-token-webhook=yes",
    "postgres://tally:$(DB_PASSWORD)@db/tally",
    "postgres://tally:${DB_PASSWORD}@db/tally",
    "postgres://tally:<password>@db/tally",
    "host=db user=u password=$PASSWORD",
    "host=db user=u password='$PASSWORD'",
    "connect(user=user, password=password)",
    "connect(password=settings.PASSWORD, token=read(path), secret=None)",
    "kube_secret_info{secret='cert'} or sum(x{token=~'.+'})",
    "token==expected",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.example.com",
    "curl -H 'Authorization: Bearer ${{ secrets.TOKEN }}' https://api.example.com",
    "curl -u user:$PASSWORD https://api.example.com",
    "curl -u user: https://api.example.com",
    "curl 'https://api.example.com/x?access_token=$TOKEN&page_token=abc'",
    "docker run -u 1000:1000 x",
    "run --user www-data:www-data x",
    "pulumi config set --secret tallyard:token",
    "docker build --secret id=token,src=/run/token",
    "serve --token TOKEN",
    _base64("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"),
)


@pytest.mark.parametrize("line", PASSING)
def test_a_line_that_tells_nothing_is_let_pass(line: str) -> None:
    assert not _told(_args(*line.split()))
    assert not _told(_args("sh", "-c", line))
    assert not _told(_env("X", line))
    assert not _told(_config(x=f"# a file\n{line}\n"))


@pytest.mark.parametrize(
    "option",
    [
        "--webhook-secret=hunter2",
        "--webhook-secret=Cert",
        "--webhook-secret=3f9a1c77",
        "--client-secret=cert",
        "WEBHOOK_SECRET=cert",
        "--password=cert",
        "--token=cert",
        "--token=/9j4AAQSkZJRgABAQEAYABgAAD",
    ],
)
def test_what_is_no_name_of_a_secret_is_seen_in_an_option(option: str) -> None:
    assert _told(_args("serve", option))


def test_an_annotation_may_name_a_secret_and_tell_none() -> None:
    for key in ("cert-manager.io/secret", "nginx.ingress.kubernetes.io/auth-secret"):
        assert not _told(_annotated(key, "web/basic-auth"))
        assert _told(_annotated(key, "hunter2"))
    assert _told(_annotated("example.com/token", "basic-auth"))


SENTENCES = (
    "The password is in the vault; ask for a token there.",
    "Give it a password=secret of your own, or --token something",
    "How to log in:\nPassword: the one of your account\nToken: see the page",
    "Send the header Authorization: Bearer token with it",
    "口令（password=secret）请联系管理员",
)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_may_have_the_words(text: str) -> None:
    assert not _told(_annotated("example.com/description", text))
    assert not _told(_config(readme=text))
    assert not _told({"kind": "Database", "spec": {"description": text}})


def test_a_secret_in_a_sentence_is_seen() -> None:
    assert _told(_annotated("example.com/note", "the password=hunter2 is for all of you"))


def test_which_key_of_a_secret_is_meant_is_no_secret() -> None:
    external = {"data": [{"secretKey": "password", "remoteRef": {"key": "db"}}]}
    assert not _told({"kind": "ExternalSecret", "spec": external})
    sealed = {"encryptedData": {"password": "AgBy3i4OJSWK"}}
    assert not _told({"kind": "SealedSecret", "spec": sealed})
    projected = {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}
    assert not _told({"kind": "Pod", "spec": {"volumes": [projected]}})


def _everything() -> Iterable[tuple[Mapping[str, Any], str]]:
    secret = "hunter" + "2" * 20
    for name in NAMES:
        yield _env(name, secret), secret
        yield _args(f"--{name}", secret), secret
        yield _config(x=f"{name}: {secret}\n{name}={secret}\n"), secret
    for line in LINES:
        yield _config(x=line.replace("hunter2", secret)), secret


def test_no_value_is_repeated() -> None:
    for content, secret in _everything():
        (told,) = _told(content)
        assert secret not in told
    text = "".join(f"{name}: hunter2\n{name}=hunter2\n# x {name}=hunter2\n" for name in NAMES)
    every = _told(text=text)
    assert len(every) >= 2 * len(NAMES)
    assert not [each for each in every if "hunter2" in each]


# Of what a pattern begins with, a line that has nothing else; and of what would end one.
_PARTS = (
    *("a", "a=", "-", " ", '"', "\\", ":", "/", "{", "[", "$", "{{", "@", "A", "Aa", "x("),
    *("eyJ-", "eyJaaaaaaaaaa.", "://a:", ":a@", "--a ", "-u ", "/a/", "a-", "curl -u a:B "),
    *("password=", "password=x ", "password=x) ", "?sig=", '"a":', '"password": "x", '),
    *("-H a: ", "Authorization: Bearer x ", "-----BEGIN A ", "LS0tLS1CRUdJTi", "--token x "),
    *("export ", "PASSWORD = ", "secret=a-", "{a: ", "[a, "),
)


@pytest.mark.parametrize("part", _PARTS)
def test_a_long_line_takes_no_more_time_than_its_length(part: str) -> None:
    line = part * (_LINE_LENGTH // len(part)) + " x("
    for content in (_env("X", line), _env("PASSWORD", line), _args(line), _config(x=line)):
        begun = time.process_time()
        _told(content)
        assert time.process_time() - begun < _SECONDS_MAX
