"""What a model cannot do of a request's options: refused if it changes the meaning, else left out and reported."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import UnsupportedOption
from tark_lsp.llm.catalog.facts import table_facts
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.events import Dropped
from tark_lsp.llm.option_support import OPTIONS_OF, fit_options
from tark_lsp.llm.options import AnswerFormat, ChatOptions, OneTool
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import WIRES, Quirks, TargetModel
from tark_lsp.messages import Message, Text, ToolDefinition
from tests.llm.asking import ask, models_at
from tests.loopback import Loopback, Raw

HELLO = Message("user", (Text("Hello"),))
LOOK = ToolDefinition("look", "Looks.")
ASKED = ChatRequest("", (HELLO,), (LOOK,))
PLAIN = TargetModel("p/m", "m")
CLAUDE_46 = TargetModel("anthropic/claude-opus-4-6", "claude-opus-4-6", thinking="adaptive", off="unasked")
GEMINI_2 = TargetModel("gemini/gemini-2.5-pro", "gemini-2.5-pro", thinking="budget")
GEMINI_3 = TargetModel("gemini/gemini-3-pro", "gemini-3-pro", thinking="effort")
JSON = ChatOptions(answer_format=AnswerFormat("json_object"))
SCHEMA = ChatOptions(answer_format=AnswerFormat("json_schema", "x", {"type": "object"}))
ONE_CALL = ChatOptions(parallel_tool_calls=False)


EXAMPLES = {
    "`tool_choice`: `none`": replace(ASKED, options=ChatOptions("none")),
    "`tool_choice`: `required`": replace(ASKED, options=ChatOptions("required")),
    "`tool_choice`: one tool": replace(ASKED, options=ChatOptions(OneTool("look"))),
    "`parallel_tool_calls`: false": replace(ASKED, options=ONE_CALL),
    "`temperature`": replace(ASKED, options=ChatOptions(temperature=0.5)),
    "`top_p`": replace(ASKED, options=ChatOptions(top_p=0.5)),
    "`answer_format`: `json_object`": replace(ASKED, tools=(), options=JSON),
    "`answer_format`: `json_schema`": replace(ASKED, tools=(), options=SCHEMA),
    "a format and tools": replace(ASKED, options=SCHEMA),
    "`strict` of a tool": replace(ASKED, tools=(replace(LOOK, strict=True),)),
}
"""A request for each row of the documented table."""

NEWEST = {"gemini-content": GEMINI_3}


def done_with(request: ChatRequest, wire: str) -> str:
    """In the words of the table."""
    may_drop = replace(request, options=replace(request.options, may_drop=True))
    try:
        fitted, dropped = fit_options(may_drop, NEWEST.get(wire, PLAIN), wire)
    except UnsupportedOption:
        return "refused"
    if dropped:
        return "left out"
    return "sent" if fitted.tools == request.tools else "without tools"


def test_the_documented_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    head, _, *rows = page[page.index("| option |") :].partition("\n\n")[0].splitlines()
    wires = [cell.strip("` ") for cell in head.strip("|").split("|")[1:]]
    assert set(wires) == set(WIRES)
    found = {cells[0]: cells[1:] for cells in ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)}
    assert found == {name: [done_with(request, wire) for wire in wires] for name, request in EXAMPLES.items()}


def test_the_table_has_every_wire() -> None:
    assert set(OPTIONS_OF) == set(WIRES)


@pytest.mark.parametrize(
    ("wire", "target", "options", "said"),
    [
        ("ollama-chat", PLAIN, ChatOptions("required"), "p/m cannot be forced to call a tool"),
        ("ollama-chat", PLAIN, ChatOptions(OneTool("look")), "p/m cannot be forced to call a tool"),
        ("openai-chat", replace(PLAIN, text_calls=True), ChatOptions("required"), "p/m cannot be forced"),
        ("openai-chat", PLAIN, ChatOptions(OneTool("hear")), "hear is required, but it is not among the tools"),
        ("anthropic-messages", replace(CLAUDE_46, off="never"), ChatOptions("required"), "while it thinks"),
        ("anthropic-messages", replace(CLAUDE_46, off="between_tools"), ChatOptions("required"), "while it thinks"),
        ("anthropic-messages", PLAIN, JSON, "p/m supports JSON only with a schema"),
        ("gemini-content", GEMINI_2, SCHEMA, "cannot have a format and tools in one request"),
        ("ollama-chat", PLAIN, SCHEMA, "cannot have a format and tools in one request"),
        ("openai-chat", replace(PLAIN, text_calls=True), JSON, "cannot have a format and tools in one request"),
    ],
)
def test_what_changes_the_meaning_is_refused(wire: str, target: TargetModel, options: ChatOptions, said: str) -> None:
    """With `may_drop`, too; and the error says what to do."""
    for may_drop in (False, True):
        with pytest.raises(UnsupportedOption) as refused:
            fit_options(replace(ASKED, options=replace(options, may_drop=may_drop)), target, wire)
        assert said in refused.value.message
        assert refused.value.hint
        assert refused.value.option == ("answer_format" if options.answer_format else "tool_choice")


@pytest.mark.parametrize("wire", WIRES)
def test_a_required_call_needs_tools(wire: str) -> None:
    with pytest.raises(UnsupportedOption, match="has no tools"):
        fit_options(replace(ASKED, tools=(), options=ChatOptions("required")), PLAIN, wire)


@pytest.mark.parametrize(
    ("wire", "target", "options"),
    [
        *((wire, PLAIN, ChatOptions("none")) for wire in WIRES if wire != "ollama-chat"),
        *((wire, PLAIN, ChatOptions("required")) for wire in WIRES if wire != "ollama-chat"),
        *((wire, PLAIN, ChatOptions(parallel_tool_calls=True)) for wire in WIRES),
        *((wire, PLAIN, ChatOptions(temperature=0.2)) for wire in WIRES),
        *((wire, PLAIN, ChatOptions(top_p=0.2)) for wire in WIRES),
        ("openai-responses", PLAIN, JSON),
        ("openai-responses", PLAIN, SCHEMA),
        ("openai-chat", PLAIN, ONE_CALL),
        ("anthropic-messages", PLAIN, SCHEMA),
        ("gemini-content", GEMINI_3, SCHEMA),
    ],
)
def test_what_can_be_sent_stays(wire: str, target: TargetModel, options: ChatOptions) -> None:
    request = replace(ASKED, options=options)
    assert fit_options(request, target, wire) == (request, ())


@pytest.mark.parametrize(("wire", "target"), [("ollama-chat", PLAIN), ("openai-chat", replace(PLAIN, text_calls=True))])
def test_no_call_without_a_field_for_it(wire: str, target: TargetModel) -> None:
    """The tools are not offered, so a format is possible."""
    fitted, dropped = fit_options(replace(ASKED, options=replace(JSON, tool_choice="none")), target, wire)
    assert fitted.tools == ()
    assert dropped == ()


@pytest.mark.parametrize(
    ("wire", "target", "options", "left_out"),
    [
        ("gemini-content", PLAIN, ONE_CALL, ["parallel_tool_calls"]),
        ("ollama-chat", PLAIN, ONE_CALL, ["parallel_tool_calls"]),
        ("openai-chat", replace(PLAIN, quirks=Quirks(parallel_calls=False)), ONE_CALL, ["parallel_tool_calls"]),
        ("openai-chat", replace(PLAIN, text_calls=True), ONE_CALL, ["parallel_tool_calls"]),
        (
            "openai-responses",
            replace(PLAIN, sampling=False),
            ChatOptions(temperature=0, top_p=1),
            ["temperature", "top_p"],
        ),
        ("anthropic-messages", PLAIN, ChatOptions(temperature=1.5), ["temperature"]),
        ("anthropic-messages", PLAIN, ChatOptions(temperature=0.5, top_p=0.5), ["top_p"]),
        ("anthropic-messages", CLAUDE_46, ChatOptions(temperature=0.5), ["temperature"]),
        ("anthropic-messages", CLAUDE_46, ChatOptions(temperature=1), []),
        ("anthropic-messages", CLAUDE_46, ChatOptions(top_p=0.5), ["top_p"]),
        ("anthropic-messages", CLAUDE_46, ChatOptions(top_p=0.96), []),
        ("gemini-content", PLAIN, ChatOptions(temperature=1.5, top_p=0.5), []),
    ],
)
def test_the_rest_is_left_out_or_an_error(
    wire: str, target: TargetModel, options: ChatOptions, left_out: list[str]
) -> None:
    request = replace(ASKED, options=replace(options, may_drop=True))
    fitted, dropped = fit_options(request, target, wire)
    assert [drop.option for drop in dropped] == left_out
    assert all(target.ref in drop.reason for drop in dropped)
    assert fitted.options == replace(request.options, **dict.fromkeys(left_out))  # type: ignore[arg-type]  # names of fields
    strict = replace(ASKED, options=options)
    if left_out:
        with pytest.raises(UnsupportedOption) as refused:
            fit_options(strict, target, wire)
        assert refused.value.option == left_out[0]
    else:
        assert fit_options(strict, target, wire) == (strict, ())


def test_one_call_at_a_time_means_nothing_without_tools() -> None:
    assert fit_options(replace(ASKED, tools=(), options=ONE_CALL), PLAIN, "gemini-content")[1] == ()


@pytest.mark.parametrize(
    ("level", "fitted_level"), [("auto", "off"), ("off", "off"), ("high", None)], ids=["auto", "off", "high"]
)
def test_a_claude_that_must_call_does_not_think(level: str, fitted_level: str | None) -> None:
    request = replace(ASKED, thinking=level, options=ChatOptions("required"))
    if fitted_level is None:
        with pytest.raises(UnsupportedOption, match="while it thinks"):
            fit_options(request, CLAUDE_46, "anthropic-messages")
        return
    fitted, dropped = fit_options(request, CLAUDE_46, "anthropic-messages")
    assert fitted.thinking == fitted_level
    assert [drop.option for drop in dropped] == (["thinking"] if level == "auto" else [])


def test_a_limit_that_a_server_does_not_accept() -> None:
    target = replace(PLAIN, quirks=Quirks(max_tokens_field=""))
    request = replace(ASKED, max_output_tokens=100, options=ChatOptions(may_drop=True))
    assert [drop.option for drop in fit_options(request, target, "openai-responses")[1]] == ["max_output_tokens"]


@pytest.mark.parametrize(
    ("ref", "sampling"),
    [
        ("anthropic/claude-opus-4-6", None),
        ("anthropic/claude-opus-4-7", False),
        ("anthropic/claude-sonnet-5-5", False),
        ("openrouter/anthropic/claude-fable-5.1", False),
        ("openai/gpt-4o", None),
        ("openai/gpt-5.1", False),
        ("openai/gpt-5-chat-latest", None),
        ("openai/gpt-5.3", None),
        ("openai/gpt-6.1-sol", False),
        ("openai/o3", False),
        ("gemini/gemini-3-pro", None),
    ],
)
def test_models_without_sampling(ref: str, sampling: bool | None) -> None:
    assert table_facts(ref).sampling is sampling


async def ask_own(server: Loopback, *requests: ChatRequest) -> list[tuple[list[Any], Any]]:
    models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
    model = await models.open_model("own/m")
    answers = [await ask(model, request) for request in requests]
    await models.aclose()
    return answers


REFUSALS = {
    "temperature": "Unsupported value: 'temperature' does not support 0.2 with this model.",
    "top_p": "Unsupported parameter: 'top_p' is not supported with this model.",
    "parallel_tool_calls": "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
}


@pytest.mark.parametrize("option", REFUSALS)
async def test_a_server_that_refuses_it_by_name(option: str) -> None:
    """It is sent once more without it, and each later request says so before its content."""
    value = False if option == "parallel_tool_calls" else 0.2
    request = replace(ASKED, options=ChatOptions(may_drop=True, **{option: value}))  # type: ignore[arg-type]  # its own type
    refusal = Raw([b'{"error":{"message":"%s"}}' % REFUSALS[option].encode()], status=400)
    async with Loopback([refusal, Reply(text="Hi")]) as server:
        answers = await ask_own(server, request, request)
        sent = [asked.json.get(option) for asked in server.requests]
    assert sent == [value, None, None]
    for events, error in answers:
        assert error is None
        assert [event.option for event in events if isinstance(event, Dropped)] == [option]
        assert isinstance(events[0], Dropped)


async def test_the_agents_own_request_is_an_error_then() -> None:
    refusal = Raw([b'{"error":{"message":"%s"}}' % REFUSALS["temperature"].encode()], status=400)
    async with Loopback([refusal, Reply(text="Hi")]) as server:
        [(events, error)] = await ask_own(server, replace(ASKED, options=ChatOptions(temperature=0.2)))
    assert events == []
    assert isinstance(error, UnsupportedOption)
    assert error.option == "temperature"


async def test_what_cannot_be_asked_is_not_sent() -> None:
    async with Loopback([Reply(text="Hi")]) as server:
        [(events, error)] = await ask_own(server, replace(ASKED, options=ChatOptions(OneTool("hear"))))
        assert server.requests == []
    assert events == []
    assert isinstance(error, UnsupportedOption)
