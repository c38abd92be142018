"""The shared HTTP client with proxies and with servers that have certificates, all on loopback."""

import base64
import logging
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from tark_lsp.errors import ConnectionFailed, SettingsError, TarkError
from tark_lsp.http import HttpRequest, HttpTransport
from tests.loopback import Loopback, Raw
from tests.proxy import LoopbackProxy

KEY = "sk-very-secret"
HOST = "model.test"
"""No name server knows it: who reaches it went through the proxy."""


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def files(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PEM files: ca, other (another authority), client (certificate and key), certificate, key, foreign (a key)."""
    folder = tmp_path_factory.mktemp("certificates")
    authority.cert_pem.write_to_path(str(folder / "ca"))
    trustme.CA().cert_pem.write_to_path(str(folder / "other"))
    mine, foreign = authority.issue_cert("client@model.test"), authority.issue_cert("foreign@model.test")
    mine.private_key_and_cert_chain_pem.write_to_path(str(folder / "client"))
    mine.cert_chain_pems[0].write_to_path(str(folder / "certificate"))
    mine.private_key_pem.write_to_path(str(folder / "key"))
    foreign.private_key_pem.write_to_path(str(folder / "foreign"))
    (folder / "text").write_text("no certificate", "utf-8")
    return folder


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.heads.append(str(self.headers))  # type: ignore[attr-defined]  # ours, below
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"safe")

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  the parent's name
        """Nothing on stderr."""


class _Server(ThreadingHTTPServer):
    heads: list[str]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that did not trust us; its test says so."""


@contextmanager
def tls_server(authority: trustme.CA, *names: str, wants_certificate: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Its port, and the heads of what it was asked. It answers `safe`.

    On threads: asyncio's server never says why it refuses a client, it breaks the connection.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    if wants_certificate:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    server = _Server(("127.0.0.1", 0), _Answer)
    server.heads = []
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port, server.heads
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def get(url: str) -> bytes:
    transport = HttpTransport()
    try:
        response = await transport.send(HttpRequest("GET", url, {"authorization": f"Bearer {KEY}"}))
        try:
            return b"".join([chunk async for chunk in response.chunks])
        finally:
            await response.aclose()
    finally:
        await transport.aclose()


@pytest.fixture(autouse=True)
def nothing_of_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def no_proxy_but(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_https_goes_through_a_tunnel(
    authority: trustme.CA, files: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with tls_server(authority, HOST) as (port, heads):
        async with LoopbackProxy(port) as proxy:
            no_proxy_but(monkeypatch, **{variable: proxy.url, "SSL_CERT_FILE": str(files / "ca")})
            assert await get(f"https://{HOST}/v1") == b"safe"
            assert proxy.asked == [f"CONNECT {HOST}:443 HTTP/1.1"]
            assert KEY.encode() not in proxy.heads[0]
            assert KEY in heads[0]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_http_is_asked_of_the_proxy(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    async with Loopback([], listing=Raw([b"plain"])) as server:
        async with LoopbackProxy(int(server.url.rpartition(":")[2])) as proxy:
            no_proxy_but(monkeypatch, **{variable: proxy.url})
            assert await get(f"http://{HOST}/v1/models") == b"plain"
        assert proxy.asked == [f"GET http://{HOST}/v1/models HTTP/1.1"]
        assert server.requests[0].path == "/v1/models"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_proxys_own_password(
    authority: trustme.CA,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    scheme: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    with tls_server(authority, HOST) as (port, _):
        async with Loopback([], listing=Raw([b"safe"])) as plain:
            target = port if scheme == "https" else int(plain.url.rpartition(":")[2])
            async with LoopbackProxy(target, login="me:p@ss/word") as proxy:
                given = f"http://me:p%40ss%2Fword@{proxy.address}"
                no_proxy_but(monkeypatch, ALL_PROXY=given, SSL_CERT_FILE=str(files / "ca"))
                assert await get(f"{scheme}://{HOST}/v1") == b"safe"
    basic = base64.b64encode(b"me:p@ss/word").decode()
    assert proxy.asked
    for secret in ("p@ss", "p%40ss", basic, KEY):
        assert secret not in caplog.text


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_wants_a_password(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    async with LoopbackProxy(9, login="me:right-one") as proxy:
        no_proxy_but(monkeypatch, ALL_PROXY=f"http://me:wrong-one@{proxy.address}")
        with pytest.raises(ConnectionFailed, match="the proxy in ALL_PROXY does not connect to model") as caught:
            await get(f"{scheme}://{HOST}/v1")
    assert "user name and password" in caught.value.hint
    assert not caught.value.retryable
    assert "wrong-one" not in str(caught.value) + repr(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value)


@pytest.mark.parametrize(("status", "again"), [("502 Bad Gateway", True), ("403 Forbidden", False)])
async def test_a_proxy_that_refuses(monkeypatch: pytest.MonkeyPatch, status: str, again: bool) -> None:
    async with LoopbackProxy(9, refuse=status) as proxy:
        no_proxy_but(monkeypatch, HTTPS_PROXY=proxy.url)
        with pytest.raises(ConnectionFailed, match=f"does not connect to model.test: {status}") as caught:
            await get(f"https://{HOST}/v1")
    assert caught.value.retryable is again
    assert "NO_PROXY" in caught.value.hint
    assert KEY not in str(caught.value)


async def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with LoopbackProxy(9) as proxy:
        address = proxy.address
    no_proxy_but(monkeypatch, HTTPS_PROXY=f"http://me:pass-word@{address}")
    with pytest.raises(ConnectionFailed, match="no connection to model") as caught:
        await get(f"https://{HOST}/v1")
    assert "the proxy in HTTPS_PROXY" in caught.value.hint
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ["socks9://me:pass-word@nowhere", "http://me:pass-word@nowhere:port", "http://me:pass/word@nowhere", "http://[::1"],
)
async def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    no_proxy_but(monkeypatch, ALL_PROXY=value)
    with pytest.raises(SettingsError, match="ALL_PROXY cannot be used") as caught:
        await get(f"https://{HOST}/v1")
    assert "http://USER:PASSWORD@HOST:PORT" in caught.value.hint
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize("value", [HOST, ".test", "other.test, model.test", "*"])
async def test_hosts_of_no_proxy_are_asked_directly(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    async with LoopbackProxy(9) as proxy:
        no_proxy_but(monkeypatch, HTTPS_PROXY=proxy.url, HTTP_PROXY=proxy.url, NO_PROXY=value)
        for scheme in ("http", "https"):
            with pytest.raises(ConnectionFailed, match="no connection"):
                await get(f"{scheme}://{HOST}/v1")
    assert proxy.asked == []


async def test_a_server_with_its_own_authority(
    authority: trustme.CA, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server(authority, "127.0.0.1") as (port, _):
        for name in ("other", None):
            if name is None:
                monkeypatch.delenv("SSL_CERT_FILE")
            else:
                monkeypatch.setenv("SSL_CERT_FILE", str(files / name))
            with pytest.raises(ConnectionFailed, match="no secure connection") as caught:
                await get(f"https://127.0.0.1:{port}/")
            assert "SSL_CERT_FILE" in caught.value.hint
            assert not caught.value.retryable
        monkeypatch.setenv("SSL_CERT_FILE", str(files / "ca"))
        assert await get(f"https://127.0.0.1:{port}/") == b"safe"


async def test_a_folder_of_authorities(
    authority: trustme.CA, files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / f"{_hash_of(files / 'ca')}.0").write_bytes((files / "ca").read_bytes())
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with tls_server(authority, "127.0.0.1") as (port, _):
        assert await get(f"https://127.0.0.1:{port}/") == b"safe"


def _hash_of(certificate: Path) -> str:
    """OpenSSL finds a certificate in a folder by this name."""
    command = ["openssl", "x509", "-noout", "-hash", "-in", str(certificate)]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except FileNotFoundError:
        pytest.skip("openssl, the program, is needed to name the file")


@pytest.mark.parametrize("given", [("client", None), ("certificate", "key")], ids=["one file", "two files"])
async def test_a_server_that_wants_a_certificate(
    authority: trustme.CA, files: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, str | None]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(files / "ca"))
    with tls_server(authority, "127.0.0.1", wants_certificate=True) as (port, heads):
        with pytest.raises(ConnectionFailed, match=r"no (secure )?connection to") as caught:
            await get(f"https://127.0.0.1:{port}/")
        assert "TARK_CLIENT_CERT" in caught.value.hint
        assert heads == []
        monkeypatch.setenv("TARK_CLIENT_CERT", str(files / given[0]))
        if given[1]:
            monkeypatch.setenv("TARK_CLIENT_KEY", str(files / given[1]))
        assert await get(f"https://127.0.0.1:{port}/") == b"safe"


WRONG: list[tuple[dict[str, str], Sequence[str]]] = [
    ({"SSL_CERT_FILE": "missing"}, ["SSL_CERT_FILE is", "missing", "No such file"]),
    ({"SSL_CERT_FILE": "text"}, ["SSL_CERT_FILE is", "contains no certificates"]),
    ({"SSL_CERT_DIR": "missing"}, ["SSL_CERT_DIR is", "not a folder"]),
    ({"TARK_CLIENT_CERT": "missing"}, ["TARK_CLIENT_CERT is", "missing", "No such file"]),
    ({"TARK_CLIENT_CERT": "."}, ["TARK_CLIENT_CERT is", "directory"]),
    ({"TARK_CLIENT_CERT": "text"}, ["TARK_CLIENT_CERT is not a matching PEM certificate", "text"]),
    ({"TARK_CLIENT_CERT": "certificate"}, ["TARK_CLIENT_CERT is not a matching PEM certificate and key"]),
    ({"TARK_CLIENT_CERT": "certificate", "TARK_CLIENT_KEY": "missing"}, ["TARK_CLIENT_KEY is", "missing"]),
    ({"TARK_CLIENT_CERT": "certificate", "TARK_CLIENT_KEY": "foreign"}, ["not a matching", "foreign"]),
    ({"TARK_CLIENT_KEY": "key"}, ["TARK_CLIENT_KEY is set without TARK_CLIENT_CERT"]),
]


@pytest.mark.parametrize(("variables", "words"), WRONG)
async def test_certificates_that_cannot_be_used(
    files: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], words: Sequence[str]
) -> None:
    for name, file in variables.items():
        monkeypatch.setenv(name, str(files / file))
    with pytest.raises(SettingsError) as caught:
        await get("https://127.0.0.1:9/")
    assert caught.value.hint
    for word in words:
        assert word in str(caught.value)


async def test_a_client_key_with_a_password_is_never_asked_for(
    files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key((files / "key").read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    (tmp_path / "locked").write_bytes(locked)
    monkeypatch.setenv("TARK_CLIENT_CERT", str(files / "certificate"))
    monkeypatch.setenv("TARK_CLIENT_KEY", str(tmp_path / "locked"))
    with pytest.raises(SettingsError, match="has a password"):
        await get("https://127.0.0.1:9/")


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://127.0.0.1:9/", {"authorization": f"Bearer {KEY}\nx-other: 1"}),
        (f"http://me:{KEY}@127.0.0.1:none/?key={KEY}", {}),
        (f"ftp://me:{KEY}@127.0.0.1/?key={KEY}", {}),
        ("http://127.0.0.1:9/", {"authorization": f"Bearer {KEY}\u201d"}),
    ],
)
async def test_errors_of_invalid_requests_contain_no_key(url: str, headers: dict[str, str]) -> None:
    transport = HttpTransport()
    with pytest.raises(TarkError) as caught:
        await transport.send(HttpRequest("GET", url, headers))
    await transport.aclose()
    assert KEY not in str(caught.value) + repr(caught.value)
