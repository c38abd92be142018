"""Helpers that ask a model on a loopback server, or feed a wire's parser. They return events and an error."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing

from tark_lsp.errors import ModelError, TarkError
from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.client import Model, Models, ProviderOverride
from tark_lsp.llm.events import MessageBuilder, StreamEvent
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import RetryPolicy
from tark_lsp.llm.wire.wire import Wire
from tark_lsp.messages import Message, Text
from tests.loopback import Loopback

QUICK = RetryPolicy(base=0.01, cap=0.02)
REQUEST = ChatRequest("Be brief.", (Message("user", (Text("Hello"),)),))
ENVIRON = {"OPENAI_API_KEY": "sk-test-1", "ANTHROPIC_API_KEY": "sk-test-2"}
REFS = {"openai-chat": "openai/gpt-4o", "anthropic-messages": "anthropic/claude-sonnet-4-5"}
"""A model of each wire."""


def models_at(
    server: Loopback,
    *,
    policy: RetryPolicy = QUICK,
    times: Timeouts | None = None,
    environ: Mapping[str, str] = ENVIRON,
    more: Mapping[str, ProviderOverride] | None = None,
) -> Models:
    """The shipped providers, with their base URLs on loopback."""
    overrides = {
        "openai": ProviderOverride(base_url=f"{server.url}/v1", wire="openai-chat"),
        "anthropic": ProviderOverride(base_url=server.url),
        **(more or {}),
    }
    return Models(overrides, environ, policy=policy, times=times)


async def ask(model: Model, request: ChatRequest = REQUEST) -> tuple[list[StreamEvent], TarkError | None]:
    events: list[StreamEvent] = []
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                events.append(event)
    except TarkError as error:
        return events, error
    return events, None


def built(events: list[StreamEvent], model: str = "p/m") -> tuple[Message, MessageBuilder]:
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    return builder.build_message(model), builder


def parse(wire: Wire, pieces: Iterable[bytes]) -> tuple[list[StreamEvent], ModelError | None]:
    answer = AnswerDecoder(wire.parser(), wire.framing)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += answer.feed_bytes(piece)
        if answer.failure:
            return events, answer.failure
    return events + answer.close(), answer.failure


def parse_body(wire: Wire, frames: Iterable[str]) -> tuple[list[StreamEvent], ModelError | None]:
    """Feeds the stream whole, and byte by byte with other line ends and a comment. The events must be the same."""
    datas = list(frames)
    events, failure = parse(wire, ["".join(f"data: {data}\n\n" for data in datas).encode()])
    other = "".join(f": ping\r\n\r\nevent: x\r\ndata:{data}\r\n\r\n" for data in datas).encode()
    again, failure_again = parse(wire, single_bytes(other))
    assert again == events
    assert repr(failure_again) == repr(failure)
    return events, failure


def single_bytes(body: bytes) -> Iterator[bytes]:
    return (body[place : place + 1] for place in range(len(body)))
