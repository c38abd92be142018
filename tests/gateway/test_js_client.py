"""The official openai SDK of JavaScript as client, over every wire upstream (tests/gateway/openai_sdk.mjs)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import WIRES
from tests.gateway.running import TOKEN, model_of, running_gateway
from tests.gateway.strict_upstream import StrictUpstream
from tests.gateway.test_sdk_client import CHAT_REFUSAL, ERRORS, PICTURE, TOOL, answer_on
from tests.llm.wire.wire_answers import MARKS, OWN_MARKS
from tests.loopback import Loopback
from tests.npm import installed
from tests.patience import AT_ONCE, HANGS

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]  # it installs the SDK from npm

PACKAGE = "openai@6.49.0"
SCRIPT = Path(__file__).with_name("openai_sdk.mjs")
WIRE = pytest.mark.parametrize("wire", list(WIRES))


def job(action: str, wire: str, **request: Any) -> dict[str, Any]:
    return {"do": action, "request": {"model": model_of(wire), "input": "Do it.", **request}}


async def results(url: str, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    sdk = installed(PACKAGE) / "openai" / "index.mjs"
    asked = json.dumps({"url": url, "token": TOKEN, "sdk": str(sdk), "jobs": jobs}).encode()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("node", SCRIPT, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(HANGS):
            output, errors = await process.communicate(asked)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, errors.decode()
    return [json.loads(line) for line in output.splitlines()]


def said(response: dict[str, Any]) -> list[dict[str, Any]]:
    """The items without what differs from answer to answer, and without what the SDK adds."""
    left_out = {"id", "call_id", "encrypted_content", "parsed_arguments"}
    items = [{name: value for name, value in item.items() if name not in left_out} for item in response["output"]]
    for item in items:
        for part in item.get("content", ()):
            part.pop("parsed", None)
    return items


@WIRE
async def test_text_thinking_and_parallel_calls(wire: str) -> None:
    """Streaming and not, with the same result."""
    async with Loopback([answer_on(wire)]) as upstream, running_gateway(upstream) as url:
        whole, streamed = await results(url, job("create", wire, tools=[TOOL]), job("stream", wire, tools=[TOOL]))
    assert said(streamed["response"]) == said(whole["response"])
    items = whole["response"]["output"]
    assert [item["type"] for item in items if item["type"] != "reasoning"] == ["message", *["function_call"] * 2]
    assert streamed["text"] == whole["response"]["output_text"] == "Let me look."
    assert MARKS[wire][0] in json.dumps([item.get("summary") for item in items])
    assert streamed["kinds"][-1] == "response.completed"
    assert streamed["response"]["usage"]["output_tokens"] == 9


@WIRE
async def test_two_turns(wire: str) -> None:
    async with StrictUpstream([answer_on(wire)]) as upstream, running_gateway(upstream) as url:
        upstream.then(answer_on(wire), Reply(text="Done."))
        [second] = await results(url, job("continue", wire, tools=[TOOL]))
    assert second["response"]["output_text"] == "Done."
    assert [mark for mark in OWN_MARKS[wire] if mark.encode() not in upstream.requests[1].body] == []
    assert upstream.requests[1].body.count(b'"seen"') == 2


@WIRE
async def test_images(wire: str) -> None:
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PICTURE}"}
    content = [{"type": "input_text", "text": "What is this?"}, image]
    async with Loopback([Reply(text="A picture.")]) as upstream, running_gateway(upstream) as url:
        [answer] = await results(url, job("create", wire, input=[{"role": "user", "content": content}]))
    assert answer["response"]["output_text"] == "A picture."
    assert PICTURE.encode() in upstream.requests[0].body


async def test_a_refusal() -> None:
    async with Loopback([CHAT_REFUSAL]) as upstream, running_gateway(upstream) as url:
        answers = await results(url, job("create", "openai-chat"), job("stream", "openai-chat"))
    for answer in answers:
        [part] = answer["response"]["output"][0]["content"]
        assert (part["type"], part["refusal"]) == ("refusal", "I won't.")
    assert "response.refusal.done" in answers[1]["kinds"]


@WIRE
@pytest.mark.parametrize("action", ["create", "stream"])
async def test_errors_before_the_answer(wire: str, action: str) -> None:
    """Each is the exception of its status."""
    async with (
        Loopback([Reply(error=error) for error, _, _ in ERRORS]) as upstream,
        running_gateway(upstream) as url,
    ):
        got = await results(url, *[job(action, wire) for _ in ERRORS])
    for result, (error, name, code) in zip(got, ERRORS, strict=True):
        assert (result["error"]["name"], result["error"]["code"]) == (name, code)
        assert error.message in result["error"]["message"]


@WIRE
async def test_an_answer_that_breaks_off(wire: str) -> None:
    async with Loopback([Reply(text="This breaks", cut=True)]) as upstream, running_gateway(upstream) as url:
        whole, stream = await results(url, job("create", wire), job("stream", wire))
    assert whole["error"]["code"] == "upstream_cut"
    assert stream["kinds"][-1] == "response.failed"
    assert stream["text"] == "This breaks"


@WIRE
async def test_leaving(wire: str) -> None:
    slow = Reply(text="Let me look at this for long. " * 50, delay_ms=200, chunk=12)
    async with Loopback([slow]) as upstream, running_gateway(upstream) as url:
        [left] = await results(url, job("leave", wire))
        async with asyncio.timeout(AT_ONCE):
            await upstream.requests[0].closed.wait()
    assert left["left"] == "after text"
