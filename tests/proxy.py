"""A forward proxy on loopback, which leads every host to one server on loopback, and records what it was asked.

    async with LoopbackProxy(server_port) as proxy: ... proxy.url, proxy.asked ...

It speaks what a client needs of RFC 9110: `CONNECT host:port` for https, a whole URL in the request line for http.
"""

import asyncio
import base64
from contextlib import suppress
from types import TracebackType

from tests.loopback import end_server


class LoopbackProxy:
    """`port`: of the server on 127.0.0.1 that everything leads to. `login`: "user:password" it wants, else 407.

    `refuse`: a status line's rest ("502 Bad Gateway") it answers everything with.
    """

    def __init__(self, port: int, *, login: str = "", refuse: str = "") -> None:
        self._port = port
        self._login = login
        self._refuse = refuse
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[str] = []
        """The request lines."""
        self.heads: list[bytes] = []
        """What the proxy could read of each request: the head, and of https no more than that of CONNECT."""
        self.address = ""

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    async def __aenter__(self) -> "LoopbackProxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await end_server(self._server, self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            await _close(writer)
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        line = head.split(b"\r\n", 1)[0].decode()
        self.asked.append(line)
        refusal = self._refuse or ("" if self._let_in(head) else "407 Proxy Authentication Required")
        if refusal:
            writer.write(f"HTTP/1.1 {refusal}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
            await writer.drain()
            return
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._port)
        if line.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            method, url, version = line.split(" ")
            path = "/" + url.partition("://")[2].partition("/")[2]
            upstream.write(f"{method} {path} {version}".encode() + head[len(line) :])
        try:
            await asyncio.gather(_copy(reader, upstream), _copy(upstream_reader, writer))
        finally:
            await _close(upstream)

    def _let_in(self, head: bytes) -> bool:
        wanted = b"Basic " + base64.b64encode(self._login.encode())
        return not self._login or b"proxy-authorization: " + wanted.lower() in head.lower()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, asyncio.CancelledError):
        await writer.wait_closed()
