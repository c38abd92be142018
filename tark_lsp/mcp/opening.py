"""Opens a connection: finds out the era of the server, and initializes a legacy one.

stdio  Tark sends `server/discover` first. If the answer is a result, or the error for an unknown version, the server is
       modern. Any other error means legacy. Some legacy servers do not answer before `initialize`, and some modern
       servers start slowly, so after a while Tark sends `initialize` too. The first result counts.
HTTP   Tark sends the same request. A 4xx without one of the modern errors means legacy.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp import eras
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.json_rpc import MODERN_ERRORS, UNKNOWN_VERSION, RpcError
from tark_lsp.mcp.transport import HttpRefusal

OPEN_SECONDS = 10.0
FIRST_SECONDS = 60.0
"""The limit for the first start, while the user waits: `npx` and `uvx` may download the server."""
SILENT_SECONDS = 3.0
"""How long to wait for `server/discover` before `initialize` is sent, too."""


async def open_connection(
    connection: Connection, known: Era | None = None, *, seconds: float = OPEN_SECONDS, silent: float = SILENT_SECONDS
) -> ServerFacts:
    """`known`: the era at the last start. Raises McpError."""
    try:
        async with asyncio.timeout(seconds):
            await connection.start()
            facts = await (_greet(connection) if known is Era.LEGACY else _probe(connection, silent))
    except TimeoutError as error:
        raise McpError(f"it did not open within {seconds:g} s", hint="start it by hand to see why") from error
    connection.use(facts)
    return facts


async def _probe(connection: Connection, silent: float) -> ServerFacts:
    probe = asyncio.create_task(_discover(connection, eras.MODERN[0]))
    try:
        done, _ = await asyncio.wait([probe], timeout=silent)
        if done:
            return probe.result() or await _greet(connection)
        greeting = asyncio.create_task(_greet(connection))
        try:
            await asyncio.wait([probe, greeting], return_when=asyncio.FIRST_COMPLETED)
            if probe.done() and not probe.cancelled() and probe.exception() is None and (found := probe.result()):
                return found
            return await greeting
        finally:
            await _end(greeting)
    finally:
        await _end(probe)


async def _end(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not report it


async def _discover(connection: Connection, version: str) -> ServerFacts | None:
    """None if the server is legacy. Raises McpError if it cannot be reached, or is too new."""
    for _ in range(2):
        try:
            return eras.facts_of_discover(await _ask(connection, "server/discover", {}, Era.MODERN, version))
        except HttpRefusal as error:
            if 400 <= error.status < 500 and error.status not in (401, 403, 407, 408, 429):
                return None
            raise
        except RpcError as error:
            if (shared := eras.version_after(error.failure)) is None:
                if error.failure.code in MODERN_ERRORS and error.failure.code != UNKNOWN_VERSION:
                    raise
                return None
            version = shared
    return None


async def _greet(connection: Connection) -> ServerFacts:
    """The legacy opening. A server that answers with the error for an unknown version is modern after all."""
    try:
        return await _greet_legacy(connection)
    except RpcError as error:
        if (version := eras.version_after(error.failure)) is None:
            raise
        facts = await _discover(connection, version)
        if facts is None:
            raise
        return facts


async def _greet_legacy(connection: Connection) -> ServerFacts:
    result = await _ask(connection, "initialize", eras.initialize_params(), Era.LEGACY, eras.LEGACY[0])
    return eras.facts_of_initialize(result)


async def _ask(
    connection: Connection, method: str, params: Mapping[str, Any], era: Era, version: str
) -> Mapping[str, Any]:
    """The limit of the whole opening usually ends the request before its own limit."""
    return await connection.request(method, params, seconds=FIRST_SECONDS, era=era, version=version)
