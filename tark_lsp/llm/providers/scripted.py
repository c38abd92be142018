"""Plays a scenario file instead of a model, in real wire bytes. It is used only if the user names it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from tark_lsp.errors import ModelNotFound, SettingsError
from tark_lsp.http import HttpRequest, HttpResponse
from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.scripted.answer import answer_frames, answer_headers, error_response, read_request
from tark_lsp.llm.scripted.scenario import Player, Reply, Scenario, load_scenario

NOT_A_MODEL = "a script, not a model"


class ScriptTransport:
    """Answers requests from a scenario, without network and without importing httpx."""

    def __init__(self, scenario: Scenario) -> None:
        self.wire = scenario.wire
        self._player = Player(scenario)
        self._calls = 0

    async def send(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            raise ModelNotFound(f"{request.url}: {NOT_A_MODEL}, so it has no list of models")
        reply = self._player.choose_reply(read_request(request.body, self.wire))
        if reply.error is not None:
            headers, body = error_response(reply.error, self.wire)
            return HttpResponse(reply.error.status, headers, _once(body), _nothing)
        frames = answer_frames(reply, self.wire, request.body, self._calls + 1)
        self._calls += len(reply.calls)
        return HttpResponse(200, answer_headers(self.wire), _paced(frames, reply), _nothing)

    async def aclose(self) -> None:
        pass


async def _paced(frames: Iterator[bytes], reply: Reply) -> AsyncIterator[bytes]:
    for frame in frames:
        await asyncio.sleep(reply.delay_ms / 1000)
        yield frame


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _nothing() -> None:
    pass


def open_script(scenario: Path | None) -> ScriptTransport:
    """Raises SettingsError if there is no scenario, or it cannot be read."""
    if scenario is None:
        raise SettingsError(
            "the scripted provider has no scenario to play", hint="set providers.scripted.scenario to a scenario file"
        )
    return ScriptTransport(load_scenario(scenario))


PROVIDER = Provider(
    name="scripted",
    base_url="scripted:",
    routes=(Route("*", "openai-chat"),),
    key_needed=False,
    free=True,
    script=open_script,
)
