"""Scenario files: which reply is chosen, how it is filled in, and the errors for a wrong file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RateLimited, SettingsError, StreamCut
from tark_lsp.llm.client import Models
from tark_lsp.llm.events import Done, Retry, TextDelta, ToolCallDelta
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import RetryPolicy
from tark_lsp.llm.scripted.answer import read_request
from tark_lsp.llm.scripted.scenario import LastMessage, Player, load_scenario, read_scenario
from tark_lsp.llm.wire.wire import WIRES, TargetModel, load_wire
from tark_lsp.messages import Message, Text, Thinking, ToolCall, ToolResult
from tests.llm.asking import ask, built

WRONG: dict[str, tuple[str, str]] = {
    "an unknown field": ("[[reply]]\ntxt = 'x'", "txt"),
    "an unknown field of a call": ("[[reply]]\ncalls = [{ name = 'f', args = {} }]", "args"),
    "an unknown field of an error": ("[[reply]]\nerror = { status = 500, text = 'x' }", "text"),
    "an unknown field at the top": ("replies = []", "replies"),
    "no name": ("[[reply]]\ncalls = [{ arguments = {} }]", "name"),
    "a wrong type": ("[[reply]]\ntext = 5", "text"),
    "no such wire": ("wire = 'smoke'", "smoke"),
    "not a regular expression": ("[[reply]]\nwhen = '('", "when"),
    "no such group": ("[[reply]]\nwhen = '(a)'\ntext = '\\g<2>'", "<2>"),
    "no such group in arguments": (
        "[[reply]]\nwhen = 'a'\ncalls = [{ name = 'f', arguments = { x = ['\\g<b>'] } }]",
        "<b>",
    ),
    "no chunk": ("[[reply]]\nchunk = 0", "chunk"),
    "no TOML": ("[[reply", "TOML"),
}


@pytest.mark.parametrize(("text", "named"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_file_is_an_error_that_names_what_is_wrong(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "demo.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=named) as caught:
        load_scenario(file)
    assert "demo" in caught.value.message


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")


def player(*replies: dict[str, Any]) -> Player:
    return Player(read_scenario({"reply": list(replies)}, "demo"))


def test_the_first_matching_reply_answers() -> None:
    script = player(
        {"when": "rename (?P<old>\\w+)", "text": "Renaming \\g<old>, \\d and \\1 stay.", "times": 1},
        {"tool": "read_file", "text": "I read it."},
        {"when": "rename", "text": "Again?"},
    )
    assert script.choose_reply(LastMessage("please rename foo")).text == "Renaming foo, \\d and \\1 stay."
    assert script.choose_reply(LastMessage("please rename foo")).text == "Again?"
    assert script.choose_reply(LastMessage("1: x", ("read_file",))).text == "I read it."
    lost = script.choose_reply(LastMessage("something else")).text
    assert "script demo, not a model" in lost


def test_groups_go_into_every_string_of_arguments() -> None:
    script = player(
        {
            "when": r"(\w+) to (?P<new>\w+)?",
            "calls": [{"name": "f", "arguments": {"a": r"\g<1>", "b": [r"<\g<new>>"], "n": 1}}],
        }
    )
    assert script.choose_reply(LastMessage("x to y")).calls[0].arguments == {"a": "x", "b": ["<y>"], "n": 1}
    assert script.choose_reply(LastMessage("x to ")).calls[0].arguments == {"a": "x", "b": ["<>"], "n": 1}


HISTORY = (
    Message("user", (Text("first"),)),
    Message(
        "assistant", (ToolCall("call_1", "read_file", "{}"), ToolCall("call_2", "search_text", "{}")), "scripted/x"
    ),
    Message("tool", (ToolResult("call_1", "one"), ToolResult("call_2", "two"))),
)
LAST: dict[str, tuple[tuple[Message, ...], LastMessage]] = {
    "the person's words": (HISTORY[:1], LastMessage("first")),
    "the results of the last tool message": (HISTORY, LastMessage("one\ntwo", ("read_file", "search_text"))),
    "nothing": ((), LastMessage("")),
}


@pytest.mark.parametrize("wire", sorted(WIRES))
@pytest.mark.parametrize(("messages", "asked"), LAST.values(), ids=LAST.keys())
def test_the_last_message_is_read_from_the_body(wire: str, messages: tuple[Message, ...], asked: LastMessage) -> None:
    body = load_wire(wire).encode(ChatRequest("system", messages), TargetModel("scripted/x", "x"))
    assert read_request(body, wire) == asked


PLAYED = """
wire = "{wire}"

[[reply]]
when = "calls"
thinking = "Let me see."
text = "Two calls:"
chunk = 4
calls = [{{ name = "f", arguments = {{ x = "ä" }} }}, {{ name = "g", arguments_json = "{{}}" }}]

[[reply]]
when = "broken"
calls = [{{ name = "g", arguments_json = "{{broken" }}]

[[reply]]
when = "cut"
text = "half"
cut = true

[[reply]]
when = "busy"
error = {{ status = 429, message = "slow down", retry_after = 0.01 }}
times = 1

[[reply]]
when = "busy"
text = "now"
"""


WHOLE_CALLS = {"gemini-content", "ollama-chat"}
"""Wires on which arguments come as an object, whole."""


@pytest.fixture(params=sorted(WIRES))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def models(wire: str, tmp_path: Path) -> Models:
    file = tmp_path / "demo.toml"
    file.write_text(PLAYED.format(wire=wire), "utf-8")
    return Models({}, {}, file, policy=RetryPolicy(tries=2, base=0.01))


def asking(words: str) -> ChatRequest:
    return ChatRequest("", (Message("user", (Text(words),)),))


async def test_replies_are_encoded_as_real_bytes(models: Models, wire: str) -> None:
    events, error = await ask(await models.open_model("scripted/demo"), asking("calls"))
    assert error is None
    message, builder = built(events, "scripted/demo")
    thinking, text, first, second = message.parts
    assert isinstance(thinking, Thinking)
    assert isinstance(text, Text)
    assert (thinking.text, text.text) == ("Let me see.", "Two calls:")
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.name, json.loads(first.arguments), second.name, second.arguments) == ("f", {"x": "ä"}, "g", "{}")
    assert first.id != second.id
    assert builder.usage.input_tokens > 0
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Two ", "call", "s:"]
    deltas = [event.arguments_delta for event in events if isinstance(event, ToolCallDelta)]
    assert wire in WHOLE_CALLS or max(map(len, deltas)) == 4


async def test_a_broken_call(models: Models, wire: str) -> None:
    events, error = await ask(await models.open_model("scripted/demo"), asking("broken"))
    message, _ = built(events)
    if wire in WHOLE_CALLS:
        assert message.tool_calls == ()
        assert error is not None or isinstance(events[-1], Done)
    else:
        assert [call.arguments for call in message.tool_calls] == ["{broken"]
        assert error is None


async def test_ids_differ_between_answers(models: Models, wire: str) -> None:
    if wire in WHOLE_CALLS:
        pytest.skip("calls have no ids on this wire")
    ids = set()
    for _ in range(2):
        events, _ = await ask(await models.open_model("scripted/demo"), asking("calls"))
        ids |= {call.id for call in built(events)[0].tool_calls}
    assert len(ids) == 4


async def test_a_cut(models: Models) -> None:
    events, error = await ask(await models.open_model("scripted/demo"), asking("cut"))
    assert built(events)[0].text == "half"
    assert isinstance(error, StreamCut)


async def test_an_error_and_its_retry(models: Models) -> None:
    events, error = await ask(await models.open_model("scripted/demo"), asking("busy"))
    assert error is None
    assert isinstance(events[0], Retry)
    assert built(events)[0].text == "now"


async def test_an_error_without_end(tmp_path: Path) -> None:
    file = tmp_path / "demo.toml"
    file.write_text('[[reply]]\nerror = { status = 429, message = "slow down" }', "utf-8")
    models = Models({}, {}, file, policy=RetryPolicy(tries=2, base=0.01))
    _, error = await ask(await models.open_model("scripted/demo"), asking("x"))
    assert isinstance(error, RateLimited)
    assert "slow down" in error.message
