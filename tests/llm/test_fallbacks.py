"""A refusal that names a field: the field is left out, the user is told, and it stays left out in the session."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.errors import BadRequest
from tark_lsp.llm.catalog.facts import ModelFacts, ModelInfo
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.events import Notice, Retry, ToolCallComplete
from tark_lsp.llm.fallbacks import find_fallback
from tark_lsp.llm.model import WireModel
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import Quirks, TargetModel
from tark_lsp.messages import Image, Message, Text, ToolDefinition
from tests.llm.asking import ask, models_at
from tests.loopback import Loopback, Raw

PLAIN = TargetModel("p/m", "m", Quirks(cache_key=True, encrypted_reasoning=True, tool_search=True), "effort")

REFUSALS: dict[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "usage": ("Unknown parameter: 'stream_options'.", {"stream_usage": False}, {}),
    "max tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_tokens_field": "max_completion_tokens"},
        {},
    ),
    "developer": (
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        {"system_role": "developer"},
        {},
    ),
    "summaries": (
        "Your organization must be verified to generate reasoning summaries.",
        {"reasoning_summary": False},
        {},
    ),
    "encrypted": ("Encrypted content is not supported with this model.", {"encrypted_reasoning": False}, {}),
    "tool search": ("tools.0.custom.defer_loading: Extra inputs are not permitted", {"tool_search": False}, {}),
    "cache key": ("Unrecognized request argument supplied: prompt_cache_key", {"cache_key": False}, {}),
    "cache": ("system.0.cache_control: Extra inputs are not permitted", {"cache_control": False}, {}),
    "images": ("This model does not support image input.", {"images": False}, {}),
    "listed efforts": (
        "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
        {},
        {"efforts": ("low", "medium", "high", "max")},
    ),
    "listed values": (
        (
            "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. "
            "Supported values are: 'low', 'medium', and 'high'."
        ),
        {},
        {"efforts": ("low", "medium", "high")},
    ),
    "no effort": ("Unrecognized request argument supplied: reasoning_effort", {}, {"thinking": "none"}),
    "not without thinking (Gemini)": (
        "Budget 0 is invalid. This model only works in thinking mode.",
        {},
        {"off": "never"},
    ),
    "not without thinking (Claude)": (
        (
            '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not '
            'specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.'
        ),
        {},
        {"off": "never"},
    ),
    "not without thinking (OpenRouter)": (
        "Reasoning is mandatory for this endpoint and cannot be disabled.",
        {},
        {"off": "never"},
    ),
    "no switch in the template": (
        "body.chat_template_kwargs: Extra inputs are not permitted",
        {},
        {"thinking": "none"},
    ),
    "Mistral's ids": (
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        {"call_id_length": 9},
        {},
    ),
    "Mistral's order": ("Unexpected role 'user' after role 'tool'", {"bridge_results": True}, {}),
    "DeepSeek's reasoning": (
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        {"reasoning_field": "reasoning_content"},
        {},
    ),
    "another key": (
        "The encrypted content gAAA could not be verified. Reason: could not be decrypted.",
        {"signatures": False},
        {},
    ),
    "Kimi's reasoning": (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        {"reasoning_field": "reasoning_content"},
        {},
    ),
    "no thinking": ('"gemma3" does not support thinking', {}, {"thinking": "none"}),
    "adaptive": (
        (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        ),
        {},
        {"thinking": "adaptive"},
    ),
    "budget": ("adaptive thinking is not supported on this model", {}, {"thinking": "budget"}),
    "Ollama's tools": ("registry.ollama.ai/library/gemma3:4b does not support tools", {}, {"text_calls": True}),
    "OpenRouter's tools": ("No endpoints found that support tool use.", {}, {"text_calls": True}),
    "vLLM's tools": (
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        {},
        {"text_calls": True},
    ),
    "llama.cpp's tools": ("tools param requires --jinja flag", {}, {"text_calls": True}),
    "llama.cpp's tools, before": ("Unsupported param: tools", {}, {"text_calls": True}),
    "Groq's tools": ("`tool calling` is not supported with this model", {}, {"text_calls": True}),
    "Groq's tools, as a field": ("`tools` is not supported with this model", {}, {"text_calls": True}),
    "OpenAI's tools": ("tools is not supported in this model. For a list of models, see x", {}, {"text_calls": True}),
    "Gemma's tools": ("Function calling is not enabled for models/gemma-3-12b-it", {}, {"text_calls": True}),
    "Novita's tools": ("model features function calling not support", {}, {"text_calls": True}),
    "a gateway's tools": ("Tool use is not supported for this model.", {}, {"text_calls": True}),
    "OpenRouter's images": ("No endpoints found that support image input", {"images": False}, {}),
    "vLLM's images": ("At most 0 image(s) may be provided in one request.", {"images": False}, {}),
    "vLLM's images, of a model without them": ("meta-llama/Llama-3 is not a multimodal model", {"images": False}, {}),
    "Groq's images": (
        "'messages.0' : the following must be satisfied[('messages.0.content' : value must be a string)]",
        {"images": False},
        {},
    ),
    "Groq's images, other words": ("messages[4].content must be a string", {"images": False}, {}),
    "DeepSeek's images": (
        "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text` at line 1",
        {"images": False},
        {},
    ),
    "DeepSeek's images, before": (
        "Failed to deserialize the JSON body: messages[1]: invalid type: sequence, expected a string at line 1",
        {"images": False},
        {},
    ),
    "LM Studio's images": ("Model does not support images. Please use a model that does.", {"images": False}, {}),
    "Ollama's images": (
        "Failed to create new sequence: this model is missing data required for image input",
        {"images": False},
        {},
    ),
    "Mistral's images": ("Image input is not enabled for this model", {"images": False}, {}),
    "Bedrock's images": (
        "This model doesn't support the image content block that you provided. Please try again with another",
        {"images": False},
        {},
    ),
    "Copilot's images": ("vision is not supported", {"images": False}, {}),
    "xAI's effort": ("Model grok-4-0709 does not support parameter reasoningEffort.", {}, {"thinking": "none"}),
    "an effort in other letters": ("Unknown name 'thinkingConfig': Cannot find field.", {}, {"thinking": "none"}),
}


@pytest.mark.parametrize(("message", "quirks", "changes"), REFUSALS.values(), ids=REFUSALS.keys())
def test_what_is_left_out(message: str, quirks: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    expected = replace(PLAIN, quirks=replace(PLAIN.quirks, **quirks), **changes)
    without = find_fallback(PLAIN, message)
    assert without is not None
    assert without[0] == expected
    assert find_fallback(without[0], message, [without[1]]) is None


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'temperature': decimal below minimum value.",
        "prompt is too long: 3333404 tokens > 200000 maximum",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1.",
        "Tool call validation failed: parameters for tool read did not match schema",
        "Web search options not supported with this model.",
        "The model `gpt-5.2-proo` does not exist or you do not have access to it.",
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png'].",
        "At most 1 image(s) may be provided in one request.",
        "At most 10 image(s) may be provided in one request.",
        "This model doesn't support the video content block that you provided.",
        "messages[1].tool_calls[0].function.arguments must be a string",
        "tools[0].function.name must be a string",
        "No endpoints found for x/y.",
        "No endpoints found matching your data policy",
        "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "Invalid base64 image_url.",
        "Tool names must be unique.",
        "Streaming is not supported with this model",
    ],
)
def test_fields_that_a_request_needs(message: str) -> None:
    assert find_fallback(PLAIN, message) is None


def test_a_claude_that_can_stop_only_between_tool_calls() -> None:
    """The message says so. A model that cannot even do that thinks as it does by default."""
    message = '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" instead.'
    first = find_fallback(replace(PLAIN, thinking="adaptive"), message)
    assert first is not None
    assert first[0].off == "between_tools"
    second = find_fallback(first[0], '"thinking.type.between_tools" is not supported for this model.', [first[1]])
    assert second is not None
    assert second[0].off == "never"


READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
REQUEST = ChatRequest(
    "Be brief.",
    (Message("user", (Text("Look."), Image("image/png", "aGk="))),),
    (READ,),
    thinking="high",
    max_output_tokens=99,
)

LEFT_OUT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "usage": ("Unknown parameter: 'stream_options'.", lambda body: "stream_options" in body),
    "thinking": ("m does not support thinking", lambda body: "reasoning_effort" in body),
    "images": ("image input is not supported", lambda body: "image_url" in str(body["messages"])),
    "tools": ("m does not support tools", lambda body: "tools" in body),
    "max_tokens": ("'max_tokens' is not supported: use 'max_completion_tokens'", lambda body: "max_tokens" in body),
}


@pytest.mark.parametrize(("message", "sent"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
async def test_a_refused_field_is_sent_only_once(message: str, sent: Callable[[Any], bool]) -> None:
    refusal = Raw([f'{{"error": {{"message": "{message}"}}}}'.encode()], status=400)
    async with Loopback([refusal, Reply(text="Hi")]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        model = await models.open_model("own/m")
        events, error = await ask(model, REQUEST)
        again, error_again = await ask(model, REQUEST)
        await models.aclose()
    assert (error, error_again) == (None, None)
    assert [sent(request.json) for request in server.requests] == [True, False, False]
    assert not any(isinstance(event, Retry) for event in events)
    assert not any(isinstance(event, Notice) for event in again)
    assert any(isinstance(event, Notice) for event in events) is (message[0] != "'")


async def test_a_server_that_refuses_everything_gets_few_requests() -> None:
    refusal = Raw([b'{"error": {"message": "role does not support \'system\' or \'developer\'"}}'], status=400)
    async with Loopback([refusal]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        _, error = await ask(await models.open_model("own/m"), REQUEST)
        await models.aclose()
    assert isinstance(error, BadRequest)
    assert len(server.requests) == 3


async def test_a_model_without_native_calls_is_told_how_to_write_them() -> None:
    refusal = Raw([b'{"error": {"message": "m does not support tools"}}'], status=400)
    text = 'I look.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'
    async with Loopback([refusal, Reply(text=text, chunk=3)]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        events, error = await ask(await models.open_model("own/m"), REQUEST)
        await models.aclose()
    assert error is None
    assert [json.loads(event.arguments) for event in events if isinstance(event, ToolCallComplete)] == [
        {"path": "a.py"}
    ]
    assert "read_file" in server.requests[1].json["messages"][0]["content"]


async def test_two_parallel_requests_both_follow_one_refusal() -> None:
    no = Raw([b'{"error": {"message": "Unknown parameter: \'stream_options\'."}}'], status=400, pause=0.1)
    async with Loopback([no, no, Reply(text="Hi")]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        model = await models.open_model("own/m")
        answers = await asyncio.gather(ask(model), ask(model))
        await models.aclose()
    assert [error for _, error in answers] == [None, None]


async def test_a_claude_that_must_think_is_not_told_to_stop_again_and_the_user_is_told() -> None:
    """The table does not know this model."""
    message = '\\"thinking.type.disabled\\" is not supported for this model.'
    no = Raw([f'{{"type": "error", "error": {{"message": "{message}"}}}}'.encode()], status=400)
    async with Loopback([no, Reply(text="Hi")]) as server:
        models = models_at(server)
        model = await models.open_model("anthropic/claude-opus-9")
        answers = [await ask(model, replace(REQUEST, thinking="off", session_id="s")) for _ in range(2)]
        await models.aclose()
    assert [error for _, error in answers] == [None, None]
    sent = [request.json.get("thinking", {}).get("type") for request in server.requests]
    assert sent == ["disabled", "adaptive", "adaptive"]
    notices = [[event.message for event in events if isinstance(event, Notice)] for events, _ in answers]
    assert notices == [["thinking cannot be turned off for this model"], []]


async def test_what_was_left_out_stays_left_out_after_the_prices_are_known() -> None:
    """The price library also knows windows, so facts change after a model was opened."""
    async with Loopback([]) as server:
        models = models_at(server)
        model = await models.open_model("anthropic/claude-opus-9")
        assert isinstance(model, WireModel)
        model.target = replace(model.target, off="never", thinking="budget", efforts=())
        provider = model.provider
        models._catalog.add_listing(provider, [ModelInfo("anthropic/claude-opus-9", "x", ModelFacts(12_345))])
        models._update_opened(provider, "claude-opus-9")
        assert model.context_window == model.target.context_window == 12_345
        assert (model.target.off, model.target.thinking, model.target.efforts) == ("never", "budget", ())
        await models.aclose()


async def test_off_is_not_sent_again_to_a_model_that_must_think() -> None:
    no = Raw([b'{"error": {"message": "Reasoning is mandatory and cannot be disabled."}}'], status=400)
    async with Loopback([no, Reply(text="Hi")]) as server:
        override = ProviderOverride(f"{server.url}/v1")
        models = models_at(server, more={"openrouter": override}, environ={"OPENROUTER_API_KEY": "sk-or-test"})
        model = await models.open_model("openrouter/x/y")
        for thinking in ("off", "off", "high"):
            _, error = await ask(model, replace(REQUEST, thinking=thinking, session_id="s"))
            assert error is None
        await models.aclose()
    sent = [request.json.get("reasoning") for request in server.requests]
    assert sent == [{"enabled": False}, None, None, {"effort": "high"}]
