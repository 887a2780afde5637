"""A client of the YAML language server that editors run: installs it, starts it, asks it.

It speaks what an editor speaks (the Language Server Protocol over stdin and stdout) and nothing
of the server's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lab.toolchain.cache import default_root

PACKAGE = "yaml-language-server"
# The newest release that runs on Node 20.
VERSION = "1.25.0"
# What npm calls `integrity`: the package's hash as it was published.
INTEGRITY = "sha512-SDMkX/TWbP7yzTpvB5PAvirdfwlB+oqkXRZLQ6jR4f1XP42cF/mVeN35Mc1TIG2Dh0dpW82V3NSZ7vaVrdSyZw=="
INSTALL_SECONDS_MAX = 300.0
# A server that does not answer is killed, which ends the wait for its answer.
RUN_SECONDS_MAX = 120.0
# As an editor sets it, but for the catalogue of other people's schemas: that is on the network.
_SETTINGS = {
    "yaml": {
        "validate": True,
        "hover": True,
        "completion": True,
        "schemaStore": {"enable": False},
    }
}


class EditorError(RuntimeError):
    """The language server cannot be installed, or it ended."""


def install() -> Path:
    """Return the server's program, installed into the cache by npm if it is not there yet.

    Raises:
        EditorError: npm failed, or installed something else than what is pinned here.
    """
    folder = default_root(os.environ) / "editor" / f"{PACKAGE}-{VERSION}"
    lock = folder / "node_modules" / ".package-lock.json"
    if not lock.exists():
        command = ["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit"]
        command += ["--no-fund", f"{PACKAGE}@{VERSION}"]
        folder.mkdir(parents=True, exist_ok=True)
        npm = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS_MAX
        )
        if npm.returncode:
            raise EditorError(f"{' '.join(command)} failed:\n{npm.stderr[-2000:]}")
    found = json.loads(lock.read_text())["packages"][f"node_modules/{PACKAGE}"]["integrity"]
    if found != INTEGRITY:
        raise EditorError(f"{folder} holds {found}, pinned is {INTEGRITY}: delete the folder")
    return folder / "node_modules" / PACKAGE / "bin" / PACKAGE


@dataclass
class LanguageServer:
    """A running server. Positions count from 0, columns in UTF-16 units as the protocol has it."""

    into: IO[bytes]
    out: IO[bytes]
    _asked: int = 0
    _diagnostics: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def open(self, uri: str, text: str) -> None:
        """Show the server a file's text, which need not be on disk."""
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def completion(self, uri: str, line: int, column: int) -> list[dict[str, Any]]:
        """Return what can be completed at a place."""
        answer = self._ask("textDocument/completion", _place(uri, line, column))
        return list(answer["items"])

    def hover(self, uri: str, line: int, column: int) -> str:
        """Return what is shown at a place, in Markdown; empty if nothing is."""
        answer = self._ask("textDocument/hover", _place(uri, line, column))
        return str(answer["contents"]["value"]) if answer else ""

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Return the faults of an opened file; the server tells them unasked."""
        while uri not in self._diagnostics:
            self._handle(self._receive())
        return self._diagnostics[uri]

    def start(self) -> None:
        """Introduce ourselves, as an editor that knows snippets and Markdown."""
        item = {"snippetSupport": True, "documentationFormat": ["markdown", "plaintext"]}
        abilities = {
            "workspace": {"configuration": True},
            "textDocument": {
                "completion": {"completionItem": item},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
            },
        }
        own = {"processId": os.getpid(), "rootUri": None, "capabilities": abilities}
        self._ask("initialize", own)
        self._send({"method": "initialized", "params": {}})

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" not in message and message.get("id") == self._asked:
                if "error" in message:
                    raise EditorError(f"{method}: {message['error']}")
                return message["result"]
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        """Answer what the server asks us, and keep what it tells."""
        params = message.get("params", {})
        if message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[params["uri"]] = params["diagnostics"]
        elif "id" in message and "method" in message:
            is_settings = message["method"] == "workspace/configuration"
            answer = (
                [_SETTINGS.get(item.get("section"), {}) for item in params["items"]]
                if is_settings
                else None
            )
            self._send({"id": message["id"], "result": answer})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.into.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.into.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while line := self.out.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EditorError("the language server ended")
        message: dict[str, Any] = json.loads(self.out.read(length))
        return message


@contextmanager
def running(program: Path) -> Iterator[LanguageServer]:
    """Run a server, for at most `RUN_SECONDS_MAX`.

    Raises:
        EditorError: It ended or did not answer.
    """
    process = subprocess.Popen(
        ["node", str(program), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    watch = threading.Timer(RUN_SECONDS_MAX, process.kill)
    watch.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        server = LanguageServer(process.stdin, process.stdout)
        server.start()
        yield server
    finally:
        watch.cancel()
        process.kill()
        process.wait()


def _place(uri: str, line: int, column: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
