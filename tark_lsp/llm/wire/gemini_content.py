"""The Gemini request: the roles user and model, and signatures that are sent back on the part they came with."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.llm.options import ChatOptions, OneTool, ToolChoice
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.gemini_content_answer import GeminiParser
from tark_lsp.llm.wire.gemini_version import is_since_3
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.sendable_history import IMAGES_LEFT_OUT, call_input, sendable_history
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.wire import TargetModel, Wire
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult

PLACEHOLDER_SIGNATURE = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""`skip_thought_signature_validator`, as base64 like all signatures. It replaces a signature that Gemini did not give.

ai.google.dev/gemini-api/docs/thought-signatures, FAQ. Models before 3, which need none, accept it too.
"""

BUDGETS = {"minimal": 512, "low": 2048, "medium": 8192, "high": 24576, "max": 24576}
"""Thinking tokens by level, within the limits of every 2.5 model: Flash-Lite's minimum is 512, Flash's maximum 24576.
"""

MIN_BUDGET_OF_PRO = 128
"""Thinking cannot be turned off for 2.5 Pro."""

LEVELS = ("low", "high")
"""The levels that every model with thinking levels accepts. Some accept more."""


def encode_request(request: ChatRequest, target: TargetModel) -> bytes:
    body: dict[str, Any] = {}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.declared_tools]}]
        if choice := _calling_config(request.options.tool_choice):
            body["toolConfig"] = {"functionCallingConfig": choice}
    # Another key or server rejects a signature. Then the model's own history is sent like another model's.
    own = target.ref if target.quirks.signatures else ""
    body["contents"] = _contents(sendable_history(request.messages, own), target)
    config = _options(request.options)
    if request.max_output_tokens:
        config["maxOutputTokens"] = request.max_output_tokens
    if thinking := _thinking(request, target):
        config["thinkingConfig"] = thinking
    if config:
        body["generationConfig"] = config
    return encode_json(body)


def _calling_config(choice: ToolChoice) -> dict[str, Any]:
    match choice:
        case "none":
            return {"mode": "NONE"}
        case "required":
            return {"mode": "ANY"}
        case OneTool(name):
            return {"mode": "ANY", "allowedFunctionNames": [name]}
    return {}


def _options(options: ChatOptions) -> dict[str, Any]:
    values = {"temperature": options.temperature, "topP": options.top_p}
    sent: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if options.answer_format:
        sent["responseMimeType"] = "application/json"
        if options.answer_format.schema is not None:
            sent["responseJsonSchema"] = dict(options.answer_format.schema)
    return sent


def _declaration(tool: ToolDefinition) -> dict[str, Any]:
    """A tool without arguments declares no schema."""
    declared = {"name": tool.name, "description": tool.description}
    if any(value for word, value in tool.parameters.items() if word not in ("type", "title", "description", "$schema")):
        return {**declared, "parametersJsonSchema": dict(tool.parameters)}
    return declared


def _thinking(request: ChatRequest, target: TargetModel) -> dict[str, Any]:
    """2.5 takes a budget, 3 and later take a level. Summaries of the thinking are sent only on request."""
    level, style = request.thinking, target.thinking
    if style == "unknown" and level not in ("auto", "off"):
        style = "effort" if is_since_3(target) else "budget"
    show = {"includeThoughts": True} if level != "off" else {}
    if style == "effort":
        word = effort_for(level, target.efforts or LEVELS)
        return {**show, "thinkingLevel": word.upper()} if word else show
    if style != "budget":
        return {}
    if level == "auto":
        return show
    if level == "off":
        return {"thinkingBudget": MIN_BUDGET_OF_PRO if "pro" in target.model else 0}
    budget = BUDGETS.get(level, BUDGETS["high"])
    if request.max_output_tokens:  # the limit includes thinking
        budget = min(budget, max(BUDGETS["minimal"], request.max_output_tokens // 2))
    return {**show, "thinkingBudget": budget}


def _contents(messages: Sequence[Message], target: TargetModel) -> list[dict[str, Any]]:
    """Joins consecutive messages of one role into one content."""
    contents: list[dict[str, Any]] = []
    calls: dict[str, ToolCall] = {}
    for message in messages:
        calls |= {call.id: call for call in message.tool_calls}
        if message.role == "tool":
            parts = _results(message, calls, target)
        else:
            parts = [encoded for part in message.parts if (encoded := _part(part, target)) is not None]
            _sign(parts)
        role = "model" if message.role == "assistant" else "user"
        if parts and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    return contents


def _sign(parts: list[dict[str, Any]]) -> None:
    """The first call of a step must be signed. Earlier turns are not checked, but this keeps the cached prefix the
    same.
    """
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None:
        first.setdefault("thoughtSignature", PLACEHOLDER_SIGNATURE)


def _part(part: Part, target: TargetModel) -> dict[str, Any] | None:
    """None for a text that is empty and not signed, and for parts of another wire."""
    match part:
        case Text(text, echo):
            return {"text": text, **_signature(echo)} if text or _signature(echo) else None
        case Thinking(text, echo):
            own = _signature(echo) or (text and not echo)
            return {"text": text, "thought": True, **_signature(echo)} if own else None
        case ToolCall(name=name, echo=echo):
            return {"functionCall": {**_given_id(part), "name": name, "args": call_input(part)}, **_signature(echo)}
        case Image():
            return _image(part, target)
        case Opaque(echo) if "type" not in echo:  # Gemini's parts have no type field
            return dict(echo)
    return None


def _signature(echo: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"thoughtSignature": echo["thoughtSignature"]} if echo and "thoughtSignature" in echo else {}


def _given_id(call: ToolCall) -> Mapping[str, Any]:
    """The id that the model gave, if any. Ids that Tark made are not sent."""
    return {"id": call.echo["id"]} if call.echo and "id" in call.echo else {}


def _results(message: Message, calls: Mapping[str, ToolCall], target: TargetModel) -> list[dict[str, Any]]:
    """Images are parts of their result. For models that do not accept them there, they come after all results."""
    parts: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for result in message.parts:
        if not isinstance(result, ToolResult):
            continue
        call = calls[result.call_id]
        content = {"error" if result.is_error else "output": result.content}
        response: dict[str, Any] = {**_given_id(call), "name": call.name, "response": content}
        images = [_image(image, target) for image in result.images]
        if images and target.quirks.images and is_since_3(target):
            response["parts"] = images
        elif images:
            after += [{"text": f"The images of the result of {call.name}:"}, *images]
        parts.append({"functionResponse": response})
    return parts + after


def _image(image: Image, target: TargetModel) -> dict[str, Any]:
    if not target.quirks.images:
        return {"text": IMAGES_LEFT_OUT.format(1)}
    return {"inlineData": {"mimeType": image.mime_type, "data": image.data}}


WIRE = Wire(
    name="gemini-content",
    path="/v1beta/models/{model}:streamGenerateContent?alt=sse",
    models_path="/v1beta/models?pageSize=1000",
    key_header="x-goog-api-key",
    encode=encode_request,
    parser=GeminiParser,
)
