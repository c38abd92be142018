"""The vendors' own SDKs read the scripted provider's answers: this shows that real providers send the same."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pytest

from tark_lsp.llm.scripted.answer import SCRIPTED_WIRES, answer_frames
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall, ScriptedError
from tark_lsp.llm.wire.wire import WIRES
from tests.loopback import Loopback

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

REPLY = Reply(
    thinking="Let me see.",
    text="Two calls: ä 💡",
    calls=(ScriptedCall("read_file", {"path": "ä.py"}), ScriptedCall("search_text", {"query": "x"})),
    chunk=3,
)
KEY = "not-a-key"


@dataclass(slots=True)
class Read:
    """An answer as an SDK reads it."""

    thinking: str = ""
    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    signed: bool = False
    read: int = 0
    written: int = 0
    finish: str = ""


async def read_chat(url: str) -> Read:
    read = Read(signed=True)  # nothing to sign on this wire
    arguments: dict[int, list[str]] = {}
    question = [{"role": "user", "content": "x"}]
    async with import_module("openai").AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
        async for chunk in await client.chat.completions.create(model="m", messages=question, stream=True):
            if chunk.usage:
                read.read, read.written = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
            for choice in chunk.choices:
                read.thinking += getattr(choice.delta, "reasoning_content", None) or ""
                read.text += choice.delta.content or ""
                read.finish = choice.finish_reason or read.finish
                for call in choice.delta.tool_calls or ():
                    if call.id:
                        arguments[call.index] = [call.function.name, ""]
                    arguments[call.index][1] += call.function.arguments
    read.calls = [(name, json.loads(text)) for name, text in arguments.values()]
    return read


async def read_responses(url: str) -> Read:
    async with (
        import_module("openai").AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client,
        client.responses.stream(model="m", input="x") as stream,
    ):
        numbers = [event.sequence_number async for event in stream if hasattr(event, "sequence_number")]
        response = await stream.get_final_response()
    assert numbers == sorted(set(numbers))
    reasoning = [item for item in response.output if item.type == "reasoning"]
    return Read(
        "".join(part.text for item in reasoning for part in item.summary),
        response.output_text,
        [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"],
        all(item.encrypted_content == "scripted-1" for item in reasoning),
        response.usage.input_tokens,
        response.usage.output_tokens,
        response.status,
    )


async def read_messages(url: str) -> Read:
    question = [{"role": "user", "content": "x"}]
    async with (
        import_module("anthropic").AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=1000, messages=question) as stream,
    ):
        message = await stream.get_final_message()
    read = Read(read=message.usage.input_tokens, written=message.usage.output_tokens, finish=message.stop_reason)
    for block in message.content:
        match block.type:
            case "thinking":
                read.thinking, read.signed = block.thinking, bool(block.signature)
            case "text":
                read.text = block.text
            case "tool_use":
                read.calls.append((block.name, block.input))
    return read


async def read_content(url: str) -> Read:
    genai = import_module("google.genai")
    options = genai.types.HttpOptions(base_url=url, api_version="v1beta")
    read = Read()
    async with genai.Client(api_key=KEY, http_options=options).aio as client:
        async for chunk in await client.models.generate_content_stream(model="m", contents="x"):
            read.read, read.written = (
                chunk.usage_metadata.prompt_token_count,
                chunk.usage_metadata.candidates_token_count,
            )
            for part in chunk.candidates[0].content.parts:
                if part.function_call:
                    assert part.function_call.id is None
                    assert bool(part.thought_signature) == (not read.calls)
                    read.calls.append((part.function_call.name, part.function_call.args))
                elif part.thought:
                    read.thinking += part.text
                else:
                    read.text += part.text
                read.signed = read.signed or part.thought_signature is not None
            if chunk.candidates[0].finish_reason:
                read.finish = chunk.candidates[0].finish_reason.value
    return read


READERS: dict[str, tuple[Callable[[str], Awaitable[Read]], str]] = {
    "openai-chat": (read_chat, "tool_calls"),
    "openai-responses": (read_responses, "completed"),
    "anthropic-messages": (read_messages, "tool_use"),
    "gemini-content": (read_content, "STOP"),
}


@pytest.mark.parametrize("wire", READERS)
async def test_the_vendors_sdk_reads_the_reply(wire: str) -> None:
    reader, finish = READERS[wire]
    async with Loopback([REPLY]) as server:
        read = await reader(server.url)
    assert (read.thinking, read.text, read.signed, read.finish) == (REPLY.thinking, REPLY.text, True, finish)
    assert read.calls == [(call.name, call.arguments) for call in REPLY.calls]
    assert read.read > 0
    assert read.written > 0


def test_every_wire_is_scripted() -> None:
    assert set(SCRIPTED_WIRES) == set(WIRES)


def test_ollama_writes_one_document_in_a_line() -> None:
    frames = list(answer_frames(REPLY, "ollama-chat", b'{"model":"m"}', 1))
    assert all(frame.endswith(b"\n") and frame.count(b"\n") == 1 for frame in frames)
    lines = [json.loads(frame) for frame in frames]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert "".join(line["message"]["content"] for line in lines) == REPLY.text
    calls = [call["function"] for line in lines for call in line["message"].get("tool_calls", ())]
    assert [(call["name"], call["arguments"]) for call in calls] == [(c.name, c.arguments) for c in REPLY.calls]


def test_gemini_writes_as_gemini_does() -> None:
    frames = list(answer_frames(REPLY, "gemini-content", b"{}", 1))
    assert all(frame.startswith(b'data: {"candidates": [{"content": {"parts": [') for frame in frames)
    assert all(frame.endswith(b"}\r\n\r\n") for frame in frames)


SDK_ERRORS: dict[str, tuple[str, str]] = {
    "openai-chat": ("openai", "RateLimitError"),
    "openai-responses": ("openai", "RateLimitError"),
    "anthropic-messages": ("anthropic", "RateLimitError"),
    "gemini-content": ("google.genai.errors", "ClientError"),
}


@pytest.mark.parametrize("wire", SDK_ERRORS)
async def test_the_vendors_sdk_reads_the_refusal(wire: str) -> None:
    module, name = SDK_ERRORS[wire]
    reader, _ = READERS[wire]
    async with Loopback([Reply(error=ScriptedError(429, "slow down", 2.0))]) as server:
        with pytest.raises(getattr(import_module(module), name), match="slow down"):
            await reader(server.url)
