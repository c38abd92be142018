"""Every option on every wire: the fields that are sent, valid for the vendors' own types."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.llm.options import AnswerFormat, ChatOptions, OneTool
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import TargetModel, load_wire
from tark_lsp.messages import ToolDefinition
from tests.cases import every
from tests.llm.wire.histories import TOOLS, ref_of, user
from tests.llm.wire.sdk_types import TYPES

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
PERSON = AnswerFormat("json_schema", "person", SCHEMA, "Who it is.", strict=True)
ANY_JSON = AnswerFormat("json_object")
SAMPLED = ChatOptions(temperature=0.5, top_p=0.9)

SENT: dict[tuple[str, str], tuple[ChatOptions, dict[str, Any]]] = {
    ("openai-responses", "none"): (ChatOptions("none"), {"tool_choice": "none"}),
    ("openai-responses", "required"): (ChatOptions("required"), {"tool_choice": "required"}),
    ("openai-responses", "one"): (
        ChatOptions(OneTool("anything")),
        {"tool_choice": {"type": "function", "name": "anything"}},
    ),
    ("openai-responses", "one call"): (ChatOptions(parallel_tool_calls=False), {"parallel_tool_calls": False}),
    ("openai-responses", "many calls"): (ChatOptions(parallel_tool_calls=True), {}),
    ("openai-responses", "sampling"): (SAMPLED, {"temperature": 0.5, "top_p": 0.9}),
    ("openai-responses", "json"): (ChatOptions(answer_format=ANY_JSON), {"text": {"format": {"type": "json_object"}}}),
    ("openai-responses", "schema"): (
        ChatOptions(answer_format=PERSON),
        {
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "person",
                    "description": "Who it is.",
                    "schema": SCHEMA,
                    "strict": True,
                }
            }
        },
    ),
    ("openai-chat", "none"): (ChatOptions("none"), {"tool_choice": "none"}),
    ("openai-chat", "required"): (ChatOptions("required"), {"tool_choice": "required"}),
    ("openai-chat", "one"): (
        ChatOptions(OneTool("anything")),
        {"tool_choice": {"type": "function", "function": {"name": "anything"}}},
    ),
    ("openai-chat", "one call"): (ChatOptions(parallel_tool_calls=False), {"parallel_tool_calls": False}),
    ("openai-chat", "sampling"): (SAMPLED, {"temperature": 0.5, "top_p": 0.9}),
    ("openai-chat", "json"): (ChatOptions(answer_format=ANY_JSON), {"response_format": {"type": "json_object"}}),
    ("openai-chat", "schema"): (
        ChatOptions(answer_format=replace(PERSON, description="", strict=None)),
        {"response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}},
    ),
    ("anthropic-messages", "none"): (ChatOptions("none"), {"tool_choice": {"type": "none"}}),
    ("anthropic-messages", "none, one call"): (
        ChatOptions("none", parallel_tool_calls=False),
        {"tool_choice": {"type": "none"}},
    ),
    ("anthropic-messages", "required"): (ChatOptions("required"), {"tool_choice": {"type": "any"}}),
    ("anthropic-messages", "one"): (
        ChatOptions(OneTool("anything")),
        {"tool_choice": {"type": "tool", "name": "anything"}},
    ),
    ("anthropic-messages", "one call"): (
        ChatOptions(parallel_tool_calls=False),
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    ),
    ("anthropic-messages", "required, one call"): (
        ChatOptions("required", parallel_tool_calls=False),
        {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
    ),
    ("anthropic-messages", "many calls"): (ChatOptions(parallel_tool_calls=True), {}),
    ("anthropic-messages", "sampling"): (SAMPLED, {"temperature": 0.5, "top_p": 0.9}),
    ("anthropic-messages", "schema"): (
        ChatOptions(answer_format=PERSON),
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    ),
    ("gemini-content", "none"): (
        ChatOptions("none"),
        {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
    ),
    ("gemini-content", "required"): (
        ChatOptions("required"),
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
    ),
    ("gemini-content", "one"): (
        ChatOptions(OneTool("anything")),
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["anything"]}}},
    ),
    ("gemini-content", "sampling"): (SAMPLED, {"generationConfig": {"temperature": 0.5, "topP": 0.9}}),
    ("gemini-content", "json"): (
        ChatOptions(answer_format=ANY_JSON),
        {"generationConfig": {"responseMimeType": "application/json"}},
    ),
    ("gemini-content", "schema"): (
        ChatOptions(answer_format=PERSON),
        {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}},
    ),
    ("ollama-chat", "json"): (ChatOptions(answer_format=ANY_JSON), {"format": "json"}),
    ("ollama-chat", "schema"): (ChatOptions(answer_format=PERSON), {"format": SCHEMA}),
    ("ollama-chat", "sampling"): (SAMPLED, {"options": {"num_ctx": 8192, "temperature": 0.5, "top_p": 0.9}}),
}
"""What a request without options does not have, by wire and option."""


def body_of(wire: str, **request: Any) -> dict[str, Any]:
    target = TargetModel(ref_of(wire), f"model-of-{wire}")
    body = load_wire(wire).encode(ChatRequest("Be brief.", (user("Hi"),), **request), target)
    assert TYPES[wire](json.loads(body)) == []
    return dict(json.loads(body))


@every("case", SENT, " ".join)
def test_option(case: tuple[str, str]) -> None:
    options, expected = SENT[case]
    plain, body = body_of(case[0], tools=TOOLS), body_of(case[0], tools=TOOLS, options=options)
    assert {name: value for name, value in body.items() if plain.get(name) != value} == expected
    assert plain.keys() <= body.keys()


@pytest.mark.parametrize("wire", TYPES)
def test_options_about_calls_are_not_sent_without_tools(wire: str) -> None:
    """OpenAI rejects them."""
    for options in (ChatOptions("none"), ChatOptions(parallel_tool_calls=False)):
        assert body_of(wire, options=options) == body_of(wire)


def test_an_effort_and_a_schema_are_in_one_field_of_anthropic() -> None:
    target = TargetModel("p/m", "m", thinking="adaptive")
    request = ChatRequest("", (user("Hi"),), thinking="low", options=ChatOptions(answer_format=PERSON))
    body = json.loads(load_wire("anthropic-messages").encode(request, target))
    assert TYPES["anthropic-messages"](body) == []
    assert body["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}


STRICT: dict[str, tuple[str, ...]] = {
    "openai-responses": ("strict",),
    "openai-chat": ("function", "strict"),
    "anthropic-messages": ("strict",),
}
"""Where a tool says that its schema is enforced. The other wires cannot say it."""


@pytest.mark.parametrize("wire", TYPES)
def test_a_strict_tool(wire: str) -> None:
    parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    tools = (ToolDefinition("look", "Looks.", parameters, strict=True), ToolDefinition("do", "Does.", parameters))
    body = body_of(wire, tools=tools)
    if wire not in STRICT:
        assert b"strict" not in json.dumps(body).encode()
        return
    *outer, last = STRICT[wire]
    said = {}
    for tool in body["tools"]:
        fields = tool[outer[0]] if outer else tool
        said[fields["name"]] = fields.get(last)
    assert said == {"look": True, "do": False if wire == "openai-responses" else None}
