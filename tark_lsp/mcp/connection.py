"""One connection to a server, in either era. It sends requests, and handles answers and the server's own messages."""

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
from tark_lsp.mcp.server_requests import MOST_QUESTIONS, TOO_MANY, inputs_for, open_urls, serve
from tark_lsp.mcp.transport import Transport, pauses

log = logging.getLogger(__name__)


class Connection:
    """`tools_changed` is called when the server says that its list of tools changed."""

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
        """Marks the connection as open. `facts`: what the server said about itself."""
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
        """A request that is repeated with the user's answers while the server asks for input. Raises McpError, and
        RpcError if the server answers with an error."""
        given: Mapping[str, Any] = params
        asked = 0
        for _ in range(MOST_QUESTIONS):
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
            answers = await inputs_for(result.get("inputRequests"), elicit, MOST_QUESTIONS - asked)
            asked += len(answers)
            given = {**params, "inputResponses": answers, **({} if state is None else {"requestState": state})}
        raise McpError(TOO_MANY)

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
        """One request. `era` and `version` default to those of the connection; give them if it is not open yet."""
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
        # `initialize` must not be cancelled. Over modern HTTP, closing the stream cancels the request.
        if self.opened and not (self._transport.is_http and self.facts.era is Era.MODERN):
            self.tell("notifications/cancelled", {"requestId": message_id, "reason": why})

    async def _listen(self) -> None:
        """Modern servers report changes only on an open subscription, which has no time limit.

        If the subscription ends, the tools can change without a report until the next one, so they count as changed.
        """
        asked = {"notifications": {"toolsListChanged": True}}
        for pause in pauses():
            try:
                await self.request("subscriptions/listen", asked, seconds=float("inf"))
            except RpcError as error:  # the server does not support it
                log.debug("subscriptions/listen: %s", error)
                return
            except McpError as error:
                log.debug("subscriptions/listen: %s", error)
            if self._gone is not None:
                return
            self._tools_changed()
            await asyncio.sleep(pause)
            self._tools_changed()

    # What arrives

    def received(self, message: Incoming) -> bool:
        """Handles a message. Returns whether it answers a pending request. Never raises."""
        waited = isinstance(message, Reply | Failure) and message.id in self._waiting
        try:
            self._take(message)
        except Exception:  # an error in handling one message must not end the reading of the others
            log.exception("a message of an MCP server could not be used")
        return waited

    def _take(self, message: Incoming) -> None:
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
        """Sends a message that has no answer. If the connection is closed, the message is dropped."""
        try:
            self._transport.send(message, eras.http_headers(message, self.facts.era, self.facts.version))
        except McpError as error:
            log.debug("not sent: %s", error)
