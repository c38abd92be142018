"""The Responses request: the history as a flat list of items. The server does not have to remember anything."""

from collections.abc import Callable, Sequence
from typing import Any

from tark_lsp.llm.options import ChatOptions, OneTool, sampling
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.openai_responses_answer import ResponsesParser
from tark_lsp.llm.wire.sendable_history import call_input, note_images_left_out, result_text, sendable_history
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.wire import TargetModel, Wire
from tark_lsp.messages import (
    FIND_TOOLS,
    Echo,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolResult,
)

FINISHED = frozenset(
    {
        "code_interpreter_call",
        "compaction",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "web_search_call",
    }
)
"""The server's own items that are sent back unchanged. Others would wait for an answer that Tark never gives: calls of
tools that Tark does not have (shell, patch, custom), and requests for approval."""


def encode_request(request: ChatRequest, target: TargetModel) -> bytes:
    quirks = target.quirks
    body: dict[str, Any] = {"model": target.model}
    if request.system:
        body["instructions"] = request.system
    offered = request.loadable_tools if target.defers_tools else request.declared_tools
    if request.tools:
        body["tools"] = [_definition(tool, target) for tool in offered]
        body |= _tool_options(request.options)
    # Reasoning encrypted for one key is rejected with another. Then the history is sent like another model's.
    own = target.ref if quirks.signatures else ""
    history = sendable_history(request.messages, own)
    items = [item for message in history for item in ENCODERS[message.role](message, target)]
    searches = target.defers_tools and any(tool.loading == "search" for tool in offered)
    body["input"] = _with_searches(items, history, offered, target) if searches else items
    body |= {"store": False, "stream": True}
    if reasoning := _reasoning_options(request, target):
        body["reasoning"] = reasoning
    if quirks.encrypted_reasoning and target.thinking != "none":
        body["include"] = ["reasoning.encrypted_content"]
    if request.max_output_tokens and quirks.max_tokens_field:
        body["max_output_tokens"] = request.max_output_tokens
    if wanted := request.options.answer_format:
        body["text"] = {"format": {"type": wanted.kind, **(wanted.described if wanted.schema is not None else {})}}
    body |= sampling(request.options)
    if quirks.cache_key and request.session_id:
        body["prompt_cache_key"] = request.session_id
    return encode_json(body)


def _definition(tool: ToolDefinition, target: TargetModel) -> dict[str, Any]:
    described = {"description": tool.description, "parameters": dict(tool.parameters)}
    if tool.loading == "search" and target.defers_tools:
        return {"type": "tool_search", "execution": "client", **described}
    # The default is to make the schema strict.
    sent = {"type": "function", "name": tool.name, **described, "strict": tool.strict}
    return {**sent, "defer_loading": True} if tool.loading == "deferred" else sent


def _with_searches(
    items: Sequence[dict[str, Any]], history: Sequence[Message], offered: Sequence[ToolDefinition], target: TargetModel
) -> list[dict[str, Any]]:
    """The items, with searches as items of their own kind, and the tools that they found as definitions."""
    deferred = {tool.name: tool for tool in offered if tool.loading == "deferred"}
    parts = [part for message in history for part in message.parts]
    searches = {part.id: call_input(part) for part in parts if isinstance(part, ToolCall) and part.name == FIND_TOOLS}
    found = {part.call_id: part.found for part in parts if isinstance(part, ToolResult)}
    sent: list[dict[str, Any]] = []
    for item in items:
        call = item.get("call_id", "")
        by_client = {"call_id": call, "execution": "client", "status": "completed"}
        match item.get("type"):
            case "function_call" if call in searches:
                sent.append({"type": "tool_search_call", **by_client, "arguments": searches[call]})
            case "function_call_output" if call in searches:
                tools = [_definition(deferred[name], target) for name in found[call] if name in deferred]
                sent.append({"type": "tool_search_output", **by_client, "tools": tools})
            case _:
                sent.append(item)
    return sent


def _tool_options(options: ChatOptions) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    match options.tool_choice:
        case OneTool(name):
            sent["tool_choice"] = {"type": "function", "name": name}
        case "none" | "required" as word:
            sent["tool_choice"] = word
    if options.parallel_tool_calls is False:  # true is the default
        sent["parallel_tool_calls"] = False
    return sent


def _reasoning_options(request: ChatRequest, target: TargetModel) -> dict[str, str]:
    """Requests a summary only if the model is known to think or told to think: others reject the field."""
    if target.thinking == "none":
        return {}
    effort = effort_for(request.thinking, target.efforts)
    options = {"effort": effort} if effort else {}
    if target.quirks.reasoning_summary and request.thinking != "off" and (effort or target.thinking == "effort"):
        options["summary"] = "auto"
    return options


def _user(message: Message, target: TargetModel) -> list[dict[str, Any]]:
    images = [part for part in message.parts if isinstance(part, Image)]
    if not images or not target.quirks.images:
        return [{"role": "user", "content": note_images_left_out(message.text, images)}]
    content = [
        _image(part) if isinstance(part, Image) else {"type": "input_text", "text": part.text}
        for part in message.parts
        if isinstance(part, Image) or (isinstance(part, Text) and part.text)
    ]
    return [{"role": "user", "content": content}]


def _assistant(message: Message, _: TargetModel) -> list[dict[str, Any]]:
    """The items in their original order. Reasoning is rejected without the item after it: both are sent, or neither."""
    items: list[dict[str, Any]] = []
    reasoning: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Thinking(_, echo):
                reasoning += _reasoning_items(echo)
                continue
            case Text(text, echo) if text:
                phase = (echo or {}).get("phase")
                # A plain string: a list of `output_text` would need the id of an item that the server did not store.
                item = {"role": "assistant", "content": text, **({"phase": phase} if phase else {})}
            case ToolCall(id, name, arguments):
                item = {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
            case Opaque(echo) if echo.get("type") in FINISHED and echo.get("id"):
                item = dict(echo)
            case Opaque():
                reasoning = []
                continue
            case _:
                continue
        items += [*reasoning, item]
        reasoning = []
    return items


def _reasoning_items(echo: Echo) -> list[dict[str, Any]]:
    """Empty if the server would have to remember the item.

    Encrypted reasoning is sent without its id: the server could look up the id, but never stored the item. Plain
    reasoning, from models with open weights, keeps its id, which their servers require but do not look up.
    """
    if not echo or echo.get("type") != "reasoning":
        return []
    if echo.get("encrypted_content"):
        return [{name: value for name, value in echo.items() if name != "id"}]
    return [dict(echo)] if echo.get("content") else []


def _tool(message: Message, target: TargetModel) -> list[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    return [
        {"type": "function_call_output", "call_id": result.call_id, "output": _output(result, target)}
        for result in results
    ]


def _output(result: ToolResult, target: TargetModel) -> str | list[dict[str, Any]]:
    text = result_text(result)
    if not result.images or not target.quirks.images:
        return note_images_left_out(text, result.images)
    words = [{"type": "input_text", "text": text}] if text else []
    return words + [_image(image) for image in result.images]


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:{image.mime_type};base64,{image.data}", "detail": "auto"}


ENCODERS: dict[str, Callable[[Message, TargetModel], list[dict[str, Any]]]] = {
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
}

WIRE = Wire("openai-responses", "/responses", "/models", "authorization", encode_request, ResponsesParser)
