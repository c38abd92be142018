"""What must hold in every cell of the fault matrix, and what a cell is asked with.

Source: providers.md, "What happens when a provider fails".
"""

import asyncio
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

from tark_lsp.agent import history
from tark_lsp.errors import ModelError, TarkError
from tark_lsp.http import Transport
from tark_lsp.llm.client import Model, Models, ProviderOverride
from tark_lsp.llm.events import Done, Notice, Retry, Stall, StreamEvent, ToolCallComplete, ToolCallStart, UsageUpdate
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import RetryPolicy
from tark_lsp.llm.scripted.answer import read_request
from tark_lsp.messages import Message, Text, Thinking, ToolResult
from tests.llm.asking import ask, built
from tests.llm.faults.script import Script
from tests.llm.faults.table import RETRIED, Fault

SHIPPED = {name: provider for name, provider in load_providers().items() if provider.script is None}
TRIES = 3
POLICY = RetryPolicy(tries=TRIES, base=0.0)
TINY = Timeouts(headers=0.01, idle=0.01, thinking=0.01, notice=0.004, notice_again=0.004)
BOUND = 10.0
QUESTION = Message("user", (Text("What is this?"),))
KEY = "sk-secret-of-the-matrix"


def pairs() -> Iterator[tuple[str, str]]:
    """A model of each wire of each provider: its reference, and the wire."""
    for name, provider in SHIPPED.items():
        wires: dict[str, str] = {}
        for route in provider.routes:
            model = route.pattern.replace("[0-9]", "4").replace("*", "x").replace("?", "x")
            if provider.find_route(model) is route:
                wires.setdefault(route.wire, model)
        yield from ((f"{name}/{model}", wire) for wire, model in wires.items())


def models_with(
    fault: Fault, network: Transport, ref: str, base_url: str = "", times: Timeouts | None = None
) -> Models:
    """With a key for every provider."""
    name = ref.partition("/")[0]
    url = base_url or f"http://localhost:1{urlsplit(SHIPPED[name].base_url).path}"  # local: no prices are looked up
    keys = {variable: KEY for provider in SHIPPED.values() for variable in provider.key_env}
    return Models(
        {name: ProviderOverride(base_url=url)},
        keys,
        policy=POLICY,
        times=times or (TINY if fault.tiny else None),
        network=network,
    )


async def play(model: Model, request: ChatRequest) -> tuple[list[StreamEvent], TarkError | None]:
    async with asyncio.timeout(BOUND):
        return await ask(model, request)


def check_end(fault: Fault, played: Script, events: list[StreamEvent], error: TarkError | None, asked: int) -> None:
    """How it ended, what was sent again, what was shown."""
    content = [not isinstance(event, Retry | Stall | Notice | UsageUpdate) for event in events]
    retries = [event for event in events if isinstance(event, Retry)]
    shown = True in content
    assert asked == len(retries) + 1
    assert not any(isinstance(event, Retry) for event in events[content.index(True) :]) if shown else True
    if fault.waits is not None:
        assert {retry.wait_seconds for retry in retries} == {round(fault.waits, 2)}
    message, builder = built(events)
    words = "".join(part.text for part in message.parts if isinstance(part, Thinking))
    if error is None:
        assert fault.heals or not fault.ends, "this fault was taken for a whole answer"
        assert [type(event) for event in events].count(Done) == 1
        assert isinstance(events[-1], Done)
        assert builder.incomplete_calls == ()
        assert same(message.text, played.reply.text, fault.more)
        assert same(words, played.reply.thinking, fault.more)
        calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
        assert calls == [(call.name, call.arguments) for call in played.reply.calls]
        return
    assert isinstance(error, ModelError)
    assert isinstance(error, fault.ends), repr(error)
    assert builder.stop is None
    assert played.reply.text.startswith(message.text)
    assert played.reply.thinking.startswith(words)
    check_words(error)
    again = isinstance(error, RETRIED) if fault.retried is None else fault.retried
    assert shown or not (again and fault.heals), f"given up: {error!r}"
    assert shown or asked == (TRIES if again else 1)


def same(shown: str, said: str, more: bool) -> bool:
    return shown.startswith(said) if more else shown == said


def check_words(error: TarkError) -> None:
    assert error.message.strip()
    assert error.hint.strip()
    assert error.code != "internal"
    for forbidden in (KEY, "Traceback", "{", "object at 0x"):
        assert forbidden not in error.hint
    assert KEY not in error.message


def check_calls(played: Script, events: list[StreamEvent]) -> None:
    """No call is complete with less than its arguments."""
    names = {event.id: event.name for event in events if isinstance(event, ToolCallStart)}
    whole = {call.name: call.arguments for call in played.reply.calls}
    for event in events:
        if isinstance(event, ToolCallComplete):
            assert json.loads(event.arguments) == whole[names[event.id]]


def goes_on(events: list[StreamEvent], error: TarkError | None, name: str) -> list[Message]:
    """The history as a turn keeps it: a broken answer is its words, marked; a whole one is itself and its results."""
    message, _ = built(events, name)
    if error is not None:
        message = Message("assistant", (Text(f"{message.text}\n\n[interrupted]".strip()),), name)
    messages = [QUESTION, message]
    if message.tool_calls:
        messages.append(
            Message("tool", tuple(ToolResult(call.id, f"the result of {call.name}") for call in message.tool_calls))
        )
    else:
        messages.append(Message("user", (Text("Go on."),)))
    history.check_history(messages)
    return messages


def check_next(body: bytes, played: Script, messages: list[Message]) -> None:
    """What was sent, read by the scripted provider's own eyes: nothing unpaired, the last message last."""
    asked = read_request(body, played.wire)
    calls = messages[-2].tool_calls
    assert asked.tools == tuple(call.name for call in calls)
    assert asked.text.endswith(f"the result of {calls[-1].name}" if calls else "Go on.")
