"""A gateway on loopback in this process, with its models on a loopback server, and the official SDK as its client."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tark_lsp.gateway.app import Gateway, new_app
from tark_lsp.gateway.guard import Guard
from tark_lsp.gateway.names import ModelNames
from tark_lsp.gateway.serving import listen, new_server
from tark_lsp.llm.catalog.facts import ModelFacts
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.retry import RetryPolicy
from tests.loopback import Loopback

TOKEN = "a-token-of-a-test"
PATHS = {"openai-chat": "/v1", "openai-responses": "/v1"}
"""What the base URL of a wire ends with."""


def model_of(wire: str) -> str:
    return f"{wire}/m"


def models_on(upstream: Loopback, facts: Mapping[str, ModelFacts], times: Timeouts | None) -> Models:
    """A provider for each wire, named like it."""
    wires = ("openai-chat", "openai-responses", "anthropic-messages", "gemini-content", "ollama-chat")
    overrides = {
        wire: ProviderOverride(base_url=upstream.url + PATHS.get(wire, ""), wire=wire, models=facts) for wire in wires
    }
    return Models(overrides, {}, policy=RetryPolicy(tries=1, total=0.0), times=times, prices=Prices(()))


@asynccontextmanager
async def running_gateway(
    upstream: Loopback,
    *,
    facts: Mapping[str, ModelFacts] | None = None,
    times: Timeouts | None = None,
    stopping: asyncio.Event | None = None,
    token: str = TOKEN,
    aliases: Mapping[str, str] | None = None,
) -> AsyncIterator[str]:
    """Gives the base URL."""
    models = models_on(upstream, facts or {}, times)
    names = ModelNames(model_of("openai-chat"), models.check_name, aliases or {"nick": model_of("anthropic-messages")})
    listening = listen(0)
    server = new_server(new_app(Gateway(models, names, stopping or asyncio.Event()), Guard(token)), 10.0)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        await serving
        await models.aclose()


@asynccontextmanager
async def sdk_client(url: str, token: str = TOKEN) -> AsyncIterator[Any]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key=token, max_retries=0) as client:
        yield client
