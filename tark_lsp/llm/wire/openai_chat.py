"""The Chat Completions request, for OpenAI and the many servers with their own variations of it."""

from collections.abc import Callable, Iterator
from typing import Any

from tark_lsp.llm.options import ChatOptions, OneTool, sampling
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.openai_chat_answer import ECHOED, ChatParser
from tark_lsp.llm.wire.sendable_history import note_images_left_out, result_text, sendable_history
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.wire import TargetModel, Wire
from tark_lsp.messages import Image, Message, Text, Thinking, ToolDefinition, ToolResult


def encode_request(request: ChatRequest, target: TargetModel) -> bytes:
    quirks = target.quirks
    messages: list[dict[str, Any]] = []
    if request.system:
        messages.append({"role": quirks.system_role, "content": request.system})
    for message in sendable_history(request.messages, target.ref, quirks.call_id_length):
        messages += ENCODERS[message.role](message, target)
    if quirks.bridge_results:
        messages = [*_bridged(messages)]
    if quirks.cache_field:
        messages = _marked(messages, quirks.cache_field)
    body: dict[str, Any] = {"model": target.model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.declared_tools]
        body |= _tool_options(request.options)
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.max_output_tokens and quirks.max_tokens_field:
        body[quirks.max_tokens_field] = request.max_output_tokens
    if wanted := request.options.answer_format:
        schema = {} if wanted.schema is None else {"json_schema": wanted.described}
        body["response_format"] = {"type": wanted.kind, **schema}
    body |= sampling(request.options)
    if quirks.cache_key and request.session_id:
        body["prompt_cache_key"] = request.session_id
    return encode_json(body | _thinking(request.thinking, target))


def _function(tool: ToolDefinition) -> dict[str, Any]:
    sent = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {**sent, "strict": True} if tool.strict else sent


def _tool_options(options: ChatOptions) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    match options.tool_choice:
        case OneTool(name):
            sent["tool_choice"] = {"type": "function", "function": {"name": name}}
        case "none" | "required" as word:
            sent["tool_choice"] = word
    if options.parallel_tool_calls is False:  # true is the default
        sent["parallel_tool_calls"] = False
    return sent


def _thinking(level: str, target: TargetModel) -> dict[str, Any]:
    """`reasoning_effort` has no value for off that all servers know; the other fields have one.

    If thinking is switched separately from the effort, the least effort does not mean off.
    """
    word = effort_for(level, target.efforts)
    off = level == "off" and (word in ("", "none") or target.thinking in ("switch", "adaptive"))
    if target.thinking == "none" or not (word or off):
        return {}
    match target.quirks.effort_field:
        case "reasoning":
            return {"reasoning": {"enabled": False} if off else {"effort": word}}
        case "thinking" if off:
            return {"thinking": {"type": "disabled"}}
        case "thinking":
            return {"thinking": {"type": "enabled"}, "reasoning_effort": word}
        case "chat_template_kwargs" if off:
            return {"chat_template_kwargs": {"enable_thinking": False}}
    return {"reasoning_effort": word} if word else {}


def _user(message: Message, target: TargetModel) -> list[dict[str, Any]]:
    images = [part for part in message.parts if isinstance(part, Image)]
    if not images or not target.quirks.images:
        return [{"role": "user", "content": note_images_left_out(message.text, images)}]
    content = [
        {"type": "text", "text": part.text} if isinstance(part, Text) else _image(part)
        for part in message.parts
        if isinstance(part, Text | Image)
    ]
    return [{"role": "user", "content": content}]


def _assistant(message: Message, target: TargetModel) -> list[dict[str, Any]]:
    calls = message.tool_calls
    if not (message.text or calls):
        return []  # cut off while thinking: many servers reject an empty answer
    encoded: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if calls:
        encoded["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    thinking = [part for part in message.parts if isinstance(part, Thinking)]
    if calls and target.quirks.reasoning_field:  # empty if there was none: DeepSeek rejects calls without the field
        encoded[target.quirks.reasoning_field] = "".join(part.text for part in thinking)
    for part in thinking:  # an echo of another wire has none of these fields
        encoded |= {name: value for name, value in (part.echo or {}).items() if name in ECHOED}
    return [encoded]


def _tool(message: Message, target: TargetModel) -> list[dict[str, Any]]:
    """One message per result, then a user message with all images: a tool message can only hold text."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    encoded: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result_text(result)} for result in results
    ]
    images = tuple(image for result in results for image in result.images)
    if images:
        caption = Text("The images of the tool results above:")
        encoded += _user(Message("user", (caption, *images)), target)
    return encoded


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"}}


ENCODERS: dict[str, Callable[[Message, TargetModel], list[dict[str, Any]]]] = {
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
}


def _bridged(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Adds an assistant message between tool results and a user message."""
    before = ""
    for message in messages:
        if before == "tool" and message["role"] == "user":
            yield {"role": "assistant", "content": "I have the results."}
        yield message
        before = message["role"]


def _marked(messages: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """Sets cache marks at the end of the system prompt and of the last two requests.

    The end of the previous request is marked again, so that it is found no matter how many calls and results were
    added since: caches search only a limited number of parts.
    """
    if field == "cache_control":  # the mark goes on parts; all messages use parts, so that only the marks change
        messages = [message if message["role"] == "assistant" else _in_parts(message) for message in messages]
    ends = [
        place
        for place, message in enumerate(messages)
        if message["role"] not in ("system", "developer", "assistant")
        and (place + 1 == len(messages) or messages[place + 1]["role"] == "assistant")
    ]
    first = [0] if messages and messages[0]["role"] in ("system", "developer") else []
    for place in (*first, *ends[-2:]):
        messages[place] = _mark(messages[place], field)
    return messages


def _in_parts(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message


def _mark(message: dict[str, Any], field: str) -> dict[str, Any]:
    """Copilot marks a whole message, OpenRouter its last text. Empty text cannot be marked."""
    mark = {field: {"type": "ephemeral"}}
    content = message["content"]
    if isinstance(content, str) or field != "cache_control":
        return {**message, **mark} if content else message
    last = max((place for place, part in enumerate(content) if part.get("text")), default=None)
    return {
        **message,
        "content": [{**part, **mark} if place == last else part for place, part in enumerate(content)],
    }


WIRE = Wire("openai-chat", "/chat/completions", "/models", "authorization", encode_request, ChatParser)
