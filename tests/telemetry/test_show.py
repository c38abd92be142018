"""A whole server with a receiver of spans: a turn with parallel tools, and the log file with the same ids."""

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.sessions.tool_calls import ToolSum, tool_sums
from tark_lsp.sessions.usage_file import reading
from tests.server.raw import RawServer, python
from tests.telemetry.receiver import ReceivedSpan, Receiver, attributes_of, receiving

pytestmark = pytest.mark.slow  # each test starts a server

SECRET = "sk-ant-api03-Zm9vYmFyYmF6cXV4cXV1eGNvcmdlZ3JhdWx0"
PROMPT = "look everywhere for the word Hippopotamus"
SCENARIO = """\
wire = "anthropic-messages"

[[reply]]
tool = "search_text"
text = "Nowhere."

[[reply]]
tool = "no_such_tool"
text = "There is none."

[[reply]]
when = 'says:\\s+break'
calls = [{ name = "no_such_tool", arguments = {} }, { name = "read_file", arguments = { path = "missing.py" } }]

[[reply]]
when = 'says:\\s+fail'
error = { status = 401, message = "refused" }

[[reply]]
calls = [
    { name = "search_text", arguments = { pattern = "Hippopotamus" } },
    { name = "search_text", arguments = { pattern = "Rhinoceros" } },
    { name = "search_text", arguments = { pattern = "Elephant" } },
]
"""


class Home:
    """The folders of a user, and a server that uses them; `env` is added to its environment."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        for number in range(200):  # so that a search takes its time
            (self.workspace / f"part_{number}.py").write_text("x = 1\n" * 2000)
        config = folder / "config" / "tark"
        config.mkdir(parents=True)
        (folder / "scenario.toml").write_text(SCENARIO)
        scenario = json.dumps(str(folder / "scenario.toml"))
        (config / "config.toml").write_text(f'model = "scripted/show"\n[providers.scripted]\nscenario = {scenario}\n')
        self.state = folder / "state" / "tark"
        folders = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = {**folders, "HOME": str(folder), "TARK_LOG_LEVEL": "info", **env}
        self.env["OTEL_BSP_SCHEDULE_DELAY"] = "50"  # milliseconds between two batches
        self.stderr = ""

    def turns(self, *prompts: str, wait: Callable[[], object] = lambda: None) -> list[dict[str, Any]]:
        """The ends of these turns of one session, after the server has ended. `wait` runs before that."""
        with RawServer(python("tark_lsp"), env=self.env) as server:
            folders = [{"uri": self.workspace.as_uri(), "name": "workspace"}]
            server.initialize(workspaceFolders=folders)
            ends: list[dict[str, Any]] = []
            for prompt in prompts:
                session = {"sessionId": ends[0]["sessionId"]} if ends else {}
                started = self.command(server, "tark.turn.start", prompt=prompt, **session)
                ends.append(self.command(server, "tark.turn.wait", turnId=started["turnId"]))
            wait()
            self.stderr = server.log
            server.call("shutdown")
            server.notify("exit")
            assert server.wait() == 0
        return ends

    def command(self, server: RawServer, name: str, **arguments: Any) -> Any:
        return server.call("workspace/executeCommand", {"command": name, "arguments": [arguments]})["result"]

    def tools(self) -> list[ToolSum]:
        """What `tark-lsp usage --tools` shows."""
        with reading(self.state / "sessions.sqlite3") as read:
            assert read is not None
            return tool_sums(read)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.state / "logs" / "tark.jsonl").read_text().splitlines()]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def test_a_turn_with_parallel_tools(tmp_path: Path, receiver: Receiver) -> None:
    home = Home(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, ANTHROPIC_API_KEY=SECRET)
    (end,) = home.turns(PROMPT, wait=lambda: receiver.wait_for(6))
    assert end["stopReason"] == "end_turn", end
    spans = receiver.spans
    (turn,), chats, tools = named(spans, "invoke_agent"), named(spans, "chat"), named(spans, "execute_tool")
    assert (turn.parent, turn.name) == ("", "invoke_agent tark-lsp")
    assert {span.trace for span in spans} == {turn.trace}
    assert {span.parent for span in (*chats, *tools)} == {turn.id}
    assert len(chats) == 2
    assert len(tools) == 3
    assert any(one.overlaps(other) for one in tools for other in tools if one is not other)
    assert all(turn.began <= span.began <= span.ended <= turn.ended for span in spans)
    assert chats[0].ended <= min(tool.began for tool in tools)
    assert max(tool.ended for tool in tools) <= chats[1].began

    lines = home.log()
    ids = {(line.get("sessionId"), line.get("turnId")) for line in lines if "turnId" in line}
    assert ids == {(end["sessionId"], end["turnId"])}
    assert {(span.attributes["gen_ai.conversation.id"], span.attributes["tark.turn.id"]) for span in spans} == ids
    logged = {line["toolCallId"] for line in lines if "toolCallId" in line}
    assert {tool.attributes["gen_ai.tool.call.id"] for tool in tools} == logged
    assert all(call.startswith("call-") for call in logged)
    assert sum("request" in line["message"] for line in lines) == 2

    assert receiver.resources[0]["service.name"] == "tark-lsp"
    calls = receiver.metrics["tark.tool.calls"]
    assert [(attributes_of(point)["gen_ai.tool.name"], point.as_int) for point in calls] == [("search_text", 3)]
    (durations,) = receiver.metrics["gen_ai.execute_tool.duration"]
    assert durations.sum == pytest.approx(sum(tool.ended - tool.began for tool in tools) / 1e9, abs=0.05)
    ((total, median),) = [(one.calls, one.p50) for one in home.tools() if one.tool == "search_text"]
    assert total == 3
    assert median == pytest.approx(sorted(tool.ended - tool.began for tool in tools)[1] / 1e9, abs=0.05)

    told = [value for span in spans for value in (span.name, span.said, *span.attributes.values())]
    for word in ("Hippopotamus", "Rhinoceros", "part_", str(home.workspace), SECRET):
        assert word not in str([*told, *receiver.resources, receiver.metrics])
        assert word not in (home.state / "logs" / "tark.jsonl").read_text()
    assert stat.S_IMODE((home.state / "logs" / "tark.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((home.state / "logs").stat().st_mode) == 0o700


def test_what_fails_has_a_code_and_no_words(tmp_path: Path, receiver: Receiver) -> None:
    home = Home(tmp_path, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{receiver.url}/v1/traces")
    _, failed = home.turns("break", "fail", wait=lambda: receiver.wait_for(7))
    assert failed["stopReason"] == "error"
    spans = receiver.spans
    tools = {span.name: span.attributes.get("error.type") for span in named(spans, "execute_tool")}
    assert tools == {"execute_tool _OTHER": "unknown_tool", "execute_tool read_file": "not_found"}
    turns = named(spans, "invoke_agent")
    assert [(turn.attributes.get("error.type"), turn.status) for turn in turns] == [(None, 0), ("authentication", 2)]
    assert len({turn.trace for turn in turns}) == 2
    assert not any(span.said or span.events for span in spans)
    assert "missing.py" not in str(spans)
    assert {one.tool: one.errors for one in home.tools()} == {"_OTHER": 1, "read_file": 1, "total": 2}
    assert receiver.metrics == {}  # only the endpoint of traces is set


def test_without_the_variable_nothing_is_sent_and_nothing_imported(tmp_path: Path) -> None:
    home = Home(tmp_path, PYTHONPROFILEIMPORTTIME="1")
    (end,) = home.turns(PROMPT)
    assert end["stopReason"] == "end_turn"
    assert "tark_lsp.telemetry.turn_log" in home.stderr  # where the interpreter lists its imports
    assert "tark_lsp.telemetry.tracing" not in home.stderr
    assert "opentelemetry" not in home.stderr


def test_a_receiver_that_is_down_harms_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    ends = home.turns(PROMPT, PROMPT, PROMPT)
    assert {end["stopReason"] for end in ends} == {"end_turn"}
    assert not [line for line in home.log() if line["logger"].startswith("opentelemetry")]


def named(spans: list[ReceivedSpan], operation: str) -> list[ReceivedSpan]:
    found = [span for span in spans if span.attributes["gen_ai.operation.name"] == operation]
    return sorted(found, key=lambda span: span.began)
