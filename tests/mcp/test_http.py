"""Streamable HTTP against scripted answers: sessions, streams that break, refusals, redirects, private addresses."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import McpError
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.http_requests import Endpoint
from tark_lsp.mcp.launching import Surroundings, make_transport
from tark_lsp.mcp.opening import open_connection
from tark_lsp.mcp.server_config import ServerConfig, resolve
from tark_lsp.mcp.streamable_http import StreamableHttp
from tark_lsp.mcp_settings import McpServerSettings
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

KEYS = {"authorization": "Bearer k3y"}
AS_JSON = {"content-type": "application/json"}


def reply(result: Any, message_id: int = 1, session: str = "") -> Raw:
    body = {"jsonrpc": "2.0", "id": message_id, "result": result}
    return Raw([json.dumps(body).encode()], headers={**AS_JSON, **({"mcp-session-id": session} if session else {})})


def event(message: Any, event_id: str = "") -> bytes:
    lines = ([f"id: {event_id}"] if event_id else []) + [f"data: {json.dumps(message) if message else ''}"]
    return "\n".join([*lines, "", ""]).encode()


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
NO_STREAM = Raw([b"no"], 405, {"content-type": "text/plain"})
REFUSED = Raw([b"bad request"], 400, {"content-type": "text/plain"})
ACCEPTED = Raw([], 202, length=0)


class Talk:
    """A connection to a scripted server."""

    def __init__(self, answers: Sequence[Raw], listing: Raw = NO_STREAM) -> None:
        self.server = Loopback(answers, listing=listing)

    async def __aenter__(self) -> "Talk":
        await self.server.__aenter__()
        self.connection = Connection(StreamableHttp(Endpoint(f"{self.server.url}/mcp", KEYS)))
        return self

    async def open(self) -> ServerFacts:
        """However slow this machine is, the probe is answered before anything else is sent."""
        return await open_connection(self.connection, seconds=AT_ONCE, silent=AT_ONCE)

    async def __aexit__(self, *error: Any) -> None:
        await self.connection.aclose()
        await self.server.__aexit__(None, None, None)

    def sent(self, method: str) -> list[Any]:
        return [one for one in self.server.requests if one.method == method]


async def test_a_modern_server_gets_headers_and_no_session() -> None:
    async with Talk([reply(DISCOVERED), reply({"content": []}, 2)]) as talk:
        assert (await talk.open()).era is Era.MODERN
        await talk.connection.call("tools/call", {"name": "add", "arguments": {}}, seconds=AT_ONCE)
        asked = talk.sent("POST")[1]
        names = ("mcp-protocol-version", "mcp-method", "mcp-name", "authorization")
        assert [asked.headers[name] for name in names] == ["2026-07-28", "tools/call", "add", "Bearer k3y"]
    assert talk.sent("DELETE") == []
    assert talk.sent("GET") == []


async def test_a_legacy_server_has_a_session_that_is_ended() -> None:
    answers = [REFUSED, reply(HELLO, 2, "s1"), ACCEPTED, reply({"tools": []}, 3), ACCEPTED]
    async with Talk(answers) as talk:
        assert (await talk.open()).era is Era.LEGACY
        await talk.connection.call("tools/list", {}, seconds=AT_ONCE)
    posts = talk.sent("POST")
    assert [post.json["method"] for post in posts] == [
        *("server/discover", "initialize", "notifications/initialized", "tools/list")
    ]
    assert "mcp-protocol-version" not in posts[1].headers
    assert (posts[3].headers["mcp-session-id"], posts[3].headers["mcp-protocol-version"]) == ("s1", "2025-11-25")
    (deleted,) = talk.sent("DELETE")
    assert deleted.headers["mcp-session-id"] == "s1"


async def test_a_session_that_is_over_ends_the_connection() -> None:
    answers = [REFUSED, reply(HELLO, 2, "s1"), ACCEPTED, Raw([b"{}"], 404, AS_JSON), ACCEPTED]
    async with Talk(answers) as talk:
        await talk.open()
        with pytest.raises(McpError, match="its session is over"):
            await talk.connection.call("tools/list", {}, seconds=AT_ONCE)
        assert not talk.connection.is_open


async def test_a_stream_that_broke_is_resumed_after_its_last_event() -> None:
    stream = Raw([b"retry: 10\n", event(None, "e1")])
    resumed = Raw([event({"jsonrpc": "2.0", "id": 3, "result": {"tools": []}}, "e2")])
    async with Talk([REFUSED, reply(HELLO, 2), ACCEPTED, stream, ACCEPTED]) as talk:
        await talk.open()
        await talk.server.asked(4)  # with the stream of its own that it does not have
        talk.server._listing = resumed
        assert await talk.connection.call("tools/list", {}, seconds=AT_ONCE) == {"tools": []}
        assert "e1" in [one.headers.get("last-event-id") for one in talk.sent("GET")]


async def test_a_modern_stream_is_not_resumed() -> None:
    async with Talk([reply(DISCOVERED), Raw([event(None, "e1")])]) as talk:
        await talk.open()
        with pytest.raises(McpError, match="its answer ended before the result"):
            await talk.connection.call("tools/list", {}, seconds=AT_ONCE)


async def test_a_modern_call_is_cancelled_by_closing_its_stream() -> None:
    async with Talk([reply(DISCOVERED), Raw([b": \n\n"], stall=True)]) as talk:
        await talk.open()
        with pytest.raises(McpError, match=r"did not answer tools/call within 0\.2 s"):
            await talk.connection.call("tools/call", {"name": "add"}, seconds=0.2)
        async with asyncio.timeout(AT_ONCE):
            await talk.sent("POST")[1].closed.wait()
        assert len(talk.sent("POST")) == 2


REFUSALS: dict[str, tuple[Raw, str]] = {
    "a redirect": (Raw([], 307, {"location": "https://evil.example/"}, length=0), "redirects to https://evil.example/"),
    "no key": (Raw([b"{}"], 401, AS_JSON), "HTTP status 401.*check its headers"),
    "a redirect without a host": (
        Raw([], 302, {"location": "/v2"}, length=0),
        r"redirects to http://127\.0\.0\.1:\d+/v2,",
    ),
    "a redirect to nothing": (Raw([], 302, {"location": "http://["}, length=0), r"redirects to http://\[,"),
    "no such path": (Raw([b"no"], 404, {"content-type": "text/plain"}), "HTTP status 404.*check that its URL"),
    "an error page": (Raw([b"<html>"], 500, {"content-type": "text/html"}), "HTTP status 500.*try again later"),
    "a page": (
        Raw([b"<html>"], headers={"content-type": "text/html; charset=utf-8"}),
        r"\(text/html\) is not a mess.*URL",
    ),
    "other JSON": (Raw([b'{"hello": 1}'], headers=AS_JSON), r"\(application/json\) is not a message of MCP.*URL"),
    "nothing": (Raw([b"\n"], headers=AS_JSON), "its answer is empty.*check that its URL"),
    "a dropped connection": (Raw(dropped=True), "no connection to 127.0.0.1"),
    "202 for a request": (ACCEPTED, "its answer ended before the result"),
    "a huge answer": (Raw([b" " * 17_000_000], headers=AS_JSON), "more than 16,384 KiB"),
    "garbage": (Raw([b"garbage"], headers=AS_JSON), "is not a message of MCP"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_refusals_say_what_happened_and_send_no_key_elsewhere(refusal: str) -> None:
    raw, said = REFUSALS[refusal]
    async with Talk([reply(DISCOVERED), raw]) as talk:
        await talk.open()
        with pytest.raises(McpError) as failed:
            await talk.connection.call("tools/list", {}, seconds=AT_ONCE)
        assert re.search(said, str(failed.value))


async def test_an_error_of_json_rpc_with_a_status_is_that_error() -> None:
    failure = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no such tool"}}
    async with Talk([reply(DISCOVERED), Raw([json.dumps(failure).encode()], 400, AS_JSON)]) as talk:
        await talk.open()
        with pytest.raises(McpError, match="no such tool"):
            await talk.connection.call("tools/call", {"name": "x"}, seconds=AT_ONCE)


async def test_a_name_that_leads_to_a_private_address_is_not_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve_to(*_: Any, **__: Any) -> Any:
        return [(2, 1, 6, "", ("10.0.0.1", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve_to)
    config = ServerConfig("x", McpServerSettings(url="https://mcp.example/x"))
    around = Surroundings(lambda: [tmp_path], {}, is_public=lambda _: False)
    async with AsyncExitStack() as stack:
        transport, _ = await make_transport(config, resolve(config, [tmp_path]), around, stack)
        connection = Connection(transport)
        with pytest.raises(McpError, match=r"mcp\.example has the private address 10\.0\.0\.1"):
            await open_connection(connection)
        await connection.aclose()


async def test_a_modern_stream_for_changes_that_ends_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What changed meanwhile nobody told, so the list counts as changed."""
    monkeypatch.setattr("tark_lsp.mcp.connection.pauses", lambda: iter((0.01, AT_ONCE)))
    able = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
    async with Talk([reply(able), Raw([b": hello\n\n"]), Raw([b": hello\n\n"], stall=True)]) as talk:
        changes: list[None] = []
        talk.connection._tools_changed = lambda: changes.append(None)
        await talk.open()
        await talk.server.asked(3)
        assert [one.json["method"] for one in talk.sent("POST")[1:]] == ["subscriptions/listen"] * 2
        assert len(changes) == 2


async def test_a_legacy_stream_for_changes_that_floods_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tark_lsp.mcp.streamable_http.pauses", lambda: iter((0.01, AT_ONCE)))
    monkeypatch.setattr("tark_lsp.mcp.streamable_http.MOST_UNASKED", 1_000)
    async with Talk([REFUSED, reply(HELLO, 2), ACCEPTED], listing=Raw([b": x\n" * 1_000])) as talk:
        changes: list[None] = []
        talk.connection._tools_changed = lambda: changes.append(None)
        await talk.open()
        await talk.server.asked(5)
        assert len(talk.sent("GET")) == 2
        assert len(changes) >= 2


async def test_a_stream_that_ends_without_a_pause_is_not_asked_for_in_a_loop() -> None:
    stream = Raw([b"retry: 0\nid: e1\ndata:\n\n"])
    async with Talk([REFUSED, reply(HELLO, 2), ACCEPTED, stream]) as talk:
        await talk.open()
        await talk.server.asked(4)
        talk.server._listing = Raw([b"retry: 0\nid: e2\ndata:\n\n"])
        with pytest.raises(McpError):
            await talk.connection.call("tools/list", {}, seconds=0.5)
        assert len(talk.sent("GET")) < 12
