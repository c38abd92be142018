"""Codex CLI works through the gateway on every wire upstream: tools of all kinds, sessions that go on later."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.llm.wire.wire import WIRES
from tests.gateway.codex import new_codex
from tests.gateway.running import model_of, running_gateway
from tests.gateway.strict_upstream import StrictUpstream
from tests.gateway.test_sdk_client import answer_on
from tests.llm.wire.wire_answers import OWN_MARKS
from tests.loopback import Loopback

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]  # it installs Codex from npm

WIRE = pytest.mark.parametrize("wire", list(WIRES))
WITH_TOOLS = "gpt-5.5"
"""Codex gives this model functions, a custom `apply_patch`, and a search for the tools of MCP servers."""
WITH_CODE = "gpt-5.6-sol"
"""Codex gives this model its tools in an item `additional_tools`; it runs code in the custom tool `exec`."""
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two \u00e9\n*** End Patch\n"


def calls(*named: tuple[str, Mapping[str, Any]], text: str = "") -> Reply:
    return Reply(text=text, calls=tuple(ScriptedCall(name, dict(arguments)) for name, arguments in named))


def texts(items: list[dict[str, Any]]) -> list[str]:
    return [item["text"] for item in items if item["type"] == "agent_message"]


@WIRE
async def test_a_job_of_two_turns(tmp_path: Path, wire: str) -> None:
    """Parallel calls and a custom tool; in the resumed session, a search for a tool and a call of what it found."""
    first = [
        calls(
            ("exec_command", {"cmd": "cat a.txt; echo 1-$((40 + 2))"}),
            ("exec_command", {"cmd": "echo 2-$((40 + 2))"}),
            text="Let me look.",
        ),
        calls(("apply_patch", {"input": PATCH})),
        Reply(text="It is two now."),
    ]
    second = [
        calls(("tool_search", {"query": "weather forecast"})),
        calls(("mcp__weather__forecast", {"city": "Oslo"})),
        Reply(text="It rains."),
    ]
    async with (
        Loopback([*first, *second]) as upstream,
        running_gateway(upstream, aliases={WITH_TOOLS: model_of(wire)}) as url,
    ):
        codex = new_codex(tmp_path, url, WITH_TOOLS)
        (codex.folder / "a.txt").write_text("one\n")
        job = await codex.run("Change it.")
        resumed = await codex.run("resume", "--last", "What is the weather?")
    assert texts(job) == ["Let me look.", "It is two now."]
    assert (codex.folder / "a.txt").read_text() == "two \u00e9\n"
    assert [item["status"] for item in job if item["type"] == "file_change"] == ["completed"]
    assert texts(resumed) == ["It rains."]
    bodies = [request.body for request in upstream.requests]
    assert len(bodies) == 6
    assert b"1-42" in bodies[1]
    assert b"2-42" in bodies[1]
    assert b"Change it." in bodies[3]
    assert b"forecast" not in bodies[3]
    assert b"forecast" in bodies[4]
    assert b"rain in Oslo" in bodies[5]


@WIRE
async def test_tools_in_an_item(tmp_path: Path, wire: str) -> None:
    """The custom tool of a namespace that came in `additional_tools`."""
    code = 'text((await tools.exec_command({cmd: "echo 1-$((40 + 2))"})).output)'
    async with (
        Loopback([calls(("functions__exec", {"input": code})), Reply(text="Done.")]) as upstream,
        running_gateway(upstream, aliases={WITH_CODE: model_of(wire)}) as url,
    ):
        items = await new_codex(tmp_path, url, WITH_CODE).run("Run it.")
    assert texts(items) == ["Done."]
    assert b"1-42" in upstream.requests[1].body


@WIRE
async def test_reasoning_state(tmp_path: Path, wire: str) -> None:
    """Codex keeps it, also from turn to turn; the upstream refuses requests without it."""
    async with StrictUpstream([answer_on(wire)]) as upstream, running_gateway(upstream) as url:
        codex = new_codex(tmp_path, url, model_of(wire))
        upstream.then(answer_on(wire), Reply(text="Nothing is there."), Reply(text="I said so."))
        assert texts(await codex.run("Do it."))[-1] == "Nothing is there."
        assert texts(await codex.run("resume", "--last", "Really?")) == ["I said so."]
    for request in upstream.requests[1:]:
        assert [mark for mark in OWN_MARKS[wire] if mark.encode() not in request.body] == []
