"""What reaches the gateway as bytes: broken and hostile HTTP, heads that do not end, more than it can do at once."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tark_lsp.gateway import body, connections, load
from tark_lsp.gateway.serving import listen
from tark_lsp.llm.scripted.scenario import Reply
from tests.gateway.running import TOKEN, running_gateway
from tests.gateway.test_http import Answered, asking, request, send
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

HEAD = f"POST /v1/responses HTTP/1.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n"
BODY = asking()
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


def raw(*lines: str, body: bytes = BODY, host: str = "host: localhost") -> bytes:
    fields = "".join(f"{line}\r\n" for line in (host, *lines) if line)
    return f"{HEAD}{fields}\r\n".encode("latin-1") + body


LENGTH = f"content-length: {len(BODY)}"
HOSTILE = {
    "two hosts": (raw("host: evil.example", LENGTH), 403),
    "no host": (raw(LENGTH, host=""), 403),
    "empty host": (raw(LENGTH, host="host:"), 403),
    "login in host": (raw(LENGTH, host="host: localhost@evil.example"), 403),
    "path in host": (raw(LENGTH, host="host: localhost/evil.example"), 403),
    "number as host": (raw(LENGTH, host="host: 2130706433"), 403),
    "forwarded host": (raw("x-forwarded-host: localhost", LENGTH, host="host: evil.example"), 403),
    "two origins": (raw("origin: null", "origin: http://localhost", LENGTH), 403),
    "empty origin": (raw("origin:", LENGTH), 403),
    "two tokens": (raw("authorization: Bearer x", LENGTH), 401),
    "two lengths": (raw(LENGTH, "content-length: 1"), 400),
    "length and chunks": (raw("transfer-encoding: chunked", "content-length: 3", body=CHUNKED), 400),
    "unknown encoding": (raw("transfer-encoding: xchunked", LENGTH), 400),
    "negative length": (raw("content-length: -1"), 400),
    "length with a sign": (raw(f"content-length: +{len(BODY)}"), 400),
    "space before the colon": (raw(f"content-length : {len(BODY)}"), 400),
    "folded line": (raw("x: y\r\n z", LENGTH), 400),
    "zero byte": (raw("x: \0", LENGTH), 400),
    "bare line feed": (raw("x: y\ntransfer-encoding: chunked", LENGTH), 400),
    "chunk without a size": (raw("transfer-encoding: chunked", body=b"zz\r\n"), 400),
    "not HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "large header": (raw(f"x: {'y' * 70_000}", LENGTH), 431),
    "many headers": (raw(*(f"x{n}: {'y' * 1000}" for n in range(70)), LENGTH), 431),
    "endless header": (f"{HEAD}x: {'y' * 300_000}".encode(), 431),
}


async def test_hostile_http() -> None:
    """Each gets one error, and no model is asked."""
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        for name, (sent, status) in HOSTILE.items():
            answer = await send(url, sent)
            assert (name, answer.status) == (name, status)
            assert answer.error["message"]
    assert upstream.requests == []


async def test_chunks_and_requests_one_after_another() -> None:
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        async with connected(url) as (reader, writer):
            for sent in (raw("transfer-encoding: chunked", body=CHUNKED), raw(LENGTH)):
                writer.write(sent)
                assert (await read_answer(reader)).status == 200
        chunks = [b"1\r\n%c\r\n" % byte for byte in BODY]  # each byte in a chunk of its own
        answer = await send(url, raw("transfer-encoding: chunked", body=b"".join(chunks) + b"0\r\n\r\n"))
        assert answer.status == 200
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_leaves_that_sent_more_requests_than_it_read(stream: bool) -> None:
    """The answer ends, and so does the connection: the other requests are not run."""
    half = Raw([b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'], stall=True)
    body = asking(stream=stream)
    several = raw(f"content-length: {len(body)}", body=body) * 3
    async with (
        Loopback([half]) as upstream,
        running_gateway(upstream) as url,
        asyncio.timeout(AT_ONCE),
    ):
        async with connected(url) as (_, writer):
            writer.write(several)
            await upstream.asked(1)
        await upstream.requests[0].closed.wait()
        upstream.then(Reply(text="Hi"))
        async with connected(url) as (reader, writer):
            writer.write(raw(LENGTH) * 3)
            assert (await read_answer(reader)).status == 200
            assert await reader.read() == b""
    assert len(upstream.requests) == 2


async def test_an_offer_of_http_2_is_ignored() -> None:
    """Java's client makes it. A tunnel is refused."""
    offer = raw(LENGTH, "connection: upgrade, http2-settings", "Upgrade: h2c", "http2-settings: AAMAAABkAARAAAAA")
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        assert (await send(url, offer)).status == 200
        answer = await send(url, request("CONNECT", "localhost:1"))
    assert (answer.status, answer.error["code"]) == (400, "invalid_http")
    assert len(upstream.requests) == 1


async def test_trailers_change_nothing() -> None:
    """They cannot bring the token."""
    trailers = f"authorization: Bearer {TOKEN}\r\n\r\n".encode()
    fields = "host: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        answer = await send(url, f"POST /v1/responses HTTP/1.1\r\n{fields}".encode() + CHUNKED[:-2] + trailers)
    assert answer.status == 401


@pytest.mark.parametrize("begun", [b"", b"POST /v1/resp", b"POST /v1/responses HTTP/1.1\r\nhost: local"])
async def test_a_head_that_does_not_end(monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.05)
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        assert (await send(url, begun)).error["code"] == "request_timeout"


async def test_a_large_body_with_a_wrong_token_gets_its_error() -> None:
    """The rest of the body is read, so that the client reads the error and not a broken connection."""
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        answer = await send(url, request(content=b"x" * 3_000_000, authorization="Bearer wrong"))
    assert answer.status == 401


async def test_more_than_it_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said at once, and as soon as one has ended, the next one is answered."""
    monkeypatch.setattr(load, "MAX_RUNNING", 2)
    async with (
        Loopback([Raw(silent=True)]) as upstream,
        running_gateway(upstream) as url,
        connected(url) as (_, one),
        connected(url) as (_, other),
        asyncio.timeout(AT_ONCE),
    ):
        for number, writer in enumerate((one, other), 1):
            writer.write(raw(LENGTH))
            await upstream.asked(number)
        answer = await send(url, raw(LENGTH))
        assert (answer.status, answer.error["code"]) == (503, "gateway_busy")
        assert (answer.headers["retry-after"], answer.headers["x-should-retry"]) == ("1", "true")
        one.close()
        await upstream.requests[0].closed.wait()
        upstream.then(Reply(text="Hi"))
        assert (await send(url, raw(LENGTH))).status == 200


async def test_chunked_bodies_count_as_long_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their length is unknown only until they are read: a stream that runs for long holds no more than its body."""
    monkeypatch.setattr(load, "MAX_BYTES", body.MAX_BYTES + 10_000)
    chunked = raw("transfer-encoding: chunked", body=CHUNKED)
    async with (
        Loopback([Raw(silent=True)]) as upstream,
        running_gateway(upstream) as url,
        connected(url) as (_, one),
        asyncio.timeout(AT_ONCE),
    ):
        one.write(chunked)
        await upstream.asked(1)
        upstream.then(Reply(text="Hi"))
        assert (await send(url, chunked)).status == 200


async def test_more_connections_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    async with (
        Loopback([Reply(text="Hi")]) as upstream,
        running_gateway(upstream) as url,
        connected(url) as (_, writer),
    ):
        writer.write(b"POST")
        await writer.drain()
        assert (await send(url, b"")).error["code"] == "gateway_busy"


async def test_no_event_waits_for_the_acknowledgement_of_the_last_one() -> None:
    """Nagle's algorithm is off. With it, and a client that delays its acknowledgements, it would be 40 ms each."""
    serving: list[socket.socket] = []

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            serving.append(transport.get_extra_info("socket"))
            made.set()

    made, listening = asyncio.Event(), listen(0)
    server = await asyncio.get_running_loop().create_server(Accepted, sock=listening)
    async with server, connected(f"http://127.0.0.1:{listening.getsockname()[1]}/v1"):
        await made.wait()
        assert serving[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()


async def read_answer(reader: asyncio.StreamReader) -> Answered:
    async with asyncio.timeout(AT_ONCE):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        content = await reader.readexactly(int(headers["content-length"]))
    assert json.loads(content)
    return Answered(int(head[0].split()[1]), headers, content)
