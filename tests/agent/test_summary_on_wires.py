"""What is told after a compaction can be sent on every wire, whatever the last messages begin with."""

import pytest

from tark_lsp.agent import history
from tark_lsp.agent.prompt import USER_SAYS
from tark_lsp.agent.shortening import shorten_message
from tark_lsp.agent.summary import Summary
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import WIRES, TargetModel, load_wire
from tark_lsp.messages import Image, Message, Text, ToolCall, ToolDefinition, ToolResult

AT_WORK = Message("user", (Text("You are asked.\n\n"), Text(f"{USER_SAYS}the request"), Image("image/png", "AAAA")))
CALLS = Message("assistant", (Text("I look."), ToolCall("call1", "read_file", '{"path": "a"}')), "a/b")
RESULTS = Message("tool", (ToolResult("call1", "long line\n" * 1_000),))
TAILS: dict[str, list[Message]] = {
    "nothing": [],
    "the prompt": [AT_WORK],
    "calls": [CALLS, RESULTS],
    "shortened": [CALLS, shorten_message(RESULTS), AT_WORK],
}


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("wire", WIRES)
def test_it_can_be_sent(wire: str, tail: str) -> None:
    at_work = None if AT_WORK in TAILS[tail] else AT_WORK
    messages = [Summary("## Goals\nSUMMED UP", ("the goal",), at_work).message, *TAILS[tail]]
    history.check_history(messages)
    request = ChatRequest("system", tuple(messages), (ToolDefinition("read_file", "Reads."),))
    body = load_wire(wire).encode(request, TargetModel("a/b", "b")).decode()
    places = [body.index(item) for item in ("SUMMED UP", "The person said before: the goal")]
    assert places == sorted(places)
    assert body.count("the request") == 1
    assert body.count("AAAA") == 1
    assert ("result:" in body) == (tail == "shortened")
