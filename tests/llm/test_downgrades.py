"""Notices about what a model cannot do: once per session, and none if it can do everything."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.llm.catalog.facts import table_facts
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.downgrades import downgrades, thinking_left_on
from tark_lsp.llm.events import Notice
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import Quirks, TargetModel, ThinkingOff, ThinkingStyle, load_wire
from tark_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from tests.llm.asking import ask, models_at
from tests.loopback import Loopback, Raw

HELLO = Message("user", (Text("Hello"),))
PICTURE = Image("image/png", "aGk=")


@pytest.mark.parametrize(
    ("level", "style", "efforts", "said"),
    [
        ("auto", "effort", ("low", "high"), ""),
        ("auto", "none", (), ""),
        ("off", "none", (), ""),
        ("high", "none", (), "p/m has no thinking levels, so the level high has no effect"),
        ("off", "effort", ("none", "low"), ""),
        (
            "off",
            "effort",
            ("minimal", "low"),
            "thinking cannot be turned off for p/m; its lowest level, minimal, is used",
        ),
        ("medium", "effort", ("low", "high"), "p/m has no thinking level medium; low is used"),
        ("high", "adaptive", ("low", "high", "max"), ""),
        ("off", "adaptive", ("low", "high", "max"), ""),
        ("high", "effort", (), ""),
        ("high", "unknown", (), ""),
    ],
)
def test_thinking(level: str, style: ThinkingStyle, efforts: tuple[str, ...], said: str) -> None:
    request = ChatRequest("", (HELLO,), thinking=level)
    target = TargetModel("p/m", "m", thinking=style, efforts=efforts)
    assert list(downgrades(request, target)) == ([said] if said else [])


@pytest.mark.parametrize("style", ["adaptive", "effort", "switch", "budget", "none", "unknown"])
@pytest.mark.parametrize(
    ("off", "said"),
    [
        ("never", "thinking cannot be turned off for p/m"),
        ("between_tools", "p/m still thinks between tool calls; its thinking cannot be turned off completely"),
        ("disabled", ""),
        ("unasked", ""),
    ],
)
def test_thinking_that_cannot_be_turned_off(style: ThinkingStyle, off: ThinkingOff, said: str) -> None:
    request = ChatRequest("", (HELLO,), thinking="off")
    target = TargetModel("p/m", "m", thinking=style, off=off, efforts=("low", "high"))
    sentences = list(downgrades(request, target))
    assert sentences == [said] if said else style == "effort" or sentences == []
    for level in ("auto", "high"):
        assert said not in list(downgrades(ChatRequest("", (HELLO,), thinking=level), target)) or not said


@pytest.mark.parametrize(
    ("ref", "level", "said"),
    [
        ("xai/grok-4-0709", "high", "has no thinking levels"),
        ("xai/grok-4-0709", "off", "thinking cannot be turned off for xai/grok-4-0709"),
        ("xai/grok-4-fast-reasoning", "off", "thinking cannot be turned off"),
        ("xai/grok-code-fast-1", "off", "thinking cannot be turned off"),
        ("xai/grok-4-fast-non-reasoning", "off", ""),
        ("xai/grok-3", "off", ""),
        ("openai/o1-mini", "off", "thinking cannot be turned off"),
        ("deepseek/deepseek-reasoner", "off", "thinking cannot be turned off"),
        ("anthropic/claude-opus-5-5", "off", "thinking cannot be turned off"),
        ("openrouter/anthropic/claude-fable-5.1", "off", "thinking cannot be turned off"),
        ("anthropic/claude-sonnet-5-5", "off", "still thinks between tool calls"),
        ("anthropic/claude-sonnet-5", "off", ""),
        ("anthropic/claude-opus-5", "off", ""),
        ("anthropic/claude-opus-4-8", "off", ""),
        ("openai/gpt-4o", "off", ""),
    ],
)
def test_what_the_table_says_of_thinking_that_cannot_be_set(ref: str, level: str, said: str) -> None:
    known = table_facts(ref)
    target = TargetModel(ref, ref, thinking=known.thinking, off=known.off, efforts=known.efforts)
    sentences = " ".join(downgrades(ChatRequest("", (HELLO,), thinking=level), target))
    assert said in sentences
    assert bool(sentences) is bool(said)
    assert "cannot think" not in sentences


LEFT_ON = "Tark does not know how to turn off thinking for p/m, so `off` has no effect"


@pytest.mark.parametrize(
    ("wire", "field", "style", "said"),
    [
        ("openai-chat", "reasoning_effort", "switch", LEFT_ON),
        ("openai-chat", "reasoning_effort", "effort", LEFT_ON),
        ("openai-chat", "reasoning_effort", "unknown", LEFT_ON),
        ("openai-chat", "reasoning_effort", "none", ""),
        ("openai-chat", "reasoning", "effort", ""),
        ("openai-chat", "thinking", "switch", ""),
        ("openai-chat", "chat_template_kwargs", "unknown", ""),
        ("openai-responses", "reasoning_effort", "effort", LEFT_ON),
        ("gemini-content", "reasoning_effort", "budget", ""),
        ("gemini-content", "reasoning_effort", "unknown", LEFT_ON),
        ("anthropic-messages", "reasoning_effort", "adaptive", ""),
        ("anthropic-messages", "reasoning_effort", "budget", ""),
        ("ollama-chat", "reasoning_effort", "switch", ""),
        ("ollama-chat", "reasoning_effort", "unknown", LEFT_ON),
    ],
)
def test_a_wire_that_sends_nothing_to_turn_thinking_off(wire: str, field: Any, style: ThinkingStyle, said: str) -> None:
    target = TargetModel("p/m", "m", thinking=style, quirks=Quirks(effort_field=field))
    for level in ("off", "auto", "low"):
        request = ChatRequest("", (HELLO,), thinking=level)
        expected = [said] if said and level == "off" else []
        assert list(thinking_left_on(request, target, load_wire(wire))) == expected
    known = replace(target, off="unasked")
    assert not list(thinking_left_on(ChatRequest("", (HELLO,), thinking="off"), known, load_wire(wire)))


CALLED = Message("assistant", (Text("I look."), ToolCall("1", "look", "{}")), "anthropic/claude-haiku-4-5")
SIGNED = Message(
    "assistant", (Thinking("Hm", {"signature": "s"}), ToolCall("1", "look", "{}")), "anthropic/claude-haiku-4-5"
)
RESULT = Message("tool", (ToolResult("1", "seen"),))
ANSWERED = Message("assistant", (Text("Fine."),), "anthropic/claude-haiku-4-5")
UNSIGNED_SAID = "does not think until this tool loop ends"


@pytest.mark.parametrize(
    ("messages", "level", "style", "tokens", "said"),
    [
        ((HELLO, CALLED, RESULT), "high", "budget", None, UNSIGNED_SAID),
        ((HELLO, CALLED, RESULT), "high", "unknown", None, UNSIGNED_SAID),
        ((HELLO, SIGNED, RESULT), "high", "budget", None, ""),
        ((HELLO, replace(SIGNED, model="other/m"), RESULT), "high", "budget", None, UNSIGNED_SAID),
        ((HELLO, CALLED, RESULT, ANSWERED, HELLO), "high", "budget", None, ""),
        ((HELLO, CALLED, RESULT), "off", "budget", None, ""),
        ((HELLO, CALLED, RESULT), "auto", "budget", None, ""),
        ((HELLO, CALLED, RESULT), "high", "adaptive", None, ""),
        ((HELLO, CALLED, RESULT), "high", "none", None, ""),
        ((HELLO,), "high", "budget", None, ""),
        ((HELLO,), "high", "budget", 2000, "does not think: answers of at most 2000 tokens leave no room for it"),
    ],
)
def test_thinking_that_the_anthropic_wire_leaves_out(
    messages: tuple[Message, ...], level: str, style: ThinkingStyle, tokens: int | None, said: str
) -> None:
    wire = load_wire("anthropic-messages")
    request = ChatRequest("", messages, thinking=level, max_output_tokens=tokens)
    target = TargetModel("anthropic/claude-haiku-4-5", "claude-haiku-4-5", thinking=style)
    sentences = list(wire.downgrades(request, target))
    assert len(sentences) == bool(said)
    assert said in " ".join(sentences)
    if style == "budget" and level == "high":
        assert ("thinking" in json.loads(wire.encode(request, target))) is not bool(said)


async def test_thinking_that_is_left_out_is_a_notice() -> None:
    async with Loopback([Reply(text="Hi")]) as server:
        models = models_at(server)
        model = await models.open_model("anthropic/claude-haiku-4-5")
        request = ChatRequest("", (HELLO, CALLED, RESULT), thinking="high", session_id="s")
        said = [await ask(model, request) for _ in range(2)]
        await models.aclose()
    notices = [[event.message for event in events if isinstance(event, Notice)] for events, _ in said]
    assert [len(sentences) for sentences in notices] == [1, 0]
    assert UNSIGNED_SAID in notices[0][0]


def test_images_are_counted_in_all_places() -> None:
    called = Message("assistant", (ToolCall("1", "look", "{}"),))
    result = Message("tool", (ToolResult("1", "two", images=(PICTURE, PICTURE)),))
    request = ChatRequest("", (Message("user", (Text("Look"), PICTURE)), called, result))
    assert list(downgrades(request, TargetModel("p/m", "m"))) == []
    assert list(downgrades(request, TargetModel("p/m", "m", Quirks(images=False)))) == [
        "p/m does not accept images; 3 left out"
    ]


async def test_each_downgrade_is_reported_once_per_session() -> None:
    refused = Raw([b'{"error": {"message": "m does not support image input"}}'], status=400)
    body = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    async with Loopback([refused, Raw([body])]) as server:
        models = models_at(server, more={"own": ProviderOverride(f"{server.url}/v1", wire="openai-chat")})
        model = await models.open_model("own/m")
        for session, count in (("a", 1), ("a", 0), ("b", 1), ("b", 0)):
            events, error = await ask(model, ChatRequest("", (Message("user", (PICTURE,)),), session_id=session))
            assert error is None
            assert len([event for event in events if isinstance(event, Notice)]) == count
        await models.aclose()
