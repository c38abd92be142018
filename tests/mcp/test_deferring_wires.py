"""Deferred tools on every wire: what is sent stays the same, byte for byte, and is what the vendors' SDKs describe."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.deferring import sent_definitions
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.turn import run_turn
from tark_lsp.context.tokens import definition_tokens
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.messages import ApprovalLevel, StopReason, ToolResult
from tests.agent.bench import Bench
from tests.llm.asking import QUICK
from tests.llm.wire.sdk_types import TYPES
from tests.loopback import Loopback
from tests.mcp.many import THINGS, defer_many
from tests.mcp.servers import Desk

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-5-5",
    "openai-responses": "openai/gpt-6.1-sol",
    "openai-chat": "own/chat",
    "gemini-content": "gemini/gemini-3.8-pro",
    "ollama-chat": "ollama/qwen3",
}
NATIVE = {"anthropic-messages", "openai-responses"}
MESSAGES = {"openai-responses": "input", "gemini-content": "contents"}
LABEL, ALERT = "mcp__hub__create_label", "mcp__ops__list_alert"
MARK = re.compile(r',"cache_control":\{"type":"ephemeral"\}')
"""The marks move with the end of the conversation. They are no part of what is cached."""


def models_of(server: Loopback) -> Models:
    urls = {"anthropic": "", "openai": "/v1", "gemini": "", "ollama": "", "own": "/v1"}
    wires = {"own": "openai-chat"}
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
    overrides = {
        name: ProviderOverride(base_url=server.url + path, wire=wires.get(name)) for name, path in urls.items()
    }
    return Models(overrides, keys, policy=QUICK)


def replies(wire: str) -> list[Reply]:
    """Five steps with two searches."""

    def use(name: str) -> ScriptedCall:
        arguments = {"repository": "a/b"}
        if wire in NATIVE:
            return ScriptedCall(name, arguments)
        return ScriptedCall("call_tool", {"name": name, "arguments": arguments})

    return [
        Reply(thinking="Which?", calls=(ScriptedCall("find_tools", {"query": "create a label"}),)),
        Reply(calls=(use(LABEL),)),
        Reply(calls=(ScriptedCall("find_tools", {"query": "which alerts are there"}),)),
        Reply(calls=(use(ALERT),)),
        Reply(text="Done."),
    ]


def taken_apart(wire: str, body: bytes) -> tuple[str, str, str]:
    """Tools, system and messages, as they were sent; the messages are open at the end."""
    name, text = MESSAGES.get(wire, "messages"), MARK.sub("", body.decode())
    return part(text, "tools"), part(text, "system", "instructions", "systemInstruction"), part(text, name)[:-1]


def part(text: str, *names: str) -> str:
    for name in names:
        if f'"{name}":' in text:
            start = text.index(f'"{name}":') + len(name) + 3
            return text[start : json.JSONDecoder().raw_decode(text, start)[1]]
    return ""  # Chat and Ollama have it in the messages


@pytest.mark.parametrize("wire", MODELS)
async def test_five_steps_with_two_searches(wire: str, desk: Desk) -> None:
    allowed = tuple(Rule.parse(f"mcp__{name}") for name in THINGS)
    bench = Bench(desk.folder, rules=Policy(ApprovalLevel.CAREFUL, trusted=True, allow=allowed))
    defer_many(bench, desk)
    async with Loopback(replies(wire)) as server:
        models = models_of(server)
        turn = bench.make()
        turn.resources.model = await models.open_model(MODELS[wire])
        end = await run_turn(turn)
        await models.aclose()
    assert (end.stop_reason, end.error) == (StopReason.END_TURN, None)
    sent = [request for request in server.requests if request.method == "POST" and request.json.keys() & {"tools"}]
    assert len(sent) == 5
    assert [problem for request in sent for problem in TYPES[wire](request.json)] == []
    bodies = [taken_apart(wire, request.body) for request in sent]
    for (tools, system, messages), (tools_now, system_now, messages_now) in pairwise(bodies):
        assert tools_now == tools
        assert system_now == system
        assert messages_now.startswith(messages)
    check_tools(wire, sent[0].json["tools"])
    results = [one for message in bench.session.messages for one in message.parts if isinstance(one, ToolResult)]
    assert [result.is_error for result in results] == [False] * 4
    assert LABEL in results[0].found
    assert ALERT in results[2].found
    assert [line for line in desk.told() if line.startswith("call")] == [
        f'call {name} {{"repository": "a/b"}}' for name in ("create_label", "list_alert")
    ]


def check_tools(wire: str, tools: list[dict[str, Any]]) -> None:
    text = json.dumps(tools)
    assert ("call_tool" in text, LABEL in text) == (wire not in NATIVE, wire in NATIVE)
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    assert len(deferred) == (120 if wire in NATIVE else 0)
    assert not any("cache_control" in tool for tool in deferred)
    if wire == "anthropic-messages":
        assert sum("cache_control" in tool for tool in tools) == 1
    if wire == "openai-responses":
        assert [tool["execution"] for tool in tools if tool["type"] == "tool_search"] == ["client"]


def test_what_the_first_request_saves(desk: Desk) -> None:
    """The figures of docs/mcp.md."""
    bench = Bench(desk.folder)
    defer_many(bench, desk)
    sent = sent_definitions(bench.tools, bench.session.deferred)
    told = [round(definition_tokens(tool)) for tool in sent if tool.loading != "deferred"]
    rest = [round(definition_tokens(tool)) for tool in bench.session.deferred]
    print(f"{len(told)} tools {sum(told)}, {len(rest)} deferred {sum(rest)}")
    assert len(rest) == 120
    assert sum(rest) > 3 * sum(told)
