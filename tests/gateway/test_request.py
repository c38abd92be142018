"""Bodies of requests as messages: every kind of item and tool, and every error with its place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.gateway.history import MAX_ITEMS
from tark_lsp.gateway.problems import Problem
from tark_lsp.gateway.reasoning_state import read_state, write_state
from tark_lsp.gateway.request import ParsedRequest, read_request
from tark_lsp.gateway.tools import MAX_TOOLS
from tark_lsp.llm.events import Echo
from tark_lsp.llm.options import AnswerFormat, ChatOptions, OneTool
from tark_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult

LOOK = {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
HI = {"role": "user", "content": "Hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "seen"}


def asked(items: Any = "Hi", **body: Any) -> ParsedRequest:
    return read_request({"input": items, "model": "p/m", **body}, lambda name: name)


def user(*parts: Text | Image) -> Message:
    return Message("user", parts)


def test_a_string() -> None:
    request = asked(instructions="Be brief.", max_output_tokens=9, prompt_cache_key="k", stream=True)
    assert request.chat.messages == (user(Text("Hi")),)
    assert (request.chat.system, request.chat.max_output_tokens, request.chat.session_id) == ("Be brief.", 9, "k")
    assert request.chat.options == ChatOptions(may_drop=True)
    assert request.stream
    assert request.warnings == ()


def test_a_conversation() -> None:
    """As Codex sends one: developer messages, calls of one answer together, results after them."""
    picture = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
    request = asked(
        [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}, picture]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            CALL,
            {**CALL, "call_id": "c2", "arguments": "{broken"},
            {**RESULT, "call_id": "c2", "output": [{"type": "input_text", "text": "two"}, picture]},
            RESULT,
            HI,
        ],
        instructions="Be brief.",
    )
    image = Image("image/png", "aGk=")
    assert request.chat.system == "Be brief.\n\nRules."
    assert request.chat.messages == (
        user(Text("Look."), image),
        Message("assistant", (Text("I look."), ToolCall("c1", "look", "{}"), ToolCall("c2", "look", "{broken")), "p/m"),
        Message("tool", (ToolResult("c1", "seen"), ToolResult("c2", "two", images=(image,)))),
        user(Text("Hi")),
    )


def test_reasoning_goes_back_to_its_model_only() -> None:
    echoes = (Echo("thinking", {"signature": "s"}), Echo("call", {"thoughtSignature": "t"}, "c1"))
    item = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm"}]}
    own = {**item, "encrypted_content": write_state("p/m", echoes)}
    others = [
        {**item, "encrypted_content": write_state("p/other", echoes)},
        {**item, "encrypted_content": "gAAAA"},
        {**item, "encrypted_content": "tark1.!!!"},
        {**item, "encrypted_content": None},
        item,
    ]
    request = asked([HI, own, CALL, RESULT])
    call = ToolCall("c1", "look", "{}", {"thoughtSignature": "t"})
    assert request.chat.messages[1].parts == (Thinking("Hm", {"signature": "s"}), call)
    request = asked([HI, *others, CALL, RESULT])
    assert request.chat.messages[1].parts == (ToolCall("c1", "look", "{}"),)
    assert request.warnings == ("reasoning left out, since it is not of this model: 5 items",)


def test_custom_tools_namespaces_and_searches() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
    tools = [
        {"type": "custom", "name": "apply_patch", "description": "Patches.", "format": grammar},
        {
            "type": "namespace",
            "name": "mcp__git__",
            "description": "",
            "tools": [LOOK, {"type": "custom", "name": "x"}],
        },
        {"type": "tool_search", "execution": "client", "description": "Searches.", "parameters": {"type": "object"}},
        {**LOOK, "name": "hidden", "defer_loading": True},
        {**LOOK, "name": "found", "defer_loading": True},
        {"type": "web_search"},
        {"type": "local_shell"},
    ]
    request = asked(
        [
            HI,
            {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
            {"type": "tool_search_call", "call_id": "c2", "execution": "client", "arguments": {"query": "x"}},
            {
                "type": "tool_search_output",
                "call_id": "c2",
                "tools": [{**LOOK, "name": "found", "defer_loading": True}],
            },
            {**CALL, "call_id": "c3", "namespace": "mcp__git__"},
            {**RESULT, "call_id": "c3"},
            {"type": "additional_tools", "role": "developer", "tools": [{**LOOK, "name": "added"}]},
        ],
        tools=tools,
    )
    names = [tool.name for tool in request.chat.tools]
    assert names == ["apply_patch", "mcp__git__look", "mcp__git__x", "tool_search", "found", "added"]
    assert "must match this lark grammar:\nstart: /x/" in request.chat.tools[0].description
    called = [call for message in request.chat.messages for call in message.tool_calls]
    assert [(call.name, json.loads(call.arguments)) for call in called] == [
        ("apply_patch", {"input": "*** Begin"}),
        ("tool_search", {"query": "x"}),
        ("mcp__git__look", {}),
    ]
    assert request.warnings == ("tools left out, since only OpenAI's models have them: web_search, local_shell",)
    assert [tool["type"] for tool in request.repeated["tools"]][:3] == ["custom", "namespace", "tool_search"]


def test_nested_tools_of_chat_completions() -> None:
    request = asked(tools=[{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}])
    assert [tool.name for tool in request.chat.tools] == ["look"]
    assert request.repeated["tools"][0]["name"] == "look"


def test_a_strict_tool_is_asked_for_as_such() -> None:
    nested = {"type": "function", "function": {"name": "deep", "strict": True}}
    request = asked(tools=[{**LOOK, "strict": True}, {**LOOK, "name": "loose"}, nested])
    assert {tool.name: tool.strict for tool in request.chat.tools} == {"look": True, "loose": False, "deep": True}


def test_a_state_whose_parts_are_no_provider_s_is_left_out() -> None:
    kinds: list[Any] = [[], {"a": 1}, None]
    for kind in kinds:
        assert read_state(write_state("p/m", [Echo("opaque", {"type": kind})])) is None


def test_without_a_search_of_the_client_nothing_is_hidden() -> None:
    tools = [{"type": "tool_search"}, {**LOOK, "defer_loading": True}]
    assert [tool.name for tool in asked(tools=tools).chat.tools] == ["look"]


def test_names_that_no_provider_accepts_come_back_as_they_were() -> None:
    names = ["with space", "a" * 100, "a" * 99 + "b", "1st"]
    tools = asked(tools=[{**LOOK, "name": name} for name in names]).tools
    assert [tool.name for tool in tools.tools.values()] == names
    assert all(len(sent) <= 64 for sent in tools.tools)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "look"}, OneTool("look")),
        ({"type": "function", "function": {"name": "look"}}, OneTool("look")),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "look"}]}, "required"),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}, {"type": "function", "name": "look"}]},
            "auto",
        ),
    ],
)
def test_tool_choices(given: Any, wanted: Any) -> None:
    request = asked(tools=[LOOK, {**LOOK, "name": "other"}, {"type": "mcp"}], tool_choice=given)
    assert request.chat.options.tool_choice == wanted
    assert len(request.chat.tools) == (1 if isinstance(given, dict) and given["type"] == "allowed_tools" else 2)


def test_formats_and_efforts() -> None:
    schema = {"type": "json_schema", "name": "x", "schema": {"type": "object"}, "strict": True}
    assert asked(text={"format": schema}).chat.options.answer_format == AnswerFormat(
        "json_schema", "x", {"type": "object"}, strict=True
    )
    assert asked(text={"format": {"type": "text"}}).chat.options.answer_format is None
    assert asked(reasoning={"effort": "none"}).chat.thinking == "off"
    assert asked(reasoning={"effort": "xhigh"}).chat.thinking == "xhigh"
    assert asked(reasoning={"effort": None, "summary": "auto"}).chat.thinking == "auto"


def test_what_has_no_effect_is_named_unless_it_says_what_happens_anyway() -> None:
    quiet = {
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "stream_options": {"include_obfuscation": False},
    }
    assert asked(**quiet, metadata={"a": "b"}, service_tier=None).warnings == ()
    request = asked(
        store=True,
        top_logprobs=2,
        text={"verbosity": "low"},
        reasoning={"summary": "concise", "context": "auto"},
        **{"n\u2028ew\r\n": 1},
    )
    named = "n\\u2028ew\\r\\n, reasoning.context, reasoning.summary, store, text.verbosity, top_logprobs"
    assert request.warnings == (f"ignored: {named}",)


def test_a_tool_can_be_declared_again() -> None:
    """In the same list only as it is; an item of the input can change it."""
    changed = {**LOOK, "description": "Else"}
    items = [HI, {"type": "additional_tools", "role": "developer", "tools": [changed]}]
    assert [tool.description for tool in asked(tools=[LOOK, LOOK]).chat.tools] == ["Looks."]
    assert [tool.description for tool in asked(items, tools=[LOOK]).chat.tools] == ["Else"]


ERRORS: list[tuple[dict[str, Any], str, str]] = [
    ({"input": []}, "input", "input has no message"),
    ({"input": 5}, "input", "input must be a string or an array"),
    ({"input": [HI, 5]}, "input[1]", "input[1] must be an object"),
    ({"input": [{"type": "spaceship"}]}, "input[0].type", "input[0] has the unknown type 'spaceship'"),
    ({"input": [HI, {"type": "web_search_call"}]}, "input[1].type", "unknown type 'web_search_call'"),
    ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]", "nothing is stored here"),
    ({"input": [{"id": "msg_1"}]}, "input[0]", "nothing is stored here"),
    ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role", "use user, assistant, system or developer"),
    ({"input": [{"role": "user", "content": 5}]}, "input[0].content", "input[0].content must be a string or an array"),
    ({"input": [{"role": "user"}]}, "input[0].content", "must be a string or an array"),
    ({"input": [{"content": "a"}]}, "input[0].role", "input[0].role is missing"),
    ({"input": [{}]}, "input[0].role", "input[0].role is missing"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
        "input[0].content[0].type",
        "files are not supported",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x/y.png"}]}]},
        "input[0].content[0].image_url",
        "images at other addresses are not fetched",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
        "input[0].content[0].file_id",
        "files at OpenAI cannot be read",
    ),
    ({"input": [HI, RESULT]}, "input[1].call_id", "no call before it has the id 'c1'"),
    ({"input": [RESULT, CALL]}, "input[0].call_id", "no call before it"),
    ({"input": [HI, CALL]}, "input[1]", "the call 'c1' has no output"),
    ({"input": [HI, CALL, CALL, RESULT]}, "input[2].call_id", "input[1] has the same id 'c1'"),
    ({"input": [HI, CALL, RESULT, RESULT]}, "input[3].call_id", "has an output already"),
    ({"input": [{"type": "function_call", "call_id": "c", "arguments": "{}"}]}, "input[0]", "has no output"),
    ({"input": [{**CALL, "call_id": ""}]}, "input[0].call_id", "must have 1 to 256 characters"),
    ({"input": [HI] * (MAX_ITEMS + 1)}, "input", f"input has {MAX_ITEMS + 1} items"),
    (
        {"input": "Hi", "tools": [{"type": "function", "name": f"f{number}"} for number in range(MAX_TOOLS + 1)]},
        f"tools[{MAX_TOOLS}]",
        f"more than {MAX_TOOLS} tools",
    ),
    ({"previous_response_id": "resp_1"}, "previous_response_id", "send the whole conversation"),
    ({"background": True}, "background", "a response ends with its connection"),
    ({"conversation": "c"}, "conversation", "nothing is stored here"),
    ({"prompt": {"id": "p"}}, "prompt", "prompts are stored at OpenAI"),
    ({"temperature": 3}, "temperature", "must be from 0 to 2"),
    ({"temperature": 10**400}, "temperature", "must be from 0 to 2"),
    ({"temperature": "hot"}, "temperature", "must be a number"),
    ({"top_p": -1}, "top_p", "must be from 0 to 1"),
    ({"max_output_tokens": 0}, "max_output_tokens", "must be from 1 to"),
    ({"max_output_tokens": True}, "max_output_tokens", "must be an integer"),
    ({"stream": "yes"}, "stream", "stream must be true or false"),
    ({"reasoning": {"effort": "hihg"}}, "reasoning.effort", "did you mean high or xhigh?"),
    ({"text": {"format": {"type": "xml"}}}, "text.format.type", "use one of json_object, json_schema, text"),
    ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema", "schema is missing"),
    ({"tools": [5]}, "tools[0]", "tools[0] must be an object"),
    ({"tools": [{"type": "function"}]}, "tools[0].name", "tools[0].name is missing"),
    ({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}]}, "tools[0].tools[0].type", "'mcp'"),
    ({"tool_choice": "requird"}, "tool_choice", "did you mean required?"),
    ({"tool_choice": {"type": "web_search"}}, "tool_choice", "only OpenAI's models have 'web_search' tools"),
    ({"tool_choice": {"type": "function", "name": "x"}}, "tool_choice.name", "there is no tool 'x' in tools"),
    (
        {"tools": [{**LOOK, "name": "a__b"}, {"type": "namespace", "name": "a", "tools": [{**LOOK, "name": "b"}]}]},
        "tools[1]",
        "the model would know it as 'a__b', like another tool",
    ),
    ({"tools": [LOOK, {"type": "custom", "name": "look"}]}, "tools[1]", "like another tool"),
    ({"tools": [LOOK, {**LOOK, "description": "Else"}]}, "tools[1]", "like another tool"),
    ({"tools": [{**LOOK, "strict": "yes"}]}, "tools[0].strict", "must be true or false"),
    ({"metadata": {"a": 1}}, "metadata.a", "metadata.a must be a string"),
    ({"reasoning": {"summary": 1}}, "reasoning.summary", "reasoning.summary must be a string"),
    ({"input": [HI, {"type": "additional_tools", "tools": [7]}]}, "input[1].tools[0]", "must be an object"),
]


@pytest.mark.parametrize(("body", "param", "said"), ERRORS, ids=[said for _, _, said in ERRORS])
def test_errors(body: dict[str, Any], param: str, said: str) -> None:
    with pytest.raises(Problem) as refused:
        read_request({"input": "Hi", "model": "p/m", **body}, lambda name: name)
    assert (refused.value.status, refused.value.param) == (400, param)
    assert said in refused.value.message
    assert refused.value.body["error"]["type"] == "invalid_request_error"


def test_a_missing_input() -> None:
    with pytest.raises(Problem) as refused:
        read_request({"model": "p/m"}, lambda name: name)
    assert refused.value.param == "input"


def test_deep_nesting() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    search = {"type": "tool_search_call", "call_id": "c", "arguments": deep}
    for body in (
        {"tools": [{**LOOK, "parameters": deep}]},
        {"tools": [LOOK], "tool_choice": {"type": "function", "name": "look", "x": deep}},
        {"items": [HI, search, {"type": "tool_search_output", "call_id": "c", "tools": []}]},
    ):
        with pytest.raises(Problem, match="nested deeper"):
            asked(**body)
    assert read_state(write_state("p/m", [Echo("opaque", deep)])) is None


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
WORDS = st.sampled_from(
    [
        *(
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
            "custom_tool_call",
        ),
        *(
            "tool_search_output",
            "additional_tools",
            "function",
            "custom",
            "namespace",
        ),
        *(
            "tool_search",
            "input_text",
            "input_image",
            "user",
        ),
    ]
)
KEYS = st.sampled_from(
    [
        *(
            "type",
            "role",
            "content",
            "call_id",
            "name",
        ),
        *(
            "arguments",
            "output",
            "tools",
            "summary",
            "encrypted_content",
        ),
        *(
            "input",
            "text",
            "image_url",
            "function",
            "format",
        ),
        *(
            "namespace",
            "parameters",
            "execution",
        ),
    ]
)
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["input", "tools", "tool_choice", "text", "reasoning", "metadata", "instructions", "temperature", "include", "x"]
)


@pytest.mark.property
@given(st.dictionaries(FIELDS, VALUES, max_size=6), st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=4))
def test_any_json_is_a_request_or_a_problem(body: dict[str, Any], items: list[dict[str, Any]]) -> None:
    for value in ({"input": [HI, *items], **body}, {**body, "input": [HI, *items], "tools": items}):
        problem = problem_with(value)
        assert problem is None or (400 <= problem.status < 500 and problem.message)


def problem_with(body: dict[str, Any]) -> Problem | None:
    try:
        read_request(body, lambda name: name or "p/m")
    except Problem as problem:
        return problem
    return None


@pytest.mark.property
@given(st.text() | st.text(alphabet="abcdefABCDEF0123456789=-_").map(lambda text: f"tark1.{text}"))
def test_any_text_is_a_state_or_none(text: str) -> None:
    read_state(text)
