"""The shared HTTP client: what it sends, closes, refuses and keeps out of the log."""

import asyncio
import gzip
import logging
import subprocess
import sys
import time

import pytest

from tark_lsp import http
from tark_lsp.errors import ConnectionFailed, ProtocolError, SettingsError, StreamCut, TarkError
from tark_lsp.http import KEPT_CONNECTIONS, HttpRequest, HttpTransport
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

SECRET = "sk-very-secret"


async def body_of(url: str, **headers: str) -> bytes:
    transport = HttpTransport()
    try:
        response = await transport.send(HttpRequest("POST", url, headers, b"{}"))
        try:
            return b"".join([chunk async for chunk in response.chunks])
        finally:
            await response.aclose()
    finally:
        await transport.aclose()


async def test_head_and_body() -> None:
    async with Loopback([Raw([b"a", b"b"], 418, {"X-Odd": "1"})]) as server:
        transport = HttpTransport()
        response = await transport.send(HttpRequest("POST", f"{server.url}/p?q=1", {"x-a": "b"}, b"body"))
        assert (response.status, response.headers["x-odd"]) == (418, "1")
        assert b"".join([chunk async for chunk in response.chunks]) == b"ab"
        await response.aclose()
        await transport.aclose()
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/p?q=1", b"body")
    assert (request.headers["x-a"], request.headers["accept-encoding"]) == ("b", "identity")


async def test_a_process_that_is_late_connects_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own delay is no fault of the server: on a busy machine, 5 of 200 requests at once would make a model rest."""
    monkeypatch.setattr(http, "CONNECT_SECONDS", 0.1)
    loop = asyncio.get_running_loop()

    def stand_still(times: int) -> None:
        time.sleep(0.4)
        if times > 1:
            loop.call_soon(stand_still, times - 1)

    async with Loopback([Raw([b"a"])]) as server, Loopback([Raw([b"b"])]) as other:
        transport = HttpTransport()
        await (await transport.send(HttpRequest("POST", server.url))).aclose()
        sending = asyncio.create_task(transport.send(HttpRequest("POST", other.url)))
        loop.call_soon(stand_still, 2)
        response = await sending
        assert response.status == 200
        await response.aclose()
        await transport.aclose()


async def test_a_body_that_is_compressed_unasked() -> None:
    packed = gzip.compress(b"hello")
    headers = {"content-encoding": "gzip"}
    async with Loopback([Raw([packed[:5], packed[5:]], headers=headers), Raw([b"no gzip"], headers=headers)]) as server:
        assert await body_of(server.url) == b"hello"
        with pytest.raises(ProtocolError, match="decompressed"):
            await body_of(server.url)


@pytest.mark.parametrize("raw", [Raw([b"a"], reset=True), Raw([b"a"], length=10, reset=True)])
async def test_a_connection_that_breaks(raw: Raw) -> None:
    async with Loopback([raw]) as server:
        with pytest.raises(StreamCut, match="broke"):
            await body_of(server.url)


REFUSED: dict[str, tuple[str, dict[str, str], type[TarkError]]] = {
    "no scheme": ("example", {}, SettingsError),
    "another scheme": ("ftp://127.0.0.1/", {}, SettingsError),
    "no port": ("http://127.0.0.1:none/", {}, SettingsError),
    "a header that is none": ("http://127.0.0.1:9/", {"x-a": "b\nc"}, TarkError),
    "a header beyond ASCII": ("http://127.0.0.1:9/", {"x-a": "\u201d"}, SettingsError),
    "no such host": ("http://nobody.invalid/", {}, ConnectionFailed),
}


@pytest.mark.parametrize(("url", "headers", "kind"), REFUSED.values(), ids=REFUSED.keys())
async def test_invalid_requests(url: str, headers: dict[str, str], kind: type[TarkError]) -> None:
    with pytest.raises(kind):
        await body_of(url, **headers)


async def test_a_server_without_tls() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 not a web server\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match="no secure connection") as caught:
            await body_of(f"https://127.0.0.1:{port}/")
    assert caught.value.retryable is False


async def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Loopback([Raw([b"direct"])]) as server, Loopback([Raw([b"proxied"])]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert await body_of(server.url) == b"direct"
        assert proxy.connections == 0


async def test_other_hosts_do(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Loopback([Raw([b"proxied"])]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert await body_of("http://model.invalid/v1") == b"proxied"


async def test_closing_early_closes_the_socket() -> None:
    async with Loopback([Raw([b"a"], stall=True)]) as server:
        transport = HttpTransport()
        response = await transport.send(HttpRequest("POST", server.url, {}, b"{}"))
        assert await anext(response.chunks) == b"a"
        await response.aclose()
        await asyncio.wait_for(server.requests[0].closed.wait(), AT_ONCE)
        await transport.aclose()


async def test_keys_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    keys = {"authorization": f"Bearer {SECRET}", "x-api-key": SECRET, "x-goog-api-key": SECRET, "api-key": SECRET}
    keys |= {"x-own-gateway": SECRET, "cookie": f"it's={SECRET}", "proxy-authorization": f'Basic "{SECRET}\\'}
    given = {"set-cookie": f"a={SECRET}", "location": f"https://x/?code={SECRET}"}
    queries = "&".join(f"{name}={SECRET}" for name in ("key", "access_token", "token", "device_code", "user_code"))
    async with Loopback([Raw([b"a"], headers=given)]) as server:
        await body_of(f"{server.url.replace('//', f'//me:{SECRET}@')}/v1?{queries}&alt=sse", **keys)
    assert "alt=sse" in caplog.text
    assert "***" in caplog.text
    assert SECRET not in caplog.text


async def test_nothing_is_left_on_the_loggers() -> None:
    before = [len(logging.getLogger(name).filters) for name in ("httpx", "httpcore.http11")]
    async with Loopback([Raw([b"a"])]) as server:
        await body_of(server.url)
    assert [len(logging.getLogger(name).filters) for name in ("httpx", "httpcore.http11")] == before


def test_httpx_is_not_imported_before_the_first_request() -> None:
    program = "import sys, tark_lsp.http; tark_lsp.http.HttpTransport(); print('httpx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize("answer", [Raw(silent=True), Raw([b"data: {}\n\n"] * 5)], ids=["silent", "whole"])
async def test_no_moment_of_a_cancel_leaves_a_connection(answer: Raw) -> None:
    """httpcore loses connections that are cancelled right after the connect, or while a response is closed."""
    transport = HttpTransport()

    async def ask(url: str) -> None:
        response = await transport.send(HttpRequest("POST", url, body=b"{}"))
        try:
            async for _ in response.chunks:
                pass
        finally:
            await response.aclose()

    async with Loopback([answer]) as server:
        await transport._ready()
        for moment in range(60):
            asking = [asyncio.create_task(ask(f"{server.url}/responses")) for _ in range(20)]
            await asyncio.sleep(moment * 0.0005)
            for task in asking:
                task.cancel()
            await asyncio.wait(asking)
        await server.left(kept=KEPT_CONNECTIONS)
    await transport.aclose()


async def test_few_idle_connections_are_kept() -> None:
    """httpcore needs time that grows with their square, or worse, when many requests start together."""
    async with Loopback([Raw([b"a"])]) as server:
        transport = HttpTransport()
        responses = await asyncio.gather(
            *(transport.send(HttpRequest("POST", server.url, {}, b"")) for _ in range(3 * KEPT_CONNECTIONS))
        )
        for response in responses:
            assert b"".join([chunk async for chunk in response.chunks]) == b"a"
            await response.aclose()
        await server.left(kept=KEPT_CONNECTIONS)
        await transport.aclose()
