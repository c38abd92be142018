"""The official openai SDK as client, over every wire upstream: streams, whole responses, two turns, errors, leaving."""

import json
from typing import Any

import pytest

from tark_lsp.gateway.reasoning_state import read_state
from tark_lsp.llm.catalog.facts import ModelFacts
from tark_lsp.llm.scripted.scenario import Reply, ScriptedError
from tark_lsp.llm.wire.wire import WIRES
from tests.gateway.running import model_of, running_gateway, sdk_client
from tests.gateway.strict_upstream import StrictUpstream
from tests.llm.wire.wire_answers import ANSWERS, MARKS, OWN_MARKS
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

pytestmark = pytest.mark.slow  # the SDK takes seconds to import

TOOL = {
    "type": "function",
    "name": "read_file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    "strict": False,
}
USER = {"role": "user", "content": "Do it."}
WIRE = pytest.mark.parametrize("wire", list(WIRES))
PICTURE = "iVBORw0KGgo="


def answer_on(wire: str) -> Raw:
    kind = "application/x-ndjson" if wire == "ollama-chat" else "text/event-stream"
    return Raw([ANSWERS[wire]()], headers={"content-type": kind})


def said(response: Any) -> list[dict[str, Any]]:
    """The items without their ids, without the state, which holds ids, and without what the SDK adds to a stream."""
    return [
        without(item.to_dict(), "id", "call_id", "encrypted_content", "parsed_arguments") for item in response.output
    ]


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    content = [without(part, "parsed") for part in item.get("content") or ()]
    kept = {name: value for name, value in item.items() if name not in names}
    return {**kept, "content": content} if content else kept


def outputs(response: Any) -> list[dict[str, Any]]:
    """What a client sends next: the items as they came, and the results of the calls."""
    items = [item.to_dict() for item in response.output]
    calls = [item for item in items if item["type"] == "function_call"]
    results = [{"type": "function_call_output", "call_id": item["call_id"], "output": "seen"} for item in calls]
    return [*items, *results]


@WIRE
async def test_text_thinking_and_parallel_calls(wire: str) -> None:
    """Streaming and not, with the same result."""
    async with Loopback([answer_on(wire)]) as upstream, running_gateway(upstream) as url, sdk_client(url) as client:
        whole = await client.responses.create(model=model_of(wire), input="Do it.", tools=[TOOL])
        async with client.responses.stream(model=model_of(wire), input="Do it.", tools=[TOOL]) as stream:
            streamed = await stream.get_final_response()
    kinds = [item.type for item in whole.output if item.type != "reasoning"]
    assert kinds == ["message", "function_call", "function_call"]
    assert whole.output_text == "Let me look."
    assert any(
        MARKS[wire][0] in part.text for item in whole.output if item.type == "reasoning" for part in item.summary
    )
    assert [json.loads(item.arguments) for item in whole.output[-5:] if item.type == "function_call"] == [
        {"path": "a.py"},
        {"path": "a.py"},
    ]
    assert said(streamed) == said(whole)
    assert (whole.status, whole.model) == ("completed", model_of(wire))
    assert whole.usage.output_tokens == streamed.usage.output_tokens == 9


@WIRE
async def test_two_turns(wire: str) -> None:
    """The model gets back what it wants back, unchanged; another model gets nothing of it, and the header says so."""
    async with (
        StrictUpstream([answer_on(wire)]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        first = await client.responses.create(model=model_of(wire), input=[USER], tools=[TOOL])
        upstream.then(Reply(text="Done."))
        conversation = [USER, *outputs(first)]
        second = await client.responses.create(model=model_of(wire), input=conversation, tools=[TOOL])
        other = await client.responses.with_raw_response.create(
            model=f"{wire}/another", input=conversation, tools=[TOOL]
        )
    assert second.output_text == "Done."
    _, own, others = [request.body for request in upstream.requests]
    assert [mark for mark in OWN_MARKS[wire] if mark.encode() not in own] == []
    assert [mark for mark in MARKS[wire] if mark.encode() in others] == []
    assert own.count(b'"seen"') == others.count(b'"seen"') == 2
    assert "reasoning left out, since it is not of this model" in other.headers["x-tark-warnings"]
    states = [read_state(item.encrypted_content) for item in first.output if item.type == "reasoning"]
    assert {state.model for state in states if state} == {model_of(wire)}


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire not in ("gemini-content", "ollama-chat")])
async def test_a_client_that_loses_the_reasoning(wire: str) -> None:
    """The upstream's refusal reaches it. (Gemini gets a placeholder, and Ollama wants nothing back.)"""
    import openai

    async with (
        StrictUpstream([answer_on(wire)]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        first = await client.responses.create(model=model_of(wire), input=[USER], tools=[TOOL])
        kept = [item for item in outputs(first) if item["type"] != "reasoning"]
        with pytest.raises(openai.BadRequestError) as raised:
            await client.responses.create(model=model_of(wire), input=[USER, *kept], tools=[TOOL])
    assert raised.value.code == "upstream_rejected"


@WIRE
async def test_images(wire: str) -> None:
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PICTURE}"}
    content = [{"type": "input_text", "text": "What is this?"}, image]
    async with (
        Loopback([Reply(text="A picture.")]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        answer = await client.responses.create(model=model_of(wire), input=[{"role": "user", "content": content}])
    assert answer.output_text == "A picture."
    assert PICTURE.encode() in upstream.requests[0].body


def frames(*values: dict[str, Any]) -> Raw:
    return Raw([b"data: %b\n\n" % json.dumps(value).encode() for value in values])


CHAT_REFUSAL = frames(
    {"choices": [{"index": 0, "delta": {"refusal": "I won't."}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
)
GEMINI_REFUSAL = frames({"promptFeedback": {"blockReason": "SAFETY"}})
CLAUDE_REFUSAL = frames(
    {"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "I can"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)


@pytest.mark.parametrize(
    ("wire", "refusal", "kind", "text", "status"),
    [
        ("openai-chat", CHAT_REFUSAL, "refusal", "I won't.", "completed"),
        ("gemini-content", GEMINI_REFUSAL, "refusal", "Gemini blocked this request: SAFETY.", "incomplete"),
        ("anthropic-messages", CLAUDE_REFUSAL, "output_text", "I can", "incomplete"),
    ],
    ids=["chat", "gemini", "claude"],
)
async def test_refusals(wire: str, refusal: Raw, kind: str, text: str, status: str) -> None:
    async with Loopback([refusal]) as upstream, running_gateway(upstream) as url, sdk_client(url) as client:
        answer = await client.responses.create(model=model_of(wire), input="Hi")
    [part] = answer.output[0].content
    assert (part.type, part.to_dict().get("text", part.to_dict().get("refusal"))) == (kind, text)
    assert answer.status == status
    assert (answer.incomplete_details and answer.incomplete_details.reason) == (
        "content_filter" if status == "incomplete" else None
    )


ERRORS = [
    (ScriptedError(401, "bad key"), "InternalServerError", "upstream_authentication"),
    (ScriptedError(404, "no such model"), "NotFoundError", "model_not_found"),
    (ScriptedError(429, "slow down", retry_after=7), "RateLimitError", "rate_limit_exceeded"),
    (ScriptedError(500, "broken"), "InternalServerError", "upstream_error"),
    (ScriptedError(503, "busy"), "InternalServerError", "server_is_overloaded"),
    (ScriptedError(400, "what?"), "BadRequestError", "upstream_rejected"),
]


@WIRE
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_errors_before_the_answer(wire: str, streaming: bool) -> None:
    """They have a status of their own, also for a stream."""
    import openai

    replies = [Reply(error=error) for error, _, _ in ERRORS]
    async with Loopback(replies) as upstream, running_gateway(upstream) as url, sdk_client(url) as client:
        for error, name, code in ERRORS:
            with pytest.raises(getattr(openai, name)) as raised:
                await client.responses.create(model=model_of(wire), input="Hi", stream=streaming)
            assert raised.value.code == code
            assert error.message in raised.value.message
            if error.retry_after:
                assert raised.value.response.headers["retry-after"] == "7"


@WIRE
async def test_an_answer_that_breaks_off(wire: str) -> None:
    """The stream ends as failed; a whole response is an error."""
    import openai

    async with (
        Loopback([Reply(text="This breaks", cut=True)]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        events = [event async for event in await client.responses.create(model=model_of(wire), input="Hi", stream=True)]
        with pytest.raises(openai.InternalServerError) as raised:
            await client.responses.create(model=model_of(wire), input="Hi")
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "server_error"
    assert raised.value.code == "upstream_cut"


@WIRE
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_a_client_that_leaves_ends_the_request_upstream(wire: str, streaming: bool) -> None:
    body = ANSWERS[wire]()
    begun = Raw([body[: body.index(b"Let me look.")]], headers=answer_on(wire).headers, stall=True)
    async with Loopback([begun]) as upstream, running_gateway(upstream) as url, sdk_client(url) as client:
        import asyncio

        async def ask() -> None:
            answer = await client.responses.create(model=model_of(wire), input="Hi", stream=streaming)
            async for _ in answer:
                pass

        asking = asyncio.create_task(ask())
        await upstream.asked(1)
        asking.cancel()
        await asyncio.wait([asking])
        async with asyncio.timeout(AT_ONCE):
            await upstream.requests[0].closed.wait()


@WIRE
async def test_calls_as_text_are_real_calls(wire: str) -> None:
    """A model without native calls: whole, in a stream, and with the result of the call as text in the next request."""
    asks = Reply(
        text='I look.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>', chunk=3
    )
    async with (
        Loopback([asks, asks, Reply(text="It is seen.")]) as upstream,
        running_gateway(upstream, facts={"m": ModelFacts(tools=False)}) as url,
        sdk_client(url) as client,
    ):
        whole = await client.responses.create(input=[USER], model=model_of(wire), tools=[TOOL])
        async with client.responses.stream(input=[USER], model=model_of(wire), tools=[TOOL]) as stream:
            kinds = {event.type async for event in stream}
            streamed = await stream.get_final_response()
        last = await client.responses.create(input=[USER, *outputs(whole)], model=model_of(wire), tools=[TOOL])
    text, call = [item for item in whole.output if item.type != "reasoning"]  # which has the state of some wires
    assert (text.type, call.type, whole.output_text.strip()) == ("message", "function_call", "I look.")
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.py"})
    assert said(streamed) == said(whole)
    assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= kinds
    assert last.output_text == "It is seen."
    assert not any("tools" in request.json for request in upstream.requests)
    told = json.dumps(upstream.requests[2].json)
    assert "<tool_call>" in told
    assert "seen" in told


async def test_options_reach_the_model_or_the_header() -> None:
    chosen = {"type": "function", "name": "read_file"}
    async with (
        Loopback([Reply(text="Hi")]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        raw = client.responses.with_raw_response
        first = await raw.create(
            model=model_of("gemini-content"),
            input="Hi",
            tools=[TOOL, {"type": "web_search"}],
            tool_choice=chosen,
            parallel_tool_calls=False,
            temperature=0.5,
            max_output_tokens=100,
            service_tier="flex",
            store=True,
        )
    body = upstream.requests[0].json
    assert body["toolConfig"]["functionCallingConfig"] == {"mode": "ANY", "allowedFunctionNames": ["read_file"]}
    assert body["generationConfig"]["maxOutputTokens"] == 100
    warnings = first.headers["x-tark-warnings"]
    assert "ignored: service_tier, store" in warnings
    assert "tools left out, since only OpenAI's models have them: web_search" in warnings
    assert "parallel_tool_calls left out" in warnings
    assert first.parse().tool_choice.name == "read_file"


async def test_what_the_model_cannot_do_is_an_error_that_names_the_field() -> None:
    import openai

    async with Loopback([Reply(text="Hi")]) as upstream, running_gateway(upstream) as url, sdk_client(url) as client:
        with pytest.raises(openai.BadRequestError) as raised:
            await client.responses.create(
                model=model_of("ollama-chat"), input="Hi", tools=[TOOL], tool_choice="required"
            )
    assert (raised.value.param, raised.value.code) == ("tool_choice", "unsupported_value")
    assert upstream.requests == []


async def test_structured_output_by_the_sdk() -> None:
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    async with (
        Loopback([Reply(text='{"name": "Ada", "age": 36}')]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        for wire in ("openai-chat", "openai-responses", "anthropic-messages", "gemini-content", "ollama-chat"):
            answer = await client.responses.parse(model=model_of(wire), input="Who?", text_format=Person)
            assert answer.output_parsed == Person(name="Ada", age=36)
    assert all(b'"age"' in request.body for request in upstream.requests)


async def test_models_and_names() -> None:
    import openai

    async with (
        Loopback([Reply(text="Hi")], models=["listed"]) as upstream,
        running_gateway(upstream) as url,
        sdk_client(url) as client,
    ):
        listed = [model.id async for model in client.models.list()]
        nick = await client.responses.create(model="nick", input="Hi")
        with pytest.raises(openai.NotFoundError) as raised:
            await client.responses.create(model="openai-chatt/m", input="Hi")
    assert {"nick", model_of("openai-chat"), model_of("anthropic-messages")} <= set(listed)
    assert nick.model == model_of("anthropic-messages")
    assert "did you mean openai-chat/m" in raised.value.message
