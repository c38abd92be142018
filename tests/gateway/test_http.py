"""The rim of the gateway: who may ask, what is refused before a model is asked, and how it stops."""

import asyncio
import json
from typing import Any

import pytest

from tark_lsp.gateway import body, connections, encoder
from tark_lsp.gateway.guard import Guard
from tark_lsp.llm.scripted.scenario import Reply, ScriptedError
from tests.gateway.running import TOKEN, model_of, running_gateway
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

JSON = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
ASK = {"model": model_of("openai-chat"), "input": "Hi"}


class Answered:
    def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.content)["error"])


async def send(url: str, request: bytes) -> Answered:
    """Raw bytes, since no client library sends what it must not."""
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request)
        async with asyncio.timeout(AT_ONCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            content = await reader.readexactly(int(headers["content-length"]))
    finally:
        writer.close()
        await writer.wait_closed()
    return Answered(int(head[0].split()[1]), headers, content)


def request(
    method: str = "POST", path: str = "/v1/responses", content: bytes = b"", host: str = "127.0.0.1:1", **headers: str
) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"host": host, "content-length": str(len(content)), **JSON, **named}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + content


def asking(**body: Any) -> bytes:
    return json.dumps({**ASK, **body}).encode()


REFUSED = {
    "no token": (request(content=asking(), authorization=""), 401, "invalid_api_key"),
    "wrong token": (request(content=asking(), authorization="Bearer a-token-of-a-tesT"), 401, "invalid_api_key"),
    "another scheme": (request(content=asking(), authorization=f"Basic {TOKEN}"), 401, "invalid_api_key"),
    "foreign host": (request(content=asking(), host="evil.example"), 403, "host_refused"),
    "almost our host": (request(content=asking(), host="localhost.evil.example:8282"), 403, "host_refused"),
    "origin": (request(content=asking(), origin="http://localhost:8282"), 403, "origin_refused"),
    "origin without token": (request("GET", "/health", origin="null", authorization=""), 403, "origin_refused"),
    "preflight": (request("OPTIONS", origin="https://evil.example", authorization=""), 403, "origin_refused"),
    "form": (request(content=b"a=b", content_type="application/x-www-form-urlencoded"), 415, "unsupported_media_type"),
    "compressed": (request(content=b"x", content_encoding="zstd"), 415, "unsupported_media_type"),
    "no JSON": (request(content=b'{"input": '), 400, "invalid_json"),
    "NaN": (request(content=b'{"input": NaN}'), 400, "invalid_json"),
    "infinite": (request(content=b'{"input": "Hi", "metadata": {"a": 1e400}}'), 400, "invalid_json"),
    "huge": (request(content=b'{"input": "Hi", "top_p": 1%b}' % (b"0" * 300)), 400, "invalid_value"),
    "many digits": (request(content=b'{"input": "Hi", "top_p": %b}' % (b"1" * 9000)), 400, "invalid_json"),
    "BOM": (request(content=b"\xef\xbb\xbf" + asking()), 400, "invalid_json"),
    "UTF-16": (request(content=asking().decode().encode("utf-16")), 400, "invalid_json"),
    "no UTF-8": (request(content=b'{"input": "\xff"}'), 400, "invalid_json"),
    "deep": (request(content=b"[" * 100_000), 400, "too_deep"),
    "no object": (request(content=b"[]"), 400, "invalid_type"),
    "too large": (request(content_length=str(body.MAX_BYTES + 1)), 413, "body_too_large"),
    "a million items": (request(content=b'{"input":[' + b"{}," * 1_000_001 + b"{}]}"), 413, "too_many_values"),
    "unknown model": (request(content=asking(model="m/m")), 404, "model_not_found"),
    "unknown item": (request(content=asking(input=[{"type": "spaceship"}])), 400, "invalid_value"),
    "stored response": (request("GET", "/v1/responses/resp_1"), 404, "not_stored"),
    "cancel": (request("POST", "/v1/responses/resp_1/cancel"), 404, "not_stored"),
    "a slash too much": (request(path="/v1/responses/", content=asking()), 404, "not_found"),
    "another path": (request("GET", "/v1/chat/completions"), 404, "not_found"),
    "without v1": (request(path="/responses", content=asking()), 404, "not_found"),
    "with a slash": (request("GET", "/v1/models/"), 404, "not_found"),
    "another method": (request("DELETE"), 405, "method_not_allowed"),
}


async def test_refused_requests() -> None:
    """Every error has OpenAI's shape, and no model is asked."""
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        for name, (sent, status, code) in REFUSED.items():
            answer = await send(url, sent)
            assert (name, answer.status, answer.error["code"]) == (name, status, code)
            assert answer.error["message"]
            assert answer.error["type"] == "invalid_request_error"
            assert "access-control-allow-origin" not in answer.headers
    assert upstream.requests == []


async def test_allowed_requests() -> None:
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        for host in ("localhost", "127.0.0.1:8282", "[::1]:8282", "LOCALHOST:1"):
            answer = await send(url, request(content=asking(), host=host))
            assert answer.status == 200
            assert json.loads(answer.content)["output"][0]["content"][0]["text"] == "Hi"
        health = await send(url, request("GET", "/health", authorization=""))
        assert json.loads(health.content)["status"] == "ok"


async def test_lone_surrogates() -> None:
    """JavaScript makes them when it cuts a text in the middle of an emoji. No provider accepts them."""
    half = "\ud83d"
    tools = [{"type": "function", "name": "f", "description": half, "parameters": {"type": "object", "title": half}}]
    fields = {"metadata": {half: half}, "tools": tools, "instructions": half, "input": f"Hi {half}"}
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        assert (await send(url, request(content=asking(**fields)))).status == 200
        assert (await send(url, request(content=asking(model=half)))).status == 404
    assert upstream.requests[0].json["messages"][1]["content"] == "Hi ?"


async def test_a_wrong_method_is_told_the_right_ones() -> None:
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        answer = await send(url, request("PUT", content=asking()))
    assert (answer.status, answer.headers["allow"]) == (405, "post")


async def test_without_a_token() -> None:
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream, token="") as url:
        assert (await send(url, request(content=asking(), authorization=""))).status == 200
        assert (await send(url, request(content=asking(), authorization="", origin="null"))).status == 403


async def test_a_body_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "SECONDS", 0.05)
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        answer = await send(url, request(content_length="10"))
    assert (answer.status, answer.error["code"]) == (408, "request_timeout")


def test_the_guard_compares_the_whole_token() -> None:
    from starlette.datastructures import Headers

    for given in ("", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN} x", "Bearer \xe4"):
        headers = Headers({"host": "localhost", "authorization": given})
        problem = Guard(TOKEN).problem_with("/v1/models", headers)
        assert problem is not None
        assert problem.status == 401


async def events_of(url: str, sent: bytes, begun: asyncio.Event) -> list[dict[str, Any]]:
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent)
    events = []
    async for line in reader:
        if line.startswith(b"data: "):
            events.append(json.loads(line[6:]))
            if events[-1]["type"].endswith(".delta"):
                begun.set()
    writer.close()
    await writer.wait_closed()
    return events


async def test_a_gateway_that_stops_ends_its_streams() -> None:
    begun, stopping = asyncio.Event(), asyncio.Event()
    half = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
    async with (
        Loopback([Raw([half], stall=True)]) as upstream,
        running_gateway(upstream, stopping=stopping) as url,
        asyncio.timeout(AT_ONCE),
    ):
        sent = request(content=asking(stream=True), connection="close")
        reading = asyncio.create_task(events_of(url, sent, begun))
        await begun.wait()
        stopping.set()
        events = await reading
        assert (await send(url, request(content=asking()))).error["code"] == "gateway_stopping"
    assert events[-1]["type"] == "response.failed"
    assert "the gateway is stopping" in events[-1]["response"]["error"]["message"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


async def test_a_silent_model_is_waited_for_with_comments() -> None:
    """The head is sent then, since clients give up on a server that sends none."""
    from tark_lsp.llm.exchange import Timeouts

    times = Timeouts(notice=0.05, notice_again=0.05, headers=60.0)
    async with (
        Loopback([Raw(silent=True)]) as upstream,
        running_gateway(upstream, times=times) as url,
        asyncio.timeout(AT_ONCE),
    ):
        host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request(content=asking(stream=True)))
        seen = b""
        while b": still waiting" not in seen:
            seen += await reader.readline()
        writer.close()
        await writer.wait_closed()
    assert b"event: response.created" in seen


async def test_a_client_that_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is not read further than a little ahead of the client, and not for ever; nor is the socket kept."""
    monkeypatch.setattr(connections, "SLOW_READER_SECONDS", 0.2)
    piece = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % (b"x" * 60_000)
    async with (
        Loopback([Raw([piece] * 2000)]) as upstream,
        running_gateway(upstream) as url,
        asyncio.timeout(AT_ONCE),
    ):
        host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1024)
        writer.write(request(content=asking(stream=True)))
        await upstream.asked(1)
        await upstream.requests[0].closed.wait()
        while not (await send(url, request("GET", "/metrics"))).content.count(b'end="left"'):
            pass
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_without_an_end(monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    """The gateway holds an answer until it ends, so not for ever."""
    monkeypatch.setattr(encoder, "MAX_CHARACTERS", 1000)
    piece = b'data: {"choices":[{"delta":{"content":"over and over"}}]}\n\n'
    async with (
        Loopback([Raw([piece] * 500, stall=True)]) as upstream,
        running_gateway(upstream) as url,
        asyncio.timeout(AT_ONCE),
    ):
        if stream:
            events = await events_of(url, request(content=asking(stream=True), connection="close"), asyncio.Event())
            assert "more than 1000 characters" in events[-1]["response"]["error"]["message"]
        else:
            assert (await send(url, request(content=asking()))).error["code"] == "upstream_protocol"
        await upstream.requests[0].closed.wait()


async def test_nothing_is_left_of_requests_that_go_wrong() -> None:
    """Answers, errors, answers that break off, and clients that leave: no task, no connection to the model."""
    half = Raw([b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'], stall=True)
    cut, refused = Reply(text="This breaks", cut=True), Reply(error=ScriptedError(400, "what?"))
    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url:
        await send(url, request(content=asking()))
        before = asyncio.all_tasks()
        for number in range(40):
            upstream.then((Reply(text="Hi"), half, cut, refused)[number % 4])
            host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(request(content=asking(stream=number % 8 < 4)))
            await upstream.asked(number + 2)
            writer.close()
            await writer.wait_closed()
        await upstream.left(kept=1)
        more = {task for task in asyncio.all_tasks() - before if "Loopback" not in repr(task)}
        if more:
            await asyncio.wait(more, timeout=AT_ONCE)
        assert not [task for task in more if not task.done()]
