"""One connection to a server, in either era: its opening, requests and their answers, and what the server asks."""

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp import eras
from tark_lsp.mcp.calls import HARD_SECONDS, Clock, Waiting, WaitingRequests
from tark_lsp.mcp.elicitation import Elicit
from tark_lsp.mcp.eras import Era, ServerFacts
from tark_lsp.mcp.json_rpc import (
    URL_NEEDED,
    Asked,
    Failure,
    Incoming,
    Reply,
    RequestId,
    RpcError,
    Told,
    notification,
    request,
)
from tark_lsp.mcp.server_requests import inputs_for, open_urls, serve
from tark_lsp.mcp.transport import Transport

log = logging.getLogger(__name__)

MOST_ROUNDS = 10
"""How often a server can ask for input before one call ends."""


class Connection:
    """`tools_changed` is called when the server says that its list is another one."""

    def __init__(self, transport: Transport, tools_changed: Callable[[], None] = lambda: None) -> None:
        self._transport = transport
        self._tools_changed = tools_changed
        self._ids = itertools.count(1)
        self._waiting = WaitingRequests()
        self._listening: asyncio.Task[None] | None = None
        self._gone: McpError | None = None
        self.facts = ServerFacts(Era.LEGACY, "")
        self.opened = False

    @property
    def is_open(self) -> bool:
        return self.opened and self._gone is None

    def use(self, facts: ServerFacts) -> None:
        """The opening is done."""
        self.facts, self.opened = facts, True
        self._transport.opened(facts)
        if facts.era is Era.LEGACY:
            self.tell("notifications/initialized")
        elif facts.can("tools", "listChanged"):
            self._listening = asyncio.create_task(self._listen())

    async def start(self) -> None:
        """Raises McpError."""
        await self._transport.start(self)

    async def aclose(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self.closed(McpError("the connection was closed"))
        await self._transport.aclose()

    async def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        seconds: float,
        report: Callable[[str], None] | None = None,
        elicit: Elicit | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """A request with what the server needs from the user on the way. Raises McpError; RpcError for its errors."""
        given: Mapping[str, Any] = params
        for _ in range(MOST_ROUNDS):
            try:
                result = await self.request(
                    method, given, seconds=seconds, report=report, elicit=elicit, headers=headers
                )
            except RpcError as error:
                if error.failure.code != URL_NEEDED or elicit is None:
                    raise
                await open_urls(error, elicit)
                continue
            if result.get("resultType", "complete") != "input_required":
                return result
            state = result.get("requestState")
            answers = await inputs_for(result.get("inputRequests"), elicit)
            given = {**params, "inputResponses": answers, **({} if state is None else {"requestState": state})}
        raise McpError(f"it asked for input more than {MOST_ROUNDS} times")

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        seconds: float,
        era: Era | None = None,
        version: str = "",
        report: Callable[[str], None] | None = None,
        elicit: Elicit | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """One request. `era` and `version`: those of the connection, unless it is not open yet."""
        if self._gone is not None:
            raise self._gone
        message_id = next(self._ids)
        era, version = era or self.facts.era, version or self.facts.version
        token = message_id if report is not None else None
        message = request(message_id, method, eras.with_meta(params, era, version, token))
        clock = Clock(seconds, HARD_SECONDS)
        waiting = Waiting(asyncio.get_running_loop().create_future(), clock, report, elicit)
        try:
            async with clock.timeout:
                with self._waiting.add(message_id, waiting):
                    self._transport.send(message, {**eras.http_headers(message, era, version), **(headers or {})})
                    return await waiting.answer
        except TimeoutError as error:
            if not clock.timeout.expired():
                raise
            self._cancel(message_id, "no answer in time")
            raise McpError(f"it did not answer {method} within {seconds:g} s") from error
        except asyncio.CancelledError:
            self._cancel(message_id, "cancelled by the user")
            raise

    def tell(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """A notification."""
        if self._gone is None:
            self._send(notification(method, params))

    def _cancel(self, message_id: RequestId, why: str) -> None:
        self._transport.abandon(message_id)
        # `initialize` must not be cancelled; over modern HTTP, the end of the stream says it.
        if self.opened and not (self._transport.is_http and self.facts.era is Era.MODERN):
            self.tell("notifications/cancelled", {"requestId": message_id, "reason": why})

    async def _listen(self) -> None:
        """Modern servers tell of changes only on an open subscription. It has no time limit."""
        asked = {"notifications": {"toolsListChanged": True}}
        try:
            await self.request("subscriptions/listen", asked, seconds=float("inf"))
        except McpError as error:
            log.debug("subscriptions/listen: %s", error)

    # What arrives

    def received(self, message: Incoming) -> None:
        match message:
            case Reply():
                self._waiting.answer(message)
            case Failure():
                self._waiting.refuse(message)
            case Asked():
                serve(message, self._waiting.latest_askable(), self._send)
            case Told(method="notifications/progress", params=params):
                self._waiting.progress(params)
            case Told(method="notifications/cancelled", params=params):
                self._waiting.cancel_question(params)
            case Told(method="notifications/tools/list_changed"):
                self._tools_changed()
            case Told(method=method):
                log.debug("a notification that is not needed: %s", method[:100])

    def request_failed(self, request_id: RequestId, error: McpError) -> None:
        self._waiting.fail(request_id, error)

    def closed(self, error: McpError) -> None:
        self._gone = self._gone or error
        self._waiting.fail_all(error)

    def _send(self, message: Mapping[str, Any]) -> None:
        """If the connection is gone, nobody needs it."""
        try:
            self._transport.send(message, eras.http_headers(message, self.facts.era, self.facts.version))
        except McpError as error:
            log.debug("not sent: %s", error)
