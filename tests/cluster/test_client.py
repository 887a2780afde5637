"""Whatever can be wrong between us and the API server becomes one clear error."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tallyard.cluster.client import ALL_NAMESPACES, connect
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.identity import cluster_uid
from tallyard.cluster.kinds import ClusterQueue, Pod
from tests.cluster.conftest import ApiServer, WriteKubeconfig, certificate, refusal

NAMESPACES = "/api/v1/namespaces"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"


def _fault(path: Path, timeout_seconds: float = 5.0) -> ClusterError:
    with (
        connect(path=str(path), timeout_seconds=timeout_seconds) as connection,
        pytest.raises(ClusterError) as raised,
    ):
        connection.list(ClusterQueue)
    return raised.value


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_a_cluster_is_known_by_the_uid_of_kube_system(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers[f"{NAMESPACES}/kube-system"] = {"metadata": {"uid": "1-2-3"}}
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        assert cluster_uid(connection) == "1-2-3"


def test_a_long_list_is_read_page_by_page(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers["/api/v1/pods"] = [{"metadata": {"name": f"p{n}"}} for n in range(1100)]
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        pods = connection.list(Pod, namespace=ALL_NAMESPACES)
    assert [pod["metadata"]["name"] for pod in pods] == [f"p{n}" for n in range(1100)]
    assert len(api_server.asked) == 3


def test_nothing_listens(kubeconfig: WriteKubeconfig) -> None:
    error = _fault(kubeconfig(f"https://127.0.0.1:{_free_port()}"))
    assert error.fault is Fault.UNREACHABLE
    assert "nothing listens" in error.parts().why
    assert "127.0.0.1" in error.parts().where


def test_the_server_does_not_answer_in_time(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.delay_seconds = 2.0
    assert _fault(kubeconfig(api_server.url), timeout_seconds=0.2).fault is Fault.TIMEOUT


def test_the_servers_certificate_is_of_somebody_else(
    tls_api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    error = _fault(kubeconfig(tls_api_server.url))
    assert error.fault is Fault.SERVER_CERTIFICATE
    assert "self-signed" in error.parts().why


def test_a_plain_server_where_tls_is_expected_cannot_be_reached(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    error = _fault(kubeconfig(api_server.url.replace("http:", "https:")))
    assert error.fault is Fault.UNREACHABLE


REFUSALS = [
    (refusal(401, "Unauthorized"), Fault.UNAUTHORIZED),
    (refusal(403, 'clusterqueues is forbidden: User "li.wei" cannot list'), Fault.FORBIDDEN),
    (refusal(404, "the server could not find the requested resource"), Fault.NO_SUCH_KIND),
    (refusal(404, 'clusterqueues "q" not found', name="q"), Fault.NOT_FOUND),
    (refusal(422, "spec.taints[0].effect: Unsupported value"), Fault.REFUSED),
    (refusal(429, "too many requests, please try again later"), Fault.SERVER_FAILED),
    (refusal(500, "etcdserver: leader changed"), Fault.SERVER_FAILED),
    (refusal(503, "apiserver is shutting down"), Fault.SERVER_FAILED),
]


@pytest.mark.parametrize(("answer", "fault"), REFUSALS)
def test_a_refusal_is_told_by_its_kind(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, answer: dict[str, Any], fault: Fault
) -> None:
    api_server.answers[QUEUES] = answer
    error = _fault(kubeconfig(api_server.url))
    assert error.fault is fault
    parts = error.parts("zh")
    assert parts.what
    assert parts.todo


def test_an_expired_certificate_is_told_apart_from_an_unknown_one(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, tmp_path: Path
) -> None:
    """The API server answers both with the same 401."""
    file = tmp_path / "client.pem"
    api_server.answers[QUEUES] = refusal(401, "Unauthorized")
    user = {"client-certificate": str(file), "client-key": str(file)}
    for days, fault in ((-1, Fault.EXPIRED), (1, Fault.UNAUTHORIZED)):
        file.write_bytes(certificate("li.wei", datetime.now(UTC) + timedelta(days=days)))
        assert _fault(kubeconfig(api_server.url, user=user)).fault is fault


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{_free_port()}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    api_server.answers[QUEUES] = []
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        assert connection.list(ClusterQueue) == ()


def _answered(answer: bytes, kubeconfig: WriteKubeconfig) -> ClusterError:
    """Ask what answers any request with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        error = _fault(kubeconfig(f"http://127.0.0.1:{listener.getsockname()[1]}"))
        thread.join()
    return error


def test_a_server_that_is_busy_is_told_by_what_stands_before_it_too(
    kubeconfig: WriteKubeconfig,
) -> None:
    """A load balancer answers with a page of its own and not with a Status."""
    answer = b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/html\r\n\r\n<html></html>"
    error = _answered(answer, kubeconfig)
    assert error.fault is Fault.SERVER_FAILED
    assert "HTTP 503" in error.parts().why


@pytest.mark.parametrize(
    "answer",
    [
        # Go's, where the kubeconfig says http and the port wants TLS.
        b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Log in</html>",
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n[]",
        b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"items": 3}',
    ],
)
def test_who_does_not_answer_like_an_api_server_is_told_so(
    kubeconfig: WriteKubeconfig, answer: bytes
) -> None:
    error = _answered(answer, kubeconfig)
    assert error.fault is Fault.UNREACHABLE
    assert "did not answer like an API server" in error.parts().why
