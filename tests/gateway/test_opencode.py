"""opencode, which speaks the Responses API with the AI SDK, works through the gateway on every wire upstream."""

from pathlib import Path

import pytest

from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.llm.wire.wire import WIRES
from tests.gateway.opencode import new_opencode
from tests.gateway.running import model_of, running_gateway
from tests.gateway.strict_upstream import StrictUpstream
from tests.gateway.test_sdk_client import answer_on
from tests.llm.wire.wire_answers import OWN_MARKS
from tests.loopback import Loopback

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]  # it installs opencode from npm

WIRE = pytest.mark.parametrize("wire", list(WIRES))


def shell(command: str) -> ScriptedCall:
    return ScriptedCall("bash", {"command": command, "description": "Runs it"})


@WIRE
async def test_a_job(tmp_path: Path, wire: str) -> None:
    """Parallel calls, then a file is written."""
    changed = str(tmp_path / "files" / "a.txt")
    replies = [
        Reply(text="Let me look.", calls=(shell("cat a.txt; echo 1-$((40 + 2))"), shell("echo 2-$((40 + 2))"))),
        Reply(calls=(ScriptedCall("write", {"filePath": changed, "content": "two \u00e9\n"}),)),
        Reply(text="It is two now."),
    ]
    async with Loopback(replies) as upstream, running_gateway(upstream) as url:
        opencode = new_opencode(tmp_path, url, model_of(wire))
        (opencode.folder / "a.txt").write_text("one\n")
        parts = await opencode.run("Change it.")
    assert [part["text"] for part in parts if part["type"] == "text"] == ["Let me look.", "It is two now."]
    assert Path(changed).read_text() == "two \u00e9\n"
    assert len(upstream.requests) == 3
    assert all(mark in upstream.requests[1].body for mark in (b"1-42", b"2-42"))


@WIRE
async def test_reasoning_state(tmp_path: Path, wire: str) -> None:
    """The AI SDK sends it back; the upstream refuses requests without it."""
    async with (
        StrictUpstream([answer_on(wire), Reply(text="Nothing is there.")]) as upstream,
        running_gateway(upstream) as url,
    ):
        parts = await new_opencode(tmp_path, url, model_of(wire)).run("Do it.")
    assert [part["text"] for part in parts if part["type"] == "text"][-1] == "Nothing is there."
    assert [mark for mark in OWN_MARKS[wire] if mark.encode() not in upstream.requests[1].body] == []
