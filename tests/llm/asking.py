"""A model on a loopback server, asked once: the events and the error that came."""

from collections.abc import Mapping
from contextlib import aclosing

from tark_lsp.errors import TarkError
from tark_lsp.llm.client import Model, Models, ProviderOverride
from tark_lsp.llm.events import MessageBuilder, StreamEvent
from tark_lsp.llm.exchange import Times
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import RetryPolicy
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
    times: Times | None = None,
    environ: Mapping[str, str] = ENVIRON,
    more: Mapping[str, ProviderOverride] | None = None,
) -> Models:
    """The vendors' own providers, with their base URLs on loopback."""
    overrides = {
        "openai": ProviderOverride(base_url=f"{server.url}/v1"),
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
        builder.add(event)
    return builder.message(model), builder
