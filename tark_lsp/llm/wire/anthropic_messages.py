"""The Anthropic Messages request: content blocks in order, results first, and signed thinking that is sent back."""

from collections.abc import Container, Iterator, Sequence
from types import MappingProxyType
from typing import Any

from tark_lsp.llm.options import ChatOptions, OneTool, sampling
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.anthropic_messages_answer import MessagesParser
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.sendable_history import IMAGES_LEFT_OUT, call_input, sendable_history
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.wire import TargetModel, Wire
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult

DEFAULT_MAX_TOKENS = 8192
"""The wire requires a number, and every model accepts this one."""

BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10240, "high": 24576, "max": 32768}
"""Thinking tokens by effort, for models that take a budget."""

LEAST_BUDGET = 1024
ANSWER_TOKENS = 1024
"""Space for the answer after the thinking."""

EFFORTS = ("low", "medium", "high", "max")
"""The efforts of a model with adaptive thinking, if nothing more is known about it."""

NO_IMAGE = {"type": "text", "text": IMAGES_LEFT_OUT.format(1)}

MARK = {"cache_control": {"type": "ephemeral"}}


def encode_request(request: ChatRequest, target: TargetModel) -> bytes:
    body: dict[str, Any] = {"model": target.model, "max_tokens": _max_tokens(request, target)}
    offered = request.loadable_tools if target.defers_tools else request.declared_tools
    tools = [_tool(tool) for tool in offered]
    system = [{"type": "text", "text": request.system}] if request.system else []
    deferred = frozenset(tool.name for tool in offered if tool.loading == "deferred")
    messages = _merge(sendable_history(request.messages, target.ref), target, deferred)
    if target.quirks.cache_control:
        _mark(tools, system, messages)
    body |= {"tools": tools} if tools else {}
    body |= {"system": system} if system else {}
    if tools and (choice := _tool_choice(request.options)):
        body["tool_choice"] = choice
    body |= {"messages": messages, "stream": True, **_thinking(request.thinking, target, messages, body["max_tokens"])}
    if wanted := request.options.answer_format:  # it always enforces the schema
        schema = {"type": "json_schema", "schema": dict(wanted.schema or {})}
        body["output_config"] = {**body.get("output_config", {}), "format": schema}
    return encode_json(body | sampling(request.options))


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
    sent = {**described, "strict": True} if tool.strict else described
    return {**sent, "defer_loading": True} if tool.loading == "deferred" else sent


def _tool_choice(options: ChatOptions) -> dict[str, Any]:
    match options.tool_choice:
        case "none":
            return {"type": "none"}
        case OneTool(name):
            sent: dict[str, Any] = {"type": "tool", "name": name}
        case "required":
            sent = {"type": "any"}
        case _:
            sent = {"type": "auto"}
    if options.parallel_tool_calls is False:
        return {**sent, "disable_parallel_tool_use": True}
    return {} if options.tool_choice == "auto" else sent


def _mark(tools: list[dict[str, Any]], system: list[dict[str, Any]], messages: list[dict[str, Any]]) -> None:
    """Sets the four cache marks that the wire allows: on the tools, on the system prompt, on the last two requests'
    ends.

    The cache is searched up to twenty blocks back from a mark. The end of the previous request is marked again, so
    that it is found no matter how many calls and results were added since. Deferred tools, which are last, cannot have
    a mark.
    """
    user_contents = [message["content"] for message in messages if message["role"] == "user"]
    last = sum("defer_loading" not in tool for tool in tools) - 1
    if last >= 0:
        tools[last] |= MARK
    for blocks in (system, *user_contents[-2:]):
        if blocks:
            blocks[-1] = {**blocks[-1], **MARK}


def _thinking(level: str, target: TargetModel, messages: list[Any], max_tokens: int) -> dict[str, Any]:
    """Nothing is sent to turn off a budget, nor for a model that does not think unless it is asked to."""
    if level == "off":
        kind = "disabled" if target.off == "unknown" and target.thinking == "adaptive" else target.off
        return {"thinking": {"type": kind}} if kind in ("disabled", "between_tools") else {}
    if target.thinking == "adaptive":
        effort = effort_for(level, target.efforts or EFFORTS)
        output = {"output_config": {"effort": effort}} if effort else {}
        # Since Opus 4.7, the text of thinking is left out unless the request asks for it.
        return {"thinking": {"type": "adaptive", "display": "summarized"}, **output}
    if target.thinking == "none" or level == "auto":
        return {}
    wanted = BUDGETS.get(effort_for(level, target.efforts or tuple(BUDGETS)), BUDGETS["high"])
    budget = min(wanted, max_tokens - ANSWER_TOKENS)
    if budget < LEAST_BUDGET or not _may_think(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def find_downgrades(request: ChatRequest, target: TargetModel) -> Iterator[str]:
    """Why a model that takes a budget does not think, though the request asks for it."""
    if request.thinking in ("auto", "off") or target.thinking in ("adaptive", "none"):
        return
    max_tokens = _max_tokens(request, target)
    if max_tokens < LEAST_BUDGET + ANSWER_TOKENS:
        yield f"{target.ref} does not think: answers of at most {max_tokens} tokens leave no room for it"
    elif not (target.text_calls or _may_think(_merge(sendable_history(request.messages, target.ref), target))):
        yield f"{target.ref} does not think until this tool loop ends: it began without thinking signed by this model"


def thinks(request: ChatRequest, target: TargetModel) -> bool:
    """Whether the model thinks during this request. Then it cannot be forced to call a tool."""
    level = "auto" if request.thinking == "off" and target.off == "never" else request.thinking
    messages = _merge(sendable_history(request.messages, target.ref), target)
    sent = _thinking(level, target, messages, _max_tokens(request, target)).get("thinking", {})
    return sent.get("type") in ("adaptive", "enabled", "between_tools")


def _max_tokens(request: ChatRequest, target: TargetModel) -> int:
    return request.max_output_tokens or target.max_output_tokens or DEFAULT_MAX_TOKENS


def _may_think(messages: list[Any]) -> bool:
    """With a budget, a tool loop must start with thinking. It does not if the model changed within the loop."""
    for message in reversed(messages):
        if message["role"] == "assistant":
            kinds = [block["type"] for block in message["content"]]
            return "tool_use" not in kinds or kinds[0] in ("thinking", "redacted_thinking")
    return True


def _merge(messages: Sequence[Message], target: TargetModel, deferred: Container[str] = ()) -> list[dict[str, Any]]:
    """Joins consecutive messages of one role. Results come first in their message, as the wire requires.

    `deferred`: the names of the deferred tools of the request, the only ones that a result can refer to.
    """
    merged: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [
            block for part in message.parts if (block := _block(part, target.quirks.images, deferred)) is not None
        ]
        if blocks and merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    *earlier, last = merged or [{}]  # a last answer that is to be continued stays unchanged
    kept = [message for message in earlier if message["role"] == "user" or _strip_thinking_at_end(message["content"])]
    merged = kept + [last] * bool(last)
    if merged and merged[-1]["role"] == "assistant":
        last = merged[-1]["content"][-1]
        if last["type"] == "text":  # the wire rejects a prefill that ends in white space
            last["text"] = last["text"].rstrip()
    return merged


def _strip_thinking_at_end(blocks: list[dict[str, Any]]) -> bool:
    """Removes thinking from the end, where the wire rejects it. Returns whether anything is left."""
    while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        del blocks[-1]
    return bool(blocks)


def _block(part: Part, accepts_images: bool, deferred: Container[str]) -> dict[str, Any] | None:
    """None for what the wire rejects: empty text, and thinking without a signature."""
    match part:
        case Text(text, echo):
            cited = {"citations": echo["citations"]} if echo and "citations" in echo else {}
            return {"type": "text", "text": text, **cited} if text.strip() else None
        case Thinking(text, echo):
            return {"type": "thinking", "thinking": text, **echo} if echo and echo.get("signature") else None
        case ToolCall(id, name):
            return {"type": "tool_use", "id": id, "name": name, "input": call_input(part)}
        case ToolResult(call_id, found=found) if found and all(name in deferred for name in found):
            references = [{"type": "tool_reference", "tool_name": name} for name in found]
            return {"type": "tool_result", "tool_use_id": call_id, "content": references}
        case ToolResult(call_id, content, is_error, images):
            blocks = [{"type": "text", "text": content}] if content.strip() else []
            blocks += [_image(image) if accepts_images else NO_IMAGE for image in images]
            result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": blocks}
            return {**result, "is_error": True} if is_error else result
        case Image():
            return _image(part) if accepts_images else NO_IMAGE
        case Opaque(echo):
            return dict(echo)


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}}


WIRE = Wire(
    name="anthropic-messages",
    path="/v1/messages",
    models_path="/v1/models?limit=1000",
    key_header="x-api-key",
    encode=encode_request,
    parser=MessagesParser,
    headers=MappingProxyType({"anthropic-version": "2023-06-01"}),
    downgrades=find_downgrades,
)
