"""The vendors' own types of a request body, by wire. Their SDKs are imported here only, and only when asked."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, ValidationError

from tests.llm.wire.strict_types import mismatches

VENDOR_FIELDS = frozenset(
    {
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "reasoning_text",
        "reasoning_opaque",
        "copilot_cache_control",
    }
    | {"cache_control"}
)
"""What OpenRouter, Copilot, DeepSeek and others have in a chat beside OpenAI's own fields (wires.md, 5, 6 and 8)."""


OLD_CLAUDE_FIELDS = frozenset({"temperature", "top_p"})
"""The newest SDK has lost them, with the models since Opus 4.7; the API still takes them for the models before."""


def _without_vendor_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_vendor_fields(item) for key, item in value.items() if key not in VENDOR_FIELDS}
    return [_without_vendor_fields(item) for item in value] if isinstance(value, list) else value


def _openai_chat(body: Any) -> list[str]:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return mismatches(_without_vendor_fields(body), CompletionCreateParamsStreaming)


def _openai_responses(body: Any) -> list[str]:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    return mismatches(body, ResponseCreateParamsStreaming)


def _anthropic_messages(body: Any) -> list[str]:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    known = {name: value for name, value in body.items() if name not in OLD_CLAUDE_FIELDS}
    return mismatches(known, MessageCreateParamsStreaming)


def _gemini_content(body: Any) -> list[str]:
    """The SDK has no type for the whole body; those of its parts forbid unknown fields. Its aliases are camelCase."""
    from google.genai import types

    class Body(BaseModel):
        model_config = ConfigDict(extra="forbid")

        contents: list[types.Content]
        systemInstruction: types.Content | None = None  # noqa: N815  # the API's name
        tools: list[types.Tool] = []
        toolConfig: types.ToolConfig | None = None  # noqa: N815  # the API's name
        generationConfig: types.GenerationConfig | None = None  # noqa: N815  # the API's name

    try:
        Body.model_validate_json(json.dumps(body))  # as JSON, since bytes are base64 there
    except ValidationError as error:
        return [f"{detail['loc']}: {detail['msg']}" for detail in error.errors()]
    return []


class _OllamaFunction(TypedDict):
    name: str
    arguments: dict[str, object]
    index: NotRequired[int]


class _OllamaCall(TypedDict):
    id: NotRequired[str]
    type: NotRequired[Literal["function"]]
    function: _OllamaFunction


class _OllamaMessage(TypedDict):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    thinking: NotRequired[str]
    images: NotRequired[list[str]]
    tool_calls: NotRequired[list[_OllamaCall]]
    tool_name: NotRequired[str]
    tool_call_id: NotRequired[str]


class _OllamaToolFunction(TypedDict):
    name: str
    description: str
    parameters: dict[str, object]


class _OllamaTool(TypedDict):
    type: Literal["function"]
    function: _OllamaToolFunction


class _OllamaOptions(TypedDict, total=False):
    num_ctx: int
    num_predict: int
    temperature: float
    top_p: float


class _OllamaBody(TypedDict):
    """From wires.md, section 7: the `ollama` package's own types know neither ids nor `truncate` and `shift`."""

    model: str
    messages: list[_OllamaMessage]
    tools: NotRequired[list[_OllamaTool]]
    stream: NotRequired[bool]
    format: NotRequired[Literal["json"] | dict[str, object]]
    think: NotRequired[bool | Literal["low", "medium", "high", "max"]]
    options: NotRequired[_OllamaOptions]
    truncate: NotRequired[bool]
    shift: NotRequired[bool]
    keep_alive: NotRequired[str | int]


def _ollama_chat(body: Any) -> list[str]:
    return mismatches(body, _OllamaBody)


TYPES: Mapping[str, Callable[[Any], list[str]]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic-messages": _anthropic_messages,
    "gemini-content": _gemini_content,
    "ollama-chat": _ollama_chat,
}
"""What is wrong with a decoded body, each with its place."""
