"""Reads request bodies of all wires into one form, by the wires' rules, independent of our encoders."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Said:
    """One thing said, in order. `turn` counts the wire's own messages: what shares one was said in one message.

    `id` None: the wire has none there. `arguments` is decoded, or text where the wire sends text that is no JSON.
    """

    kind: Literal["system", "user", "assistant", "thinking", "call", "result", "image", "opaque"]
    turn: int
    text: str = ""
    id: str | None = None
    name: str = ""
    arguments: Any = None
    error: bool = False


Items = Iterator[Said]


def _data(url: str) -> str:
    head, _, data = url.partition(";base64,")
    assert head.startswith("data:image/"), url[:60]
    return data


def _object(text: str) -> Any:
    value = json.loads(text)  # every server parses it, and many refuse what does not parse
    assert isinstance(value, dict), text[:60]
    return value


def _chat(body: Any) -> Items:
    for turn, message in enumerate(body["messages"]):
        role, content = message["role"], message.get("content")
        for name in ("reasoning_content", "reasoning_details", "reasoning_text", "reasoning_opaque", "reasoning"):
            if message.get(name):
                yield Said("thinking", turn, json.dumps(message[name]))
        if role == "tool":
            text = content if isinstance(content, str) else "".join(part["text"] for part in content)
            yield Said("result", turn, text, message["tool_call_id"], error=_says_error(text))
            continue
        kind: Any = "system" if role in ("system", "developer") else role
        parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for part in parts:
            if part["type"] == "image_url":
                yield Said("image", turn, _data(part["image_url"]["url"]))
            else:
                yield Said(kind, turn, part["text"])
        for call in message.get("tool_calls", ()):
            function = call["function"]
            yield Said("call", turn, "", call["id"], function["name"], _object(function["arguments"]))


def _says_error(text: str) -> bool:
    return text.startswith(("Error", '{"ok": false'))


def _responses(body: Any) -> Items:
    if body.get("instructions"):
        yield Said("system", -1, body["instructions"])
    for turn, item in enumerate(body["input"]):
        match item.get("type", "message"):
            case "message":
                role = item["role"]
                kind: Any = "system" if role in ("system", "developer") else role
                content = item["content"]
                parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
                for part in parts:
                    if part["type"] == "input_image":
                        yield Said("image", turn, _data(part["image_url"]))
                    else:
                        yield Said(kind, turn, part["text"])
            case "function_call":
                yield Said("call", turn, "", item["call_id"], item["name"], _object(item["arguments"]))
            case "function_call_output":
                output = item["output"]
                parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
                text = "".join(part["text"] for part in parts if part["type"] == "input_text")
                yield Said("result", turn, text, item["call_id"], error=_says_error(text))
                for part in parts:
                    if part["type"] == "input_image":
                        yield Said("image", turn, _data(part["image_url"]), item["call_id"])
            case "reasoning":
                yield Said("thinking", turn, json.dumps(item))
            case _:
                yield Said("opaque", turn, json.dumps(item))


def _messages(body: Any) -> Items:
    for block in body.get("system", ()):
        yield Said("system", -1, block["text"])
    for turn, message in enumerate(body["messages"]):
        for block in message["content"]:
            match block["type"]:
                case "text":
                    yield Said(message["role"], turn, block["text"])
                case "image":
                    yield Said("image", turn, block["source"]["data"])
                case "thinking" | "redacted_thinking":
                    yield Said("thinking", turn, json.dumps(block))
                case "tool_use":
                    assert isinstance(block["input"], dict)
                    yield Said("call", turn, "", block["id"], block["name"], block["input"])
                case "tool_result":
                    content = block.get("content", [])
                    inner: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
                    text = "".join(part["text"] for part in inner if part["type"] == "text")
                    yield Said("result", turn, text, block["tool_use_id"], error=block.get("is_error", False))
                    for part in inner:
                        if part["type"] == "image":
                            yield Said("image", turn, part["source"]["data"], block["tool_use_id"])
                case _:
                    yield Said("opaque", turn, json.dumps(block))


def _gemini(body: Any) -> Items:
    for part in body.get("systemInstruction", {}).get("parts", ()):
        yield Said("system", -1, part["text"])
    for turn, content in enumerate(body["contents"]):
        kind: Any = {"user": "user", "model": "assistant"}[content["role"]]
        for part in content["parts"]:
            match part:
                case {"functionCall": made}:
                    assert isinstance(made.get("args", {}), dict)
                    yield Said("call", turn, "", made.get("id"), made["name"], made.get("args", {}))
                case {"functionResponse": response}:
                    said = response["response"]
                    assert isinstance(said, dict)
                    text = str(said.get("output", said.get("error", said)))
                    yield Said("result", turn, text, response.get("id"), response["name"], error="error" in said)
                    for inner in response.get("parts", ()):
                        yield Said("image", turn, inner["inlineData"]["data"], response.get("id") or "")
                case {"inlineData": blob}:
                    yield Said("image", turn, blob["data"])
                case {"thought": True}:
                    yield Said("thinking", turn, json.dumps(part))
                case {"text": text}:
                    yield Said(kind, turn, text)
                case _:
                    yield Said("opaque", turn, json.dumps(part))


def _ollama(body: Any) -> Items:
    for turn, message in enumerate(body["messages"]):
        if message.get("thinking"):
            yield Said("thinking", turn, message["thinking"])
        if message["role"] == "tool":
            text = message["content"]
            given = message.get("tool_call_id")
            yield Said("result", turn, text, given, message["tool_name"], error=_says_error(text))
        elif message["content"]:
            yield Said(message["role"], turn, message["content"])
        for image in message.get("images", ()):
            yield Said("image", turn, image)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            yield Said("call", turn, "", call.get("id"), function["name"], function["arguments"])


READERS: Mapping[str, Callable[[Any], Items]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
    "gemini-content": _gemini,
    "ollama-chat": _ollama,
}


def read_body(wire: str, body: bytes) -> list[Said]:
    return list(READERS[wire](json.loads(body)))
