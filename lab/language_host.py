"""Runs Pulumi programs and policy packs written in Python, where no official Pulumi is.

The engine starts a *language host* per language and speaks gRPC with it. The official host for
Python is part of Pulumi's distribution only, so beside an engine built from source this one
stands in for it. It serves what `up`, `preview`, `refresh` and policy packs ask for; making
new projects, installing packages and generating code are left to the official distribution.

It imports nothing of Tallyard: it is started by its file name in a bare process.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2  # type: ignore[import-untyped]
from pulumi.runtime.proto import language_pb2, plugin_pb2
from pulumi.runtime.proto.language_pb2_grpc import (
    LanguageRuntimeServicer,
    add_LanguageRuntimeServicer_to_server,
)

# The executor ends with this code when it has already shown the error to the person.
EXIT_ERROR_WAS_SHOWN = 32
# The engine's own bound on one message.
MESSAGE_BYTES_MAX = 400 * 1024 * 1024
CALLS_AT_ONCE_MAX = 16
PARENT_CHECK_SECONDS = 1.0
CHILD_STOP_SECONDS_MAX = 2.0


class HostError(Exception):
    """The program cannot be started; the text says what to do."""


def interpreter(root: Path, virtualenv: str) -> Path:
    """Return the Python that runs a program.

    Args:
        root: the folder of the program's own YAML (Pulumi.yaml or PulumiPolicy.yaml).
        virtualenv: the option `virtualenv` of that YAML, relative to the folder; empty for
            the Python that runs this host.

    Raises:
        HostError: that virtual environment has no Python.
    """
    if not virtualenv:
        return Path(sys.executable)
    python = root / virtualenv / "bin" / "python"
    if not python.exists():
        raise HostError(
            f"{root}: the runtime option virtualenv: {virtualenv} names no virtual environment "
            f"({python} is missing). `make up` creates the one of this project."
        )
    return python


def program_command(
    python: Path, executor: Path, engine: str, request: language_pb2.RunRequest
) -> tuple[str, ...]:
    """Return the command line that runs a Pulumi program."""
    options = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": request.info.root_directory,
        "stack": request.stack,
        "pwd": request.info.program_directory or request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "organization": request.organization,
    }
    given = (part for key, value in options.items() if value for part in (f"--{key}", value))
    return (str(python), "-u", str(executor), *given, request.info.entry_point or ".")


def program_environment(
    environ: Mapping[str, str], python: Path, request: language_pb2.RunRequest
) -> dict[str, str]:
    """Return the environment of a Pulumi program: ours, the stack's configuration, its venv."""
    return {
        **_environment_of(environ, python),
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
    }


def run_response(returncode: int) -> language_pb2.RunResponse:
    """Return what the engine is told about a program that ended with this code."""
    if returncode == 0:
        return language_pb2.RunResponse()
    if returncode == EXIT_ERROR_WAS_SHOWN:
        return language_pb2.RunResponse(bail=True)
    if returncode < 0:
        name = signal.Signals(-returncode).name
        return language_pb2.RunResponse(error=f"the program was ended by {name}")
    return language_pb2.RunResponse(error=f"the program ended with exit code {returncode}")


def _environment_of(environ: Mapping[str, str], python: Path) -> dict[str, str]:
    folder = python.parent
    path = os.pathsep.join(p for p in (str(folder), environ.get("PATH", "")) if p)
    return {**environ, "VIRTUAL_ENV": str(folder.parent), "PATH": path}


def _option(info: language_pb2.ProgramInfo, name: str) -> str:
    return str(dict(info.options).get(name) or "")


class _Children:
    """The programs under way, so that none outlives the host."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def start(
        self, command: Sequence[str], context: Any, **options: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program while the context lasts; it ends when its call is cancelled."""
        process: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, **options
        )
        with self._lock:
            self._running.add(process)
        context.add_callback(lambda: _stop(process))
        try:
            yield process
        finally:
            _stop(process)
            with self._lock:
                self._running.discard(process)

    def stop_all(self) -> None:
        """End what still runs."""
        with self._lock:
            running = tuple(self._running)
        for process in running:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(CHILD_STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()


@dataclass(frozen=True)
class Host(LanguageRuntimeServicer):
    """Answers the engine. Method names are the protocol's."""

    engine: str
    executor: Path
    children: _Children

    def Handshake(self, request: Any, context: Any) -> language_pb2.LanguageHandshakeResponse:  # noqa: ARG002, N802, D102
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> plugin_pb2.PluginInfo:  # noqa: ARG002, N802, D102
        return plugin_pb2.PluginInfo()

    def About(self, request: Any, context: Any) -> language_pb2.AboutResponse:  # noqa: ARG002, N802, D102
        return language_pb2.AboutResponse(
            executable=sys.executable, version=platform.python_version()
        )

    # What a program needs is in its virtual environment and the lab's Pulumi home already, so
    # there is nothing for the engine to fetch.
    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802, D102
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802, D102
        return language_pb2.GetRequiredPackagesResponse()

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802, D102
        return language_pb2.GetProgramDependenciesResponse()

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802, D102
        return language_pb2.RuntimeOptionsResponse()

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: ARG002, N802, D102
        context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            "this project's packages come from its lock: run `make up`",
        )
        yield from ()

    def Cancel(self, request: Any, context: Any) -> empty_pb2.Empty:  # noqa: ARG002, N802, D102
        self.children.stop_all()
        return empty_pb2.Empty()

    def Run(self, request: language_pb2.RunRequest, context: Any) -> language_pb2.RunResponse:  # noqa: N802
        """Run a Pulumi program to its end. Its output is this process's own."""
        info = request.info
        try:
            python = interpreter(Path(info.root_directory), _option(info, "virtualenv"))
        except HostError as error:
            return language_pb2.RunResponse(error=str(error))
        command = program_command(python, self.executor, self.engine, request)
        environment = program_environment(os.environ, python, request)
        folder = info.program_directory or request.pwd
        with self.children.start(command, context, cwd=folder, env=environment) as process:
            return run_response(process.wait())

    def RunPlugin(  # noqa: N802
        self, request: language_pb2.RunPluginRequest, context: Any
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Run a policy pack and stream what it says, byte for byte.

        The engine reads the port that the pack listens on from the first line.
        """
        if request.kind != "analyzer":
            message = f"this host runs policy packs only, not plugins of kind {request.kind!r}"
            context.abort(grpc.StatusCode.UNIMPLEMENTED, message)
        info = request.info
        try:
            python = interpreter(Path(info.root_directory), _option(info, "virtualenv"))
        except HostError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise
        engine = request.args[0] if request.args else self.engine
        command = (str(python), "-u", "-m", "pulumi.policy", engine, info.program_directory)
        given = dict(pair.split("=", 1) for pair in request.env if "=" in pair)
        with self.children.start(
            command,
            context,
            cwd=request.pwd or info.program_directory,
            env={**_environment_of(os.environ, python), **given},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for name, data in _pieces(process):
                yield _RESPONSES[name](data)
            yield language_pb2.RunPluginResponse(exitcode=process.wait())


_RESPONSES: Mapping[str, Callable[[bytes], language_pb2.RunPluginResponse]] = {
    "stdout": lambda data: language_pb2.RunPluginResponse(stdout=data),
    "stderr": lambda data: language_pb2.RunPluginResponse(stderr=data),
}


def _pieces(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the output and error of a process as they come, until both are closed."""
    pieces: queue.Queue[tuple[str, bytes]] = queue.Queue()

    def read(name: str, stream: IO[bytes]) -> None:
        while data := os.read(stream.fileno(), 65536):
            pieces.put((name, data))
        pieces.put((name, b""))

    streams = {"stdout": process.stdout, "stderr": process.stderr}
    for name, stream in streams.items():
        threading.Thread(target=read, args=(name, stream), daemon=True).start()
    still_open = len(streams)
    while still_open:
        name, data = pieces.get()
        if data:
            yield name, data
        else:
            still_open -= 1


def serve(engine: str, executor: Path) -> None:
    """Serve the engine on a free port, printed first, until asked to stop or left alone."""
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    parent = os.getppid()
    children = _Children()
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(CALLS_AT_ONCE_MAX),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
        ],
    )
    add_LanguageRuntimeServicer_to_server(Host(engine, executor, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201
    # An engine that was killed sends no signal; its host then has another parent.
    while not over.wait(PARENT_CHECK_SECONDS) and os.getppid() == parent:
        pass
    children.stop_all()
    server.stop(grace=None)


def main() -> None:
    """Read the command line that the engine gives: flags first, then its own address."""
    parser = argparse.ArgumentParser(prog="pulumi-language-python")
    parser.add_argument("--exec", type=Path, required=True, dest="executor")
    parser.add_argument("-tracing", "--tracing")  # takes a value that is not the address
    parser.add_argument("engine", nargs="?", default="")
    known, _ = parser.parse_known_args()
    serve(known.engine, known.executor)


if __name__ == "__main__":
    main()
