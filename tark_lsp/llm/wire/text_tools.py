"""Requests for models without native tool calls: tools in the system prompt, calls and results as text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.sendable_history import sendable_history
from tark_lsp.messages import Message, Part, Text, ToolCall, ToolDefinition, ToolResult

CLOSES = re.compile(r"<(\s*/\s*tool_response)", re.IGNORECASE)

INSTRUCTIONS = """\
# Tools

You can use the tools listed below. To use one, write a block like this, on lines of its own:

<tool_call>
{"name": "the tool's name", "arguments": {"argument": "value"}}
</tool_call>

- The block holds one JSON object. `arguments` follows the tool's JSON schema.
- Write the block as it is: a block inside a code fence or backticks is not run.
- To use several tools at once, write several blocks, one after another. Write nothing after the last one.
- The tools' answers come back to you in `<tool_response>` blocks. Never write such a block yourself.
- A tool has run only when its `<tool_response>` is there.

The tools, each with the JSON schema of its arguments:
"""


def tools_as_text(request: ChatRequest, ref: str) -> ChatRequest:
    """Returns the same request without `tools`. `ref` names the model. The same request gives the same text, and a
    longer history starts with the text of a shorter one, so that it can be cached.
    """
    messages: list[Message] = []
    names: dict[str, str] = {}
    for message in sendable_history(request.messages, ref):
        names |= {call.id: call.name for call in message.tool_calls}
        encoded = _message(message, names)
        if messages and messages[-1].role == encoded.role == "user":  # many such models need strict turns
            messages[-1] = replace(encoded, parts=(*messages[-1].parts, Text("\n\n"), *encoded.parts))
        else:
            messages.append(encoded)
    system = f"{request.system}\n\n{_instructions(request.tools)}".strip() if request.tools else request.system
    return replace(request, system=system, messages=tuple(messages), tools=())


def _instructions(tools: Sequence[ToolDefinition]) -> str:
    lines = (
        _json({"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)})
        for tool in sorted(tools, key=lambda tool: tool.name)
        if tool.loading != "deferred"
    )
    return "\n".join([INSTRUCTIONS, *lines])


def _message(message: Message, names: Mapping[str, str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case ToolCall():
                parts.append(Text(("\n" if parts else "") + call_text(part)))
            case ToolResult(call_id, content, is_error, images):
                error = ' error="true"' if is_error else ""
                # Text that a tool read must not be able to close its block and pose as the user.
                safe = CLOSES.sub(r"<\\\1", content)
                block = f'<tool_response tool="{names[call_id]}"{error}>\n{safe}\n</tool_response>'
                parts += [Text(("\n" if parts else "") + block), *images]
            case _:
                parts.append(part)
    return Message("user" if message.role == "tool" else message.role, tuple(parts), message.model)


def call_text(call: ToolCall) -> str:
    """The call as the model would write it."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    # A marker inside a string is escaped, so that neither the parser nor a model mistakes it for a marker.
    body = _json({"name": call.name, "arguments": arguments}).replace("<", "\\u003c")
    return f"<tool_call>\n{body}\n</tool_call>"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
