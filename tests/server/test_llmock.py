"""The whole server against llmock, an independent mock of the vendors' APIs, and its verdict for each fault it makes.

llmock sees requests only, and so takes some of what is right for wrong: `Fault.seen` says what, and why. It has neither
Ollama nor thinking.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Reply, ToolCall
from llmock.testing import LLMockServer

from tark_lsp.llm.scripted.answer import read_request
from tests.server.raw import RawServer, python

pytestmark = pytest.mark.slow

Json = dict[str, Any]
WIRES = {
    "openai": "openai-responses",
    "anthropic": "anthropic-messages",
    "gemini": "gemini-content",
    "groq": "openai-chat",
    "mistral": "openai-chat",
    "together": "openai-chat",
    "xai": "openai-chat",
}
EACH_WIRE = ("openai", "anthropic", "gemini", "groq")
FILES = {name: f"this is {name}\n" for name in ("a.py", "b.py", "c.py", "d.py")}
WORDS = " ".join(f"word{number}" for number in range(40))
NUMBERS = itertools.count()
"""A model of its own for each fault, or the breaker would step in."""


class Bench:
    """A server process, a workspace with some files, and a model for each turn that wants its own breaker."""

    def __init__(self, folder: Path, mock: LLMock) -> None:
        workspace = folder / "workspace"
        workspace.mkdir()
        for name, text in FILES.items():
            (workspace / name).write_text(text, encoding="utf-8")
        config = folder / "config" / "tark"
        config.mkdir(parents=True)
        rows = (f'[providers.{name}]\nbaseUrl = "{mock.base_url(name)}"\napiKeyEnv = "MOCK_KEY"\n' for name in WIRES)
        (config / "config.toml").write_text("".join(rows), encoding="utf-8")
        homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
        self.server = RawServer(python("tark_lsp"), env={**homes, "HOME": str(folder), "MOCK_KEY": "not-a-key"})
        self.server.initialize(workspaceFolders=[{"uri": workspace.as_uri(), "name": "workspace"}])

    def command(self, name: str, argument: Json) -> Json:
        answer = self.server.call("workspace/executeCommand", {"command": name, "arguments": [argument]})
        assert "error" not in answer, answer
        result: Json = answer["result"]
        return result

    def turn(self, model: str, prompt: str = "Look at the files.", **more: Any) -> Json:
        """The end of a turn."""
        turn = self.command("tark.turn.start", {"prompt": prompt, "model": model, **more})
        return self.command("tark.turn.wait", {"turnId": turn["turnId"]})


@pytest.fixture(scope="module")
def mock() -> Iterator[LLMock]:
    with LLMockServer() as server:
        yield LLMock(server)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, mock: LLMock) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("llmock"), mock)
    with bench.server:
        yield bench


@pytest.fixture(autouse=True)
def make_session(mock: LLMock) -> None:
    mock.reset().tool_mode("off")  # it calls the tools that a test scripts, and none of its own choice


def looks(*names: str) -> Reply:
    return Reply(text="I look.", tool_calls=tuple(ToolCall("read_file", {"path": name}) for name in names))


@pytest.mark.parametrize("provider", WIRES)
def test_two_turns_with_parallel_calls(bench: Bench, mock: LLMock, provider: str) -> None:
    mock.add(looks("a.py", "b.py"))
    first = bench.turn(f"{provider}/two-turns")
    mock.add(looks("c.py", "d.py"))
    second = bench.turn(f"{provider}/two-turns", sessionId=first["sessionId"])
    for end in (first, second):
        assert end["stopReason"] == "end_turn", end
        assert end["text"]
    bodies = [json.dumps(record.body).encode() for record in mock.requests]
    assert len(bodies) == 4
    for body, names in ((bodies[1], ("a.py", "b.py")), (bodies[3], ("c.py", "d.py"))):
        asked = read_request(body, WIRES[provider])
        assert asked.tools == ("read_file", "read_file")
        places = [asked.text.index(FILES[name].strip()) for name in names]
        assert places == sorted(places)
    assert FILES["a.py"].strip() in bodies[3].decode(), "the first turn is in the second one's history"
    assert mock.verdict().findings == ()


@dataclass(frozen=True, slots=True)
class Fault:
    """`make` sets it up; the turn ends with the error `code` ("": well), after so many requests.

    `seen`: the finding that llmock has all the same, since it cannot know.
    """

    make: Callable[[LLMock], object]
    requests: int
    code: str = ""
    seen: str = ""


PASSING = (408, 409, 500, 502, 503, 504, 529)
FINAL = {
    400: "bad_request",
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "model_not_found",
    413: "context_overflow",
    422: "bad_request",
}
FAULTS: dict[str, Fault] = {
    **{
        f"{status} once": Fault(partial(LLMock.fail, status=status), 2)
        for status in (408, 409, 500, 502, 503, 504, 529)
    },
    **{f"{status}": Fault(partial(LLMock.fail, status=status, times=None), 1, code) for status, code in FINAL.items()},
    "429 twice, with a wait": Fault(lambda mock: mock.rate_limit(times=2, retry_after=0.3), 3),
    "429 with a wait of an hour": Fault(
        lambda mock: mock.rate_limit(times=None, retry_after=3600), 1, "rate_limited", "gave_up"
    ),
    "an outage": Fault(lambda mock: mock.outage(), 5, "overloaded"),
    "context overflow": Fault(lambda mock: mock.context_overflow(), 1, "context_overflow"),
    "a small context window": Fault(lambda mock: mock.limits(context_window=10), 1, "context_overflow"),
    "slow": Fault(lambda mock: mock.delay(1.0), 1),
    "a slow first token": Fault(lambda mock: mock.slow_first_token(1.0), 1),
    "a slow stream": Fault(lambda mock: mock.reply(WORDS).pace(10), 1),
    "a short stall": Fault(lambda mock: mock.stall(after_chunks=2, seconds=0.8), 1),
    "disconnected before the first word": Fault(lambda mock: mock.disconnect(after_chunks=0), 2),
    "cut short before the first word": Fault(lambda mock: mock.truncate(after_chunks=0), 2),
    "disconnected after some words": Fault(
        lambda mock: mock.reply(WORDS).disconnect(after_chunks=12), 1, "stream_cut", "gave_up"
    ),
    "cut short after some words": Fault(
        lambda mock: mock.reply(WORDS).truncate(after_chunks=12), 1, "stream_cut", "truncated_stream_accepted"
    ),
    "garbled": Fault(lambda mock: mock.reply(WORDS).corrupt(after_chunks=12), 1, "protocol", "malformed_chunk_ignored"),
    "arguments that are no JSON": Fault(lambda mock: mock.add(looks("a.py")).break_tool_call("malformed_arguments"), 2),
    "an unknown tool": Fault(lambda mock: mock.add(looks("a.py")).break_tool_call("unknown_tool"), 2),
}
"""Where we differ from llmock: text that was shown is never requested again, since the user would read it twice, so the
turn ends and says so (llmock expects a retry, or cannot tell our stop from silence). And nobody waits for an hour."""


@pytest.mark.parametrize("provider", EACH_WIRE)
@pytest.mark.parametrize("name", FAULTS)
def test_resilience(bench: Bench, mock: LLMock, provider: str, name: str) -> None:
    fault = FAULTS[name]
    fault.make(mock)
    end = bench.turn(f"{provider}/m{next(NUMBERS)}")
    assert len(mock.requests) == fault.requests
    if fault.code:
        assert (end["stopReason"], end["error"]["code"]) == ("error", fault.code), end
        assert end["error"]["hint"]
    else:
        assert end["stopReason"] == "end_turn", end
        assert end["text"]
    verdict = mock.verdict()
    assert {finding.code for finding in verdict.findings} == {fault.seen} - {""}, verdict.render()
